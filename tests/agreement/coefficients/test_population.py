"""Figures weighted to the population, against the enriched example of the reference."""

import math

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, bootstrap, influence, population, summarise
from agreement.coefficients.cohen import cohen, cohen_statistic
from agreement.coefficients.percent import percent_statistic
from agreement.coefficients.statistic import off_diagonal
from tests.agreement.coefficients.known_answers import extras, near

CASE = extras("weighted")["cases"][0]
KAPPA = cohen_statistic(off_diagonal(2))


def enriched(tables: list[list[list[int]]] | None = None) -> Ratings:
    codes, weights, strata = [], [], []
    for number, table in enumerate(tables or [stratum["table"] for stratum in CASE["strata"]]):
        for (row, column), count in np.ndenumerate(np.array(table)):
            if count:
                codes.append((row, column))
                weights.append(float(count))
                strata.append(number)
    sizes = tuple(float(stratum["population"]) for stratum in CASE["strata"])
    return Ratings(np.array(codes), np.array(weights), ("yes", "no"), strata=np.array(strata), populations=sizes)


def test_weighted_table_is_the_known_one() -> None:
    ratings = enriched()
    weighted = Ratings(ratings.codes, population.weights(ratings), ratings.labels)
    assert np.allclose(weighted.table() / weighted.table().sum(), CASE["weighted_table"])


def test_kappa_as_drawn_and_weighted() -> None:
    ratings = enriched()
    assert near(cohen(ratings).value, CASE["kappa_if_weights_ignored"])
    assert near(population.estimate(ratings, KAPPA).value, CASE["kappa_weighted"])
    assert near(population.estimate(ratings, percent_statistic(2)).value, CASE["percent_agreement_weighted"])


def test_standard_error_is_the_known_one() -> None:
    ratings = enriched()
    without, with_correction = (population.standard_error(ratings, KAPPA, finite=finite) for finite in (False, True))
    assert near(without.value, CASE["se_linearised_no_fpc"])
    assert near(with_correction.value, CASE["se_linearised_with_fpc"])


def test_bootstrap_within_strata_spreads_as_the_standard_error_says() -> None:
    ratings = enriched()
    (values,) = bootstrap.resample(ratings, [KAPPA], seed=1, replicates=4000, weighted=True)
    assert math.isclose(float(np.nanstd(values)), CASE["se_linearised_no_fpc"], rel_tol=0.1)


def test_one_stratum_of_the_whole_population_is_the_figure_as_drawn() -> None:
    codes, weights = np.array([[0, 0], [0, 1], [1, 1]]), np.array([20.0, 5.0, 30.0])
    ratings = Ratings(codes, weights, ("a", "b"), strata=np.zeros(3, dtype=int), populations=(1e12,))
    n = weights.sum()
    assert near(population.estimate(ratings, KAPPA).value, cohen(ratings).value)
    plain = influence.standard_errors(KAPPA, ratings)[0] * math.sqrt(n / (n - 1))
    assert near(population.standard_error(ratings, KAPPA).value, float(plain))


def test_a_stratum_without_a_complete_item_makes_the_weighted_figure_undefined() -> None:
    answer = population.estimate(enriched([[[60, 10], [12, 18]], [[0, 0], [0, 0]]]), KAPPA)
    assert (answer.value, answer.undefined) == (None, "no_pairs")
    assert answer.sentence == "Stratum 2 has no item with two ratings to stand for it."


def test_a_stratum_of_one_item_has_no_variance() -> None:
    ratings = enriched([[[60, 10], [12, 18]], [[0, 0], [0, 1]]])
    answer = population.standard_error(ratings, KAPPA)
    assert answer.undefined == "one_item"
    assert "Stratum 2 has one item" in answer.sentence


def test_summary_shows_both() -> None:
    entry = summarise(enriched(), "nominal", seed=1, replicates=500)["statistics"]["cohen_kappa"]
    assert near(entry["value"], CASE["kappa_if_weights_ignored"])
    assert near(entry["weighted"]["value"], CASE["kappa_weighted"])
    low, high = entry["weighted"]["interval"]
    assert low < CASE["kappa_weighted"] < high


def test_weighting_without_population_sizes_is_refused() -> None:
    with pytest.raises(ValueError, match="needs strata and their population sizes"):
        population.estimate(Ratings.from_table([[1, 0], [0, 1]], ["a", "b"]), KAPPA)


def several(rates: tuple[int, int], singles: int = 0) -> Ratings:
    """Three raters in two strata, each item of which stands for so many; and items of the first with one rating."""
    rng = np.random.default_rng(6)
    truth = rng.integers(1, 4, size=(2, 90))
    said = np.where(rng.random((3, 2, 90)) < 0.75, truth, rng.integers(1, 4, size=(3, 2, 90))).reshape(3, 180) - 1
    said[2, :45] = -1
    strata = np.repeat([0, 1], 90)
    alone = np.vstack([rng.integers(3, size=singles), np.full((2, singles), -1)])
    return Ratings.from_codes(
        np.hstack([said, alone]).astype(np.int64),
        [1, 2, 3],
        strata=np.append(strata, np.zeros(singles, dtype=int)),
        values=(1, 2, 3),
        populations=(90.0 * rates[0], 90.0 * rates[1]),
    )


WHOLE_TABLE = [key for key, each in COEFFICIENTS.items() if each.applies(several((1, 1)), "ratio")]


@pytest.mark.parametrize("key", WHOLE_TABLE)
def test_weights_say_what_the_items_they_stand_for_would_say(key: str) -> None:
    ratings = several((9, 1))
    statistic = COEFFICIENTS[key].statistic(ratings)
    rates = np.where(np.asarray(ratings.strata) == 0, 9.0, 1.0) * 180 / 900
    repeated = Ratings(ratings.codes, ratings.weights * rates, ratings.labels, values=ratings.values)
    weighted = population.estimate(ratings, statistic).value
    assert near(weighted, statistic.estimate(repeated).value)
    assert not near(weighted, statistic.estimate(ratings).value)


@pytest.mark.parametrize("key", WHOLE_TABLE)
def test_an_item_that_only_one_person_rated_stands_for_nothing(key: str) -> None:
    without, with_singles = several((9, 1)), several((9, 1), singles=40)
    statistic = COEFFICIENTS[key].statistic(without)
    for figure in (population.estimate, population.standard_error):
        assert near(figure(with_singles, statistic).value, figure(without, statistic).value)


@pytest.mark.parametrize("key", ["krippendorff_alpha_ordinal", "gwet_ac1", "fleiss_kappa_gwet"])
def test_several_raters_spread_as_their_weighted_error_says(key: str) -> None:
    ratings = several((9, 1))
    statistic = COEFFICIENTS[key].statistic(ratings)
    (values,) = bootstrap.resample(ratings, [statistic], seed=2, replicates=1000, weighted=True)
    error = population.standard_error(ratings, statistic, finite=False).value
    assert math.isclose(float(values.std()), error or 0, rel_tol=0.1)
