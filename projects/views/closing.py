"""Cloning a project, archiving it and taking it back. (Deleting one counts what was made: see `annotations`.)"""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from projects import access, archiving, cloning
from projects.enums import Action
from projects.errors import DomainError
from projects.forms.project import CloneForm
from projects.requests import posted


@login_required
@require_http_methods(["GET", "POST"])
def clone(request: HttpRequest, project: UUID) -> HttpResponse:
    """What would come along, and the new project."""
    member = access.member_for(request.user, project, Action.MANAGE_PROJECT)
    access.require_kept(member.project)
    parts = cloning.parts(member.project)
    form = CloneForm(posted(request), parts=parts, name=member.project.name)
    if request.method == "POST" and form.is_valid():
        made = cloning.clone(member.project, **form.cleaned_data, by=member, at=timezone.now())
        said = _("This is the new project: look through its guideline, publish it, then import items.")
        messages.success(request, said)
        return redirect("projects:guideline", made.project.uuid)
    context = {"member": member, "nav": "settings", "form": form, "parts": parts}
    return render(request, "projects/clone.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def archive(request: HttpRequest, project: UUID) -> HttpResponse:
    """What archiving means, and doing it; of an archived project taking it back."""
    member = access.member_for(request.user, project, Action.MANAGE_PROJECT)
    access.require_kept(member.project)
    context = {"member": member, "nav": "settings"}
    if request.method == "GET":
        return render(request, "projects/archive.html", context)
    if request.POST.get("take_back"):
        archiving.take_back(member.project, by=member)
        messages.success(request, _("The project is taken back: it goes on where it was."))
        return redirect("projects:settings", project)
    try:
        archiving.archive(member.project, by=member, at=timezone.now())
    except DomainError as error:
        return render(request, "projects/archive.html", context | {"refusal": error.message}, status=error.status)
    messages.success(request, _("The project is archived. It stands at the end of the list of projects."))
    return redirect("projects:project-list")
