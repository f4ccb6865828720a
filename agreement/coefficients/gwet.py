"""Gwet's AC1 and AC2: chance agreement from how evenly the declared labels are used."""

from __future__ import annotations

from agreement.coefficients import influence
from agreement.coefficients.distances import Distance, nominal, normalised
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.fleiss import item_features
from agreement.coefficients.ratings import Array, FloatArray, Ratings
from agreement.coefficients.statistic import Statistic, off_diagonal, quadratic


def gwet_statistic(matrix: FloatArray) -> Statistic:
    """AC2 with disagreement weights in [0, 1]; AC1 where every difference counts 1."""
    k = len(matrix)
    agreement_weights = k * k - float(matrix.sum())
    apart = off_diagonal(k)

    def disagreement(sums: Array) -> tuple[Array, Array]:
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        # sum pi (1 - pi) without the subtraction.
        spread = quadratic(shares, apart, shares)
        chance = agreement_weights / (k * max(k - 1, 1)) * spread
        return (sums[..., 0] / sums[..., 1])[..., None], (1.0 - chance if k > 1 else 0.0 * spread)[..., None]

    return Statistic(lambda codes: item_features(codes, matrix), disagreement, n_sums=k + 2, reason="one_category")


def gwet(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Gwet's AC1, or AC2 weighted by `distance`.

    The number of labels is the declared one: software that counts the used ones answers otherwise. Constant data is
    1 by definition, to be shown only with the note that there was no variation.

    Returns
    -------
    Estimate : value <= 1, or undefined, "no_pairs" or "one_category"

    References
    ----------
    Gwet 2008, doi:10.1348/000711006X126600; Gwet 2014, Handbook of Inter-Rater Reliability
    """
    if ratings.n_labels < 2 and ratings.n_paired:
        return undefined("one_category", n=ratings.n_paired, observed=1.0)
    return _statistic(ratings, distance).estimate(ratings)


def gwet_se(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Gwet's standard error (2014, linearisation over items)."""
    return influence.gwet_standard_error(_statistic(ratings, distance), ratings)


def _statistic(ratings: Ratings, distance: Distance | None) -> Statistic:
    return gwet_statistic(normalised(distance or nominal(ratings), ratings.n_labels))
