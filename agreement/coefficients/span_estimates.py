"""The figures on spans from the sums of a table of items (`span_table`): values, intervals, weighted to a population.

Every figure is 1 - observed / expected disagreement of sums over items, so that one resampling of the items serves all
of them. Where that is too small to tell anything (`bootstrap.too_small`) the smoothed draw takes its place, see
`SpanFigures.with_pseudo_item`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agreement.coefficients.bootstrap import (
    BOOTSTRAP,
    CHUNK_CELLS,
    LEVEL,
    REPLICATES,
    SMOOTHED,
    Interval,
    percentile,
    too_small,
)
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Label

# Items per distinct row from which rows are drawn and not items.
FEW_REPEATS = 8

# What an item adds up: spans that match, spans that overlap, all spans, and whether its ratings differ at all.
EXACT, BORDERS, OVERLAP, SPANS, DISPUTED = "exact", "borders", "overlap", "spans", "disputed"
# Tokens: all, inside a span of anyone, of each of a pair, alike in a pair; and pairs of unlike ones, 1 / (m - 1) each.
UNITS, INSIDE, INSIDE_BOTH, INSIDE_SAME = "units", "inside", "inside both", "inside same"
WITHIN = "within"
OF_UNITS = "units of "


@dataclass(frozen=True)
class Measure:
    """A figure as 1 - observed / expected disagreement of the sums (..., n_columns).

    `why` it is undefined where nothing is expected; `chance` says that the expectation is one, and no share of 1.
    """

    disagreement: Callable[[Array], tuple[Array, Array]]
    why: str
    chance: bool = False

    def values(self, sums: Array) -> FloatArray:
        """The figure of each row of sums, NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, expected = self.disagreement(sums)
            defined = (expected > 0) & np.isfinite(expected)
            return np.asarray(np.where(defined, 1.0 - observed / np.where(defined, expected, 1.0), np.nan))


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

    def values_of_tokens(self) -> list[float]:
        """How many tokens have each set of labels, those outside every span first; by rater, as the ratings are."""
        outside = column_name((UNITS, frozenset()))
        names = sorted((name for name in self.place if name.startswith(OF_UNITS)), key=lambda name: name != outside)
        return [float(self.weights @ self.sums[:, self.place[name]]) for name in names]

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
        """The value of a figure; undefined where there is nothing to count, or no item of a stratum stands for it.

        Agreement that chance would give has no meaning where the figure is a share.
        """
        if not self.n or (weighted and self.empty_stratum() is not None):
            return undefined("no_pairs", n=self.n)
        weights = self.weights * self.factors() if weighted else self.weights
        sums = weights @ self.sums
        value = float(measure.values(sums))
        if np.isnan(value):
            return undefined("no_variation", n=self.n, sentence=measure.why)
        if not measure.chance:
            return Estimate(value, observed=value, n=self.n)
        observed, expected = (float(each) for each in measure.disagreement(sums))
        details = {"observed_disagreement": observed, "expected_disagreement": expected}
        return Estimate(value, observed=1.0 - observed, expected=1.0 - expected, n=self.n, details=details)

    def disputed(self, measure: Measure) -> float:
        """Items on which ratings disagree as far as this figure counts it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, _ = measure.disagreement(self.sums)
        return float(self.weights[np.nan_to_num(observed) > 0].sum())

    def method(self, measure: Measure, *, weighted: bool = False) -> str:
        """How the interval of a figure is made: few items, few disagreements or a value of 1 take the smoothed one."""
        value = self.estimate(measure, weighted=weighted).value
        small = value is not None and too_small(self.n, self.disputed(measure), value)
        return SMOOTHED if small else BOOTSTRAP

    def interval(self, measure: Measure, drawn: Resampled, *, level: float = LEVEL) -> Interval | None:
        """The interval of a figure from items that are `drawn` anew; None where it is undefined."""
        answer = self.estimate(measure, weighted=drawn.weighted)
        if answer.value is None:
            return None
        method = self.method(measure, weighted=drawn.weighted)
        values = measure.values(drawn.sums(method))
        seed = drawn.seed if isinstance(drawn.seed, int) else None
        return percentile(values, level=level, method=method, seed=seed, holding=answer.value)

    def resample(
        self,
        *,
        seed: int | np.random.SeedSequence,
        replicates: int = REPLICATES,
        weighted: bool = False,
        method: str = BOOTSTRAP,
    ) -> FloatArray:
        """(replicates, n_columns) sums of items drawn anew inside each stratum: for all figures at once."""
        rng = np.random.default_rng(seed)
        table = self.with_pseudo_item() if method == SMOOTHED else self
        factors = self._of_stratum()[table.strata] if weighted else np.ones(len(table.weights))
        found = []
        step = max(1, CHUNK_CELLS // max(len(table.weights), 1))
        for start in range(0, replicates, step):
            size = min(step, replicates - start)
            drawn = table.smoothed_draw(rng, size, self) if method == SMOOTHED else self.draw(rng, size)
            found.append((drawn * factors) @ table.sums)
        return np.concatenate(found)

    def with_pseudo_item(self) -> SpanFigures:
        """The table with one pseudo-item, as METHODS, section 3, of the reference has it for labels: a sample without
        any disagreement has a bootstrap that never leaves 1, and this one does.

        Of labels the pseudo-item is spread over all cells. Of spans it is the mean item, which its raters marked in
        three ways, each with a third of it: all alike; with the same borders and labels by chance; and with nothing in
        common, tokens agreeing by chance. Strata share it in proportion to their items.
        """
        sums, weights, strata = [self.sums], [self.weights], [self.strata]
        for stratum in np.unique(self.strata):
            within = self.strata == stratum
            mean = self.weights[within] @ self.sums[within] / self.weights[within].sum()
            ways = np.stack([self._alike(mean), self._other_labels(mean), self._apart(mean)])
            sums.append(ways)
            weights.append(np.full(len(ways), self.weights[within].sum() / self.n / len(ways)))
            strata.append(np.full(len(ways), stratum))
        return replace(self, sums=np.concatenate(sums), weights=np.concatenate(weights), strata=np.concatenate(strata))

    def smoothed_draw(self, rng: np.random.Generator, size: int, items: SpanFigures) -> FloatArray:
        """(size, n_rows) Dirichlet weights of the rows of a table with a pseudo-item; strata keep the number of their
        `items`."""
        drawn = rng.standard_gamma(self.weights, size=(size, len(self.weights)))
        for stratum in np.unique(self.strata):
            within = self.strata == stratum
            n = items.weights[items.strata == stratum].sum()
            drawn[:, within] *= n / drawn[:, within].sum(axis=1, keepdims=True)
        return np.asarray(drawn)

    def empty_stratum(self) -> int | None:
        """The first stratum without an item that two people rated."""
        if self.populations is None:
            return None
        items = np.bincount(self.strata, weights=self.weights, minlength=len(self.populations))
        empty = np.flatnonzero(items == 0)
        return int(empty[0]) if len(empty) else None

    def factors(self) -> FloatArray:
        """(n_rows,) what an item of each row stands for, scaled so that they add up to the number of items."""
        return np.asarray(self._of_stratum()[self.strata])

    def _of_stratum(self) -> FloatArray:
        """(n_strata,) what an item of each stratum stands for."""
        populations = np.array(self.populations or ())
        items = np.bincount(self.strata, weights=self.weights, minlength=len(populations))
        each = np.divide(populations, items, out=np.zeros_like(items), where=items > 0)
        return np.asarray(each * (items.sum() / (each @ items)))

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

    def _alike(self, item: FloatArray) -> FloatArray:
        """The sums of an item if all its ratings were the same."""
        spans = self._column(item, SPANS) / 2
        changed: dict[Hashable, Any] = {(EXACT, label): self._column(item, (SPANS, label)) / 2 for label in self.labels}
        changed |= {EXACT: spans, BORDERS: spans, OVERLAP: spans, INSIDE_SAME: self._column(item, INSIDE_BOTH)}
        return self._changed(item, changed | self._by_chance(item, share=0.0))

    def _other_labels(self, item: FloatArray) -> FloatArray:
        """The sums of an item if borders matched and labels did not, tokens in spans having theirs by chance."""
        values, marked = self._values(item), self._values(item, marked=True)
        whole = values.sum() * _by_chance(values)
        share = min(marked.sum() * _by_chance(marked) / whole, 1.0) if whole else 0.0
        spans = self._column(item, SPANS) / 2
        changed = self._unmatched() | {BORDERS: spans, OVERLAP: spans}
        return self._changed(item, changed | self._by_chance(item, share=share))

    def _apart(self, item: FloatArray) -> FloatArray:
        """The sums of an item if no span matched another, tokens agreeing by chance."""
        return self._changed(item, self._unmatched() | self._by_chance(item, share=1.0))

    def _unmatched(self) -> dict[Hashable, Any]:
        """Nothing of an item matches."""
        keys: list[Hashable] = [EXACT, BORDERS, OVERLAP, INSIDE_SAME, *((EXACT, label) for label in self.labels)]
        return dict.fromkeys(keys, 0.0)

    def _by_chance(self, item: FloatArray, *, share: float) -> dict[Hashable, float]:
        """Unlike pairs of tokens of an item: a share of those that chance would give."""
        values = self._values(item)
        n = float(values.sum())
        found: dict[Hashable, float] = {WITHIN: share * n * _by_chance(values)}
        for label in self.labels:
            mine = float(self._column(item, (UNITS, label)))
            found[WITHIN, label] = share * n * _by_chance(np.array([mine, n - mine]))
        return found

    def _values(self, item: FloatArray, *, marked: bool = False) -> FloatArray:
        """How many tokens of an item have each set of labels; only those in a span, if `marked`."""
        outside = column_name((UNITS, frozenset()))
        names = [name for name in self.place if name.startswith(OF_UNITS) and not (marked and name == outside)]
        return np.array([item[self.place[name]] for name in names], dtype=np.float64)

    def _changed(self, item: FloatArray, values: Mapping[Hashable, Any]) -> FloatArray:
        """An item with other sums in these columns; a sum without a column is 0 in every item."""
        found = item.copy()
        for key, value in values.items():
            if column_name(key) in self.place:
                found[self.place[column_name(key)]] = value
        return found

    def _column(self, sums: Array, key: Hashable) -> Array:
        name = column_name(key)
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


@dataclass
class Resampled:
    """Items drawn anew, once for all figures: as the plain bootstrap draws them, and smoothed if one needs it."""

    figures: SpanFigures
    seed: int | np.random.SeedSequence
    weighted: bool = False
    _found: dict[str, FloatArray] = field(default_factory=dict)

    def sums(self, method: str) -> FloatArray:
        """(replicates, n_columns) sums by one method."""
        if method not in self._found:
            self._found[method] = self.figures.resample(seed=self.seed, weighted=self.weighted, method=method)
        return self._found[method]


def _by_chance(counts: FloatArray) -> float:
    """The share of pairs of tokens that would differ by chance."""
    n = float(counts.sum())
    return 1.0 - float(counts @ counts) / n**2 if n else 0.0


def column_name(key: Hashable) -> str:
    """The name of a column; of one that counts tokens by their set of labels it begins as no other does."""
    if isinstance(key, tuple) and isinstance(key[1], frozenset):
        return f"{OF_UNITS}{sorted(map(repr, key[1]))!r}"
    return repr(key)
