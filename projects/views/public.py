"""A guideline version for readers outside the project, where its lead wants that."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from projects import access, guidelines
from projects.enums import Action
from projects.models import GuidelineVersion


@never_cache  # closed again is closed at once
@require_safe
def guideline(request: HttpRequest, version: UUID) -> HttpResponse:
    """The version, without a log-in and without a word on the project's people or work."""
    rows = (
        GuidelineVersion.objects.published().filter(public=True, project__delete_after=None).select_related("project")
    )
    found = get_object_or_404(rows, uuid=version)
    context = {
        "version": found,
        "reading": guidelines.reading(found),
        "public_address": request.build_absolute_uri(request.path),
    }
    response = render(request, "projects/guideline/public.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response


@login_required
@require_POST
def set_public(request: HttpRequest, project: UUID, version: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.PUBLISH)
    found = get_object_or_404(guidelines.published(member.project), uuid=version)
    wanted = request.POST.get("public") == "yes"
    guidelines.set_public(found, wanted, by=member)
    messages.success(
        request,
        _("Anybody who has the address may read this version now.")
        if wanted
        else _("This version is read in the project alone again."),
    )
    return redirect("projects:guideline-version", project, version)
