"""How often each label was given, by version and kind: what a change of a label set touches.

Ratings of a wave whose draw is open are left out, overlap and single alike: how often a label is used is part of what
its raters must not learn, and a lead may be one of them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform

from annotations.enums import SAMPLES, DrawState, WaveState
from annotations.models import Annotation, Wave
from projects.enums import VersionState
from projects.models import Project, Question
from projects.task_types import TASK_TYPES, TaskType

CHUNK = 2_000


@dataclass(frozen=True)
class Uses:
    """The ratings with one label under one version. `singles`: those that are an item's only rating by design."""

    version: str
    ratings: int
    singles: int


@dataclass(frozen=True)
class Counts:
    """`of` a label: its uses by version, oldest first. `left_out`: the numbers of waves that are not counted."""

    by_label: dict[str, list[Uses]]
    left_out: Sequence[int]

    def of(self, label: str) -> list[Uses]:
        return self.by_label.get(label, [])

    def ratings(self, label: str) -> int:
        return sum(uses.ratings for uses in self.of(label))

    def singles(self, label: str) -> int:
        return sum(uses.singles for uses in self.of(label))


def of_question(project: Project, question_key: str) -> Counts:
    """The newest revisions of all ratings in `project` on one question. Three queries, one of them grouped."""
    waiting = Q(draw__state=DrawState.OPEN) | Q(state=WaveState.OPENING)
    left_out = dict(Wave.objects.filter(waiting, project=project).order_by("number").values_list("pk", "number"))
    rows = (
        Annotation.objects.filter(item__project=project)
        .exclude(wave_item__wave__in=left_out)
        .exclude(wave_item__wave__state=WaveState.IMPORTING)
        .exclude(wave_item__wave__kind__in=SAMPLES)
        .annotate(answer=KeyTextTransform(question_key, "latest"))
        .filter(answer__isnull=False)
        .order_by("version__major", "version__minor", "answer")
        .values_list("answer", "version__major", "version__minor")
        .annotate(ratings=Count("pk"), singles=Count("pk", filter=Q(wave_item__draw__isnull=True)))
    )
    kinds = _kinds(project, question_key)
    found: dict[str, dict[str, Uses]] = {}
    for answer, major, minor, ratings, singles in rows.iterator(chunk_size=CHUNK):
        for label in _named(kinds.get((major, minor)), answer):
            uses, version = found.setdefault(label, {}), f"{major}.{minor}"
            before = uses.get(version, Uses(version, 0, 0))
            uses[version] = Uses(version, before.ratings + ratings, before.singles + singles)
    return Counts({label: list(uses.values()) for label, uses in found.items()}, list(left_out.values()))


def _kinds(project: Project, question_key: str) -> dict[tuple[int | None, int | None], TaskType]:
    """The kind of answer that each published version asks for."""
    rows = Question.objects.filter(version__project=project, version__state=VersionState.PUBLISHED, key=question_key)
    asked = rows.values_list("version__major", "version__minor", "task_type")
    return {(major, minor): TASK_TYPES[kind] for major, minor, kind in asked}


def _named(kind: TaskType | None, answer: str) -> list[str]:
    """The labels that an answer names, each once. A label is stored as itself, several or spans as JSON."""
    if kind is None or not kind.needs_labels:
        return []
    value = json.loads(answer) if answer.startswith("[") else answer
    return list(dict.fromkeys(kind.named(value)))
