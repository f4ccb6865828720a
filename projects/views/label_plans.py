"""What happens to labels that were already given: merged, split, retired, mapped. The page that asks is in `agreement`,
which knows how often each was given and what kappa would have been."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from projects import label_plans
from projects.errors import Invalid
from projects.forms.guideline import SplitForm
from projects.models import GuidelineVersion, Membership
from projects.views.drafts import on_draft
from projects.views.questions import label_of, to_question


@require_POST
@on_draft
def merge(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str) -> HttpResponse:
    row = label_of(draft, question, label)
    other = label_plans.merge(row, into=request.POST.get("into", ""), by=member)
    said = {"label": row.name, "other": other.name}
    messages.success(request, _("“%(label)s” is “%(other)s” in the draft, and its examples followed it.") % said)
    return to_question(member, question, other.key)


@require_POST
@on_draft
def split(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str) -> HttpResponse:
    row = label_of(draft, question, label)
    form = SplitForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("Write the labels that “%(label)s” is divided into, one a line.") % {"label": row.name})
    parts = form.parts(numbered=row.question.task_type == "ordinal")
    made = label_plans.split(row, parts, stays=form.cleaned_data["stays"], by=member)
    said = ngettext("%(n)s label is added.", "%(n)s labels are added.", len(made)) % {"n": len(made)}
    messages.success(request, said)
    return to_question(member, question)


@require_POST
@on_draft
def retire(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str
) -> HttpResponse:
    row = label_of(draft, question, label)
    label_plans.retire(row, becomes=request.POST.get("becomes", ""), by=member)
    messages.success(request, _("The label “%(label)s” is retired in the draft.") % {"label": row.name})
    return to_question(member, question)


@require_POST
@on_draft
def becomes(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str
) -> HttpResponse:
    """What old labels are that the draft has retired."""
    label_plans.choose(draft, question, label, becomes=request.POST.get("becomes", ""), by=member)
    messages.success(request, _("What becomes of old labels is saved in the draft."))
    return to_question(member, question)
