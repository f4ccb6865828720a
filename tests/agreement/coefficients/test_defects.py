"""Known defects of other tools, each of which ours must not have (METHODS of the reference, section 1)."""

import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, summarise
from agreement.coefficients.krippendorff import alpha
from agreement.coefficients.light import mean_pairwise_cohen_kappa, pairwise_cohen_kappa


def value(key: str, ratings: Ratings) -> float | None:
    return COEFFICIENTS[key].function(ratings).value


def rotating(labels: list[str]) -> Ratings:
    """Three annotators rotate in pairs and agree on everything."""
    rows: list[list[str | None]] = [[None] * len(labels) for _ in range(3)]
    for item, label in enumerate(labels):
        for rater in ((0, 1), (1, 2), (0, 2))[item % 3]:
            rows[rater][item] = label
    return Ratings.from_matrix(rows, ["a", "b"])


def test_rotating_pairs_that_agree_give_one() -> None:
    ratings = rotating(["a", "a", "a", "b", "b", "b"])
    fitting = {key: each for key, each in COEFFICIENTS.items() if each.applies(ratings, "nominal")}
    found = {key: each.function(ratings).value for key, each in fitting.items()}
    assert found == dict.fromkeys(found, 1.0)
    assert {answer.value for answer in pairwise_cohen_kappa(ratings).values()} == {1.0}


def test_order_is_the_declared_one_and_not_the_alphabet() -> None:
    a, b = ["low", "medium", "high", "low", "high"], ["low", "high", "high", "medium", "high"]
    declared = Ratings.from_pairs(a, b, ["low", "medium", "high"])
    alphabet = Ratings.from_pairs(a, b, ["high", "low", "medium"])
    # 2 steps of disagreement in 5 items, where chance has 24 in 25.
    assert value("weighted_kappa_linear", declared) == pytest.approx(1 - (2 / 5) / (24 / 25))
    assert value("weighted_kappa_linear", alphabet) != value("weighted_kappa_linear", declared)


def test_an_undefined_pair_is_left_out_of_the_mean() -> None:
    ratings = Ratings.from_matrix([["a", "a", "b"], ["a", "a", "a"], ["a", "a", None]], ["a", "b"])
    answer = mean_pairwise_cohen_kappa(ratings)
    assert (answer.value, dict(answer.details)) == (0.0, {"pairs": 1, "left_out": 2})


def test_declared_labels_count_in_ac1() -> None:
    a, b = ["a", "a", "b"], ["a", "b", "b"]
    two, three = (Ratings.from_pairs(a, b, labels) for labels in (["a", "b"], ["a", "b", "c"]))
    assert value("gwet_ac1", two) != value("gwet_ac1", three)


def test_single_ratings_do_not_enter_alpha() -> None:
    with_single = Ratings.from_matrix([["a", "b", "b"], ["a", "a", None]], ["a", "b"])
    without = Ratings.from_matrix([["a", "b"], ["a", "a"]], ["a", "b"])
    assert alpha(with_single).value == alpha(without).value


def test_a_rater_without_ratings_changes_nothing() -> None:
    rows = [["a", "b", "b", "a"], ["a", "b", "a", "a"], ["a", "b", "b", "b"]]
    with_idle, without = (Ratings.from_matrix(each, ["a", "b"]) for each in ([*rows, [None] * 4], rows))
    assert value("conger_kappa", with_idle) == pytest.approx(value("conger_kappa", without))


def test_figures_pool_items_and_average_no_documents() -> None:
    document_1 = Ratings.from_table([[8, 1], [1, 0]], ["a", "b"])
    document_2 = Ratings.from_table([[0, 1], [0, 9]], ["a", "b"])
    both = Ratings.from_table([[8, 2], [1, 9]], ["a", "b"])
    mean = sum(value("cohen_kappa", each) or 0.0 for each in (document_1, document_2)) / 2
    assert value("cohen_kappa", both) == pytest.approx(0.7)
    assert mean < 0.1


def test_cohen_is_not_computed_for_three_raters_by_position() -> None:
    with pytest.raises(ValueError, match="compares two raters, not 3"):
        COEFFICIENTS["cohen_kappa"].function(Ratings.from_matrix([["a"], ["a"], ["b"]], ["a", "b"]))


def test_big_counts_are_exact() -> None:
    small = Ratings.from_table([[40, 10], [5, 45]], ["a", "b"])
    big = Ratings.from_table([[40e10, 10e10], [5e10, 45e10]], ["a", "b"])
    assert value("cohen_kappa", big) == pytest.approx(value("cohen_kappa", small), rel=1e-14)


def test_items_with_one_rating_are_counted_and_left_out() -> None:
    ratings = Ratings.from_matrix([["a", "b", "b"], ["a", "a", None]], ["a", "b"])
    statistics = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]
    assert [statistics[key]["value"] for key in ("n_pairs", "n_items_rated", "n_items_2plus")] == [2, 3, 2]
