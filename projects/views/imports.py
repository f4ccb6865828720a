"""The pages of an import: upload, choose fields and look at the preview, confirm or discard."""

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

from projects import access, importing, jobs
from projects.enums import Action, JobKind, JobState
from projects.errors import Invalid
from projects.forms.importing import ConfirmForm, FieldsForm, UploadForm, pasted_too_large, too_large
from projects.models import Batch, Job, Membership
from projects.requests import UserRequest
from projects.uploads import UploadLimit

MEGABYTE = 1024 * 1024
# Read and copied while the person waits; what is larger goes to the worker.
SMALL = MEGABYTE // 2
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
        job = importing.start(
            member.project, upload=form.upload(), name=chosen["name"], format_key=chosen["format"], by=member
        )
    except Invalid as error:
        form.add_error(None, error.message)
        return _form(request, member, form)
    _at_once(job, of=job)
    return redirect("projects:import", member.project.uuid, job.uuid)


def _form(request: UserRequest, member: Membership, form: UploadForm) -> HttpResponse:
    context = {
        "member": member,
        "nav": "items",
        "form": form,
        "waiting": importing.waiting(member.project),
        "limit": settings.UPLOAD_MEGABYTES,
    }
    return render(request, "projects/imports/new.html", context, status=422 if form.errors else 200)


def _at_once(job: Job, *, of: Job) -> None:
    if of.file and of.file.size <= SMALL:
        jobs.work_now(job)


@login_required
@require_safe
def detail(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    member, found = _find(request, project, job)
    return _page(request, member, found, FieldsForm(job=found))


@login_required
@require_POST
def fields(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    member, found = _find(request, project, job)
    form = FieldsForm(request.POST, job=found)
    if not form.is_valid():
        return _page(request, member, found, form)
    _at_once(importing.choose(found, **form.choice()), of=found)
    return redirect("projects:import", project, job)


@login_required
@require_POST
def confirm(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    member, found = _find(request, project, job)
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("This form was not made by this page: go back and reload it."))
    made = importing.confirm(found, by=member, also=form.cleaned_data["also"], attempt=form.cleaned_data["attempt"])
    _at_once(made, of=found)
    return redirect("projects:import", project, job)


@login_required
@require_POST
def discard(request: UserRequest, project: UUID, job: UUID) -> HttpResponse:
    _member, found = _find(request, project, job)
    importing.discard(found)
    messages.success(request, _("“%(name)s” was discarded. Nothing was imported.") % {"name": found.params["name"]})
    return redirect("projects:items", project)


def _find(request: UserRequest, project: UUID, job: UUID) -> tuple[Membership, Job]:
    member = access.member_for(request.user, project, Action.IMPORT)
    uploads = member.project.jobs.filter(kind=JobKind.IMPORT_PREVIEW).select_related("project")
    return member, get_object_or_404(uploads, uuid=job)


def _page(request: UserRequest, member: Membership, job: Job, form: FieldsForm) -> HttpResponse:
    made = importing.import_of(job)
    context = {"member": member, "nav": "items", "job": job, "made": made, "form": form, "running": made or job}
    if made and made.state == JobState.DONE:
        context["batch"] = Batch.objects.filter(project=member.project, uuid=made.result["batch"]).first()
        context["left_out"] = importing.left_out(made)
    elif job.state == JobState.DONE and made is None:
        context |= _found(request, job)
    return render(request, "projects/imports/detail.html", context, status=422 if form.errors else 200)


def _found(request: UserRequest, job: Job) -> dict[str, object]:
    """What a finished preview shows."""
    kind, after = request.GET.get("kind", ""), request.GET.get("after", "")
    rows = importing.problems(job, kind=kind, after=int(after) if after.isdecimal() else 0, limit=PROBLEMS + 1)
    before = job.project.shown_fields if job.project else []
    shown = list(importing.choice_of(job).shown)
    return {
        "report": importing.report(job),
        "preview": importing.preview(job),
        "problems": rows[:PROBLEMS],
        "next": rows[PROBLEMS - 1].number if len(rows) > PROBLEMS else None,
        "kind": kind,
        "shown_before": before if before and before != shown else [],
    }
