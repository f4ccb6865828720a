"""Conger's kappa of several raters: chance agreement from each rater's own label shares."""

from __future__ import annotations

import numpy as np

from agreement.coefficients.estimate import Estimate
from agreement.coefficients.fleiss import item_features
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic, off_diagonal, one_hot


def conger_statistic(n_raters: int, n_labels: int) -> Statistic:
    """Mean over rater pairs of the disagreement of their label shares; raters without ratings are left out."""
    matrix = off_diagonal(n_labels)

    def features(codes: IntArray) -> FloatArray:
        hot = [one_hot(column, n_labels) for column in codes.T]
        return np.column_stack([item_features(codes, matrix)[:, :2], *hot])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        used = sums[..., 2:].reshape(*sums.shape[:-1], n_raters, n_labels)
        totals = used.sum(axis=-1, keepdims=True)
        rated = totals.real > 0
        shares = used / np.where(rated, totals, 1.0)
        # Each rater against the sum of those before: every pair once, and no subtraction.
        before = np.cumsum(shares[..., :-1, :], axis=-2)
        differing = ((before @ matrix) * shares[..., 1:, :]).sum(axis=(-2, -1))
        raters = rated.sum(axis=(-2, -1))
        expected = differing / np.maximum(raters * (raters - 1) / 2, 1)
        return (sums[..., 0] / sums[..., 1])[..., None], expected[..., None]

    return Statistic(features, disagreement, n_sums=2 + n_raters * n_labels, by_rater=True)


def conger_kappa(ratings: Ratings) -> Estimate:
    """Conger's kappa; with two raters and complete pairs it is Cohen's.

    Raises
    ------
    ValueError : exchangeable rating places, which have no rater's own shares

    References
    ----------
    Conger 1980, doi:10.1037/0033-2909.88.2.322
    """
    if ratings.exchangeable:
        raise ValueError("Conger's kappa needs to know who rated; these are exchangeable rating places.")
    return conger_statistic(ratings.n_raters, ratings.n_labels).estimate(ratings)
