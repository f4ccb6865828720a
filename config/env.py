"""Typed readers of environment variables. An error gives name, value and expectation."""

import os
from collections.abc import Mapping

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


class EnvError(ValueError):
    """A setting whose value cannot be used; the message is meant for a person."""

    def __init__(self, name: str, value: str, expectation: str) -> None:
        super().__init__(f"{name}={value}: expected {expectation}.")


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
        if value and value.partition("://")[0] not in schemes:
            raise EnvError(name, value, "an address that starts with " + " or ".join(f"{s}://" for s in schemes))
        return value

    def listed(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        value = self.text(name)
        return [part.strip() for part in value.split(",") if part.strip()] if value else list(default)
