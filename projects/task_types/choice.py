"""One label of a set: a category, or a step of an ordered scale."""

from collections.abc import Mapping, Sequence

from projects.task_types.label_sets import count_problems, name_problems, order_problems, value_problems
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


class Choice(TaskType):
    """One label of a set. The canonical value is the key of the label."""

    widget = "annotations/widgets/_choice.html"

    def clean(self, raw: object, labels: Sequence[LabelLike], content: Mapping[str, Json] | None = None) -> Json:
        # No coercion: 1, "1" and true are three different answers, and guessing which was meant would make data.
        keys = {label.key for label in labels}
        if isinstance(raw, str) and raw in keys:
            return raw
        known = allowed(labels)
        if raw is None or raw == "":
            raise AnswerError(f"No label was given: choose one of {known}.")
        if isinstance(raw, str):
            raise AnswerError(f"{shorten(raw)} is not a label of this question: choose one of {known}.")
        kind = type(raw).__name__
        raise AnswerError(f"Found {shorten(raw)} ({kind}) where the key of one label belongs: one of {known}.")

    def units(self, value: Json, item: Mapping[str, Json]) -> list[Unit]:
        return [Unit(0, value)]

    def named(self, value: Json) -> list[str]:
        return [str(value)]

    def renamed(self, value: Json, names: Mapping[str, str]) -> Json:
        return names.get(str(value), value)

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*count_problems(labels), *name_problems(labels), *value_problems(labels)]

    def middle(self, values: Sequence[Json], labels: Sequence[LabelLike]) -> Json:
        # The lower median, in declared order: an answer that somebody gave, and the same whoever comes first.
        places: dict[Json, int] = {label.key: place for place, label in enumerate(in_order(labels))}
        ordered = sorted(values, key=lambda value: (places.get(value, len(places)), str(value)))
        return ordered[(len(ordered) - 1) // 2]

    def describe(self, value: Json, labels: Sequence[Named], content: Mapping[str, Json] | None = None) -> str:
        return name_of(str(value), labels)


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
    numbered = True

    def gap(self, a: Json, b: Json, labels: Sequence[LabelLike]) -> float:
        if a == b:
            return 0.0
        # Declared positions, not those that were used: an unused step between two labels keeps its place.
        positions: dict[Json, int] = {label.key: place for place, label in enumerate(in_order(labels))}
        unknown = [value for value in (a, b) if value not in positions]
        if unknown:
            raise AnswerError(f"{shorten(unknown[0])} is not a step of this scale: {', '.join(map(repr, positions))}.")
        return abs(positions[a] - positions[b]) / (len(positions) - 1)

    def check_labels(self, labels: Sequence[LabelLike]) -> list[str]:
        return [*super().check_labels(labels), *order_problems(labels)]
