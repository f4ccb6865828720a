import numpy as np
import pytest

from agreement.coefficients import MISSING, Ratings
from agreement.coefficients.ratings import DENSE_CELLS, tabulate


def patterns(ratings: Ratings) -> dict[tuple[int, ...], float]:
    return {tuple(int(code) for code in row): float(n) for row, n in zip(ratings.codes, ratings.weights, strict=True)}


def test_labels_are_told_apart_by_type_and_value() -> None:
    ratings = Ratings.from_pairs([1, "1", True], ["1", 1, True], labels=[1, "1", True])
    assert patterns(ratings) == {(0, 1): 1.0, (1, 0): 1.0, (2, 2): 1.0}


def test_one_and_one_point_nought_are_the_same_number() -> None:
    assert patterns(Ratings.from_pairs([1], [1.0], labels=[1])) == {(0, 0): 1.0}


def test_empty_text_and_nan_text_are_labels() -> None:
    ratings = Ratings.from_pairs(["", "nan", None], ["nan", "nan", ""], labels=["", "nan"])
    assert patterns(ratings) == {(0, 1): 1.0, (1, 1): 1.0, (MISSING, 0): 1.0}


def test_table_is_kept() -> None:
    ratings = Ratings.from_table([[4, 0], [1, 2]], labels=["a", "b"])
    assert ratings.table().tolist() == [[4.0, 0.0], [1.0, 2.0]]


def test_pair_uses_shared_items_only() -> None:
    ratings = Ratings.from_matrix([["a", "b", None], ["a", None, "b"], ["b", "b", "b"]], labels=["a", "b"])
    assert patterns(ratings.pair(0, 2)) == {(0, 1): 1.0, (1, 1): 1.0}


def test_counts_are_ratings_per_label() -> None:
    ratings = Ratings.from_matrix([["a"], [None], ["a"]], labels=["a", "b"])
    assert ratings.counts().tolist() == [[2.0, 0.0]]


def test_forgetting_raters_puts_equal_count_vectors_together() -> None:
    ratings = Ratings.from_matrix([["a", "b", None], ["b", "a", "a"]], labels=["a", "b"])
    assert patterns(ratings.forget_raters()) == {(1, 0): 2.0, (0, MISSING): 1.0}


def test_forgetting_raters_keeps_strata_apart() -> None:
    ratings = Ratings(np.array([[0, 1], [1, 0]]), np.array([1.0, 2.0]), ("a", "b"), strata=np.array([0, 1]))
    forgotten = ratings.forget_raters()
    assert (forgotten.weights.tolist(), np.asarray(forgotten.strata).tolist()) == ([1.0, 2.0], [0, 1])


def test_numbers_of_items() -> None:
    ratings = Ratings.from_matrix(
        [["a", "a", None, None], ["a", "b", "b", None], [None, "b", None, None]], labels=["a", "b"]
    )
    assert (ratings.n_rated, ratings.n_paired, ratings.n_disputed) == (3.0, 2.0, 1.0)


def test_recode_merges_labels() -> None:
    ratings = Ratings.from_pairs(["a", "b", "c"], ["b", "b", "a"], labels=["a", "b", "c"])
    assert patterns(ratings.recode([0, 0, 1], ["ab", "c"])) == {(0, 0): 2.0, (1, 0): 1.0}


@pytest.mark.parametrize("n_labels", [2, 14, 300, 70_000])
def test_tabulate_agrees_with_unique_rows(n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    columns = [rng.integers(-1, min(n_labels, 9), size=500) for _ in range(3)]
    found, counts = tabulate(columns, [n_labels] * 3)
    wanted, totals = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    assert (n_labels + 1) ** 3 > DENSE_CELLS or n_labels < 300
    assert found.tolist() == wanted.tolist()
    assert counts.tolist() == totals.tolist()


def test_tabulate_takes_more_cells_than_a_number_holds() -> None:
    columns = [np.array([0, 1, 0]) for _ in range(20)]
    found, counts = tabulate(columns, [1000] * 20, np.array([1.0, 2.0, 3.0]))
    assert (found[:, 0].tolist(), counts.tolist()) == ([0, 1], [4.0, 2.0])


def test_from_codes_counts_narrow_types_with_missing() -> None:
    columns = [np.array([0, -1, 1, 1], dtype=np.int8), np.array([0, 0, 1, 1], dtype=np.int8)]
    assert patterns(Ratings.from_codes(columns, ["a", "b"])) == {(-1, 0): 1.0, (0, 0): 1.0, (1, 1): 2.0}


def test_from_codes_keeps_strata() -> None:
    columns = [np.array([0, 0, 1]), np.array([0, 0, 1])]
    ratings = Ratings.from_codes(columns, ["a", "b"], strata=np.array([0, 1, 1]))
    assert (ratings.weights.tolist(), np.asarray(ratings.strata).tolist()) == ([1.0, 1.0, 1.0], [0, 1, 1])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Ratings.from_pairs(["x"], ["a"], ["a"]), "Label 'x' of rater 1 on item 1"),
        (lambda: Ratings.from_pairs(["a"], ["a"], ["a", "a"]), "declared twice"),
        (lambda: Ratings.from_pairs(["a"], ["a"], ["a"], raters=("ann", "ann")), "Rater 'ann' is named twice"),
        (lambda: Ratings.from_pairs(["a"], ["a", "a"], ["a"]), "a place for every item"),
        (lambda: Ratings.from_pairs(["a"], ["a"], ["a"], values=(1.0, 2.0)), "1 labels need as many values"),
        (lambda: Ratings.from_table([[1, 2]], ["a", "b"]), "as many rows and columns"),
        (lambda: Ratings.from_table([[-1, 2], [0, 0]], ["a", "b"]), "not negative"),
        (lambda: Ratings.from_codes([np.array([2])], ["a"]), "Code 2 is outside"),
        (lambda: Ratings(np.array([[0, 3]]), np.array([1.0]), ("a", "b")), "Code 3 is outside"),
        (lambda: Ratings(np.array([[0, 0]]), np.array([0.0]), ("a", "b")), "above 0"),
        (lambda: Ratings(np.array([[0, 0]]), np.array([1.0, 1.0]), ("a", "b")), "as many weights"),
        (lambda: Ratings(np.array([[0.5, 0]]), np.array([1.0]), ("a", "b")), "whole numbers"),
        (lambda: Ratings(np.array([[0, 0]]), np.array([1.0]), ("a",), populations=(5.0,)), "need strata"),
    ],
)
def test_wrong_arguments_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()  # type: ignore[operator]
