"""How often each label was given, by version and kind: what a change of a label set touches.

Ratings of a wave whose draw is open are left out, overlap and single alike: how often a label is used is part of what
its raters must not learn, and a lead may be one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform

from annotations.enums import DrawState, WaveState
from annotations.models import Annotation, Wave
from projects.models import Project


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
    """The newest revisions of all ratings in `project` on one question. Two queries, one of them grouped."""
    waiting = Q(draw__state=DrawState.OPEN) | Q(state=WaveState.OPENING)
    left_out = dict(Wave.objects.filter(waiting, project=project).order_by("number").values_list("pk", "number"))
    rows = (
        Annotation.objects.filter(item__project=project)
        .exclude(wave_item__wave__in=left_out)
        .annotate(answer=KeyTextTransform(question_key, "latest"))
        .filter(answer__isnull=False)
        .order_by("version__major", "version__minor", "answer")
        .values_list("answer", "version__major", "version__minor")
        .annotate(ratings=Count("pk"), singles=Count("pk", filter=Q(wave_item__draw__isnull=True)))
    )
    found: dict[str, list[Uses]] = {}
    for answer, major, minor, ratings, singles in rows:
        found.setdefault(answer, []).append(Uses(f"{major}.{minor}", ratings, singles))
    return Counts(found, list(left_out.values()))
