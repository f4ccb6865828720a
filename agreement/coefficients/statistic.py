"""Every coefficient in one form: 1 - observed / expected disagreement, both functions of weighted item sums.

The form keeps its precision where chance agreement is near 1, and one definition then gives the value (here), its
standard error (influence.py), its bootstrap (bootstrap.py) and its weighting to a population (population.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings

# Cells of one block of pattern features: 2**22 floats are 32 MB.
BLOCK_CELLS = 1 << 22
# Features of a pattern table are kept from one chunk of weights to the next up to this many cells (16 MB).
KEPT_CELLS = 1 << 21

# Weights (..., n_patterns) -> sums (..., n_sums) of a table whose codes are known.
Adder = Callable[[FloatArray], FloatArray]


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
    sparse : codes -> what adds up weights, where most features are 0 and are better never made
    """

    features: Callable[[IntArray], FloatArray]
    disagreement: Callable[[Array], tuple[Array, Array]]
    n_sums: int
    reason: str = "no_variation"
    average: bool = False
    by_rater: bool = False
    sparse: Callable[[IntArray], Adder] | None = None

    def blocks(self, codes: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        """The features of `codes` in blocks of bounded size."""
        step = max(1, BLOCK_CELLS // max(self.n_sums, codes.shape[1], 1))
        for start in range(0, len(codes), step):
            block = slice(start, start + step)
            yield block, self.features(codes[block])

    def sums(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """(..., n_sums) of weights (..., n_patterns)."""
        if self.sparse:
            return self.sparse(codes)(weights)
        total = np.zeros((*weights.shape[:-1], self.n_sums))
        for block, features in self.blocks(codes):
            total += weights[..., block] @ features
        return total

    def adder(self, codes: IntArray) -> Adder:
        """The same for many weights of one table: features that fit are made once."""
        if self.sparse:
            return self.sparse(codes)
        if len(codes) * self.n_sums > KEPT_CELLS:
            return lambda weights: self.sums(codes, weights)
        features = self.features(codes)
        return lambda weights: weights @ features

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
        return self._estimates(self.values(sums), observed, expected, [n] * len(observed))

    def each_of(self, sums: FloatArray, n: Sequence[float]) -> list[Estimate]:
        """The estimates of a statistic with one target, from the sums (len(n), n_sums) of several tables."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed, expected = self.disagreement(sums)
        return self._estimates(self.values(sums)[:, 0], observed[:, 0], expected[:, 0], n)

    def _estimates(self, values: FloatArray, observed: Array, expected: Array, n: Sequence[float]) -> list[Estimate]:
        rows = zip(values, observed, expected, n, strict=True)
        return [
            estimate(float(value), float(seen), float(chance), each, self.reason) for value, seen, chance, each in rows
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


def total(values: Array) -> Array:
    """The sum over the last axis. Over a few labels in each of many rows numpy's own takes twenty times as long."""
    return np.asarray(np.einsum("...i->...", values))


def quadratic(left: Array, matrix: Array, right: Array) -> Array:
    """left' matrix right over the last axis, for a matrix (K, K) or one per row (..., K, K)."""
    # One matrix for all rows is one product; a product for each row costs many times as much.
    product = left @ matrix if matrix.ndim == 2 else (left[..., None, :] @ matrix)[..., 0, :]
    return np.asarray(np.einsum("...i,...i->...", product, right))
