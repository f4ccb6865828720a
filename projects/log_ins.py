"""Log-in by user name or e-mail address, and the brake on guessing: failures are counted by name and address."""

import hashlib
from datetime import datetime, timedelta

from django.db.models import Min
from django.utils import timezone
from django.utils.translation import ngettext

from projects.errors import DomainError
from projects.models import FailedLogIn

FAILURES_ALLOWED = 5
COUNTED_FOR = timedelta(minutes=15)


class TooManyAttempts(DomainError):
    """Guessing is slowed down; not even the right password is looked at until then."""

    code, status = "too_many_attempts", 429

    def __init__(self, wait: timedelta) -> None:
        minutes = max(1, -(-int(wait.total_seconds()) // 60))
        super().__init__(
            ngettext(
                "Too many attempts with a wrong password. Try again in %(minutes)d minute, or reset the password.",
                "Too many attempts with a wrong password. Try again in %(minutes)d minutes, or reset the password.",
                minutes,
            )
            % {"minutes": minutes}
        )


def check(name: str, address: str, *, at: datetime | None = None) -> None:
    """Raise TooManyAttempts where this name has failed too often from this address."""
    at = at or timezone.now()
    failures = FailedLogIn.objects.filter(digest=_digest(name, address), at__gt=at - COUNTED_FOR)
    if failures.count() >= FAILURES_ALLOWED:
        oldest = failures.aggregate(oldest=Min("at"))["oldest"]
        raise TooManyAttempts(oldest + COUNTED_FOR - at)


def failed(name: str, address: str, *, at: datetime | None = None) -> None:
    """Count a wrong password, and forget those that no longer count."""
    at = at or timezone.now()
    FailedLogIn.objects.filter(at__lte=at - COUNTED_FOR).delete()
    FailedLogIn.objects.create(digest=_digest(name, address), at=at)


def succeeded(name: str, address: str) -> None:
    FailedLogIn.objects.filter(digest=_digest(name, address)).delete()


def _digest(name: str, address: str) -> str:
    """What is stored names nobody: people type passwords into the field for the name."""
    return hashlib.sha256(f"{name.strip().casefold()}\n{address}".encode()).hexdigest()
