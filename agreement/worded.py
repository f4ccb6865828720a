"""A coefficient in words, as tables and sentences of every page show it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agreement import sentences
from agreement.charts import Ends, Span, number
from agreement.sentences import Entry


@dataclass(frozen=True)
class Figure:
    """A coefficient in words. `value` is empty where it is undefined, and `why` says the reason then.

    `smoothed` says which bootstrap the interval is of.
    """

    title: str
    value: str
    between: str
    n: str
    why: str
    note: str = ""
    span: Span | None = None
    interval: str = ""
    smoothed: bool = False


def of(title: str, entry: Entry, *, note: str = "", span: Span | None = None) -> Figure:
    value = entry.get("value")
    why = _("undefined: %(why)s") % {"why": _(entry["sentence"])} if value is None else ""
    shown = "" if value is None else number(value)
    between, interval = sentences.between(entry), sentences.interval(entry)
    smoothed = bool(interval) and sentences.is_smoothed(entry)
    return Figure(title, shown, between, sentences.items(entry["n"]), why, note, span, interval, smoothed)


def has_smoothed(figures: Iterable[Figure]) -> bool:
    """Whether a table of these has to say what a smoothed interval is."""
    return any(figure.smoothed for figure in figures)


def ends(entry: Entry) -> Ends:
    """What a picture needs of an entry."""
    low, high = entry.get("interval") or (None, None)
    return entry.get("value"), low, high
