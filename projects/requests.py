"""What a view knows of its request after `login_required`."""

from django.http import HttpRequest

from projects.models import User


class UserRequest(HttpRequest):
    """A request by somebody who is logged in."""

    user: User
