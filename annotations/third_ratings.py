"""Third ratings as leads see them: how many are waited for, and taking one back to decide the conflict now."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.utils.translation import gettext as _

from annotations import adjudication, cases, rules, ruling
from annotations.enums import ResolutionRule, ThirdOutcome
from annotations.models import Case, Draw, Resolution, ThirdRating
from annotations.retrying import retrying
from projects import access, activities
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership


class NotWaiting(DomainError):
    """The case does not wait for a third rating."""

    code = "not_waiting"


@retrying
def take_back(case: Case, *, by: Membership, at: datetime) -> None:
    """Let a lead decide `case` now: the third rating is not waited for. May be repeated while the case is open.

    Who rated the item does not take it back. Raises NotAllowed, OwnRating, NotWaiting where it was decided meanwhile.
    """
    adjudication.refuse_own(case, by)
    if not ruling.leave(ThirdRating.objects.filter(case=case), ThirdOutcome.TAKEN_BACK, at=at, by=by):
        if ThirdRating.objects.filter(case=case, outcome=ThirdOutcome.TAKEN_BACK).exists():
            return
        raise NotWaiting(_("This case does not wait for a third rating: look at how it stands now."))
    case.refresh_from_db(fields=["state"])
    adjudication.record("third_taken_back", case, by=by, at=at)


@retrying
def take_back_all(draw: Draw, *, by: Membership, at: datetime) -> int:
    """Let leads decide all that waits of `draw`, but for items that `by` rated; how many cases. Raises NotAllowed."""
    access.require(by, Action.ADJUDICATE)
    theirs = Case.objects.waiting().filter(~cases.rated_by(by), draw=draw)
    n = ruling.leave(ThirdRating.objects.filter(case__in=theirs), ThirdOutcome.TAKEN_BACK, at=at, by=by)
    if n:
        activities.record("thirds_taken_back", by.project_id, by=by, at=at, count=n, number=draw.wave.number)
    return n


def is_waited_for(draw: Draw) -> bool:
    return Case.objects.waiting().filter(draw=draw).exists()


@dataclass(frozen=True)
class Outcome:
    """What a draw's rules made of its conflicts. `rules`: question -> its rule in words, where it is not a lead.

    ruled   : decided by a rule, and not reopened
    waiting : conflicts that wait for a third rating
    left    : (why a third rating left it to a lead, how many)
    """

    rules: list[tuple[str, str]]
    conflicts: int
    ruled: int
    waiting: int
    left: list[tuple[str, int]]


def of_draw(draw: Draw) -> Outcome | None:
    """None where a lead decides everything; a few queries, whatever the number of conflicts."""
    named = in_words(draw)
    if not named:
        return None
    rows = ThirdRating.objects.filter(case__draw=draw).values_list("outcome").annotate(Count("pk")).order_by()
    counts = dict(rows)
    return Outcome(
        rules=named,
        conflicts=Case.objects.filter(draw=draw).count(),
        ruled=Resolution.objects.filter(case__draw=draw, standing=True).exclude(rule="").count(),
        waiting=counts.get("", 0),
        left=[
            (str(outcome.label), counts[outcome])
            for outcome in ThirdOutcome
            if outcome != ThirdOutcome.DECIDED and outcome in counts
        ],
    )


def in_words(draw: Draw) -> list[tuple[str, str]]:
    """Each question of a draw whose conflicts a rule decides, with the rule; a question whose answers the rule does not
    fit stands there with a lead. Nothing where no rule decides anything."""
    if not rules.any_rule(draw.protocol):
        return []
    asked = list(draw.wave.version.questions.all())
    said = [(one, rules.effective(draw.protocol, one.key, one.task_type)) for one in asked]
    if all(rule == ResolutionRule.LEAD for _one, rule in said):
        return []
    return [(one.text, str(rule.label)) for one, rule in said]


def waiting(case: Case) -> dict[str, object]:
    """What the page of a case that waits shows: the third rating, and the rule that asked for it."""
    third = ThirdRating.objects.filter(case=case).select_related("slot").first()
    question = case.draw.wave.version.questions.filter(key=case.question_key).first()
    rule = rules.effective(case.draw.protocol, question.key, question.task_type) if question else ResolutionRule.LEAD
    return {"third": third, "rule": str(rule.label)}


def why_open(case: Case) -> str:
    """Why an open case is a lead's although a rule was to decide it, as a sentence; empty where none was, or where the
    rule's decision was reopened."""
    if not rules.any_rule(case.draw.protocol):
        return ""
    third = ThirdRating.objects.filter(case=case).select_related("ended_by__user").first()
    if third is not None and third.outcome == ThirdOutcome.TAKEN_BACK and third.ended_by:
        return _("%(name)s took it back before the third rating had decided it.") % {"name": third.ended_by.name}
    if third is not None:
        return {
            ThirdOutcome.TIE: _("With the third rating, still no label has more than half of the ratings."),
            ThirdOutcome.NOBODY: _("Nobody who labels here may give a third rating of this item."),
            ThirdOutcome.ENDED: _("A third rating of this item is not asked for any more."),
        }.get(ThirdOutcome(third.outcome), "")
    question = case.draw.wave.version.questions.filter(key=case.question_key).first()
    if question is None or case.resolutions.exists():
        return ""
    if rules.effective(case.draw.protocol, question.key, question.task_type) == ResolutionRule.LEAD:
        return ""
    return _("The rule of the protocol does not settle it: no label has more than half of the ratings.")
