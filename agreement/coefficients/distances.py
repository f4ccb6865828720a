"""Distances between labels: functions of the label counts, since alpha's ordinal distance depends on them.

A new one is a function that makes a `Distance` for given ratings, and a line in DISTANCES.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.coefficients.ratings import Array, FloatArray, Label, Ratings


@dataclass(frozen=True)
class Distance:
    """Label counts (..., n_labels) -> distances (..., n_labels, n_labels), 0 on the diagonal and never negative.

    `fixed` is the matrix of a distance that does not depend on the counts.
    """

    key: str
    function: Callable[[Array], Array]
    fixed: FloatArray | None = None

    def __call__(self, marginals: Array) -> Array:
        return self.function(marginals)


@dataclass(frozen=True)
class Weighting:
    """An entry of DISTANCES. `levels` are the levels of measurement where it has a meaning."""

    key: str
    title: str
    make: Callable[[Ratings], Distance]
    levels: tuple[str, ...]


def constant(key: str, matrix: FloatArray) -> Distance:
    """A distance that is the same whatever the counts are."""
    return Distance(key, lambda marginals: matrix, matrix)


def nominal(ratings: Ratings) -> Distance:
    """1 for two different labels."""
    return constant("nominal", 1.0 - np.eye(ratings.n_labels))


def linear(ratings: Ratings) -> Distance:
    """Steps between the declared positions, 1 from end to end; a label nobody used keeps its place."""
    return constant("linear", _steps(ratings.n_labels))


def quadratic(ratings: Ratings) -> Distance:
    """The square of the linear distance."""
    return constant("quadratic", _steps(ratings.n_labels) ** 2)


def ordinal(ratings: Ratings) -> Distance:
    """Krippendorff's ordinal distance: the squared difference of the labels' middle ranks in declared order."""
    return Distance("ordinal", _rank_mass)


def interval(ratings: Ratings) -> Distance:
    """Squared difference of the label values."""
    values = _values(ratings, "Interval")
    return constant("interval", (values[:, None] - values[None, :]) ** 2)


def ratio(ratings: Ratings) -> Distance:
    """Squared difference over the sum of the label values; 0 for 0 against 0."""
    values = _values(ratings, "Ratio")
    if (values < 0).any():
        raise ValueError("Ratio distance needs label values of 0 or more.")
    totals = values[:, None] + values[None, :]
    return constant("ratio", ((values[:, None] - values[None, :]) / np.where(totals > 0, totals, 1.0)) ** 2)


def jaccard(ratings: Ratings) -> Distance:
    """For labels that are sets: 1 - shared / united; two empty sets are the same answer."""
    return constant("jaccard", _between_sets(ratings, _jaccard))


def masi(ratings: Ratings) -> Distance:
    """For labels that are sets (Passonneau 2006): 1 - Jaccard x 1, 2/3, 1/3 or 0.

    The factor is 1 for equal sets, 2/3 where one holds the other, 1/3 where they overlap, 0 where they are apart.
    """
    return constant("masi", _between_sets(ratings, _masi))


def custom(matrix: Sequence[Sequence[float]] | FloatArray, n_labels: int | None = None) -> Distance:
    """A declared matrix of disagreement weights, row against column; it may be asymmetric.

    It is scaled so that the largest weight is 1, which changes no kappa and makes 1 - v an agreement.

    Raises
    ------
    ValueError : not square or not one row per label, a weight below 0 or not finite, a diagonal that is not 0, or
        no weight above 0, with which no two labels would differ
    """
    weights = np.asarray(matrix, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        shape = " x ".join(map(str, weights.shape))
        raise ValueError(f"Disagreement weights need as many rows as columns, not {shape}.")
    if n_labels is not None and len(weights) != n_labels:
        size = len(weights)
        raise ValueError(f"{n_labels} labels need {n_labels} x {n_labels} weights, and these are {size} x {size}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        row, column = np.argwhere(~(np.isfinite(weights) & (weights >= 0)))[0]
        found = weights[row, column]
        raise ValueError(f"Weight {found} in row {row + 1}, column {column + 1}: expected a number of 0 or more.")
    if np.diagonal(weights).any():
        row = int(np.flatnonzero(np.diagonal(weights))[0])
        raise ValueError(f"Weight {weights[row, row]} in row {row + 1}: the same label twice is no disagreement, so 0.")
    if len(weights) > 1 and not weights.any():
        raise ValueError("All weights are 0, so no two labels would differ: expected one above 0.")
    return constant("custom", weights / weights.max(initial=0.0) if weights.any() else weights)


def fixed_matrix(distance: Distance, n_labels: int) -> FloatArray:
    """The matrix of a distance that does not depend on the counts, checked against the number of labels."""
    if distance.fixed is None:
        raise ValueError(
            f"The {distance.key} distance depends on the label counts; this coefficient needs a fixed one."
        )
    if distance.fixed.shape != (n_labels, n_labels):
        raise ValueError(f"{n_labels} labels need a distance of as many rows, not {distance.fixed.shape}.")
    return distance.fixed


def normalised(distance: Distance, n_labels: int) -> FloatArray:
    """The fixed matrix scaled so that the largest distance is 1, as weights 1 - v need it."""
    matrix = fixed_matrix(distance, n_labels)
    largest = float(matrix.max(initial=0.0))
    return matrix / largest if largest else matrix


def _steps(n_labels: int) -> FloatArray:
    positions = np.arange(n_labels, dtype=np.float64)
    return np.asarray(np.abs(positions[:, None] - positions[None, :]) / max(n_labels - 1, 1))


def _rank_mass(marginals: Array) -> Array:
    # sum_{g=c..k} n_g - (n_c + n_k)/2 is the difference of the middle ranks of c and k.
    middle = np.cumsum(marginals, axis=-1) - marginals / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2


def _values(ratings: Ratings, level: str) -> FloatArray:
    if ratings.values is None:
        raise ValueError(f"{level} distance needs a number for every label.")
    return np.array(ratings.values)


def _between_sets(ratings: Ratings, distance: Callable[[frozenset[Label], frozenset[Label]], float]) -> FloatArray:
    sets = [label for label in ratings.labels if isinstance(label, frozenset)]
    if len(sets) != ratings.n_labels:
        raise ValueError("A set distance needs labels that are sets.")
    return np.array([[distance(a, b) for b in sets] for a in sets], dtype=np.float64).reshape(len(sets), len(sets))


def _jaccard(a: frozenset[Label], b: frozenset[Label]) -> float:
    return 1.0 - len(a & b) / len(a | b) if a | b else 0.0


def _masi(a: frozenset[Label], b: frozenset[Label]) -> float:
    if a == b:
        return 0.0
    # An empty set lies in every other one, and shares nothing with it.
    factor = 2 / 3 if a <= b or b <= a else 1 / 3
    return 1.0 - factor * len(a & b) / len(a | b)


DISTANCES: dict[str, Weighting] = {
    weighting.key: weighting
    for weighting in (
        Weighting("nominal", "Nominal: any difference counts 1", nominal, ("nominal", "ordinal", "interval", "ratio")),
        Weighting("linear", "Linear in the declared positions", linear, ("ordinal", "interval", "ratio")),
        Weighting("quadratic", "Quadratic in the declared positions", quadratic, ("ordinal", "interval", "ratio")),
        Weighting("ordinal", "Ordinal: ratings between the two labels", ordinal, ("ordinal", "interval", "ratio")),
        Weighting("interval", "Interval: squared difference of the values", interval, ("interval", "ratio")),
        Weighting("ratio", "Ratio: squared relative difference of the values", ratio, ("ratio",)),
        Weighting("jaccard", "Jaccard distance of two sets", jaccard, ("multilabel",)),
        Weighting("masi", "MASI distance of two sets", masi, ("multilabel",)),
    )
}
