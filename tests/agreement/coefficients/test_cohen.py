import pytest

from agreement.coefficients import Ratings, intrarater
from agreement.coefficients.cohen import cohen
from agreement.coefficients.distances import custom, ordinal


def test_asymmetric_weights_are_row_against_column() -> None:
    # Of three disagreements, first "a" against second "b" costs 1 and the other way round 3.
    ratings = Ratings.from_table([[5, 2], [1, 4]], ["a", "b"])
    answer = cohen(ratings, custom([[0, 1], [3, 0]]))
    assert answer.value == pytest.approx(1 - (5 / 12) / (7 * 6 / 144 + 3 * 5 * 6 / 144))


def test_scaling_the_weights_changes_nothing() -> None:
    ratings = Ratings.from_table([[5, 2, 1], [1, 4, 0], [0, 2, 5]], ["a", "b", "c"])
    weights = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    scaled = [[10 * weight for weight in row] for row in weights]
    assert cohen(ratings, custom(weights)).value == pytest.approx(cohen(ratings, custom(scaled)).value)


def test_a_distance_that_depends_on_the_counts_is_refused() -> None:
    ratings = Ratings.from_table([[5, 2], [1, 4]], ["a", "b"])
    with pytest.raises(ValueError, match="depends on the label counts"):
        cohen(ratings, ordinal(ratings))


def test_a_distance_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="2 labels need a distance of as many rows"):
        cohen(Ratings.from_table([[5, 2], [1, 4]], ["a", "b"]), custom([[0]]))


def test_the_same_person_twice() -> None:
    twice = {
        "ann": intrarater.repeated(["a", "b", "a", "b"], ["a", "b", "a", "b"], ["a", "b"]),
        "ben": intrarater.repeated(["a", "b", "a", "b"], ["a", "b", "b", "a"], ["a", "b"]),
    }
    assert {name: answer.value for name, answer in intrarater.per_rater(twice).items()} == {"ann": 1.0, "ben": 0.0}
    pooled = intrarater.pooled(twice)
    assert (pooled.value, pooled.n) == (0.5, 8.0)
