"""CONCORD_EMAIL_URL becomes Django's mail settings. Unset: mail is written to the log."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from config.env import EnvError

NAME = "CONCORD_EMAIL_URL"
SCHEMES = ("smtp", "smtps", "console", "file")
EXPECTED = "smtp://user:password@host:587, smtps://user:password@host:465, console:// or file:///folder"


@dataclass(frozen=True)
class Mail:
    """What Django's EMAIL_… settings are set to."""

    backend: str = "django.core.mail.backends.console.EmailBackend"
    folder: str | None = None
    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False


def parse(url: str) -> Mail:
    """smtps:// speaks TLS from the start (465), smtp:// turns to it (587); on port 25, a relay nearby, it does not."""
    parts = urlsplit(url)
    if parts.scheme in ("", "console"):
        return Mail()
    if parts.scheme == "file":
        if not parts.path.strip("/") or parts.netloc:
            raise EnvError(NAME, url, EXPECTED)
        return Mail(backend="django.core.mail.backends.filebased.EmailBackend", folder=unquote(parts.path))
    try:
        port = parts.port or (465 if parts.scheme == "smtps" else 587)
    except ValueError as error:
        raise EnvError(NAME, url, EXPECTED) from error
    if not parts.hostname:
        raise EnvError(NAME, url, EXPECTED)
    return Mail(
        backend="django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp" and port != 25,
        tls=parts.scheme == "smtps",
    )
