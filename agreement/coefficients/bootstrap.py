"""Intervals from resampling the items: a draw of the table of rating patterns, so its cost knows no number of items.

Resampling n items with replacement is a multinomial draw of the pattern counts, done inside each stratum. Where that
is too small to tell anything (see `too_small`), the smoothed draw of smoothing.py takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from agreement.coefficients import population, smoothing
from agreement.coefficients.ratings import FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic

LEVEL = 0.95
REPLICATES = 2000
BOOTSTRAP, SMOOTHED = "bootstrap", "smoothed"
# Cells of one chunk of replicates: the draw and its float copy stay under 70 MB.
CHUNK_CELLS = 4_000_000
# METHODS of the reference, section 3: below these the percentile bootstrap does not cover.
SMALL_ITEMS, FEW_DISAGREEMENTS = 100, 5


@dataclass(frozen=True)
class Interval:
    """An interval with how it was made. `undefined_share` is the part of the replicates that had no value."""

    low: float
    high: float
    level: float
    method: str
    replicates: int = 0
    seed: int | None = None
    undefined_share: float = 0.0


def too_small(n: float, disagreements: float, value: float) -> bool:
    """Whether the smoothed interval takes the place of the bootstrap: few items, few disagreements, or a value of 1."""
    return n < SMALL_ITEMS or disagreements < FEW_DISAGREEMENTS or value >= 1.0


def interval(
    ratings: Ratings,
    statistic: Statistic,
    *,
    seed: int,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    weighted: bool = False,
    method: str | None = None,
) -> Interval | None:
    """The interval of a statistic with one value; None where the value, or every replicate, is undefined.

    `method` is chosen by `too_small` unless given. `weighted` is for the figure weighted to the population.
    """
    answer = population.estimate(ratings, statistic) if weighted else statistic.estimate(ratings)
    if answer.value is None:
        return None
    if method is None:
        small = too_small(answer.n, ratings.comparable().n_disputed, answer.value)
        method = SMOOTHED if small else BOOTSTRAP
    table = ratings if statistic.by_rater else ratings.forget_raters()
    (values,) = resample(table, [statistic], seed=seed, replicates=replicates, method=method, weighted=weighted)
    return percentile(values[:, 0], level=level, method=method, seed=seed, holding=answer.value)


def percentile(
    values: FloatArray, *, level: float, method: str, seed: int | None, holding: float | None = None
) -> Interval | None:
    """The central `level` of the defined replicates.

    A smoothed interval is widened to hold the estimate `holding`: at a value of 1 every smoothed draw lies below it.
    """
    return percentiles(values[None, :], level=level, method=method, seed=seed, holding=[holding])[0]


def percentiles(
    values: FloatArray, *, level: float, method: str, seed: int | None, holding: Sequence[float | None]
) -> list[Interval | None]:
    """The `percentile` of each row of values (n, replicates)."""
    finite = np.isfinite(values)
    whole = finite.all(axis=1)
    shares = [(1 - level) / 2, (1 + level) / 2]
    ends = np.full((len(values), 2), np.nan)
    ends[whole] = np.quantile(values[whole], shares, axis=1).T
    for row in np.flatnonzero(~whole & finite.any(axis=1)):
        ends[row] = np.quantile(values[row][finite[row]], shares)
    lost = 1.0 - finite.sum(axis=1) / values.shape[1]
    rows = zip(ends, lost, holding, strict=True)
    return [_interval(*each, level=level, method=method, replicates=values.shape[1], seed=seed) for each in rows]


def _interval(
    ends: FloatArray,
    lost: float,
    holding: float | None,
    *,
    level: float,
    method: str,
    replicates: int,
    seed: int | None,
) -> Interval | None:
    low, high = (float(end) for end in ends)
    if not np.isfinite(low):
        return None
    if method == SMOOTHED and holding is not None:
        low, high = min(low, holding), max(high, holding)
    return Interval(low, high, level, method, replicates, seed, float(lost))


def resample(
    ratings: Ratings,
    statistics: Sequence[Statistic],
    *,
    seed: int | np.random.SeedSequence,
    replicates: int = REPLICATES,
    method: str = BOOTSTRAP,
    weighted: bool = False,
) -> list[FloatArray]:
    """Replicates (replicates, n_targets) of each statistic, all from the same draws; NaN where undefined.

    Parameters
    ----------
    ratings : patterns; strata are kept, and how many items have one rating only is taken as given
    seed : the same seed gives the same replicates
    method : "bootstrap", or "smoothed" with one pseudo-item spread over all cells
    weighted : weight the strata to their populations
    """
    return Draw(ratings, seed=seed, replicates=replicates, method=method, weighted=weighted).values(statistics)


class Draw:
    """A draw that several may ask for: made when first asked, and kept where it is one chunk. As `resample`."""

    def __init__(
        self,
        ratings: Ratings,
        *,
        seed: int | np.random.SeedSequence,
        replicates: int = REPLICATES,
        method: str = BOOTSTRAP,
        weighted: bool = False,
    ) -> None:
        self._again = partial(_drawn, ratings, seed, replicates, method, weighted=weighted)
        self._replicates = replicates
        self._kept: tuple[IntArray, list[FloatArray]] | None = None

    def sums(self, statistics: Sequence[Statistic]) -> Iterator[list[FloatArray]]:
        """Chunk by chunk the sums (…, n_sums) of each statistic."""
        codes, chunks = self._kept or self._again()
        adders = [statistic.adder(codes) for statistic in statistics]
        for weights in chunks:
            if len(weights) == self._replicates:
                self._kept = codes, [weights]
            yield [add(weights) for add in adders]

    def values(self, statistics: Sequence[Statistic]) -> list[FloatArray]:
        """Replicates (replicates, n_targets) of each statistic; NaN where undefined."""
        results: list[list[FloatArray]] = [[] for _ in statistics]
        for sums in self.sums(statistics):
            for statistic, each, result in zip(statistics, sums, results, strict=True):
                result.append(statistic.values(each))
        return [np.concatenate(result) for result in results]


class Draws:
    """The draws of one table from one seed: those that need the same one, the same patterns and method, share it."""

    def __init__(self, ratings: Ratings, *, seed: int, replicates: int = REPLICATES) -> None:
        self._ratings, self._seed, self._replicates = ratings, seed, replicates
        self._tables: dict[bool, Ratings] = {True: ratings}
        self._draws: dict[tuple[bool, str], Draw] = {}

    def table(self, *, by_rater: bool) -> Ratings:
        """The patterns, with or without who rated."""
        if by_rater not in self._tables:
            self._tables[by_rater] = self._ratings.forget_raters()
        return self._tables[by_rater]

    def draw(self, method: str, *, by_rater: bool) -> Draw:
        """The draw of these patterns by this method."""
        if (by_rater, method) not in self._draws:
            table = self.table(by_rater=by_rater)
            self._draws[by_rater, method] = Draw(table, seed=self._seed, replicates=self._replicates, method=method)
        return self._draws[by_rater, method]


def _drawn(
    ratings: Ratings, seed: int | np.random.SeedSequence, replicates: int, method: str, *, weighted: bool
) -> tuple[IntArray, Iterator[FloatArray]]:
    """The patterns that are drawn (n_patterns, n_raters), and replicates of their weights (…, n_patterns) in chunks."""
    rng = np.random.default_rng(seed)
    items = population.complete(ratings) if weighted else ratings.comparable()
    factors = population.stratum_factors(items) if weighted else None
    table = smoothing.with_pseudo_item(items, rng) if method == SMOOTHED else items
    order, groups = _groups(table, items)
    codes = table.codes[order]
    scale = factors[table.strata[order]] if factors is not None and table.strata is not None else None

    def chunks() -> Iterator[FloatArray]:
        for size in _chunks(replicates, len(codes)):
            weights = _draw(rng, groups, size, smoothed=method == SMOOTHED)
            if scale is not None:
                weights *= scale
            yield weights

    return codes, chunks()


def _groups(table: Ratings, drawn: Ratings) -> tuple[IntArray, list[tuple[FloatArray, float]]]:
    """Patterns sorted by what is drawn together, and per group their weights and the number of items drawn."""
    group, items = _group_of(table), _group_of(drawn)
    order = np.argsort(group, kind="stable")
    groups = []
    for number in np.unique(group):
        groups.append((table.weights[group == number], float(drawn.weights[items == number].sum())))
    return order, groups


def _group_of(ratings: Ratings) -> IntArray:
    """(n_patterns,) strata, and in each the items with one rating apart: how many there are is no chance."""
    paired = (ratings.sizes >= 2).astype(np.int64)
    return paired if ratings.strata is None else 2 * ratings.strata.astype(np.int64) + paired


def _draw(rng: np.random.Generator, groups: list[tuple[FloatArray, float]], size: int, *, smoothed: bool) -> FloatArray:
    """(size, n_patterns) weights of replicates; every group keeps its number of items."""
    drawn = np.empty((size, sum(len(weights) for weights, _ in groups)))
    start = 0
    for weights, items in groups:
        part = drawn[:, start : start + len(weights)]
        start += len(weights)
        if smoothed:
            masses = rng.standard_gamma(weights, size=(size, len(weights)))
            part[:] = masses * (items / masses.sum(axis=1, keepdims=True))
        else:
            part[:] = rng.multinomial(round(items), weights / items, size=size)
    return drawn


def _chunks(replicates: int, n_patterns: int) -> Iterator[int]:
    step = max(1, CHUNK_CELLS // max(n_patterns, 1))
    for start in range(0, replicates, step):
        yield min(step, replicates - start)
