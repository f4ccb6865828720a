"""The project's home: the loop, for those who may see agreement."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from agreement import loop
from projects import access, navigation
from projects.enums import Action


@login_required
@require_safe
def home(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.VIEW)
    if not access.allows(member, Action.SEE_AGREEMENT):
        return redirect(navigation.start(member))
    known = loop.facts(member)
    where, step = loop.next_step(member, known)
    context = {"member": member, "nav": "home", "stations": loop.stations(member, known, where), "step": step}
    return render(request, "agreement/home.html", context)
