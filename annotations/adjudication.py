"""Deciding conflicts: claim, resolve, reopen, and turn a decision into an example (DESIGN §5).

A case is decided once, by somebody who did not rate its item. Whoever opens it holds it for twenty minutes, so that
two leads do not work on the same one; the holder is the only one who can decide it meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import cases, conflicts
from annotations.enums import CaseState, Cause, ResolutionKind
from annotations.models import Annotation, Case, Resolution
from projects import access, activities, guidelines
from projects.enums import Action, ExampleKind, Origin
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Example, Membership, Question
from projects.task_types import TASK_TYPES, AnswerError, Json

CLAIM = timedelta(minutes=20)
RATIONALE_LIMIT = 5_000


class Held(DomainError):
    """Another lead is deciding this case."""

    code = "held"


class Decided(DomainError):
    """The case is decided already, in another way than is now wanted."""

    code = "decided"


class NotDecided(DomainError):
    """The case is open: there is no decision to reopen or to show."""

    code = "not_decided"


class WaitsForThird(DomainError):
    """The case waits for a third rating, which the rule of its draw's protocol asks for."""

    code = "waiting"


class OpinionsWanted(DomainError):
    """Two leads give their opinions on this case independently; nobody decides it alone meanwhile."""

    code = "opinions_wanted"


class OwnRating(NotAllowed):
    """Who rated an item does not adjudicate it."""

    code = "own_rating"


@dataclass(frozen=True)
class Decision:
    """What somebody decides, or would, checked."""

    value: Json
    rationale: str
    cause: str

    def fields(self) -> dict[str, Json]:
        return {"value": self.value, "rationale": self.rationale, "cause": self.cause}


@dataclass(frozen=True)
class ExampleText:
    """How a case is shown as an example. `content`: field -> text; an empty rationale means that of the decision."""

    content: Mapping[str, Json]
    rationale: str = ""
    kind: str = ExampleKind.CLEAR


# -- holding a case ----------------------------------------------------------------------------------------------------


@transaction.atomic
def claim(case: Case, *, by: Membership, at: datetime) -> Case:
    """Hold `case` for twenty minutes; once more starts them again. Of two callers at once one gets it.

    Raises OwnRating, Held, Decided.
    """
    refuse_own(case, by)
    if not free(case, by, at).update(claimed_by=by, claim_ends=at + CLAIM):
        raise not_free(case, by, at)
    case.refresh_from_db(fields=["claimed_by", "claim_ends"])
    return case


def release(case: Case, *, by: Membership) -> None:
    """Let go of `case`. Somebody else's hold stays."""
    Case.objects.open().filter(pk=case.pk, claimed_by=by).update(claimed_by=None, claim_ends=None)


@transaction.atomic
def hand_over(case: Case, *, to: Membership, by: Membership, at: datetime) -> Case:
    """Let `to` hold a case that `by` holds, for twenty minutes from now. Raises Invalid, Held, Decided.

    Only those are offered who have never labelled in this project: to name the others, or to leave one of them out,
    would tell who rated the item.
    """
    refuse_own(case, by)
    if to.pk not in {member.pk for member in takers(by)}:
        raise Invalid(_("%(name)s cannot take this case over: choose one of those offered.") % {"name": to.name})
    held = Case.objects.open().filter(pk=case.pk, claimed_by=by, claim_ends__gt=at, wants_opinions=False)
    if not held.update(claimed_by=to, claim_ends=at + CLAIM):
        if free(case, by, at).exists():
            raise Invalid(_("You do not hold this case any more: hold it again, then hand it over."))
        raise not_free(case, by, at)
    case.refresh_from_db(fields=["claimed_by", "claim_ends"])
    return case


def takers(by: Membership) -> list[Membership]:
    """The other leads of the project who have never labelled in it."""
    others = access.members_who_may(by.project, Action.ADJUDICATE)
    rated = set(Annotation.objects.filter(member__in=others).values_list("member_id", flat=True).distinct())
    return [member for member in others if member.pk != by.pk and member.pk not in rated]


def free(case: Case, by: Membership, at: datetime) -> QuerySet[Case]:
    """`case` as a condition: open, held by nobody else, and not waiting for two opinions."""
    unheld = Q(claimed_by__isnull=True) | Q(claim_ends__lte=at) | Q(claimed_by=by)
    return Case.objects.open().filter(unheld, pk=case.pk, wants_opinions=False)


