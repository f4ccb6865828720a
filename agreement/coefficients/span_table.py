"""Agreement on spans of many texts: what each item adds to every figure, equal items put together.

Counts are pooled over items and never averaged over them, and of several raters over their pairs; an interval resamples
items, since the spans of one text are not independent. Borders are compared in characters, label figures in declared
units (`tokens`), an item's value on a unit being the set of the labels that touch it: spans may overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from agreement.coefficients.ratings import Label
from agreement.coefficients.span_estimates import (
    BORDERS,
    DISPUTED,
    EXACT,
    INSIDE,
    INSIDE_BOTH,
    INSIDE_SAME,
    OVERLAP,
    SPANS,
    UNITS,
    WITHIN,
    SpanFigures,
    column_name,
)
from agreement.coefficients.spans import Document, Span, exact_matches, overlaps

THRESHOLD = 0.5

Sums = defaultdict[Hashable, float]


@dataclass(frozen=True)
class Item:
    """One text: its tokens as (start, end) in characters, and what each rater marked, by the rater's column."""

    tokens: Sequence[tuple[int, int]]
    marked: Mapping[int, tuple[Span, ...]]

    @property
    def length(self) -> int:
        ends = [span.end for spans in self.marked.values() for span in spans]
        return max([*ends, *(end for _, end in self.tokens[-1:]), 1])


def sums_of(item: Item, labels: Sequence[Label]) -> Sums:
    """What an item with two raters or more adds to every figure."""
    found = _units(item, labels)
    for first, second in combinations(sorted(item.marked), 2):
        for key, value in _pair(Document(item.length, item.marked[first], item.marked[second]), labels).items():
            found[key] += value
    found[DISPUTED] = float(found[DISPUTED] > 0)
    return found


def label_table(first: Sequence[Span], second: Sequence[Span], labels: Sequence[Label]) -> Counter[tuple[int, int]]:
    """Spans of two raters with the same borders, by the place of the first one's label and the second one's."""
    place = {label: at for at, label in enumerate(labels)}
    by_border: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for side, spans in enumerate((first, second)):
        for span in spans:
            by_border.setdefault((span.start, span.end), ([], []))[side].append(place[span.label])
    found: Counter[tuple[int, int]] = Counter()
    for one, other in by_border.values():
        same = list((Counter(one) & Counter(other)).elements())
        rest = [sorted((Counter(side) - Counter(same)).elements()) for side in (one, other)]
        found.update((code, code) for code in same)
        found.update(zip(rest[0], rest[1], strict=False))
    return found


def _pair(document: Document, labels: Sequence[Label]) -> dict[Hashable, float]:
    exact, borders = exact_matches(document, labels=True), exact_matches(document, labels=False)
    spans = len(document.first) + len(document.second)
    found: dict[Hashable, float] = {
        EXACT: exact,
        BORDERS: borders,
        OVERLAP: len(overlaps(document, THRESHOLD)),
        SPANS: spans,
        DISPUTED: float(2 * exact != spans),
    }
    for label in labels:
        own = [tuple(span for span in side if span.label == label) for side in (document.first, document.second)]
        if own[0] or own[1]:
            found[EXACT, label] = exact_matches(Document(document.length, own[0], own[1]), labels=True)
            found[SPANS, label] = len(own[0]) + len(own[1])
    return found


def _units(item: Item, labels: Sequence[Label]) -> Sums:
    """Sums of alpha and F1 on tokens. Tokens that nobody marked are counted and not gone through."""
    m = len(item.marked)
    touched = [_touched(item, spans) for spans in item.marked.values()]
    inside = set().union(*touched)
    found: Sums = defaultdict(float, {UNITS: len(item.tokens), INSIDE: len(inside)})
    found[UNITS, frozenset()] = m * (len(item.tokens) - len(inside))
    for unit in inside:
        values = [side.get(unit, frozenset()) for side in touched]
        counts = Counter(values)
        for value, n in counts.items():
            found[UNITS, value] += n
            found[WITHIN] += n * (m - n) / (m - 1)
        for label in labels:
            n = sum(label in value for value in values)
            found[UNITS, label] += n
            found[WITHIN, label] += 2 * n * (m - n) / (m - 1)
        for one, other in combinations(values, 2):
            found[INSIDE_BOTH] += bool(one) + bool(other)
            found[INSIDE_SAME] += 2 * int(bool(one) and one == other)
    return found


