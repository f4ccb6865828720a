"""Conflicts as they may be read: who may decide which, their values in words, and what the page of one shows.

Nothing here names a rater before the case is decided, neither in words nor in an order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import contrast, marked, sheets
from annotations.conflicts import canonical
from annotations.enums import CaseState
from annotations.models import Annotation, Case, CaseQuerySet, Opinion, Resolution
from annotations.sheets import Shown
from projects import asked, guidelines
from projects.asked import Asked
from projects.models import Example, Membership, Project, in_order
from projects.reading import LabelReading, QuestionReading
from projects.task_types import Json

LONGEST_NAME = 80


def of_project(project: Project) -> CaseQuerySet:
    """Every conflict of `project`."""
    return Case.objects.filter(draw__wave__project=project)


def rated_by(member: Membership) -> Exists:
    """As a condition on cases: whether `member` rated the item. Who did does not adjudicate it."""
    return Exists(Annotation.objects.filter(item=OuterRef("item"), member=member))


def told_by(member: Membership) -> Exists:
    """As a condition on cases: whether `member` gave their opinion, and another lead's is waited for."""
    waiting = Opinion.objects.filter(second_opinion__case=OuterRef("pk"), second_opinion__outcome="")
    return Exists(waiting.filter(by=member))


def decided_by(member: Membership) -> "ExpressionWrapper[Q]":
    """As a value of open cases: whether `member` may decide it. All but those on items that they rated, and those on
    which they have said what they think and another lead is still to."""
    return ExpressionWrapper(Q(~rated_by(member), ~told_by(member)), output_field=BooleanField())


def for_member(member: Membership) -> CaseQuerySet:
    """The open conflicts that `member` may decide."""
    return of_project(member.project).open().filter(~rated_by(member), ~told_by(member))


def open_count(member: Membership) -> int:
    """How many conflicts wait for a decision that `member` may take."""
    return for_member(member).count()


def unheld(cases: CaseQuerySet, member: Membership, *, at: datetime) -> CaseQuerySet:
    """Those that no other lead is just deciding."""
    return cases.filter(Q(claimed_by__isnull=True) | Q(claim_ends__lte=at) | Q(claimed_by=member))


def find(member: Membership, uuid: UUID) -> Case:
    """A conflict of the member's project with all that its page shows; Http404."""
    case = (
        of_project(member.project)
        .select_related("item__project", "draw__wave__version__project", "claimed_by__user")
        .select_related("first__member__user", "second__member__user", "wave_item")
        .defer("draw__population")  # megabytes for a large wave
        .filter(uuid=uuid)
        .first()
    )
    if case is None:
        raise Http404(_("There is no such case in this project."))
    return case


@dataclass(frozen=True)
class Side:
    """What one of the two raters said. `rater` is empty until nothing on the item is undecided any more.

    `later`: what they changed it to after the measurement, in words. `sent_back`: they are asked to look again.
    `marked`: the item's texts with what they marked in them, where the question asks for that.
    """

    letter: str
    value: Json
    name: str
    labels: list[LabelReading]
    comment: str
    rater: str
    later: str = ""
    sent_back: str = ""
    marked: tuple[Shown, ...] = ()


@dataclass(frozen=True)
class Dossier:
    """All that the page of a case shows. `others`: what the remaining raters said, in the order of the labels."""

    case: Case
    fields: list[tuple[str, object]]
    question: QuestionReading
    sides: tuple[Side, Side]
    others: list[tuple[str, str]]
    own: bool
    holder: Membership | None
    standing: Resolution | None
    standing_name: str
    history: list[tuple[Resolution, str]]
    twin: Example | None

    @property
    def shown(self) -> list[Shown]:
        """The fields as they stand on the page, with the words marked that tell two texts apart; but not where the
        question's own marks stand in them."""
        content = {name: cast(Json, value) for name, value in self.fields}
        return sheets.shown(content) if self.question.kind.script else contrast.shown(content)

    @property
    def is_open(self) -> bool:
        return self.case.state == CaseState.OPEN

    @property
    def cell(self) -> list[str]:
        """The keys of the two labels in the order of the guideline; empty where an answer is not one label."""
        said = [side.value for side in self.sides]
        return keys if len(keys := [label.key for label in self.question.labels if label.key in said]) == 2 else []

    @property
    def is_waiting(self) -> bool:
        return self.case.state == CaseState.WAITING


def dossier(case: Case, member: Membership, *, at: datetime) -> Dossier:
    """The page of `case` (from `find`) as `member` sees it."""
    question = question_of(case, member)
    resolutions = list(case.resolutions.select_related("by__user", "reopened_by__user", "example__version"))
    standing = next((resolution for resolution in resolutions if resolution.standing), None)
    reopened = sorted((one for one in resolutions if not one.standing), key=lambda one: one.at)
    return Dossier(
        case=case,
        fields=shown(case, member),
        question=question,
        sides=_sides(case, question),
        others=_others(case, question),
        own=has_rated(case, member),
        holder=holder_of(case, at=at),
        standing=standing,
        standing_name=describe(question, standing.value, case.item.content) if standing else "",
        history=[(one, describe(question, one.value, case.item.content)) for one in reopened],
        twin=twin_in_draft(case),
    )


def question_of(case: Case, member: Membership | None = None) -> QuestionReading:
    """The question of `case` with labels, rules and examples, as the version says under which it was rated; with the
    own keys of `member`, who is to choose a label by them."""
    version = case.draw.wave.version
    question = guidelines.reading(version, member.hotkeys if member else None).question(case.question_key)
    if question is None:
        raise Http404(_("The question of this case is not part of guideline %(version)s.") % {"version": version})
    return question


