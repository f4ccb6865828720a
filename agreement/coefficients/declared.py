"""Agreement with an expert under a declared matrix of disagreement weights, in the form of summary.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agreement.coefficients import expert as experts
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.distances import custom, fixed_matrix
from agreement.coefficients.estimate import Estimate
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic
from agreement.coefficients.summary import engine_error, entry
from agreement.coefficients.table_intervals import Plan, table_intervals

KEY = "expert_weighted_kappa_custom"


def against(
    ratings: Ratings, expert: int, weights: Sequence[Sequence[float]] | FloatArray, plan: Plan
) -> dict[str, Any]:
    """Weighted kappa of all ratings by others with the expert's, and of each rater; the row is the other's label."""
    distance = custom(weights, ratings.n_labels)
    matrix = fixed_matrix(distance, ratings.n_labels)
    pooled = experts.expert_kappa_pooled(ratings, expert, distance)
    statistic = experts.expert_statistic(matrix, ratings.n_raters, expert)
    rows = [
        {"rater": ratings.raters[other], **_shown(each, ratings.pair(other, expert), cohen_statistic(matrix), plan)}
        for other, each in experts.expert_kappa_per_rater(ratings, expert, distance).items()
    ]
    return {
        KEY: _shown(pooled, experts.with_expert(ratings, expert), statistic, plan),
        f"{KEY}_per_rater": rows,
    }


def _shown(answer: Estimate, items: Ratings, statistic: Statistic, plan: Plan) -> dict[str, Any]:
    span = table_intervals(items, {KEY: statistic}, {KEY: answer}, plan).get(KEY)
    return entry(answer, span, engine_error(statistic, items) if answer.value is not None else None)