def not_free(case: Case, by: Membership, at: datetime) -> DomainError:
    """Why the conditional update of a case changed nothing."""
    row = Case.objects.select_related("claimed_by__user").get(pk=case.pk)
    standing = row.resolutions.filter(standing=True).select_related("by__user").first()
    if standing is not None and standing.rule:
        return Decided(
            _("The rule of the protocol decided this case on %(when)s: look at it; it can be reopened with a reason.")
            % {"when": _clock(standing.at, "%d %b, %H:%M")}
        )
    if standing is not None:
        return Decided(
            _("%(name)s decided this case on %(when)s: look at the decision; it can be reopened with a reason.")
            % {"name": _name(standing.by), "when": _clock(standing.at, "%d %b, %H:%M")}
        )
    if row.state == CaseState.WAITING:
        return WaitsForThird(_("This case waits for a third rating: take it back on its page, then decide it."))
    if row.wants_opinions:
        return OpinionsWanted(_("A second opinion is asked for: give yours on the page of the case."))
    return Held(
        _("%(name)s is deciding this case until %(until)s: take another one, or come back then.")
        % {"name": _name(row.claimed_by), "until": _clock(row.claim_ends or at, "%H:%M")}
    )


# -- deciding ----------------------------------------------------------------------------------------------------------


@transaction.atomic
def resolve(
    case: Case,
    *,
    value: Json,
    rationale: str,
    cause: str,
    by: Membership,
    at: datetime,
    example: ExampleText | None = None,
) -> Resolution:
    """Decide `case`, and with `example` put it into the draft of the next version, all or nothing.

    The same decision sent twice is one. Raises OwnRating, Held, Decided, Invalid.
    """
    refuse_own(case, by)
    decision = clean(case, value=value, rationale=rationale, cause=cause)
    if not free(case, by, at).update(**closed(at)):
        same = already(case, decision, by=by)
        if same is not None:
            return same
        raise not_free(case, by, at)
    resolution = Resolution.objects.create(
        case=case, kind=ResolutionKind.ADJUDICATED, **decision.fields(), by=by, at=at
    )
    case.refresh_from_db(fields=list(closed(at)))
    record("case_decided", case, by=by, at=at)
    if example is not None:
        promote(resolution, example=example, by=by, at=at)
    return resolution


def closed(at: datetime) -> dict[str, Any]:
    """The columns of a case that is decided at `at`."""
    return {
        "state": CaseState.DECIDED,
        "decided_at": at,
        "claimed_by": None,
        "claim_ends": None,
        "wants_opinions": False,
    }


def already(case: Case, decision: Decision, *, by: Membership) -> Resolution | None:
    """The standing decision, if it is this one: what is sent twice is one."""
    same = {"by": by, "rationale": decision.rationale, "cause": decision.cause}
    found = Resolution.objects.filter(case=case, standing=True, **same).first()
    return found if found is not None and found.value == decision.value else None


@transaction.atomic
def reopen(case: Case, *, reason: str, by: Membership, at: datetime) -> Resolution:
    """Take a decision back, with a reason. It stays on record, and the case is in the queue again.

    An example that was made of it stays in its draft, which then says that it is contradicted. Raises OwnRating,
    NotDecided, Invalid.
    """
    if case.resolutions.filter(standing=True, kind=ResolutionKind.CONSENSUS, by=by).exists():
        require_lead(case, by)  # what raters decided together, the one who proposed it may take back
    else:
        refuse_own(case, by)
    reason = reason.strip()
    if not reason:
        raise Invalid(_("Say why the decision is reopened: it is kept beside it."))
    reason = clean_text(reason, _("reason"))
    decided = Case.objects.decided().filter(pk=case.pk)
    severity = conflicts.severity_of(case)  # it was left as it was while the case was decided
    if not decided.update(state=CaseState.OPEN, decided_at=None, claimed_by=None, claim_ends=None, severity=severity):
        raise NotDecided(_("This case is open: there is no decision to reopen."))
    standing = Resolution.objects.select_for_update(of=("self",)).get(case=case, standing=True)
    standing.standing, standing.reopened_at, standing.reopened_by = False, at, by
    standing.reopened_reason = reason
    standing.save(update_fields=["standing", "reopened_at", "reopened_by", "reopened_reason"])
    case.refresh_from_db(fields=["state", "decided_at", "claimed_by", "claim_ends", "severity"])
    # Of a consensus no case is named: who proposed it rated the item, and the case is open again.
    together = standing.kind == ResolutionKind.CONSENSUS
    record("decision_reopened", case, by=by, at=at, named=not together, reason=reason)
    return standing


def record(kind: str, case: Case, *, by: Membership, at: datetime, named: bool = True, **facts: Any) -> None:
    """Into the project's log: something was decided about a conflict. No label of it, and no rater."""
    number = case.draw.wave.number
    subject = case.uuid if named else None
    activities.record(kind, by.project_id, by=by, subject=subject, at=at, number=number, **facts)


