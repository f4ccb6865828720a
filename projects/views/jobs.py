"""The progress of long work, as a fragment that a page polls and as a page by itself."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRefresh

from projects import access, jobs
from projects.enums import Action
from projects.requests import HtmxRequest


@login_required
@require_safe
@vary_on_headers("HX-Request")
def job(request: HtmxRequest, project: UUID, job: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.VIEW)
    visible = [kind for kind, action in jobs.NEEDED.items() if access.allows(member, action)]
    found = get_object_or_404(member.project.jobs.filter(kind__in=visible).select_related("project"), uuid=job)
    if not request.htmx:
        return render(request, "projects/job.html", {"member": member, "job": found})
    if not found.is_unfinished:
        # The page around the fragment has more to say now.
        return HttpResponseClientRefresh()
    return render(request, "projects/_job.html", {"job": found})
