"""What `base.html` needs on every page."""

from django.conf import settings
from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, object]:
    """Whether open sign-up is on."""
    return {"open_sign_up": settings.OPEN_SIGN_UP}
