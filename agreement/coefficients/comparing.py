"""The difference of two coefficients: of two draws, whose items are different, or of two on the same items.

Two intervals that overlap are no test; the difference has an interval of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, lgamma, log, sqrt

import numpy as np

from agreement.coefficients import bootstrap, influence
from agreement.coefficients.bootstrap import LEVEL, REPLICATES, SMOOTHED, Interval
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic


@dataclass(frozen=True)
class Difference:
    """First minus second, with its standard error, a test of no difference, and an interval from resampling."""

    value: float
    standard_error: float | None
    z: float | None
    p: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Homogeneity:
    """Several independent kappas against their common value."""

    pooled: float
    standard_error: float
    chi_square: float
    degrees: int
    p: float


def independent(values: Sequence[float], errors: Sequence[float]) -> Difference:
    """The difference of two independent estimates from their standard errors: variances add."""
    return _tested(values[0] - values[1], sqrt(errors[0] ** 2 + errors[1] ** 2), None)


def homogeneity(values: Sequence[float], errors: Sequence[float]) -> Homogeneity:
    """Chi-square of independent kappas around their mean, weighted by 1 / variance (Fleiss 1981)."""
    if len(values) < 2 or len(values) != len(errors) or not all(error > 0 for error in errors):
        raise ValueError("Homogeneity needs two or more values, each with a standard error above 0.")
    weights = [1.0 / error**2 for error in errors]
    pooled = sum(w * value for w, value in zip(weights, values, strict=True)) / sum(weights)
    square = sum(w * (value - pooled) ** 2 for w, value in zip(weights, values, strict=True))
    degrees = len(values) - 1
    return Homogeneity(pooled, 1 / sqrt(sum(weights)), square, degrees, chi_square_tail(square, degrees))


def draws(
    first: Ratings,
    second: Ratings,
    statistics: tuple[Statistic, Statistic],
    *,
    seed: int,
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Difference | None:
    """The same coefficient in two draws of different items: each is resampled by itself and subtracted.

    None where either is undefined. The statistics are made for the labels and raters of their own draw.
    """
    values, errors, drawn, methods = [], [], [], []
    streams = np.random.SeedSequence(seed).spawn(2)
    for ratings, statistic, stream in zip((first, second), statistics, streams, strict=True):
        answer = statistic.estimate(ratings)
        if answer.value is None:
            return None
        values.append(answer.value)
        errors.append(float(influence.standard_errors(statistic, ratings)[0]))
        methods.append(_method(ratings, answer.n, answer.value))
        table = ratings if statistic.by_rater else ratings.forget_raters()
        drawn.append(_replicates(table, [statistic], stream, replicates, methods[-1])[0])
    value = values[0] - values[1]
    method = SMOOTHED if SMOOTHED in methods else methods[0]
    interval = bootstrap.percentile(drawn[0] - drawn[1], level=level, method=method, seed=seed, holding=value)
    return _tested(value, sqrt(errors[0] ** 2 + errors[1] ** 2), interval)


def same_items(
    ratings: Ratings,
    first: Statistic,
    second: Statistic,
    *,
    seed: int,
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Difference | None:
    """Two coefficients on the same items (two pairs of raters, human against model): items are resampled for both.

    The standard error takes the covariance of the influence values (McKenzie et al. 1996; Vanbelle & Albert 2008).
    None where either is undefined.
    """
    table = ratings.comparable()
    answers = [statistic.estimate(table) for statistic in (first, second)]
    if answers[0].value is None or answers[1].value is None:
        return None
    value = answers[0].value - answers[1].value
    phi = influence.influence(first, table)[:, 0] - influence.influence(second, table)[:, 0]
    error = sqrt(float(table.weights @ (phi * phi))) / float(table.weights.sum())
    method = max(_method(table, answer.n, answer.value) for answer in answers if answer.value is not None)
    drawn = _replicates(table, [first, second], seed, replicates, method)
    interval = bootstrap.percentile(drawn[0] - drawn[1], level=level, method=method, seed=seed, holding=value)
    return _tested(value, error, interval)


def chi_square_tail(value: float, degrees: int) -> float:
    """P(chi-square with `degrees` of freedom > value), by the upward recurrence of the incomplete gamma function."""
    if value <= 0:
        return 1.0
    half = value / 2
    tail = erfc(sqrt(half)) if degrees % 2 else exp(-half)
    order = 0.5 if degrees % 2 else 1.0
    while order < degrees / 2:
        tail += exp(order * log(half) - half - lgamma(order + 1))
        order += 1.0
    return min(tail, 1.0)


def _replicates(
    table: Ratings,
    statistics: Sequence[Statistic],
    seed: int | np.random.SeedSequence,
    replicates: int,
    method: str,
) -> list[FloatArray]:
    drawn = bootstrap.resample(table, statistics, seed=seed, replicates=replicates, method=method)
    return [values[:, 0] for values in drawn]


def _method(ratings: Ratings, n: float, value: float) -> str:
    small = bootstrap.too_small(n, ratings.comparable().n_disputed, value)
    return SMOOTHED if small else bootstrap.BOOTSTRAP


def _tested(value: float, error: float, interval: Interval | None) -> Difference:
    if error == 0 or not np.isfinite(error):
        return Difference(value, None, None, None, interval)
    z = value / error
    return Difference(value, error, z, erfc(abs(z) / sqrt(2)), interval)
