"""The page on which changes of a label set are planned: what each touches, and what kappa would have been."""

from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agreement import label_changes as changes
from agreement.coefficients.coefficient import ORDINAL
from agreement.label_changes import WhatIf
from annotations import label_counts
from annotations.label_counts import Counts, Uses
from projects import access, guidelines, label_plans
from projects.enums import Action
from projects.forms.guideline import SplitForm
from projects.label_plans import Retired
from projects.models import Example, GuidelineVersion, Membership
from projects.reading import LabelReading, QuestionReading
from projects.views.drafts import draft_context, on_draft
from projects.views.questions import label_of

CHANGES = ("merge", "split", "retire")


@dataclass(frozen=True)
class RetiredRow:
    retired: Retired
    uses: list[Uses]
    singles: int
    what_ifs: list[WhatIf]


@dataclass(frozen=True)
class Plan:
    """One change that is looked at: nothing of it is done yet."""

    change: str
    label: LabelReading
    others: list[LabelReading]
    into: LabelReading | None
    uses: list[Uses]
    ratings: int
    singles: int
    examples: list[Example]
    what_ifs: list[WhatIf]
    form: SplitForm


@dataclass(frozen=True)
class Changed:
    """A label that the draft adds, or calls or defines otherwise. `old` is None where it is new."""

    label: LabelReading
    old: LabelReading | None
    uses: list[Uses]

    @property
    def renamed(self) -> bool:
        return self.old is not None and self.old.name != self.label.name


@dataclass(frozen=True)
class Order:
    """The labels that both versions have, where they stand in another order."""

    old: list[str]
    new: list[str]
    ratings: int
    on_scale: bool
    what_ifs: list[WhatIf]


@require_safe
@on_draft
def label_changes(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    access.require(member, Action.SEE_AGREEMENT)
    asked = guidelines.reading(draft).question(question)
    if asked is None:
        raise Http404(_("There is no such question in the draft."))
    counts = label_counts.of_question(member.project, question)
    at = timezone.now()
    context = draft_context(member, draft, place="questions") | {
        "question": asked,
        "rows": [(label, counts.of(label.key)) for label in asked.labels],
        "retired": [_retired(row, draft, counts, at) for row in label_plans.retired(draft, question)],
        "changed": _changed(draft, asked, counts),
        "order": _order(draft, asked, counts, at),
        "plan": _plan(request, draft, asked, counts, at),
        "left_out": counts.left_out,
    }
    return render(request, "agreement/label_changes.html", context)


def _retired(row: Retired, draft: GuidelineVersion, counts: Counts, at: datetime) -> RetiredRow:
    key = row.label.key
    return RetiredRow(
        retired=row,
        uses=counts.of(key),
        singles=counts.singles(key),
        what_ifs=_what_ifs(draft, row.question.key, key, str(row.target), at) if row.mapped else [],
    )


def _plan(
    request: HttpRequest, draft: GuidelineVersion, question: QuestionReading, counts: Counts, at: datetime
) -> Plan | None:
    change = request.GET.get("change", "")
    if not change:
        return None
    label = question.label(request.GET.get("label", ""))
    others = [one for one in question.labels if one != label]
    into = next((one for one in others if one.key == request.GET.get("into", "")), None)
    if change not in CHANGES or label is None:
        raise Http404(_("There is no such change of a label here."))
    row = label_of(draft, question.key, label.key)
    return Plan(
        change=change,
        label=label,
        others=others,
        into=into,
        uses=counts.of(label.key),
        ratings=counts.ratings(label.key),
        singles=counts.singles(label.key),
        examples=label_plans.naming(draft, row),
        what_ifs=_what_ifs(draft, question.key, label.key, into.key, at) if into and change == "merge" else [],
        form=SplitForm(),
    )


def _published(draft: GuidelineVersion, question: QuestionReading) -> QuestionReading | None:
    return guidelines.reading(draft.based_on).question(question.key) if draft.based_on else None


def _changed(draft: GuidelineVersion, question: QuestionReading, counts: Counts) -> list[Changed]:
    published = _published(draft, question)
    rows = [Changed(one, published.label(one.key), counts.of(one.key)) for one in question.labels] if published else []
    return [row for row in rows if row.old is None or _said(row.old) != _said(row.label)]


def _said(label: LabelReading) -> tuple[str, str, float | None]:
    return label.name, label.definition, label.value


def _order(draft: GuidelineVersion, question: QuestionReading, counts: Counts, at: datetime) -> Order | None:
    """The new order, where there is one, and what figures of a scale would have been in it."""
    published = _published(draft, question)
    if draft.based_on is None or published is None:
        return None
    old = [one for one in published.labels if question.label(one.key)]
    new = [one for one in question.labels if published.label(one.key)]
    if [one.key for one in old] == [one.key for one in new]:
        return None
    order = [one.key for one in question.labels]
    return Order(
        old=[one.name for one in old],
        new=[one.name for one in new],
        ratings=sum(counts.ratings(one.key) for one in new),
        on_scale=question.kind.level == ORDINAL,
        what_ifs=changes.reordered(draft.based_on, question.key, order, at=at),
    )


def _what_ifs(draft: GuidelineVersion, question: str, one: str, other: str, at: datetime) -> list[WhatIf]:
    return changes.merged(draft.based_on, question, one, other, at=at) if draft.based_on else []
