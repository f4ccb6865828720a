"""Before labelling: how many overlap items a question needs, and what a further rating buys.

Two models of what raters do at an expected kappa: two raters with given margins, and any number of raters who give
one common label with probability kappa and else label by themselves (common correlation). Pure: no Django. What
cannot be is refused with a code and its numbers; `plan_words` has the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from agreement.coefficients.ratings import FloatArray

NORMAL = NormalDist()


class Refused(ValueError):
    """A plan that cannot be, or input that makes none: what is wrong, and the numbers of its sentence."""

    def __init__(self, code: str, **numbers: Any) -> None:
        super().__init__(f"{code} {numbers}" if numbers else code)
        self.code, self.numbers = code, numbers


@dataclass(frozen=True)
class SampleSize:
    """Items that have to be rated by all raters. `rarest` is how many of them carry the rarest label, expected."""

    items: int
    exact: float
    rarest: float
    method: str


def for_width(kappa: float, half_width: float, shares: Sequence[float], *, level: float = 0.95) -> SampleSize:
    """Items for an interval of kappa no wider than `half_width` to each side; two raters with the same shares.

    n = (z tau / h)^2 with tau the unit standard deviation of Fleiss, Cohen & Everitt 1969.
    """
    _check_kappa("kappa", kappa)
    _check_probability("level", level)
    if not half_width > 0:
        raise Refused("half_width", half_width=half_width)
    p = _checked(shares)
    exact = (_z_two_sided(level) * unit_deviation(common_correlation(kappa, p)) / half_width) ** 2
    return _size(exact, p, "width of the large-sample interval")


def to_tell_apart(
    kappa0: float,
    kappa1: float,
    shares: Sequence[float],
    *,
    raters: int = 2,
    power: float = 0.8,
    alpha: float = 0.05,
) -> SampleSize:
    """Items to find kappa1 different from kappa0 with this power (Donner & Eliasziw 1992 for two raters and labels).

    Goodness of fit of the common-correlation model on the cells "all raters say this label" and "they differ"; for
    more labels or raters as Altaye, Donner & Klar 2001 and R kappaSize have it.
    """
    _check_kappa("kappa0", kappa0)
    _check_kappa("kappa1", kappa1)
    _check_apart(kappa0, kappa1)
    _check_probability("power", power)
    _check_probability("alpha", alpha)
    if power <= alpha:
        raise Refused("power_below_error", power=power, alpha=alpha)
    if raters < 2:
        raise Refused("raters", raters=raters)
    p = _checked(shares)
    planned, tested = _unanimous(kappa0, p, raters), _unanimous(kappa1, p, raters)
    exact = noncentrality(power, alpha) / float(((tested - planned) ** 2 / planned).sum())
    return _size(exact, p, "Donner & Eliasziw 1992")


def to_tell_apart_with_margins(
    kappa0: float,
    kappa1: float,
    margins: tuple[float, float],
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    two_sided: bool = False,
) -> SampleSize:
    """Items to find kappa1 different from kappa0 where two raters use the first of two labels unequally often.

    Flack, Afifi, Lachenbruch & Schouten 1988; Cantor 1996. Margins that cannot reach the kappa are refused.
    """
    _check_kappa("kappa0", kappa0)
    _check_kappa("kappa1", kappa1)
    _check_apart(kappa0, kappa1)
    _check_probability("power", power)
    _check_probability("alpha", alpha)
    deviations = [unit_deviation(_two_by_two(kappa, margins)) for kappa in (kappa0, kappa1)]
    z_alpha = NORMAL.inv_cdf(1 - (alpha / 2 if two_sided else alpha))
    exact = ((z_alpha * deviations[0] + NORMAL.inv_cdf(power) * deviations[1]) / (kappa1 - kappa0)) ** 2
    mean = sum(margins) / 2
    return _size(exact, np.array([mean, 1 - mean]), "Flack et al. 1988, Cantor 1996")


def for_limits(
    kappa: float, lower: float, upper: float | None, prevalence: float, *, alpha: float = 0.05
) -> SampleSize:
    """Items for an interval from `lower` (to `upper`, where given) around kappa; two raters, two labels.

    Donner & Rotondi 2010, the goodness-of-fit interval.
    """
    _check_kappa("kappa", kappa)
    _check_probability("alpha", alpha)
    if not 0 <= lower < kappa or not (upper is None or kappa < upper < 1):
        raise Refused("limits")
    p = _checked([prevalence, 1 - prevalence])
    expected = _unanimous(kappa, p, 2)
    critical = NORMAL.inv_cdf(1 - (alpha if upper is None else alpha / 2)) ** 2
    sizes = []
    for limit in (lower, upper):
        if limit is not None:
            cells = _unanimous(limit, p, 2)
            sizes.append(critical / float(((expected - cells) ** 2 / cells).sum()))
    return _size(max(sizes), p, "Donner & Rotondi 2010")


def with_raters(kappa: float, raters: int) -> float:
    """Reliability of the mean or majority label of several ratings, a rule of thumb (Spearman-Brown).

    Two ratings have a mean and no majority.
    """
    if not -1 < kappa <= 1:
        raise Refused("kappa_of_one_rating", kappa=kappa)
    if raters < 1:
        raise Refused("no_rater", raters=raters)
    spread = 1 + (raters - 1) * kappa
    if spread <= 0:
        raise Refused("all_so_badly", raters=raters, kappa=kappa)
    return raters * kappa / spread


def share_percent(items: int, batch: int) -> float:
    """The share of a batch that the items are, in percent rounded up to a tenth so that it suffices.

    Raises
    ------
    Refused : a batch that has too few items
    """
    if items < 1:
        raise Refused("no_item", items=items)
    if batch < items:
        raise Refused("small_batch", items=items, batch=batch, missing=items - batch)
    return min(ceil(1000 * items / batch) / 10, 100.0)


def common_correlation(kappa: float, shares: FloatArray) -> FloatArray:
    """(K, K) cell shares of two raters with the same label shares."""
    return np.asarray((1 - kappa) * np.outer(shares, shares) + kappa * np.diag(shares))


def unit_deviation(table: FloatArray) -> float:
    """tau: the standard error of kappa times the root of n, at these cell shares (Fleiss, Cohen & Everitt 1969)."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    apart = 1.0 - np.eye(len(table))
    expected = float(rows @ apart @ columns)
    ratio = float((apart * table).sum()) / expected
    phi = (-apart + ratio * ((apart @ columns)[:, None] + (rows @ apart)[None, :])) / expected - ratio
    return sqrt(float((table * phi * phi).sum()))


