"""Examples of the draft: listed, written by hand, previewed as annotators see them, changed, removed."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from projects import drafts, examples, guidelines
from projects import reading as readings
from projects.asking import posted
from projects.errors import DomainError
from projects.forms.guideline import ExampleForm, content_fields
from projects.models import Example, GuidelineVersion, Membership
from projects.reading import QuestionReading
from projects.views.drafts import draft_page, on_draft


@require_safe
@on_draft
def example_list(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    reading = guidelines.reading(draft)
    return draft_page(request, member, draft, "examples", place="examples", reading=reading)


@require_http_methods(["GET", "POST"])
@on_draft
def example_new(request: HttpRequest, member: Membership, draft: GuidelineVersion, question: str) -> HttpResponse:
    """Write an example by hand. "Show" renders it and saves nothing."""
    asked = _question(draft, question)
    form = _form(request, member, asked, initial=_asked_for(request, asked))
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            return _page(request, member, draft, asked, form, shown=True)
        try:
            guidelines.add_example(draft, question_key=question, **form.example(), by=member)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("The example is in the draft."))
            return redirect("projects:guideline-examples", member.project.uuid)
    return _page(request, member, draft, asked, form)


@require_http_methods(["GET", "POST"])
@on_draft
def example(request: HttpRequest, member: Membership, draft: GuidelineVersion, example: UUID) -> HttpResponse:
    row = get_object_or_404(draft.examples.select_related("version__project"), uuid=example)
    asked = guidelines.reading(draft).question(row.question_key)
    if asked is None:
        return redirect("projects:guideline-example-remove", member.project.uuid, example)
    form = _form(request, member, asked, row, initial=ExampleForm.initial_of(row, examples.stamp(row)))
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            return _page(request, member, draft, asked, form, row, shown=True)
        try:
            guidelines.edit_example(row, **form.example(), seen=form.cleaned_data["seen"], by=member)
        except drafts.Changed as error:
            return _stale_page(request, member, draft, asked, row, form, error)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("The example is saved."))
            return redirect("projects:guideline-examples", member.project.uuid)
    return _page(request, member, draft, asked, form, row)


@require_http_methods(["GET", "POST"])
@on_draft
def example_remove(request: HttpRequest, member: Membership, draft: GuidelineVersion, example: UUID) -> HttpResponse:
    row = get_object_or_404(draft.examples.select_related("version__project"), uuid=example)
    if request.method == "POST":
        guidelines.remove_example(row, by=member)
        messages.success(request, _("The example is removed from the draft."))
        return redirect("projects:guideline-examples", member.project.uuid)
    return draft_page(
        request,
        member,
        draft,
        "remove",
        place="examples",
        title=_("Remove this example?"),
        example=readings.example_reading(row, guidelines.reading(draft).questions),
        action=reverse("projects:guideline-example-remove", args=[member.project.uuid, example]),
        back=reverse("projects:guideline-examples", args=[member.project.uuid]),
    )


def _asked_for(request: HttpRequest, question: QuestionReading) -> dict[str, object]:
    """The label, and what it is confused with, as the link that led here says."""
    names = {"value": "label", "confused_with": "not"}
    return {field: posted(question, request.GET.getlist(name)) for field, name in names.items()}


def _question(draft: GuidelineVersion, key: str) -> QuestionReading:
    found = guidelines.reading(draft).question(key)
    if found is None:
        raise Http404(_("There is no such question in the draft."))
    return found


def _form(
    request: HttpRequest,
    member: Membership,
    question: QuestionReading,
    row: Example | None = None,
    *,
    initial: dict[str, object],
    data: QueryDict | None = None,
) -> ExampleForm:
    return ExampleForm(
        data or request.POST or None,
        question=question,
        content_fields=content_fields(member.project, row),
        initial=initial,
    )


def _page(
    request: HttpRequest,
    member: Membership,
    draft: GuidelineVersion,
    question: QuestionReading,
    form: ExampleForm,
    row: Example | None = None,
    *,
    shown: bool = False,
    status: int = 200,
    stands: readings.ExampleReading | None = None,
) -> HttpResponse:
    """The form, and with `shown` the example as annotators would see it."""
    preview = None
    if shown:
        try:
            unsaved = examples.preview(
                draft, question_key=question.key, **form.example(), lineage=row.lineage if row else None
            )
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            preview = readings.example_reading(unsaved, guidelines.reading(draft).questions)
    return draft_page(
        request,
        member,
        draft,
        "example",
        place="examples",
        status=422 if form.errors and status == 200 else status,
        question=question,
        form=form,
        example=row,
        preview=preview,
        stands=stands,
    )


def _stale_page(
    request: HttpRequest,
    member: Membership,
    draft: GuidelineVersion,
    question: QuestionReading,
    row: Example,
    form: ExampleForm,
    error: drafts.Changed,
) -> HttpResponse:
    """What stands beside what was written, which is now on top of it: saving again is then a decision."""
    row.refresh_from_db()
    data = request.POST.copy()
    data["seen"] = examples.stamp(row)
    again = _form(request, member, question, row, initial={}, data=data)
    again.is_valid()
    again.add_error(None, error.message)
    stands = readings.example_reading(row, guidelines.reading(draft).questions)
    return _page(request, member, draft, question, again, row, status=409, stands=stands)
