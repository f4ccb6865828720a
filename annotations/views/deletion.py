"""Deleting a project: what would go, the typed name, the days in which it can be restored, and how far it is."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotations import holdings
from projects import access, deleting
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership
from projects.requests import HtmxRequest


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The question; once it was answered, until when the project can be restored."""
    if request.method == "GET" and deleting.is_gone(project, asked_by=request.user):
        messages.success(request, _("The project is deleted."))
        return redirect("projects:project-list")
    member = access.member_for(request.user, project, Action.MANAGE_PROJECT)
    if request.method == "POST":
        try:
            deleting.ask(member.project, typed=request.POST.get("name", ""), by=member, at=timezone.now())
        except DomainError as error:
            return _page(request, member, refusal=error.message, status=error.status)
        return redirect("annotations:project-delete", project)
    return _page(request, member)


def _page(request: HttpRequest, member: Membership, *, refusal: str = "", status: int = 200) -> HttpResponse:
    project = member.project
    waits, at = project.delete_after is not None, timezone.now()
    context = {
        "member": member,
        "nav": "settings",
        "refusal": refusal,
        "holdings": [] if waits else [one for one in holdings.of(project) if one.count],
        "days": settings.DELETE_AFTER_DAYS,
        "looks_again": project.delete_after is not None and project.delete_after <= at,
        "job": deleting.job_of(project) if project.erasing_at else None,
    }
    return render(request, "annotations/deletion/deletion.html", context, status=status)


@login_required
@require_POST
def restore(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.MANAGE_PROJECT)
    deleting.restore(member.project, by=member)
    messages.success(request, _("The project is restored: it goes on where it was."))
    return redirect("projects:settings", project)


@login_required
@require_POST
def resume(request: HttpRequest, project: UUID) -> HttpResponse:
    """Go on with a deletion that failed."""
    member = access.member_for(request.user, project, Action.MANAGE_PROJECT)
    deleting.resume(member.project, by=member)
    return redirect("annotations:project-delete", project)
