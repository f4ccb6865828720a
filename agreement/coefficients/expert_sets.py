"""Agreement with an expert where an answer is a set of labels: each label by itself, and the whole set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agreement.coefficients import classes, expert, multilabel
from agreement.coefficients.coefficient import NOMINAL
from agreement.coefficients.ratings import Label, Ratings
from agreement.coefficients.summary import one
from agreement.coefficients.table_intervals import Plan

PER_LABEL, EXACT_SET = "expert_kappa_per_label", "expert_percent_agreement"


def against(ratings: Ratings, labels: Sequence[Label], name: str, plan: Plan) -> dict[str, Any]:
    """Kappa of each label, of all choices by others with those of the rater `name`, and the share of equal sets.

    Parameters
    ----------
    ratings : multi-label ratings, of which `name` is a rater; `labels` are the members of the sets in their order

    Returns
    -------
    dict : expert_kappa_per_label, a list of entries with "label", and expert_percent_agreement, an entry
    """
    known = expert.coefficients(name, NOMINAL)
    rows = []
    for label in labels:
        binary = multilabel.of_class(ratings, label)
        row = one(binary, known["expert_kappa_pooled"], plan)
        if row.get("undefined") == "no_variation":
            used = expert.shared_with(binary, name).used()[0]
            row["sentence"] = classes.ALWAYS if used else classes.UNUSED
        rows.append({"label": label, **row})
    return {PER_LABEL: rows, EXACT_SET: one(ratings, known[EXACT_SET], plan)}
