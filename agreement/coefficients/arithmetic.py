"""Show the arithmetic: observed agreement, expected agreement and the value unfolded from the table of two raters.

As one would do it by hand, with (po - pe) / (1 - pe); the figures themselves are computed as 1 - Do / De.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agreement.coefficients.distances import (
    Distance,
    interval,
    jaccard,
    linear,
    masi,
    normalised,
    ordinal,
    quadratic,
    ratio,
)
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import off_diagonal

# Terms written out before a sum is shortened.
MOST_TERMS = 12


@dataclass(frozen=True)
class Step:
    """One line: `symbol` = `formula` = `numbers` = `value`. The value is None where it is 0/0."""

    symbol: str
    formula: str
    numbers: str
    value: float | None


def unfold(key: str, ratings: Ratings) -> list[Step]:
    """The steps from the table to the value of a two-rater coefficient; empty where no item has two ratings.

    Raises
    ------
    ValueError : a coefficient that is not unfolded, or other than two raters
    """
    if key not in UNFOLDED:
        raise ValueError(f"The arithmetic of {key!r} is not shown; it is for {', '.join(UNFOLDED)}.")
    table = ratings.table()
    if not table.sum():
        return []
    return UNFOLDED[key](table, ratings)


def _value(symbol: str, observed: float, expected: float, *, defined: bool) -> Step:
    numbers = f"({short(observed)} − {short(expected)}) / (1 − {short(expected)})"
    value = 1.0 - (1.0 - observed) / (1.0 - expected) if defined else None
    return Step(symbol, "(p_o − p_e) / (1 − p_e)", numbers, value)


def _observed(table: FloatArray) -> Step:
    n = table.sum()
    numbers = f"({summed([short(count) for count in np.diagonal(table)])}) / {short(n)}"
    return Step("p_o", "sum of n_kk / n", numbers, float(np.trace(table) / n))


def _chance_corrected(symbol: str, table: FloatArray, expected: Step, *, defined: bool) -> list[Step]:
    observed = _observed(table)
    return [observed, expected, _value(symbol, observed.value or 0.0, expected.value or 0.0, defined=defined)]


def _cohen(table: FloatArray, ratings: Ratings) -> list[Step]:
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    products = [f"{short(r)}·{short(c)}" for r, c in zip(rows, columns, strict=True)]
    expected = Step(
        "p_e",
        "sum of row total · column total / n²",
        f"({summed(products)}) / {short(n)}²",
        float(rows @ columns / n**2),
    )
    defined = float(rows @ off_diagonal(len(table)) @ columns) > 0
    return _chance_corrected("kappa", table, expected, defined=defined)


def _scott(table: FloatArray, ratings: Ratings) -> list[Step]:
    n, used = table.sum(), table.sum(axis=0) + table.sum(axis=1)
    numbers = f"({summed([f'{short(count)}²' for count in used])}) / {short(2 * n)}²"
    expected = Step("p_e", "sum of (row total + column total)² / (2n)²", numbers, float(used @ used / (2 * n) ** 2))
    return _chance_corrected("pi", table, expected, defined=int((used > 0).sum()) > 1)


def _brennan_prediger(table: FloatArray, ratings: Ratings) -> list[Step]:
    k = len(table)
    expected = Step("p_e", "1 / K, K = declared labels", f"1 / {k}", 1 / k)
    return _chance_corrected("kappa", table, expected, defined=k > 1)


def _gwet(table: FloatArray, ratings: Ratings) -> list[Step]:
    k, n, used = len(table), table.sum(), table.sum(axis=0) + table.sum(axis=1)
    shares = used / (2 * n)
    terms = [f"{short(share)}·{short(1 - share)}" for share in shares]
    value = float(shares @ (1 - shares) / max(k - 1, 1))
    expected = Step("p_e", "sum of q_k (1 − q_k) / (K − 1)", f"({summed(terms)}) / {k - 1}", value)
    return _chance_corrected("AC1", table, expected, defined=k > 1)


def _alpha(table: FloatArray, ratings: Ratings) -> list[Step]:
    coincidences = table + table.T
    counts, n = coincidences.sum(axis=0), coincidences.sum()
    differing = n - np.trace(coincidences)
    by_chance = float(counts @ off_diagonal(len(table)) @ counts)
    matched = [f"{short(count)}·{short(count - 1)}" for count in counts if count]
    return [
        Step("D_o", "ratings paired with another label / ratings", f"{short(differing)} / {short(n)}", differing / n),
        Step(
            "D_e",
            "1 − sum of n_k (n_k − 1) / (n (n − 1))",
            f"1 − ({summed(matched)}) / ({short(n)}·{short(n - 1)})",
            by_chance / (n * (n - 1)),
        ),
        Step(
            "alpha",
            "1 − D_o / D_e",
            f"1 − {short(differing / n)} / {short(by_chance / (n * (n - 1)))}",
            1.0 - (differing / n) / (by_chance / (n * (n - 1))) if by_chance else None,
        ),
    ]


def _alpha_of(kind: Callable[[Ratings], Distance]) -> Callable[[FloatArray, Ratings], list[Step]]:
    """Alpha with a distance of the labels, told in shares of the largest one, which changes no ratio."""

    def unfold_alpha(table: FloatArray, ratings: Ratings) -> list[Step]:
        together = table + table.T
        counts, n = together.sum(axis=0), together.sum()
        distances = np.asarray(kind(ratings)(counts))
        distances = distances / (distances.max(initial=0.0) or 1.0)
        pairs = [(i, j) for i, j in np.argwhere(distances > 0) if i < j]
        apart = [f"{short(distances[i, j])}·{short(2 * together[i, j])}" for i, j in pairs if together[i, j]]
        by_chance = [
            f"{short(distances[i, j])}·2·{short(counts[i])}·{short(counts[j])}"
            for i, j in pairs
            if counts[i] and counts[j]
        ]
        observed = float((distances * together).sum()) / n
        expected = float(counts @ distances @ counts) / (n * (n - 1))
        return [
            Step("D_o", "sum of distance · ratings paired so / ratings", f"({summed(apart)}) / {short(n)}", observed),
            Step(
                "D_e",
                "sum of distance · n_k · n_l / (n (n − 1))",
                f"({summed(by_chance)}) / ({short(n)}·{short(n - 1)})",
                expected,
            ),
            Step(
                "alpha",
                "1 − D_o / D_e",
                f"1 − {short(observed)} / {short(expected)}",
                1.0 - observed / expected if expected else None,
            ),
        ]

    return unfold_alpha


def _weighted(kind: Callable[[Ratings], FloatArray]) -> Callable[[FloatArray, Ratings], list[Step]]:
    def unfold_weighted(table: FloatArray, ratings: Ratings) -> list[Step]:
        weights, n = kind(ratings), table.sum()
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        seen, chance = float((weights * table).sum()), float(rows @ weights @ columns)
        apart = [f"{short(weights[i, j])}·{short(table[i, j])}" for i, j in np.argwhere((weights > 0) & (table > 0))]
        expected = [
            f"{short(weights[i, j])}·{short(rows[i])}·{short(columns[j])}"
            for i, j in np.argwhere((weights > 0) & (np.outer(rows, columns) > 0))
        ]
        return [
            Step("D_o", "sum of v_ij n_ij / n", f"({summed(apart)}) / {short(n)}", seen / n),
            Step("D_e", "sum of v_ij · row · column / n²", f"({summed(expected)}) / {short(n)}²", chance / n**2),
            Step(
                "kappa",
                "1 − D_o / D_e",
                f"1 − {short(seen / n)} / {short(chance / n**2)}",
                1.0 - (seen / n) / (chance / n**2) if chance else None,
            ),
        ]

    return unfold_weighted


def summed(terms: list[str]) -> str:
    """Terms of a sum, the first of many."""
    if not terms:
        return "0"
    if len(terms) <= MOST_TERMS:
        return " + ".join(terms)
    return f"{' + '.join(terms[: MOST_TERMS - 1])} + … ({len(terms)} terms)"


def short(value: float) -> str:
    """A number as one would write it: whole where it is, else four significant digits."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"


UNFOLDED: dict[str, Callable[[FloatArray, Ratings], list[Step]]] = {
    "cohen_kappa": _cohen,
    "weighted_kappa_linear": _weighted(lambda ratings: normalised(linear(ratings), ratings.n_labels)),
    "weighted_kappa_quadratic": _weighted(lambda ratings: normalised(quadratic(ratings), ratings.n_labels)),
    "scott_pi": _scott,
    "brennan_prediger": _brennan_prediger,
    "gwet_ac1": _gwet,
    "krippendorff_alpha_nominal": _alpha,
    "krippendorff_alpha_ordinal": _alpha_of(ordinal),
    "krippendorff_alpha_interval": _alpha_of(interval),
    "krippendorff_alpha_ratio": _alpha_of(ratio),
    "krippendorff_alpha_jaccard": _alpha_of(jaccard),
    "krippendorff_alpha_masi": _alpha_of(masi),
}
