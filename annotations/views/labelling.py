"""The labelling page: the next item, submit, skip, draft, undo.

Every address answers a plain form with a redirect, and the page's own requests (HX-Request) with the fragment that
comes next, so that one request takes an annotator from item to item.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from annotations import cycles, labelling, publishing, serving, sheets
from annotations.enums import SkipReason
from annotations.forms.labelling import answers_in, comment_in, draft_in, seconds_in
from annotations.models import Annotation
from annotations.serving import Nothing, Task
from annotations.sheets import Given, Sheet
from projects import access, navigation, reading
from projects.enums import Action
from projects.errors import DomainError, Invalid
from projects.models import Membership
from projects.requests import HtmxRequest

P = ParamSpec("P")
View = Callable[Concatenate[HtmxRequest, P], HttpResponse]

HIDDEN_COOKIE = "guideline"  # set by the page: "hidden" where the annotator has put the guideline away


def labelling_page(view: View[P]) -> View[P]:
    """For members who label; never cached, since an item shown again by "back" may be another one by now.

    A page says for whom it was opened: where somebody else has logged in since, it keeps what it wanted to send.
    """

    @login_required
    @never_cache
    @gzip_page
    @vary_on_headers("HX-Request")
    @wraps(view)
    def run(request: HtmxRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.headers.get("X-Opened-For", str(request.user.pk)) != str(request.user.pk):
            return render(request, "annotations/labelling/_another.html", status=403)
        return view(request, *args, **kwargs)

    return run


@labelling_page
@require_safe
def label(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The item that is held, or the next one, or why there is none."""
    return _next(request, access.member_for(request.user, project, Action.LABEL))


@labelling_page
@require_http_methods(["GET", "POST"])
def submit(request: HtmxRequest, project: UUID, assignment: UUID) -> HttpResponse:
    """Save a label. The assignment is the idempotency key: the same form again changes nothing."""
    member = access.member_for(request.user, project, Action.LABEL)
    if request.method == "GET":  # where a log-in in between leads to
        return redirect("annotations:label", project)
    comment, at = comment_in(request.POST), timezone.now()
    sent: dict[str, Any] = {"comment": comment, "seconds": seconds_in(request.POST), "at": at}
    read = partial(answers_in, request.POST)
    task: Task | Nothing | None = None
    try:
        if request.htmx:
            saved, task = cycles.submit_and_next(member, assignment, answers=read, **sent)
        else:
            saved = labelling.submit(member, assignment, answers=read, **sent)
    except Invalid as error:
        given = Given(read(labelling.questions_of(member, assignment)), comment, _problems(error))
        shown = serving.shown_again(member, assignment, at=at)
        return _task_page(request, member, shown, sheets.of_task(shown, member, given), status=422)
    notice = _("You had labelled this item already, and otherwise: that label stands. Undo corrects it.")
    return _on(request, member, notice if saved.differs else "", task=task)


@labelling_page
@require_http_methods(["GET", "POST"])
def skip(request: HtmxRequest, project: UUID, assignment: UUID) -> HttpResponse:
    """Leave the item to somebody else, with a reason."""
    member = access.member_for(request.user, project, Action.LABEL)
    if request.method == "GET":
        return redirect("annotations:label", project)
    note, at = comment_in(request.POST), timezone.now()
    try:
        labelling.skip(member, assignment, reason=request.POST.get("reason", ""), note=note, at=at)
    except Invalid as error:
        task = serving.shown_again(member, assignment, at=at)
        answers = answers_in(request.POST, labelling.questions_of(member, assignment))
        given = Given(answers, note, {"": error.message})
        return _task_page(request, member, task, sheets.of_task(task, member, given), status=422)
    return _on(request, member)


@labelling_page
@require_POST
def draft(request: HtmxRequest, project: UUID, assignment: UUID) -> HttpResponse:
    """Keep what was typed so far; the page sends it a moment after the last key."""
    member = access.member_for(request.user, project, Action.LABEL)
    typed = draft_in(request.POST, labelling.questions_of(member, assignment))
    labelling.save_draft(member, assignment, draft=typed, at=timezone.now())
    return HttpResponse(status=204)


