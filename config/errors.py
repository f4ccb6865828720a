"""The one handler of refusals: a DomainError becomes a page, a fragment, or `{"error": {"code", "message"}}`."""

import logging
import re
import sys
from collections.abc import Callable

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from projects.errors import DomainError

DJANGOS_WORDS = re.compile(r"No \w+ matches the given query\.")

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
        said = {"code": error.code, "message": error.message, **error.details()}
        return Response({"error": said}, status=error.status)
    if isinstance(error, SuspiciousOperation):
        status = 413 if isinstance(error, RequestDataTooBig) else 400
        return Response(api_error("too_large" if status == 413 else "bad_request", str(error)), status=status)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        message = _("Some of what was sent cannot be used; `fields` says which and why.")
        response.data = api_error("invalid", message, fields=response.data)
        response.status_code = 422
    elif isinstance(error, Http404):
        response.data = api_error("not_found", _own_words(error) or _("There is no such thing."))
    elif isinstance(error, PermissionDenied | exceptions.APIException):
        code = getattr(error, "default_code", "not_allowed")
        response.data = api_error(code, str(getattr(error, "detail", error)))
    return response


def api_error(code: str, message: str, **details: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, **details}}


def _own_words(error: Exception) -> str:
    """What a view says of what is not there; empty where only Django speaks, of its models."""
    said = error.args[0] if isinstance(error, Http404) and error.args else ""
    return "" if not isinstance(said, str) or DJANGOS_WORDS.fullmatch(said) else said


def _for_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    message = _own_words(exception) or _("There is no page at this address, or it is not yours to see.")
    if _for_program(request):
        return JsonResponse(api_error("not_found", message), status=404)
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


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    message = _("The server cannot read this request: go back, reload the page and try again.")
    if _for_program(request):
        return JsonResponse(api_error("bad_request", message), status=400)
    # Not through a template: a request that cannot be read has perhaps no host, user or session.
    return HttpResponse(f"<!doctype html><title>Concord</title><p>{message}</p>", status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """The last word on an error. A database that is away or full is said as that, and as something that passes."""
    message, code, status = (
        _("Something went wrong on the server; it has been logged. What you had saved is saved. Reload to go on."),
        "server_error",
        500,
    )
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        message, code, status = (
            _(
                "The database cannot be reached, or has no room to write: this was not saved. What you had saved is "
                "saved. Wait a moment, then send it again."
            ),
            "database_away",
            503,
        )
    if _for_program(request):
        return JsonResponse(api_error(code, message), status=status)
    return HttpResponse(f"<!doctype html><title>Concord</title><p>{message}</p>", status=status)
