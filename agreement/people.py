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

# Formulas of the arithmetic that have these set the one rater's totals beside the other's.
BY_SIDE = ("row", "v_ij")


def names(draw: Draw, raters: Iterable[Membership], viewer: Membership, *, by_rater: bool) -> dict[str, str]:
    """Rater -> what `viewer` reads of them. `by_rater` False, while the viewer may decide its cases: nobody's name."""
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
    """A result for those who may decide its cases: nothing in it says who used which label on which items."""
    kept = {key: value for key, value in result.items() if key != "table"}
    for name in ("pairs", "per_label"):
        if name in kept:
            kept[name] = [{key: value for key, value in row.items() if key != "table"} for row in kept[name]]
    kept["uses"] = [[sum(column) for column in zip(*result["uses"], strict=True)]]
    return renamed(kept, pseudonyms(draw, result["raters"]))


def shown(result: Mapping[str, Any], draw: Draw, names: Mapping[str, str], *, by_rater: bool) -> Mapping[str, Any]:
    """A result as a page may tell it to whom reads `names` of its raters."""
    if not by_rater:
        return kept_back(result, draw)
    unnamed = bool(names) and dict(names) == pseudonyms(draw, names)
    return renamed(result, names) if unnamed else result


def renamed(result: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """A result with other names in the place of the raters' ids, and everything by rater in the order of those names.

    The order of the members would be the same in every draw, and so tell who is who.
    """
    raters = list(result["raters"])
    order = sorted(range(len(raters)), key=lambda place: in_order(known.get(raters[place], raters[place])))
    found: dict[str, Any] = _renamed(dict(result), known)
    if len(found.get("uses", ())) == len(order):
        found["uses"] = [found["uses"][place] for place in order]
    turned = order == [1, 0]
    if turned:
        for part in (found, *found.get("per_label", ())):
            if part.get("table"):
                part["table"] = _turned(part["table"])
        found["statistics"] = _bias_turned(found["statistics"])
    if "arithmetic" in found:
        found["arithmetic"] = [_without_sides(step) for step in found["arithmetic"]]
    if "diagnostics" in found:
        found["diagnostics"] = _diagnostics(found["diagnostics"], turned=turned)
    return found


def _renamed(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        found = {key: _renamed(each, known) for key, each in value.items()}
        if value.get("table") and "raters" in value and "pairs" not in value:
            turned = [known.get(rater, rater) for rater in value["raters"]] != found["raters"]
            found["table"] = _turned(found["table"]) if turned else found["table"]
        return found
    if isinstance(value, list):
        if value and all(isinstance(each, str) and each in known for each in value):
            return sorted((known[each] for each in value), key=in_order)
        listed = [_renamed(each, known) for each in value]
        return sorted(listed, key=_people_of) if _tells_people(listed) else listed
    return known.get(value, value) if isinstance(value, str) else value


def _turned(table: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """A table by two raters with the other one down."""
    return [list(column) for column in zip(*table, strict=True)]


def _bias_turned(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """The bias index is the first rater's use of a label beside the second's."""
    entry = dict(statistics.get("bias_index", {}))
    if "value" in entry:
        entry["value"] = -entry["value"]
    if entry.get("interval"):
        entry["interval"] = [-end for end in reversed(entry["interval"])]
    return {**statistics, "bias_index": entry} if entry else dict(statistics)


def _without_sides(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the arithmetic without its numbers where they tell the rows from the columns."""
    return {**step, "numbers": ""} if any(sign in step["formula"] for sign in BY_SIDE) else dict(step)


def _diagnostics(found: Sequence[Mapping[str, Any]], *, turned: bool) -> list[dict[str, Any]]:
    """Diagnostics as they come, those of one kind in the order of the raters that they name."""
    kinds = [each["key"] for each in found]
    sided = [{**each, "numbers": _numbers(each, turned=turned)} for each in found]
    return sorted(sided, key=lambda each: (kinds.index(each["key"]), _people_of(each["numbers"])))


def _numbers(diagnostic: Mapping[str, Any], *, turned: bool) -> dict[str, Any]:
    """What a diagnostic says of a pair, in the order of the names; the bias index is that of the first rater."""
    numbers = dict(diagnostic["numbers"])
    if diagnostic["key"].startswith("far_pair"):
        numbers["first"], numbers["second"] = sorted((numbers["first"], numbers["second"]), key=in_order)
        return numbers
    return {**numbers, "value": -numbers["value"]} if turned and diagnostic["key"] == "bias_index" else numbers


def _tells_people(rows: Sequence[Any]) -> bool:
    """Whether these rows stand in the order of the members."""
    keys = {"rater", "raters", "pair"}
    return bool(rows) and all(isinstance(row, Mapping) and keys & set(row) for row in rows)


def _people_of(row: Mapping[str, Any]) -> list[tuple[tuple[int, int, str], ...]]:
    found = row.get("pair") or row.get("raters") or [row.get("rater") or row.get("first", "")]
    return sorted(in_order(str(name)) for name in found)


def in_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Where a name stands in a list: by the alphabet, and Rater 2 before Rater 10."""
    parts = re.split(r"(\d+)", name.casefold())
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)
