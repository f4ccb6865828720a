"""Agreement with an expert: every other rater against one column (Carletta 1996, section 4)."""

from __future__ import annotations

import numpy as np

from agreement.coefficients.cohen import cohen, cohen_statistic
from agreement.coefficients.distances import Distance, fixed_matrix, nominal
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import MISSING, Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic


def expert_statistic(matrix: FloatArray, n_raters: int, expert: int) -> Statistic:
    """Cohen's kappa of all (other rating, expert rating) pairs stacked."""
    cohen_of = cohen_statistic(matrix)
    others = [column for column in range(n_raters) if column != expert]

    def features(codes: IntArray) -> FloatArray:
        total = np.zeros((len(codes), cohen_of.n_sums))
        for other in others:
            both = codes[:, [other, expert]]
            total += cohen_of.features(both) * (both != MISSING).all(axis=1)[:, None]
        return total

    return Statistic(features, cohen_of.disagreement, cohen_of.n_sums, by_rater=True)


def percent_statistic(n_raters: int, n_labels: int, expert: int) -> Statistic:
    """Share of the stacked pairs that agree."""
    kappa = expert_statistic(1.0 - np.eye(n_labels), n_raters, expert)

    def disagreement(sums: Array) -> tuple[Array, Array]:
        observed, _ = kappa.disagreement(sums)
        return observed, np.ones_like(observed)

    return Statistic(kappa.features, disagreement, kappa.n_sums, reason="no_pairs", by_rater=True)


def expert_kappa_pooled(ratings: Ratings, expert: int, distance: Distance | None = None) -> Estimate:
    """Cohen's kappa of all ratings by others, each paired with the expert's rating of the item.

    Its n is the items with such a pair; `details` has the number of pairs. Resample items, not pairs.

    References
    ----------
    Carletta 1996, Computational Linguistics 22(2), section 4
    """
    matrix = fixed_matrix(distance or nominal(ratings), ratings.n_labels)
    return _estimate(ratings, expert, expert_statistic(matrix, ratings.n_raters, expert))


def expert_percent_agreement(ratings: Ratings, expert: int) -> Estimate:
    """Share of the ratings by others that are the expert's label."""
    return _estimate(ratings, expert, percent_statistic(ratings.n_raters, ratings.n_labels, expert))


def expert_kappa_per_rater(ratings: Ratings, expert: int, distance: Distance | None = None) -> dict[int, Estimate]:
    """Cohen's kappa of each other column with the expert's."""
    _check_expert(ratings, expert)
    return {other: cohen(ratings.pair(other, expert), distance) for other in range(ratings.n_raters) if other != expert}


def with_expert(ratings: Ratings, expert: int) -> Ratings:
    """The items that the expert and at least one other rated."""
    return ratings.keep((ratings.codes[:, expert] != MISSING) & (ratings.sizes >= 2))


def _estimate(ratings: Ratings, expert: int, statistic: Statistic) -> Estimate:
    _check_expert(ratings, expert)
    shared = with_expert(ratings, expert)
    n = float(shared.weights.sum())
    if not n:
        return undefined("no_pairs")
    answer = statistic.estimates(shared, n)[0]
    pairs = round(float(shared.weights @ (shared.sizes - 1)))
    return Estimate(answer.value, answer.undefined, answer.observed, answer.expected, n, {"pairs": pairs})


def _check_expert(ratings: Ratings, expert: int) -> None:
    if ratings.exchangeable:
        raise ValueError("Agreement with an expert needs to know who rated; these are exchangeable rating places.")
    if not 0 <= expert < ratings.n_raters:
        raise ValueError(f"The expert is one of the columns 0 to {ratings.n_raters - 1}, not {expert}.")
