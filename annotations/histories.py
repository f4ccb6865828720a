"""What happened to an item, for those who have to defend its label: waves, ratings, decisions, the final label.

Blind where it has to be: nothing of a wave whose draw is open for a lead who may still rate in it, and no rater's name
for an adjudicator while the item's case is open.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from annotations import draws, gold, inquiries, samples
from annotations.enums import AssignmentState, CaseState, GoldStatus, WaveState
from annotations.inquiries import Asked
from annotations.models import Assignment, Case, Draw, Resolution, WaveItem
from projects import access, reading
from projects.differences import say
from projects.enums import Action
from projects.models import Item, Membership


@dataclass(frozen=True)
class Said:
    """One person's rating or skip. `name` is empty where it must not be told; `surplus` is kept and does not count."""

    name: str
    answers: list[tuple[str, str]]
    skip: str
    comment: str
    at: datetime | None
    measured: bool
    corrected: bool
    surplus: bool = False


@dataclass(frozen=True)
class Passage:
    """The item in one wave. `hidden`: its draw is open, and the viewer may still rate in it."""

    wave_item: WaveItem
    hidden: bool
    said: list[Said]
    asked: list[Asked]


@dataclass(frozen=True)
class Final:
    """The final label on one question, and the decision behind it."""

    question: str
    label: str
    status: str
    decision: Resolution | None


@dataclass(frozen=True)
class History:
    passages: list[Passage]
    finals: list[Final]


def of_item(item: Item, member: Membership) -> History:
    """The history of `item` as `member` may see it."""
    rows = (
        WaveItem.objects.filter(item=item)
        .exclude(wave__state=WaveState.IMPORTING)
        .select_related("wave__version", "wave__project")
        .order_by("pk")
    )
    draw_of = {draw.pk: draw for draw in Draw.objects.filter(wave__wave_items__item=item).defer("population")}
    by_wave = {draw.wave_id: draw for draw in draw_of.values()}
    hides_names = _undecided(item) and access.allows(member, Action.ADJUDICATE)
    asked = inquiries.of_item(item, member)
    passages = []
    barred = any(draw.is_open and not draws.may_see_figures(draw, member) for draw in by_wave.values())
    for row in rows:
        draw = by_wave.get(row.wave_id)
        hidden = draw is not None and draw.is_open and not draws.may_see_figures(draw, member)
        if row.wave.is_sample:  # what was said again tells what was said before
            hidden = barred or not samples.may_see_figures(row.wave, member)
        about = [one for one in asked if one.inquiry.wave_item_id == row.pk]
        passages.append(Passage(row, hidden, [] if hidden else _said(row, hides_names), [] if hidden else about))
    finals = [] if any(passage.hidden for passage in passages) else _finals(item)
    return History(passages, finals)


def _undecided(item: Item) -> bool:
    return Case.objects.open().filter(item=item).exists()


def _said(row: WaveItem, hides_names: bool) -> list[Said]:
    assignments = (
        Assignment.objects.filter(wave_item=row)
        .exclude(state__in=[AssignmentState.OPEN, AssignmentState.LAPSED])
        .select_related("member__user", "annotation", "version")
    )
    # Without names not in the order of work either: by answer, so that the order tells nobody.
    found = [_one(assignment, hides_names) for assignment in assignments.order_by("ended_at", "pk")]
    return sorted(found, key=lambda said: (said.skip, said.answers)) if hides_names else found


def _one(assignment: Assignment, hides_name: bool) -> Said:
    name = "" if hides_name else assignment.member.name
    if assignment.state == AssignmentState.SKIPPED:
        skip = str(assignment.get_skip_reason_display())
        return Said(name, [], skip, assignment.skip_note, None if hides_name else assignment.ended_at, False, False)
    annotation = assignment.annotation
    questions = reading.content(assignment.version).questions
    answers = [
        (question.text, say(question, annotation.latest[question.key]))
        for question in questions
        if question.key in annotation.latest
    ]
    return Said(
        name=name,
        answers=answers,
        skip="",
        comment=annotation.comment,
        at=None if hides_name else annotation.submitted_at,
        measured=annotation.draw_id is not None and annotation.slot_id is not None,
        corrected=annotation.revisions_count > 1,
        surplus=annotation.slot_id is None,
    )


def _finals(item: Item) -> list[Final]:
    decided = {case.question_key: case for case in Case.objects.decided().filter(item=item, state=CaseState.DECIDED)}
    standing = {
        resolution.case_id: resolution
        for resolution in Resolution.objects.filter(case__item=item, standing=True).select_related(
            "by__user", "example"
        )
    }
    finals = []
    for one in gold.of_item(item):
        case = decided.get(one.question_key)
        label = one.label or (_("no final label yet") if one.status in (GoldStatus.OPEN, GoldStatus.PARTIAL) else "")
        decision = standing.get(case.pk) if case else None
        finals.append(Final(one.question_key, label, str(GoldStatus(one.status).label), decision))
    return finals


def may_correct(item: Item, member: Membership) -> bool:
    """Whether the viewer may replace the text by a corrected one."""
    return access.allows(member, Action.IMPORT) and item.superseded_by_id is None
