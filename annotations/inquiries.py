"""Questions about an item, asked with the item in hand or afterwards, and their answers (DESIGN §2.4).

Leads read a question at once, but for those who may still rate the item: that somebody else has it would tell them
that it is measured. The answer waits for the draw of the item's wave to close, for a single item too, and then reaches
everybody who asked or rated. Who asked is not named to adjudicators as long as the item may be, or is, a conflict.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, Subquery
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import draws, sheets
from annotations.enums import WaveKind
from annotations.models import Annotation, Assignment, Case, Draw, Heard, Inquiry, InquiryQuerySet, Wave
from projects import access, activities, drafts, guidelines, reading
from projects.enums import Action, ExampleKind, Origin
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Example, Item, Membership
from projects.reading import QuestionReading
from projects.task_types import Json

TEXT_LIMIT = 2_000
ANSWER_LIMIT = 5_000


class Answered(DomainError):
    """Somebody else has answered this already, and otherwise."""

    code = "answered"


class StillMeasured(DomainError):
    """What was asked about an item becomes no example before the measurement of its wave has ended."""

    code = "still_measured"


def _measured() -> Q:
    """As a condition on inquiries: whether a wave of the item has an open draw, be the item part of it or not, or the
    item is just being rated again, in a sample."""
    again = Wave.samples.unfinished().exclude(kind=WaveKind.SPOTCHECK).filter(wave_items__item=OuterRef("item"))
    return Q(Exists(Draw.objects.open().filter(wave__wave_items__item=OuterRef("item")))) | Q(Exists(again))


# -- asking ------------------------------------------------------------------------------------------------------------


@transaction.atomic
def ask(member: Membership, assignment: UUID, *, text: str, at: datetime) -> Inquiry:
    """Ask about the item of one of the member's assignments, in hand or not. The same question twice is one.

    Raises Http404 for somebody else's assignment, Invalid.
    """
    row = Assignment.objects.select_for_update(of=("self",)).filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    cleaned = _clean(text, limit=TEXT_LIMIT, name=_("question"))
    if not cleaned:
        raise Invalid(_("Write what you want to know about the item."))
    # The assignment is locked: of two requests with the same text the second finds the first one's row.
    found, _made = Inquiry.objects.get_or_create(
        item_id=row.item_id, by=member, text=cleaned, defaults={"wave_item_id": row.wave_item_id, "at": at}
    )
    return found


def assignment_of(member: Membership, assignment: UUID) -> Assignment:
    """One of the member's own assignments, with its item. Http404 for somebody else's."""
    row = Assignment.objects.select_related("item", "version").filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    return row


# -- for leads ---------------------------------------------------------------------------------------------------------


def for_lead(member: Membership) -> InquiryQuerySet:
    """The questions that `member` may read: none on an item of a wave in which they may still rate the overlap."""
    hidden = draws.hidden_from(member).filter(wave__wave_items__item=OuterRef("item"))
    rows = Inquiry.objects.filter(~Exists(hidden), item__project=member.project_id)
    return rows.annotate(
        is_measured=ExpressionWrapper(_measured(), BooleanField()),
        is_undecided=Exists(Case.objects.undecided().filter(item=OuterRef("item"))),
    ).select_related("item", "wave_item__wave", "by__user", "answered_by__user", "example__version")


def waiting(member: Membership) -> InquiryQuerySet:
    """The questions that wait for an answer, and that `member` may give one to."""
    return for_lead(member).open() if access.allows(member, Action.EDIT_GUIDELINE) else Inquiry.objects.none()


@dataclass(frozen=True)
class Asked:
    """A question as a lead reads it. `name` and `at` are empty where they would tell who rated the item."""

    inquiry: Inquiry
    words: str
    name: str
    at: datetime | None
    measured: bool


def shown(rows: Iterable[Any], member: Membership) -> list[Asked]:
    """`rows` (from `for_lead`) as `member` reads them."""
    adjudicates = access.allows(member, Action.ADJUDICATE)
    fields = member.project.shown_fields
    return [
        Asked(
            inquiry=row,
            words=sheets.first_words(row.item, fields),
            name="" if adjudicates and _may_be_conflict(row) else row.by.name,
            at=None if adjudicates and _may_be_conflict(row) else row.at,
            measured=row.is_measured,
        )
        for row in rows
    ]


def _may_be_conflict(row: Any) -> bool:
    return bool(row.is_measured or row.is_undecided)


def of_item(item: Item, member: Membership) -> list[Asked]:
    """What was asked about `item`, as `member` may read it."""
    return shown(for_lead(member).filter(item=item), member)


def find(member: Membership, uuid: UUID) -> Asked:
    """One question that `member` may read; Http404."""
    row = for_lead(member).filter(uuid=uuid).first()
    if row is None:
        raise Http404(_("There is no such question in this project."))
    return shown([row], member)[0]


@transaction.atomic
def answer(inquiry: Inquiry, *, text: str, by: Membership, at: datetime) -> Inquiry:
    """Answer a question. The same answer twice is one. Raises NotAllowed, Invalid, Answered."""
    _require(inquiry, by)
    cleaned = _clean(text, limit=ANSWER_LIMIT, name=_("answer"))
    if not cleaned:
        raise Invalid(_("Write the answer: everybody who labelled the item reads it."))
    unanswered = Inquiry.objects.open().filter(pk=inquiry.pk)
    told = unanswered.update(answer=cleaned, answered_by=by, answered_at=at)
    if told:
        # Which item was asked about is not said: who may still rate it would learn that somebody else has it.
        wave = inquiry.wave_item.wave.uuid
        activities.record("inquiry_answered", by.project_id, by=by, until_closed=wave, at=at)
    inquiry.refresh_from_db(fields=["answer", "answered_by", "answered_at"])
    if not told and (inquiry.answer, inquiry.answered_by) != (cleaned, by):
        raise Answered(
            _("%(name)s answered this on %(when)s: read that answer first.")
            % {"name": _name(inquiry.answered_by), "when": _day(inquiry.answered_at)}
        )
    return inquiry


# -- the way into the guideline ----------------------------------------------------------------------------------------


def askable(member: Membership) -> tuple[QuestionReading, ...]:
    """The questions under which an example can be written: those of the draft, else of the newest version."""
    version = drafts.current(member.project) or guidelines.newest(member.project)
    return reading.reading(version).questions if version else ()


@transaction.atomic
def promote(
    inquiry: Inquiry,
    *,
    question_key: str,
    content: Mapping[str, Json],
    value: Json,
    by: Membership,
    at: datetime,
    confused_with: Json = None,
    rationale: str = "",
    kind: str = ExampleKind.CLEAR,
) -> Example:
    """Put the item that was asked about into the draft as an example; without a rationale the answer is it.

    Promoted twice it is one example, changed. Raises StillMeasured, NotAllowed, Invalid.
    """
    _require(inquiry, by)
    row = Inquiry.objects.select_for_update(of=("self",)).select_related("item__project").get(pk=inquiry.pk)
    if row.answered_at is None:
        raise Invalid(_("This question has no answer yet: answer it, then use it as an example."))
    if Inquiry.objects.filter(_measured(), pk=row.pk).exists():
        raise StillMeasured(
            _("The measurement of this item’s wave is open: an example of it has to wait until it has closed.")
        )
    made = guidelines.add_example(
        guidelines.draft_of(row.item.project, by=by, at=at),
        question_key=question_key,
        content=content,
        value=value,
        confused_with=confused_with,
        rationale=rationale.strip() or row.answer,
        kind=kind,
        origin=Origin.ASKED,
        lineage=row.lineage,
        by=by,
        at=at,
    )
    row.example, row.lineage = made, made.lineage
    row.save(update_fields=["example", "lineage"])
    inquiry.example, inquiry.lineage = made, made.lineage
    return made


# -- for those who asked or rated --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A question as somebody who asked it or rated the item reads it. What it does not carry it cannot tell.

    `answer` is empty until it may be read; `mine`: they asked it themselves. What others asked comes with an answer.
    """

    inquiry: UUID
    number: int
    item: Item
    text: str
    mine: bool
    answer: str
    answered_by: str
    is_new: bool


