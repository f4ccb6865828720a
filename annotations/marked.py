"""What somebody marked in a text, on the text itself, beside what somebody else marked in it.

Parts that both marked alike are underlined, what one of them has and the other has not stands out, and what the other
one alone has is dotted. Each mark says the name of its label.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from annotations import sheets
from annotations.sheets import Shown
from projects.reading import LabelReading
from projects.task_types import Json
from projects.task_types.spans import Span, spans_in

SHORTENED = 240  # characters that nobody marked, of which the middle is left out
AROUND = 90


class Part(NamedTuple):
    """A stretch of a text that the same marks cover. `apart`: the other one marked it differently, or alone."""

    text: str
    labels: tuple[str, ...]
    starting: tuple[str, ...]
    apart: bool


def shown(
    content: Mapping[str, Json], value: Json, other: Json, labels: Sequence[LabelReading], *, alone: bool
) -> list[Shown]:
    """The fields in which either of the two marked something, with the marks of `value` on them."""
    mine, others = spans_in(value), spans_in(other)
    marked = {span.field for span in (*mine, *others)}
    known = {label.key: label for label in labels}
    return [
        Shown(name, "" if alone else name, _html(parts(text, _in(mine, name), _in(others, name)), known), marked=False)
        for name, text in content.items()
        if name in marked and isinstance(text, str)
    ]


def parts(text: str, mine: Sequence[Span], others: Sequence[Span]) -> list[Part]:
    """The text in pieces, none of which a mark begins or ends within; unmarked ones without their middle."""
    bounds = {bound for span in (*mine, *others) for bound in (span.start, span.end)}
    found = []
    for start, end in pairwise(sorted({0, len(text)} | bounds)):
        own, theirs = _over(mine, start, end), _over(others, start, end)
        starting = tuple(span.label for span in mine if span.start == start)
        piece = text[start:end]
        found.append(Part(piece if own or theirs else _shortened(piece), own, starting, own != theirs))
    return found


def _in(spans: Sequence[Span], field: str) -> list[Span]:
    return [span for span in spans if span.field == field]


def _over(spans: Sequence[Span], start: int, end: int) -> tuple[str, ...]:
    return tuple(sorted({span.label for span in spans if span.start <= start and end <= span.end}))


def _shortened(text: str) -> str:
    return text if len(text) <= SHORTENED else f"{text[:AROUND].rstrip()} … {text[-AROUND:].lstrip()}"


def _html(found: Sequence[Part], known: Mapping[str, LabelReading]) -> SafeString:
    return mark_safe("".join(_piece(part, known) for part in found))  # noqa: S308 - each piece is escaped


def _piece(part: Part, known: Mapping[str, LabelReading]) -> SafeString:
    text = sheets.untouched(part.text)
    if not part.labels:
        return format_html('<mark class="said said--left">{}</mark>', text) if part.apart else text
    names = format_html_join(
        "", '<bdi class="said-name">{}</bdi>', ((known[key].name if key in known else key,) for key in part.starting)
    )
    colour = known[part.labels[0]].colour if part.labels[0] in known else ""
    return format_html(
        '<mark class="said{}" style="--label: {}">{}{}</mark>',
        " said--apart" if part.apart else "",
        colour,
        names,
        text,
    )
