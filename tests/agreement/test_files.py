"""Ratings from files: layouts, labels, and memory that does not grow with the rows."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from agreement import codebooks, files
from agreement.codebooks import BadRatings, Declared
from agreement.coefficients.ratings import Ratings
from agreement.files import Layout

WHOLE, NOMINAL = Layout(), Declared()


def read(text: str, layout: Layout = WHOLE, declared: Declared = NOMINAL, name: str = "f.csv") -> Ratings:
    stream = io.BufferedReader(io.BytesIO(text.encode()))
    return files.read(stream, name, layout, declared).ratings


def patterns(ratings: Ratings) -> list[tuple[list[Any], float]]:
    """Each pattern as labels with the items that show it."""
    labels = [*ratings.labels, None]
    rows = [[labels[code] for code in row] for row in ratings.codes]
    return sorted(zip(rows, ratings.weights.tolist(), strict=True), key=repr)


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


LONG = "item,rater,label\n1,r10,x\n1,r2,y\n2,r2,y\n2,r10,y\n3,r2,\n3,r10,x\n"


def test_long_file_is_matched_by_item_and_raters_stand_by_name() -> None:
    ratings = read(LONG)

    assert (ratings.raters, patterns(ratings)) == (
        ("r2", "r10"),
        [(["y", "x"], 1.0), (["y", "y"], 1.0), ([None, "x"], 1.0)],
    )


def test_wide_file_keeps_the_order_of_the_named_columns() -> None:
    ratings = read("text,b,a\none,x,y\ntwo,x,y\nthree,,y\n", Layout(raters=("b", "a")))

    assert (ratings.raters, patterns(ratings)) == (("b", "a"), [(["x", "y"], 2.0), ([None, "y"], 1.0)])


def test_item_may_stand_on_several_rows_of_a_wide_file() -> None:
    ratings = read("item,a,b\n1,x,\n2,y,y\n1,,y\n", Layout(raters=("a", "b")))

    assert patterns(ratings) == [(["x", "y"], 1.0), (["y", "y"], 1.0)]


def test_rows_are_items_where_that_is_said() -> None:
    ratings = read("item,a,b\nsame,x,x\nsame,x,x\n", Layout(raters=("a", "b"), item=""))

    assert patterns(ratings) == [(["x", "x"], 2.0)]


def test_column_of_counts_says_how_many_items_a_row_stands_for() -> None:
    ratings = read("a,b,n\nx,x,7\nx,y,0\ny,x,2\nx,x,1\n", Layout(raters=("a", "b"), count="n"))

    assert patterns(ratings) == [(["x", "x"], 8.0), (["y", "x"], 2.0)]


def test_item_that_nobody_rated_is_kept() -> None:
    ratings = read("a,b\nx,x\n,\n", Layout(raters=("a", "b")))

    assert (float(ratings.weights.sum()), ratings.n_rated) == (2.0, 1.0)


def test_exchangeable_raters_become_places() -> None:
    text = "item,rater,label\n" + "".join(f"{i},worker {i}{j},{'xy'[j]}\n" for i in range(3) for j in range(2))

    ratings = read(text, Layout(exchangeable=True))

    assert (ratings.raters, ratings.exchangeable, patterns(ratings)) == (("1", "2"), True, [(["x", "y"], 3.0)])


def test_header_without_rows_is_no_item_of_known_raters_and_labels() -> None:
    declared = Declared(labels=("x", "y"))

    ratings = read("a,b\n", Layout(raters=("a", "b")), declared)

    assert (ratings.raters, ratings.labels, ratings.n_rated) == (("a", "b"), ("x", "y"), 0)
    with pytest.raises(ValueError, match="a header and no rows"):
        read("a,b\n", Layout(raters=("a", "b")))


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["10", "9", "2.5"], ("2.5", "9", "10")),
        (["10", "9", "b"], ("10", "9", "b")),
    ],
)
def test_undeclared_labels_are_ordered_as_numbers_where_all_are(cells: list[str], labels: tuple[str, ...]) -> None:
    assert read("a,b\n" + "".join(f"{cell},{cell}\n" for cell in cells), Layout(raters=("a", "b"))).labels == labels


def test_numbers_of_an_ordered_scale_are_its_values() -> None:
    layout, text = Layout(raters=("a", "b")), "a,b\n10,9\n"

    assert [read(text, layout, Declared(level)).values for level in ("nominal", "ordinal")] == [None, (9.0, 10.0)]


def test_declared_values_stand_before_numbers() -> None:
    declared = Declared("ordinal", labels=("0", "1"), values=(1.0, 2.0))

    assert read("a,b\n0,1\n", Layout(raters=("a", "b")), declared).values == (1.0, 2.0)


def test_numbers_declared_in_json_are_found_in_a_table() -> None:
    declared = Declared(labels=(1, True, "x"))

    ratings = read("a,b\n1,true\nx,x\n", Layout(raters=("a", "b")), declared)

    assert (ratings.labels, len(patterns(ratings))) == ((1, True, "x"), 2)


def test_nothing_but_null_is_missing_in_json() -> None:
    rows = [{"a": label, "b": label} for label in ("", "nan", 0, False, None, "null")]

    ratings = read(lines(rows), Layout(raters=("a", "b")), name="f.jsonl")

    assert (ratings.n_labels, ratings.n_rated) == (5, 5.0)


def test_items_are_told_apart_by_json_type() -> None:
    rows = [{"item": item, "rater": rater, "label": "x"} for item in (1, "1", True) for rater in ("a", "b")]

    assert patterns(read(lines(rows), name="f.jsonl")) == [(["x", "x"], 3.0)]


def test_array_of_json_is_read_like_its_lines() -> None:
    rows = [{"a": 1, "b": 2}, {"a": 2, "b": 2}]
    layout = Layout(raters=("a", "b"))

    array, by_line = read(json.dumps(rows), layout, name="f.json"), read(lines(rows), layout, name="f.jsonl")

    assert patterns(array) == patterns(by_line)


def test_sets_are_ordered_by_their_declared_labels() -> None:
    rows = [{"a": ["x", "y"], "b": ["y", "x"]}, {"a": [], "b": ["x"]}, {"a": ["y"], "b": None}]

    ratings = read(lines(rows), Layout(raters=("a", "b")), Declared("multilabel", labels=("y", "x")), name="f.jsonl")

    assert ratings.labels == (frozenset(), frozenset({"y"}), frozenset({"x"}), frozenset({"x", "y"}))


def test_label_of_a_set_that_is_not_declared_is_refused() -> None:
    declared = Declared("multilabel", labels=("x", "y"))

    with pytest.raises(BadRatings, match=r'^Line 3: "z" is none of the declared labels "x", "y"\.$'):
        read("a,b\nx;y,x\nx;z,x\n", Layout(raters=("a", "b")), declared)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b,c", (("a", "b", "c"), False)),
        ('["a", 1, true, ""]', (("a", 1, True, ""), True)),
    ],
)
def test_listed(text: str, expected: tuple[tuple[Any, ...], bool]) -> None:
    assert codebooks.listed(text) == expected


@pytest.mark.parametrize("text", ["[[0, 1], [2, 0]]", "0,1\n2,0\n", "0 1\n2 0", "0\t1\n\n2\t0\n"])
def test_matrix_of_weights_in_every_form(text: str) -> None:
    assert codebooks.matrix(text) == [[0.0, 1.0], [2.0, 0.0]]


class Endless(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        self.rows, self.left = rows, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.left or next(self.rows, b"")
        size = min(len(buffer), len(found))
        buffer[:size], self.left = found[:size], found[size:]
        return size


def peak_of(rows: int) -> int:
    """Bytes that reading a wide file of that many rows takes at its peak."""
    block = b"".join(b"%s,%d,%d\n" % (b"text" * 50, i % 5, i % 3) for i in range(200))
    stream = io.BufferedReader(Endless(iter([b"text,a,b\n", *[block] * (rows // 200)])))
    tracemalloc.start()
    try:
        found = files.read(stream, "f.csv", Layout(raters=("a", "b")), NOMINAL)
        assert found.ratings.n_paired == rows
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_rows_of_a_wide_file() -> None:
    small, large = peak_of(2_000), peak_of(8_000)

    assert large < 1.2 * small + 20_000
