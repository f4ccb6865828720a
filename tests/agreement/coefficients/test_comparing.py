"""Differences of coefficients against the known ones, and their intervals."""

import math
from typing import Any

import pytest

from agreement.coefficients import Ratings, comparing, influence
from agreement.coefficients.cohen import cohen, cohen_se, cohen_statistic
from agreement.coefficients.distances import linear, nominal, quadratic
from agreement.coefficients.light import pairwise_statistic
from agreement.coefficients.statistic import off_diagonal
from tests.agreement.coefficients.known_answers import cases, extras, near, ratings_of

COMPARISONS = {case["id"]: case for case in extras("comparisons")["cases"]}
INDEPENDENT = [case for case in COMPARISONS.values() if "tables" in case]
DEPENDENT = [case for case in COMPARISONS.values() if "pairs" in case]


def kappas_of(case: dict[str, Any]) -> tuple[list[float], list[float]]:
    values, errors = [], []
    for name in case["tables"]:
        ratings = ratings_of(cases()[name])
        distance = linear(ratings) if case["weights"] == "linear" else nominal(ratings)
        values.append(cohen(ratings, distance).value or 0.0)
        errors.append(cohen_se(ratings, distance).value or 0.0)
    return values, errors


@pytest.mark.parametrize("case", INDEPENDENT, ids=lambda case: case["id"])
def test_independent_samples_have_the_known_difference(case: dict[str, Any]) -> None:
    difference = comparing.independent(*kappas_of(case))
    assert near(difference.value, case["difference"])
    assert near(difference.standard_error, case["se_difference"])
    assert near(difference.z, case["z"])
    assert near(difference.p, case["p_two_sided"])


@pytest.mark.parametrize("case", INDEPENDENT, ids=lambda case: case["id"])
def test_independent_samples_have_the_known_homogeneity(case: dict[str, Any]) -> None:
    found = comparing.homogeneity(*kappas_of(case))
    assert near(found.pooled, case["pooled_kappa"])
    assert near(found.standard_error, case["pooled_se"])
    assert near(found.chi_square, case["homogeneity_chi2"])
    assert found.degrees == case["df"]
    assert near(found.p, case["p_homogeneity"])


@pytest.mark.parametrize("case", DEPENDENT, ids=lambda case: case["id"])
def test_the_same_items_have_the_known_difference(case: dict[str, Any]) -> None:
    ratings = ratings_of(cases()[case["data"]])
    first, second = (
        pairwise_statistic(off_diagonal(ratings.n_labels), [tuple(pair)], average=False) for pair in case["pairs"]
    )
    difference = comparing.same_items(ratings, first, second, seed=1, replicates=500)
    assert difference is not None
    assert near(difference.value, case["difference"])
    assert near(difference.standard_error, case["se_difference"])
    assert near(difference.z, case["z"])
    assert near(difference.p, case["p_two_sided"])
    assert near(influence.covariance(first, second, ratings), case["covariance"])
    assert difference.interval is not None
    assert difference.interval.low < difference.value < difference.interval.high


def test_two_draws_are_resampled_each_by_itself() -> None:
    first, second = (ratings_of(cases()[name]) for name in ("landis_koch_ms_winnipeg", "landis_koch_ms_neworleans"))
    statistic = cohen_statistic(off_diagonal(4))
    difference = comparing.draws(first, second, (statistic, statistic), seed=1)
    assert difference is not None
    assert near(difference.value, COMPARISONS["independent_ms_unweighted"]["difference"])
    assert difference.interval is not None
    width = difference.interval.high - difference.interval.low
    assert math.isclose(width, 2 * 1.96 * 0.0933, rel_tol=0.15)


def test_two_perfect_draws_do_not_differ_and_are_not_known_to_be_equal() -> None:
    perfect = Ratings.from_table([[12, 0], [0, 18]], ["a", "b"])
    statistic = cohen_statistic(off_diagonal(2))
    difference = comparing.draws(perfect, perfect, (statistic, statistic), seed=1, replicates=500)
    assert difference is not None
    assert (difference.value, difference.z, difference.p) == (0.0, None, None)
    assert difference.interval is not None
    assert difference.interval.method == "smoothed"
    assert difference.interval.low < -0.02 < 0.02 < difference.interval.high


def test_a_difference_is_smoothed_where_either_side_is() -> None:
    plain, perfect = (Ratings.from_table(table, ["a", "b"]) for table in ([[80, 15], [15, 90]], [[70, 0], [0, 80]]))
    statistic = cohen_statistic(off_diagonal(2))
    for sides in ((plain, perfect), (perfect, plain)):
        difference = comparing.draws(*sides, (statistic, statistic), seed=1, replicates=300)
        assert difference is not None
        assert difference.interval is not None
        assert difference.interval.method == "smoothed"
        assert difference.interval.low < difference.value < difference.interval.high


def test_the_two_draws_are_resampled_apart() -> None:
    ratings = Ratings.from_table([[80, 15], [15, 90]], ["a", "b"])
    statistic = cohen_statistic(off_diagonal(2))
    difference = comparing.draws(ratings, ratings, (statistic, statistic), seed=1, replicates=1000)
    again = comparing.same_items(ratings, statistic, statistic, seed=1, replicates=1000)
    assert difference is not None
    assert again is not None
    # The same statistic of the same items never differs; of two samples that look alike it may.
    assert again.interval is not None
    assert difference.interval is not None
    assert (again.interval.low, again.interval.high) == (0.0, 0.0)
    width = difference.interval.high - difference.interval.low
    assert math.isclose(width, 2 * 1.96 * (difference.standard_error or 0), rel_tol=0.15)


def test_two_statistics_of_the_same_items_move_together() -> None:
    ratings = ratings_of(cases()["landis_koch_ms_winnipeg"])
    plain, weighted = (cohen_statistic(distance(ratings).fixed) for distance in (nominal, quadratic))  # type: ignore[arg-type]
    difference = comparing.same_items(ratings, weighted, plain, seed=1, replicates=1000)
    errors = [float(influence.standard_errors(each, ratings)[0]) for each in (plain, weighted)]
    assert difference is not None
    assert difference.interval is not None
    width = difference.interval.high - difference.interval.low
    assert math.isclose(width, 2 * 1.96 * (difference.standard_error or 0), rel_tol=0.15)
    assert (difference.standard_error or 1) < math.hypot(*errors)


def test_a_difference_with_an_undefined_side_is_none() -> None:
    constant, other = ratings_of(cases()["undef_constant_same"]), ratings_of(cases()["cohen_1960"])
    statistics = cohen_statistic(off_diagonal(2)), cohen_statistic(off_diagonal(3))
    assert comparing.draws(constant, other, statistics, seed=1) is None


@pytest.mark.parametrize(
    ("value", "degrees", "tail"),
    [
        (3.841458820694124, 1, 0.05),
        (5.991464547107979, 2, 0.05),
        (7.814727903251179, 3, 0.05),
        (9.487729036781154, 4, 0.05),
        (20.278, 11, 0.0419),
        (0.0, 3, 1.0),
    ],
)
def test_chi_square_tail(value: float, degrees: int, tail: float) -> None:
    assert math.isclose(comparing.chi_square_tail(value, degrees), tail, abs_tol=2e-3 if degrees > 9 else 1e-12)
