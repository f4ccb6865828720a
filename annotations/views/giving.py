"""Giving a wave to named people, with each one's load before and after."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from annotations import giving, waves
from annotations.enums import WaveState
from annotations.forms.waves import GiveForm
from annotations.models import Wave
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership
from projects.requests import HtmxRequest


@login_required
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def give(request: HtmxRequest, project: UUID, wave: UUID) -> HttpResponse:
    """The form; while it is filled in, what it means for each; and the giving itself."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    found = waves.find(member, wave)
    if found.state == WaveState.CLOSED:
        return redirect("annotations:wave", project, wave)
    people = sorted(member.project.memberships.annotators().select_related("user"), key=lambda one: one.name)
    if request.method == "GET" and request.htmx:
        form = GiveForm(request.GET, people=people)
        return render(request, "annotations/waves/_loads.html", _loads(found, form))
    if request.method == "GET":
        form = GiveForm(request.GET or None, people=people, initial=_initial(found))
        return _page(request, member, found, form)
    form = GiveForm(request.POST, people=people)
    if not form.is_valid():
        return _page(request, member, found, form, status=422)
    try:
        giving.give(found, **form.choices, by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return _page(request, member, found, form, status=error.status)
    said = _("The wave is given to them.") if found.is_given else _("The wave is open to everybody who labels.")
    messages.success(request, said)
    return redirect("annotations:wave", project, wave)


def _page(request: HtmxRequest, member: Membership, wave: Wave, form: GiveForm, status: int = 200) -> HttpResponse:
    context = {"member": member, "nav": "waves", "wave": wave, "form": form, **_loads(wave, form)}
    return render(request, "annotations/waves/give.html", context, status=status)


def _initial(wave: Wave) -> dict[str, Any]:
    named = giving.standing(wave).values_list("member__uuid", flat=True)
    limits = {name: getattr(wave, name) for name in ("due_on", "limit_per_person", "limit_per_day")}
    return {"members": [str(uuid) for uuid in named], **limits}


def _loads(wave: Wave, form: GiveForm) -> dict[str, Any]:
    """For choices that may be half typed: what cannot be read counts as nothing."""
    if form.is_bound:
        form.is_valid()
        cleaned = getattr(form, "cleaned_data", {})
        chosen, limit = _uuids(cleaned.get("members") or ()), cleaned.get("limit_per_person")
    else:
        chosen, limit = _uuids(form.initial["members"]), form.initial["limit_per_person"]
    people = len(chosen) or len(form.people)
    return {
        "loads": giving.loads(wave, chosen=chosen, limit_per_person=limit),
        "shortfall": giving.shortfall(wave, people, limit),
    }


def _uuids(texts: Iterable[str]) -> set[UUID]:
    return {UUID(text) for text in texts}
