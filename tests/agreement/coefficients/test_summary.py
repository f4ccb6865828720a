import json
from typing import Any

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, declared, multilabel, summarise, table_intervals
from agreement.coefficients.cohen import cohen
from agreement.coefficients.distances import linear, quadratic
from agreement.coefficients.intervals import wilson
from agreement.coefficients.summary import one
from agreement.coefficients.table_intervals import Plan
from tests.agreement.coefficients.known_answers import cases, ratings_of, summary_of


def test_two_raters_have_their_statistics_with_n_interval_and_method() -> None:
    answer = summarise(ratings_of(cases()["landis_koch_ms_winnipeg"]), "ordinal", seed=1, replicates=300)
    kappa = answer["statistics"]["weighted_kappa_linear"]
    assert (kappa["n"], kappa["method"], kappa["replicates"], kappa["undefined_share"]) == (149, "bootstrap", 300, 0.0)
    assert kappa["interval"][0] < kappa["value"] < kappa["interval"][1]
    assert answer["statistics"]["percent_agreement"]["method"] == "wilson"
    assert answer["table"] == [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
    assert answer["uses"] == [[44, 47, 35, 23], [84, 37, 11, 17]]


def test_the_large_sample_interval_stands_beside_the_bootstrap_and_never_beside_the_smoothed_one() -> None:
    large, small = (Ratings.from_table(np.array([[40, 10], [5, 45]]) * times // 10, ["a", "b"]) for times in (10, 5))
    entries = [
        summarise(each, "nominal", seed=1, replicates=800)["statistics"]["cohen_kappa"] for each in (large, small)
    ]
    assert [(each["method"], "large_sample" in each) for each in entries] == [("bootstrap", True), ("smoothed", False)]
    # kappa .7, z = atanh(.7), its error .0709 / (1 - .49)
    assert entries[0]["large_sample"] == pytest.approx([0.5334, 0.8142], abs=2e-3)
    assert entries[0]["large_sample"] == pytest.approx(entries[0]["interval"], abs=0.05)


@pytest.mark.parametrize("case_id", cases())
def test_every_case_is_plain_json(case_id: str) -> None:
    answer = summary_of(case_id)
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer


def test_labels_of_different_types_stay_apart() -> None:
    ratings = Ratings.from_pairs([1, "1", True, 1], [1, "1", True, "1"], [1, "1", True])
    rows = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]["specific_agreement"]
    assert [(type(row["label"]), row["label"]) for row in rows] == [(int, 1), (str, "1"), (bool, True)]


def test_pairs_of_raters_are_listed_by_name() -> None:
    ratings = Ratings.from_matrix(
        [["a", "b", "b"], ["a", "b", "a"], [None, None, "b"]], ["a", "b"], raters=("ann", "ben", "cem")
    )
    rows = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]["pairwise_cohen_kappa"]
    assert [(row["pair"], row.get("value"), row.get("undefined"), row["n"]) for row in rows] == [
        (["ann", "ben"], pytest.approx(0.4), None, 3),
        (["ann", "cem"], None, "no_variation", 1),
        (["ben", "cem"], 0.0, None, 1),
    ]


def test_nothing_about_persons_where_columns_are_not_people() -> None:
    statistics = summarise(ratings_of(cases()["fleiss_wikipedia"]), "nominal", seed=1, interval=False)["statistics"]
    assert not {"pairwise_cohen_kappa", "conger_kappa", "mean_pairwise_cohen_kappa"} & set(statistics)


def test_a_class_with_few_disagreements_has_a_smoothed_interval_of_its_own() -> None:
    # 22 items are in dispute, 2 of them about "c".
    ratings = Ratings.from_table([[80, 10, 1], [10, 70, 0], [1, 0, 28]], ["a", "b", "c"])
    statistics = summarise(ratings, "nominal", seed=1, replicates=200)["statistics"]
    for name in ("per_class_kappa", "specific_agreement"):
        assert [row["method"] for row in statistics[name]] == ["bootstrap", "bootstrap", "smoothed"]
    assert statistics["cohen_kappa"]["method"] == "bootstrap"


def test_the_expert_has_intervals_over_items() -> None:
    case = cases()["expert_baseline"]
    statistics = summarise(ratings_of(case), "nominal", seed=1, replicates=200, expert=0)["statistics"]
    pooled = statistics["expert_kappa_pooled"]
    assert (pooled["n"], pooled["pairs"], pooled["method"]) == (20, 57, "smoothed")
    assert [row["rater"] for row in statistics["expert_kappa_per_rater"]] == ["1", "2", "3"]
    assert all(len(row["interval"]) == 2 for row in statistics["expert_kappa_per_rater"])


def test_the_expert_on_a_scale_has_weighted_figures_too() -> None:
    ratings = Ratings.from_matrix([[1, 2, 3, 1, 2], [1, 3, 3, 2, 2], [2, 2, 3, 1, None]], [1, 2, 3])
    statistics = summarise(ratings, "ordinal", seed=1, replicates=50, expert=0)["statistics"]
    statistics |= declared.against(ratings, 0, [[0, 1, 4], [1, 0, 1], [4, 1, 0]], Plan(1, 50))
    others = Ratings.from_pairs([1, 3, 3, 2, 2, 2, 2, 3, 1], [1, 2, 3, 1, 2, 1, 2, 3, 1], [1, 2, 3])
    for name, distance in (("linear", linear), ("quadratic", quadratic), ("custom", quadratic)):
        pooled = statistics[f"expert_weighted_kappa_{name}"]
        assert pooled["value"] == pytest.approx(cohen(others, distance(others)).value)
        assert (pooled["pairs"], len(pooled["interval"])) == (9, 2)
        rows = statistics[f"expert_weighted_kappa_{name}_per_rater"]
        assert [(row["rater"], row["n"], len(row["interval"])) for row in rows] == [("1", 5, 2), ("2", 4, 2)]
        assert rows[0]["value"] == pytest.approx(cohen(ratings.pair(1, 0), distance(ratings)).value)


def test_an_undefined_statistic_says_why() -> None:
    kappa = summarise(ratings_of(cases()["undef_constant_same"]), "nominal", seed=1)["statistics"]["cohen_kappa"]
    assert kappa["undefined"] == "no_variation"
    assert kappa["sentence"].startswith("Only one label was used")
    assert "value" not in kappa


def test_no_interval_where_none_is_wanted() -> None:
    statistics = summarise(ratings_of(cases()["cohen_1960"]), "nominal", seed=1, interval=False)["statistics"]
    assert "interval" not in statistics["cohen_kappa"]


def test_every_coefficient_has_a_standard_error_and_so_has_the_expert() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=120)
    rows = [np.where(rng.random(120) < 0.7, truth, rng.integers(3, size=120)) for _ in range(3)]
    ratings = Ratings.from_codes(rows, ["a", "b", "c"])
    statistics = summarise(ratings, "nominal", seed=1, replicates=400, expert=0)["statistics"]
    whole = {key: each for key, each in statistics.items() if isinstance(each, dict) and "interval" in each}
    assert {"conger_kappa", "mean_pairwise_cohen_kappa", "percent_agreement", "expert_kappa_pooled"} <= set(whole)
    for each in whole.values():
        low, high = each["interval"]
        assert each["se"] == pytest.approx((high - low) / (2 * 1.96), rel=0.25)


