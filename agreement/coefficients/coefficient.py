"""An entry of the registry: one coefficient of a whole table of ratings, with its name, source and conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agreement.coefficients.estimate import Estimate
from agreement.coefficients.fleiss import equal_sizes
from agreement.coefficients.ratings import Ratings
from agreement.coefficients.statistic import Statistic

NOMINAL, ORDINAL, INTERVAL, RATIO, MULTILABEL = LEVELS = ("nominal", "ordinal", "interval", "ratio", "multilabel")
ORDERED = (ORDINAL, INTERVAL, RATIO)
SINGLE = (NOMINAL, *ORDERED)
TWO, SEVERAL, ANY = "two", "several", "any"


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a whole table.

    Parameters
    ----------
    key : its name in results and exports
    title : its full name, with the convention where there is more than one
    function : ratings -> Estimate
    statistic : ratings -> Statistic, what intervals, standard errors and weighting are made from
    levels : the levels of measurement where it has a meaning
    raters : "two", "several" or "any"
    source : the paper that defines it
    standard_error : for intervals; null_error : for a test of 0 only
    equal : True for the same number of ratings per item only, False for unequal numbers only
    needs_values : labels have numbers; needs_positive : and none below 0
    n_labels : the number of declared labels that it is defined for, or None for any
    items : the ratings of the items that it is made from, such as those that an expert rated
    """

    key: str
    title: str
    function: Callable[[Ratings], Estimate]
    statistic: Callable[[Ratings], Statistic]
    levels: tuple[str, ...]
    raters: str
    source: str
    standard_error: Callable[[Ratings], Estimate] | None = None
    null_error: Callable[[Ratings], Estimate] | None = None
    equal: bool | None = None
    named_raters: bool = False
    needs_values: bool = False
    needs_positive: bool = False
    n_labels: int | None = None
    items: Callable[[Ratings], Ratings] = field(default=lambda ratings: ratings)

    def applies(self, ratings: Ratings, level: str) -> bool:
        """Whether it has a meaning for these ratings at this level of measurement."""
        return (
            level in self.levels
            and self._fits_raters(ratings)
            and self._fits_values(ratings)
            and self.n_labels in (None, ratings.n_labels)
        )

    def _fits_raters(self, ratings: Ratings) -> bool:
        two = ratings.n_raters == 2 and not ratings.exchangeable
        if (self.raters == TWO and not two) or (self.raters == SEVERAL and two):
            return False
        if self.named_raters and ratings.exchangeable:
            return False
        return self.equal in (None, equal_sizes(ratings))

    def _fits_values(self, ratings: Ratings) -> bool:
        if self.needs_values and ratings.values is None:
            return False
        return not (self.needs_positive and ratings.values and min(ratings.values) < 0)
