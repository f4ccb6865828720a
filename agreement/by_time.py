"""The headline by when items were completed: computed when a page asks for it.

By whole days where the draw lasted days, else by equal parts of its items in the order in which they were completed.
Each part has as many items as the protocol asks of a figure. Of closed draws only, and not of imported ratings, whose
times are those of the import.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

import numpy as np
from django.utils import timezone

from agreement import figures, markings, matrices, patterns, splits
from agreement.by_field import LEVELS
from agreement.coefficients.headline import SPANS
from agreement.coefficients.ratings import FloatArray, IntArray
from agreement.markings import Marked
from agreement.models import Run
from agreement.protocol import Protocol
from agreement.splits import OfLabels, OfSpans
from annotations.models import Draw
from projects.models import Question

MOST_DAYS, MOST_EQUAL = 12, 5
DAY, ORDER = "day", "order"


@dataclass(frozen=True)
class Part:
    """Items `first` to `last` (from 1) in the order in which they were completed, and when they were.

    `entry` is that of the headline on them.
    """

    first: int
    last: int
    begins: datetime
    ends: datetime
    entry: dict[str, Any]


@dataclass(frozen=True)
class ByTime:
    """A draw in parts by time, oldest first; none where it has too few items for two. `by` is day or order.

    `difference` is the last part minus the first, None where one of them is undefined.
    """

    by: str
    parts: list[Part]
    completed: int
    minimum: int
    difference: dict[str, Any] | None = None


def is_offered(draw: Draw, question: Question) -> bool:
    """Whether the figures of this question can be split by time."""
    return not draw.is_open and not draw.is_imported and matrices.level_of(question) in (*LEVELS, SPANS)


def of(draw: Draw, question: Question, run: Run, *, at: datetime) -> ByTime:
    """The parts of a closed draw; five queries, whatever its size."""
    minimum = Protocol.from_json(draw.protocol, [question]).minimum_n
    ids, times = _completed(patterns.completions(draw))
    by, ends = cuts(times, minimum, timezone.get_current_timezone())
    if len(ends) < 2:
        return ByTime(by, [], len(ids), minimum)
    starts = [0, *ends[:-1]]
    names = [str(place) for place in range(len(ends))]
    part_of = {
        int(wave_item): name
        for name, start, end in zip(names, starts, ends, strict=True)
        for wave_item in ids[start:end]
    }
    sizes = {name: end - start for name, start, end in zip(names, starts, ends, strict=True)}
    split = _split(draw, question, run, part_of, sizes, at)
    parts = [
        Part(start + 1, end, _moment(times[start]), _moment(times[end - 1]), entry)
        for start, end, entry in zip(starts, ends, split.entries(), strict=True)
    ]
    return ByTime(by, parts, len(ids), minimum, split.difference(names[-1], names[0]))


def cuts(times: FloatArray, minimum: int, zone: Any) -> tuple[str, list[int]]:
    """Where the parts of items with these times (seconds, sorted) end, the last of them at the number of items.

    Days that are too small join the next; what is left over joins the last part.
    """
    days = _of_days(times, max(minimum, ceil(len(times) / MOST_DAYS)), zone) if len(times) else []
    if len(days) > 1:
        return DAY, days
    parts = min(MOST_EQUAL, len(times) // minimum)
    return ORDER, [round(place * len(times) / parts) for place in range(1, parts + 1)] if parts else []


def _of_days(times: FloatArray, least: int, zone: Any) -> list[int]:
    day = datetime.fromtimestamp(times[0], zone).replace(hour=0, minute=0, second=0, microsecond=0)
    ends: list[int] = []
    while not ends or ends[-1] < len(times):
        # A day is from midnight to midnight, also where the clocks change: added to the date and not to the moment.
        day = datetime.combine(day.date() + timedelta(days=1), day.time(), zone)
        end = int(np.searchsorted(times, day.timestamp()))
        if end - (ends[-1] if ends else 0) >= least:
            ends.append(end)
        elif end == len(times):
            return [*ends[:-1], end]
    return ends


def _completed(found: Iterable[tuple[int, datetime]]) -> tuple[IntArray, FloatArray]:
    """Items and times, both in the order of the times."""
    rows = np.fromiter(((item, last.timestamp()) for item, last in found), dtype=[("item", "i8"), ("time", "f8")])
    rows = rows[np.lexsort((rows["item"], rows["time"]))]
    return rows["item"], rows["time"]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(float(seconds), timezone.get_current_timezone())


def _split(
    draw: Draw, question: Question, run: Run, part_of: dict[int, str], sizes: dict[str, int], at: datetime
) -> OfLabels | OfSpans:
    people = matrices.raters(draw)
    if not matrices.has_spans(question):
        rows = [
            (tuple(answers.get(one.pk) for one in people), part, n)
            for _draw, answers, part, n in patterns.by_item(draw, question.key, part_of, at)
        ]
        return splits.of_rows(draw, question, run, people, rows, sizes)
    found = markings.none(tuple(label.key for label in question.labels.all()), tuple(sizes), None)
    for item in patterns.answers_by_item([draw], question.key, at):
        if item.wave_item in part_of:
            answers: Sequence[Any] = [item.answers.get(one.pk) for one in people]
            found.add(Marked(tuple(answers), part_of[item.wave_item], markings.tokens_of(item.content)))
    parts = {name: found.whole.figures(place) for place, name in enumerate(found.strata)}
    return OfSpans(parts, figures.seed_of(draw, question.key))
