"""What versions ask, light enough to say thousands of values in words: their questions and labels, in one query."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from projects.models import Question
from projects.task_types import TASK_TYPES, Json, TaskType


@dataclass(frozen=True)
class AskedLabel:
    key: str
    name: str
    value: float | None
    order: int


@dataclass(frozen=True)
class Asked:
    """A question of one version with its labels, in their order."""

    key: str
    text: str
    task_type: str
    labels: tuple[AskedLabel, ...] = field(default=())

    @property
    def kind(self) -> TaskType:
        return TASK_TYPES[self.task_type]

    def say(self, value: Json, content: Mapping[str, Json] | None = None) -> str:
        """A value in the words of the labels; with the `content` of its item, parts of a text are quoted."""
        return self.kind.describe(value, self.labels, content)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(label.key for label in self.labels)


def of(versions: Iterable[int]) -> dict[int, dict[str, Asked]]:
    """Version -> key -> question, in the order in which they are asked."""
    rows = Question.objects.filter(version__in=set(versions)).order_by("order", "pk", "labels__order", "labels__pk")
    labels = ("labels__key", "labels__name", "labels__value", "labels__order")
    found: dict[int, dict[str, Asked]] = {}
    named: dict[tuple[int, str], list[AskedLabel]] = {}
    for version, key, text, task_type, *label in rows.values_list("version", "key", "text", "task_type", *labels):
        found.setdefault(version, {})[key] = Asked(key, text, task_type)
        known = named.setdefault((version, key), [])
        if label[0] is not None:  # a question without labels is one row too
            known.append(AskedLabel(*label))
    return {
        version: {key: replace(one, labels=tuple(named[version, key])) for key, one in questions.items()}
        for version, questions in found.items()
    }
