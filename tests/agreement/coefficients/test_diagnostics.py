from typing import Any

import numpy as np
import pytest

from agreement import merging
from agreement.coefficients import COEFFICIENTS, Ratings, bootstrap, expert
from agreement.coefficients.cohen import cohen
from agreement.coefficients.diagnostics import EARLIER, SENTENCES, Diagnostic, diagnose, merged_value
from agreement.label_figures import entry_of, pair_counts
from tests.agreement.coefficients.known_answers import cases, ratings_of


def keys(ratings: Ratings, **about: int) -> list[str]:
    return [found.key for found in diagnose(ratings, "nominal", **about)]


def found(ratings: Ratings, key: str) -> Diagnostic:
    return next(each for each in diagnose(ratings, "nominal") if each.key == key)


def test_a_sound_table_has_nothing_to_say() -> None:
    assert keys(Ratings.from_table([[45, 5], [5, 45]], ["a", "b"])) == []


def test_the_prevalence_trap_is_named() -> None:
    trap = ratings_of(cases()["seed_prevalence_trap"])
    assert keys(trap) == ["prevalence_index", "kappa_max", "prevalence_trap_named", "rare_label"]
    assert found(trap, "prevalence_trap_named").sentence == (
        "The raters agree on 95 % of the items and yet Cohen's kappa is 0.26: “ok” makes up 96 % of the ratings,"
        " so agreement by chance is high. Look at the agreement on the rare classes."
    )


TRAP_OF_THREE = Ratings.from_matrix([["ok"] * 40, ["ok"] * 39 + ["bad"], ["ok"] * 38 + ["bad", "ok"]], ["ok", "bad"])


def test_the_prevalence_trap_of_more_raters_is_of_pairs() -> None:
    said = found(TRAP_OF_THREE, "prevalence_trap_pairs").sentence

    assert said.startswith("97 % of the pairs of ratings agree and yet Krippendorff's alpha (nominal) is -0.01: “ok”")


RARE = Ratings.from_table([[118, 5], [2, 0]], ["a", "b"])


def test_a_rare_label_makes_the_interval_too_narrow() -> None:
    said = found(RARE, "rare_label")
    assert said.sentence == (
        "“b” makes up 2.8 % of the ratings, and the items on which two raters both said it are only 0 of 125, so the"
        " interval of Cohen's kappa may be too narrow."
    )


def test_beside_a_rare_label_stands_the_smoothed_interval() -> None:
    said = next(each for each in diagnose(RARE, "nominal", seed=1) if each.key == "rare_label_smoothed")
    statistic = COEFFICIENTS["cohen_kappa"].statistic(RARE)
    percentile = bootstrap.interval(RARE, statistic, seed=1)
    smoothed = bootstrap.interval(RARE, statistic, seed=1, method="smoothed")
    assert percentile is not None
    assert smoothed is not None
    assert (percentile.method, said.numbers["low"], said.numbers["high"]) == ("bootstrap", smoothed.low, smoothed.high)
    assert smoothed.high > percentile.high + 0.1
    assert said.sentence.endswith(f"the smoothed bootstrap gives {smoothed.low:.2f} to {smoothed.high:.2f}.")


@pytest.mark.parametrize(
    "table",
    [
        [[118, 2], [2, 0]],  # fewer than 5 disagreements: the smoothed interval stands there already
        [[90, 5], [2, 0]],  # and so it does below 100 items
        [[1000, 12], [10, 12]],  # rare, and yet two raters said it often enough
        [[60, 4], [2, 60]],
    ],
)
def test_no_rare_label_where_the_interval_covers(table: list[list[int]]) -> None:
    assert not [key for key in keys(Ratings.from_table(table, ["a", "b"])) if key.startswith("rare")]


def test_bias_is_named() -> None:
    assert found(Ratings.from_table([[40, 30], [0, 30]], ["a", "b"]), "bias_index").numbers == {
        "value": pytest.approx(0.3)
    }


def test_classes_nobody_or_one_side_used() -> None:
    table = [[20, 2, 0, 0], [3, 25, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]]
    ratings = Ratings.from_table(table, ["a", "b", "c", "d"], raters=("ann", "ben"))
    assert found(ratings, "one_sided_class").sentence == "Only ann used “c” (uses: 4), so its agreement is 0."
    assert found(ratings, "unused_class").sentence == "Nobody used “d”."


def test_constant_ratings_have_no_variation() -> None:
    assert keys(ratings_of(cases()["undef_constant_same"])) == [
        "small_n",
        "no_variation",
        "unused_class",
        "prevalence_index",
    ]


