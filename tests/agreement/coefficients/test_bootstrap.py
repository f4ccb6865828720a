"""The bootstrap against its exact distribution, and what it promises about seeds, strata and chunks."""

import math
from typing import Any

import numpy as np
import pytest

from agreement.coefficients import Ratings, bootstrap
from agreement.coefficients import statistic as statistics
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.distances import ordinal
from agreement.coefficients.krippendorff import alpha_statistic
from agreement.coefficients.statistic import off_diagonal
from tests.agreement.coefficients.known_answers import extras

EXACT = {case["id"]: case for case in extras("bootstrap_exact")["cases"]}


def ratings_of(case: dict[str, Any]) -> Ratings:
    return Ratings.from_table(case["table"], list(range(len(case["table"]))))


def replicates_of(case: dict[str, Any], number: int) -> np.ndarray[Any, Any]:
    ratings = ratings_of(case)
    statistic = cohen_statistic(off_diagonal(ratings.n_labels))
    (values,) = bootstrap.resample(ratings, [statistic], seed=11, replicates=number)
    return values[:, 0]


@pytest.mark.parametrize("case_id", EXACT)
@pytest.mark.parametrize("number", [1000, 10_000])
@pytest.mark.parametrize("quantile", ["0.025", "0.05", "0.95", "0.975"])
def test_percentiles_lie_where_the_exact_distribution_has_them(case_id: str, number: int, quantile: str) -> None:
    case = EXACT[case_id]
    level = abs(1 - 2 * float(quantile))
    interval = bootstrap.percentile(replicates_of(case, number), level=level, method="bootstrap", seed=11)
    assert interval is not None
    low, high = case[f"q{quantile}"][f"accept_B{number}"]
    end = interval.low if float(quantile) < 0.5 else interval.high
    assert low - 1e-9 <= end <= high + 1e-9


@pytest.mark.parametrize("case_id", EXACT)
def test_moments_and_undefined_share_are_the_exact_ones(case_id: str) -> None:
    case, number = EXACT[case_id], 10_000
    values = replicates_of(case, number)
    undefined = float(np.isnan(values).mean())
    p = case["p_undefined"]
    assert abs(undefined - p) <= 4.5 * math.sqrt(p * (1 - p) / number) + 1 / number
    assert abs(np.nanmean(values) - case["mean"]) <= 4.5 * case["sd"] / math.sqrt(number) + 1e-12
    assert abs(np.nanstd(values) - case["sd"]) <= 0.05 * case["sd"] + 1e-12


def test_undefined_replicates_are_left_out_and_their_share_is_said() -> None:
    case = EXACT["five_items_one_off"]
    interval = bootstrap.percentile(replicates_of(case, 1000), level=0.95, method="bootstrap", seed=11)
    assert interval is not None
    assert (interval.low, interval.high) == (0.0, 0.0)
    assert abs(interval.undefined_share - 0.32768) < 0.07


def test_no_interval_where_every_replicate_is_undefined() -> None:
    assert bootstrap.percentile(np.array([np.nan]), level=0.95, method="bootstrap", seed=1) is None


def test_the_seed_decides() -> None:
    ratings = Ratings.from_table([[40, 10], [12, 60]], ["a", "b"])
    statistic = cohen_statistic(off_diagonal(2))
    first, again, other = (bootstrap.interval(ratings, statistic, seed=seed, replicates=200) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_chunks_give_the_same_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = Ratings.from_matrix([[0, 1, 2, 0, 1], [0, 1, 1, 0, 2], [0, 2, 2, 1, 1]], [0, 1, 2])
    statistic = alpha_statistic(ordinal(ratings), 3)
    (whole,) = bootstrap.resample(ratings, [statistic], seed=2, replicates=50)
    monkeypatch.setattr(bootstrap, "CHUNK_CELLS", 20)
    monkeypatch.setattr(statistics, "KEPT_CELLS", 0)
    (parts,) = bootstrap.resample(ratings, [statistic], seed=2, replicates=50)
    assert np.allclose(whole, parts, equal_nan=True)


def test_every_stratum_keeps_its_items() -> None:
    codes, weights = np.array([[0, 0], [1, 1], [0, 0], [0, 1]]), np.array([3.0, 4.0, 5.0, 6.0])
    ratings = Ratings(codes, weights, ("a", "b"), strata=np.array([0, 0, 1, 1]))
    _, groups = bootstrap._groups(ratings, ratings)
    drawn = bootstrap._draw(np.random.default_rng(1), groups, 100, smoothed=False)
    assert drawn[:, :2].sum(axis=1).tolist() == [7.0] * 100
    assert drawn[:, 2:].sum(axis=1).tolist() == [11.0] * 100


def test_items_with_one_rating_are_drawn_apart() -> None:
    ratings = Ratings(np.array([[0, 0, -1], [1, 0, -1], [-1, 1, -1]]), np.array([3.0, 4.0, 500.0]), ("a", "b"))
    _, groups = bootstrap._groups(ratings, ratings)
    assert [items for _, items in groups] == [500.0, 7.0]


@pytest.mark.parametrize(
    ("n", "disagreements", "value", "small"),
    [(99, 20, 0.5, True), (100, 20, 0.5, False), (500, 4, 0.9, True), (500, 5, 0.9, False), (500, 9, 1.0, True)],
)
def test_the_smoothed_interval_takes_over_where_the_sample_is_too_small(
    n: float, disagreements: float, value: float, small: bool
) -> None:
    assert bootstrap.too_small(n, disagreements, value) is small


def test_perfect_agreement_has_no_interval_of_one_point() -> None:
    ratings = Ratings.from_table([[30, 0], [0, 170]], ["a", "b"])
    interval = bootstrap.interval(ratings, cohen_statistic(off_diagonal(2)), seed=4)
    assert interval is not None
    assert interval.method == "smoothed"
    assert interval.low < 0.99
    assert interval.high == 1.0


def test_the_bootstrap_spreads_as_the_standard_error_says() -> None:
    from agreement.coefficients import influence

    rng = np.random.default_rng(8)
    truth = rng.integers(4, size=600)
    rows = [np.where(rng.random(600) < 0.7, truth, rng.integers(4, size=600)) for _ in range(3)]
    rows[2][:200] = -1
    ratings = Ratings.from_codes(rows, [0, 1, 2, 3])
    statistic = alpha_statistic(ordinal(ratings), 4)
    (values,) = bootstrap.resample(ratings, [statistic], seed=3, replicates=2000)
    assert math.isclose(values.std(), influence.standard_errors(statistic, ratings)[0], rel_tol=0.1)
