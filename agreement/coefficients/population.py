"""Figures weighted to the population, for draws that took strata at unequal rates.

An item of stratum h stands for N_h / n_h items of the population, where n_h are its complete items (two ratings or
more); the weighted pattern table then goes through the same statistic (Hajek form of inverse-probability weighting;
Lin, Kim, Williamson & Lesser 2012, SAS SURVEYFREQ). It is shown beside the figure as drawn, never in its place.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.influence import as_estimate, influence
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic


def complete(ratings: Ratings) -> Ratings:
    """The items that carry population weights: those with two or more ratings."""
    return ratings.keep(ratings.sizes >= 2)


def stratum_sizes(ratings: Ratings) -> FloatArray:
    """(n_strata,) complete items of each declared stratum."""
    if ratings.strata is None or ratings.populations is None:
        raise ValueError("Weighting to the population needs strata and their population sizes.")
    pairs = complete(ratings)
    sizes = np.bincount(np.asarray(pairs.strata), weights=pairs.weights, minlength=len(ratings.populations))
    return sizes.astype(np.float64)


def empty_stratum(ratings: Ratings) -> int | None:
    """The first stratum without a complete item; nothing stands for its items then."""
    empty = np.flatnonzero(stratum_sizes(ratings) == 0)
    return int(empty[0]) if len(empty) else None


def stratum_factors(ratings: Ratings) -> FloatArray:
    """(n_strata,) N_h / n_h, scaled so that the weighted items add up to the number of items."""
    sizes = stratum_sizes(ratings)
    populations = np.array(ratings.populations)
    factors = np.divide(populations, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return np.asarray(factors * (sizes.sum() / (factors @ sizes))) if sizes.any() else factors


def weights(ratings: Ratings) -> FloatArray:
    """(n_patterns,) weights of complete ratings, of which the strata have their shares of the population."""
    return np.asarray(ratings.weights * stratum_factors(ratings)[ratings.strata])


def estimate(ratings: Ratings, statistic: Statistic) -> Estimate:
    """The statistic weighted to the population; undefined where a stratum has no complete item."""
    pairs = complete(ratings)
    empty = empty_stratum(ratings)
    if not len(pairs.weights) or empty is not None:
        return _no_item(empty)
    weighted = Ratings(pairs.codes, weights(pairs), pairs.labels, pairs.raters, pairs.values)
    return statistic.estimates(weighted, ratings.n_paired)[0]


def standard_error(ratings: Ratings, statistic: Statistic, *, finite: bool = True) -> Estimate:
    """Stratified linearisation; `finite` counts that a stratum was drawn without replacement."""
    pairs = complete(ratings)
    empty = empty_stratum(ratings)
    if not len(pairs.weights) or empty is not None:
        return _no_item(empty)
    phi = influence(statistic, pairs, weights(pairs))[:, 0]
    if np.isnan(phi).any():
        return undefined(statistic.reason, n=ratings.n_paired)
    populations, sizes = np.array(ratings.populations), stratum_sizes(ratings)
    variance = 0.0
    for stratum, (population, n) in enumerate(zip(populations, sizes, strict=True)):
        if n < 2:
            sentence = f"Stratum {stratum + 1} has one item, which has no variance: merge it with another."
            return undefined("one_item", n=ratings.n_paired, sentence=sentence)
        within = pairs.strata == stratum
        items, values = pairs.weights[within], phi[within]
        spread = float(items @ (values - items @ values / n) ** 2) / (n - 1)
        correction = max(1.0 - n / population, 0.0) if finite else 1.0
        variance += (population / populations.sum()) ** 2 * correction * spread / n
    return as_estimate(sqrt(variance), ratings.n_paired, statistic.reason)


def _no_item(stratum: int | None) -> Estimate:
    if stratum is None:
        return undefined("no_pairs")
    return undefined("no_pairs", sentence=f"Stratum {stratum + 1} has no item with two ratings to stand for it.")
