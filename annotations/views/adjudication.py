"""The queue of conflicts and the page of one case: held, decided, reopened, made into an example."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotations import adjudication, cases, queue
from annotations.adjudication import ExampleText
from annotations.enums import CaseState
from annotations.forms.adjudication import ExampleFields, ReopenForm, ResolutionForm
from annotations.models import Case
from annotations.queue import Filters
from projects import access
from projects.enums import Action, ExampleKind
from projects.errors import DomainError
from projects.models import Example, Membership
from projects.reading import ExampleReading, example_reading
from projects.requests import HtmxRequest
from projects.task_types import Json


@login_required
@require_safe
def case_list(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The queue, the worst first, with its filters as links."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    filters = Filters.read(request.GET.dict())
    found = queue.queue(member, filters, at=timezone.now(), after=_after(request))
    context = {"member": member, "nav": "adjudicate", "queue": found, "filters": filters, "query": filters.query()}
    return render(request, "annotations/adjudication/queue.html", context)


@login_required
@require_safe
def following(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The next case to decide, behind `after` if it is given."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    after = _after(request)
    case = get_object_or_404(cases.of_project(member.project), uuid=after) if after else None
    return _go_on(member, Filters.read(request.GET.dict()), case)


@login_required
@require_safe
def case(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    return _page(request, member, cases.find(member, case))


@login_required
@require_POST
def claim(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Hold the case; the page asks for it as it opens. Without JavaScript it is a button."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    try:
        adjudication.claim(found, by=member, at=timezone.now())
    except (adjudication.Held, adjudication.Decided) as error:
        if not request.htmx:
            raise
        return render(request, "annotations/adjudication/_hold.html", _hold(member, found) | {"refusal": error.message})
    if request.htmx:
        return render(request, "annotations/adjudication/_hold.html", _hold(member, found))
    return redirect(_address(found, Filters.read(request.GET.dict())))


@login_required
@require_POST
def release(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Let go of the case. The page sends it as it is left, and is not there any more to be answered."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    adjudication.release(cases.find(member, case), by=member)
    if "leave" in request.POST:
        return HttpResponse(status=204)
    return redirect(_queue_address(member, Filters.read(request.GET.dict())))


@login_required
@require_POST
def resolve(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Decide, then go on with the next one."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found, filters = cases.find(member, case), Filters.read(request.GET.dict())
    form = _resolution_form(member, found, request.POST)
    if not form.is_valid():
        return _page(request, member, found, form=form, status=422)
    try:
        resolution = adjudication.resolve(found, **form.decision(), by=member, at=timezone.now())
    except adjudication.OwnRating:
        raise
    except DomainError as error:
        form.add_error(None, error.message)
        return _page(request, member, cases.find(member, case), form=form, status=error.status)
    _say_decided(request, member, found, resolution.example)
    return _go_on(member, filters, found)


@login_required
@require_POST
def preview(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """The example as annotators will see it; nothing is saved."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    form = _resolution_form(member, found, request.POST)
    form.is_valid()
    shown = _preview(found, form.cleaned_data.get("value"), form)
    if request.htmx:
        return render(request, "annotations/adjudication/_preview.html", {"preview": shown})
    # Half-filled is fine here: what is missing is said when it is decided.
    unbound = _resolution_form(member, found, None, initial=_sent(form) | {"as_example": True})
    return _page(request, member, found, form=unbound, preview=shown)


