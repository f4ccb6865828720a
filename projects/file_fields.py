"""The fields of a file, and which of them are likely to be shown, the id, and metadata. Guesses from its first rows."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from projects.task_types import Json

MOST_FIELDS = 200
_SAMPLES = 3
_SAMPLE_LENGTH = 120
# Lengths in characters.
_ID_LENGTH = 200
_METADATA_LENGTH = 80
_ID_NAMES = ("id", "_id", "uuid", "guid", "item_id", "external_id", "key")
_ID_ENDING = re.compile(r"(?:^|[_\- ])(?:id|uuid|guid)$|[a-z]I[dD]$")
# question_1 and question_2, text_a and text_b, sentence1 and sentence2 are shown together.
_STEM = re.compile(r"[_\- ]?(?:\d{1,2}|[a-dA-D])$")
_PAIRS = (("premise", "hypothesis"), ("question", "answer"), ("prompt", "response"), ("source", "target"))


@dataclass(frozen=True)
class Choice:
    """What an import makes of a record: the shown fields in order, the id field (or none), the metadata fields."""

    shown: tuple[str, ...]
    id_field: str = ""
    metadata: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: dict[str, Any]) -> Self:
        return cls(tuple(stored["shown"]), stored["id_field"], tuple(stored["metadata"]))

    def stored(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Field:
    """A field as the first rows have it."""

    name: str
    samples: list[str] = field(default_factory=list)
    filled: int = 0
    nested: int = 0
    longest: int = 0
    letters: int = 0
    distinct: int = 0

    @property
    def mean_length(self) -> float:
        return self.letters / self.filled if self.filled else 0.0


def shown_value(value: Json) -> str | int | float:
    """A value as it is shown: a text or number as it is, nothing as the empty text, all else as compact JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def describe(records: Iterable[dict[str, Json]]) -> list[Field]:
    """The fields of `records` in the order in which they first come up, with what their values are like."""
    found: dict[str, Field] = {}
    values: dict[str, set[str]] = {}
    for record in records:
        for name, value in record.items():
            if name not in found and len(found) == MOST_FIELDS:
                continue
            text = str(shown_value(value)).strip()
            if name not in found:
                found[name], values[name] = Field(name), set()
            if text:
                _count(found[name], text, nested=isinstance(value, dict | list))
                values[name].add(text[:_ID_LENGTH])
    for name, one in found.items():
        one.distinct = len(values[name])
    return list(found.values())


def _count(one: Field, text: str, *, nested: bool) -> None:
    one.filled += 1
    one.nested += nested
    one.letters += len(text)
    one.longest = max(one.longest, len(text))
    sample = " ".join(text[: 2 * _SAMPLE_LENGTH].split())
    sample = sample if len(sample) <= _SAMPLE_LENGTH else f"{sample[: _SAMPLE_LENGTH - 1]}…"
    if len(one.samples) < _SAMPLES and sample not in one.samples:
        one.samples.append(sample)


def suggest(fields: Sequence[Field], rows: int, before: Sequence[str] = ()) -> Choice:
    """A choice for a file whose first `rows` rows have `fields`. `before` is what the project shows already."""
    id_field = _likely_id(fields, rows)
    names = {one.name for one in fields}
    shown = tuple(before) if before and names.issuperset(before) else _likely_shown(fields, id_field)
    metadata = tuple(
        one.name
        for one in fields
        if one.name not in (*shown, id_field)
        and one.filled
        and not one.nested
        and one.longest <= _METADATA_LENGTH
        and one.distinct <= max(1, one.filled // 2)
    )
    return Choice(shown, id_field, metadata)


def _likely_id(fields: Sequence[Field], rows: int) -> str:
    fit = [one for one in fields if one.filled and not one.nested and one.longest <= _ID_LENGTH]
    # A field that is called id is one even if some rows repeat it: the preview then says which.
    by_lower_name = {one.name.lower(): one.name for one in fit if 2 * one.distinct > one.filled}
    named = [by_lower_name[name] for name in _ID_NAMES if name in by_lower_name]
    ending = [one.name for one in fit if one.filled == one.distinct == rows and _ID_ENDING.search(one.name)]
    return next(iter([*named, *ending]), "")


def _likely_shown(fields: Sequence[Field], id_field: str) -> tuple[str, ...]:
    flat = [one for one in fields if not one.nested and one.filled and one.name != id_field]
    if not flat:
        return tuple(one.name for one in fields if one.name != id_field)[:1] or tuple(one.name for one in fields)[:1]
    longest = max(flat, key=lambda one: one.mean_length)
    names = [one.name for one in flat]
    lower = {name.lower(): name for name in names}
    for pair in _PAIRS:
        if longest.name.lower() in pair and all(name in lower for name in pair):
            return tuple(lower[name] for name in pair)
    stem = _STEM.sub("", longest.name)
    together = [name for name in names if stem and _STEM.search(name) and _STEM.sub("", name) == stem]
    return tuple(together) if longest.name in together else (longest.name,)
