"""The list of one's projects, a new project, and its settings."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from projects import access, members
from projects.enums import Action
from projects.forms.project import ProjectForm, SettingsForm
from projects.requests import UserRequest, posted


@login_required
@require_safe
def project_list(request: UserRequest) -> HttpResponse:
    found = list(access.projects_of(request.user))
    context = {
        "memberships": [one for one in found if one.project.archived_at is None],
        "archived": [one for one in found if one.project.archived_at is not None],
        "closing": access.closing_of(request.user),
    }
    return render(request, "projects/project_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def project_create(request: UserRequest) -> HttpResponse:
    form = ProjectForm(posted(request))
    if request.method == "POST" and form.is_valid():
        member = members.found(**form.cleaned_data, user=request.user)
        return redirect("projects:guideline", member.project.uuid)
    status = 422 if form.errors else 200
    return render(request, "projects/project_form.html", {"form": form}, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def settings(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SETTINGS)
    form = SettingsForm(posted(request), instance=member.project)
    if request.method == "POST" and form.is_valid():
        form.save(by=member)
        messages.success(request, _("The settings are saved."))
        return redirect("projects:settings", project)
    # A refused form has already written its values into the instance: the frame should show what is stored.
    member.project.refresh_from_db()
    context = {"member": member, "nav": "settings", "form": form}
    return render(request, "projects/settings.html", context, status=422 if form.errors else 200)
