"""Cohen's kappa of two raters, unweighted and weighted, and what its marginals say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.distances import Distance, fixed_matrix, nominal
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic, off_diagonal, one_hot, quadratic, total


def cohen_statistic(matrix: FloatArray) -> Statistic:
    """Cohen's kappa with a matrix of disagreement weights: sums are the disagreement and the two margins."""
    k = len(matrix)

    def features(codes: IntArray) -> FloatArray:
        first, second = codes[:, 0], codes[:, 1]
        return np.column_stack([matrix[first, second], one_hot(first, k), one_hot(second, k)])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        rows, columns = sums[..., 1 : k + 1], sums[..., k + 1 :]
        n = total(rows)
        return (sums[..., 0] / n)[..., None], (quadratic(rows, matrix, columns) / (n * n))[..., None]

    return Statistic(features, disagreement, n_sums=2 * k + 1, by_rater=True)


def cohen(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Cohen's kappa of two raters, weighted by `distance` (any difference counts 1 where none is given).

    Parameters
    ----------
    ratings : two raters; only items that both rated are used
    distance : a fixed distance of the labels, 0 on the diagonal; scaling it changes nothing

    Returns
    -------
    Estimate : value <= 1 with observed and expected agreement and n; or undefined, "no_pairs" or "no_variation".
        1 - observed / expected disagreement, since (po - pe) / (1 - pe) loses its digits near pe = 1. Labels keep
        their declared positions: software that compacts the scale to the used labels answers otherwise.

    Raises
    ------
    ValueError : not two raters, a distance of another size or one that depends on the counts

    References
    ----------
    Cohen 1960, doi:10.1177/001316446002000104; Cohen 1968, doi:10.1037/h0026256
    """
    _check_two(ratings)
    return cohen_statistic(_matrix(ratings, distance)).estimate(ratings)


def cohen_se(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """The non-null standard error of kappa (Fleiss, Cohen & Everitt 1969): the one for intervals."""
    _check_two(ratings)
    return influence.standard_error(cohen_statistic(_matrix(ratings, distance)), ratings)


def cohen_se0(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """The standard error if the raters were independent: for a test of kappa = 0 only, never for intervals."""
    _check_two(ratings)
    kappa = cohen(ratings, distance)
    if kappa.value is None:
        return undefined(str(kappa.undefined), n=kappa.n)
    matrix, p = _matrix(ratings, distance), _shares(ratings)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    expected = float(rows @ matrix @ columns)
    phi = (-matrix + (matrix @ columns)[:, None] + (rows @ matrix)[None, :]) / expected - 1.0
    return Estimate(sqrt(float((np.outer(rows, columns) * phi * phi).sum()) / kappa.n), n=kappa.n)


def expected_agreement(ratings: Ratings) -> Estimate:
    """The agreement that two raters with these margins would reach by chance."""
    _check_two(ratings)
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return undefined("no_pairs")
    p = _shares(pairs)
    return Estimate(float(p.sum(axis=1) @ p.sum(axis=0)), n=pairs.n_paired)


def kappa_max(ratings: Ratings) -> Estimate:
    """The largest kappa that these margins allow: below 1 as soon as the raters use the labels unequally often."""
    _check_two(ratings)
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return undefined("no_pairs")
    p = _shares(pairs)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    expected = float(rows @ off_diagonal(ratings.n_labels) @ columns)
    if expected == 0:
        return undefined("no_variation", n=pairs.n_paired)
    # Half of the absolute differences is the disagreement that no table with these margins can avoid.
    return Estimate(1.0 - float(np.abs(rows - columns).sum() / 2) / expected, n=pairs.n_paired)


def prevalence_index(ratings: Ratings) -> Estimate:
    """(n11 - n22) / n of two labels, signed (Byrt, Bishop & Carlin 1993)."""
    return _of_two_by_two(ratings, lambda p: float(p[0, 0] - p[1, 1]))


def bias_index(ratings: Ratings) -> Estimate:
    """(n12 - n21) / n of two labels, signed (Byrt, Bishop & Carlin 1993)."""
    return _of_two_by_two(ratings, lambda p: float(p[0, 1] - p[1, 0]))


def pabak(ratings: Ratings) -> Estimate:
    """Prevalence-adjusted bias-adjusted kappa of two labels: 2 po - 1 (Byrt, Bishop & Carlin 1993)."""
    estimate = _of_two_by_two(ratings, lambda p: 2.0 * float(p[0, 0] + p[1, 1]) - 1.0)
    if estimate.value is None:
        return estimate
    return replace(estimate, observed=(estimate.value + 1.0) / 2.0, expected=0.5)


def _of_two_by_two(ratings: Ratings, index: Callable[[FloatArray], float]) -> Estimate:
    _check_two(ratings)
    if ratings.n_labels != 2:
        raise ValueError(f"This index is of two labels, and {ratings.n_labels} are declared.")
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return undefined("no_pairs")
    return Estimate(index(_shares(pairs)), n=pairs.n_paired)


def _shares(ratings: Ratings) -> FloatArray:
    table = ratings.table()
    return np.asarray(table / table.sum())


def _matrix(ratings: Ratings, distance: Distance | None) -> FloatArray:
    return fixed_matrix(distance or nominal(ratings), ratings.n_labels)


def _check_two(ratings: Ratings) -> None:
    if ratings.n_raters != 2:
        raise ValueError(
            f"Cohen's kappa compares two raters, not {ratings.n_raters}: take a pair, or a coefficient for several."
        )
