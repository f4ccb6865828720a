"""The pseudo-item, and that the smoothed interval covers where the bootstrap does not."""

import numpy as np
import pytest

from agreement.coefficients import Ratings, bootstrap, smoothing
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.distances import nominal
from agreement.coefficients.krippendorff import alpha_statistic
from agreement.coefficients.statistic import off_diagonal


def smoothed(ratings: Ratings) -> Ratings:
    return smoothing.with_pseudo_item(ratings, np.random.default_rng(1))


def test_two_raters_get_one_over_k_squared_in_every_cell() -> None:
    table = [[4, 0, 1], [0, 3, 0], [0, 0, 2]]
    ratings = smoothed(Ratings.from_table(table, ["a", "b", "c"]))
    assert np.allclose(ratings.table(), np.array(table) + 1 / 9)


def test_one_item_is_added_in_all() -> None:
    ratings = Ratings.from_matrix([[0, 1, 1, None], [0, 0, None, 1], [1, None, 1, None]], [0, 1])
    assert smoothed(ratings).weights.sum() == pytest.approx(ratings.weights.sum() + 1)


def test_the_pseudo_item_is_rated_by_those_who_rate_the_items() -> None:
    # Three people rotate in pairs: no pseudo-item of three ratings.
    ratings = Ratings.from_matrix([[0, 0, None], [0, None, 1], [None, 0, 1]], [0, 1])
    assert set(smoothed(ratings).sizes.tolist()) == {2}


def test_strata_share_it_by_their_items() -> None:
    codes, weights = np.array([[0, 0], [1, 1]]), np.array([30.0, 10.0])
    ratings = smoothed(Ratings(codes, weights, ("a", "b"), strata=np.array([0, 1])))
    totals = np.bincount(np.asarray(ratings.strata), weights=ratings.weights)
    assert np.allclose(totals, [30.75, 10.25])


def test_many_cells_are_sampled() -> None:
    rng = np.random.default_rng(2)
    ratings = Ratings.from_codes(rng.integers(20, size=(5, 40)), list(range(20)))
    added = smoothed(ratings)
    assert added.weights.sum() == pytest.approx(41)
    assert len(added.weights) <= 40 + smoothing.SAMPLED_CELLS


def many_labels(n_labels: int, n: int) -> Ratings:
    """Two raters who differ on three items of `n`."""
    first = np.arange(n) % n_labels
    second = np.where(np.arange(n) < 3, (first + 1) % n_labels, first)
    return Ratings.from_codes([first, second], list(range(n_labels)))


def test_sixty_four_labels_of_two_raters_are_enumerated() -> None:
    assert smoothed(many_labels(64, 128)).weights.min() == pytest.approx(1 / 4096)


def test_sampled_cells_give_the_interval_of_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, statistic = many_labels(66, 198), cohen_statistic(off_diagonal(66))
    sampled = bootstrap.interval(ratings, statistic, seed=1, replicates=400)
    monkeypatch.setattr(smoothing, "MAX_CELLS", 10_000)
    whole = bootstrap.interval(ratings, statistic, seed=1, replicates=400)
    assert sampled is not None
    assert whole is not None
    assert (sampled.low, sampled.high) == pytest.approx((whole.low, whole.high), abs=0.005)
    assert sampled.low < 0.97


def coverage(shares: list[float], kappa: float, n: int, samples: int, method: str | None) -> float:
    """Share of samples of two raters with a known kappa whose interval holds it."""
    rng = np.random.default_rng(17)
    p = np.array(shares)
    cells = (1 - kappa) * np.outer(p, p) + kappa * np.diag(p)
    statistic = cohen_statistic(off_diagonal(len(p)))
    hits = 0
    for _ in range(samples):
        table = rng.multinomial(n, cells.ravel()).reshape(cells.shape)
        ratings = Ratings.from_table(table, list(range(len(p))))
        seed = int(rng.integers(1 << 30))
        interval = bootstrap.interval(ratings, statistic, seed=seed, replicates=400, method=method)
        hits += interval is not None and interval.low <= kappa <= interval.high
    return hits / samples


def test_it_covers_high_kappas_of_small_samples_where_the_bootstrap_fails() -> None:
    # METHODS of the reference, section 3: 59.7 % for the percentile bootstrap, 95.2 % for Dirichlet 1.
    assert coverage([0.1, 0.9], 0.9, 50, 300, "bootstrap") < 0.75
    assert coverage([0.1, 0.9], 0.9, 50, 300, None) > 0.9


def test_it_covers_three_raters() -> None:
    rng = np.random.default_rng(23)
    kappa, hits, samples = 0.8, 0, 300
    for _ in range(samples):
        common = rng.random(30) < kappa
        rows = np.where(common, rng.integers(3, size=30), rng.integers(3, size=(3, 30)))
        ratings = Ratings.from_codes(rows, [0, 1, 2])
        statistic = alpha_statistic(nominal(ratings), 3)
        interval = bootstrap.interval(ratings, statistic, seed=int(rng.integers(1 << 30)), replicates=400)
        hits += interval is not None and interval.low <= kappa <= interval.high
    assert hits / samples > 0.9
