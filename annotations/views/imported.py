"""The pages of an import of ratings: upload, say which field is what, look at the preview, confirm or discard."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations import imported, imported_report
from annotations.forms.imported import ConfirmForm, LayoutForm
from projects import access, guidelines, jobs
from projects.enums import Action, JobKind, JobState
from projects.errors import DomainError, Invalid
from projects.forms.importing import UploadForm, pasted_too_large, too_large
from projects.models import Job, Membership
from projects.requests import UserRequest
from projects.uploads import UploadLimit

MEGABYTE = 1024 * 1024
# Read and copied while the person waits; what is larger goes to the worker.
SMALL = MEGABYTE // 8
PROBLEMS = 100


@csrf_exempt  # the inner view checks: the limit has to stand before anything reads the request's body
@login_required
@require_http_methods(["GET", "POST"])
def new(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.IMPORT)
    limit = UploadLimit(request, settings.UPLOAD_MEGABYTES * MEGABYTE)
    request.upload_handlers.insert(0, limit)
    try:
        return _new(request, member, limit)
    except RequestDataTooBig:
        return _form(request, member, UploadForm({}, {}, refusal=pasted_too_large()))


@csrf_protect
def _new(request: UserRequest, member: Membership, limit: UploadLimit) -> HttpResponse:
    if request.method != "POST":
        return _form(request, member, UploadForm())
    posted = request.POST
    form = UploadForm(posted, request.FILES, refusal=too_large() if limit.exceeded else "")
    if not form.is_valid():
        return _form(request, member, form)
    chosen = form.cleaned_data
    try:
        job = imported.start(
            member.project, upload=form.upload(), name=chosen["name"], format_key=chosen["format"], by=member
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return _form(request, member, form)
    _at_once(job, of=job)
    return redirect("annotations:ratings", member.project.uuid, job.uuid)


def _form(request: UserRequest, member: Membership, form: UploadForm) -> HttpResponse:
    context = {
        "member": member,
        "nav": "waves",
        "form": form,
        "version": guidelines.newest(member.project),
        "waiting": imported.waiting(member.project),
        "limit": settings.UPLOAD_MEGABYTES,
    }
    return render(request, "annotations/imported/new.html", context, status=422 if form.errors else 200)


def _at_once(job: Job, *, of: Job) -> None:
    if of.file and of.file.size <= SMALL:
        jobs.work_now(job)


@login_required
@require_safe
def detail(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    member, found = _find(request, project, job)
    return _page(request, member, found)


@login_required
@require_POST
def layout(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    """Read the file again, with its fields understood in another way."""
    member, found = _find(request, project, job)
    form = LayoutForm(request.POST, job=found)
    if not form.is_valid():
        return _page(request, member, found, layout_form=form)
    try:
        chosen = imported.choose(found, form.layout())
    except Invalid as error:
        form.add_error(None, error.message)
        return _page(request, member, found, layout_form=form)
    _at_once(chosen, of=found)
    return redirect("annotations:ratings", project, job)


@login_required
@require_POST
def confirm(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    member, found = _find(request, project, job)
    made = imported.import_of(found)
    if made is not None or found.state != JobState.DONE:
        # Confirmed before, perhaps to be tried again; or there is no preview to look at, which is refused.
        _at_once(imported.confirm(found, by=member), of=found)
        return redirect("annotations:ratings", project, job)
    form = ConfirmForm(request.POST, job=found, found=imported_report.of(found))
    if not form.is_valid():
        return _page(request, member, found, confirm_form=form)
    try:
        made = imported.confirm(
            found,
            by=member,
            values=form.values_chosen(),
            raters=form.raters_chosen(),
            attempt=form.cleaned_data["attempt"],
            resolution_rule=form.cleaned_data["resolution_rule"],
        )
    except Invalid as error:
        form.add_error(None, error.message)
        return _page(request, member, found, confirm_form=form)
    _at_once(made, of=found)
    return redirect("annotations:ratings", project, job)


@login_required
@require_POST
def discard(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    _member, found = _find(request, project, job)
    imported.discard(found)
    messages.success(request, _("“%(name)s” was discarded. Nothing was imported.") % {"name": found.params["name"]})
    return redirect("annotations:waves", project)


def _find(request: UserRequest, project: UUID, job: UUID) -> tuple[Membership, Job]:
    member = access.member_for(request.user, project, Action.IMPORT)
    uploads = member.project.jobs.filter(kind=JobKind.RATINGS_PREVIEW).select_related("project")
    return member, get_object_or_404(uploads, uuid=job)


def _page(
    request: UserRequest,
    member: Membership,
    job: Job,
    *,
    layout_form: LayoutForm | None = None,
    confirm_form: ConfirmForm | None = None,
) -> HttpResponse:
    made = imported.import_of(job)
    context = {
        "member": member,
        "nav": "waves",
        "job": job,
        "made": made,
        "running": made or job,
        "not_known": imported.NOT_KNOWN,
    }
    if made and made.state == JobState.DONE:
        context["wave"] = imported.wave_of(made)
    elif made is None and job.state != JobState.CANCELLED:
        context["layout_form"] = layout_form or LayoutForm(job=job)
        if job.state == JobState.DONE:
            context |= _found(request, job, confirm_form)
    wrong = any(form is not None and form.errors for form in (layout_form, confirm_form))
    return render(request, "annotations/imported/detail.html", context, status=422 if wrong else 200)


def _found(request: UserRequest, job: Job, form: ConfirmForm | None) -> dict[str, object]:
    """What a finished preview shows."""
    kind, after = request.GET.get("kind", ""), request.GET.get("after", "")
    number = int(after) if after.isdecimal() and len(after) < 10 else 0
    rows = imported_report.problems(job, kind=kind, after=number, limit=PROBLEMS + 1)
    report = form.found if form else imported_report.of(job)
    return {
        "report": report,
        "confirm_form": form or ConfirmForm(job=job, found=report),
        "preview": imported_report.preview(job),
        "problems": rows[:PROBLEMS],
        "next": rows[PROBLEMS - 1].number if len(rows) > PROBLEMS else None,
        "kind": kind,
    }
