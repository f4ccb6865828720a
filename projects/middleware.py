"""What every answer gets: the viewer's time zone while it is made, and a policy of what the browser may load."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from projects import zones

# Everything comes from this server. Attributes may carry style, for label colours; icons are written in the page.
POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; style-src-attr 'unsafe-inline'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# The page of the API's documentation comes from a library and starts itself by an inline script.
POLICY_OF_API_DOCS = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Sets the policy on every answer that has none of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        match = request.resolver_match
        policy = POLICY_OF_API_DOCS if match and match.url_name == "api-docs" else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        return response


class ViewerTimeZone:
    """Shows times in the zone that the viewer chose; in the server's for who chose none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = zones.find(getattr(request.user, "time_zone", ""))
        if zone is None:
            return self.get_response(request)
        with timezone.override(zone):
            return self.get_response(request)
