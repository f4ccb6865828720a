"""What stands in a file of ratings -> labels of a question. Guesses, which the person who imports may change."""

import json
from collections.abc import Sequence

from django.utils.translation import gettext as _

from projects.folding import fold
from projects.models import Label
from projects.task_types import Json

LONGEST = 200  # characters of a value


def is_missing(raw: Json) -> bool:
    """Nothing, or a blank cell: no rating. An empty list is one: none of the labels."""
    return raw is None or (isinstance(raw, str) and not raw.strip())


def problem(raw: Json, *, sets: bool) -> str:
    """Why `raw` cannot stand for a label (of a set of them); empty where it can."""
    if isinstance(raw, list):
        if not sets:
            return _("a list, and the question takes one label")
        return next((found for one in raw if (found := problem(one, sets=False))), "")
    if isinstance(raw, dict):
        return _("an object, where a label belongs")
    if isinstance(raw, str) and len(raw.strip()) > LONGEST:
        return _("a text of %(length)d characters, where a label belongs") % {"length": len(raw.strip())}
    return "" if raw is not None else _("empty inside a list")


def as_set(raw: Json) -> Json:
    """A list that stands as text in a cell of a table, as exports write it; all else as it is."""
    if isinstance(raw, str) and raw.strip().startswith("["):
        try:
            return [one for one in json.loads(raw) if not isinstance(one, dict | list)]
        except (ValueError, RecursionError):
            return raw
    return raw


def parts(raw: Json) -> list[Json]:
    """The values that have to be labels: one, or the members of a list."""
    return raw if isinstance(raw, list) else [raw]


def token(raw: Json) -> str:
    """A value as JSON has it, the same for the same value: 1, "1" and true are three, 1 and 1.0 are one."""
    if isinstance(raw, str):
        raw = raw.strip()
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    return json.dumps(raw, ensure_ascii=False)


def guess(raw: Json, labels: Sequence[Label]) -> str | None:
    """The key of the label that `raw` speaks for, by key, name or numeric value; None where none or several are."""
    text = str(raw).strip() if isinstance(raw, str | int | float) and not isinstance(raw, bool) else token(raw)
    if isinstance(raw, float) and raw.is_integer():
        text = str(int(raw))
    found = {label.key for label in labels if text in (label.key, label.name)}
    number = _number(text)
    if number is not None:
        found |= {label.key for label in labels if label.value == number}
    if not found:
        found = {label.key for label in labels if fold(text) in (fold(label.key), fold(label.name))}
    return found.pop() if len(found) == 1 else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
