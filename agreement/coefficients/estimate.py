"""The answer of a coefficient: a value, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

REASONS: Mapping[str, str] = {
    "no_pairs": "No item has two ratings that could be compared.",
    "no_variation": "Only one label was used, so agreement by chance would be complete and the coefficient is 0/0.",
    "one_category": "Only one label is declared, so agreement says nothing.",
    "one_item": "One item alone has no variance.",
    "no_defined_pair": "No pair of raters has a defined kappa.",
}
# No variation although several labels were used.
NO_DISTANCE = (
    "The labels that were used are at no distance from each other, such as labels of equal values, so no disagreement"
    " could be seen or expected and the coefficient is 0/0."
)


@dataclass(frozen=True)
class Estimate:
    """A value with what it was made from, or `undefined` with a reason of REASONS; never both, never NaN.

    `observed` and `expected` are agreement for coefficients of the form (observed - expected) / (1 - expected);
    weighted ones count a disagreement of weight v as 1 - v. `n` is the number of items used.
    """

    value: float | None
    undefined: str | None = None
    observed: float | None = None
    expected: float | None = None
    n: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None):
            raise ValueError("An estimate has either a value or a reason why it has none.")
        if self.undefined is not None and self.undefined not in REASONS:
            raise ValueError(f"{self.undefined!r} is not a reason; the reasons are {', '.join(REASONS)}.")
        if self.value is not None and not isfinite(self.value):
            raise ValueError(f"A value must be finite, not {self.value}.")

    @property
    def sentence(self) -> str:
        """Why there is no value, for a reader; empty where there is one."""
        if self.undefined is None:
            return ""
        return str(self.details.get("sentence", REASONS[self.undefined]))


def undefined(reason: str, *, n: float = 0.0, observed: float | None = None, **details: Any) -> Estimate:
    """An estimate without a value."""
    return Estimate(None, undefined=reason, n=n, observed=observed, details=details)
