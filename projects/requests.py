"""What a view knows of its request."""

from django.http import HttpRequest, QueryDict
from django_htmx.middleware import HtmxDetails

from projects.models import User


class UserRequest(HttpRequest):
    """A request by somebody who is logged in."""

    user: User


class HtmxRequest(UserRequest):
    """The same where a page answers htmx with a fragment."""

    htmx: HtmxDetails


def posted(request: HttpRequest) -> QueryDict | None:
    """What was sent, also where it is empty; None for a page that is only looked at, whose form is not bound."""
    return request.POST if request.method == "POST" else None
