"""Brennan & Prediger's kappa (Bennett's S, Randolph's free-marginal kappa): chance agreement 1/K."""

from __future__ import annotations

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.distances import Distance, nominal, normalised
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.fleiss import item_features
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic


def brennan_prediger_statistic(matrix: FloatArray) -> Statistic:
    """Every pair of declared labels is equally likely by chance."""
    chance = float(matrix.mean()) if matrix.size else 0.0

    def features(codes: IntArray) -> FloatArray:
        return item_features(codes, matrix)[:, :2]

    def disagreement(sums: Array) -> tuple[Array, Array]:
        observed = sums[..., 0] / sums[..., 1]
        return observed[..., None], np.full_like(observed, chance)[..., None]

    return Statistic(features, disagreement, n_sums=2, reason="one_category")


def brennan_prediger(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Brennan & Prediger's kappa, weighted by `distance`; the number of labels is the declared one.

    Returns
    -------
    Estimate : value <= 1, or undefined, "no_pairs" or "one_category". Constant data is 1 by definition.

    References
    ----------
    Brennan & Prediger 1981, doi:10.1177/001316448104100307; Bennett, Alpert & Goldstein 1954
    """
    if ratings.n_labels < 2 and ratings.n_paired:
        return undefined("one_category", n=ratings.n_paired, observed=1.0)
    return _statistic(ratings, distance).estimate(ratings)


def brennan_prediger_se(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Gwet's standard error (2014, linearisation over items)."""
    return influence.gwet_standard_error(_statistic(ratings, distance), ratings)


def _statistic(ratings: Ratings, distance: Distance | None) -> Statistic:
    return brennan_prediger_statistic(normalised(distance or nominal(ratings), ratings.n_labels))
