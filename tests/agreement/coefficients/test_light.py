"""Kappas of pairs, their mean and the pooled one, by hand; and pi of several raters."""

import pytest

from agreement.coefficients import Ratings
from agreement.coefficients.cohen import cohen
from agreement.coefficients.light import (
    mean_pairwise_cohen_kappa,
    pairwise_cohen_kappa,
    pooled_pairwise_cohen_kappa,
    rater_pairs,
)
from agreement.coefficients.scott import siegel_castellan_k

# Ann and Ben share five items, Ann and Cem three, Ben and Cem two.
UNEQUAL = Ratings.from_matrix(
    [
        ["a", "a", "b", "b", "a", "b", None],
        ["a", "b", "b", "b", "a", None, "a"],
        [None, None, None, "b", "b", "b", None],
    ],
    ["a", "b"],
)


def test_pooled_kappa_weighs_the_pairs_by_their_items_and_keeps_each_pairs_margins() -> None:
    pairs = [UNEQUAL.pair(*pair) for pair in rater_pairs(3)]
    n = [pair.n_paired for pair in pairs]
    apart = [pair.table()[0, 1] + pair.table()[1, 0] for pair in pairs]
    by_chance = []
    for pair in pairs:
        rows, columns = pair.table().sum(axis=1), pair.table().sum(axis=0)
        by_chance.append((rows[0] * columns[1] + rows[1] * columns[0]) / pair.n_paired)

    assert (n, apart) == ([5.0, 3.0, 2.0], [1.0, 1.0, 1.0])
    # (sum of disagreements / 10 items) / (sum of n times chance disagreement / 10 items)
    assert by_chance == pytest.approx([13 / 5, 1.0, 1.0])
    answer = pooled_pairwise_cohen_kappa(UNEQUAL)
    assert answer.value == pytest.approx(1 - 3 / (13 / 5 + 1 + 1))


def test_lights_kappa_is_the_plain_mean_of_the_pairs() -> None:
    values = [answer.value or 0.0 for answer in pairwise_cohen_kappa(UNEQUAL).values()]
    assert values == pytest.approx([1 - 5 / 13, 0.0, 0.0])
    assert mean_pairwise_cohen_kappa(UNEQUAL).value == pytest.approx(sum(values) / 3)


def test_stacking_the_pairs_by_position_would_say_otherwise() -> None:
    stacked = [pair.table() for pair in (UNEQUAL.pair(*pair) for pair in rater_pairs(3))]
    by_position = cohen(Ratings.from_table(sum(stacked), ["a", "b"])).value
    assert by_position != pytest.approx(pooled_pairwise_cohen_kappa(UNEQUAL).value)


def test_siegel_and_castellans_k_of_three_raters_by_hand() -> None:
    ratings = Ratings.from_matrix([["a", "a", "b", "b"], ["a", "b", "b", "b"], ["a", "a", "b", "a"]], ["a", "b"])
    # Items agree on 3, 1, 3 and 1 of 3 pairs; "a" is six of the twelve ratings.
    observed, expected = (1 + 1 / 3 + 1 + 1 / 3) / 4, 0.5
    assert siegel_castellan_k(ratings).value == pytest.approx((observed - expected) / (1 - expected))