@labelling_page
@require_safe
def undo(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The last label given, to be corrected; with `before`, the one before that."""
    member = access.member_for(request.user, project, Action.LABEL)
    rows = labelling.history(member)
    if before := request.GET.get("before"):
        rows = rows.filter(seq__lt=_own(member, before).seq)
    row = rows.first()
    if row is None:
        said = _("This is the first label you gave.") if before else _("You have not labelled anything yet.")
        raise DomainError(said, code="nothing_to_undo", status=404)
    return _correction_page(request, member, row)


@labelling_page
@require_http_methods(["GET", "POST"])
def correct(request: HtmxRequest, project: UUID, annotation: UUID) -> HttpResponse:
    """Correct one's own label, and go on with the item that was in hand."""
    member = access.member_for(request.user, project, Action.LABEL)
    row = get_object_or_404(labelling.history(member), uuid=annotation)
    if request.method == "GET":
        return _correction_page(request, member, row)
    answers, comment = answers_in(request.POST, reading.questions(row.version)), comment_in(request.POST)
    try:
        labelling.correct(member, row.uuid, answers=answers, comment=comment, at=timezone.now())
    except Invalid as error:
        return _correction_page(request, member, row, Given(answers, comment, _problems(error)), status=422)
    return _on(request, member)


# -- what is answered -------------------------------------------------------------------------------------------------


def _on(
    request: HtmxRequest, member: Membership, notice: str = "", *, task: Task | Nothing | None = None
) -> HttpResponse:
    """On to the next item: the page gets it at once, a plain form is sent for it."""
    if request.htmx:
        return _next(request, member, notice, task=task)
    if notice:
        messages.info(request, notice)
    return redirect("annotations:label", member.project.uuid)


def _next(
    request: HtmxRequest, member: Membership, notice: str = "", *, task: Task | Nothing | None = None
) -> HttpResponse:
    task = task or serving.next_task(member, at=timezone.now())
    if isinstance(task, Task):
        return _task_page(request, member, task, sheets.of_task(task, member), notice=notice)
    first = {"acknowledge": "annotations:acknowledge", "practice": "annotations:practice"}.get(task.code)
    if first and (url := navigation.url_of(first, member)):
        return HttpResponseClientRedirect(url) if request.htmx else redirect(url)
    return _nothing_page(request, member, task, notice)


def _task_page(
    request: HtmxRequest, member: Membership, task: Task, sheet: Sheet, *, notice: str = "", status: int = 200
) -> HttpResponse:
    context = {"task": task, "sheet": sheet, "notice": notice, "reasons": _reasons()}
    return _answer(request, member, "annotations/labelling/_task.html", context, status)


def _nothing_page(request: HtmxRequest, member: Membership, nothing: Nothing, notice: str) -> HttpResponse:
    return _answer(request, member, "annotations/labelling/_nothing.html", {"nothing": nothing, "notice": notice})


def _correction_page(
    request: HtmxRequest, member: Membership, row: Annotation, given: Given | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "annotation": row,
        "sheet": sheets.of_annotation(row, member, given),
        "still_counts": row.window_ends > timezone.now(),
    }
    return _answer(request, member, "annotations/labelling/_correction.html", context, status)


def _answer(
    request: HtmxRequest, member: Membership, fragment: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    context |= {"member": member, "fragment": fragment}
    if request.htmx:
        return render(request, fragment, context, status=status)
    sheet = context.get("sheet")
    if sheet:
        context["read_before"] = publishing.read_before(member, sheet.reading.version)
    context |= {"nav": "label", "guideline_hidden": request.COOKIES.get(HIDDEN_COOKIE) == "hidden"}
    return render(request, "annotations/labelling/label.html", context, status=status)


def _problems(error: Invalid) -> dict[str, str]:
    return error.by_question if isinstance(error, labelling.BadAnswers) else {"": error.message}


def _reasons() -> list[tuple[int, str, str]]:
    """(key, reason, its words)"""
    return [(key, reason.value, str(reason.label)) for key, reason in enumerate(SkipReason, start=1)]


def _own(member: Membership, uuid: str) -> Annotation:
    try:
        return get_object_or_404(labelling.history(member), uuid=UUID(uuid))
    except ValueError as error:
        raise Http404(_("There is no such label among yours.")) from error
