"""Fleiss' kappa of several ratings per item, by whoever, with the conventions for unequal numbers of ratings."""

from __future__ import annotations

from math import sqrt

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.distances import Distance, fixed_matrix, nominal
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings, label_counts
from agreement.coefficients.statistic import Statistic, off_diagonal, quadratic


def item_features(codes: IntArray, matrix: FloatArray) -> FloatArray:
    """(n, 2 + K): disagreement of an item's pairs, whether it has a pair, and its label shares."""
    counts = label_counts(codes, len(matrix))
    sizes = counts.sum(axis=1)
    pairs = np.maximum(sizes * (sizes - 1), 1)
    differing = ((counts @ matrix) * counts).sum(axis=1) / pairs
    return np.column_stack([differing, sizes >= 2, counts / np.maximum(sizes, 1)[:, None]])


def fleiss_statistic(matrix: FloatArray) -> Statistic:
    """Chance agreement from the mean label shares of all rated items."""
    k = len(matrix)

    def disagreement(sums: Array) -> tuple[Array, Array]:
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        return (sums[..., 0] / sums[..., 1])[..., None], quadratic(shares, matrix, shares)[..., None]

    return Statistic(lambda codes: item_features(codes, matrix), disagreement, n_sums=k + 2)


def equal_sizes(ratings: Ratings) -> bool:
    """Whether every rated item has the same number of ratings, two or more."""
    sizes = ratings.comparable().sizes
    return len(sizes) > 0 and int(sizes.min()) == int(sizes.max()) >= 2


def fleiss_kappa(ratings: Ratings) -> Estimate:
    """Fleiss' kappa where every item has the same number of ratings.

    Returns
    -------
    Estimate : value <= 1, or undefined, "no_pairs" or "no_variation"

    Raises
    ------
    ValueError : unequal numbers of ratings, where a convention must be named (fleiss_kappa_gwet, fleiss_kappa_flp)

    References
    ----------
    Fleiss 1971, doi:10.1037/h0031619
    """
    _check_equal(ratings)
    return fleiss_kappa_gwet(ratings)


def fleiss_kappa_gwet(ratings: Ratings, distance: Distance | None = None) -> Estimate:
    """Fleiss' kappa with Gwet's weights for unequal numbers of ratings.

    Observed agreement over items with two or more ratings; label shares are the mean of the items' shares over all
    rated items (Gwet 2014; Stata kappaetc and irrCAC agree).
    """
    return fleiss_statistic(fixed_matrix(distance or nominal(ratings), ratings.n_labels)).estimate(ratings)


def flp_statistic(n_labels: int) -> Statistic:
    """The per-label kappas of Fleiss, Levin & Paik, averaged with weights p q."""
    matrix = off_diagonal(n_labels)

    def features(codes: IntArray) -> FloatArray:
        counts = label_counts(codes, n_labels)
        sizes = counts.sum(axis=1)
        within = (counts * (sizes[:, None] - counts)).sum(axis=1) / np.maximum(sizes, 1)
        return np.column_stack([within, np.maximum(sizes - 1, 0), counts * (sizes >= 2)[:, None]])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        # N (mean m - 1) is the sum of m - 1 over the items.
        return (sums[..., 0] / sums[..., 1])[..., None], quadratic(shares, matrix, shares)[..., None]

    return Statistic(features, disagreement, n_sums=n_labels + 2)


def fleiss_kappa_flp(ratings: Ratings) -> Estimate:
    """Fleiss' kappa for unequal numbers of ratings as Fleiss, Levin & Paik (chapter 18) and Stata `kappa` have it.

    Items with one rating are left out of the label shares too.
    """
    return flp_statistic(ratings.n_labels).estimate(ratings)


def per_category_statistic(n_labels: int) -> Statistic:
    """Fleiss' kappa of each label against the rest; the same number of ratings per item."""
    k = n_labels

    def features(codes: IntArray) -> FloatArray:
        counts = label_counts(codes, k)
        sizes = counts.sum(axis=1)
        others = sizes[:, None] - counts
        pairs = np.maximum(sizes * (sizes - 1), 1)[:, None]
        return np.column_stack([counts * others / pairs, counts, others, sizes >= 2])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        mixed, mine, others = sums[..., :k], sums[..., k : 2 * k], sums[..., 2 * k : 3 * k]
        total = mine + others
        return mixed / sums[..., 3 * k :], (mine / total) * (others / total)

    return Statistic(features, disagreement, n_sums=3 * k + 1)


def fleiss_per_category(ratings: Ratings) -> list[Estimate]:
    """Fleiss' kappa of each label against all others, in declared order; undefined for a label nobody used."""
    _check_equal(ratings)
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return [undefined("no_pairs")] * ratings.n_labels
    return per_category_statistic(ratings.n_labels).estimates(pairs, pairs.n_paired)


def fleiss_se(ratings: Ratings) -> Estimate:
    """Gwet's standard error (2014, linearisation over items): for intervals."""
    return influence.gwet_standard_error(fleiss_statistic(off_diagonal(ratings.n_labels)), ratings)


def fleiss_se0(ratings: Ratings) -> Estimate:
    """The standard error if kappa were 0 (Fleiss, Nee & Landis 1979, doi:10.1037/0033-2909.86.5.974); a test only."""
    kappa = fleiss_kappa(ratings)
    if kappa.value is None:
        return undefined(str(kappa.undefined), n=kappa.n)
    pairs = ratings.comparable()
    m = float(pairs.sizes[0])
    p = pairs.used() / pairs.used().sum()
    q = off_diagonal(ratings.n_labels) @ p
    spread = float(p @ q)
    variance = 2.0 * (spread**2 - float((p * q * (q - p)).sum())) / (spread**2 * kappa.n * m * (m - 1))
    return Estimate(sqrt(max(variance, 0.0)), n=kappa.n)


def _check_equal(ratings: Ratings) -> None:
    if ratings.n_paired and not equal_sizes(ratings):
        raise ValueError("Items have unequal numbers of ratings: name a convention (fleiss_kappa_gwet or _flp).")
