"""The queue of conflicts and the page of one case: held, decided, reopened, made into an example."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotations import adjudication, cases, opinions, personal, queue
from annotations.forms.adjudication import ReopenForm, ResolutionForm
from annotations.models import Case, Resolution
from annotations.queue import Filters
from annotations.views import case_page
from annotations.views.case_page import address, filters_of, page, queue_address
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership
from projects.requests import HtmxRequest


@login_required
@require_safe
def case_list(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The queue, the worst first, with its filters as links."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    filters = filters_of(request)
    found = queue.queue(member, filters, at=timezone.now(), after=case_page.after(request))
    context = {"member": member, "nav": "adjudicate", "queue": found, "filters": filters, "query": filters.query()}
    return render(request, "annotations/adjudication/queue.html", context)


@login_required
@require_safe
def following(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The next case to decide, behind `after` if it is given."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    after = case_page.after(request)
    case = get_object_or_404(cases.of_project(member.project), uuid=after) if after else None
    filters = filters_of(request)
    found = queue.following(member, filters, at=timezone.now(), case=case)
    return redirect(address(found, filters) if found else queue_address(member, filters))


@login_required
@require_safe
def case(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    return page(request, member, cases.find(member, case))


@login_required
@require_POST
def claim(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Hold the case; the page asks for it as it opens. Without JavaScript it is a button."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found, filters = cases.find(member, case), filters_of(request)
    refusal = ""
    try:
        adjudication.claim(found, by=member, at=timezone.now())
    except (adjudication.Held, adjudication.Decided, adjudication.OpinionsWanted) as error:
        if not request.htmx:
            raise
        refusal = error.message
    if not request.htmx:
        return redirect(address(found, filters))
    context = case_page.hold(member, found) | {"refusal": refusal, "query": filters.query()}
    return render(request, "annotations/adjudication/_hold.html", context)


@login_required
@require_POST
def release(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Let go of the case. The page sends it as it is left, and is not there any more to be answered."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    adjudication.release(cases.find(member, case), by=member)
    if "leave" in request.POST:
        return HttpResponse(status=204)
    return redirect(queue_address(member, filters_of(request)))


@login_required
@require_POST
@vary_on_headers("HX-Request")
def resolve(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Decide, or give one's opinion where two leads decide independently; then go on with the next case."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found, filters = cases.find(member, case), filters_of(request)
    asked = found.wants_opinions
    form = case_page.decision_form(member, found, request.POST) if asked else _bound(request, member, found)
    if not form.is_valid():
        return page(request, member, found, form=form, status=422)
    decide = opinions.give if asked else adjudication.resolve
    try:
        resolution = decide(found, **form.decision(), by=member, at=timezone.now())
    except adjudication.OwnRating:
        raise
    except DomainError as error:
        form.add_error(None, error.message)
        return page(request, member, cases.find(member, case), form=form, status=error.status)
    return _go_on(request, member, found, resolution, filters)


@login_required
@require_POST
def preview(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """The example as annotators will see it; nothing is saved."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    standing = found.resolutions.filter(standing=True).first()
    form = _bound(request, member, found) if standing is None else case_page.example_form(member, found, request.POST)
    form.is_valid()
    value, said = (form.cleaned_data.get("value"), "") if standing is None else (standing.value, standing.rationale)
    shown = case_page.example_preview(found, value, form, said)
    context: dict[str, Any] = {"preview": shown, "details": personal.details(form.example().content.values())}
    if request.htmx:
        return render(request, "annotations/adjudication/_preview.html", context)
    # Half-filled is fine here: what is missing is said when it is decided.
    if standing is not None:
        form = case_page.example_form(member, found, None, initial=case_page.sent(form))
        return page(request, member, found, example_form=form, **context)
    initial = case_page.sent(form) | {"as_example": True}
    return page(request, member, found, form=case_page.resolution_form(member, found, None, initial=initial), **context)


@login_required
@require_POST
def reopen(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    form = ReopenForm(request.POST)
    if not form.is_valid():
        return page(request, member, found, reopen_form=form, status=422)
    adjudication.reopen(found, reason=form.cleaned_data["reason"], by=member, at=timezone.now())
    messages.success(request, _("The case is open again. The earlier decision stays on record below it."))
    return redirect(address(found, Filters()))


@login_required
@require_POST
def promote(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Use a decision as an example after the fact."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    resolution = get_object_or_404(found.resolutions, standing=True)
    form = case_page.example_form(member, found, request.POST)
    if form.is_valid():
        try:
            adjudication.promote(resolution, example=form.example(), by=member, at=timezone.now())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("The case is an example in the draft of the next guideline."))
            return redirect(address(found, Filters()))
    return page(request, member, found, example_form=form, status=422)


# -- what follows ------------------------------------------------------------------------------------------------------


def _go_on(
    request: HtmxRequest, member: Membership, case: Case, resolution: Resolution | None, filters: Filters
) -> HttpResponse:
    """To the next case. The page has it already and only asks which one it is to show; the last one leads away."""
    left = cases.open_count(member)
    said = _said(resolution, left)
    found = queue.following(member, filters, at=timezone.now(), case=case) if left else None
    where = address(found, filters) if found else queue_address(member, filters)
    if not request.htmx:
        messages.success(request, said)
        return redirect(where)
    if found is None:
        messages.success(request, said)
        return HttpResponse(headers={"HX-Redirect": where})
    context = {"said": said, "left": left, "decided": address(case, filters)}
    answer = render(request, "annotations/adjudication/_said.html", context)
    answer["HX-Redirect"] = where
    return answer


def _bound(request: HtmxRequest, member: Membership, case: Case) -> ResolutionForm:
    return case_page.resolution_form(member, case, request.POST)


def _said(resolution: Resolution | None, left: int) -> str:
    """What a decision came to, and how many conflicts are left."""
    said = ngettext("%(n)s conflict is left.", "%(n)s conflicts are left.", left) % {"n": left}
    if not left:
        said = _("No conflict is left for you.")
    done = _("Decided.") if resolution else _("Your opinion is kept.")
    said = f"{done} {said}"
    if resolution and resolution.example_id:
        said += " " + _("The case is an example in the draft of the next guideline.")
    return said
