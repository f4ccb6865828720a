"""Cohen's kappa of every pair of raters, its mean (Light 1971), and all pairs pooled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.coefficients import pairwise
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.distances import Distance, fixed_matrix, nominal
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import MISSING, Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import KEPT_CELLS, Adder, Statistic, off_diagonal, total


def rater_pairs(n_raters: int) -> list[tuple[int, int]]:
    """Every pair of columns once."""
    return list(combinations(range(n_raters), 2))


def pairwise_statistic(matrix: FloatArray, pairs: Sequence[tuple[int, int]], *, average: bool) -> Statistic:
    """Cohen's kappa of each pair on the items it shares, or the mean of the defined ones."""
    return of_pairs(cohen_statistic(matrix), pairs, average=average)


def of_pairs(cohen_of: Statistic, pairs: Sequence[tuple[int, int]], *, average: bool) -> Statistic:
    """A kappa of two raters of each pair on the items it shares, or the mean of the defined ones."""
    width = cohen_of.n_sums

    def features(codes: IntArray) -> FloatArray:
        return np.column_stack([_shared(cohen_of, codes, pair) for pair in pairs])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        observed, expected = cohen_of.disagreement(sums.reshape(*sums.shape[:-1], len(pairs), width))
        return observed[..., 0], expected[..., 0]

    def sparse(codes: IntArray) -> Adder:
        return _by_pair(cohen_of, codes, pairs)

    reason = "no_defined_pair" if average else "no_variation"
    return Statistic(features, disagreement, len(pairs) * width, reason, average, by_rater=True, sparse=sparse)


def pairwise_cohen_kappa(ratings: Ratings, distance: Distance | None = None) -> dict[tuple[int, int], Estimate]:
    """Cohen's kappa of each pair of columns on the items that both rated."""
    _check_named(ratings)
    statistic = cohen_statistic(fixed_matrix(distance or nominal(ratings), ratings.n_labels))
    return dict(zip(ratings.pairs, pairwise.estimates(list(ratings.pairs.values()), statistic), strict=True))


def mean_pairwise_cohen_kappa(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Light's kappa: the mean of the defined pairwise kappas; how many were left out stands in the details.

    Returns
    -------
    Estimate : or undefined, "no_pairs" or "no_defined_pair"

    References
    ----------
    Light 1971, doi:10.1037/h0031643
    """
    estimates = pairwise_cohen_kappa(ratings, distance)
    values = [estimate.value for estimate in estimates.values() if estimate.value is not None]
    if not ratings.n_paired:
        return undefined("no_pairs")
    if not values:
        return undefined("no_defined_pair", n=ratings.n_paired)
    left_out = len(estimates) - len(values)
    return Estimate(float(np.mean(values)), n=ratings.n_paired, details={"pairs": len(values), "left_out": left_out})


def mean_statistic(ratings: Ratings) -> Statistic:
    """The mean of the pairs' unweighted kappas."""
    return pairwise_statistic(off_diagonal(ratings.n_labels), rater_pairs(ratings.n_raters), average=True)


def pooled_statistic(ratings: Ratings, distance: Distance | None = None) -> Statistic:
    """Observed and expected disagreement are each summed over pairs, weighed by the items of the pair."""
    matrix = fixed_matrix(distance or nominal(ratings), ratings.n_labels)
    pairs = rater_pairs(ratings.n_raters)
    each = pairwise_statistic(matrix, pairs, average=False)
    width = 2 * len(matrix) + 1

    def disagreement(sums: Array) -> tuple[Array, Array]:
        by_pair = sums.reshape(*sums.shape[:-1], len(pairs), width)
        n = total(by_pair[..., 1 : len(matrix) + 1])
        shared = n.real > 0
        observed, expected = each.disagreement(np.where(shared[..., None], by_pair, 1.0).reshape(sums.shape))
        weights = np.where(shared, n, 0.0)
        everything = n.sum(axis=-1, keepdims=True)
        return (
            (weights * observed).sum(axis=-1, keepdims=True) / everything,
            (weights * expected).sum(axis=-1, keepdims=True) / everything,
        )

    return Statistic(each.features, disagreement, each.n_sums, by_rater=True, sparse=each.sparse)


def pooled_pairwise_cohen_kappa(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """1 - Do / De with Do and De the means over pairs of raters, each pair weighed by the items it shares.

    Each pair keeps its own margins; no pair is added to another by position.
    """
    _check_named(ratings)
    if ratings.n_raters < 2:
        return undefined("no_pairs")
    return pooled_statistic(ratings, distance).estimate(ratings)


def _by_pair(cohen_of: Statistic, codes: IntArray, pairs: Sequence[tuple[int, int]]) -> Adder:
    """Adds up each pair's own sums from the patterns that have both: all its other features are 0."""
    rated = codes != MISSING
    cells = cohen_of.n_sums * sum(int((rated[:, first] & rated[:, second]).sum()) for first, second in pairs)
    add_of = None
    if cells <= KEPT_CELLS:
        add_of = [_own(cohen_of, codes, rated, pair) for pair in pairs]

    def add(weights: FloatArray) -> FloatArray:
        sums = np.zeros((*weights.shape[:-1], len(pairs), cohen_of.n_sums))
        for place, pair in enumerate(pairs):
            rows, own = add_of[place] if add_of else _own(cohen_of, codes, rated, pair)
            sums[..., place, :] = own(weights[..., rows])
        return sums.reshape(*weights.shape[:-1], len(pairs) * cohen_of.n_sums)

    return add


def _own(
    cohen_of: Statistic, codes: IntArray, rated: npt.NDArray[np.bool_], pair: tuple[int, int]
) -> tuple[IntArray | slice, Adder]:
    """The patterns that both of a pair have rated, and what adds up their weights."""
    both = rated[:, pair[0]] & rated[:, pair[1]]
    rows = slice(None) if both.all() else np.flatnonzero(both)
    return rows, cohen_of.adder(codes[rows][:, list(pair)])


def _shared(cohen_of: Statistic, codes: IntArray, pair: tuple[int, int]) -> FloatArray:
    both = codes[:, pair]
    shared = (both != MISSING).all(axis=1)
    return np.asarray(cohen_of.features(both) * shared[:, None])


def _check_named(ratings: Ratings) -> None:
    if ratings.exchangeable:
        raise ValueError("Kappas of pairs need to know who rated; these are exchangeable rating places.")
