"""What a coefficient is computed from: a table of distinct rating patterns and how many items show each.

The cost of everything built on it depends on the number of distinct patterns and never on the number of items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
FloatArray: TypeAlias = npt.NDArray[np.float64]
# What may be complex as well as float: a derivative is taken with a complex step (influence.py).
Array: TypeAlias = npt.NDArray[Any]
Label: TypeAlias = Hashable

MISSING = -1
# A bincount over this many cells is still faster than sorting the keys.
DENSE_CELLS = 1 << 22


def identity(label: Label) -> Hashable:
    """A key by JSON type and value: 1, "1" and true are three labels, 1 and 1.0 are one, and a set is a set."""
    if isinstance(label, bool):
        return ("boolean", label)
    if isinstance(label, int | float):
        return ("number", label)
    if isinstance(label, frozenset):
        return ("set", frozenset(identity(member) for member in label))
    return (type(label).__name__, label)


@dataclass(frozen=True, eq=False)
class Ratings:
    """Distinct rating patterns with the number of items that show each.

    Parameters
    ----------
    codes : (n_patterns, n_raters) of int, positions in `labels`, MISSING = -1
    weights : (n_patterns,) of float > 0, items per pattern
    labels : the declared labels in declared order, used or not
    raters : a name per column; "1", "2", … where none are given
    values : the number of each label, for interval and ratio distance
    strata : (n_patterns,) of int >= 0, or None where the items were drawn as one
    populations : items in the population of each stratum, where figures are to be weighted to it
    exchangeable : columns are rating places, not people; nothing that depends on who rated is offered

    Raises
    ------
    ValueError : shapes that do not fit, a code outside [-1, n_labels), a weight that is not positive, a name twice
    """

    codes: IntArray
    weights: FloatArray
    labels: tuple[Label, ...]
    raters: tuple[str, ...] = ()
    values: tuple[float, ...] | None = None
    strata: IntArray | None = None
    populations: tuple[float, ...] | None = None
    exchangeable: bool = False

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 2:
            raise ValueError(f"Codes need one row per pattern and one column per rater, not {codes.ndim} dimensions.")
        if not np.issubdtype(codes.dtype, np.integer):
            raise ValueError(f"Codes are whole numbers, not {codes.dtype}.")
        set_field = object.__setattr__
        set_field(self, "codes", codes)
        set_field(self, "weights", np.asarray(self.weights, dtype=np.float64))
        set_field(self, "labels", tuple(self.labels))
        set_field(self, "raters", tuple(self.raters) or tuple(str(i + 1) for i in range(codes.shape[1])))
        if self.values is not None:
            set_field(self, "values", tuple(float(value) for value in self.values))
        if self.strata is not None:
            set_field(self, "strata", np.asarray(self.strata))
        self._check()

    def _check(self) -> None:
        n_patterns, n_raters = self.codes.shape
        _check_distinct(self.labels)
        if n_patterns and (self.codes.min() < MISSING or self.codes.max() >= len(self.labels)):
            found = self.codes[(self.codes < MISSING) | (self.codes >= len(self.labels))][0]
            raise ValueError(f"Code {found} is outside [-1, {len(self.labels)}), the positions of the declared labels.")
        if self.weights.shape != (n_patterns,):
            raise ValueError(f"{n_patterns} patterns need as many weights, not {self.weights.shape}.")
        if not (np.isfinite(self.weights) & (self.weights > 0)).all():
            raise ValueError("Weights are numbers of items: each must be finite and above 0.")
        if len(self.raters) != n_raters:
            raise ValueError(f"{n_raters} columns need as many rater names, not {len(self.raters)}.")
        if len(set(self.raters)) != n_raters:
            twice = next(name for name in self.raters if self.raters.count(name) > 1)
            raise ValueError(f"Rater {twice!r} is named twice.")
        self._check_values()
        self._check_strata()

    def _check_values(self) -> None:
        if self.values is None:
            return
        if len(self.values) != len(self.labels):
            raise ValueError(f"{len(self.labels)} labels need as many values, not {len(self.values)}.")
        if not np.isfinite(self.values).all():
            raise ValueError("Label values must be finite numbers.")

    def _check_strata(self) -> None:
        if self.strata is None:
            if self.populations is not None:
                raise ValueError("Population sizes need strata.")
            return
        if self.strata.shape != (len(self.weights),) or not np.issubdtype(self.strata.dtype, np.integer):
            raise ValueError("Strata are one whole number per pattern.")
        if len(self.strata) and self.strata.min() < 0:
            raise ValueError("Strata are numbered from 0.")
        if self.populations is None:
            return
        if len(self.strata) and self.strata.max() >= len(self.populations):
            raise ValueError(f"Stratum {self.strata.max()} has no population size.")
        if not all(np.isfinite(size) and size > 0 for size in self.populations):
            raise ValueError("Population sizes must be finite and above 0.")

    @classmethod
    def from_codes(
        cls,
        columns: Sequence[IntArray] | IntArray,
        labels: Sequence[Label],
        *,
        strata: IntArray | None = None,
        **about: Any,
    ) -> Ratings:
        """Count the patterns of one code array per rater, each (n_items,); a matrix goes in with raters as rows."""
        arrays = [np.asarray(column) for column in columns]
        if strata is not None:
            arrays.append(np.asarray(strata))
        if len({array.shape for array in arrays}) > 1:
            raise ValueError("Every rater needs a code for every item; MISSING (-1) where there is none.")
        sizes = [len(labels)] * len(columns) + ([int(strata.max(initial=0)) + 1] if strata is not None else [])
        patterns, counts = tabulate(arrays, sizes)
        if strata is not None:
            about["strata"], patterns = patterns[:, -1], patterns[:, :-1]
        return cls(patterns, counts, tuple(labels), **about)

    @classmethod
    def from_patterns(
        cls,
        patterns: Iterable[Sequence[Label | None]],
        counts: Iterable[float],
        labels: Sequence[Label],
        **about: Any,
    ) -> Ratings:
        """Patterns given as labels, one per rater and None where missing; equal patterns are put together."""
        position = {identity(label): code for code, label in enumerate(labels)}
        rows = [
            [_code(label, position, row, column) for column, label in enumerate(pattern)]
            for row, pattern in enumerate(patterns)
        ]
        if len({len(row) for row in rows}) > 1:
            raise ValueError("Every pattern needs one label (or None) per rater.")
        n_raters = len(rows[0]) if rows else len(about.get("raters", ()))
        codes = np.array(rows, dtype=np.int64).reshape(len(rows), n_raters)
        return cls(codes, np.array(list(counts), dtype=np.float64), tuple(labels), **about).merged()

    @classmethod
    def from_matrix(cls, rows: Sequence[Sequence[Label | None]], labels: Sequence[Label], **about: Any) -> Ratings:
        """One row of labels per rater, one place per item, None where the rater did not rate."""
        if len({len(row) for row in rows}) > 1:
            raise ValueError("Every rater needs a place for every item; None where there is no rating.")
        about.setdefault("raters", tuple(str(i) for i in range(len(rows))))
        items = list(zip(*rows, strict=True))
        return cls.from_patterns(items, [1.0] * len(items), labels, **about)

    @classmethod
    def from_pairs(
        cls, a: Sequence[Label | None], b: Sequence[Label | None], labels: Sequence[Label], **about: Any
    ) -> Ratings:
        """Two raters' labels, item by item."""
        return cls.from_matrix([a, b], labels, **about)

    @classmethod
    def from_table(cls, table: Sequence[Sequence[float]] | Array, labels: Sequence[Label], **about: Any) -> Ratings:
        """A square table of counts: the first rater's labels down, the second's across."""
        counts = np.asarray(table, dtype=np.float64)
        if counts.shape != (len(labels), len(labels)):
            raise ValueError(f"{len(labels)} labels need a table of as many rows and columns, not {counts.shape}.")
        if not np.isfinite(counts).all() or (counts < 0).any():
            raise ValueError("Counts must be finite and not negative.")
        return cls(np.argwhere(counts > 0), counts[counts > 0], tuple(labels), **about)

    @property
    def n_raters(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """(n_patterns,) ratings an item of the pattern has."""
        return np.asarray((self.codes != MISSING).sum(axis=1))

    @property
    def n_rated(self) -> float:
        """Items with at least one rating."""
        return float(self.weights[self.sizes >= 1].sum())

    @property
    def n_paired(self) -> float:
        """Items with two or more ratings."""
        return float(self.weights[self.sizes >= 2].sum())

    @property
    def n_disputed(self) -> float:
        """Items on which two ratings differ."""
        present = np.where(self.codes == MISSING, -2, self.codes)
        lowest = np.where(self.codes == MISSING, self.n_labels, self.codes).min(axis=1, initial=self.n_labels)
        return float(self.weights[present.max(axis=1, initial=-2) > lowest].sum())

    def counts(self) -> FloatArray:
        """(n_patterns, n_labels) ratings of each label on an item of the pattern."""
        return label_counts(self.codes, self.n_labels)

    def table(self) -> FloatArray:
        """(n_labels, n_labels) items by the first rater's label down and the second's across; two raters only."""
        if self.n_raters != 2:
            raise ValueError(f"A table of label by label needs two raters, not {self.n_raters}.")
        table = np.zeros((self.n_labels, self.n_labels))
        pairs = self.comparable()
        np.add.at(table, (pairs.codes[:, 0], pairs.codes[:, 1]), pairs.weights)
        return table

    def used(self) -> FloatArray:
        """(n_labels,) ratings of each label on the items that are compared."""
        paired = self.keep(self.sizes >= 2)
        return np.asarray(paired.weights @ paired.counts(), dtype=np.float64)

    def keep(self, mask: npt.NDArray[np.bool_]) -> Ratings:
        """The patterns where `mask` holds."""
        if mask.all():
            return self
        strata = None if self.strata is None else self.strata[mask]
        return replace(self, codes=self.codes[mask], weights=self.weights[mask], strata=strata)

    def comparable(self) -> Ratings:
        """The items figures are made from: complete pairs of two raters, else every item with a rating."""
        return self.keep(self.sizes >= (2 if self.n_raters == 2 else 1))

    def select(self, columns: Sequence[int]) -> Ratings:
        """The ratings of some raters only."""
        return self._of(list(columns), None)

    def pair(self, first: int, second: int) -> Ratings:
        """Two raters on the items that both rated."""
        return self._of([first, second], (self.codes[:, [first, second]] != MISSING).all(axis=1))

    @cached_property
    def pairs(self) -> Mapping[tuple[int, int], Ratings]:
        """`pair` of every two columns, made once: what is told of pairs asks for them several times."""
        return {columns: self.pair(*columns) for columns in combinations(range(self.n_raters), 2)}

    def _of(self, columns: list[int], mask: npt.NDArray[np.bool_] | None) -> Ratings:
        """Some columns of the patterns where `mask` holds; one step of checks for both."""
        rows = slice(None) if mask is None else mask
        codes, strata = self.codes[rows][:, columns], None if self.strata is None else self.strata[rows]
        raters = tuple(self.raters[i] for i in columns)
        return replace(self, raters=raters, **_merged(codes, self.weights[rows], strata, self.n_labels))

    def recode(self, mapping: Sequence[int], labels: Sequence[Label]) -> Ratings:
        """The same ratings under other labels: code c becomes mapping[c]."""
        lookup = np.append(np.asarray(mapping, dtype=np.int64), MISSING)
        return replace(self, codes=lookup[self.codes], labels=tuple(labels), values=None).merged()

    def forget_raters(self) -> Ratings:
        """The label-count vectors: the order of the raters is forgotten, which leaves far fewer patterns."""
        return replace(self, codes=-np.sort(-self.codes.astype(np.int64), axis=1), exchangeable=True).merged()

    def merged(self) -> Ratings:
        """Equal patterns of one stratum put together."""
        return replace(self, **_merged(self.codes, self.weights, self.strata, self.n_labels))


def _merged(codes: IntArray, weights: FloatArray, strata: IntArray | None, n_labels: int) -> dict[str, Any]:
    """Codes, weights and strata with equal patterns put together."""
    n_raters = codes.shape[1]
    columns, sizes = [*codes.T], [n_labels] * n_raters
    if strata is not None:
        columns.append(strata)
        sizes.append(int(strata.max(initial=0)) + 1)
    if not columns:
        return {}
    patterns, totals = tabulate(columns, sizes, weights)
    return {
        "codes": patterns[:, :n_raters],
        "weights": totals,
        "strata": None if strata is None else patterns[:, -1],
    }


def label_counts(codes: IntArray, n_labels: int) -> FloatArray:
    """(n_patterns, n_labels) how often each label stands in a row of `codes`."""
    counts = np.zeros((len(codes), n_labels + 1))
    rows = np.arange(len(codes))
    for column in codes.T:
        # MISSING is -1: it falls into the last column, which is cut off.
        counts[rows, column] += 1
    return counts[:, :n_labels]


def tabulate(
    columns: Sequence[IntArray], sizes: Sequence[int], weights: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Distinct rows of columns of codes in [-1, size), and the items (or weight) of each.

    One pass over one key per item: a bincount where the keys are few, else a sort.
    """
    if not columns or not len(columns[0]):
        return np.empty((0, len(columns)), dtype=np.int64), np.empty(0)
    for column, size in zip(columns, sizes, strict=True):
        if not np.issubdtype(column.dtype, np.integer):
            raise ValueError(f"Codes are whole numbers, not {column.dtype}.")
        low, high = int(column.min()), int(column.max())
        if low < MISSING or high >= size:
            raise ValueError(f"Code {low if low < MISSING else high} is outside [-1, {size}).")
    cells = 1
    for size in sizes:
        cells *= size + 1
    if cells >= 1 << 62:
        stacked = np.stack(columns, axis=1)
        patterns, inverse = np.unique(stacked, axis=0, return_inverse=True)
        return patterns, np.bincount(inverse.ravel(), weights=weights).astype(np.float64)
    keys = _keys(columns, sizes, cells)
    if cells <= DENSE_CELLS:
        totals = np.bincount(keys, weights=weights, minlength=1)
        distinct = np.flatnonzero(totals)
        totals = totals[distinct]
    elif weights is None:
        distinct, totals = np.unique(keys, return_counts=True)
    else:
        distinct, inverse = np.unique(keys, return_inverse=True)
        totals = np.bincount(inverse.ravel(), weights=weights)
    bases = [size + 1 for size in sizes]
    patterns = np.stack(np.unravel_index(distinct, bases), axis=1) - 1
    return patterns, totals.astype(np.float64)


def _keys(columns: Sequence[IntArray], sizes: Sequence[int], cells: int) -> IntArray:
    """One number per item, in the narrowest type: memory traffic is what a pass over the items costs."""
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.int64) if cells <= np.iinfo(kind).max)
    keys: Array = np.zeros(len(columns[0]), dtype=kind)
    for column, size in zip(columns, sizes, strict=True):
        keys *= size + 1
        # MISSING wraps around in an unsigned type, and the 1 brings it back to 0.
        keys += column.astype(kind)
        keys += 1
    return keys


def _code(label: Label | None, position: dict[Hashable, int], row: int, column: int) -> int:
    if label is None:
        return MISSING
    code = position.get(identity(label))
    if code is None:
        raise ValueError(f"Label {label!r} of rater {column + 1} on item {row + 1} is not among the declared labels.")
    return code


def _check_distinct(labels: Sequence[Label]) -> None:
    seen: set[Hashable] = set()
    for label in labels:
        if identity(label) in seen:
            raise ValueError(f"Label {label!r} is declared twice.")
        seen.add(identity(label))
