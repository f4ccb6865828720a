"""The exports of a project: asked for, listed, downloaded."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotations import exporting
from annotations.forms.exporting import ExportForm
from projects import access
from projects.enums import Action
from projects.formats import FORMATS
from projects.requests import UserRequest

LISTED = 30


@login_required
@require_http_methods(["GET", "POST"])
def export_list(request: UserRequest, project: UUID) -> HttpResponse:
    """The newest exports with their progress, and the form that asks for one."""
    member = access.member_for(request.user, project, Action.EXPORT)
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        exporting.start(member.project, **form.cleaned_data, by=member, at=timezone.now())
        return redirect("annotations:exports", project)
    found = exporting.of_project(member.project).select_related("project")[:LISTED]
    context = {
        "member": member,
        "nav": "exports",
        "form": form,
        "exports": exporting.listed(found, member),
    }
    return render(request, "annotations/exports/exports.html", context, status=422 if form.errors else 200)


@login_required
@never_cache
@require_safe
def download(request: UserRequest, project: UUID, job: UUID) -> HttpResponseBase:
    member = access.member_for(request.user, project, Action.EXPORT)
    found = get_object_or_404(exporting.of_project(member.project).select_related("project"), uuid=job)
    stream = exporting.download(found, member)
    media_type = FORMATS[found.params["format"]].media_type
    return FileResponse(
        stream, as_attachment=True, filename=found.file_name, content_type=f"{media_type}; charset=utf-8"
    )
