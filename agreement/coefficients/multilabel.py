"""Ratings that are sets of classes: distinct sets act as labels, so every engine of the package still holds.

The empty set is a rating ("none of these"): two empty sets agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agreement.coefficients.cohen import cohen
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Label, Ratings, identity


def from_sets(rows: Sequence[Sequence[Iterable[Label] | None]], classes: Sequence[Label], **about: Any) -> Ratings:
    """One row of sets per rater, one place per item, None where missing.

    Raises
    ------
    ValueError : a member that is not among the declared classes
    """
    place = {identity(name): position for position, name in enumerate(classes)}
    sets = [[None if answer is None else _positions(answer, place) for answer in row] for row in rows]
    distinct = sorted(
        {answer for row in sets for answer in row if answer is not None}, key=lambda s: (len(s), sorted(s))
    )
    names = {positions: frozenset(classes[position] for position in positions) for positions in distinct}
    named = [[None if answer is None else names[answer] for answer in row] for row in sets]
    return Ratings.from_matrix(named, [names[positions] for positions in distinct], **about)


def of_class(ratings: Ratings, name: Label) -> Ratings:
    """The same ratings of one class: True where it is in the set, False where it is not."""
    member = identity(name)
    mapping = []
    for label in ratings.labels:
        if not isinstance(label, frozenset):
            raise ValueError("Ratings of one class are made from labels that are sets.")
        mapping.append(0 if member in {identity(each) for each in label} else 1)
    return ratings.recode(mapping, (True, False))


def per_label_kappa(ratings: Ratings, classes: Sequence[Label]) -> list[Estimate]:
    """Cohen's kappa of each class by itself; two raters."""
    return [cohen(of_class(ratings, name)) for name in classes]


def macro_mean_kappa(ratings: Ratings, classes: Sequence[Label]) -> Estimate:
    """The unweighted mean of the defined per-class kappas: never shown without their list."""
    if not ratings.n_paired:
        return undefined("no_pairs")
    values = [answer.value for answer in per_label_kappa(ratings, classes) if answer.value is not None]
    if not values:
        return undefined("no_variation", n=ratings.n_paired)
    left_out = len(classes) - len(values)
    return Estimate(float(np.mean(values)), n=ratings.n_paired, details={"classes": len(values), "left_out": left_out})


def _positions(answer: Iterable[Label], place: dict[Any, int]) -> frozenset[int]:
    members = list(answer)
    for member in members:
        if identity(member) not in place:
            raise ValueError(f"Class {member!r} is not among the declared classes.")
    return frozenset(place[identity(member)] for member in members)
