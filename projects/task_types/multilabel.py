"""A set of labels. The empty set is an answer: none of these holds."""

from collections.abc import Mapping, Sequence

from projects.task_types.label_sets import count_problems, name_problems, value_problems
from projects.task_types.task_type import (
    AnswerError,
    Json,
    LabelLike,
    Named,
    TaskType,
    Unit,
    allowed,
    gettext_noop,
    in_order,
    name_of,
    shorten,
)

# What the form sends for "none of these". No label has such a key.
NONE_OF_THESE = "[]"


class MultiLabel(TaskType):
    """The labels that hold, none of them allowed. The canonical value is the list of their keys in declared order."""

    key = "multilabel"
    title = gettext_noop("Any number of categories, or none")
    level = "multilabel"
    widget = "annotations/widgets/_multilabel.html"
    wanted = gettext_noop("choose what holds, or say that none of these does")

    def read(self, posted: Sequence[str]) -> Json:
        return [] if list(posted) == [NONE_OF_THESE] else list(posted)

    def clean(self, raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None = None) -> Json:
        if not isinstance(raw, list):
            kind = type(raw).__name__
            raise AnswerError(f"Found {shorten(raw)} ({kind}) where a list of labels belongs: of {allowed(labels)}.")
        if NONE_OF_THESE in raw and len(raw) > 1:
            raise AnswerError("Found labels together with “none of these”: take one or the other.")
        known = {label.key for label in labels}
        for one in raw:
            if not isinstance(one, str) or one not in known:
                raise AnswerError(f"{shorten(one)} is not a label of this question: choose of {allowed(labels)}.")
        return [label.key for label in in_order(labels) if label.key in raw]

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        """Jaccard's distance: the share of the labels that either chose and not both did."""
        first, second = set(self.named(a)), set(self.named(b))
        either = len(first | second)
        return 1 - len(first & second) / either if either else 0.0

    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        return [Unit(0, value)]

    def named(self, value: Json) -> list[str]:
        return [str(one) for one in value] if isinstance(value, list) else []

    def renamed(self, value: Json, names: Mapping[str, str]) -> Json:
        """Two labels that became one are named once. The order is that of the old labels: `clean` gives the new one."""
        keys: list[Json] = []
        keys += dict.fromkeys(names.get(key, key) for key in self.named(value))
        return keys

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*count_problems(labels), *name_problems(labels), *value_problems(labels)]

    def describe(self, value: Json, labels: Sequence[Named], content: Mapping[str, Json] | None = None) -> str:
        return ", ".join(name_of(key, labels) for key in self.named(value)) or gettext_noop("none of these")
