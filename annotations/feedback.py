"""What a draft makes of the conflicts: which it answers, which it does not, and which examples no longer hold."""

from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, Min, Q

from annotations import cases
from annotations.conflicts import pair_key
from annotations.enums import CaseState
from annotations.models import Case, Resolution
from annotations.queue import Filters
from projects import mapping
from projects.models import Example, GuidelineVersion
from projects.task_types import Json


@dataclass(frozen=True)
class Confusion:
    """The conflicts between two labels of a question, and the draft's new or changed examples that settle them.

    `merged`: in the draft the two are one label, so that they cannot be confused any more. `waiting`: how many of the
    undecided wait for a third rating.
    """

    question_key: str
    pair: str
    names: list[str]
    count: int
    decided: int
    examples: list[Example] = field(default_factory=list)
    merged: bool = False
    waiting: int = 0

    @property
    def answered(self) -> bool:
        return bool(self.examples) or self.merged

    @property
    def keys(self) -> list[str]:
        """The two values as they stand in the pair: for labels their keys."""
        return self.pair.split("|")

    @property
    def undecided(self) -> int:
        return self.count - self.decided

    @property
    def query(self) -> str:
        """The filter of the queue that shows these conflicts."""
        undecided = CaseState.OPEN if self.undecided > self.waiting else CaseState.WAITING
        state = undecided if self.undecided else CaseState.DECIDED
        return Filters(state=state, question=self.question_key, pair=self.pair).query()


@dataclass(frozen=True)
class Contradiction:
    """An example of a draft whose decision was reopened. `decided`: what stands now; None while it is undecided."""

    example: Example
    reopened: Resolution
    standing: Resolution | None


def confusions(draft: GuidelineVersion) -> list[Confusion]:
    """The conflicts that came up under the version that `draft` is to follow, by pair of labels, most frequent first.

    An example that the published version had already did not keep them from coming up: it answers nothing.
    """
    base = draft.based_on
    if base is None or base.major is None:
        return []
    rows = (
        cases.of_project(draft.project)
        .filter(draw__wave__major=base.major)
        .values_list("question_key", "pair_key")
        .annotate(count=Count("pk"), decided=Count("pk", filter=Q(state=CaseState.DECIDED)), sample=Min("pk"))
        .annotate(waiting=Count("pk", filter=Q(state=CaseState.WAITING)))
        .order_by()
    )
    found = sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
    samples = Case.objects.select_related("draw__wave").defer("draw__population").in_bulk([row[4] for row in found])
    words = cases.Vocabulary({case.draw.wave.version_id for case in samples.values()})
    settled = _settled(draft, base)
    return [
        Confusion(
            question_key=question_key,
            pair=pair,
            names=words.pair(samples[sample].draw.wave.version_id, samples[sample]),
            count=count,
            decided=decided,
            examples=settled.get((question_key, pair), []),
            merged=_are_one(draft, question_key, pair),
            waiting=waiting,
        )
        for question_key, pair, count, decided, sample, waiting in found
    ]


def answered(draft: GuidelineVersion) -> tuple[list[Confusion], list[Confusion]]:
    """The confusions that the draft answers with an example, and those that it does not."""
    found = confusions(draft)
    return [one for one in found if one.answered], [one for one in found if not one.answered]


def contradicted(draft: GuidelineVersion) -> list[Contradiction]:
    """The draft's examples whose decision was reopened and has not come out the same again."""
    examples = {example.lineage: example for example in draft.examples.all()}
    reopened = (
        Resolution.objects.filter(case__draw__wave__project=draft.project, standing=False, lineage__in=examples)
        .select_related("reopened_by__user", "case")
        .order_by("reopened_at")
    )
    newest: dict[UUID, Resolution] = {one.lineage: one for one in reopened if one.lineage is not None}
    standing = {
        one.case_id: one
        for one in Resolution.objects.filter(standing=True, case__in=[one.case_id for one in newest.values()])
    }
    return [
        Contradiction(example, newest[lineage], standing.get(newest[lineage].case_id))
        for lineage, example in examples.items()
        if lineage in newest and not _same(standing.get(newest[lineage].case_id), example.value)
    ]


def _are_one(draft: GuidelineVersion, question_key: str, pair: str) -> bool:
    became = mapping.of(draft, question_key)
    return len({str(became.get(key, key)) for key in pair.split("|")}) == 1


def _same(standing: Resolution | None, value: Json) -> bool:
    return standing is not None and standing.value == value


def _settled(draft: GuidelineVersion, base: GuidelineVersion) -> dict[tuple[str, str], list[Example]]:
    """(question, pair) -> the examples for it that are new in `draft`, or changed."""
    before = {example.lineage: example for example in base.examples.all()}
    new = [example for example in draft.examples.all() if not _unchanged(example, before.get(example.lineage))]
    made_of = dict(
        Resolution.objects.filter(lineage__in=[example.lineage for example in new], standing=True)
        .order_by("at")
        .values_list("lineage", "case__pair_key")
    )
    settled: dict[tuple[str, str], list[Example]] = {}
    for example in new:
        pair = made_of.get(example.lineage)
        if example.confused_with is not None:
            pair = pair_key(example.value, example.confused_with)
        if pair is not None:
            settled.setdefault((example.question_key, pair), []).append(example)
    return settled


def _unchanged(example: Example, before: Example | None) -> bool:
    names = ("content_hash", "value", "confused_with", "rationale", "kind", "question_key")
    return before is not None and all(getattr(example, name) == getattr(before, name) for name in names)
