"""Marked parts of a text, each with a label. They may overlap; no part at all is an answer, too."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from projects.task_types.label_sets import count_problems, name_problems, value_problems
from projects.task_types.task_type import (
    AnswerError,
    Json,
    LabelLike,
    Named,
    TaskType,
    Unit,
    allowed,
    gettext_noop,
    in_order,
    name_of,
    shorten,
)
from projects.task_types.tokens import tokens

MOST_SPANS = 1_000
QUOTED = 40


class Span(NamedTuple):
    """Code points `start` (included) to `end` (left out) of the untouched text of a field."""

    field: str
    start: int
    end: int
    label: str

    def share(self, other: "Span") -> float:
        """What both have in common of what either has: 0 for other labels or fields."""
        if (self.field, self.label) != (other.field, other.label):
            return 0.0
        common = min(self.end, other.end) - max(self.start, other.start)
        return common / (self.end - self.start + other.end - other.start - common) if common > 0 else 0.0


class Spans(TaskType):
    """The canonical value is the list of spans by field, start, end and the order of the labels, each once."""

    key = "spans"
    title = gettext_noop("Spans in the text")
    level = "spans"
    widget = "annotations/widgets/_spans.html"
    script = "annotations/spans.js"
    wanted = gettext_noop("mark what is there, or say that nothing is")

    def read(self, posted: Sequence[str]) -> Json:
        if len(posted) != 1:
            return list(posted)
        try:
            found: Json = json.loads(posted[0])
        except ValueError:
            return posted[0]
        return found

    def clean(self, raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None = None) -> Json:
        if not isinstance(raw, list):
            raise AnswerError(f"Found {shorten(raw)} ({type(raw).__name__}) where a list of spans belongs.")
        if len(raw) > MOST_SPANS:
            raise AnswerError(f"Found {len(raw)} spans: at most {MOST_SPANS} are kept.")
        places = {label.key: place for place, label in enumerate(in_order(labels))}
        found = {_span(one, labels, content) for one in raw}
        ordered = sorted(found, key=lambda span: (span.field, span.start, span.end, places[span.label]))
        return [dict(span._asdict()) for span in ordered]

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        """1 less F1, where two spans of the same label match by what they share of their characters.

        Spans are matched one to one, the best match first. By overlap and not by exact borders: to miss a full stop
        is a smaller difference than to miss a sentence, and a protocol may tolerate small ones. The gap is 0 where
        the two answers are the same, and nowhere else.
        """
        first, second = spans_in(a), spans_in(b)
        if not first and not second:
            return 0.0
        pairs = [(one.share(other), one, other) for one in first for other in second]
        # Ties by the spans themselves, without regard to who gave them, so that the gap is the same both ways round.
        pairs.sort(key=lambda pair: (-pair[0], min(pair[1:]), max(pair[1:])))
        taken: tuple[set[Span], set[Span]] = (set(), set())
        shared = 0.0
        for share, one, other in pairs:
            if one not in taken[0] and other not in taken[1]:
                taken[0].add(one)
                taken[1].add(other)
                shared += share
        return 1 - 2 * shared / (len(first) + len(second))

    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        """One for each token of the item's texts, field by field in alphabetical order: the labels that touch it."""
        found: list[Unit] = []
        spans = spans_in(value)
        for field in sorted(name for name, text in item.items() if isinstance(text, str)):
            here = [span for span in spans if span.field == field]
            for start, end in tokens(str(item[field])):
                keys: list[Json] = []
                keys += sorted({span.label for span in here if span.start < end and start < span.end})
                found.append(Unit(len(found), keys))
        return found

    def carried(self, value: Json, old: Mapping[str, Json], new: Mapping[str, Json]) -> Json:
        """Each span where its words are in the new text, the nearest place first; those whose words are gone end."""
        found = [_carried(span, old.get(span.field), new.get(span.field)) for span in spans_in(value)]
        return [dict(span._asdict()) for span in sorted(one for one in found if one)]

    def named(self, value: Json) -> list[str]:
        return list(dict.fromkeys(span.label for span in spans_in(value)))

    def renamed(self, value: Json, names: Mapping[str, str]) -> Json:
        found = dict.fromkeys(span._replace(label=names.get(span.label, span.label)) for span in spans_in(value))
        return [dict(span._asdict()) for span in found]

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*count_problems(labels, at_least=1), *name_problems(labels), *value_problems(labels)]

    def describe(self, value: Json, labels: Sequence[Named], content: Mapping[str, Json] | None = None) -> str:
        said = [f"{name_of(span.label, labels)} {_quoted(span, content)}" for span in spans_in(value)]
        return "; ".join(said) or gettext_noop("nothing marked")


def spans_in(value: Json) -> list[Span]:
    """The spans of a canonical value."""
    if not isinstance(value, list):
        return []
    return [
        Span(str(one["field"]), int(str(one["start"])), int(str(one["end"])), str(one["label"]))
        for one in value
        if isinstance(one, dict)
    ]


def _span(raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None) -> Span:
    if not isinstance(raw, dict) or not set(raw) <= set(Span._fields):
        raise AnswerError(f"Found {shorten(raw)} where a span belongs: field, start, end and label.")
    start, end, label = raw.get("start"), raw.get("end"), raw.get("label")
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise AnswerError(f"A span goes from {start!r} to {end!r}: it needs two whole numbers, the second one larger.")
    if not isinstance(label, str) or label not in {one.key for one in labels}:
        raise AnswerError(f"{shorten(label)} is not a label of this question: choose one of {allowed(labels)}.")
    texts = None if content is None else {name: text for name, text in content.items() if isinstance(text, str)}
    field = raw.get("field", next(iter(texts)) if texts is not None and len(texts) == 1 else None)
    if not isinstance(field, str) or (texts is not None and field not in texts):
        raise AnswerError(f"A span is in the field {shorten(field)}, and the item has no such text.")
    if texts is not None and end > len(texts[field]):
        raise AnswerError(f"A span ends at {end}, and the text of {field!r} has {len(texts[field])} characters.")
    return Span(field, start, end, label)


def _carried(span: Span, old: Json, new: Json) -> Span | None:
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    words = old[span.start : span.end]
    places = [match.start() for match in re.finditer(re.escape(words), new)]
    if not words or not places:
        return None
    start = min(places, key=lambda place: abs(place - span.start))
    return span._replace(start=start, end=start + len(words))


def _quoted(span: Span, content: Mapping[str, Json] | None) -> str:
    text = None if content is None else content.get(span.field)
    if not isinstance(text, str):
        return f"{span.start}–{span.end}"
    part = " ".join(text[span.start : span.end].split())
    return f"“{part if len(part) <= QUOTED else part[: QUOTED - 1] + '…'}”"
