"""`manage.py check --deploy`: what is unsafe for a team."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def team_check(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A team (CONCORD_TEAM=yes) wants PostgreSQL, Redis, HTTPS, a key of its own and mail that leaves the machine."""
    if not settings.TEAM:
        return []
    wanted = [
        (
            settings.DATABASE_URL.startswith("postgres"),
            "DATABASE_URL",
            "postgres://… (SQLite serves one machine)",
            "W001",
        ),
        (bool(settings.REDIS_URL), "REDIS_URL", "redis://… (the file-system broker serves one machine)", "W002"),
        (settings.SECURE, "CONCORD_HTTPS", "yes, behind a proxy that speaks TLS", "W003"),
        (settings.OWN_SECRET_KEY, "CONCORD_SECRET_KEY", "50 random characters or more", "W004"),
        (
            bool(settings.OWN_URL or settings.CSRF_TRUSTED_ORIGINS) or not settings.EMAIL_URL,
            "CONCORD_URL",
            "https://… (the links in the mail of notices begin with it)",
            "W006",
        ),
        (bool(settings.EMAIL_URL), "CONCORD_EMAIL_URL", "smtp://user:password@host:587 (mail is only logged)", "W005"),
    ]
    return [
        Warning(f"{name} is not set for a team.", hint=f"Set {name}={expected}.", id=f"concord.{code}")
        for fine, name, expected, code in wanted
        if not fine
    ]
