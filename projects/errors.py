"""Refusals. The sentence names the thing, what was found, and what to do; one handler makes it a page or JSON."""

from django.utils.translation import gettext as _


class DomainError(Exception):
    """A domain function says no. `code` is stable and for programs, `status` is HTTP's, `message` for people."""

    code = "refused"
    status = 409

    def __init__(self, message: str, *, code: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.message = str(message)
        self.code = code or self.code
        self.status = status or self.status

    def details(self) -> dict[str, object]:
        """What the API says beside code and message, for programs."""
        return {}


class NotAllowed(DomainError):
    """The member sees the thing but may not do this with it."""

    code, status = "not_allowed", 403


class AtRest(NotAllowed):
    """The project is archived, or waits to be deleted: nothing is written there."""

    code = "at_rest"


class Invalid(DomainError):
    """What was sent cannot be used."""

    code, status = "invalid", 422


class StaleText(DomainError):
    """Somebody else saved the draft in the meantime; `theirs` is the text that stands, `yours` what was sent."""

    code, status = "stale", 409

    def __init__(self, *, theirs: str, yours: str) -> None:
        super().__init__(
            _(
                "Somebody else saved this draft while you were writing. Both texts are shown: take over what you "
                "need and save again."
            )
        )
        self.theirs, self.yours = theirs, yours

    def details(self) -> dict[str, object]:
        return {"theirs": self.theirs, "yours": self.yours}
