"""Questions about an item: asked by annotators, read and answered by leads, turned into examples."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotations import inquiries, sheets
from annotations.forms.inquiries import AnswerForm, AskForm
from annotations.inquiries import Asked
from annotations.views.labelling import labelling_page
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.forms.guideline import ExampleForm
from projects.models import Item, Membership
from projects.reading import QuestionReading
from projects.requests import HtmxRequest

PAGE = 50


# -- for annotators ----------------------------------------------------------------------------------------------------


@labelling_page
@require_http_methods(["GET", "POST"])
def ask(request: HtmxRequest, project: UUID, assignment: UUID) -> HttpResponse:
    """Ask about an item of one's own: from the labelling page, which stays where it is, or on a page by itself."""
    member = access.member_for(request.user, project, Action.LABEL)
    row = inquiries.assignment_of(member, assignment)
    form = AskForm(request.POST if request.method == "POST" else None)
    if request.method == "GET" or (not form.is_valid() and not request.htmx):
        return _ask_page(request, member, row.item, form)
    inquiries.ask(member, assignment, text=request.POST.get("text", ""), at=timezone.now())
    if request.htmx:
        return HttpResponse(status=204)
    messages.success(request, _("Your question is with the leads. The answer comes to you in “My work”."))
    return redirect("annotations:label" if row.state == "open" else "annotations:my-answers", project)


def _ask_page(request: HttpRequest, member: Membership, item: Item, form: AskForm) -> HttpResponse:
    context = {"member": member, "nav": "work", "form": form, "shown": _texts(item, member)}
    return render(request, "annotations/work/ask.html", context, status=422 if form.errors else 200)


@login_required
@never_cache
@require_safe
def answers(request: HttpRequest, project: UUID) -> HttpResponse:
    """One's own questions, and the answers about items that one labelled. To look is to have seen them."""
    member = access.member_for(request.user, project, Action.LABEL)
    rows = inquiries.to(member)
    if before := request.GET.get("before"):
        rows = rows.filter(pk__lt=_number(before))
    found = [inquiries.told(row, member) for row in rows[: PAGE + 1]]
    fields = member.project.shown_fields
    inquiries.hear(member, found[:PAGE], at=timezone.now())
    context = {
        "member": member,
        "nav": "work",
        "page": "answers",
        "told": [(one, sheets.first_words(one.item, fields)) for one in found[:PAGE]],
        "more": found[PAGE - 1].number if len(found) > PAGE else None,
    }
    return render(request, "annotations/work/answers.html", context)


# -- for leads ---------------------------------------------------------------------------------------------------------


@login_required
@require_safe
def inquiry_list(request: HttpRequest, project: UUID) -> HttpResponse:
    """The questions that wait for an answer, the oldest first; or those answered, the newest first."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    is_open = request.GET.get("state") != "answered"
    rows = inquiries.for_lead(member)
    rows = rows.open().order_by("pk") if is_open else rows.answered().order_by("-pk")
    if after := request.GET.get("after"):
        number = _number(after)
        rows = rows.filter(pk__gt=number) if is_open else rows.filter(pk__lt=number)
    found = list(rows[: PAGE + 1])
    context = {
        "member": member,
        "nav": "inquiries",
        "asked": inquiries.shown(found[:PAGE], member),
        "is_open": is_open,
        "more": found[PAGE - 1].pk if len(found) > PAGE else None,
        "labels_too": access.allows(member, Action.LABEL),
    }
    return render(request, "annotations/inquiries/list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def inquiry(request: HttpRequest, project: UUID, inquiry: UUID) -> HttpResponse:
    """One question with its item; on POST the answer."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    asked = inquiries.find(member, inquiry)
    form = AnswerForm(request.POST if request.method == "POST" else None)
    if request.method == "GET" or not form.is_valid():
        return _inquiry_page(request, member, asked, form)
    inquiries.answer(asked.inquiry, text=form.cleaned_data["text"], by=member, at=timezone.now())
    messages.success(
        request,
        _("The answer is kept. Those who asked or labelled the item read it once the measurement has closed.")
        if asked.measured
        else _("The answer is in “My work” of everybody who asked or labelled the item."),
    )
    return redirect("annotations:inquiry", project, inquiry)


def _inquiry_page(request: HttpRequest, member: Membership, asked: Asked, form: AnswerForm) -> HttpResponse:
    row = asked.inquiry
    others = [one for one in inquiries.of_item(row.item, member) if one.inquiry.pk != row.pk]
    context = {
        "member": member,
        "nav": "inquiries",
        "asked": asked,
        "others": others,
        "shown": _texts(row.item, member),
        "form": form,
        "questions": [] if asked.measured or row.answered_at is None else inquiries.askable(member),
    }
    return render(request, "annotations/inquiries/detail.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def example(request: HttpRequest, project: UUID, inquiry: UUID) -> HttpResponse:
    """Word an answered question as an example of the draft, under the question that `under` names."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    asked = inquiries.find(member, inquiry)
    question = _question(member, request.GET.get("under", ""))
    texts = asked.inquiry.item.shown(member.project.shown_fields)
    initial: dict[str, Any] = {f"content-{place}": text for place, (_name, text) in enumerate(texts)}
    form = ExampleForm(
        request.POST if request.method == "POST" else None,
        question=question,
        content_fields=[name for name, _text in texts],
        initial=initial | {"rationale": asked.inquiry.answer},
    )
    if request.method == "GET" or not form.is_valid():
        return _example_page(request, member, asked, question, form)
    try:
        inquiries.promote(asked.inquiry, question_key=question.key, **form.example(), by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return _example_page(request, member, asked, question, form, status=error.status)
    messages.success(request, _("The example is in the draft."))
    return redirect("annotations:inquiry", project, inquiry)


def _example_page(
    request: HttpRequest,
    member: Membership,
    asked: Asked,
    question: QuestionReading,
    form: ExampleForm,
    status: int | None = None,
) -> HttpResponse:
    context = {"member": member, "nav": "inquiries", "asked": asked, "question": question, "form": form}
    status = status or (422 if form.errors else 200)
    return render(request, "annotations/inquiries/example.html", context, status=status)


def _question(member: Membership, key: str) -> QuestionReading:
    found = inquiries.askable(member)
    chosen = next((one for one in found if one.key == key), None) if key else next(iter(found), None)
    if chosen is None:
        raise Http404(_("There is no such question in the guideline."))
    return chosen


# -- both --------------------------------------------------------------------------------------------------------------


def _texts(item: Item, member: Membership) -> list[sheets.Shown]:
    return sheets.shown(dict(item.shown(member.project.shown_fields)))


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)
