"""What kinds of answer a question can have: how one is checked, compared, counted and named.

A new task type is a subclass of `TaskType` and an entry in `TASK_TYPES`. Values are stored canonical, so that two
answers are the same answer exactly where their stored values are equal.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def gettext_noop(text: str) -> str:
    """Mark `text` for translation under the name that makemessages looks for; pages translate it when they show it."""
    return text


class LabelLike(Protocol):
    """The part of a label that an answer is judged by: a row of the database or a plain object."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float | Decimal | None: ...
    @property
    def order(self) -> int: ...


class Unit(NamedTuple):
    """One thing that two raters are compared on: the item as a whole (position 0), or a part of it."""

    position: int
    value: Json


class AnswerError(ValueError):
    """An answer that its question does not allow; the message says what was found and what is allowed."""


class TaskType(ABC):
    """One kind of answer. `level` is the scale that a coefficient asks for, `widget` the fragment that asks for it."""

    key: ClassVar[str]
    title: ClassVar[str]
    level: ClassVar[str]
    widget: ClassVar[str]

    @abstractmethod
    def clean(self, raw: object, labels: Sequence[LabelLike]) -> Json:
        """The canonical value of what a form, the API or a file sent; AnswerError if `labels` do not allow it."""

    @abstractmethod
    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        """How far apart two canonical values are, from 0 (the same) to 1 (as far as `labels` go)."""

    @abstractmethod
    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        """What is compared between raters: the item as a whole, or one unit for each of its parts."""

    @abstractmethod
    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        """A sentence for everything that keeps `labels` from being a label set of this type; empty if all is well."""

    @abstractmethod
    def describe(self, value: Json, labels: Sequence[LabelLike]) -> str:
        """The value in the words of its labels, for people."""


class Choice(TaskType):
    """One label of a set. The canonical value is the key of the label."""

    widget = "annotations/widgets/_choice.html"

    def clean(self, raw: object, labels: Sequence[LabelLike]) -> Json:
        # No coercion: 1, "1" and true are three different answers, and guessing which was meant would make data.
        keys = {label.key for label in labels}
        if isinstance(raw, str) and raw in keys:
            return raw
        allowed = ", ".join(repr(label.key) for label in in_order(labels))
        if raw is None or raw == "":
            raise AnswerError(f"No label was given: choose one of {allowed}.")
        if isinstance(raw, str):
            raise AnswerError(f"{_shorten(raw)} is not a label of this question: choose one of {allowed}.")
        kind = type(raw).__name__
        raise AnswerError(f"Found {_shorten(raw)} ({kind}) where the key of one label belongs: one of {allowed}.")

    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        return [Unit(0, value)]

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*_count_problems(labels), *_name_problems(labels), *_value_problems(labels)]

    def describe(self, value: Json, labels: Sequence[LabelLike]) -> str:
        # A label that a later version retired is not in its set any more; its key still says what was chosen.
        return next((label.name for label in labels if label.key == value), str(value))


class Nominal(Choice):
    """One category of an unordered set: two answers are the same or they are not."""

    key = "nominal"
    title = gettext_noop("One category (no order)")
    level = "nominal"

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        return 0.0 if a == b else 1.0


class Ordinal(Choice):
    """One step of an ordered scale: the gap is the number of steps between, as a share of the whole scale."""

    key = "ordinal"
    title = gettext_noop("One step of an ordered scale")
    level = "ordinal"

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        if a == b:
            return 0.0
        # Declared positions, not those that were used: an unused step between two labels keeps its place.
        positions: dict[Json, int] = {label.key: place for place, label in enumerate(in_order(labels))}
        unknown = [value for value in (a, b) if value not in positions]
        if unknown:
            raise AnswerError(f"{_shorten(unknown[0])} is not a step of this scale: {', '.join(map(repr, positions))}.")
        return abs(positions[a] - positions[b]) / (len(positions) - 1)

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*super().check_labels(labels), *_order_problems(labels)]


def in_order(labels: Sequence[LabelLike]) -> list[LabelLike]:
    """The labels as they are declared, first to last."""
    return sorted(labels, key=lambda label: label.order)


def _shorten(found: object, limit: int = 60) -> str:
    text = repr(found)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _repeated(values: Sequence[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def _count_problems(labels: Sequence[LabelLike]) -> list[str]:
    if len(labels) < 2:
        return [f"The question has {len(labels)} label{'' if len(labels) == 1 else 's'}: it needs 2 or more."]
    return []


def _name_problems(labels: Sequence[LabelLike]) -> list[str]:
    problems = [
        f"Label {place} has no {what}: give it one."
        for place, label in enumerate(in_order(labels), start=1)
        for what, text in (("key", label.key), ("name", label.name))
        if not text.strip()
    ]
    keys = _repeated([label.key for label in labels if label.key.strip()])
    problems += [f"The key {key!r} is there more than once: every label needs its own." for key in keys]
    # Two labels that read the same cannot be told apart by the person who labels.
    names = _repeated([label.name.strip().casefold() for label in labels if label.name.strip()])
    problems += [f"The name {name!r} is there more than once: every label needs its own." for name in names]
    return problems


def _value_problems(labels: Sequence[LabelLike]) -> list[str]:
    without = [label.key for label in in_order(labels) if label.value is None]
    problems = []
    if without and len(without) < len(labels):
        named = ", ".join(map(repr, without))
        problems.append(f"Some labels have a numeric value and {named} has none: give all of them one, or none.")
    problems += [
        f"The value of {label.key!r} is {label.value}: it has to be a finite number."
        for label in in_order(labels)
        if label.value is not None and not math.isfinite(label.value)
    ]
    return problems


def _order_problems(labels: Sequence[LabelLike]) -> list[str]:
    ordered = in_order(labels)
    ties = [(a, b) for a, b in pairwise(ordered) if a.order == b.order]
    if ties:
        return [f"{a.key!r} and {b.key!r} both have the place {a.order}: a scale needs one order." for a, b in ties]
    values = [label.value for label in ordered if label.value is not None]
    if len(values) < len(ordered) or not all(map(math.isfinite, values)):
        return []
    rising = all(a < b for a, b in pairwise(map(float, values)))
    falling = all(a > b for a, b in pairwise(map(float, values)))
    if rising or falling:
        return []
    found = ", ".join(f"{label.key!r} {label.value}" for label in ordered)
    return [f"The values do not follow the order of the scale ({found}): they have to rise, or fall, at every step."]


TASK_TYPES: dict[str, TaskType] = {task_type.key: task_type for task_type in (Nominal(), Ordinal())}
