"""My work: what somebody labelled and skipped, newest first, each label to be corrected where it stands."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from annotations import cases, labelling, sent_back, sheets, together
from annotations.forms.labelling import answers_in, comment_in
from annotations.models import Annotation, Assignment
from annotations.sheets import Given
from projects import access, guidelines
from projects.enums import Action
from projects.errors import Invalid
from projects.models import Membership
from projects.reading import questions, reading
from projects.requests import HtmxRequest

PAGE = 50


@login_required
@require_safe
def history(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.LABEL)
    question, _colon, value = request.GET.get("label", "").partition(":")
    rows = labelling.history(member, question=question, value=value).select_related("assignment")
    if before := request.GET.get("before"):
        rows = rows.filter(seq__lt=_number(before))
    found = list(rows[: PAGE + 1])
    newest = guidelines.newest(member.project)
    read = reading(newest) if newest else None
    context = {
        "member": member,
        "nav": "work",
        "entries": sheets.entries(found[:PAGE], member.project, at=timezone.now()),
        "more": found[PAGE - 1].seq if len(found) > PAGE else None,
        "questions": read.questions if read else (),
        "scripts": sheets.scripts(read) if read else [],
        "chosen": request.GET.get("label", ""),
        "page": "labelled",
        **_asked(member),
    }
    return render(request, "annotations/work/history.html", context)


def _asked(member: Membership) -> dict[str, Any]:
    """What was sent back to `member`, and what another rater proposes to them: both only of closed draws."""
    fields = member.project.shown_fields
    back = [(row, sheets.first_words(row.annotation.item, fields)) for row in sent_back.to(member)]
    rows = list(together.to(member)) if together.allowed(member.project) else []
    words = cases.Vocabulary({row.case.draw.wave.version_id for row in rows})
    proposals = [
        (
            row,
            sheets.first_words(row.case.item, fields),
            words.name(row.case.draw.wave.version_id, row.case.question_key, row.value),
        )
        for row in rows
    ]
    return {"asked": bool(back or proposals), "sent_back": back, "proposals": proposals}


@login_required
@require_safe
def skipped(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.LABEL)
    rows = labelling.skipped(member)
    if before := request.GET.get("before"):
        rows = rows.filter(pk__lt=_own_skip(member, before).pk)
    found = list(rows[: PAGE + 1])
    fields = member.project.shown_fields
    context = {
        "member": member,
        "nav": "work",
        "skips": [(row, sheets.first_words(row.item, fields)) for row in found[:PAGE]],
        "more": found[PAGE - 1].uuid if len(found) > PAGE else None,
        "page": "skipped",
    }
    return render(request, "annotations/work/skipped.html", context)


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def my_label(request: HtmxRequest, project: UUID, annotation: UUID) -> HttpResponse:
    """One label of one's own: read and corrected, as a page or in its place in the list."""
    member = access.member_for(request.user, project, Action.LABEL)
    row = get_object_or_404(labelling.history(member), uuid=annotation)
    if request.method == "GET":
        return _line(request, member, row) if "closed" in request.GET else _form(request, member, row)
    answers, comment = answers_in(request.POST, questions(row.version)), comment_in(request.POST)
    try:
        labelling.correct(member, row.uuid, answers=answers, comment=comment, at=timezone.now())
    except Invalid as error:
        problems = error.by_question if isinstance(error, labelling.BadAnswers) else {"": error.message}
        return _form(request, member, row, Given(answers, comment, problems), status=422)
    if request.htmx:
        row.refresh_from_db(fields=["latest", "comment", "revisions_count"])
        return _line(request, member, row)
    messages.success(request, _("The label is corrected."))
    return redirect("annotations:my-work", project)


def _form(
    request: HtmxRequest, member: Membership, row: Annotation, given: Given | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "member": member,
        "nav": "work",
        "annotation": row,
        "sheet": sheets.of_annotation(row, member, given),
        "still_counts": row.window_ends > timezone.now(),
    }
    template = "_form" if request.htmx else "label"
    return render(request, f"annotations/work/{template}.html", context, status=status)


def _line(request: HtmxRequest, member: Membership, row: Annotation) -> HttpResponse:
    if not request.htmx:
        return redirect("annotations:my-work", member.project.uuid)
    (entry,) = sheets.entries([row], member.project, at=timezone.now())
    return render(request, "annotations/work/_entry.html", {"member": member, "entry": entry})


def _own_skip(member: Membership, text: str) -> Assignment:
    """By an id that counts nothing: a number in the address would count everybody's items."""
    try:
        return get_object_or_404(labelling.skipped(member), uuid=UUID(text))
    except ValueError as error:
        raise Http404(_("There is no such page.")) from error


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)
