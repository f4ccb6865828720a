"""Typed readers of environment variables. An error gives name, value and expectation."""

import os
import re
import zoneinfo
from collections.abc import Mapping
from urllib.parse import urlsplit

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


class EnvError(ValueError):
    """A setting whose value cannot be used; the message is meant for a person."""

    def __init__(self, name: str, value: str, expectation: str) -> None:
        super().__init__(f"{name}={without_password(value)}: expected {expectation}.")


def without_password(value: str) -> str:
    """An address as it may be printed and logged."""
    return re.sub(r"(?<=://)([^:/@]*):[^@]*@", r"\1:***@", value)


class Env:
    """Reads `source` (the process environment unless given) by type; unset or empty means the default."""

    def __init__(self, source: Mapping[str, str] | None = None) -> None:
        self.source = os.environ if source is None else source

    def text(self, name: str, default: str = "") -> str:
        return self.source.get(name, "").strip() or default

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.source.get(name, "").strip().lower()
        if name not in self.source or value == "":
            return default
        if value not in TRUE | FALSE:
            raise EnvError(name, value, "yes or no")
        return value in TRUE

    def whole(self, name: str, default: int, *, at_least: int, at_most: int | None = None) -> int:
        value = self.text(name)
        if not value:
            return default
        wanted = (
            f"a whole number, {at_least} or more" if at_most is None else f"a whole number, {at_least} to {at_most}"
        )
        if not value.isascii() or not value.removeprefix("-").isdigit():
            raise EnvError(name, value, wanted)
        number = int(value)
        if number < at_least or (at_most is not None and number > at_most):
            raise EnvError(name, value, wanted)
        return number

    def url(self, name: str, *, schemes: tuple[str, ...]) -> str:
        value = self.text(name)
        if not value:
            return value
        wanted = "an address that starts with " + " or ".join(f"{s}://" for s in schemes)
        if value.partition("://")[0] not in schemes:
            raise EnvError(name, value, wanted)
        try:
            int(urlsplit(value).port or 0)
        except ValueError as error:
            raise EnvError(name, value, f"{wanted} and has a port of 1 to 65535") from error
        return value

    def one_of(self, name: str, default: str, *, choices: tuple[str, ...]) -> str:
        value = self.text(name, default).upper()
        if value not in choices:
            raise EnvError(name, value, "one of " + ", ".join(choices))
        return value

    def zone(self, name: str, default: str) -> str:
        value = self.text(name, default)
        try:
            zoneinfo.ZoneInfo(value)
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
            raise EnvError(name, value, "a time zone such as Europe/Berlin") from error
        return value

    def listed(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        value = self.text(name)
        return [part.strip() for part in value.split(",") if part.strip()] if value else list(default)
