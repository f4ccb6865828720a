"""Krippendorff's alpha: any number of raters, missing ratings, any distance of labels."""

from __future__ import annotations

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.distances import Distance, nominal
from agreement.coefficients.estimate import NO_DISTANCE, Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings, label_counts
from agreement.coefficients.statistic import Statistic, quadratic


def alpha_statistic(distance: Distance, n_labels: int) -> Statistic:
    """Sums are the label counts of items with two or more ratings and their disagreement.

    A distance that depends on the counts needs the coincidences of each pair of labels instead of one number.
    """
    if distance.fixed is None:
        return _counts_dependent(distance, n_labels)
    matrix = distance.fixed
    if matrix.shape != (n_labels, n_labels):
        raise ValueError(f"{n_labels} labels need a distance of as many rows, not {matrix.shape}.")

    def features(codes: IntArray) -> FloatArray:
        counts, sizes = _paired_counts(codes, n_labels)
        within = ((counts @ matrix) * counts).sum(axis=1) / np.maximum(sizes - 1, 1)
        return np.column_stack([counts, within])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        counts = sums[..., :n_labels]
        return _disagreement(sums[..., n_labels], quadratic(counts, matrix, counts), counts)

    return Statistic(features, disagreement, n_sums=n_labels + 1)


def alpha(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Krippendorff's alpha with a distance of the labels (nominal where none is given).

    Items with one rating are left out; an item with m ratings enters with 1 / (m - 1). Software that pools pairs or
    divides by 1 for complete data answers otherwise.

    Returns
    -------
    Estimate : value <= 1 with observed and expected disagreement in `details`, or undefined, "no_pairs" or
        "no_variation"

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability; Passonneau 2006 for sets
    """
    answer = alpha_statistic(distance or nominal(ratings), ratings.n_labels).estimate(ratings)
    if answer.undefined == "no_variation" and (ratings.used() > 0).sum() > 1:
        return undefined("no_variation", n=answer.n, sentence=NO_DISTANCE)
    if answer.value is None or answer.observed is None or answer.expected is None:
        return answer
    # A distance is not confined to [0, 1], so what was observed and expected is disagreement.
    disagreement = {"observed_disagreement": 1.0 - answer.observed, "expected_disagreement": 1.0 - answer.expected}
    if distance is None or distance.key == "nominal":
        return Estimate(
            answer.value, observed=answer.observed, expected=answer.expected, n=answer.n, details=disagreement
        )
    return Estimate(answer.value, n=answer.n, details=disagreement)


def alpha_se(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """The standard error of alpha from influence values; published ones disagree with each other."""
    return influence.standard_error(alpha_statistic(distance or nominal(ratings), ratings.n_labels), ratings)


def _counts_dependent(distance: Distance, n_labels: int) -> Statistic:
    upper = np.triu_indices(n_labels, 1)

    def features(codes: IntArray) -> FloatArray:
        counts, sizes = _paired_counts(codes, n_labels)
        coincidences = 2.0 * counts[:, upper[0]] * counts[:, upper[1]] / np.maximum(sizes - 1, 1)[:, None]
        return np.column_stack([counts, coincidences])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        counts = sums[..., :n_labels]
        distances = distance(counts)
        within = (sums[..., n_labels:] * distances[..., upper[0], upper[1]]).sum(axis=-1)
        return _disagreement(within, quadratic(counts, distances, counts), counts)

    return Statistic(features, disagreement, n_sums=n_labels + len(upper[0]))


def _disagreement(within: Array, between: Array, counts: Array) -> tuple[Array, Array]:
    n = counts.sum(axis=-1)
    return (within / n)[..., None], (between / (n * (n - 1.0)))[..., None]


def _paired_counts(codes: IntArray, n_labels: int) -> tuple[FloatArray, FloatArray]:
    counts = label_counts(codes, n_labels)
    sizes = counts.sum(axis=1)
    return counts * (sizes >= 2)[:, None], sizes