def test_one_label_alone_has_no_coefficient() -> None:
    assert keys(Ratings.from_table([[30]], ["a"])) == ["one_category"]


def test_small_and_single_numbers_are_said() -> None:
    ratings = Ratings.from_matrix([["a", "b", "a"], ["a", "b", None]], ["a", "b"])
    assert [each.sentence for each in diagnose(ratings, "nominal")] == [
        "Items with one rating only: 1. They are counted and left out.",
        "Items with two ratings or more: 2, fewer than the 20 asked for.",
    ]


def test_nothing_to_compare_is_said() -> None:
    assert keys(Ratings.from_pairs([], [], ["a", "b"])) == ["no_pairs"]


def four_raters(n: int) -> Ratings:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=n)
    rows = [np.where(rng.random(n) < 0.9, truth, rng.integers(3, size=n)) for _ in range(3)]
    rows.append(rng.integers(3, size=n))
    return Ratings.from_codes(rows, ["a", "b", "c"], raters=("ann", "ben", "cem", "dan"))


def test_a_rater_far_from_the_rest_is_named_with_n() -> None:
    diagnostic = found(four_raters(200), "far_rater")
    assert (diagnostic.numbers["rater"], diagnostic.numbers["pairs"], diagnostic.numbers["n"]) == ("dan", 3, 600)


def test_a_pair_far_from_the_rest_is_named_with_n() -> None:
    named = [each.numbers for each in diagnose(four_raters(200), "nominal") if each.key == "far_pair"]
    assert {numbers["second"] for numbers in named} == {"dan"}
    assert {numbers["n"] for numbers in named} == {200}


def test_nobody_is_named_below_the_minimum() -> None:
    assert not {"far_pair", "far_rater"} & set(keys(four_raters(200), minimum_n=201))


def test_nobody_is_named_where_columns_are_not_people() -> None:
    rows = four_raters(200)
    places = Ratings(rows.codes, rows.weights, rows.labels, exchangeable=True)
    assert not {"far_pair", "far_rater"} & set(keys(places))


def test_two_confused_classes_would_be_better_as_one() -> None:
    ratings = Ratings.from_table([[20, 18, 1], [17, 21, 0], [0, 1, 40]], ["good", "fine", "bad"])
    advice = found(ratings, "merge_headline")
    assert (advice.numbers["first"], advice.numbers["second"]) == ("good", "fine")
    assert merged_value(ratings, 0, 1) == pytest.approx(advice.numbers["merged"])
    assert advice.numbers["merged"] > advice.numbers["value"] + 0.3
    assert advice.sentence == "If “good” and “fine” were one class, Cohen's kappa would be 0.96 instead of 0.53."


ORDERED_TABLE = [[20, 15, 2, 6], [11, 9, 11, 3], [3, 12, 19, 3], [2, 7, 3, 9]]


def merger(ratings: Ratings, level: str, **about: Any) -> Diagnostic | None:
    said = diagnose(ratings, level, **about)
    return next((each for each in said if each.key.startswith("merge")), None)


def test_a_merger_on_a_scale_is_told_of_the_weighted_headline() -> None:
    ratings = Ratings.from_table([[9, 9, 1], [9, 9, 1], [1, 1, 40]], ["low", "medium", "high"])
    advice = merger(ratings, "ordinal")
    headline = COEFFICIENTS["weighted_kappa_linear"].function
    as_one = Ratings.from_table([[36, 2], [2, 40]], ["low", "high"])
    assert advice is not None
    assert (advice.key, advice.numbers["title"]) == ("merge_headline_ordered", "Weighted kappa (linear weights)")
    assert advice.numbers["value"] == pytest.approx(headline(ratings).value)
    assert advice.numbers["merged"] == pytest.approx(headline(as_one).value)


def test_a_merger_that_helps_only_without_weights_is_not_told() -> None:
    ratings = Ratings.from_table(ORDERED_TABLE, ["a", "b", "c", "d"])
    unweighted = merger(ratings, "nominal")
    assert unweighted is not None
    assert (unweighted.numbers["first"], unweighted.numbers["second"]) == ("a", "b")
    assert merger(ratings, "ordinal") is None


def test_a_merger_is_told_of_the_figure_with_the_expert() -> None:
    ratings = Ratings.from_table([[20, 18, 1], [17, 21, 0], [0, 1, 40]], ["good", "fine", "bad"], raters=("e", "b"))
    advice = merger(ratings, "nominal", coefficient=expert.coefficients("e", "nominal")["expert_kappa_pooled"])
    assert advice is not None
    assert advice.numbers["title"].startswith("Cohen's kappa with the expert")


