from typing import Any

import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, arithmetic
from agreement.coefficients.arithmetic import UNFOLDED, Step
from tests.agreement.coefficients.known_answers import cases, near, ratings_of

# Others need labels that are numbers, or sets.
OF_ANY_LABELS = [key for key in UNFOLDED if key.rpartition("_")[2] not in ("interval", "ratio", "jaccard", "masi")]


def test_kappa_unfolds_as_by_hand() -> None:
    ratings = Ratings.from_table([[9, 3], [1, 7]], ["helpful", "not"])
    assert arithmetic.unfold("cohen_kappa", ratings) == [
        Step("p_o", "sum of n_kk / n", "(9 + 7) / 20", 0.8),
        Step("p_e", "sum of row total · column total / n²", "(12·10 + 8·10) / 20²", 0.5),
        Step("kappa", "(p_o − p_e) / (1 − p_e)", "(0.8 − 0.5) / (1 − 0.5)", pytest.approx(0.6)),
    ]


def test_weighted_kappa_unfolds_its_disagreements() -> None:
    ratings = Ratings.from_table([[4, 2, 0], [0, 5, 1], [1, 0, 7]], [1, 2, 3])
    seen, chance, value = arithmetic.unfold("weighted_kappa_linear", ratings)
    assert seen.numbers == "(0.5·2 + 0.5·1 + 1·1) / 20"
    assert chance.numbers == "(0.5·6·7 + 1·6·8 + 0.5·6·5 + 0.5·6·8 + 1·8·5 + 0.5·8·7) / 20²"
    assert value.value == pytest.approx(1 - 0.125 / 0.44)


@pytest.mark.parametrize("key", OF_ANY_LABELS)
@pytest.mark.parametrize("case_id", ["sas_skin_condition", "stata_rate2", "complete_disagreement_3", "million_binary"])
def test_the_last_step_is_the_figure(key: str, case_id: str) -> None:
    ratings = ratings_of(cases()[case_id])
    assert near(arithmetic.unfold(key, ratings)[-1].value, COEFFICIENTS[key].function(ratings).value)


@pytest.mark.parametrize("key", OF_ANY_LABELS)
def test_constant_ratings_end_without_a_value_where_it_is_undefined(key: str) -> None:
    ratings = ratings_of(cases()["undef_constant_same"])
    assert arithmetic.unfold(key, ratings)[-1].value == COEFFICIENTS[key].function(ratings).value


def test_ordinal_alpha_unfolds_its_disagreements_in_shares_of_the_largest() -> None:
    ratings = Ratings.from_table([[3, 1, 0], [0, 2, 0], [1, 0, 3]], ["low", "middle", "high"])
    seen, chance, value = arithmetic.unfold("krippendorff_alpha_ordinal", ratings)
    # 8, 5 and 7 ratings: the middle ranks are 6.5, 6 and 12.5 apart.
    near_, far = (6.5 / 12.5) ** 2, (6 / 12.5) ** 2
    assert seen.numbers == "(0.2704·2 + 1·2) / 20"
    assert seen.value == pytest.approx((2 * near_ + 2) / 20)
    assert chance.numbers == "(0.2704·2·8·5 + 1·2·8·7 + 0.2304·2·5·7) / (20·19)"
    assert chance.value == pytest.approx(2 * (near_ * 40 + 56 + far * 35) / 380)
    assert near(value.value, COEFFICIENTS["krippendorff_alpha_ordinal"].function(ratings).value)


SETS = [frozenset(each) for each in ((), ("a",), ("a", "b"), ("b", "c"))]


@pytest.mark.parametrize(
    ("key", "labels", "values"),
    [
        ("krippendorff_alpha_interval", ["1", "2", "5", "9"], [1, 2, 5, 9]),
        ("krippendorff_alpha_ratio", ["1", "2", "5", "9"], [1, 2, 5, 9]),
        ("krippendorff_alpha_jaccard", SETS, None),
        ("krippendorff_alpha_masi", SETS, None),
    ],
)
def test_the_last_step_is_the_figure_of_values_and_sets(key: str, labels: list[Any], values: Any) -> None:
    table = [[5, 1, 0, 2], [0, 7, 1, 0], [1, 1, 4, 0], [0, 2, 0, 6]]
    ratings = Ratings.from_table(table, labels, values=values)
    assert near(arithmetic.unfold(key, ratings)[-1].value, COEFFICIENTS[key].function(ratings).value)


def test_long_sums_are_shortened() -> None:
    ratings = Ratings.from_table([[int(i == j) for j in range(20)] for i in range(20)], list(range(20)))
    assert arithmetic.unfold("cohen_kappa", ratings)[0].numbers.endswith("1 + … (20 terms)) / 20")


def test_no_item_has_no_arithmetic() -> None:
    assert arithmetic.unfold("cohen_kappa", Ratings.from_pairs([None], ["a"], ["a", "b"])) == []


def test_other_coefficients_and_raters_are_refused() -> None:
    with pytest.raises(ValueError, match="arithmetic of 'fleiss_kappa' is not shown"):
        arithmetic.unfold("fleiss_kappa", Ratings.from_table([[1, 0], [0, 1]], ["a", "b"]))
    with pytest.raises(ValueError, match="needs two raters, not 3"):
        arithmetic.unfold("cohen_kappa", Ratings.from_matrix([["a"], ["a"], ["a"]], ["a", "b"]))
