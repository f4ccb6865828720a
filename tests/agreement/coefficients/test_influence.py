"""The engine of standard errors against leaving out one item at a time."""

import math

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, influence
from tests.agreement.coefficients.known_answers import cases, ratings_of


def jackknife(key: str, ratings: Ratings) -> float:
    """Standard error from the values without each item."""
    usable = ratings.comparable()
    statistic = COEFFICIENTS[key].statistic(ratings)
    n = usable.weights.sum()
    left_out = usable.weights - np.eye(len(usable.weights))
    values = statistic.values(statistic.sums(usable.codes, left_out))[:, 0]
    mean = usable.weights @ values / n
    return math.sqrt((n - 1) / n * (usable.weights @ (values - mean) ** 2))


@pytest.mark.parametrize("key", ["cohen_kappa", "weighted_kappa_quadratic", "scott_pi", "krippendorff_alpha_ordinal"])
def test_two_raters_come_near_the_jackknife(key: str) -> None:
    ratings = ratings_of(cases()["landis_koch_ms_winnipeg"])
    assert math.isclose(
        influence.standard_errors(COEFFICIENTS[key].statistic(ratings), ratings)[0],
        jackknife(key, ratings),
        rel_tol=0.03,
    )


@pytest.mark.parametrize(
    "key", [key for key, each in COEFFICIENTS.items() if each.raters != "two" and "ratio" in each.levels]
)
def test_several_raters_come_near_the_jackknife(key: str) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(4, size=400)
    rows = [np.where(rng.random(400) < 0.7, truth, rng.integers(4, size=400)) for _ in range(4)]
    if COEFFICIENTS[key].equal is not True:
        rows[3][:150] = -1
    ratings = Ratings.from_codes(rows, [1, 2, 3, 4], values=(1, 2, 3, 4))
    statistic = COEFFICIENTS[key].statistic(ratings)
    assert math.isclose(influence.standard_errors(statistic, ratings)[0], jackknife(key, ratings), rel_tol=0.03)


def test_alpha_of_rvary2_has_the_influence_error_of_the_methods() -> None:
    ratings = ratings_of(cases()["stata_rvary2"])
    error = COEFFICIENTS["krippendorff_alpha_nominal"].standard_error
    assert error is not None
    assert round(error(ratings).value or 0, 4) == 0.1137


def test_influence_values_are_centred_on_the_items() -> None:
    ratings = ratings_of(cases()["krippendorff_2011_c"])
    statistic = COEFFICIENTS["krippendorff_alpha_ordinal"].statistic(ratings)
    phi = influence.influence(statistic, ratings)
    assert abs(float(ratings.weights @ phi[:, 0])) < 1e-9


def test_error_of_an_undefined_value_is_undefined_for_the_same_reason() -> None:
    constant = Ratings.from_pairs(["a", "a"], ["a", "a"], ["a", "b"])
    error = COEFFICIENTS["krippendorff_alpha_nominal"].standard_error
    assert error is not None
    assert error(constant).undefined == "no_variation"


def test_one_item_has_no_variance_with_the_divisor_n_minus_one() -> None:
    error = COEFFICIENTS["gwet_ac1"].standard_error
    assert error is not None
    assert error(Ratings.from_matrix([["a"], ["b"], ["a"]], ["a", "b"])).undefined == "one_item"


def test_a_million_items_near_complete_chance_agreement_keep_their_digits() -> None:
    # METHODS of the reference, section 1: kappa -1/999999 with ASE 7.07e-7, where others lose it.
    ratings = Ratings.from_table([[0, 1], [1, 999_998]], ["a", "b"])
    cohen = COEFFICIENTS["cohen_kappa"]
    assert cohen.standard_error is not None
    assert math.isclose(cohen.function(ratings).value or 0, -1 / 999_999, rel_tol=1e-9)
    assert math.isclose(cohen.standard_error(ratings).value or 0, 7.07e-7, rel_tol=1e-3)
