"""Agreement with an expert: every other rater against one column (Carletta 1996, section 4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.coefficient import ANY, ORDERED, SINGLE, Coefficient
from agreement.coefficients.cohen import cohen, cohen_statistic
from agreement.coefficients.distances import DISTANCES, Distance, fixed_matrix, nominal
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import MISSING, Array, FloatArray, IntArray, Ratings
from agreement.coefficients.statistic import Statistic

SOURCE = "Carletta 1996, Computational Linguistics 22(2), section 4"
TITLES = {
    "expert_kappa_pooled": "Cohen's kappa with the expert (all ratings by others, each with the expert's)",
    "expert_weighted_kappa_linear": "Weighted kappa with the expert (linear weights; all ratings by others, each with"
    " the expert's)",
    "expert_weighted_kappa_quadratic": "Weighted kappa with the expert (quadratic weights; all ratings by others, each"
    " with the expert's)",
    "expert_percent_agreement": "Percent agreement with the expert",
}


def coefficients(name: str, level: str) -> dict[str, Coefficient]:
    """What is offered where the rater `name` is the expert, by key: unordered and, on a scale, weighted kappa."""
    found = [_kappa("expert_kappa_pooled", name, nominal, SINGLE)]
    for weights in ("linear", "quadratic"):
        found.append(_kappa(f"expert_weighted_kappa_{weights}", name, DISTANCES[weights].make, ORDERED))
    found.append(
        _against(
            "expert_percent_agreement",
            name,
            lambda ratings, expert: percent_statistic(ratings.n_raters, ratings.n_labels, expert),
            SINGLE,
        )
    )
    return {each.key: each for each in found if level in each.levels}


def _kappa(key: str, name: str, make: Callable[[Ratings], Distance], levels: tuple[str, ...]) -> Coefficient:
    def statistic(ratings: Ratings, expert: int) -> Statistic:
        return expert_statistic(fixed_matrix(make(ratings), ratings.n_labels), ratings.n_raters, expert)

    return _against(key, name, statistic, levels)


def _against(key: str, name: str, make: Callable[[Ratings, int], Statistic], levels: tuple[str, ...]) -> Coefficient:
    """A coefficient of the items that the expert and somebody else rated."""

    def statistic(ratings: Ratings) -> Statistic:
        return make(ratings, ratings.raters.index(name))

    def function(ratings: Ratings) -> Estimate:
        if name not in ratings.raters:
            return undefined("no_pairs", sentence="The expert has rated none of these items.")
        expert = ratings.raters.index(name)
        return _estimate(ratings, expert, make(ratings, expert))

    return Coefficient(
        key=key,
        title=TITLES[key],
        function=function,
        statistic=statistic,
        levels=levels,
        raters=ANY,
        source=SOURCE,
        standard_error=lambda ratings: influence.standard_error(statistic(ratings), shared_with(ratings, name)),
        named_raters=True,
        items=lambda ratings: shared_with(ratings, name),
    )


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
    check_expert(ratings, expert)
    return {other: cohen(ratings.pair(other, expert), distance) for other in range(ratings.n_raters) if other != expert}


def with_expert(ratings: Ratings, expert: int) -> Ratings:
    """The items that the expert and at least one other rated."""
    return ratings.keep((ratings.codes[:, expert] != MISSING) & (ratings.sizes >= 2))


def shared_with(ratings: Ratings, name: str) -> Ratings:
    """The items that the rater `name` and at least one other rated; none where nobody has that name."""
    if name not in ratings.raters:
        return ratings.keep(np.zeros(len(ratings.weights), dtype=bool))
    return with_expert(ratings, ratings.raters.index(name))


def _estimate(ratings: Ratings, expert: int, statistic: Statistic) -> Estimate:
    check_expert(ratings, expert)
    shared = with_expert(ratings, expert)
    n = float(shared.weights.sum())
    if not n:
        return undefined("no_pairs")
    answer = statistic.estimates(shared, n)[0]
    pairs = round(float(shared.weights @ (shared.sizes - 1)))
    return Estimate(answer.value, answer.undefined, answer.observed, answer.expected, n, {"pairs": pairs})


def check_expert(ratings: Ratings, expert: int) -> None:
    """Refuse ratings whose columns are no people, and a column that there is not."""
    if ratings.exchangeable:
        raise ValueError("Agreement with an expert needs to know who rated; these are exchangeable rating places.")
    if not 0 <= expert < ratings.n_raters:
        raise ValueError(f"The expert is one of the columns 0 to {ratings.n_raters - 1}, not {expert}.")
