"""Standard errors from influence values: what one item more of a pattern does to a coefficient.

One engine for all of them. The gradient of a statistic in its item sums is taken by a complex step, which is exact
to rounding; for kappa and weighted kappa the result is the non-null variance of Fleiss, Cohen & Everitt 1969
(doi:10.1037/h0028106), for Fleiss' kappa, AC1 and Brennan-Prediger Gwet's (2014) times (n - 1) / n.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic

# Far below rounding of any sum, far above the smallest float.
STEP = 1e-100


def gradient(statistic: Statistic, sums: FloatArray) -> FloatArray:
    """(..., n_sums, n_targets) derivative of each value in each of the sums (..., n_sums); NaN where undefined."""
    stepped = sums[..., None, :] + 1j * STEP * np.eye(sums.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = statistic.disagreement(stepped)
        defined = (expected.real > 0) & np.isfinite(observed.real)
        ratio = observed / np.where(defined, expected, 1.0)
    slope = np.where(defined, -ratio.imag / STEP, np.nan)
    if not statistic.average:
        return slope
    count = defined.sum(axis=-1, keepdims=True)
    total = np.where(defined, slope, 0.0).sum(axis=-1, keepdims=True)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def influence(
    statistic: Statistic, ratings: Ratings, weights: FloatArray | None = None, slope: FloatArray | None = None
) -> FloatArray:
    """(n_patterns, n_targets) influence value of an item of each pattern, centred on 0 over the items.

    `weights` (n_patterns,) replace the item counts as the point where the derivative is taken; `slope` is the gradient
    at that point, where it is known.
    """
    at = ratings.weights if weights is None else weights
    if slope is None:
        slope = gradient(statistic, statistic.sums(ratings.codes, at))
    values = np.empty((len(ratings.codes), slope.shape[1]))
    for block, features in statistic.blocks(ratings.codes):
        values[block] = features @ slope
    values *= at.sum()
    # Alpha is not homogeneous in the weights (n - 1), so its values are not centred by themselves.
    return np.asarray(values - (at @ values) / at.sum())


def standard_errors(statistic: Statistic, ratings: Ratings, slope: FloatArray | None = None) -> FloatArray:
    """(n_targets,) sqrt(sum phi^2) / n over the comparable items; NaN where undefined. `slope` as of `influence`."""
    ratings = ratings.comparable()
    if not len(ratings.weights):
        return np.full(1, np.nan)
    phi = influence(statistic, ratings, slope=slope)
    n = ratings.weights.sum()
    return np.asarray(np.sqrt(ratings.weights @ (phi * phi)) / n)


def standard_error(statistic: Statistic, ratings: Ratings) -> Estimate:
    """The standard error of a statistic with one value, for intervals."""
    ratings = ratings.comparable()
    if not ratings.n_paired:
        return undefined("no_pairs")
    return as_estimate(float(standard_errors(statistic, ratings)[0]), ratings.n_paired, statistic.reason)


def covariance(first: Statistic, second: Statistic, ratings: Ratings) -> float | None:
    """Covariance of two statistics on the same items; None where one of them is undefined."""
    phi = [influence(statistic, ratings)[:, 0] for statistic in (first, second)]
    n = float(ratings.weights.sum())
    value = float(ratings.weights @ (phi[0] * phi[1])) / n**2
    return value if np.isfinite(value) else None


def gwet_standard_error(statistic: Statistic, ratings: Ratings) -> Estimate:
    """The standard error of Gwet 2014 for coefficients whose observed agreement is a mean over items.

    The divisor is n (n - 1) over all rated items, and an item with one rating enters with an agreement of chance
    scaled to 0, not as one that does not count: where ratings are unequal this is wider than `standard_error`.
    """
    ratings = ratings.comparable()
    n, paired = ratings.n_rated, ratings.n_paired
    if not paired:
        return undefined("no_pairs")
    answer = statistic.estimate(ratings)
    if answer.value is None:
        return undefined(str(answer.undefined), n=paired)
    if n <= 1:
        return undefined("one_item", n=paired)
    single = answer.value * (np.where(ratings.sizes >= 2, n / paired, 0.0) - 1.0)
    phi = influence(statistic, ratings)[:, 0] + single
    return Estimate(sqrt(float(ratings.weights @ (phi * phi)) / (n * (n - 1))), n=paired)


def as_estimate(value: float, n: float, reason: str) -> Estimate:
    """A number that may be NaN as an estimate."""
    return undefined(reason, n=n) if np.isnan(value) else Estimate(value, n=n)
