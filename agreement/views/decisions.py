"""What the decisions say so far, for those who decide."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agreement import decisions as said
from projects import access
from projects.enums import Action
from projects.requests import UserRequest

EVERY = "all"


@login_required
@require_safe
def decisions(request: UserRequest, project: UUID) -> HttpResponse:
    """Of one wave, the newest unless `?draw=` names another; `?draw=all` has the causes of all and no figure."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    draws = said.draws_of(member.project)
    wanted = request.GET.get("draw", "")
    chosen = next((draw for draw in draws if str(draw.uuid) == wanted), None)
    if wanted and wanted != EVERY and chosen is None:
        raise Http404(_("No closed draw of this project has such a name and conflicts."))
    draw = chosen or (None if wanted == EVERY else said.newest(draws))
    context = {"member": member, "nav": "adjudicate", "every": wanted == EVERY}
    context["decisions"] = said.of(member, draws, draw, at=timezone.now())
    return render(request, "agreement/decisions.html", context)
