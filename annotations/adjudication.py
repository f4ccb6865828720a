"""Deciding conflicts: claim, resolve, reopen, and turn a decision into an example (DESIGN §5).

A case is decided once, by somebody who did not rate its item. Whoever opens it holds it for twenty minutes, so that
two leads do not work on the same one; the holder is the only one who can decide it meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import cases
from annotations.enums import CaseState, Cause, ResolutionKind
from annotations.models import Case, Resolution
from projects import access, guidelines
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


class OwnRating(NotAllowed):
    """Who rated an item does not adjudicate it."""

    code = "own_rating"


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
    _refuse_own(case, by)
    if not _free(case, by, at).update(claimed_by=by, claim_ends=at + CLAIM):
        raise _not_free(case, by, at)
    case.refresh_from_db(fields=["claimed_by", "claim_ends"])
    return case


def release(case: Case, *, by: Membership) -> None:
    """Let go of `case`. Somebody else's hold stays."""
    Case.objects.open().filter(pk=case.pk, claimed_by=by).update(claimed_by=None, claim_ends=None)


def _free(case: Case, by: Membership, at: datetime) -> QuerySet[Case]:
    free = Q(claimed_by__isnull=True) | Q(claim_ends__lte=at) | Q(claimed_by=by)
    return Case.objects.open().filter(free, pk=case.pk)


def _not_free(case: Case, by: Membership, at: datetime) -> DomainError:
    """Why the conditional update of a case changed nothing."""
    row = Case.objects.select_related("claimed_by__user").get(pk=case.pk)
    standing = row.resolutions.filter(standing=True).select_related("by__user").first()
    if standing is not None:
        return Decided(
            _("%(name)s decided this case on %(when)s: look at the decision; it can be reopened with a reason.")
            % {"name": _name(standing.by), "when": _clock(standing.at, "%d %b, %H:%M")}
        )
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
    _refuse_own(case, by)
    value, rationale = _clean_value(case, value), _clean_rationale(rationale)
    if cause not in Cause.values:
        raise Invalid(
            _("“%(cause)s” is no cause: expected one of %(known)s.")
            % {"cause": cause, "known": ", ".join(Cause.values)}
        )
    decided = {"state": CaseState.DECIDED, "decided_at": at, "claimed_by": None, "claim_ends": None}
    if not _free(case, by, at).update(**decided):
        same = Resolution.objects.filter(case=case, standing=True, by=by, rationale=rationale, cause=cause).first()
        if same is not None and same.value == value:
            return same
        raise _not_free(case, by, at)
    resolution = Resolution.objects.create(
        case=case,
        kind=ResolutionKind.ADJUDICATED,
        value=value,
        rationale=rationale,
        cause=cause,
        by=by,
        at=at,
    )
    case.refresh_from_db(fields=list(decided))
    if example is not None:
        promote(resolution, example=example, by=by, at=at)
    return resolution


@transaction.atomic
def reopen(case: Case, *, reason: str, by: Membership, at: datetime) -> Resolution:
    """Take a decision back, with a reason. It stays on record, and the case is in the queue again.

    An example that was made of it stays in its draft, which then says that it is contradicted. Raises OwnRating,
    NotDecided, Invalid.
    """
    _refuse_own(case, by)
    reason = reason.strip()
    if not reason:
        raise Invalid(_("Say why the decision is reopened: it is kept beside it."))
    reason = _text(reason, _("reason"))
    decided = Case.objects.decided().filter(pk=case.pk)
    if not decided.update(state=CaseState.OPEN, decided_at=None, claimed_by=None, claim_ends=None):
        raise NotDecided(_("This case is open: there is no decision to reopen."))
    standing = Resolution.objects.select_for_update(of=("self",)).get(case=case, standing=True)
    standing.standing, standing.reopened_at, standing.reopened_by = False, at, by
    standing.reopened_reason = reason
    standing.save(update_fields=["standing", "reopened_at", "reopened_by", "reopened_reason"])
    case.refresh_from_db(fields=["state", "decided_at", "claimed_by", "claim_ends"])
    return standing


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


def _refuse_own(case: Case, by: Membership) -> None:
    access.require(by, Action.ADJUDICATE)
    if by.project_id != case.item.project_id:
        raise NotAllowed(_("This case belongs to another project."))
    if cases.has_rated(case, by):
        raise OwnRating(_("You rated this item yourself: somebody else decides it."))


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
    return _text(text, _("rationale"))


def _text(text: str, name: str) -> str:
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
