import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, arithmetic
from agreement.coefficients.arithmetic import UNFOLDED, Step
from tests.agreement.coefficients.known_answers import cases, near, ratings_of


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


@pytest.mark.parametrize("key", UNFOLDED)
@pytest.mark.parametrize("case_id", ["sas_skin_condition", "stata_rate2", "complete_disagreement_3", "million_binary"])
def test_the_last_step_is_the_figure(key: str, case_id: str) -> None:
    ratings = ratings_of(cases()[case_id])
    assert near(arithmetic.unfold(key, ratings)[-1].value, COEFFICIENTS[key].function(ratings).value)


@pytest.mark.parametrize("key", UNFOLDED)
def test_constant_ratings_end_without_a_value_where_it_is_undefined(key: str) -> None:
    ratings = ratings_of(cases()["undef_constant_same"])
    assert arithmetic.unfold(key, ratings)[-1].value == COEFFICIENTS[key].function(ratings).value


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