def shown(case: Case, member: Membership) -> list[tuple[str, object]]:
    """What is shown of the item, field by field."""
    return in_order(case.item.content, member.project.shown_fields)


def has_rated(case: Case, member: Membership) -> bool:
    """Whether `member` rated the item of `case`, in whatever wave and whether it counted or not."""
    return Annotation.objects.filter(item=case.item_id, member=member).exists()


def holder_of(case: Case, *, at: datetime) -> Membership | None:
    """Who is deciding `case` at the moment."""
    if case.state != CaseState.OPEN or case.claim_ends is None or case.claim_ends <= at:
        return None
    return case.claimed_by


def twin_in_draft(case: Case) -> Example | None:
    """The example of the draft that shows the text of this case, if it is one already."""
    return Example.objects.filter(
        version__project=case.item.project_id,
        version__state="draft",
        question_key=case.question_key,
        folded_hash=case.item.folded_hash,
    ).first()


def describe(question: QuestionReading, value: Json, content: Mapping[str, Json]) -> str:
    """A value in the words of its labels and of the item."""
    return question.kind.describe(value, question.labels, content)


def sides(case: Case) -> tuple[Side, Side]:
    """What the two raters of `case` (from `find`) said."""
    return _sides(case, question_of(case))


def _sides(case: Case, question: QuestionReading) -> tuple[Side, Side]:
    named = case.state == CaseState.DECIDED and not _has_open_sibling(case)
    again = {row.annotation_id: row.reason for row in case.sent_back.waiting()}

    def side(letter: str, annotation: Annotation, value: Json, other: Json) -> Side:
        now, measured = annotation.latest.get(case.question_key), annotation.answers.get(case.question_key)
        return Side(
            letter=letter,
            value=value,
            name=describe(question, value, case.item.content),
            labels=[label for key in question.kind.named(value) if (label := question.label(key)) is not None],
            comment=annotation.comment,
            rater=annotation.member.name if named else "",
            later=describe(question, now, case.item.content) if now is not None and now != measured else "",
            sent_back=again.get(annotation.pk, ""),
            marked=_marked(case, question, value, other),
        )

    first, second = case.first_value, case.second_value
    return side("A", case.first, first, second), side("B", case.second, second, first)


def _marked(case: Case, question: QuestionReading, value: Json, other: Json) -> tuple[Shown, ...]:
    if not question.kind.script:
        return ()
    project = case.item.project
    content = {name: cast(Json, text) for name, text in in_order(case.item.content, project.shown_fields)}
    return tuple(marked.shown(content, value, other, question.labels, alone=len(content) == 1))


@dataclass(frozen=True)
class Sibling:
    """Another question on which the same item is, or was, in conflict."""

    case: Case
    question: str
    confusion: str


def siblings(case: Case) -> list[Sibling]:
    """The other conflicts on the item of `case`, in the order of the questions."""
    rows = {row.question_key: row for row in Case.objects.filter(wave_item=case.wave_item_id).exclude(pk=case.pk)}
    if not rows:
        return []
    version = case.draw.wave.version_id
    words = Vocabulary([version])
    known = [question for question in guidelines.reading(case.draw.wave.version).questions if question.key in rows]
    return [Sibling(row := rows[one.key], one.text, " / ".join(words.pair(version, row))) for one in known]


def _has_open_sibling(case: Case) -> bool:
    """Whether another question on the same item is undecided: its raters are the same, and so are their comments."""
    return Case.objects.undecided().filter(item=case.item_id).exclude(pk=case.pk).exists()


def _others(case: Case, question: QuestionReading) -> list[tuple[str, str]]:
    """(label, comment) of the measured ratings that are not shown as A and B; by label, never by rater."""
    # By item alone: a database that goes by the draw would look at every rating of it.
    rows = Annotation.objects.filter(wave_item=case.wave_item_id, slot__isnull=False)
    given = [
        (row.answers[case.question_key], row.comment)
        for row in rows.exclude(pk__in=[case.first_id, case.second_id])
        if row.draw_id == case.draw_id and row.answers.get(case.question_key) is not None
    ]
    order = {label.key: label.order for label in question.labels}
    given.sort(key=lambda pair: (order.get(canonical(pair[0]), len(order)), canonical(pair[0]), pair[1]))
    return [(describe(question, value, case.item.content), comment) for value, comment in given]


class Vocabulary:
    """The questions of some versions with their labels, to say values in words. One query."""

    def __init__(self, versions: Iterable[int]) -> None:
        self._questions = asked.of(versions)

    def question(self, version: int, key: str) -> Asked | None:
        return self._questions.get(version, {}).get(key)

    def name(self, version: int, key: str, value: Json, content: Mapping[str, Json] | None = None) -> str:
        question = self.question(version, key)
        if question is None:
            return canonical(value)
        named = question.say(value, content)
        return named if len(named) <= LONGEST_NAME else f"{named[: LONGEST_NAME - 1]}…"

    def pair(self, version: int, case: Case, content: Mapping[str, Json] | None = None) -> list[str]:
        """The names of a case's two values in the order of the labels, which says nothing about the raters.

        With the `content` of its item, parts of a text are quoted instead of counted.
        """
        question = self.question(version, case.question_key)
        order = {label.key: place for place, label in enumerate(question.labels)} if question else {}
        values = sorted(
            (case.first_value, case.second_value),
            key=lambda value: (order.get(canonical(value), len(order)), canonical(value)),
        )
        return [self.name(version, case.question_key, value, content) for value in values]
