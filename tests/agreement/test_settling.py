"""What a rule for one pair of labels would win, against computations of its own, item by item."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from agreement import settling
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.ratings import Ratings
from agreement.settling import EVEN

LABELS = ("a", "b", "c")
# What two people said of 100 items: (first, second) -> items.
TABLE = {
    ("a", "a"): 30, ("b", "b"): 25, ("c", "c"): 15, ("a", "b"): 10,
    ("b", "a"): 6, ("a", "c"): 5, ("c", "b"): 9,
}  # fmt: skip


def ratings(table=TABLE) -> Ratings:
    codes = np.array([[LABELS.index(label) for label in row] for row in table])
    return Ratings(codes, np.array(list(table.values()), dtype=float), LABELS, ("anna", "ben"))


def cohen(each: Ratings) -> float | None:
    return COEFFICIENTS["cohen_kappa"].function(each).value


def kappa(table) -> float:
    """Cohen's kappa of (first, second) -> items, by its definition."""
    n = sum(table.values())
    observed = sum(count for (one, other), count in table.items() if one == other) / n
    first, second = Counter(), Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    expected = sum(first[label] * second[label] for label in first) / n**2
    return (observed - expected) / (1 - expected)


def by_hand(pair, share) -> float:
    """Every item on which the two labels met is divided between them, whoever said which."""
    table = Counter({row: count for row, count in TABLE.items() if set(row) != set(pair)})
    met = sum(count for row, count in TABLE.items() if set(row) == set(pair))
    table[pair[0], pair[0]] += met * share
    table[pair[1], pair[1]] += met * (1 - share)
    return kappa(table)


@pytest.mark.parametrize("shares", [{}, {(0, 1): 1.0}, {(0, 1): 0.25, (1, 2): 0.0}])
def test_each_gain_is_that_of_the_items_settled_one_by_one(shares):
    found = settling.gains(ratings(), cohen, shares)

    assert {one.pair for one in found} == {(0, 1), (0, 2), (1, 2)}
    for one in found:
        pair = LABELS[one.pair[0]], LABELS[one.pair[1]]
        assert one.before == pytest.approx(kappa(TABLE), abs=1e-12)
        assert one.after == pytest.approx(by_hand(pair, shares.get(one.pair, EVEN)), abs=1e-12)
    assert [one.gained for one in found] == sorted((one.gained for one in found), reverse=True)
    assert {one.pair: one.items for one in found} == {(0, 1): 16, (0, 2): 5, (1, 2): 9}


def test_of_several_ratings_only_those_of_the_pair_are_settled():
    rng = np.random.default_rng(5)
    items = rng.integers(-1, 3, size=(60, 4))
    items = items[(items >= 0).sum(axis=1) >= 2]
    before = Ratings.from_codes(list(items.T), LABELS)
    alpha = COEFFICIENTS["krippendorff_alpha_nominal"].function
    settled = items.copy()
    for row in settled:
        if {0, 1} <= set(row):
            row[np.isin(row, [0, 1])] = 0

    (found,) = (
        one for one in settling.gains(before, lambda each: alpha(each).value, {(0, 1): 1.0}) if one.pair == (0, 1)
    )

    assert found.after == pytest.approx(_alpha(settled), abs=1e-12)
    assert found.before == pytest.approx(_alpha(items), abs=1e-12)


def _alpha(items) -> float:
    """Krippendorff's alpha for categories from the pairs of values within items and within all."""
    rated = [[value for value in row if value >= 0] for row in items]
    rated = [row for row in rated if len(row) > 1]
    n = sum(map(len, rated))
    observed = sum(2 / (len(row) - 1) * sum(x != y for x, y in combinations(row, 2)) for row in rated) / n
    every = Counter(value for row in rated for value in row)
    expected = sum(every[x] * every[y] for x in every for y in every if x != y) / (n * (n - 1))
    return 1 - observed / expected


def test_settling_keeps_items_strata_and_everything_else():
    table = ratings()
    table = Ratings(
        table.codes, table.weights, LABELS, table.raters, (1.0, 2.0, 4.0), np.arange(len(table.weights)) % 2
    )

    after = settling.settled(table, (0, 1), 0.25)

    assert after.weights.sum() == table.weights.sum()
    assert (after.labels, after.raters, after.values) == (table.labels, table.raters, table.values)
    for stratum in (0, 1):
        assert after.weights[after.strata == stratum].sum() == table.weights[table.strata == stratum].sum()


def test_nothing_is_won_where_the_figure_is_undefined():
    assert settling.gains(ratings({("a", "a"): 5}), cohen, {}) == []
