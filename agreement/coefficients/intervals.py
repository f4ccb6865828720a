"""Intervals that need no resampling: Wilson's for a share, Newcombe's for a difference, Fisher's z."""

from __future__ import annotations

from math import atanh, sqrt, tanh
from statistics import NormalDist

from agreement.coefficients.bootstrap import LEVEL, Interval

WILSON, FISHER, NEWCOMBE = "wilson", "fisher z", "newcombe"


def wilson(agreed: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's interval of a share (1927, doi:10.1080/01621459.1927.10502953): percent agreement of items that have two
    ratings each."""
    if not 0 <= agreed <= n or not n:
        raise ValueError(f"{agreed} agreements of {n} items is not a share.")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = agreed / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if agreed == 0 else centre - half
    high = 1.0 if agreed == n else centre + half
    return Interval(max(low, 0.0), min(high, 1.0), level, WILSON)


def fisher_z(value: float, error: float, level: float = LEVEL) -> Interval | None:
    """The large-sample interval on Fisher's z scale; None at -1 and 1, where the standard error says nothing."""
    if not -1 < value < 1:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    half = z * error / (1 - value * value)
    return Interval(tanh(atanh(value) - half), tanh(atanh(value) + half), level, FISHER)


def newcombe(first: tuple[float, float], second: tuple[float, float], level: float = LEVEL) -> Interval:
    """The interval of a difference of two independent shares, first minus second, each (found, n): the hybrid of two
    Wilson intervals (Newcombe 1998, method 10, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I).
    """
    (a, m), (b, n) = first, second
    one, other = wilson(a, m, level), wilson(b, n, level)
    difference = a / m - b / n
    low = difference - sqrt((a / m - one.low) ** 2 + (other.high - b / n) ** 2)
    high = difference + sqrt((one.high - a / m) ** 2 + (b / n - other.low) ** 2)
    return Interval(max(low, -1.0), min(high, 1.0), level, NEWCOMBE)
