"""Every entry of the registry keeps the whole contract."""

import math
import warnings

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS, LEVELS, REASONS, Coefficient, Estimate, Ratings, bootstrap, multilabel
from agreement.coefficients.distances import DISTANCES, Weighting


def some_ratings(coefficient: Coefficient, rows: list[list[int | None]] | None = None) -> Ratings:
    """Ratings that the coefficient applies to."""
    if "multilabel" in coefficient.levels and len(coefficient.levels) == 1:
        sets = [[{"a"}, {"b"}, {"a", "b"}, {"a"}], [{"a"}, {"a"}, {"a", "b"}, set()]]
        return multilabel.from_sets(sets, ["a", "b"])
    if rows is None:
        rows = [[0, 0, 1, 1, 2, 1], [0, 1, 1, 1, 2, 2], [0, 0, 1, 2, 2, 1]]
        if coefficient.equal is False:
            rows[2][0] = None
    if coefficient.raters == "two":
        rows = rows[:2]
    n_labels = coefficient.n_labels or 3
    clipped = [[None if label is None else min(label, n_labels - 1) for label in row] for row in rows]
    return Ratings.from_matrix(clipped, list(range(n_labels)), values=tuple(range(n_labels)))


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_coefficient_keeps_the_contract(coefficient: Coefficient) -> None:
    ratings = some_ratings(coefficient)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = coefficient.function(ratings)
    assert coefficient.title
    assert coefficient.source
    assert set(coefficient.levels) <= set(LEVELS)
    assert any(coefficient.applies(ratings, level) for level in coefficient.levels)
    assert isinstance(answer, Estimate)
    assert answer.value is not None
    assert answer.value <= 1
    assert answer.n == ratings.n_paired


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_coefficient_and_its_statistic_say_the_same(coefficient: Coefficient) -> None:
    ratings = some_ratings(coefficient)
    answer = coefficient.function(ratings)
    again = coefficient.statistic(ratings)
    usable = ratings.comparable()
    value = again.values(again.sums(usable.codes, usable.weights))
    assert value.shape == (1,)
    assert math.isclose(float(value[0]), answer.value or 0.0, abs_tol=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_coefficient_has_an_interval(coefficient: Coefficient) -> None:
    ratings = some_ratings(coefficient)
    statistic = coefficient.statistic(ratings)
    interval = bootstrap.interval(ratings, statistic, seed=3, replicates=200)
    assert interval is not None
    assert interval.low <= (coefficient.function(ratings).value or 0.0) <= interval.high
    assert interval.method == "smoothed"


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_coefficient_of_no_item_is_undefined(coefficient: Coefficient) -> None:
    ratings = some_ratings(coefficient)
    nobody = ratings.keep(np.zeros(len(ratings.weights), dtype=bool))
    answer = coefficient.function(nobody)
    assert (answer.value, answer.undefined, answer.n) == (None, "no_pairs", 0.0)


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_coefficient_of_one_label_only_is_undefined_where_chance_is_complete(coefficient: Coefficient) -> None:
    if coefficient.levels == ("multilabel",):
        constant = multilabel.from_sets([[{"a"}] * 3, [{"a"}] * 3], ["a", "b"])
    else:
        rows: list[list[int | None]] = [[1] * 4, [1] * 4, [1] * 4]
        if coefficient.equal is False:
            rows[2][0] = None
        constant = some_ratings(coefficient, rows)
    answer = coefficient.function(constant)
    if coefficient.key.startswith(("percent", "gwet", "brennan", "pabak")):
        assert answer.value == 1.0
    else:
        assert answer.undefined == ("no_defined_pair" if coefficient.key.startswith("mean_") else "no_variation")


@pytest.mark.parametrize("key", [key for key in COEFFICIENTS if key.startswith(("gwet", "brennan"))])
def test_one_declared_label_is_undefined(key: str) -> None:
    answer = COEFFICIENTS[key].function(Ratings.from_pairs(["a", "a"], ["a", "a"], ["a"]))
    assert answer.undefined == "one_category"


def test_keys_are_the_names() -> None:
    assert [entry.key for entry in COEFFICIENTS.values()] == list(COEFFICIENTS)


@pytest.mark.parametrize("weighting", DISTANCES.values(), ids=DISTANCES)
def test_distance_keeps_the_contract(weighting: Weighting) -> None:
    sets = multilabel.from_sets([[{"a"}, {"a", "b"}, set()], [{"b"}, {"a"}, {"a"}]], ["a", "b"])
    numbers = Ratings.from_pairs([0, 1, 2], [0, 2, 1], [0, 1, 2], values=(0.0, 1.0, 3.0))
    ratings = sets if weighting.levels == ("multilabel",) else numbers
    counts = np.arange(1.0, ratings.n_labels + 1)
    matrix = weighting.make(ratings)(counts)
    assert matrix.shape == (ratings.n_labels, ratings.n_labels)
    assert np.diagonal(matrix).tolist() == [0.0] * ratings.n_labels
    assert (matrix >= 0).all()
    assert weighting.title
    assert set(weighting.levels) <= set(LEVELS)


def test_an_estimate_has_a_value_or_a_reason() -> None:
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate(None)
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate(1.0, undefined="no_pairs")
    with pytest.raises(ValueError, match="is not a reason"):
        Estimate(None, undefined="because")
    with pytest.raises(ValueError, match="must be finite"):
        Estimate(float("nan"))


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_sentence(reason: str) -> None:
    assert Estimate(None, undefined=reason).sentence.endswith(".")
