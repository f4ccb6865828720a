"""A draw by time in words: what each part is called, and whether the last differs from the first."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import charts, report, sentences
from agreement.by_time import DAY, ByTime, Part
from agreement.report import Strata


@dataclass(frozen=True)
class Times:
    """The page: `strata` has a row for each part, oldest first; `too_few` says why there is none."""

    strata: Strata
    how: str
    change: str
    too_few: str


def of(found: ByTime, result: Mapping[str, Any]) -> Times:
    """The parts of a draw as its page shows them."""
    named = [{**part.entry, "stratum": _name(part, by=found.by)} for part in found.parts]
    return Times(report.by_field(result, named), _how(found), _change(found), _too_few(found))


def _name(part: Part, *, by: str) -> str:
    if by == DAY:
        return _between(date_format(part.begins, "j M Y"), date_format(part.ends, "j M Y"))
    about = {"first": part.first, "last": part.last, "when": _times(part.begins, part.ends)}
    return _("Items %(first)s to %(last)s, %(when)s") % about


def _times(begins: datetime, ends: datetime) -> str:
    """From one moment to another; the day is said once where it is the same."""
    same = begins.date() == ends.date()
    return _between(date_format(begins, "j M Y, H:i"), date_format(ends, "H:i" if same else "j M Y, H:i"))


def _between(begins: str, ends: str) -> str:
    return begins if begins == ends else _("%(begins)s to %(ends)s") % {"begins": begins, "ends": ends}


def _how(found: ByTime) -> str:
    if not found.parts:
        return ""
    about = {"n": found.completed, "minimum": found.minimum}
    completed = _("An item counts from the moment at which the last of its measured ratings came in.")
    if found.by == DAY:
        said = _("By day; days are put together until each part has the %(minimum)s items that the protocol asks for.")
    else:
        said = _("%(n)s items in the order in which they were completed, in equal parts of %(minimum)s items or more.")
    return f"{said % about} {completed}"


def _change(found: ByTime) -> str:
    """The last part minus the first, and whether its interval tells them apart."""
    if not found.parts:
        return ""
    difference = found.difference
    if difference is None or not difference.get("interval"):
        return _("The last part and the first cannot be compared: the figure of one of them is undefined.")
    low, high = difference["interval"]
    about = {"value": charts.signed(difference["value"]), "between": sentences.between(difference)}
    if low <= 0 <= high:
        said = _(
            "The last part minus the first: %(value)s, %(between)s. The interval holds 0: they are not told apart."
        )
    elif low > 0:
        said = _("The last part minus the first: %(value)s, %(between)s. Agreement was higher in the last part.")
    else:
        said = _("The last part minus the first: %(value)s, %(between)s. Agreement was lower in the last part.")
    return said % about


def _too_few(found: ByTime) -> str:
    if found.parts:
        return ""
    about = {"n": found.completed, "least": 2 * found.minimum, "minimum": found.minimum}
    said = ngettext("%(n)s item is complete", "%(n)s items are complete", found.completed) % about
    need = _("two parts of %(minimum)s items, the smallest n of the protocol, need %(least)s.") % about
    return _("%(said)s, and %(need)s") % {"said": said, "need": need}
