"""What must hold for every table: under Hypothesis, with warnings as errors."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.coefficients import COEFFICIENTS, MISSING, Ratings, summarise
from agreement.coefficients.distances import linear

EXAMPLES = settings(max_examples=50, deadline=None, derandomize=True)


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@st.composite
def tables(draw: st.DrawFn, raters: int | None = None, missing: bool = True) -> Ratings:
    """Ratings of 2 to 4 raters and 2 to 4 labels, which may be empty, constant or full of holes."""
    n_raters = raters or draw(st.integers(2, 4))
    n_labels = draw(st.integers(2, 4))
    code = st.integers(MISSING if missing else 0, n_labels - 1)
    rows = draw(st.lists(st.tuples(*[code] * n_raters), max_size=12))
    weights = draw(st.lists(st.integers(1, 40), min_size=len(rows), max_size=len(rows)))
    codes = np.array(rows, dtype=np.int64).reshape(len(rows), n_raters)
    return Ratings(codes, np.array(weights, dtype=float), tuple(range(n_labels)), values=tuple(range(n_labels)))


def values(ratings: Ratings) -> dict[str, float | str | None]:
    """Every coefficient that applies: its value, or why it has none."""
    answers = {key: each.function(ratings) for key, each in COEFFICIENTS.items() if each.applies(ratings, "ratio")}
    return {key: answer.undefined if answer.value is None else answer.value for key, answer in answers.items()}


def same(first: dict[str, float | str | None], second: dict[str, float | str | None]) -> bool:
    return first.keys() == second.keys() and all(
        math.isclose(value, second[key], rel_tol=1e-9, abs_tol=1e-9)
        if isinstance(value, float) and isinstance(second[key], float)
        else value == second[key]
        for key, value in first.items()
    )


@EXAMPLES
@given(tables())
def test_every_figure_is_a_number_or_undefined(ratings: Ratings) -> None:
    def walk(part: object) -> Iterator[object]:
        if isinstance(part, dict):
            for each in part.values():
                yield from walk(each)
        elif isinstance(part, list):
            for each in part:
                yield from walk(each)
        else:
            yield part

    answer = summarise(ratings, "ordinal", seed=1, replicates=20)
    numbers = [leaf for leaf in walk(answer) if isinstance(leaf, float)]
    assert all(math.isfinite(number) for number in numbers)
    rows = [row for each in answer["statistics"].values() for row in (each if isinstance(each, list) else [each])]
    assert all(("value" in row) != ("undefined" in row) for row in rows)
    for row in rows:
        low, high = row.get("interval", (-1.0, 1.0))
        assert low <= high <= 1 + 1e-12
        assert row.get("method") != "smoothed" or low <= row["value"] <= high


@EXAMPLES
@given(tables())
def test_no_value_is_above_one(ratings: Ratings) -> None:
    assert all(value <= 1 + 1e-12 for value in values(ratings).values() if isinstance(value, float))


@EXAMPLES
@given(tables(raters=2, missing=False))
def test_unweighted_values_of_complete_pairs_are_not_below_minus_one(ratings: Ratings) -> None:
    unweighted = ("cohen_kappa", "scott_pi", "gwet_ac1", "krippendorff_alpha_nominal", "pabak", "percent_agreement")
    found = values(ratings)
    assert all(found[key] >= -1 - 1e-12 for key in unweighted if isinstance(found.get(key), float))  # type: ignore[operator]


@EXAMPLES
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(ratings: Ratings, random: object) -> None:
    order = list(range(len(ratings.weights)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = replace(ratings, codes=ratings.codes[order], weights=ratings.weights[order])
    assert same(values(ratings), values(shuffled))


@EXAMPLES
@given(tables())
def test_splitting_a_weight_changes_nothing(ratings: Ratings) -> None:
    halves = np.concatenate([ratings.weights / 4, ratings.weights * 3 / 4])
    split = replace(ratings, codes=np.concatenate([ratings.codes, ratings.codes]), weights=halves)
    assert same(values(ratings), values(split))


@EXAMPLES
@given(tables(), st.data())
def test_the_order_of_the_raters_changes_nothing(ratings: Ratings, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(ratings.n_raters)))
    swapped = replace(ratings, codes=ratings.codes[:, order])
    assert same(values(ratings), values(swapped))


@EXAMPLES
@given(tables(), st.data())
def test_renaming_classes_changes_no_nominal_figure(ratings: Ratings, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(ratings.n_labels)))
    renamed = ratings.recode(order, ratings.labels)
    names = [key for key, each in COEFFICIENTS.items() if each.applies(ratings, "nominal")]
    before, after = values(ratings), values(replace(renamed, values=ratings.values))
    assert same({key: before[key] for key in names}, {key: after[key] for key in names})


@EXAMPLES
@given(tables())
def test_reversing_an_ordered_scale_changes_nothing_but_the_ratio_distance(ratings: Ratings) -> None:
    reversed_scale = ratings.recode(range(ratings.n_labels)[::-1], ratings.labels[::-1])
    before, after = values(ratings), values(replace(reversed_scale, values=ratings.values))
    for found in (before, after):
        found.pop("krippendorff_alpha_ratio")
    assert same(before, after)


@EXAMPLES
@given(tables())
def test_an_unused_class_changes_only_what_counts_declared_classes(ratings: Ratings) -> None:
    k = ratings.n_labels
    wider = replace(ratings, labels=tuple(range(k + 1)), values=tuple(range(k + 1)))
    before, after = values(ratings), values(wider)
    changed = {"gwet_ac1", "brennan_prediger", "pabak"} | {
        key for key in before if key.startswith(("gwet_ac2", "brennan"))
    }
    # One more step at the end scales linear and quadratic weights alike, which kappa does not feel.
    assert same(
        {key: value for key, value in before.items() if key not in changed},
        {key: value for key, value in after.items() if key not in changed},
    )


def test_an_unused_class_in_the_middle_changes_weighted_kappa() -> None:
    codes, weights = np.array([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [0, 2]]), np.array([5.0, 4, 5, 2, 3, 1])
    narrow = Ratings(codes, weights, ("low", "medium", "high"))
    wide = Ratings(np.where(codes == 2, 3, codes), weights, ("low", "medium", "unused", "high"))
    assert linear(wide)(np.ones(4))[1, 3] == 2 / 3
    # In fractions: with one item less said (medium, high) both are 110/167, and only rounding tells them apart.
    assert values_of(narrow, "weighted_kappa_linear") == pytest.approx(23 / 37, abs=1e-12)
    assert values_of(wide, "weighted_kappa_linear") == pytest.approx(17 / 28, abs=1e-12)


def values_of(ratings: Ratings, key: str) -> float | None:
    return COEFFICIENTS[key].function(ratings).value


@EXAMPLES
@given(tables(raters=2, missing=False))
def test_kappa_is_the_mean_of_the_per_class_kappas_weighted_by_their_chance(ratings: Ratings) -> None:
    statistics = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]
    rows = [row for row in statistics["per_class_kappa"] if "value" in row]
    kappa = statistics["cohen_kappa"].get("value")
    if kappa is not None:
        weights = [1 - row["expected"] for row in rows]
        mean = sum(w * row["value"] for w, row in zip(weights, rows, strict=True)) / sum(weights)
        assert math.isclose(mean, kappa, abs_tol=1e-12)


@EXAMPLES
@given(tables(raters=2, missing=False))
def test_two_raters_conger_is_cohen_and_fleiss_is_scott(ratings: Ratings) -> None:
    from_two = {
        key: COEFFICIENTS[key].function(ratings).value
        for key in ("conger_kappa", "cohen_kappa", "fleiss_kappa_gwet", "scott_pi", "pooled_pairwise_cohen_kappa")
    }
    cohen, scott = from_two["cohen_kappa"], from_two["scott_pi"]
    if cohen is None or scott is None:
        assert set(from_two.values()) == {None}
    else:
        assert math.isclose(from_two["conger_kappa"] or 0, cohen, abs_tol=1e-12)
        assert math.isclose(from_two["pooled_pairwise_cohen_kappa"] or 0, cohen, abs_tol=1e-12)
        assert math.isclose(from_two["fleiss_kappa_gwet"] or 0, scott, abs_tol=1e-12)


@EXAMPLES
@given(tables(raters=2, missing=False).filter(lambda ratings: ratings.n_labels == 2))
def test_kappa_follows_from_pabak_prevalence_and_bias(ratings: Ratings) -> None:
    # Byrt, Bishop & Carlin 1993
    statistics = summarise(ratings, "nominal", seed=1, interval=False)["statistics"]
    if "value" in statistics["cohen_kappa"]:
        prevalence = statistics["prevalence_index"]["value"] ** 2
        bias = statistics["bias_index"]["value"] ** 2
        kappa = (statistics["pabak"]["value"] - prevalence + bias) / (1 - prevalence + bias)
        assert math.isclose(kappa, statistics["cohen_kappa"]["value"], abs_tol=1e-9)
