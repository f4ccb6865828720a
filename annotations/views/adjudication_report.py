"""What the decisions say so far, for those who decide."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations import adjudication_report
from projects import access
from projects.enums import Action
from projects.requests import UserRequest


@login_required
@require_safe
def report(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    context = {"member": member, "nav": "adjudicate", "report": adjudication_report.report(member.project)}
    return render(request, "annotations/adjudication/report.html", context)