def _told() -> Q:
    """As a condition on inquiries: whether the answer may be read by those whom it is for."""
    return Q(answered_at__isnull=False) & ~_measured()


def _heard(member: Membership) -> Exists:
    return Exists(Heard.objects.filter(inquiry=OuterRef("pk"), member=member))


def _of(member: Membership) -> InquiryQuerySet:
    """The own questions of `member`, and the answers about items that they rated."""
    rated = Exists(Annotation.objects.filter(item=OuterRef("item"), member=member))
    return Inquiry.objects.filter(Q(by=member) | _told() & Q(rated), item__project=member.project_id)


def to(member: Membership) -> InquiryQuerySet:
    """What `told` makes readable, the newest question first."""
    rows = _of(member).annotate(
        is_told=ExpressionWrapper(_told(), output_field=BooleanField()), is_heard=_heard(member)
    )
    return rows.select_related("item", "answered_by__user").order_by("-pk")


def told(row: Any, member: Membership) -> Told:
    """A row of `to(member)` as `member` reads it."""
    return Told(
        inquiry=row.uuid,
        number=row.pk,
        item=row.item,
        text=row.text,
        mine=row.by_id == member.pk,
        answer=row.answer if row.is_told else "",
        answered_by=_name(row.answered_by) if row.is_told else "",
        is_new=row.is_told and not row.is_heard,
    )


def news(member: Membership) -> InquiryQuerySet:
    """The questions to which `member` has not seen the answer yet."""
    return _of(member).filter(_told(), ~_heard(member))


def readable(member: Membership, *, since: datetime) -> list[tuple[UUID, datetime, bool]]:
    """The answers that `member` may read since then or later, since when, and whether they have. Asked before its draw
    closed, an answer can be read from the closing on."""
    closed = Draw.objects.closed().filter(wave__wave_items__item=OuterRef("item")).order_by("-closed_at")
    rows = (
        _of(member)
        .filter(_told())
        .annotate(is_heard=_heard(member), closed_at=Subquery(closed.values("closed_at")[:1]))
        .filter(Q(answered_at__gte=since) | Q(closed_at__gte=since))
    )
    found = rows.values_list("uuid", "answered_at", "closed_at", "is_heard")
    return [(uuid, max(told, closed or told), heard) for uuid, told, closed, heard in found if told is not None]


def hear(member: Membership, seen: Iterable[Told], *, at: datetime) -> None:
    """`member` has seen these answers."""
    rows = [Heard(inquiry_id=one.number, member=member, at=at) for one in seen if one.is_new]
    Heard.objects.bulk_create(rows, ignore_conflicts=True)


# -- checks ------------------------------------------------------------------------------------------------------------


def _require(inquiry: Inquiry, by: Membership) -> None:
    access.require(by, Action.EDIT_GUIDELINE)
    if not for_lead(by).filter(pk=inquiry.pk).exists():
        raise NotAllowed(_("This question is not one that you may read."))


def _clean(text: str, *, limit: int, name: str) -> str:
    return drafts.clean_text(text.replace("\r\n", "\n").strip(), limit=limit, name=name)


def _name(member: Membership | None) -> str:
    return member.name if member else _("Somebody")


def _day(at: datetime | None) -> str:
    return timezone.localtime(at).strftime("%d %b, %H:%M") if at else ""
