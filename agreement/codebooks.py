"""What was said about the labels of a file, and the positions that its cells have among them. Pure: no Django."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from agreement.coefficients.coefficient import INTERVAL, LEVELS, MULTILABEL, NOMINAL, ORDERED, RATIO
from agreement.coefficients.ratings import MISSING, Label, identity
from projects.task_types import Json

# Between the labels of a set in a cell of a table; alone it is the empty set, which is an answer and not a missing one.
SEPARATOR = ";"
# More labels than this, undeclared, are a column of something else: texts, ids, times.
MOST_LABELS = 500
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class BadRatings(ValueError):
    """Ratings that no figure may be made from; the message says what was found and where."""


class BadWeights(BadRatings):
    """Declared weights that cannot be used: what is wrong is in their file, not in that of the ratings."""


@dataclass(frozen=True)
class Declared:
    """What was said about the labels.

    `labels` are in declared order, None where nothing was said (for sets: the labels that are in them). `typed` says
    that they are as JSON has them, so that 1 and "1" are two; names of a comma list stand for what is written like
    them. `values` are the numbers of the labels, for interval and ratio distance.
    """

    level: str = NOMINAL
    labels: tuple[Label, ...] | None = None
    typed: bool = True
    values: tuple[float, ...] | None = None

    def check(self) -> None:
        """Refuse what no file could fit."""
        if self.level not in LEVELS:
            raise BadRatings(f"{self.level!r} is no scale: expected one of {', '.join(LEVELS)}.")
        if self.labels is not None:
            self._check_labels(self.labels)
        if self.values is not None:
            self._check_values(self.values)

    def _check_labels(self, labels: Sequence[Label]) -> None:
        if not labels:
            raise BadRatings("The list of labels is empty.")
        for label in labels:
            if label is None or isinstance(label, list | dict):
                raise BadRatings(f"{json.dumps(label)} cannot be a label: expected a text, a number, true or false.")
        check_once(labels, "Label", "declared")

    def _check_values(self, values: Sequence[float]) -> None:
        if self.level not in ORDERED:
            raise BadRatings(f"Values are for ordinal, interval and ratio scales, not for {self.level} ones.")
        if self.labels is None:
            raise BadRatings("Values follow the order of the labels: declare the labels with them.")
        if len(values) != len(self.labels):
            raise BadRatings(f"{len(self.labels)} labels need as many values, not {len(values)}.")
        for place, value in enumerate(values):
            if value in values[:place]:
                both = f"{quoted(self.labels[values.index(value)])} and {quoted(self.labels[place])}"
                raise BadRatings(
                    f"The labels {both} have the same value, {value:g}: they would count as one. Give each its own."
                )


def check_once(names: Sequence[Label], what: str, how: str) -> None:
    """Refuse a name that stands twice in a list; 1, "1" and true are three names."""
    seen: set[Hashable] = set()
    for name in names:
        if identity(name) in seen:
            raise BadRatings(f"{what} {quoted(name)} is {how} twice.")
        seen.add(identity(name))


# -- lists as they are typed -------------------------------------------------------------------------------------------


def listed(text: str) -> tuple[tuple[Any, ...], bool]:
    """A comma list or a JSON list as it is typed in a shell, and whether it was JSON."""
    if text.lstrip().startswith("["):
        return tuple(_json(text)), True
    names = tuple(name.strip() for name in text.split(","))
    if "" in names:
        raise BadRatings(f"{text!r} has an empty name: remove a comma, or write a JSON list if a name is empty.")
    return names, False


def numbers(text: str) -> tuple[float, ...]:
    """A comma list or a JSON list of numbers."""
    return tuple(_numbers(listed(text)[0], text))


def matrix(text: str) -> list[list[float]]:
    """Disagreement weights in label order: a JSON list of rows, or lines of numbers with commas or blanks between."""
    if text.lstrip().startswith("["):
        rows = _json(text)
    else:
        rows = [re.split(r"[,;\s]+", line.strip()) for line in text.splitlines() if line.strip()]
    if not rows:
        raise BadRatings("The file of weights is empty: write one row of numbers for each label.")
    found = []
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, list):
            raise BadRatings(f"Weights, row {place}: {json.dumps(row)} is no list of numbers.")
        found.append(_numbers(row, f"Weights, row {place}"))
        if len(row) != len(rows):
            raise BadRatings(f"Weights, row {place}: found {len(row)} numbers and expected {len(rows)}, one per row.")
    return found


def number(value: object) -> float | None:
    """The number that a cell holds, None where it holds none."""
    if isinstance(value, str):
        return float(value) if NUMBER.fullmatch(value) and isfinite(float(value)) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def text_of(value: Json | Label) -> str:
    """A value as a table of texts would have it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return json.dumps(value)