@login_required
@require_POST
def reopen(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    form = ReopenForm(request.POST)
    if not form.is_valid():
        return _page(request, member, found, reopen_form=form, status=422)
    adjudication.reopen(found, reason=form.cleaned_data["reason"], by=member, at=timezone.now())
    messages.success(request, _("The case is open again. The earlier decision stays on record below it."))
    return redirect(_address(found, Filters()))


@login_required
@require_POST
def promote(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Use a decision as an example after the fact."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    resolution = get_object_or_404(found.resolutions, standing=True)
    form = _example_form(member, found, request.POST)
    if form.is_valid():
        try:
            adjudication.promote(resolution, example=form.example(), by=member, at=timezone.now())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("The case is an example in the draft of the next guideline."))
            return redirect(_address(found, Filters()))
    return _page(request, member, found, example_form=form, status=422)


# -- the page ----------------------------------------------------------------------------------------------------------


def _page(
    request: HtmxRequest,
    member: Membership,
    case: Case,
    *,
    form: ResolutionForm | None = None,
    example_form: ExampleFields | None = None,
    reopen_form: ReopenForm | None = None,
    preview: ExampleReading | None = None,
    status: int = 200,
) -> HttpResponse:
    filters = Filters.read(request.GET.dict())
    dossier = cases.dossier(case, member, at=timezone.now())
    context: dict[str, Any] = {
        "member": member,
        "nav": "adjudicate",
        "dossier": dossier,
        "case": case,
        "query": filters.query(),
        "form": form or (_resolution_form(member, case, None) if dossier.is_open else None),
        "preview": preview,
        "beside": queue.beside(member, filters, case, at=timezone.now()),
        **_hold(member, case, own=dossier.own),
    }
    if not dossier.is_open:
        context["example_form"] = example_form or _example_form(member, case, None)
        context["reopen_form"] = reopen_form or ReopenForm()
    return render(request, "annotations/adjudication/case.html", context, status=status)


def _hold(member: Membership, case: Case, *, own: bool = False) -> dict[str, Any]:
    """Who holds the case, for the line that says so."""
    holder = cases.holder_of(case, at=timezone.now())
    return {"member": member, "case": case, "holder": holder, "held": holder == member, "own": own}


def _resolution_form(
    member: Membership, case: Case, data: Any, initial: dict[str, Any] | None = None
) -> ResolutionForm:
    question = cases.question_of(case)
    return ResolutionForm(data, question=question, content=cases.shown(case, member), initial=initial or {})


def _example_form(member: Membership, case: Case, data: Any) -> ExampleFields:
    return ExampleFields(data, content=cases.shown(case, member))


def _sent(form: Form) -> dict[str, Any]:
    return {name: form[name].value() for name in form.fields}


def _preview(case: Case, value: Json, form: ExampleFields) -> ExampleReading | None:
    """None while no label is chosen: an example belongs under one."""
    if value in (None, ""):
        return None
    text: ExampleText = form.example()
    carried = cases.question_of(case).kind.carried
    unsaved = Example(
        question_key=case.question_key,
        content=text.content,
        value=carried(value, case.item.content, text.content),
        confused_with=carried(adjudication.other_value(case, value), case.item.content, text.content),
        rationale=text.rationale or form.cleaned_data.get("rationale", ""),
        kind=text.kind if text.kind in ExampleKind.values else ExampleKind.CLEAR,
    )
    return example_reading(unsaved, [cases.question_of(case)])


# -- where to ----------------------------------------------------------------------------------------------------------


def _after(request: HtmxRequest) -> UUID | None:
    try:
        return UUID(request.GET["after"]) if request.GET.get("after") else None
    except ValueError as error:
        raise Http404(_("There is no such list of conflicts.")) from error


def _go_on(member: Membership, filters: Filters, case: Case | None) -> HttpResponse:
    found = queue.following(member, filters, at=timezone.now(), case=case)
    return redirect(_address(found, filters) if found else _queue_address(member, filters))


def _address(case: Case, filters: Filters) -> str:
    address = reverse("annotations:adjudication-case", args=[case.item.project.uuid, case.uuid])
    return f"{address}?{filters.query()}".rstrip("?")


def _queue_address(member: Membership, filters: Filters) -> str:
    address = reverse("annotations:adjudication", args=[member.project.uuid])
    return f"{address}?{filters.query()}".rstrip("?")


def _say_decided(request: HtmxRequest, member: Membership, case: Case, example: Example | None) -> None:
    left = cases.open_count(member)
    said = ngettext("Decided. %(n)s conflict is left.", "Decided. %(n)s conflicts are left.", left) % {"n": left}
    if not left:
        said = _("Decided. No conflict is left for you.")
    if example is not None:
        said += " " + _("The case is an example in the draft of the next guideline.")
    if case.state == CaseState.DECIDED:
        messages.success(request, said)
