"""Intra-rater agreement: the same person rates the same items twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from agreement.coefficients.cohen import cohen
from agreement.coefficients.distances import Distance
from agreement.coefficients.estimate import Estimate
from agreement.coefficients.ratings import Label, Ratings

OCCASIONS = ("first", "again")


def repeated(first: Sequence[Label | None], again: Sequence[Label | None], labels: Sequence[Label]) -> Ratings:
    """One person's two ratings of each item as two columns."""
    return Ratings.from_pairs(first, again, labels, raters=OCCASIONS)


def per_rater(ratings: Mapping[str, Ratings], distance: Distance | None = None) -> dict[str, Estimate]:
    """Cohen's kappa of each person with themselves."""
    return {name: cohen(own, distance) for name, own in ratings.items()}


def pooled(ratings: Mapping[str, Ratings], distance: Distance | None = None) -> Estimate:
    """Cohen's kappa of all people's first and second ratings stacked: items are pooled, not the people's kappas."""
    tables = [replace(own, raters=OCCASIONS) for own in ratings.values()]
    if not tables:
        raise ValueError("Intra-rater agreement needs at least one rater.")
    if any(own.labels != tables[0].labels for own in tables):
        raise ValueError("Pooled raters need the same declared labels.")
    codes = np.concatenate([own.codes for own in tables])
    weights = np.concatenate([own.weights for own in tables])
    return cohen(Ratings(codes, weights, tables[0].labels, OCCASIONS).merged(), distance)
