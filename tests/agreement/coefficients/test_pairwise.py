"""All pairs at once against each pair alone."""

import numpy as np
import pytest

from agreement.coefficients import Ratings, bootstrap, pairwise, summarise
from agreement.coefficients import statistic as statistics
from agreement.coefficients.cohen import cohen, cohen_se, cohen_statistic
from agreement.coefficients.distances import linear
from agreement.coefficients.light import mean_statistic, of_pairs, pooled_statistic
from agreement.coefficients.statistic import off_diagonal

KAPPA = cohen_statistic(off_diagonal(3))


def rated(raters_per_item: int, *, items: int = 1800, raters: int = 4) -> Ratings:
    """Items rated by so many of the raters in turns; the last rater says only "c"."""
    rng = np.random.default_rng(raters_per_item)
    truth = rng.integers(3, size=items)
    said = np.where(rng.random((raters, items)) < 0.8, truth, rng.integers(3, size=(raters, items)))
    said[-1] = 2
    order = np.argsort(rng.random((raters, items)), axis=0)
    return Ratings.from_codes(list(np.where(order < raters_per_item, said, -1).astype(np.int8)), ["a", "b", "c"])


@pytest.mark.parametrize("raters_per_item", [2, 3])
def test_values_and_errors_are_those_of_each_pair_alone(raters_per_item: int) -> None:
    ratings = rated(raters_per_item)
    pairs = list(ratings.pairs.values())
    weighted = cohen_statistic(np.asarray(linear(ratings).fixed))
    assert [each.value for each in pairwise.estimates(pairs, KAPPA)] == [cohen(pair).value for pair in pairs]
    assert pairwise.standard_errors(pairs, weighted) == pytest.approx(
        [cohen_se(pair, linear(pair)).value for pair in pairs]
    )


def test_a_pair_without_shared_items_or_variation_has_no_value() -> None:
    ratings = Ratings.from_matrix([["a", "a", None], ["a", "a", None], [None, None, "b"]], ["a", "b", "c"])
    pairs = list(ratings.pairs.values())
    assert [each.undefined for each in pairwise.estimates(pairs, KAPPA)] == ["no_variation", "no_pairs", "no_pairs"]
    assert pairwise.standard_errors(pairs, KAPPA) == [None, None, None]


def test_pairs_that_share_items_have_their_own_intervals() -> None:
    ratings = rated(3)
    rows = summarise(ratings, "nominal", seed=5, replicates=300)["statistics"]["pairwise_cohen_kappa"]
    for row, pair in zip(rows, ratings.pairs.values(), strict=True):
        alone = bootstrap.interval(pair, KAPPA, seed=5, replicates=300)
        assert alone is not None
        assert row["interval"] == pytest.approx([alone.low, alone.high])
        assert (row["method"], row["undefined_share"]) == (alone.method, alone.undefined_share)


def test_pairs_that_share_no_item_are_read_from_one_draw_of_all_items() -> None:
    ratings = rated(2)
    rows = summarise(ratings, "nominal", seed=5)["statistics"]["pairwise_cohen_kappa"]
    together = of_pairs(KAPPA, list(ratings.pairs), average=False)
    (values,) = bootstrap.resample(ratings, [together], seed=5)
    assert values.shape == (bootstrap.REPLICATES, 6)
    for place, (row, pair) in enumerate(zip(rows, ratings.pairs.values(), strict=True)):
        assert row["method"] == "bootstrap"
        assert row["interval"] == pytest.approx(np.quantile(values[:, place], [0.025, 0.975]))
        # Some 300 items: a number that is no longer fixed makes next to no difference.
        alone = bootstrap.interval(pair, KAPPA, seed=5)
        assert alone is not None
        assert row["interval"] == pytest.approx([alone.low, alone.high], abs=0.02)


def test_a_small_pair_has_the_smoothed_interval_that_it_has_alone() -> None:
    ratings = rated(2, items=90)
    rows = summarise(ratings, "nominal", seed=5, replicates=300)["statistics"]["pairwise_cohen_kappa"]
    for row, pair in zip(rows, ratings.pairs.values(), strict=True):
        alone = bootstrap.interval(pair, KAPPA, seed=5, replicates=300)
        assert alone is not None
        assert row["method"] == alone.method == "smoothed"
        assert row["interval"] == pytest.approx([alone.low, alone.high])


@pytest.mark.parametrize("kept_cells", [0, statistics.KEPT_CELLS])
@pytest.mark.parametrize("raters_per_item", [2, 3, 4])
def test_sums_of_pairs_are_those_of_the_features(
    raters_per_item: int, kept_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agreement.coefficients.light.KEPT_CELLS", kept_cells)
    ratings = rated(raters_per_item)
    weights = np.random.default_rng(1).random((7, len(ratings.weights)))
    for statistic in (mean_statistic(ratings), pooled_statistic(ratings)):
        dense = weights @ statistic.features(ratings.codes)
        assert np.allclose(statistic.sums(ratings.codes, weights), dense)
        assert np.allclose(statistic.sums(ratings.codes, weights[0]), dense[0])


def test_a_draw_that_is_asked_twice_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(2)
    for cells in (bootstrap.CHUNK_CELLS, 200):
        monkeypatch.setattr(bootstrap, "CHUNK_CELLS", cells)
        draw = bootstrap.Draw(ratings, seed=2, replicates=40)
        first, again = (draw.values([mean_statistic(ratings)])[0] for _ in range(2))
        assert (first == again).all()
        assert (first == bootstrap.resample(ratings, [mean_statistic(ratings)], seed=2, replicates=40)[0]).all()
