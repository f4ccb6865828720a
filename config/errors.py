"""The one handler of refusals: a DomainError becomes a page, a fragment, or `{"error": {"code", "message"}}`."""

import logging
from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from projects.errors import DomainError

logger = logging.getLogger(__name__)


class DomainErrorMiddleware:
    """Turns a DomainError that leaves a view into an answer with its status and its sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, DomainError):
            return None
        return refusal(request, error.message, error.status)


def refusal(request: HttpRequest, message: str, status: int) -> HttpResponse:
    """A page with the sentence; to htmx only the sentence, for the frame's place of messages: what was typed stays."""
    error = {"message": message, "status": status}
    htmx = getattr(request, "htmx", None)
    if htmx and not htmx.boosted:
        headers = {"HX-Retarget": "#messages", "HX-Reswap": "innerHTML"}
        response = HttpResponse(render_to_string("_error.html", {"error": error}), status=status, headers=headers)
    else:
        response = render(request, "error.html", {"error": error}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def api_exception_handler(error: Exception, context: dict[str, object]) -> Response | None:
    """The same refusals for the API: `{"error": {"code", "message"[, "fields"]}}`."""
    if isinstance(error, DomainError):
        return Response({"error": {"code": error.code, "message": error.message}}, status=error.status)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        message = _("Some of what was sent cannot be used; `fields` says which and why.")
        response.data = {"error": {"code": "invalid", "message": message, "fields": response.data}}
        response.status_code = 422
    elif isinstance(error, Http404):
        response.data = {"error": {"code": "not_found", "message": str(error) or _("There is no such thing.")}}
    elif isinstance(error, PermissionDenied | exceptions.APIException):
        code = getattr(error, "default_code", "not_allowed")
        response.data = {"error": {"code": code, "message": str(getattr(error, "detail", error))}}
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = (
        str(exception)
        if isinstance(exception, Http404) and exception.args and isinstance(exception.args[0], str)
        else ""
    )
    message = said or _("There is no page at this address, or it is not yours to see.")
    return refusal(request, message, 404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    message = str(exception) or _("You may not do this.")
    return refusal(request, message, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    logger.info("CSRF check failed: %s", reason)
    message = _(
        "This form was made before you last logged in or out, or your browser sends no cookies. "
        "Go back, reload the page and send it again."
    )
    return refusal(request, message, 403)


def server_error(request: HttpRequest) -> HttpResponse:
    return HttpResponse(
        "<!doctype html><title>Concord</title><p>"
        + _("Something went wrong on the server; it has been logged. What you had saved is saved. Reload to go on.")
        + "</p>",
        status=500,
    )
