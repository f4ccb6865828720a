"""An item of two texts side by side: the words that one has and the other has not, marked where they stand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.safestring import SafeString, mark_safe

from annotations import sheets
from annotations.sheets import Shown
from projects import prose
from projects.task_types import Json

LONGEST = 3_000  # characters of a field: longer texts are read, not compared
ALIKE = 0.3  # the share of a pair that has to be the same: below it everything would be marked


def shown(content: Mapping[str, Json]) -> list[Shown]:
    """The fields of an item; where they are two texts that are versions of each other, with what differs marked."""
    found = sheets.shown(content)
    texts = [value for value in content.values() if isinstance(value, str)]
    if len(found) != 2 or len(texts) != 2 or not all(0 < len(text) <= LONGEST for text in texts):
        return found
    changes = prose.word_diff(*texts)
    same = sum(len(change.text) for change in changes if change.op == "equal")
    if texts[0] == texts[1] or 2 * same < ALIKE * sum(map(len, texts)):
        return found
    one, other = found
    return [replace(one, html=_marked(changes, "delete")), replace(other, html=_marked(changes, "insert"))]


def _marked(changes: Sequence[prose.Change], own: prose.Operation) -> SafeString:
    """The text of the side that has `own`, with its characters kept."""
    parts = [(change.op, sheets.untouched(change.text)) for change in changes if change.op in ("equal", own)]
    return mark_safe("".join(f"<mark>{text}</mark>" if op == own else text for op, text in parts))  # noqa: S308 - escaped
