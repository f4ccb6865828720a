"""Ratings from a file of a spreadsheet or a program, without a project: CSV, TSV, JSONL or JSON, long or wide.

Long files have one rating a row, wide ones one item a row (or, with a column of counts, one pattern of labels and the
number of items that show it). Only distinct patterns are kept, and for every item of a file that names items one small
number beside, so that memory does not grow with the rows. Whatever is wrong is refused with its place, before any
figure is made. Pure: no Django.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement.codebooks import BadRatings, Codebook, Declared, check_once, number, quoted, text_of
from agreement.coefficients.ratings import MISSING, Label, Ratings, identity
from projects.formats import FORMATS, NoRows, Row, guess_format
from projects.task_types import Json

HEAD = 4096
# A row stands for so many items at most: above it sums of counts are no longer exact.
MOST_ITEMS = 10**12
ITEM = "item"


@dataclass(frozen=True)
class Layout:
    """Which column holds what. With `raters` the file is wide: one column for each of them.

    Parameters
    ----------
    item : the column of the item; where it is not named, "item", which a wide file need not have; "" for none
    rater, label : the other columns of a long file
    count : a wide file's column with the number of items that a row stands for, "" for one each
    exchangeable : raters are places of ratings, not people; nothing that depends on who rated is offered
    """

    item: str | None = None
    rater: str = "rater"
    label: str = "label"
    raters: tuple[str, ...] = ()
    count: str = ""
    exchangeable: bool = False

    def check(self) -> None:
        """Refuse what no file could fit."""
        check_once(self.raters, "Rater", "named")
        if len(self.raters) == 1:
            raise BadRatings(f"Agreement needs two raters, and only {quoted(self.raters[0])} is named.")
        if self.count and not self.raters:
            raise BadRatings("A column of counts belongs to a wide file: name the columns of the raters with it.")
        if self.count in self.raters:
            raise BadRatings(f"The column {quoted(self.count)} cannot be a rater and the number of items at once.")


@dataclass(frozen=True)
class Loaded:
    """What a file held. `classes` are the labels that are in the sets of multi-label ratings."""

    ratings: Ratings
    classes: tuple[Label, ...] = ()


def read(
    stream: io.BufferedReader, name: str, layout: Layout, declared: Declared, file_format: str | None = None
) -> Loaded:
    """The ratings that `stream` holds, as `layout` finds and `declared` understands them.

    Raises
    ------
    BadRatings, FormatError : what is wrong, and where; no rating is left out in silence
    """
    layout.check()
    declared.check()
    source = Source(file_format or guess_format(name, stream.peek(HEAD)[:HEAD]), stream)
    codebook = Codebook(declared, texts=source.table)
    found = _wide(source, layout, codebook) if layout.raters else _long(source, layout, codebook)
    return Loaded(_ratings(found, codebook, layout), tuple(codebook.classes))


class Source:
    """The rows of a file, and the place of the one that was read last."""

    def __init__(self, key: str, stream: io.BufferedReader) -> None:
        self.table = key in ("csv", "tsv")
        self._rows = FORMATS[key].read(stream)
        self._what = "Row" if key == "json" else "Line"
        self._number = 0

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        return map(self._record, self._rows)

    def where(self) -> str:
        return f"{self._what} {self._number}"

    def _record(self, row: Row) -> Mapping[str, Json]:
        self._number = row.number
        if row.record is None:
            raise BadRatings(row.problem or f"{self.where()} cannot be read.")
        return row.record


# -- patterns ----------------------------------------------------------------------------------------------------------

# (rater, code) of the ratings that are there, by rater.
Pattern = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Found:
    """The distinct patterns, how many items show each, and the raters in the order of their columns."""

    counts: Mapping[Pattern, int]
    raters: Sequence[str]


class Items:
    """Patterns of items whose ratings come in any order. Of an item only the number of its pattern is kept."""

    def __init__(self) -> None:
        self._patterns: list[Pattern] = [()]
        self._numbers: dict[Pattern, int] = {(): 0}
        self._next: dict[tuple[int, int, int], int] = {}
        self._of_item: dict[Hashable, int] = {}

    def add(self, item: Hashable, rater: int, code: int) -> int:
        """Give `item` one more rating, and return MISSING; or the code that it has by this rater already."""
        before = self._of_item.get(item, 0)
        if code == MISSING:
            self._of_item[item] = before
            return MISSING
        after = self._next.get((before, rater, code))
        if after is None:
            pattern = self._patterns[before]
            for other, given in pattern:
                if other == rater:
                    return given
            after = self._next[before, rater, code] = self._number_of(tuple(sorted((*pattern, (rater, code)))))
        self._of_item[item] = after
        return MISSING

    def counts(self) -> dict[Pattern, int]:
        return {self._patterns[place]: n for place, n in Counter(self._of_item.values()).items()}

    def _number_of(self, pattern: Pattern) -> int:
        place = self._numbers.setdefault(pattern, len(self._patterns))
        if place == len(self._patterns):
            self._patterns.append(pattern)
        return place


def _long(source: Source, layout: Layout, codebook: Codebook) -> Found:
    rows, items, places = iter(source), Items(), dict[str, int]()
    first, name = next(rows), layout.item or ITEM
    _check_columns(first, (name, layout.rater, layout.label))
    for record in _chained(first, rows):
        item, rater = _item(record, name, source), _rater(record, layout.rater, source)
        if layout.label not in record:
            raise BadRatings(f"{source.where()} has no {quoted(layout.label)}: write null where a rating is missing.")
        code = codebook.code(record[layout.label], source.where)
        given = items.add(item, places.setdefault(rater, len(places)), code)
        if given != MISSING:
            raise BadRatings(_twice(source, rater, item, codebook.labels[given]))
    if len(places) < 2:
        raise BadRatings(f"Agreement needs two raters, and {quoted(next(iter(places)))} is the only one in the file.")
    return Found(items.counts(), list(places))


def _wide(source: Source, layout: Layout, codebook: Codebook) -> Found:
    rows = iter(source)
    try:
        first = next(rows)
    except NoRows as error:
        # No items of raters and labels that are known is an answer: nothing can be compared.
        if codebook.declared.labels is None:
            raise
        _check_columns(dict.fromkeys(error.header), layout.raters)
        return Found({}, layout.raters)
    needed = [*(layout.raters if source.table else ()), *filter(None, (layout.item, layout.count))]
    _check_columns(first, needed)
    name = (ITEM if ITEM in first else "") if layout.item is None else layout.item
    if name and not layout.count:
        return _wide_by_item(first, rows, source, replace(layout, item=name), codebook)
    return _wide_by_row(first, rows, source, layout, codebook)


def _wide_by_row(
    first: Mapping[str, Json],
    rows: Iterator[Mapping[str, Json]],
    source: Source,
    layout: Layout,
    codebook: Codebook,
) -> Found:
    counts: Counter[tuple[int, ...]] = Counter()
    code, where, raters, met = codebook.code, source.where, layout.raters, set[str]()
    for record in _chained(first, rows):
        pattern = tuple([code(record.get(rater), where) for rater in raters])
        counts[pattern] += _count(record, layout.count, source) if layout.count else 1
        if not source.table:
            met.update(record)
    _check_met(raters, first if source.table else met)
    found = {tuple((i, c) for i, c in enumerate(row) if c != MISSING): n for row, n in counts.items() if n}
    return Found(found, raters)


def _wide_by_item(
    first: Mapping[str, Json],
    rows: Iterator[Mapping[str, Json]],
    source: Source,
    layout: Layout,
    codebook: Codebook,
) -> Found:
    items, met = Items(), set[str]()
    for record in _chained(first, rows):
        item = _item(record, layout.item or ITEM, source)
        for place, rater in enumerate(layout.raters):
            given = items.add(item, place, codebook.code(record.get(rater), source.where))
            if given != MISSING:
                hint = " Where each row is an item of its own, say --item ''."
                raise BadRatings(_twice(source, rater, item, codebook.labels[given]) + hint)
        if not source.table:
            met.update(record)
    _check_met(layout.raters, first if source.table else met)
    return Found(items.counts(), layout.raters)


def _chained(first: Mapping[str, Json], rows: Iterator[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    yield first
    yield from rows


# -- cells -------------------------------------------------------------------------------------------------------------


def _check_columns(record: Mapping[str, Json], needed: Sequence[str]) -> None:
    missing = next((name for name in needed if name not in record), None)
    if missing is None:
        return
    found = ", ".join(map(quoted, record)) or "none at all"
    if len(record) == 1:
        raise BadRatings(
            f"The file has one column, {found}: expected item, rater and label with commas between, or one column for"
            " each rater, named with --raters."
        )
    raise BadRatings(
        f"There is no column {quoted(missing)} among {found}: name the columns with --item, --rater and --label, or"
        " the raters' own columns with --raters."
    )


def _check_met(raters: Sequence[str], met: set[str] | Mapping[str, Json]) -> None:
    for rater in raters:
        if rater not in met:
            raise BadRatings(f"No row has a column {quoted(rater)}: check the name of the rater.")


def _item(record: Mapping[str, Json], column: str, source: Source) -> Hashable:
    """An item: a text as it is, else by its JSON type."""
    value = record.get(column)
    if isinstance(value, str) and value:
        return value
    if value is None or value == "" or isinstance(value, list | dict):
        raise BadRatings(f"{source.where()} has no {quoted(column)}: expected the name or the number of an item.")
    return identity(value)


def _rater(record: Mapping[str, Json], column: str, source: Source) -> str:
    """A rater by name; a number is a name too."""
    value = record.get(column)
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRatings(f"{source.where()} has no {quoted(column)}: expected the name of a rater.")
    return text_of(value)


def _count(record: Mapping[str, Json], column: str, source: Source) -> int:
    found = number(record.get(column))
    if found is None or not 0 <= found <= MOST_ITEMS or found != int(found):
        value = quoted(record.get(column))
        expected = "0 or more" if found is None or found <= MOST_ITEMS else f"{MOST_ITEMS:,} at most"
        raise BadRatings(
            f"{source.where()}: {quoted(column)} is {value}: expected a whole number of items, {expected}."
        )
    return int(found)


def _twice(source: Source, rater: str, item: Hashable, label: Label) -> str:
    return (
        f"{source.where()}: rater {quoted(rater)} has rated item {quoted(item)} before, as {quoted(label)}:"
        " keep one rating of the two."
    )


# -- ratings -----------------------------------------------------------------------------------------------------------


def _ratings(found: Found, codebook: Codebook, layout: Layout) -> Ratings:
    places, values = codebook.finish()
    patterns, raters = list(found.counts), list(found.raters)
    if not layout.raters:
        # Not the order in which they come: shuffling the rows changes nothing.
        raters.sort(key=_natural)
    column_of = [raters.index(name) for name in found.raters]
    if layout.exchangeable and not layout.raters:
        raters = [str(place) for place in range(1, max([2, *map(len, patterns)]) + 1)]
        patterns = [tuple((place, code) for place, (_, code) in enumerate(pattern)) for pattern in patterns]
        column_of = list(range(len(raters)))
    codes = np.full((len(patterns), len(raters)), MISSING, dtype=np.int64)
    for row, pattern in enumerate(patterns):
        for rater, code in pattern:
            codes[row, column_of[rater]] = places[code]
    return Ratings(
        codes,
        np.array(list(found.counts.values()), dtype=np.float64),
        tuple(codebook.labels),
        tuple(raters),
        values,
        exchangeable=layout.exchangeable,
    ).merged()


def _natural(name: str) -> list[tuple[int, str]]:
    """rater 2 stands before rater 10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
