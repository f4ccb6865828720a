"""What is particular to answers that are sets of labels: tables by label, and the names of their figures."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext_noop

from agreement.coefficients import COEFFICIENTS, classes, expert_sets, multilabel
from agreement.coefficients.ratings import MISSING, FloatArray, Ratings
from agreement.coefficients.summary import one
from agreement.coefficients.table_intervals import Plan
from projects.models import Label

EXACT_SET_PER_RATER = f"{expert_sets.EXACT_SET}_per_rater"
TITLES = {
    expert_sets.PER_LABEL: gettext_noop(
        "Kappa of each label with the expert (all ratings by others, each with the expert's)"
    ),
    expert_sets.EXACT_SET: gettext_noop("Exact-set agreement with the expert (the very same labels)"),
    EXACT_SET_PER_RATER: gettext_noop("Exact-set agreement of each rater with the expert"),
    "percent_agreement": gettext_noop("Exact-set agreement (both chose the very same labels)"),
    "macro_mean_kappa": gettext_noop("Mean of the labels' kappas (never without their list)"),
}
# The kernel's names of the labels' own figures, and the names that such figures have whatever the level.
BY_LABEL = {
    "per_label_cohen_kappa": "per_class_kappa",
    "per_label_krippendorff_alpha_nominal": "per_class_alpha",
}
PAIR_COEFFICIENTS = ("krippendorff_alpha_masi", "percent_agreement")


def named(found: dict[str, Any], ratings: Ratings, labels: Sequence[Label]) -> dict[str, Any]:
    """A summary of sets with its tables by label in the place of those by set."""
    statistics = {BY_LABEL.get(key, key): value for key, value in found["statistics"].items()}
    result = {key: value for key, value in found.items() if key != "table"}
    if ratings.n_raters == 2 and not ratings.exchangeable:
        # By who chose which; without that, the same table both ways round.
        result["table"] = [[round(float(count)) for count in row] for row in chosen_instead(ratings, labels)]
    return result | {
        "statistics": statistics,
        "uses": [[round(float(uses)) for uses in row] for row in _uses(ratings, labels)],
        "coincidences": [[round(float(count)) for count in row] for row in coincidences(ratings, labels)],
        "per_label": per_label(ratings, labels),
        "merged": [],
        "titles": {key: title for key, title in TITLES.items() if key in statistics},
    }


def of_pair(pair: Ratings, seed: int) -> dict[str, Any]:
    """The figures of one pair of raters."""
    return {key: one(pair, COEFFICIENTS[key], Plan(seed)) for key in PAIR_COEFFICIENTS}


def with_expert(ratings: Ratings, labels: Sequence[str], name: str, seed: int) -> dict[str, Any]:
    """Each label by itself, the others' choice of it with that of the expert; and the share of equal sets, of all
    others and of each."""
    found = expert_sets.against(ratings, labels, name, Plan(seed))
    if name in ratings.raters:
        place, percent = ratings.raters.index(name), COEFFICIENTS["percent_agreement"]
        others = {each: ratings.pair(at, place) for at, each in enumerate(ratings.raters) if at != place}
        found[EXACT_SET_PER_RATER] = [
            {"rater": each, **one(pair, percent, Plan(seed))} for each, pair in others.items()
        ]
    return found


def chosen_instead(ratings: Ratings, labels: Sequence[Label]) -> FloatArray:
    """(n_labels, n_labels) of two raters: items on which the first chose the one and not the other label, and the
    second the other and not the one; on the diagonal items on which both chose the label."""
    member, pairs = _membership(ratings, labels), ratings.comparable()
    first, second = member[pairs.codes[:, 0]], member[pairs.codes[:, 1]]
    return _instead(first, second, pairs.weights)


def coincidences(ratings: Ratings, labels: Sequence[Label]) -> FloatArray:
    """The same of all pairs of raters of an item and both ways round, without who chose which."""
    member = _membership(ratings, labels)
    total = np.zeros((len(labels), len(labels)))
    for first, second in combinations(range(ratings.n_raters), 2):
        both = (ratings.codes[:, [first, second]] != MISSING).all(axis=1)
        sides = member[ratings.codes[both, first]], member[ratings.codes[both, second]]
        total += _instead(*sides, ratings.weights[both])
    folded = total + total.T
    np.fill_diagonal(folded, np.diagonal(total))
    return np.asarray(folded)


def per_label(ratings: Ratings, labels: Sequence[Label]) -> list[dict[str, Any]]:
    """Each label's own table: pairs of ratings in which both, one or neither has it."""
    found = []
    for label in labels:
        binary = multilabel.of_class(ratings, label.key)
        counts, weights = binary.counts(), binary.weights
        has, lacks = counts[:, 0], counts[:, 1]
        row: dict[str, Any] = {
            "label": label.key,
            "both": round(float(weights @ (has * (has - 1))) / 2),
            "one": round(float(weights @ (has * lacks))),
            "neither": round(float(weights @ (lacks * (lacks - 1))) / 2),
        }
        if ratings.n_raters == 2 and not ratings.exchangeable:
            row["table"] = [[round(float(count)) for count in line] for line in binary.table()]
        found.append(row)
    return found


def _uses(ratings: Ratings, labels: Sequence[Label]) -> FloatArray:
    """(n_raters, n_labels) how often each rater chose each label on the items that are compared."""
    return np.asarray(classes.uses_by_rater(ratings) @ _membership(ratings, labels)[:-1])


def _membership(ratings: Ratings, labels: Sequence[Label]) -> FloatArray:
    """(n_sets + 1, n_labels) 1 where the set holds the label; the last row, that of a missing answer, is 0."""
    rows = [[float(label.key in each) for label in labels] for each in ratings.labels if isinstance(each, frozenset)]
    return np.array([*rows, [0.0] * len(labels)])


def _instead(first: FloatArray, second: FloatArray, weights: FloatArray) -> FloatArray:
    only_first, only_second = first * (1 - second), second * (1 - first)
    table = (only_first * weights[:, None]).T @ only_second
    np.fill_diagonal(table, weights @ (first * second))
    return np.asarray(table)
