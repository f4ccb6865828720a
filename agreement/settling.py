"""Which rule to write first: what a coefficient would be had the guideline settled one pair of labels.

Settled means: on every item where both labels were given, all who gave one of the two gave the same of them. Which of
the two follows the decisions on that pair so far; the items are divided as those are. What a rule really wins is for
the next wave to show: this is the most that it can.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from agreement.coefficients.ratings import IntArray, Ratings

# The pairs that met most often are looked at; what is rarer than these wins next to nothing.
LOOKED_AT = 40
# Of a pair, the share of its decisions that went to the first label; what nobody has decided yet is divided evenly.
EVEN = 0.5

Pair = tuple[int, int]
Value = Callable[[Ratings], float | None]


@dataclass(frozen=True)
class Gain:
    """A pair of labels, by place: the items on which they met, and the coefficient as it is and were they settled."""

    pair: Pair
    items: float
    before: float
    after: float

    @property
    def gained(self) -> float:
        return self.after - self.before


def gains(ratings: Ratings, value: Value, shares: Mapping[Pair, float]) -> list[Gain]:
    """The pairs that met, the one that wins most first. Nothing where the coefficient is undefined as it is."""
    before = value(ratings)
    if before is None:
        return []
    found = []
    for items, pair in _met(ratings)[:LOOKED_AT]:
        after = value(settled(ratings, pair, shares.get(pair, EVEN)))
        if after is not None:
            found.append(Gain(pair, items, before, after))
    return sorted(found, key=lambda one: (-one.gained, -one.items, one.pair))


def settled(ratings: Ratings, pair: Pair, share: float) -> Ratings:
    """The ratings had everybody who met this pair given the first label on `share` of its items, else the second."""
    codes, weights, strata = ratings.codes, ratings.weights, ratings.strata
    met = _both(codes, pair)
    given = np.isin(codes[met], pair)
    kept, parts = [(codes[~met], weights[~met])], [~met]
    for code, part in zip(pair, (share, 1 - share), strict=True):
        if part > 0:
            kept.append((np.where(given, code, codes[met]), weights[met] * part))
            parts.append(met)
    return replace(
        ratings,
        codes=np.concatenate([each for each, _weights in kept]),
        weights=np.concatenate([each for _codes, each in kept]),
        strata=None if strata is None else np.concatenate([strata[part] for part in parts]),
    )


def _both(codes: IntArray, pair: Pair) -> np.ndarray:
    first, second = ((codes == code).any(axis=1) for code in pair)
    return np.asarray(first & second)


def _met(ratings: Ratings) -> list[tuple[float, Pair]]:
    """Pairs of labels with the items on which both were given, the most frequent first."""
    used = np.flatnonzero(np.bincount(ratings.codes[ratings.codes >= 0], minlength=ratings.n_labels))
    found = [
        (float(ratings.weights[_both(ratings.codes, pair)].sum()), pair)
        for pair in combinations((int(code) for code in used), 2)
    ]
    return sorted((each for each in found if each[0]), key=lambda each: (-each[0], each[1]))
