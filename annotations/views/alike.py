"""One decision for several conflicts between the same two labels: ticked, shown once more, decided."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotations import alike, cases, precedents, queue
from annotations.alike import Outcome
from annotations.forms.adjudication import AlikeForm
from annotations.models import Case
from annotations.views.case_page import filters_of, queue_address
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership
from projects.requests import HtmxRequest, posted

FIRST_WORDS = 240


@login_required
@require_http_methods(["GET", "POST"])
def decide_alike(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The cases of a pair with one form under them. Sent once it shows what would be decided, then it is."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    filters, sent = filters_of(request), posted(request)
    if not (filters.question and filters.pair):
        raise Http404(_("One decision for several cases is for those between the same two labels: choose a pair."))
    offer = alike.offer(member, filters, at=timezone.now())
    chosen = alike.named(member, filters, sent.getlist("cases")) if sent else []
    rows = chosen if sent and "decide" in sent else offer.cases or chosen
    if not rows:
        messages.info(request, _("No open conflict of this pair is left that you could decide alone."))
        return redirect(queue_address(member, filters))
    if not alike.fits(cases.question_of(rows[0])):
        raise Http404(_("The answers to this question are about one item alone: decide them one by one."))
    form = AlikeForm(sent, question=cases.question_of(rows[0]), offered=[*rows, *chosen])
    context = _context(member, rows, form) | {"query": filters.query(), "offer": offer}
    if sent is None or "back" in sent:
        return render(request, "annotations/adjudication/alike.html", context)
    if not form.is_valid():
        return render(request, "annotations/adjudication/alike.html", context, status=422)
    if "decide" not in sent:
        return render(request, "annotations/adjudication/alike_preview.html", context | _shown(chosen, form))
    try:
        outcome = alike.resolve(chosen, **form.decision(), by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return render(request, "annotations/adjudication/alike.html", context, status=error.status)
    _say(request, outcome)
    return redirect(queue_address(member, filters))


def _context(member: Membership, rows: Sequence[Case], form: AlikeForm) -> dict[str, Any]:
    first = rows[0]
    return {
        "member": member,
        "nav": "adjudicate",
        "form": form,
        "question": form.question,
        "names": cases.Vocabulary({first.draw.wave.version_id}).pair(first.draw.wave.version_id, first),
        "rows": _worded(rows),
        "rationales": precedents.rationales(first, member, form.question),
        "ticked": form["cases"].value() if form.is_bound else [str(case.uuid) for case in rows],
    }


def _shown(chosen: Sequence[Case], form: AlikeForm) -> dict[str, Any]:
    """What the preview says: the cases, and the decision in words."""
    value, cause = form.cleaned_data["value"], form.cleaned_data["cause"]
    return {
        "rows": _worded(chosen),
        "decided_name": cases.describe(form.question, value, chosen[0].item.content),
        "values": form.data.getlist("value"),  # type: ignore[attr-defined]  # what was posted
        "cause_name": dict(form.fields["cause"].choices)[cause],  # type: ignore[attr-defined]  # a ChoiceField
        "sent": form.cleaned_data,
    }


def _worded(rows: Sequence[Case]) -> list[tuple[Case, str, str]]:
    """(case, its uuid as a form has it, its first words)."""
    return [(case, str(case.uuid), queue.first_words(case.item, FIRST_WORDS)) for case in rows]


def _say(request: HtmxRequest, outcome: Outcome) -> None:
    n, left_out = len(outcome.decided), len(outcome.left_out)
    said = ngettext("%(n)s case is decided.", "%(n)s cases are decided.", n) % {"n": n}
    if left_out:
        said += " " + ngettext(
            "%(n)s was left out: somebody else holds it, has decided it, or it is not yours to decide.",
            "%(n)s were left out: somebody else holds them, has decided them, or they are not yours to decide.",
            left_out,
        ) % {"n": left_out}
    messages.success(request, said)
