"""Every coefficient in one form: 1 - observed / expected disagreement, both functions of weighted item sums.

The form keeps its precision where chance agreement is near 1, and one definition then gives the value (here), its
standard error (influence.py), its bootstrap (bootstrap.py) and its weighting to a population (population.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings

# Cells of one block of pattern features: 2**22 floats are 32 MB.
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class Statistic:
    """A coefficient of `n_targets` numbers (one per class or pair, else 1), for a given number of raters and labels.

    Parameters
    ----------
    features : codes (n, n_raters) -> (n, n_sums), what an item of the pattern adds to each sum
    disagreement : sums (..., n_sums) -> observed and expected disagreement, each (..., n_targets); must also take
        complex sums, and observed = expected = 0 says undefined
    reason : why it is undefined where the expected disagreement is 0
    average : the value is the mean over the defined targets
    by_rater : whether it matters who rated; if not, patterns may forget it
    """

    features: Callable[[IntArray], FloatArray]
    disagreement: Callable[[Array], tuple[Array, Array]]
    n_sums: int
    reason: str = "no_variation"
    average: bool = False
    by_rater: bool = False

    def blocks(self, codes: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        """The features of `codes` in blocks of bounded size."""
        step = max(1, BLOCK_CELLS // max(self.n_sums, codes.shape[1], 1))
        for start in range(0, len(codes), step):
            block = slice(start, start + step)
            yield block, self.features(codes[block])

    def sums(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """(..., n_sums) of weights (..., n_patterns)."""
        total = np.zeros((*weights.shape[:-1], self.n_sums))
        for block, features in self.blocks(codes):
            total += weights[..., block] @ features
        return total

    def values(self, sums: FloatArray) -> FloatArray:
        """(..., n_targets), or (..., 1) for an average; NaN marks undefined, and goes no further than this package."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, expected = self.disagreement(sums)
            defined = (expected > 0) & np.isfinite(expected) & np.isfinite(observed)
            values = np.where(defined, 1.0 - observed / np.where(defined, expected, 1.0), np.nan)
            if self.average:
                count = defined.sum(axis=-1, keepdims=True)
                total = np.where(defined, values, 0.0).sum(axis=-1, keepdims=True)
                values = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return values

    def estimates(self, ratings: Ratings, n: float) -> list[Estimate]:
        """One estimate per target; one in all for an average, which has no observed and expected of its own."""
        sums = self.sums(ratings.codes, ratings.weights)
        if self.average:
            mean = float(self.values(sums)[0])
            return [undefined(self.reason, n=n) if np.isnan(mean) else Estimate(mean, n=n)]
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, expected = self.disagreement(sums)
        return [
            estimate(float(value), float(seen), float(chance), n, self.reason)
            for value, seen, chance in zip(self.values(sums), observed, expected, strict=True)
        ]

    def estimate(self, ratings: Ratings) -> Estimate:
        """The estimate of a statistic with one target, of the comparable items of `ratings`."""
        ratings = ratings.comparable()
        if not ratings.n_paired:
            return undefined("no_pairs")
        return self.estimates(ratings, ratings.n_paired)[0]


def estimate(value: float, observed: float, expected: float, n: float, reason: str) -> Estimate:
    """An estimate from disagreement; undefined where the value is NaN."""
    if np.isnan(value):
        seen = None if np.isnan(observed) else 1.0 - observed
        return undefined(reason, n=n, observed=seen)
    return Estimate(value, observed=1.0 - observed, expected=1.0 - expected, n=n)


def off_diagonal(n_labels: int) -> FloatArray:
    """(n_labels, n_labels) 1 for two different labels, 0 for the same."""
    return 1.0 - np.eye(n_labels)


def one_hot(column: IntArray, n_labels: int) -> FloatArray:
    """(n, n_labels) 1 at the code; a row of zeros where it is missing."""
    hot = np.zeros((len(column), n_labels + 1))
    hot[np.arange(len(column)), column] = 1.0
    return hot[:, :n_labels]


def quadratic(left: Array, matrix: Array, right: Array) -> Array:
    """left' matrix right over the last axis, for a matrix (K, K) or one per row (..., K, K)."""
    product: Array = (left[..., None, :] @ matrix)[..., 0, :] * right
    return np.asarray(product.sum(axis=-1))