def _touched(item: Item, spans: Sequence[Span]) -> dict[int, frozenset[Label]]:
    """Token -> the labels of the spans that touch it, for tokens in a span."""
    starts, ends = [start for start, _ in item.tokens], [end for _, end in item.tokens]
    found: dict[int, frozenset[Label]] = {}
    for span in spans:
        for unit in range(bisect_right(ends, span.start), bisect_left(starts, span.end)):
            found[unit] = found.get(unit, frozenset()) | {span.label}
    return found


@dataclass
class SpanTable:
    """The sums of many items. Items that add the same in the same stratum are one row with a weight.

    `table` counts matched borders by the label of the one rater and of the other, in the order of their columns; `uses`
    are the spans with each label by rater.
    """

    labels: tuple[Label, ...]
    rows: Counter[tuple[int, frozenset[tuple[Hashable, float]]]] = field(default_factory=Counter)
    table: Counter[tuple[int, int]] = field(default_factory=Counter)
    uses: Counter[tuple[int, Label]] = field(default_factory=Counter)
    populations: tuple[float, ...] | None = None

    def add(self, item: Item, stratum: int = 0) -> None:
        """Count an item; one that fewer than two people rated adds nothing."""
        if len(item.marked) < 2:
            return
        self._count(sums_of(item, self.labels), stratum)
        for first, second in combinations(sorted(item.marked), 2):
            self.table.update(label_table(item.marked[first], item.marked[second], self.labels))
        for rater, spans in item.marked.items():
            self.uses.update((rater, span.label) for span in spans)

    def add_against(self, item: Item, expert: int, stratum: int = 0) -> None:
        """Count the pairs of an item that are somebody else's rating and the expert's; an item without one adds
        nothing. Tokens of the expert count once in each pair."""
        if expert not in item.marked or len(item.marked) < 2:
            return
        whole: Sums = defaultdict(float)
        for other in item.marked:
            if other != expert:
                pair = Item(item.tokens, {each: item.marked[each] for each in sorted((other, expert))})
                for key, value in sums_of(pair, self.labels).items():
                    whole[key] += value
        whole[DISPUTED] = float(whole[DISPUTED] > 0)
        self._count(whole, stratum)

    def _count(self, sums: Sums, stratum: int) -> None:
        self.rows[stratum, frozenset((key, value) for key, value in sums.items() if value)] += 1

    def ordered(self) -> list[tuple[int, list[tuple[str, float]], int]]:
        """(stratum, sums by name, items) of every row, in an order that does not depend on that of the items."""
        rows = [
            (place, sorted((column_name(key), value) for key, value in sums), n)
            for (place, sums), n in self.rows.items()
        ]
        return sorted(rows)

    def _always(self) -> set[str]:
        """The columns that a smoothed draw fills where no item does."""
        of_labels = ((sum_of, label) for sum_of in (EXACT, WITHIN) for label in self.labels)
        return {column_name(key) for key in (EXACT, BORDERS, OVERLAP, INSIDE_SAME, WITHIN, *of_labels)}

    def figures(self, stratum: int | None = None) -> SpanFigures:
        """The figures of all items, or of those of one stratum."""
        rows = [row for row in self.ordered() if stratum is None or row[0] == stratum]
        given = {name for _, sums, _ in rows for name, _ in sums}
        place = {name: at for at, name in enumerate(sorted(given | self._always()))}
        sums = np.zeros((len(rows), len(place)))
        for at, (_, row, _) in enumerate(rows):
            for name, value in row:
                sums[at, place[name]] = value
        weights = np.array([n for _, _, n in rows], dtype=np.float64)
        strata = np.array([within for within, _, _ in rows], dtype=np.int64)
        return SpanFigures(sums, weights, strata, place, self.labels, self.populations if stratum is None else None)