def noncentrality(power: float, alpha: float) -> float:
    """The noncentrality at which chi-square with 1 degree of freedom exceeds its critical value with this power."""
    critical = NORMAL.inv_cdf(1 - alpha / 2)
    low, high = 0.0, 100.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        reached = NORMAL.cdf(middle - critical) + NORMAL.cdf(-middle - critical)
        low, high = (middle, high) if reached < power else (low, middle)
    return low**2


def _unanimous(kappa: float, shares: FloatArray, raters: int) -> FloatArray:
    """Cell shares: all raters say label k, for each k, and last that they differ."""
    same = (1 - kappa) * shares**raters + kappa * shares
    return np.append(same, (1 - kappa) * (1 - (shares**raters).sum()))


def _two_by_two(kappa: float, margins: tuple[float, float]) -> FloatArray:
    first, second = margins
    for margin in margins:
        _check_probability("margin", margin)
    expected = first * second + (1 - first) * (1 - second)
    largest = (min(first, second) + min(1 - first, 1 - second) - expected) / (1 - expected)
    if kappa > largest:
        raise Refused("above_kappa_max", kappa=kappa, largest=largest)
    observed = expected + kappa * (1 - expected)
    both = (observed + first + second - 1) / 2
    table = np.array([[both, first - both], [second - both, 1 - first - second + both]])
    if table.min() < -1e-12:
        raise Refused("below_kappa_min", kappa=kappa)
    return np.asarray(np.maximum(table, 0.0))


def _size(exact: float, shares: FloatArray, method: str) -> SampleSize:
    # A sum that comes out a hair above a whole number does not need a further item.
    items = max(ceil(exact - 1e-9), 1)
    return SampleSize(items, exact, items * float(shares.min()), method)


def _checked(shares: Sequence[float]) -> FloatArray:
    p = np.asarray(shares, dtype=np.float64)
    if p.ndim != 1 or len(p) < 2:
        raise Refused("one_share")
    if not np.isfinite(p).all() or (p <= 0).any():
        raise Refused("empty_share")
    if abs(float(p.sum()) - 1) > 1e-6:
        raise Refused("sum_of_shares", sum=float(p.sum()))
    return p


def _check_kappa(name: str, kappa: float) -> None:
    if not 0 <= kappa < 1:
        raise Refused("kappa", name=name, kappa=kappa)


def _check_apart(kappa0: float, kappa1: float) -> None:
    if kappa0 == kappa1:
        raise Refused("same_kappa", kappa=kappa0)


def _check_probability(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise Refused(f"{name}_range", value=value)


def _z_two_sided(level: float) -> float:
    return NORMAL.inv_cdf((1 + level) / 2)
