"""What is wrong with a set of labels, a sentence for each thing."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from projects.task_types.task_type import LabelLike, in_order


def _repeated(values: Sequence[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def count_problems(labels: Sequence[LabelLike], at_least: int = 2) -> list[str]:
    if len(labels) < at_least:
        found = f"{len(labels)} label{'' if len(labels) == 1 else 's'}"
        return [f"The question has {found}: it needs {at_least} or more."]
    return []


def name_problems(labels: Sequence[LabelLike]) -> list[str]:
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


def value_problems(labels: Sequence[LabelLike]) -> list[str]:
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


def order_problems(labels: Sequence[LabelLike]) -> list[str]:
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
