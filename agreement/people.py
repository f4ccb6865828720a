"""Who rated, as a viewer may know it: by name, or by a number that says of nobody who they are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotations.models import Draw
from projects import access
from projects.enums import Action
from projects.models import Membership


def names(draw: Draw, raters: Iterable[Membership], viewer: Membership, *, by_rater: bool) -> dict[str, str]:
    """Rater -> what `viewer` reads of them. `by_rater` False, while cases are open to the viewer: nobody's name."""
    found = list(raters)
    if by_rater and access.allows(viewer, Action.SEE_MEMBERS):
        return {str(member.uuid): member.name for member in found}
    return pseudonyms(draw, (str(member.uuid) for member in found))


def pseudonyms(draw: Draw, raters: Iterable[str]) -> dict[str, str]:
    """Rater 1, Rater 2, …: lasting for a draw, and in an order that only the server's secret can give again."""
    salt = f"agreement.people/{draw.uuid}"
    ordered = sorted(set(raters), key=lambda rater: salted_hmac(salt, rater, algorithm="sha256").digest())
    return {rater: pseudonym(place) for place, rater in enumerate(ordered, start=1)}


def pseudonym(number: int) -> str:
    return _("Rater %(n)s") % {"n": number}


def kept_back(result: Mapping[str, Any], draw: Draw) -> dict[str, Any]:
    """A result for those who may decide its open cases: nothing in it says who used which label on which items."""
    kept = {key: value for key, value in result.items() if key != "table"}
    for name in ("pairs", "per_label"):
        if name in kept:
            kept[name] = [{key: value for key, value in row.items() if key != "table"} for row in kept[name]]
    kept["uses"] = [[sum(column) for column in zip(*result["uses"], strict=True)]]
    known = pseudonyms(draw, result["raters"])
    return {**_renamed(kept, known), "raters": sorted(known.values(), key=in_order)}


def renamed(result: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """A result with other names in the place of the raters' ids, and all else as it is."""
    found: dict[str, Any] = {key: _replaced(value, known) for key, value in result.items()}
    return found


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, known) for each in value]
    return known.get(value, value) if isinstance(value, str) else value


def _renamed(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _renamed(each, known) for key, each in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(each, str) and each in known for each in value):
            return sorted((known[each] for each in value), key=in_order)
        listed = [_renamed(each, known) for each in value]
        return sorted(listed, key=_people_of) if _tells_people(listed) else listed
    return known.get(value, value) if isinstance(value, str) else value


def _tells_people(rows: Sequence[Any]) -> bool:
    """Whether these rows stand in the order of the members."""
    keys = {"rater", "raters", "pair"}
    return bool(rows) and all(isinstance(row, Mapping) and keys & set(row) for row in rows)


def _people_of(row: Mapping[str, Any]) -> list[tuple[tuple[int, int, str], ...]]:
    found = row.get("pair") or row.get("raters") or [row.get("rater", "")]
    return sorted(in_order(str(name)) for name in found)


def in_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Where a name stands in a list: by the alphabet, and Rater 2 before Rater 10."""
    parts = re.split(r"(\d+)", name.casefold())
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)
