"""What became of somebody's labels once their draw has closed: where the final label is another one, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from annotations import gold, labelling
from annotations.enums import DrawState, GoldStatus
from annotations.gold import Gold
from annotations.models import Annotation
from projects import reading
from projects.models import Membership
from projects.reading import QuestionReading
from projects.task_types import Json

# Of these ways to a final label another one can come out than somebody gave.
FINAL = {
    GoldStatus.CONSENSUS,
    GoldStatus.ADJUDICATED,
    GoldStatus.MEDIAN,
    GoldStatus.MAJORITY,
    GoldStatus.CORRECTED,
    GoldStatus.WITHIN_TOLERANCE,
}
# Why, where nobody had to decide.
WHY = {
    GoldStatus.WITHIN_TOLERANCE: gettext_lazy(
        "The labels were close enough to be no conflict: the middle one stands, of two the lower."
    ),
    GoldStatus.CORRECTED: gettext_lazy("A lead checked it and corrected it."),
}


@dataclass(frozen=True)
class Outcome:
    """A label that did not become the final one, both in words. `cause` and `by` are those of a person's decision,
    `rule` that of a protocol's."""

    annotation: Annotation
    question: str
    mine: str
    final: str
    status: str
    rationale: str
    cause: str
    by: str
    rule: str = ""


def measured(member: Membership) -> QuerySet[Annotation]:
    """The measured labels of `member` in closed draws, newest first; nothing else can have come out otherwise."""
    rows = labelling.history(member).filter(draw__state=DrawState.CLOSED)
    # An item may be in a second wave, whose draw is open: nothing of it then.
    return rows.exclude(item__wave_items__wave__draw__state=DrawState.OPEN)


def of(rows: Sequence[Annotation]) -> list[Outcome]:
    """Where the final label differs from those of `rows` as they are now; a fixed number of queries."""
    by_item: dict[int, Annotation] = {}
    for row in rows:
        by_item.setdefault(row.item_id, row)
    asked = {row.version_id: row.version for row in rows}
    questions = {pk: {one.key: one for one in reading.questions(version)} for pk, version in asked.items()}
    differing = []
    for one in gold.of_items([row.item for row in by_item.values()]):
        row = by_item[one.item.pk]
        question = questions[row.version_id].get(one.question_key)
        mine = row.latest.get(one.question_key)
        if question is not None and mine is not None and one.status in FINAL and one.value != mine:
            differing.append(_outcome(row, question, mine, one))
    return differing


def _outcome(row: Annotation, question: QuestionReading, mine: Json, one: Gold) -> Outcome:
    decision = one.decision
    return Outcome(
        annotation=row,
        question=question.text,
        mine=question.kind.describe(mine, question.labels, row.item.content),
        final=question.kind.describe(one.value, question.labels, row.item.content),
        status=str(one.status.label),
        rationale=decision.rationale if decision else str(WHY.get(one.status, "")),
        cause=str(decision.get_cause_display()) if decision else "",
        by=decision.by.name if decision and decision.by else "",
        rule=str(decision.get_rule_display()) if decision else "",
    )
