"""What labels of the version before become in a version.

`GuidelineVersion.label_mapping` is question key -> label key -> the key of one label, where every old label of that
kind is one of the new kind (merged), or a list of keys, where it is one of several and nobody knows which (split). A
label that is not named keeps what it is. Each version says it of the one before, so that a label which comes back
later, under its old key, is not mapped away.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from projects.models import GuidelineVersion
from projects.task_types import Json, TaskType

Target: TypeAlias = str | list[str]


def of(version: GuidelineVersion, question_key: str) -> dict[str, Target]:
    """Old label -> what it becomes, for one question."""
    return dict(version.label_mapping.get(question_key, {}))


def save(draft: GuidelineVersion, question_key: str, mapping: Mapping[str, Target]) -> None:
    """Store the mapping of one question. The caller holds the draft."""
    kept = {key: targets for key, targets in draft.label_mapping.items() if key != question_key}
    draft.label_mapping = kept | {question_key: dict(sorted(mapping.items()))} if mapping else kept
    draft.save(update_fields=["label_mapping"])


def label_gone(draft: GuidelineVersion, question_key: str, label: str) -> None:
    """A label left the draft: nothing can become it any more."""
    found = of(draft, question_key)
    kept = {old: _without(target, label) for old, target in found.items()}
    if kept != found:
        save(draft, question_key, {old: target for old, target in kept.items() if target})


def labels_back(draft: GuidelineVersion, question_key: str, labels: Iterable[str]) -> None:
    """Labels are in the draft again: they need not become another one."""
    found, back = of(draft, question_key), set(labels)
    kept = {old: target for old, target in found.items() if old not in back}
    if kept != found:
        save(draft, question_key, kept)


def names(version: GuidelineVersion, question_key: str) -> dict[str, str]:
    """Old label -> the one label that it becomes; what was divided is not there."""
    targets = version.label_mapping.get(question_key, {})
    return {old: target for old, target in targets.items() if isinstance(target, str)}


def followed(value: Json, kind: TaskType, question_key: str, versions: Iterable[GuidelineVersion]) -> Json:
    """What `value` is under the last of `versions` (in their order, those after the one it was given under)."""
    return renamed(value, kind, (names(version, question_key) for version in versions))


def renamed(value: Json, kind: TaskType, steps: Iterable[Mapping[str, str]]) -> Json:
    """What `value` becomes when its labels get the names of each step, one step after another."""
    for step in steps:
        if step:
            value = kind.renamed(value, step)
    return value


def _without(target: Target, label: str) -> Target:
    if isinstance(target, str):
        return "" if target == label else target
    return [key for key in target if key != label]
