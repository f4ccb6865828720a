"""What every kind of answer keeps: the contract that forms, cases, figures and exports rely on."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def gettext_noop(text: str) -> str:
    """Mark `text` for translation under the name that makemessages looks for; pages translate it when they show it."""
    return text


class Named(Protocol):
    """The part of a label that an answer is put in words by."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...


class LabelLike(Named, Protocol):
    """The part of a label that an answer is judged by: a row of the database or a plain object."""

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
    """One kind of answer.

    `level` is the scale that a coefficient asks for, `widget` the fragment that asks for the answer and `script` the
    module that the fragment needs, if it does. `wanted` says what somebody who left it open has to do. A difference
    is a conflict where its gap is larger than `tolerated`, unless the protocol says otherwise.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    level: ClassVar[str]
    widget: ClassVar[str]
    script: ClassVar[str] = ""
    wanted: ClassVar[str] = gettext_noop("choose one")
    needs_labels: ClassVar[bool] = True
    numbered: ClassVar[bool] = False
    tolerated: ClassVar[float] = 0.0

    def read(self, posted: Sequence[str]) -> Json:
        """What the widget's form fields hold, as `clean` takes it. Judges nothing."""
        return posted[0] if len(posted) == 1 else list(posted)

    def is_blank(self, raw: object) -> bool:
        """Whether the question was left open."""
        return raw is None or raw == ""

    @abstractmethod
    def clean(self, raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None = None) -> Json:
        """The canonical value of what a form, the API or a file sent; AnswerError if `labels` do not allow it.

        `content` is that of the item, for answers that point into it; without it they are not held against a text.
        """

    @abstractmethod
    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        """How far apart two canonical values are, from 0 (the same) to 1 (as far as `labels` go)."""

    def middle(self, values: Sequence[Json], labels: Sequence[LabelLike]) -> Json:
        """Of several canonical values the one that is nearest to all, as the final label within a tolerance."""
        return min(values, key=lambda one: (sum(self.gap(one, other, labels) for other in values), _sortable(one)))

    @abstractmethod
    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        """What is compared between raters: the item as a whole, or one unit for each of its parts."""

    def carried(self, value: Json, old: Mapping[str, Json], new: Mapping[str, Json]) -> Json:
        """The value of an item whose wording changed from `old` to `new`, for an example that leaves out names."""
        return value

    @abstractmethod
    def named(self, value: Json) -> list[str]:
        """The keys of the labels that a value names; an example stands under each of them."""

    def renamed(self, value: Json, names: Mapping[str, str]) -> Json:
        """The value where labels are called by other keys: `names` has what each of them is now."""
        return value

    @abstractmethod
    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        """A sentence for everything that keeps `labels` from being a label set of this type; empty if all is well."""

    @abstractmethod
    def describe(self, value: Json, labels: Sequence[Named], content: Mapping[str, Json] | None = None) -> str:
        """The value in the words of its labels, for people; with `content`, in the words of the item."""


def in_order(labels: Sequence[LabelLike]) -> list[LabelLike]:
    """The labels as they are declared, first to last."""
    return sorted(labels, key=lambda label: label.order)


def name_of(key: str, labels: Sequence[Named]) -> str:
    """A label's name. One that a later version retired is not in its set any more; its key still says what it was."""
    return next((label.name for label in labels if label.key == key), key)


def allowed(labels: Sequence[LabelLike]) -> str:
    return ", ".join(repr(label.key) for label in in_order(labels))


def shorten(found: object, limit: int = 60) -> str:
    text = repr(found)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def check_storable(text: str) -> None:
    """Refuse what no database can keep."""
    if "\x00" in text:
        raise AnswerError("The answer contains a NUL character, which cannot be stored: remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AnswerError(f"The answer contains half a character at position {error.start + 1}: remove it.") from error


def _sortable(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
