"""Percent agreement: how often two ratings of an item are the same, with no correction for chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agreement.coefficients.estimate import Estimate
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings, label_counts
from agreement.coefficients.statistic import Statistic


def percent_statistic(n_labels: int, *, pooled: bool = False) -> Statistic:
    """Share of differing pairs, averaged over items, or pooled over all pairs."""

    def features(codes: IntArray) -> FloatArray:
        counts = label_counts(codes, n_labels)
        sizes = counts.sum(axis=1)
        pairs = sizes * (sizes - 1)
        differing = (counts * (sizes[:, None] - counts)).sum(axis=1)
        if pooled:
            return np.column_stack([differing, pairs])
        return np.column_stack([differing / np.maximum(pairs, 1), sizes >= 2]).astype(np.float64)

    def disagreement(sums: Array) -> tuple[Array, Array]:
        observed = sums[..., 0] / sums[..., 1]
        return observed[..., None], np.ones_like(observed)[..., None]

    return Statistic(features, disagreement, n_sums=2, reason="no_pairs")


def percent_agreement(ratings: Ratings) -> Estimate:
    """Mean over items with two or more ratings of the share of their rating pairs that agree.

    References
    ----------
    With two raters the share of items on which they agree; with more, Fleiss 1971, doi:10.1037/h0031619
    """
    return _uncorrected(percent_statistic(ratings.n_labels).estimate(ratings))


def percent_agreement_pooled_pairs(ratings: Ratings) -> Estimate:
    """Agreeing pairs of ratings over all pairs: an item with more ratings weighs more."""
    return _uncorrected(percent_statistic(ratings.n_labels, pooled=True).estimate(ratings))


def _uncorrected(answer: Estimate) -> Estimate:
    """There is no expected agreement where chance is not corrected for."""
    return replace(answer, expected=None)
