"""Deciding together: in a team of two nobody is left who did not rate, and the project may let the raters agree.

One of them, who is a lead, proposes; it holds once the other one confirms it, as `consensus`. The draw is closed by
then: that the two know of each other moves no figure.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import adjudication
from annotations.enums import Answer, CaseState, DrawState, ResolutionKind
from annotations.models import Annotation, Case, Proposal, Resolution
from projects.errors import DomainError, NotAllowed
from projects.models import Membership, Project
from projects.task_types import Json


class NotTogether(NotAllowed):
    """Deciding together is not for this project, this case or this member."""

    code = "not_together"


def allowed(project: Project) -> bool:
    """Whether the project lets raters decide their own conflicts together."""
    return project.protocol.get("decide_together") is True


def other_rater(case: Case, member: Membership) -> Membership | None:
    """Whom `member` would decide `case` with: the other one of its two raters. None where it is not for them."""
    if not allowed(member.project):
        return None
    raters = list(
        Annotation.objects.filter(item=case.item_id).order_by().values_list("member_id", flat=True).distinct()
    )
    if len(raters) != 2 or member.pk not in raters:
        return None
    other = Membership.objects.active().select_related("user").filter(pk__in=raters, user__isnull=False)
    return other.exclude(pk=member.pk).first()


@transaction.atomic
def propose(case: Case, *, value: Json, rationale: str, cause: str, by: Membership, at: datetime) -> Proposal:
    """Propose a decision to the other rater; it takes the place of one that still waits. Sent twice it is one.

    Raises NotTogether, Invalid, Decided, Held, OpinionsWanted.
    """
    adjudication.require_lead(case, by)
    to = other_rater(case, by)
    if to is None:
        raise NotTogether(
            _("Only the two raters of an item decide it together, both members, in a project that allows it.")
        )
    decision = adjudication.clean(case, value=value, rationale=rationale, cause=cause)
    Case.objects.select_for_update(of=("self",)).get(pk=case.pk)
    if not adjudication.free(case, by, at).exists():
        raise adjudication.not_free(case, by, at)
    waiting = case.proposals.filter(answer="").first()
    if waiting is not None:
        if waiting.by_id == by.pk and decision == _decision(waiting):
            return waiting
        Proposal.objects.filter(pk=waiting.pk).update(answer=Answer.REPLACED, answered_at=at)
    return Proposal.objects.create(case=case, **decision.fields(), by=by, to=to, at=at)


@transaction.atomic
def confirm(member: Membership, proposal: UUID, *, at: datetime) -> Resolution:
    """The other rater agrees: the case is decided, as consensus. Confirmed twice it is one.

    Raises Http404 for what was not proposed to them, DomainError for what holds no more.
    """
    row = _waiting(member, proposal, at=at, answer=Answer.CONFIRMED)
    case = row.case
    if row.answer == Answer.CONFIRMED:
        found = Resolution.objects.filter(case=case, standing=True).first()
        if found is not None:
            return found
    if not adjudication.free(case, row.by, at).update(**adjudication.closed(at)):
        raise adjudication.not_free(case, row.by, at)
    return Resolution.objects.create(
        case=case, kind=ResolutionKind.CONSENSUS, **_decision(row).fields(), by=row.by, at=at
    )


@transaction.atomic
def refuse(member: Membership, proposal: UUID, *, at: datetime) -> None:
    """The other rater does not agree: the case stays open. Raises as `confirm`."""
    _waiting(member, proposal, at=at, answer=Answer.REFUSED)


def to(member: Membership) -> QuerySet[Proposal]:
    """What is proposed to `member` and waits for an answer."""
    rows = Proposal.objects.filter(to=member, answer="", case__state=CaseState.OPEN)
    rows = rows.filter(case__draw__state=DrawState.CLOSED)
    rows = rows.select_related("case__item", "case__draw__wave__version", "by__user").order_by("pk")
    return rows.defer("case__draw__population")


def newest(case: Case) -> Proposal | None:
    """The last proposal on `case`, whatever became of it."""
    return case.proposals.select_related("by__user", "to__user").order_by("-pk").first()


def _waiting(member: Membership, proposal: UUID, *, at: datetime, answer: Answer) -> Proposal:
    """The proposal with `answer` given; the same answer once more changes nothing."""
    rows = Proposal.objects.select_related("case__item", "by")
    row = rows.filter(uuid=proposal, to=member, case__draw__state=DrawState.CLOSED).first()
    if row is None:
        raise Http404(_("Nothing of the kind was proposed to you."))
    if not allowed(member.project):
        raise NotTogether(_("This project does not decide together any more."))
    if row.answer == answer:
        return row
    if not Proposal.objects.filter(pk=row.pk, answer="").update(answer=answer, answered_at=at):
        raise DomainError(_("This proposal does not hold any more: look at how the case stands."), code="answered")
    return row


def _decision(row: Proposal) -> adjudication.Decision:
    return adjudication.Decision(row.value, row.rationale, row.cause)
