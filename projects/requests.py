"""What a view knows of its request after `login_required`."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from projects.models import User


class UserRequest(HttpRequest):
    """A request by somebody who is logged in."""

    user: User


class HtmxRequest(UserRequest):
    """The same where a page answers htmx with a fragment."""

    htmx: HtmxDetails