def test_an_interval_that_would_take_too_long_is_left_out_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_intervals, "MOST_PRODUCTS", 10_000)
    statistics = summarise(ratings_of(cases()["gwet_raw4raters"]), "nominal", seed=1, replicates=50)["statistics"]
    assert "interval" in statistics["krippendorff_alpha_nominal"]
    assert statistics["conger_kappa"]["no_interval"].startswith("There are too many patterns")
    assert "interval" not in statistics["conger_kappa"]


def test_the_same_seed_gives_the_same_answer() -> None:
    ratings = ratings_of(cases()["landis_koch_ms_winnipeg"])
    first, again, other = (summarise(ratings, "ordinal", seed=seed, replicates=50) for seed in (9, 9, 8))
    assert first == again
    intervals = [each["statistics"]["weighted_kappa_linear"]["interval"] for each in (first, other)]
    assert intervals[0] != intervals[1]


def test_the_number_of_items_costs_nothing() -> None:
    ratings = Ratings.from_table(np.array([[40, 10], [5, 45]]) * 10**9, ["a", "b"])
    kappa = summarise(ratings, "nominal", seed=1)["statistics"]["cohen_kappa"]
    assert kappa["interval"][1] - kappa["interval"][0] < 1e-4


@pytest.mark.parametrize(
    ("labels", "values", "level", "weights", "sentence"),
    [
        (["a", "b"], None, "interval", None, "'interval' needs a number for every label"),
        ([-1, 1], (-1, 1), "ratio", None, "no values below 0, and -1 is one"),
        (["a", "b"], None, "colour", None, "'colour' is no level of measurement"),
        (["a", "b"], None, "multilabel", None, "need labels that are sets"),
        (["a", "b"], None, "ordinal", [[0, 1]], "as many rows as columns"),
        (["a", "b"], None, "ordinal", [[0]], "2 labels need 2 x 2 weights, and these are 1 x 1"),
        (["a", "b"], None, "ordinal", [[0, -1], [1, 0]], "Weight -1.0 in row 1, column 2"),
        (["a", "b"], None, "ordinal", [[0, 1], [1, 0.5]], "Weight 0.5 in row 2"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    labels: list[object], values: tuple[float, ...] | None, level: str, weights: object, sentence: str
) -> None:
    ratings = Ratings.from_table([[2, 1], [0, 3]], labels, values=values)
    with pytest.raises(ValueError, match=sentence):
        summarise(ratings, level, seed=1, weights=weights)  # type: ignore[arg-type]


UNUSED = "Nobody used this label, so there is no agreement on it to measure."


def test_a_label_nobody_used_is_undefined_because_nobody_used_it() -> None:
    two = Ratings.from_table([[9, 1, 0], [2, 8, 0], [0, 0, 0]], ["a", "b", "c"])
    three = Ratings.from_matrix([["a", "b", "a"], ["a", "b", "b"], ["a", "a", "b"]], ["a", "b", "c"])
    for ratings in (two, three):
        statistics = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]
        lists = [key for key, rows in statistics.items() if isinstance(rows, list) and "label" in rows[0]]
        for key in lists:
            row = statistics[key][2]
            assert (row["label"], row["undefined"], row["sentence"]) == ("c", "no_variation", UNUSED)
    assert {"specific_agreement", "per_class_alpha", "fleiss_per_category"} <= set(lists)


def test_a_label_everybody_used_is_undefined_because_everybody_did() -> None:
    ratings = multilabel.from_sets([[["a"], ["a", "b"]], [["a"], ["a"]]], ["a", "b", "c"])
    statistics = summarise(ratings, "multilabel", seed=1, interval=False, set_classes=["a", "b", "c"])["statistics"]
    said = [row.get("sentence", "") for row in statistics["per_label_cohen_kappa"]]
    assert (said[0].split(",")[0], said[1:]) == ("Everybody used this label on every item", ["", UNUSED])


def test_labels_of_equal_values_are_named_as_the_reason() -> None:
    ratings = Ratings.from_table([[9, 1], [2, 8]], ["a", "b"], values=[1, 1])
    answer = summarise(ratings, "interval", seed=1, interval=False)["statistics"]["krippendorff_alpha_interval"]
    assert (answer["undefined"], "labels of equal values" in answer["sentence"]) == ("no_variation", True)


def test_pabak_is_brennan_prediger_of_two_labels_with_its_error_and_interval() -> None:
    ratings = Ratings.from_table([[70, 12], [9, 40]], ["a", "b"])
    statistics = summarise(ratings, "nominal", seed=1, replicates=200)["statistics"]
    pabak, brennan_prediger = statistics["pabak"], statistics["brennan_prediger"]
    assert pabak["se"] == brennan_prediger["se"] == statistics["pabak_se"]["value"]
    assert pabak["interval"] == brennan_prediger["interval"]


# -- percent agreement: one rule -------------------------------------------------------------------------------------

ROTATING = [["a", "b", "a", None, None, None], ["a", "a", None, "b", "a", None], [None, None, "a", "b", "b", "b"]]


def percent_of(ratings: Ratings) -> list[dict[str, Any]]:
    """Percent agreement as a whole table has it, and as a part or a pair has it."""
    coefficient = COEFFICIENTS["percent_agreement"]
    whole = summarise(ratings, level="nominal", seed=1)["statistics"]["percent_agreement"]
    return [whole, one(ratings, coefficient, Plan(1))]


@pytest.mark.parametrize(
    ("columns", "agreed", "n"),
    [(ROTATING[:2], 1, 2), (ROTATING, 3, 5)],
    ids=["two raters", "three who share items two by two"],
)
def test_items_with_two_ratings_have_wilson_s_interval_everywhere(columns: Any, agreed: int, n: int) -> None:
    whole, part = percent_of(Ratings.from_matrix(columns, ["a", "b"]))

    known = wilson(agreed, n)
    assert (whole["method"], whole["interval"]) == ("wilson", [known.low, known.high])
    assert (part["method"], part["interval"]) == ("wilson", whole["interval"])


def test_items_with_three_ratings_are_resampled_everywhere() -> None:
    """Such an item may agree in part, and is no yes or no."""
    whole, part = percent_of(Ratings.from_matrix([*ROTATING[:2], ["a", "a", "a", "b", "b", "b"]], ["a", "b"]))

    assert (whole["method"], part["method"]) == ("smoothed", "smoothed")
    assert whole["interval"] == part["interval"]
