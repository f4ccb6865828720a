"""What happened to an item, for those who have to defend its label: waves, ratings, decisions, the final label.

Blind where it has to be: nothing of a wave whose draw is open for a lead who may still rate in it, and no rater's name
for an adjudicator while the item's case is open.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, FilteredRelation, OuterRef, Q
from django.utils.translation import gettext as _

from annotations import draws, gold, inquiries, samples
from annotations.enums import AssignmentState, CaseState, GoldStatus, WaveState
from annotations.inquiries import Asked
from annotations.models import Assignment, Case, Resolution, WaveItem
from projects import access, asked
from projects.asked import Asked as Question
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
    hidden_draw = draws.hidden_from(member).filter(wave=OuterRef("wave"))
    rows = (
        WaveItem.objects.filter(item=item)
        .exclude(wave__state=WaveState.IMPORTING)
        .select_related("wave__version", "wave__project")
        .annotate(in_hidden_draw=Exists(hidden_draw))
        .order_by("pk")
    )
    decisions = _cases(item)
    hides_names = access.allows(member, Action.ADJUDICATE) and any(c.state != CaseState.DECIDED for c in decisions)
    barred = {row.pk for row in rows if row.in_hidden_draw}
    # What was said again tells what was said before.
    hidden = {
        row.pk for row in rows if row.wave.is_sample and (barred or not samples.may_see_figures(row.wave, member))
    }
    hidden |= barred
    said = _said([row for row in rows if row.pk not in hidden], hides_names)
    about: dict[int, list[Asked]] = {}
    for one in inquiries.of_item(item, member):
        about.setdefault(one.inquiry.wave_item_id, []).append(one)
    passages = [
        Passage(row, hidden=True, said=[], asked=[])
        if row.pk in hidden
        else Passage(row, hidden=False, said=said.get(row.pk, []), asked=about.get(row.pk, []))
        for row in rows
    ]
    return History(passages, [] if hidden else _finals(item, decisions))


def _cases(item: Item) -> list[Case]:
    """The cases of `item`, each with the resolution that stands as `decision`, if there is one."""
    standing = FilteredRelation("resolutions", condition=Q(resolutions__standing=True))
    rows = Case.objects.filter(item=item).annotate(decision=standing)
    return list(rows.select_related("decision__by__user", "decision__example"))  # type: ignore[misc]  # named above


def _said(rows: Sequence[WaveItem], hides_names: bool) -> dict[int, list[Said]]:
    """Item in a wave -> what was said of it; two queries, however many waves and raters there are."""
    assignments = list(
        Assignment.objects.filter(wave_item__in=rows)
        .exclude(state__in=[AssignmentState.OPEN, AssignmentState.LAPSED])
        .select_related("member__user", "annotation")
        .order_by("ended_at", "pk")
    )
    questions = asked.of({assignment.version_id for assignment in assignments})
    found: dict[int, list[Said]] = {}
    for one in assignments:
        found.setdefault(one.wave_item_id, []).append(_one(one, questions.get(one.version_id, {}), hides_names))
    if not hides_names:
        return found
    # Without names not in the order of work either: by answer, so that the order tells nobody.
    return {row: sorted(said, key=lambda one: (one.skip, one.answers)) for row, said in found.items()}


def _one(assignment: Assignment, questions: Mapping[str, Question], hides_name: bool) -> Said:
    name = "" if hides_name else assignment.member.name
    if assignment.state == AssignmentState.SKIPPED:
        skip = str(assignment.get_skip_reason_display())
        return Said(name, [], skip, assignment.skip_note, None if hides_name else assignment.ended_at, False, False)
    annotation = assignment.annotation
    answers = [
        (question.text, "" if annotation.latest[key] is None else question.say(annotation.latest[key]))
        for key, question in questions.items()
        if key in annotation.latest
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


def _finals(item: Item, found: Iterable[Case]) -> list[Final]:
    decided = {case.question_key: case for case in found if case.state == CaseState.DECIDED}
    finals = []
    for one in gold.of_item(item):
        case = decided.get(one.question_key)
        label = one.label or (_("no final label yet") if one.status in (GoldStatus.OPEN, GoldStatus.PARTIAL) else "")
        decision: Resolution | None = getattr(case, "decision", None)
        if case and decision:
            decision.case = case  # its page is linked
        finals.append(Final(one.question_key, label, str(GoldStatus(one.status).label), decision))
    return finals


def may_correct(item: Item, member: Membership) -> bool:
    """Whether the viewer may replace the text by a corrected one."""
    return access.allows(member, Action.IMPORT) and item.superseded_by_id is None
