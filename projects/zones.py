"""The time zones that can be chosen. The machine's list is read from many files, so it is read once."""

import zoneinfo
from functools import cache


@cache
def names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def find(name: str) -> zoneinfo.ZoneInfo | None:
    """The zone of that name; None for none, and for one that this machine does not know (any more)."""
    return zoneinfo.ZoneInfo(name) if name in names() else None