def quoted(value: object) -> str:
    """A value in a sentence: texts in quotes, so that a blank at the end shows, and 1 is not "1"."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(quoted, value))) + "}"
    if isinstance(value, tuple):
        value = value[1]
    return json.dumps(value, ensure_ascii=False)


def names(labels: Sequence[Any]) -> list[str]:
    """What labels are called in a table; a text that another label reads like is in quotes, as "1" beside 1."""
    texts = [text_of(label) for label in labels]
    return [
        quoted(label) if text == "" or (isinstance(label, str) and texts.count(text) > 1) else text
        for label, text in zip(labels, texts, strict=True)
    ]


def _json(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRatings(f"{text.strip()!r} is not a JSON list: {error.msg} at character {error.pos + 1}.") from error
    return found if isinstance(found, list) else [found]


def _numbers(values: Sequence[object], where: str) -> list[float]:
    found = []
    for place, value in enumerate(values, start=1):
        answer = number(value)
        if answer is None:
            raise BadRatings(f"{where}: {value!r} at place {place} is no number.")
        found.append(answer)
    return found


# -- positions ---------------------------------------------------------------------------------------------------------


class Codebook:
    """Label -> code: in declared order, or as they are met and put in order at the end.

    `labels` are what is compared (sets, on the multilabel scale), `classes` the labels that are in the sets.
    """

    def __init__(self, declared: Declared, *, texts: bool) -> None:
        """`texts`: the file is a table, in which every cell is a text and an empty one is missing."""
        self.declared = declared
        self.sets = declared.level == MULTILABEL
        self.labels: list[Label] = []
        self.classes: list[Label] = []
        self._texts = texts
        self._known = self.classes if self.sets else self.labels
        self._known += declared.labels or ()
        self._position = self._positions()
        # Names of a comma list stand for a number, true or false that is written like them, until a text is met.
        loose = not texts and not declared.typed
        self._loose = {text_of(label): place for place, label in enumerate(self._known)} if loose else {}
        self._answers: dict[frozenset[Label], int] = {}
        self._seen: dict[object, int] = {}

    def code(self, value: Json, where: Callable[[], str]) -> int:
        """The code of a cell, MISSING for null and for the empty cell of a table; `where` names its place."""
        if isinstance(value, list | dict):
            return self._code(value, where)
        # True == 1 in Python, and they are two labels.
        key = value if type(value) is str else (type(value), value)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = self._code(value, where)
        return known

    def finish(self) -> tuple[list[int], tuple[float, ...] | None]:
        """Put undeclared labels in order: the final place of each code that was given out, and the labels' values."""
        before = [identity(label) for label in self.labels]
        if self.declared.labels is None:
            numeric = all(number(name) is not None for name in self._known)
            self._known.sort(key=lambda name: (0, number(name), "") if numeric else (_kind(name), 0, text_of(name)))
        if self.sets:
            place = {identity(name): i for i, name in enumerate(self.classes)}
            keys: dict[Label, list[int]] = {
                answer: sorted(place[identity(name)] for name in answer) for answer in self._answers
            }
            self.labels.sort(key=lambda label: (len(keys[label]), keys[label]))
        after = {identity(label): place for place, label in enumerate(self.labels)}
        return [after[label] for label in before], self._values()

    def _positions(self) -> dict[Hashable, int]:
        position: dict[Hashable, int] = {}
        for place, label in enumerate(self._known):
            key = text_of(label) if self._texts else identity(label)
            if key in position:
                both = f"{quoted(self._known[position[key]])} and {quoted(label)}"
                raise BadRatings(f"The labels {both} look the same in a table of texts: write the ratings as JSONL.")
            position[key] = place
        return position

    def _code(self, value: Json, where: Callable[[], str]) -> int:
        if value is None or (self._texts and value == ""):
            return MISSING
        if self.sets:
            return self._code_of_set(value, where)
        if isinstance(value, list | dict):
            raise BadRatings(f"{where()}: {json.dumps(value)} is no label: lists are for the multilabel scale.")
        return self._place(value, where)

    def _code_of_set(self, value: Json, where: Callable[[], str]) -> int:
        if isinstance(value, str) and self._texts:
            members: list[Any] = [part.strip() for part in value.split(SEPARATOR) if part.strip()]
        elif isinstance(value, list):
            members = value
        else:
            raise BadRatings(f"{where()}: {quoted(value)} is no multi-label answer: expected a list of labels.")
        for member in members:
            if isinstance(member, bool) or not isinstance(member, str | int | float):
                raise BadRatings(f"{where()}: {json.dumps(member)} in a list of labels: expected a text or a number.")
        answer = frozenset(self.classes[self._place(member, where)] for member in members)
        if answer not in self._answers:
            self._answers[answer] = len(self.labels)
            self.labels.append(answer)
        return self._answers[answer]

    def _place(self, value: str | bool | int | float, where: Callable[[], str]) -> int:
        key = value if self._texts else identity(value)
        place = self._position.get(key)
        if place is not None:
            self._loose.pop(text_of(value), None)
            return place
        place = self._loose.pop(text_of(value), None)
        if place is not None:
            # From here on the name stands for this label, and no longer for a text.
            del self._position[identity(self._known[place])]
            self._known[place], self._position[key] = value, place
            return place
        if self.declared.labels is not None:
            declared = ", ".join(map(quoted, self._known))
            raise BadRatings(f"{where()}: {quoted(value)} is none of the declared labels {declared}.")
        if len(self._known) >= MOST_LABELS:
            raise BadRatings(
                f"{where()}: {quoted(value)} is label number {MOST_LABELS + 1}, so this may be another column than that"
                " of the labels; declare them if it is not."
            )
        self._known.append(value)
        return self._position.setdefault(key, len(self._known) - 1)

    def _values(self) -> tuple[float, ...] | None:
        """The number of each label: as declared, else as it is written; None where there is none, or no need of one."""
        level = self.declared.level
        if self.declared.values is not None or level not in ORDERED:
            return self.declared.values
        found = [number(label) for label in self.labels]
        if None not in found:
            return tuple(value for value in found if value is not None)
        word = quoted(self.labels[found.index(None)])
        if level in (INTERVAL, RATIO):
            raise BadRatings(f"The scale {level} needs a number for every label, and {word} is none: give the values.")
        if self.declared.labels is None:
            raise BadRatings(f"The order of the labels is not known, {word} being no number: declare them in order.")
        return None


def _kind(label: Label) -> str:
    return "" if isinstance(label, str) else type(label).__name__
