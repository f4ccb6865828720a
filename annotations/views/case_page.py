"""The page of a case, with whatever form came back with errors, and where a decision leads."""

from typing import Any
from uuid import UUID

from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import adjudication, cases, inquiries, opinions, precedents, queue, severity, third_ratings, together
from annotations.adjudication import ExampleText
from annotations.forms.adjudication import (
    DecisionForm,
    ExampleFields,
    HandOverForm,
    ReopenForm,
    ResolutionForm,
    SendBackForm,
)
from annotations.models import Case
from annotations.queue import Filters
from projects.enums import ExampleKind
from projects.models import Example, Membership
from projects.reading import ExampleReading, QuestionReading, example_reading
from projects.requests import HtmxRequest
from projects.task_types import Json


def page(request: HtmxRequest, member: Membership, case: Case, *, status: int = 200, **given: Any) -> HttpResponse:
    """The page of `case` (from `cases.find`). `given`: forms that were sent, and the preview of an example."""
    filters = filters_of(request)
    dossier = cases.dossier(case, member, at=timezone.now())
    context: dict[str, Any] = {
        "member": member,
        "nav": "adjudicate",
        "dossier": dossier,
        "case": case,
        "query": filters.query(),
        "beside": queue.beside(member, filters, case, at=timezone.now()),
        "apart": severity.apart(dossier.question.task_type, len(dossier.question.labels), case.gap),
        "siblings": cases.siblings(case),
        "similar": precedents.similar(case, dossier.question),
        "opinions": [
            (
                ended,
                [(one, cases.describe(dossier.question, one.value, case.item.content)) for one in ended.opinions.all()],
            )
            for ended in opinions.shown(case)
        ],
        "asked": inquiries.of_item(case.item, member),
        "send_back_form": SendBackForm(sides=dossier.sides),
        "why_open": third_ratings.why_open(case) if dossier.is_open else "",
        **hold(member, case, own=dossier.own),
    }
    if dossier.is_waiting:
        context |= third_ratings.waiting(case)
    else:
        context |= _open(member, dossier) if dossier.is_open else _decided(member, case)
    return render(request, "annotations/adjudication/case.html", context | given, status=status)


def _open(member: Membership, dossier: cases.Dossier) -> dict[str, Any]:
    """What an open case needs: the form of the decision, of an opinion, or of a proposal to the other rater."""
    case = dossier.case
    if dossier.own:
        partner = together.other_rater(case, member)
        proposal = together.newest(case) if partner else None
        form = decision_form(member, case, None, dossier.question) if partner else None
        known = precedents.rationales(case, member, dossier.question) if partner else []
        return {"form": form, "partner": partner, "proposal": proposal, "rationales": known}
    told = opinions.given(case, member) if case.wants_opinions else None
    make = decision_form if case.wants_opinions else resolution_form
    form = make(member, case, None, dossier.question)
    said = cases.describe(dossier.question, told.value, case.item.content) if told else ""
    known = precedents.rationales(case, member, dossier.question)
    return {"form": form, "told": told, "told_name": said, "rationales": known}


def _decided(member: Membership, case: Case) -> dict[str, Any]:
    return {"example_form": example_form(member, case, None), "reopen_form": ReopenForm()}


def hold(member: Membership, case: Case, *, own: bool = False) -> dict[str, Any]:
    """Who holds the case, for the line that says so, and whom it can be handed over to."""
    holder = cases.holder_of(case, at=timezone.now())
    held = holder == member
    takers = adjudication.takers(member) if held else []
    form = HandOverForm(takers=takers) if takers else None
    return {"member": member, "case": case, "holder": holder, "held": held, "own": own, "hand_over_form": form}


# -- forms -------------------------------------------------------------------------------------------------------------


def decision_form(member: Membership, case: Case, data: Any, question: QuestionReading | None = None) -> DecisionForm:
    question = question or cases.question_of(case, member)
    return DecisionForm(data, question=question, content=cases.shown(case, member))


def resolution_form(
    member: Membership,
    case: Case,
    data: Any,
    question: QuestionReading | None = None,
    initial: dict[str, Any] | None = None,
) -> ResolutionForm:
    question = question or cases.question_of(case, member)
    return ResolutionForm(data, question=question, content=cases.shown(case, member), initial=initial or {})


def example_form(member: Membership, case: Case, data: Any, initial: dict[str, Any] | None = None) -> ExampleFields:
    return ExampleFields(data, content=cases.shown(case, member), initial=initial or {})


def sent(form: Form) -> dict[str, Any]:
    return {name: form[name].value() for name in form.fields}


def example_preview(case: Case, value: Json, form: ExampleFields, rationale: str = "") -> ExampleReading | None:
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
        rationale=text.rationale or form.cleaned_data.get("rationale") or rationale,
        kind=text.kind if text.kind in ExampleKind.values else ExampleKind.CLEAR,
    )
    return example_reading(unsaved, [cases.question_of(case)])


# -- addresses ---------------------------------------------------------------------------------------------------------


def filters_of(request: HtmxRequest) -> Filters:
    return Filters.read(request.GET.dict())


def after(request: HtmxRequest) -> UUID | None:
    try:
        return UUID(request.GET["after"]) if request.GET.get("after") else None
    except ValueError as error:
        raise Http404(_("There is no such list of conflicts.")) from error


def address(case: Case, filters: Filters) -> str:
    found = reverse("annotations:adjudication-case", args=[case.item.project.uuid, case.uuid])
    return f"{found}?{filters.query()}".rstrip("?")


def queue_address(member: Membership, filters: Filters) -> str:
    found = reverse("annotations:adjudication", args=[member.project.uuid])
    return f"{found}?{filters.query()}".rstrip("?")