# -- the way back into the guideline -----------------------------------------------------------------------------------


@transaction.atomic
def promote(resolution: Resolution, *, by: Membership, at: datetime, example: ExampleText | None = None) -> Example:
    """Put a decision into the draft of the next version as an example, beside those that are there.

    Without `example` the item is shown as it is. A decision promoted twice is one example, changed. Raises NotDecided
    for a reopened decision, Invalid where the draft already has this text or no longer has the label.
    """
    access.require(by, Action.EDIT_GUIDELINE)
    row = Resolution.objects.select_for_update(of=("self",)).select_related("case__item__project").get(pk=resolution.pk)
    if not row.standing:
        raise NotDecided(_("This decision was reopened: decide the case again, then use it as an example."))
    case = row.case
    shown = example or ExampleText(content=case.item.content)
    if row.rule and not shown.rationale.strip():
        raise Invalid(_("Say why: a rule decided this case, and gives no reason that annotators could learn from."))
    kind = TASK_TYPES[_question(case).task_type]
    draft = guidelines.draft_of(case.item.project, by=by, at=at)
    made = guidelines.add_example(
        draft,
        question_key=case.question_key,
        content=shown.content,
        value=kind.carried(row.value, case.item.content, shown.content),
        confused_with=kind.carried(other_value(case, row.value), case.item.content, shown.content),
        rationale=shown.rationale.strip() or row.rationale,
        kind=shown.kind,
        origin=Origin.ADJUDICATED,
        lineage=row.lineage,
        by=by,
        at=at,
    )
    row.example, row.lineage = made, made.lineage
    row.save(update_fields=["example", "lineage"])
    resolution.example, resolution.lineage = made, made.lineage
    return made


def other_value(case: Case, value: Json) -> Json:
    """What `value` was confused with in `case`; nothing where it is neither of the two labels."""
    first: Json = case.first_value
    second: Json = case.second_value
    if value == first:
        return second
    return first if value == second else None


# -- checks ------------------------------------------------------------------------------------------------------------


def refuse_own(case: Case, by: Membership) -> None:
    """Raise NotAllowed where `by` is no lead here, OwnRating where they rated the item."""
    require_lead(case, by)
    if cases.has_rated(case, by):
        raise OwnRating(_("You rated this item yourself: somebody else decides it."))


def require_lead(case: Case, by: Membership) -> None:
    """Raise NotAllowed where `by` does not adjudicate in the project of `case`."""
    access.require(by, Action.ADJUDICATE)
    if by.project_id != case.item.project_id:
        raise NotAllowed(_("This case belongs to another project."))


def clean(case: Case, *, value: Json, rationale: str, cause: str) -> Decision:
    """What is decided on `case`, in canonical form. Raises Invalid."""
    decision = Decision(_clean_value(case, value), _clean_rationale(rationale), cause)
    if cause not in Cause.values:
        raise Invalid(
            _("“%(cause)s” is no cause: expected one of %(known)s.")
            % {"cause": cause, "known": ", ".join(Cause.values)}
        )
    return decision


def _question(case: Case) -> Question:
    question = Question.objects.filter(version=case.draw.wave.version_id, key=case.question_key).first()
    if question is None:
        raise Invalid(_("There is no question “%(key)s” in the guideline of this case.") % {"key": case.question_key})
    return question


def _clean_value(case: Case, value: Json) -> Json:
    question = _question(case)
    try:
        return TASK_TYPES[question.task_type].clean(value, list(question.labels.all()), case.item.content)
    except AnswerError as error:
        raise Invalid(str(error), code="bad_value") from error


def _clean_rationale(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Invalid(_("Say why: the rationale is what the guideline can learn from."))
    return clean_text(text, _("rationale"))


def clean_text(text: str, name: str) -> str:
    """`text`, if it is short enough to be kept and can be stored. Raises Invalid that calls it `name`."""
    if len(text) > RATIONALE_LIMIT:
        raise Invalid(
            _("The %(name)s has %(found)s characters and may have %(limit)s: shorten it.")
            % {"name": name, "found": len(text), "limit": RATIONALE_LIMIT}
        )
    if "\x00" in text:
        raise Invalid(_("The %(name)s contains a NUL character, which cannot be stored: remove it.") % {"name": name})
    return text


def _name(member: Membership | None) -> str:
    return member.name if member else _("Somebody")


def _clock(at: datetime, pattern: str) -> str:
    return timezone.localtime(at).strftime(pattern)
