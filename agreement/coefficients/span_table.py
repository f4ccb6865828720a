"""Agreement on spans of many texts: what each item adds to every figure, equal items put together.

Counts are pooled over items and never averaged over them, and of several raters over their pairs; an interval resamples
items, since the spans of one text are not independent. Borders are compared in characters, label figures in declared
units (`tokens`), an item's value on a unit being the set of the labels that touch it: spans may overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from agreement.coefficients.bootstrap import BOOTSTRAP, CHUNK_CELLS, LEVEL, REPLICATES, Interval, percentile
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Label
from agreement.coefficients.spans import Document, Span, exact_matches, overlaps

THRESHOLD = 0.5
# Of a value of 1 resampling says nothing: it never sees a disagreement. See `SpanFigures.interval`.
NONE_SEEN = "none seen"

# Items per distinct row from which rows are drawn and not items.
FEW_REPEATS = 8

EXACT, BORDERS, OVERLAP, SPANS, DISPUTED = "exact", "borders", "overlap", "spans", "disputed"
UNITS, INSIDE, INSIDE_BOTH, INSIDE_SAME = "units", "inside", "inside both", "inside same"
WITHIN = "within"
OF_UNITS = "units of "

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
        sums = sums_of(item, self.labels)
        self.rows[stratum, frozenset((key, value) for key, value in sums.items() if value)] += 1
        for first, second in combinations(sorted(item.marked), 2):
            self.table.update(label_table(item.marked[first], item.marked[second], self.labels))
        for rater, spans in item.marked.items():
            self.uses.update((rater, span.label) for span in spans)

    def ordered(self) -> list[tuple[int, list[tuple[str, float]], int]]:
        """(stratum, sums by name, items) of every row, in an order that does not depend on that of the items."""
        rows = [
            (place, sorted((_name(key), value) for key, value in sums), n) for (place, sums), n in self.rows.items()
        ]
        return sorted(rows)

    def figures(self, stratum: int | None = None) -> SpanFigures:
        """The figures of all items, or of those of one stratum."""
        rows = [row for row in self.ordered() if stratum is None or row[0] == stratum]
        place = {name: at for at, name in enumerate(sorted({name for _, sums, _ in rows for name, _ in sums}))}
        sums = np.zeros((len(rows), len(place)))
        for at, (_, row, _) in enumerate(rows):
            for name, value in row:
                sums[at, place[name]] = value
        weights = np.array([n for _, _, n in rows], dtype=np.float64)
        strata = np.array([within for within, _, _ in rows], dtype=np.int64)
        return SpanFigures(sums, weights, strata, place, self.labels, self.populations if stratum is None else None)


@dataclass(frozen=True)
class Measure:
    """A figure as 1 - observed / expected disagreement of the sums (..., n_columns).

    `why` it is undefined where nothing is expected; `chance` says that the expectation is one, and no share of 1.
    """

    disagreement: Callable[[Array], tuple[Array, Array]]
    why: str
    chance: bool = False


@dataclass(frozen=True, eq=False)
class SpanFigures:
    """Every figure on spans of a table, its interval, and the same weighted to the population.

    Parameters
    ----------
    sums : (n_rows, n_columns) what an item of the row adds; weights : (n_rows,) items; strata : (n_rows,)
    place : column of each sum; populations : items of each stratum, where figures are also weighted to them
    """

    sums: FloatArray
    weights: FloatArray
    strata: IntArray
    place: Mapping[str, int]
    labels: tuple[Label, ...]
    populations: tuple[float, ...] | None = None

    @property
    def n(self) -> float:
        return float(self.weights.sum())

    def total(self, key: Hashable) -> float:
        """The sum of one column over the items."""
        return float(self.weights @ self._column(self.sums, key))

    def whole(self) -> dict[str, Measure]:
        """The figures of all labels together, by key."""
        empty = "Nobody marked a span in these items, so there is nothing to match."
        apart = "No span has the same borders in the answers of two raters."
        flat = "Every token got the same answer, so agreement by chance would be complete and the coefficient is 0/0."
        return {
            "krippendorff_alpha_nominal": Measure(self._alpha(None), flat, chance=True),
            "exact_f1": Measure(self._share(EXACT, SPANS), empty),
            "boundary_f1": Measure(self._share(BORDERS, SPANS), empty),
            "label_agreement": Measure(self._share(EXACT, BORDERS, 1), apart),
            "overlap_f1": Measure(self._share(OVERLAP, SPANS), empty),
            "token_f1": Measure(self._share(INSIDE_SAME, INSIDE_BOTH, 1), empty),
        }

    def by_label(self) -> dict[str, list[Measure]]:
        """The figures of each label in declared order, by key."""
        empty = "Nobody marked a span with this label."
        return {
            "specific_agreement": [Measure(self._share((EXACT, each), (SPANS, each)), empty) for each in self.labels],
            "per_class_alpha": [Measure(self._alpha(each), empty, chance=True) for each in self.labels],
        }

    def estimate(self, measure: Measure, *, weighted: bool = False) -> Estimate:
        """The value of a figure; undefined where there is nothing to count, or no item of a stratum stands for it."""
        if not self.n or (weighted and self.empty_stratum() is not None):
            return undefined("no_pairs", n=self.n)
        weights = self.weights * self.factors() if weighted else self.weights
        value = float(_values(measure, weights @ self.sums))
        if np.isnan(value):
            return undefined("no_variation", n=self.n, sentence=measure.why)
        return Estimate(value, n=self.n)

    def interval(
        self, measure: Measure, resampled: FloatArray, *, seed: int, level: float = LEVEL, weighted: bool = False
    ) -> Interval | None:
        """Percentile bootstrap over items, from `resample`; None where undefined.

        Resampling a value of 1 never meets a disagreement. There the lower end is that of METHODS, section 3, of the
        reference: a share of 1 - .05^(1/n) of the population's items may be disputed, and agree on nothing.
        """
        answer = self.estimate(measure, weighted=weighted)
        if answer.value is None:
            return None
        if answer.value >= 1.0:
            expected = float(measure.disagreement(self.weights @ self.sums)[1]) if measure.chance else 1.0
            most = 1.0 - (1.0 - level) ** (1.0 / self.n)
            return Interval(max(1.0 - most / expected, -1.0), 1.0, level, NONE_SEEN)
        return percentile(_values(measure, resampled), level=level, method=BOOTSTRAP, seed=seed)

    def resample(
        self, *, seed: int | np.random.SeedSequence, replicates: int = REPLICATES, weighted: bool = False
    ) -> FloatArray:
        """(replicates, n_columns) sums of items drawn anew inside each stratum: for all figures at once."""
        rng = np.random.default_rng(seed)
        factors = self.factors() if weighted else np.ones(len(self.weights))
        found = []
        step = max(1, CHUNK_CELLS // max(len(self.weights), 1))
        for start in range(0, replicates, step):
            found.append((self.draw(rng, min(step, replicates - start)) * factors) @ self.sums)
        return np.concatenate(found)

    def values(self, measure: Measure, sums: FloatArray) -> FloatArray:
        """The figure of each row of sums, as `resample` gives them; NaN where undefined."""
        return _values(measure, sums)

    def empty_stratum(self) -> int | None:
        """The first stratum without an item that two people rated."""
        if self.populations is None:
            return None
        items = np.bincount(self.strata, weights=self.weights, minlength=len(self.populations))
        empty = np.flatnonzero(items == 0)
        return int(empty[0]) if len(empty) else None

    def factors(self) -> FloatArray:
        """(n_rows,) what an item of each row stands for, scaled so that they add up to the number of items."""
        populations = np.array(self.populations or ())
        items = np.bincount(self.strata, weights=self.weights, minlength=len(populations))
        each = np.divide(populations, items, out=np.zeros_like(items), where=items > 0)
        return np.asarray(each[self.strata] * (items.sum() / (each @ items)))

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """(size, n_rows) items drawn anew inside each stratum."""
        drawn = np.zeros((size, len(self.weights)))
        for stratum in np.unique(self.strata):
            within = np.flatnonzero(self.strata == stratum)
            items = self.weights[within]
            n = round(float(items.sum()))
            if len(within) * FEW_REPEATS < n:
                drawn[:, within] = rng.multinomial(n, items / n, size=size)
                continue
            # Texts are hardly ever marked alike: to draw items one by one is then quicker than row by row.
            row_of = np.repeat(within, np.rint(items).astype(np.int64))
            for replicate in drawn:
                replicate += np.bincount(row_of[rng.integers(0, n, n)], minlength=len(replicate))
        return drawn

    def _column(self, sums: Array, key: Hashable) -> Array:
        name = _name(key)
        return sums[..., self.place[name]] if name in self.place else np.zeros(sums.shape[:-1])

    def _share(self, matched: Hashable, of: Hashable, each: int = 2) -> Callable[[Array], tuple[Array, Array]]:
        """F1 and shares as 1 - (of - each x matched) / of."""

        def ratio(sums: Array) -> tuple[Array, Array]:
            whole = self._column(sums, of)
            return whole - each * self._column(sums, matched), whole

        return ratio

    def _alpha(self, label: Label | None) -> Callable[[Array], tuple[Array, Array]]:
        """Krippendorff's nominal alpha of tokens: of the sets of labels that touch them, or of a label or not."""

        values = [at for name, at in self.place.items() if name.startswith(OF_UNITS)]

        def ratio(sums: Array) -> tuple[Array, Array]:
            counts = sums[..., values]
            n = counts.sum(axis=-1)
            if label is not None:
                mine = self._column(sums, (UNITS, label))
                return self._column(sums, (WITHIN, label)) / n, 2 * mine * (n - mine) / (n * (n - 1.0))
            return self._column(sums, WITHIN) / n, (n * n - (counts * counts).sum(axis=-1)) / (n * (n - 1.0))

        return ratio


def _values(measure: Measure, sums: FloatArray) -> FloatArray:
    """The figure of each row of sums, NaN where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = measure.disagreement(sums)
        defined = (expected > 0) & np.isfinite(expected)
        return np.asarray(np.where(defined, 1.0 - observed / np.where(defined, expected, 1.0), np.nan))


def _name(key: Hashable) -> str:
    """The name of a column; of one that counts tokens by their set of labels it begins as no other does."""
    if isinstance(key, tuple) and isinstance(key[1], frozenset):
        return f"{OF_UNITS}{sorted(map(repr, key[1]))!r}"
    return repr(key)
