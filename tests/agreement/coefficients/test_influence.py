"""The engine of standard errors against leaving out one item at a time."""

import math
from dataclasses import replace

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, bootstrap, influence
from tests.agreement.coefficients.known_answers import cases, ratings_of

FROM_THE_ENGINE = [key for key, each in COEFFICIENTS.items() if "ratio" in each.levels]


def some_ratings(key: str, n: int = 300) -> Ratings:
    """Ratings of two or four raters, some missing where the coefficient allows it."""
    coefficient, rng = COEFFICIENTS[key], np.random.default_rng(5)
    n_labels, n_raters = coefficient.n_labels or 4, 2 if coefficient.raters == "two" else 4
    truth = rng.integers(n_labels, size=n)
    rows = [np.where(rng.random(n) < 0.7, truth, rng.integers(n_labels, size=n)) for _ in range(n_raters)]
    if n_raters > 2 and coefficient.equal is not True:
        rows[3][: n // 3] = -1
    labels = list(range(1, n_labels + 1))
    return Ratings.from_codes(rows, labels, values=tuple(labels))


def jackknife(key: str, ratings: Ratings) -> float:
    """Standard error from the values without each item."""
    usable = ratings.comparable()
    statistic = COEFFICIENTS[key].statistic(ratings)
    n = usable.weights.sum()
    left_out = usable.weights - np.eye(len(usable.weights))
    values = statistic.values(statistic.sums(usable.codes, left_out))[:, 0]
    mean = usable.weights @ values / n
    return math.sqrt((n - 1) / n * (usable.weights @ (values - mean) ** 2))


@pytest.mark.parametrize("key", FROM_THE_ENGINE)
def test_leaving_out_one_item_gives_the_same_error(key: str) -> None:
    # The jackknife differs by terms in 1 / n: near at 300 items, and the same where each of them stands for 500.
    ratings = some_ratings(key)
    many = replace(ratings, weights=ratings.weights * 500)
    for each, tolerance in ((ratings, 0.03), (many, 1e-4)):
        error = influence.standard_errors(COEFFICIENTS[key].statistic(each), each)[0]
        assert math.isclose(error, jackknife(key, each), rel_tol=tolerance)


@pytest.mark.parametrize("key", FROM_THE_ENGINE)
def test_influence_is_what_a_little_more_of_an_item_does(key: str) -> None:
    ratings = some_ratings(key, 60).comparable()
    statistic, n, step = COEFFICIENTS[key].statistic(ratings), ratings.weights.sum(), 1e-4
    more, less = (ratings.weights + sign * step * np.eye(len(ratings.weights)) for sign in (1, -1))
    change = statistic.values(statistic.sums(ratings.codes, more)) - statistic.values(
        statistic.sums(ratings.codes, less)
    )
    slope = change[:, 0] / (2 * step) * n
    assert np.allclose(influence.influence(statistic, ratings)[:, 0], slope - ratings.weights @ slope / n, atol=1e-6)


def test_the_error_of_kappa_is_the_non_null_one_of_1969() -> None:
    ratings = ratings_of(cases()["landis_koch_ms_winnipeg"])
    p = ratings.table() / ratings.table().sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, expected = np.trace(p), rows @ columns
    kappa = (observed - expected) / (1 - expected)
    own = np.diag(p) * (1 - (rows + columns) * (1 - kappa)) ** 2
    crossed = (1 - kappa) ** 2 * (p * (columns[:, None] + rows[None, :]) ** 2)
    spread = own.sum() + crossed.sum() - np.trace(crossed) - (kappa - expected * (1 - kappa)) ** 2
    error = COEFFICIENTS["cohen_kappa"].standard_error
    assert error is not None
    assert math.isclose(error(ratings).value or 0, math.sqrt(spread / 149) / (1 - expected), rel_tol=1e-12)


@pytest.mark.parametrize("key", [key for key, each in COEFFICIENTS.items() if each.null_error])
def test_the_error_for_an_interval_is_never_the_null_one(key: str) -> None:
    coefficient, ratings = COEFFICIENTS[key], some_ratings(key)
    assert coefficient.standard_error is not None
    assert coefficient.null_error is not None
    value, error, null = (
        each(ratings).value or 0 for each in (coefficient.function, coefficient.standard_error, coefficient.null_error)
    )
    found = bootstrap.interval(ratings, coefficient.statistic(ratings), seed=1, replicates=1000)
    assert found is not None
    spread = (found.high - found.low) / (2 * 1.96)
    assert abs(spread - error) < abs(spread - null)
    assert value > 0.3


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
