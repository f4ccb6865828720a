"""What `base.html` needs on every page."""

from django.conf import settings
from django.http import HttpRequest

from projects import access


def frame(request: HttpRequest) -> dict[str, object]:
    """The memberships of whoever looks (for the project switch) and whether open sign-up is on."""
    user = getattr(request, "user", None)
    return {
        "my_memberships": access.projects_of(user) if user is not None and user.is_authenticated else [],
        "open_sign_up": settings.OPEN_SIGN_UP,
    }
