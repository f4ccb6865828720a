"""Questions and labels of the draft: listed, added, changed, moved, removed."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import drafts, guidelines, labels
from projects.errors import DomainError, Invalid
from projects.forms.guideline import LabelForm, LabelsForm, NewQuestionForm, QuestionForm
from projects.models import GuidelineVersion, Label, Membership, Question
from projects.views.drafts import draft_page, on_draft


@require_safe
@on_draft
def questions(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    return _list_page(request, member, draft)


@require_http_methods(["GET", "POST"])
@on_draft
def question_new(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    form = NewQuestionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = labels.add_question(draft, **form.cleaned_data, by=member)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return to_question(member, made.key)
    status = 422 if form.errors else 200
    return draft_page(request, member, draft, "question_new", place="questions", form=form, status=status)


@require_http_methods(["GET", "POST"])
@on_draft
def question(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    row = _question(draft, question)
    form = QuestionForm(request.POST) if request.method == "POST" else QuestionForm.of(row, labels.stamp(row))
    if request.method == "POST" and form.is_valid():
        try:
            labels.edit_question(row, **form.cleaned_data, by=member)
        except drafts.Changed as error:
            row.refresh_from_db()
            form = _with_new_stamp(form, labels.stamp(row), error)
            return _question_page(request, member, draft, row, form, status=409, stands=row)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return to_question(member, row.key)
    return _question_page(request, member, draft, row, form, status=422 if form.errors else 200)


@require_POST
@on_draft
def question_move(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    labels.move_question(_question(draft, question), to=_place(request), by=member)
    return to_question(member, question)


@require_http_methods(["GET", "POST"])
@on_draft
def question_remove(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    """Asks first, and says how many examples lose their question."""
    row = _question(draft, question)
    if request.method == "POST":
        labels.remove_question(row, by=member)
        messages.success(request, _("The question “%(question)s” is removed from the draft.") % {"question": row.text})
        return redirect("projects:guideline-questions", member.project.uuid)
    return draft_page(
        request,
        member,
        draft,
        "remove",
        place="questions",
        title=_("Remove the question “%(question)s”?") % {"question": row.text},
        action=reverse("projects:guideline-question-remove", args=[member.project.uuid, question]),
        back=reverse("projects:guideline-questions", args=[member.project.uuid]),
        touched=draft.examples.filter(question_key=question).count(),
    )


@require_POST
@on_draft
def labels_add(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    row = _question(draft, question)
    form = LabelsForm(request.POST, question=row)
    if form.is_valid():
        try:
            made = labels.add_labels(row, form.cleaned_data["labels"], by=member)
        except DomainError as error:
            form.add_error("labels", error.message)
        else:
            said = ngettext("%(n)s label is added.", "%(n)s labels are added.", len(made)) % {"n": len(made)}
            messages.success(request, said)
            return to_question(member, row.key)
    return _list_page(request, member, draft, form=form, status=422)


@require_http_methods(["GET", "POST"])
@on_draft
def label(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str) -> HttpResponse:
    row = label_of(draft, question, label)
    form = LabelForm(request.POST) if request.method == "POST" else LabelForm.of(row, labels.stamp(row))
    if request.method == "POST" and form.is_valid():
        try:
            labels.edit_label(row, **form.cleaned_data, by=member)
        except drafts.Changed as error:
            row = label_of(draft, question, label)
            form = _with_new_stamp(form, labels.stamp(row), error)
            return _label_page(request, member, draft, row, form, status=409, stands=row)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return to_question(member, question, label)
    return _label_page(request, member, draft, row, form, status=422 if form.errors else 200)


@require_POST
@on_draft
def label_move(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str
) -> HttpResponse:
    labels.move_label(label_of(draft, question, label), to=_place(request), by=member)
    return to_question(member, question, label)


@require_http_methods(["GET", "POST"])
@on_draft
def label_remove(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str, label: str
) -> HttpResponse:
    """Asks first, and says how many examples name the label."""
    row = label_of(draft, question, label)
    if request.method == "POST":
        labels.remove_label(row, by=member)
        messages.success(request, _("The label “%(label)s” is removed from the draft.") % {"label": row.name})
        return to_question(member, question)
    named = [one for one in draft.examples.filter(question_key=question) if label in (one.value, one.confused_with)]
    return draft_page(
        request,
        member,
        draft,
        "remove",
        place="questions",
        title=_("Remove the label “%(label)s”?") % {"label": row.name},
        action=reverse("projects:guideline-label-remove", args=[member.project.uuid, question, label]),
        back=reverse("projects:guideline-questions", args=[member.project.uuid]),
        touched=len(named),
    )


def _list_page(
    request: HttpRequest,
    member: Membership,
    draft: GuidelineVersion,
    *,
    form: LabelsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    reading = guidelines.reading(draft)
    rows = [
        (one, form if form and form.question.key == one.key else LabelsForm(question=one)) for one in reading.questions
    ]
    context = {"reading": reading, "rows": rows}
    if not rows:
        context["form"] = NewQuestionForm()
    return draft_page(request, member, draft, "questions", place="questions", status=status, **context)


def _question_page(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, row: Question, form: QuestionForm, **context: Any
) -> HttpResponse:
    return draft_page(request, member, draft, "question", place="questions", question=row, form=form, **context)


def _label_page(
    request: HttpRequest, member: Membership, draft: GuidelineVersion, row: Label, form: LabelForm, **context: Any
) -> HttpResponse:
    return draft_page(
        request, member, draft, "label", place="questions", question=row.question, label=row, form=form, **context
    )


def _with_new_stamp(form: Any, stamp: str, error: drafts.Changed) -> Any:
    """The form with what was written, now on top of what stands: saving again is then a decision."""
    again = type(form)({**form.data.dict(), "seen": stamp})
    again.is_valid()
    again.add_error(None, error.message)
    return again


def _question(draft: GuidelineVersion, key: str) -> Question:
    return get_object_or_404(draft.questions.select_related("version__project"), key=key)


def label_of(draft: GuidelineVersion, question: str, key: str) -> Label:
    rows = Label.objects.filter(question__version=draft, question__key=question)
    return get_object_or_404(rows.select_related("question__version__project"), key=key)


def _place(request: HttpRequest) -> int:
    try:
        return int(request.POST.get("to", "0"))
    except ValueError:
        raise Invalid(_("The place to move to has to be a whole number.")) from None


def to_question(member: Membership, question: str, label: str = "") -> HttpResponse:
    anchor = f"label-{question}-{label}" if label else f"question-{question}"
    return redirect(f"{reverse('projects:guideline-questions', args=[member.project.uuid])}#{anchor}")
