"""Second opinions: two leads decide a case independently, and neither sees the other's decision before both are in.

The same label stands as the decision. Different ones are shown, and the case is decided as any other, with both on
record. How often the two agreed is a figure of its own: it says something of the leads, and nothing of the raters.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotations import adjudication
from annotations.conflicts import canonical
from annotations.enums import CaseState, Outcome, ResolutionKind
from annotations.models import Case, Opinion, Resolution, SecondOpinion
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership, Project
from projects.task_types import Json

WANTED = 2


class NotAsked(DomainError):
    """No second opinion is asked for on this case."""

    code = "not_asked"


@dataclass(frozen=True)
class Agreement:
    """How often two leads who decided independently chose the same label."""

    agreed: int
    n: int


@transaction.atomic
def ask(case: Case, *, by: Membership, at: datetime) -> SecondOpinion:
    """Let two leads decide `case` independently. A claim on it ends. Asked twice it is one request.

    Raises OwnRating, Held, Decided, and DomainError in a project with one lead.
    """
    adjudication.refuse_own(case, by)
    # Whether one of the others rated this very item must not be learnt by asking: all leads count.
    if len(access.members_who_may(by.project, Action.ADJUDICATE)) < WANTED:
        raise DomainError(_("This project has one lead: a second opinion needs two."), code="one_lead")
    if not adjudication.free(case, by, at).update(wants_opinions=True, claimed_by=None, claim_ends=None):
        asked = case.second_opinions.filter(outcome="").first()
        if asked is None:
            raise adjudication.not_free(case, by, at)
        return asked
    case.refresh_from_db(fields=["wants_opinions", "claimed_by", "claim_ends"])
    return SecondOpinion.objects.create(case=case, asked_by=by, asked_at=at)


@transaction.atomic
def withdraw(case: Case, *, by: Membership, at: datetime) -> None:
    """Do without: the case is decided by one lead. An opinion that was given stays on record. Raises NotAsked."""
    adjudication.refuse_own(case, by)
    asked = _asked(case)
    _end(case, asked, Outcome.WITHDRAWN, at)


@transaction.atomic
def give(case: Case, *, value: Json, rationale: str, cause: str, by: Membership, at: datetime) -> Resolution | None:
    """What `by` would decide. The second one ends the request, and is the decision if both chose the same label.

    The same opinion sent twice is one. Raises OwnRating, NotAsked, Invalid, DomainError for a second one of `by`.
    """
    adjudication.refuse_own(case, by)
    decision = adjudication.clean(case, value=value, rationale=rationale, cause=cause)
    asked = _asked(case)  # the lock: of two leads at once the second one finds the first one's opinion
    before = list(asked.opinions.select_related("by__user"))
    own = next((opinion for opinion in before if opinion.by_id == by.pk), None)
    if own is not None:
        if (own.value, own.rationale, own.cause) == (decision.value, decision.rationale, decision.cause):
            return None
        raise DomainError(_("You have given your opinion: another lead’s is waited for."), code="opinion_given")
    Opinion.objects.create(second_opinion=asked, **decision.fields(), by=by, at=at)
    if len(before) + 1 < WANTED:
        return None
    first = before[0]
    if canonical(first.value) != canonical(decision.value):
        _end(case, asked, Outcome.DIFFERED, at)
        return None
    _end(case, asked, Outcome.AGREED, at)
    Case.objects.filter(pk=case.pk).update(**adjudication.closed(at))
    case.refresh_from_db(fields=list(adjudication.closed(at)))
    return Resolution.objects.create(
        case=case,
        kind=ResolutionKind.ADJUDICATED,
        value=first.value,
        rationale=first.rationale,
        cause=first.cause,
        by=first.by,
        at=at,
    )


def shown(case: Case) -> list[SecondOpinion]:
    """The requests on `case` that have ended, each with its opinions. One that still runs shows nothing, nor does one
    that was taken back while the case is open: it must be no way to look at what the other lead thinks."""
    ended = case.second_opinions.exclude(outcome="").order_by("pk").select_related("asked_by__user")
    if case.state == CaseState.OPEN:
        ended = ended.exclude(outcome=Outcome.WITHDRAWN)
    return list(ended.prefetch_related("opinions__by__user"))


def given(case: Case, member: Membership) -> Opinion | None:
    """The opinion of `member` in the request that still runs."""
    return Opinion.objects.filter(second_opinion__case=case, second_opinion__outcome="", by=member).first()


def agreement(project: Project) -> Agreement:
    """Of all second opinions with both leads' decisions, how many were the same."""
    ended = SecondOpinion.objects.filter(case__draw__wave__project=project)
    counts = ended.aggregate(
        agreed=Count("pk", filter=Q(outcome=Outcome.AGREED)), differed=Count("pk", filter=Q(outcome=Outcome.DIFFERED))
    )
    return Agreement(counts["agreed"], counts["agreed"] + counts["differed"])


def _asked(case: Case) -> SecondOpinion:
    """The request that runs on `case`, with the case locked."""
    locked = Case.objects.select_for_update(of=("self",)).get(pk=case.pk)
    asked = SecondOpinion.objects.filter(case=locked, outcome="").first()
    if asked is None:
        raise NotAsked(_("No second opinion is asked for on this case any more: look at how it stands."))
    return asked


def _end(case: Case, asked: SecondOpinion, outcome: Outcome, at: datetime) -> None:
    SecondOpinion.objects.filter(pk=asked.pk).update(outcome=outcome, ended_at=at)
    Case.objects.filter(pk=case.pk).update(wants_opinions=False)
    case.refresh_from_db(fields=["wants_opinions"])
