"""Two labels that would be better as one: the headline as it is, and as it would be had they never been told apart."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from agreement.coefficients.coefficient import ORDERED
from agreement.coefficients.diagnostics import GAIN
from agreement.coefficients.ratings import FloatArray, Label, Ratings

# The most confused pairs that are looked at: all of them would be a search for the largest figure.
LOOKED_AT = 5

Entry = dict[str, Any]
# The headline of ratings as an entry; None where it has no meaning for them.
Headline = Callable[[Ratings], Entry | None]


def merged(ratings: Ratings, level: str, pairs: FloatArray, headline: Headline, before: Entry) -> list[Entry]:
    """The most confused pair, whatever it gains, and those after it that gain enough to be worth a thought.

    `pairs` (n_labels, n_labels) counts pairs of ratings, `before` is the headline as it is. Merging is offered where a
    third label is left to tell them from, and on a scale for neighbours only.
    """
    total = sum(pairs[i, j] for i, j in combinations(range(len(pairs)), 2))
    if ratings.n_labels < 3 or not total:
        return []
    found = []
    for place, (confused, first, second) in enumerate(_confused(level, pairs)):
        entry = headline(as_one(ratings, first, second))
        if entry is None:
            continue
        gain = entry["value"] - before["value"] if "value" in entry and "value" in before else None
        worth = gain is not None and gain >= GAIN
        if place == 0 or worth:
            labels = [ratings.labels[first], ratings.labels[second]]
            share = float(confused / total)
            about: Entry = {"labels": labels, "confused": round(confused), "share": share, "gain": gain, "worth": worth}
            found.append(about | {"before": before, "merged": entry})
    return found


def as_one(ratings: Ratings, first: int, second: int) -> Ratings:
    """The same ratings with the second label taken for the first."""
    kept = [place for place in range(ratings.n_labels) if place != second]
    mapping = [kept.index(first if place == second else place) for place in range(ratings.n_labels)]
    names: list[Label] = [ratings.labels[place] for place in kept]
    return ratings.recode(mapping, names)


def _confused(level: str, pairs: FloatArray) -> Iterator[tuple[float, int, int]]:
    found = [
        (float(pairs[first, second]), first, second)
        for first, second in combinations(range(len(pairs)), 2)
        if pairs[first, second] and (level not in ORDERED or second == first + 1)
    ]
    yield from sorted(found, key=lambda each: (-each[0], each[1], each[2]))[:LOOKED_AT]