def test_declared_weights_and_numbers_of_labels_have_no_merger() -> None:
    ratings = Ratings.from_table([[9, 9, 1], [9, 9, 1], [1, 1, 40]], [1, 2, 9], values=[1, 2, 9])
    assert merger(ratings, "ordinal") is not None
    assert merger(ratings, "ordinal", merging=False) is None
    assert merger(ratings, "interval") is None


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_the_merger_is_the_one_of_the_table_of_mergers(level: str) -> None:
    ratings = Ratings.from_table([[9, 9, 1], [9, 9, 1], [1, 1, 40]], ["low", "medium", "high"])
    coefficient = COEFFICIENTS["cohen_kappa" if level == "nominal" else "weighted_kappa_quadratic"]
    before = entry_of(coefficient, ratings, 1)
    rows = merging.merged(
        ratings, level, pair_counts(ratings), lambda changed: entry_of(coefficient, changed, 1), before
    )
    advice = merger(ratings, level, coefficient=coefficient)
    best = max((row for row in rows if row["worth"]), key=lambda row: row["gain"])
    assert advice is not None
    assert best["labels"] == [advice.numbers["first"], advice.numbers["second"]]
    assert (best["merged"]["value"], before["value"]) == (advice.numbers["merged"], advice.numbers["value"])


def test_a_merger_of_labels_that_are_never_confused_cannot_help() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        table = rng.integers(0, 6, size=(4, 4)) + 12 * np.eye(4, dtype=int)
        table[0, 1] = table[1, 0] = 0
        ratings = Ratings.from_table(table, list("abcd"))
        assert (merged_value(ratings, 0, 1) or 0) <= (cohen(ratings).value or 0)


def near_misses(n: int = 200) -> Ratings:
    """Four raters on twelve points: three are up to two steps from the truth, the fourth answers by chance."""
    rng = np.random.default_rng(4)
    truth = rng.integers(2, 10, size=n)
    rows = [truth + rng.integers(-2, 3, size=n) for _ in range(3)]
    return Ratings.from_codes([*rows, rng.integers(12, size=n)], list(range(12)), raters=("ann", "ben", "cem", "dan"))


def test_on_an_ordered_scale_a_near_miss_makes_nobody_far() -> None:
    said = [each for each in diagnose(near_misses(), "ordinal") if each.key.startswith("far")]
    assert {each.key for each in said} == {"far_pair_ordered", "far_rater_ordered"}
    assert {each.numbers.get("rater", each.numbers.get("second")) for each in said} == {"dan"}
    assert "mean kappa with linear weights" in said[-1].sentence
    # Without the order the three are hardly nearer to each other than to the fourth.
    assert not {"far_pair", "far_rater"} & set(keys(near_misses()))


def test_on_an_ordered_scale_only_neighbours_are_one_class() -> None:
    ratings = Ratings.from_table([[20, 1, 18], [0, 40, 1], [17, 0, 21]], ["low", "medium", "high"])
    assert [each.key for each in diagnose(ratings, "nominal") if each.key.startswith("merge")] == ["merge_headline"]
    assert [each.key for each in diagnose(ratings, "ordinal") if each.key.startswith("merge")] == []


def test_every_sentence_is_used() -> None:
    tables = [
        Ratings.from_pairs([], [], ["a", "b"]),
        Ratings.from_matrix([["a", "b", "a"], ["a", "b", None]], ["a", "b"]),
        ratings_of(cases()["undef_constant_same"]),
        ratings_of(cases()["seed_prevalence_trap"]),
        Ratings.from_table([[40, 30], [0, 30]], ["a", "b"]),
        Ratings.from_table([[20, 2, 0], [3, 25, 0], [4, 0, 0]], ["a", "b", "c"]),
        Ratings.from_table([[20, 18, 1], [17, 21, 0], [0, 1, 40]], ["good", "fine", "bad"]),
        Ratings.from_table([[9, 9, 1], [9, 9, 1], [1, 1, 40]], ["low", "medium", "high"]),
        Ratings.from_table([[30]], ["a"]),
        four_raters(200),
    ]
    said = {key for ratings in tables for key in keys(ratings)} | set(keys(RARE)) | set(keys(RARE, seed=1))
    said |= {each.key for ratings in (*tables, near_misses()) for each in diagnose(ratings, "ordinal")}
    said |= set(keys(TRAP_OF_THREE))
    assert said | set(EARLIER) == set(SENTENCES)
