"""The project's protocol: what the draws to come will freeze."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from agreement import protocol as protocols
from agreement.forms import ProtocolForm
from projects import access
from projects.enums import Action


@login_required
@require_http_methods(["GET", "POST"])
def protocol(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SETTINGS)
    questions = protocols.current_questions(member.project)
    form = ProtocolForm(
        request.POST or None,
        protocol=protocols.of_project(member.project, questions),
        questions=questions,
        strata_fields=protocols.metadata_fields(member.project),
        annotators=protocols.annotators(member.project),
    )
    if request.method == "POST" and form.is_valid():
        protocols.save(member.project, form.result(), by=member)
        messages.success(request, _("The protocol is saved. Draws that are open or closed keep the one they froze."))
        return redirect("agreement:protocol", project)
    context = {"member": member, "nav": "settings", "form": form}
    return render(request, "agreement/protocol.html", context, status=422 if form.errors else 200)
