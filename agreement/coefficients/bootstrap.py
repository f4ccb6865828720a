"""Intervals from resampling the items: a draw of the table of rating patterns, so its cost knows no number of items.

Resampling n items with replacement is a multinomial draw of the pattern counts, done inside each stratum. Where that
is too small to tell anything (see `too_small`), the smoothed draw of smoothing.py takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.coefficients import population, smoothing
from agreement.coefficients.ratings import FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic

LEVEL = 0.95
REPLICATES = 2000
BOOTSTRAP, SMOOTHED = "bootstrap", "smoothed"
# Cells of one chunk of replicates: the draw and its float copy stay under 70 MB.
CHUNK_CELLS = 4_000_000
# Features of a pattern table are kept between chunks up to this many cells (16 MB).
KEPT_CELLS = 1 << 21
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
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    low, high = (float(end) for end in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    if method == SMOOTHED and holding is not None:
        low, high = min(low, holding), max(high, holding)
    return Interval(low, high, level, method, len(values), seed, 1.0 - len(defined) / len(values))


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
    rng = np.random.default_rng(seed)
    drawn = population.complete(ratings) if weighted else ratings.comparable()
    factors = population.stratum_factors(drawn) if weighted else None
    table = smoothing.with_pseudo_item(drawn, rng) if method == SMOOTHED else drawn
    order, groups = _groups(table, drawn)
    codes = table.codes[order]
    scale = factors[table.strata[order]] if factors is not None and table.strata is not None else None
    kept = [_kept(statistic, codes) for statistic in statistics]
    results: list[list[FloatArray]] = [[] for _ in statistics]
    for size in _chunks(replicates, len(codes)):
        weights = _draw(rng, groups, size, smoothed=method == SMOOTHED)
        if scale is not None:
            weights *= scale
        for statistic, features, result in zip(statistics, kept, results, strict=True):
            sums = statistic.sums(codes, weights) if features is None else weights @ features
            result.append(statistic.values(sums))
    return [np.concatenate(result) for result in results]


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


def _kept(statistic: Statistic, codes: IntArray) -> FloatArray | None:
    return statistic.features(codes) if len(codes) * statistic.n_sums <= KEPT_CELLS else None
