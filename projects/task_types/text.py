"""An answer in one's own words."""

import unicodedata
from collections.abc import Mapping, Sequence

from projects.task_types.task_type import (
    AnswerError,
    Json,
    LabelLike,
    Named,
    TaskType,
    Unit,
    check_storable,
    gettext_noop,
    shorten,
)

LONGEST = 20_000


class Text(TaskType):
    """Free text. The canonical value is what was written, composed (NFC), without white space around it.

    Two people hardly ever write the same, so that a difference is a conflict only where the protocol says so.
    """

    key = "text"
    title = gettext_noop("Free text")
    level = "text"
    widget = "annotations/widgets/_text.html"
    wanted = gettext_noop("write one")
    needs_labels = False
    tolerated = 1.0

    def is_blank(self, raw: object) -> bool:
        return raw is None or (isinstance(raw, str) and not raw.strip())

    def clean(self, raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None = None) -> Json:
        if not isinstance(raw, str):
            raise AnswerError(f"Found {shorten(raw)} ({type(raw).__name__}) where a text belongs.")
        check_storable(raw)
        text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n")).strip()
        if not text:
            raise AnswerError("The answer is empty: write it in words.")
        if len(text) > LONGEST:
            raise AnswerError(f"The answer has {len(text)} characters: at most {LONGEST} are kept, so shorten it.")
        return text

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        return 0.0 if a == b else 1.0

    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        return [Unit(0, value)]

    def named(self, value: Json) -> list[str]:
        return []

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        if labels:
            return [f"Free text takes no labels, and the question has {len(labels)}: remove them."]
        return []

    def describe(self, value: Json, labels: Sequence[Named], content: Mapping[str, Json] | None = None) -> str:
        return str(value)
