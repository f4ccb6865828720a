"""One decision for several conflicts between the same two labels: which can have it, and the deed.

Every case gets a resolution of its own, all in one transaction. What the decider may not take is left out, and said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from annotations import adjudication, cases
from annotations.enums import CaseState, ResolutionKind
from annotations.models import Annotation, Case, CaseQuerySet, Resolution
from annotations.queue import Filters, in_order
from annotations.retrying import retrying
from projects import activities
from projects.errors import Invalid
from projects.models import Membership
from projects.reading import QuestionReading
from projects.task_types import Json

MOST = 50


@dataclass(frozen=True)
class Offer:
    """The conflicts of a pair that `member` may decide in one go, and how many are left out, and why.

    `more`: how many others there are behind the first fifty.
    """

    cases: list[Case]
    own: int
    held: list[str]
    asked: int
    more: int


@dataclass
class Outcome:
    """What became of the chosen cases: decided, or left out because something changed meanwhile."""

    decided: list[Resolution] = field(default_factory=list)
    left_out: list[Case] = field(default_factory=list)


def fits(question: QuestionReading) -> bool:
    """Whether an answer stands for itself. Marks in a text and words of one's own are about one item alone."""
    return question.kind.needs_labels and not question.kind.script


def offer(member: Membership, filters: Filters, *, at: datetime) -> Offer:
    """The open conflicts that pass `filters`, which name a question and a pair of labels."""
    found = replace(filters, state=CaseState.OPEN, own=False)
    mine = found.narrow(cases.for_member(member))
    free = cases.unheld(mine.filter(wants_opinions=False), member, at=at)
    keys = list(in_order(free).values_list("pk", flat=True)[:MOST])
    rows = _whole(cases.of_project(member.project)).in_bulk(keys)
    holders = mine.filter(claim_ends__gt=at).exclude(claimed_by=member).select_related("claimed_by__user")
    every = found.narrow(cases.of_project(member.project))
    return Offer(
        cases=[rows[key] for key in keys],
        own=every.filter(cases.rated_by(member)).count(),
        held=[case.claimed_by.name for case in holders if case.claimed_by],
        asked=every.filter(~cases.rated_by(member), wants_opinions=True).count(),
        more=max(0, free.count() - len(keys)),
    )


def named(member: Membership, filters: Filters, uuids: Sequence[str]) -> list[Case]:
    """The conflicts of the pair with these names, whatever became of them since they were offered."""
    found = cases.of_project(member.project).filter(question_key=filters.question, pair_key=filters.pair)
    return list(in_order(_whole(found.filter(uuid__in=_readable(uuids)[:MOST]))))


@retrying
def resolve(
    chosen: Sequence[Case], *, value: Json, rationale: str, cause: str, by: Membership, at: datetime
) -> Outcome:
    """Decide all of `chosen` alike. Who holds one of them, decided it meanwhile or rated it keeps it from this.

    Sent twice it changes nothing. Raises Invalid where the cases are not between the same two labels, NotAllowed.
    """
    if len({(case.question_key, case.pair_key) for case in chosen}) != 1:
        raise Invalid(_("Choose cases of one question that are between the same two labels."))
    for case in chosen:
        adjudication.require_lead(case, by)
    # The labels of a question may differ between the versions under which the cases were rated.
    by_version = {case.draw.wave.version_id: case for case in chosen}
    decisions = {
        version: adjudication.clean(case, value=value, rationale=rationale, cause=cause)
        for version, case in by_version.items()
    }
    own = set(Annotation.objects.filter(item__in={c.item_id for c in chosen}, member=by).values_list("item", flat=True))
    outcome, made = Outcome(), []
    for case in sorted(chosen, key=lambda one: one.pk):  # in one order, so that two leads do not wait for each other
        decision = decisions[case.draw.wave.version_id]
        if case.item_id not in own and adjudication.free(case, by, at).update(**adjudication.closed(at)):
            fields = {"kind": ResolutionKind.ADJUDICATED, **decision.fields(), "by": by, "at": at}
            made.append(Resolution(case=case, **fields))
        elif same := adjudication.already(case, decision, by=by):
            outcome.decided.append(same)
        else:
            outcome.left_out.append(case)
    outcome.decided += Resolution.objects.bulk_create(made)
    if made:
        activities.record("cases_decided", by.project_id, by=by, at=at, count=len(made))
    return outcome


def _whole(rows: CaseQuerySet) -> CaseQuerySet:
    """With all that deciding and showing a case asks for."""
    return rows.select_related("item__project", "draw__wave__version__project").defer("draw__population")


def _readable(uuids: Sequence[str]) -> list[UUID]:
    found = []
    for text in uuids:
        try:
            found.append(UUID(text))
        except ValueError as error:
            raise Invalid(_("“%(text)s” names no case.") % {"text": text[:60]}) from error
    return found
