"""Waves: the list, opening one, what one waits for, ending it, and the proof of its draw."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotations import draws, eligibility, giving, imported, opening, sheets, third_ratings, verifying, waves
from annotations import panels as panels_of
from annotations.enums import Closing, WaveKind, WaveState
from annotations.forms import panels
from annotations.forms.waves import ALL, WAVE, CloseForm, OpenForm, open_defaults, read_enriched
from annotations.models import Draw, Wave
from annotations.opening import Forecast
from annotations.strata import MINIMUM_LIMIT
from projects import access, guidelines
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership, Project
from projects.requests import HtmxRequest

PAGE = 50


@login_required
@require_safe
def wave_list(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    context = {"member": member, "nav": "waves", "rows": waves.rows(member)}
    context |= {"version": guidelines.newest(member.project)}
    return render(request, "annotations/waves/waves.html", context)


# -- opening -----------------------------------------------------------------------------------------------------------


@login_required
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def wave_open(request: HtmxRequest, project: UUID) -> HttpResponse:
    """The form; while it is filled in, what its choices would mean; and the opening itself."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    if request.method == "GET" and request.htmx:
        context = {"forecast": _forecast(member.project, request.GET)}
        return render(request, "annotations/waves/_forecast.html", context)
    if request.method == "GET":
        return _open_page(request, member)
    form = OpenForm(request.POST, project=member.project)
    if not form.is_valid():
        return _open_page(request, member, form, status=422)
    try:
        if form.declared:
            opened = opening.open_panels(member.project, form.declared, **form.choices, by=member, at=timezone.now())
            messages.success(request, _said_of_panels(opened))
            return redirect("annotations:waves", project)
        wave = opening.open_wave(member.project, **form.choices, by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return _open_page(request, member, form, status=error.status)
    return redirect("annotations:wave", project, wave.uuid)


def _said_of_panels(opened: Sequence[Wave]) -> str:
    about = {"first": opened[0].number, "last": opened[-1].number}
    if any(wave.state == WaveState.OPENING for wave in opened):
        return _("Waves %(first)s to %(last)s are being opened, one for each panel.") % about
    return _("Waves %(first)s to %(last)s are open, one for each panel.") % about


def _open_page(
    request: HtmxRequest, member: Membership, form: OpenForm | None = None, status: int = 200
) -> HttpResponse:
    ledger = eligibility.ledger(member.project)
    asked = request.GET or None
    defaults = open_defaults(member.project, fresh=ledger.fresh)
    project = member.project
    form = form or (OpenForm(asked, project=project) if asked else OpenForm(initial=defaults, project=project))
    context = {
        "member": member,
        "nav": "waves",
        "form": form,
        "ledger": ledger,
        "forecast": _forecast(member.project, form.data or defaults),
        "version": guidelines.newest(member.project),
    }
    return render(request, "annotations/waves/open.html", context, status=status)


def _forecast(project: Project, choices: Mapping[str, Any]) -> Forecast:
    """For choices that may be half typed: what cannot be read yet is the project's default."""
    size = None if choices.get("scope") == ALL else _whole(choices.get("size"))
    people = project.memberships.annotators().filter(user__isnull=False).select_related("user")
    try:
        declared = panels.read(choices, panels.people_of(people))
    except ValueError as error:
        return Forecast([], [], str(error))
    share, ratings = _share(choices.get("share_percent")), _whole(choices.get("ratings_per_item"))
    return opening.forecast(
        project,
        size=size,
        share_percent=Decimal(str(project.protocol["share_percent"])) if share is None else share,
        ratings_per_item=ratings if ratings and 2 <= ratings <= 10 else int(project.protocol["ratings_per_item"]),
        declared=declared,
        **_of_strata(choices),
    )


def _of_strata(choices: Mapping[str, Any]) -> dict[str, Any]:
    try:
        enriched = read_enriched(str(choices.get("enriched") or ""))
    except ValueError:
        enriched = {}
    found = {"strata_minimum": min(_whole(choices.get("strata_minimum")) or 0, MINIMUM_LIMIT), "enriched": enriched}
    expert = choices.get("expert") if _is_uuid(choices.get("expert")) else None
    return {
        "expert": expert,
        "strata_field": choices.get("strata_field"),
        **(found if choices.get("strata_field") else {}),
    }


def _is_uuid(text: object) -> bool:
    try:
        return bool(UUID(str(text)))
    except ValueError:
        return False


def _whole(text: object) -> int | None:
    text = str(text or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None


def _share(text: object) -> Decimal | None:
    try:
        share = Decimal(str(text).strip())
    except InvalidOperation:
        return None
    return share if share.is_finite() and 0 <= share <= 100 else None


@login_required
@require_safe
def not_eligible(request: HttpRequest, project: UUID, reason: str = "") -> HttpResponse:
    """The ledger: the items that no new wave may take and why, all of them or those with one reason."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    if reason and reason not in eligibility.REASONS:
        raise Http404(_("There is no such reason."))
    rows = eligibility.not_eligible(member.project, reason).order_by("pk")
    if after := request.GET.get("after"):
        rows = rows.filter(pk__gt=_number(after))
    found = list(rows[: PAGE + 1])
    fields = member.project.shown_fields
    context = {
        "member": member,
        "nav": "waves",
        "reason": reason,
        "ledger": eligibility.ledger(member.project),
        "items": [(item, sheets.first_words(item, fields), eligibility.REASONS[item.reason]) for item in found[:PAGE]],
        "more": found[PAGE - 1].pk if len(found) > PAGE else None,
    }
    return render(request, "annotations/waves/not_eligible.html", context)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)


# -- one wave ----------------------------------------------------------------------------------------------------------


@login_required
@require_safe
def wave(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    return _wave_page(request, member, waves.find(member, wave))


@login_required
@require_POST
def close(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    """End the draw, short or early, or the whole wave."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    found = waves.find(member, wave)
    draw = waves.draw_of(found)
    form = CloseForm(request.POST, relabels=found.kind == WaveKind.RELABEL, **_closable(draw, member))
    if not form.is_valid():
        return _wave_page(request, member, found, form, status=422)
    closing, reason = form.cleaned_data["closing"], form.cleaned_data["reason"]
    try:
        if closing == WAVE or draw is None:
            draws.close_wave(found, by=member, at=timezone.now(), reason=reason)
        else:
            draws.close(draw, closing=Closing(closing), reason=reason, by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return _wave_page(request, member, found, form, status=error.status)
    messages.success(request, _("The wave is closed.") if closing == WAVE else _("The draw is closed."))
    return redirect("annotations:wave", project, wave)


@login_required
@require_POST
def release_cover(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    draws.release_cover(waves.find(member, wave), by=member, at=timezone.now())
    messages.success(request, _("The cover is released: what is left of this wave goes to anybody."))
    return redirect("annotations:wave", project, wave)


@login_required
@require_POST
def take_back(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    """Wait for no third rating of this wave: leads decide what is left of its conflicts."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    draw = draws.draw_of(waves.find(member, wave))
    n = third_ratings.take_back_all(draw, by=member, at=timezone.now())
    said = ngettext("%(n)s conflict is in the queue now.", "%(n)s conflicts are in the queue now.", n) % {"n": n}
    if not n and third_ratings.is_waited_for(draw):
        said = _("All that still waits is of items that you rated yourself: somebody else takes it back.")
    elif not n:
        said = _("No third rating was waited for any more.")
    messages.success(request, said)
    return redirect("annotations:adjudication", project)


@login_required
@require_POST
def resume(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    """Go on with an opening that was cut off."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    opening.resume(waves.find(member, wave), by=member, at=timezone.now())
    return redirect("annotations:wave", project, wave)


@login_required
@require_http_methods(["GET", "POST"])
def give_up(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    """Who leads and annotates takes no further overlap of this wave, and may then see what it says."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    found = waves.find(member, wave)
    draw = waves.draw_of(found)
    if draw is None or not waves.may_give_up(draw, member):
        return redirect("annotations:wave", project, wave)
    if request.method == "POST":
        draws.give_up(draw, by=member, at=timezone.now())
        messages.success(request, _("You get no more overlap items of this wave. Its figures are open to you."))
        return redirect("annotations:wave", project, wave)
    context = {"member": member, "nav": "waves", "wave": found}
    return render(request, "annotations/waves/give_up.html", context)


def _closable(draw: Draw | None, member: Membership) -> dict[str, bool]:
    """What the form that closes has to know; nothing that a lead who may still rate must not see."""
    has_open_draw = draw is not None and draw.is_open
    sees = has_open_draw and draw is not None and draws.may_see_figures(draw, member)
    return {
        "has_open_draw": has_open_draw,
        "all_rated": bool(sees and draw is not None and draws.all_rated(draw)),
    }


def _wave_page(
    request: HttpRequest, member: Membership, wave: Wave, form: CloseForm | None = None, status: int = 200
) -> HttpResponse:
    draw = waves.draw_of(wave)
    is_open = wave.state == WaveState.OPEN
    sees = draw is None or draws.may_see_figures(draw, member)
    waits = is_open and draw is not None and draw.is_open
    context = {
        "member": member,
        "nav": "waves",
        "wave": wave,
        "draw": draw,
        "sees": sees,
        "progress": waves.progress(wave, by_kind=sees) if is_open else None,
        "outcome": waves.outcome(wave) if wave.state == WaveState.CLOSED else None,
        "waiting": waves.waiting(draw, member.project.shown_fields, at=timezone.now())
        if draw and waits and sees
        else None,
        **_people(wave),
        **_panel(wave, asked="verify" in request.GET),
        "rules": third_ratings.in_words(draw) if draw else [],
        "ruled": third_ratings.of_draw(draw) if draw and not draw.is_open else None,
        "may_give_up": waves.may_give_up(draw, member),
        "may_release": waits and not wave.cover_released_at and bool(wave.single_all),
        "has_checks": wave.checks.exists(),
        "may_check": bool(wave.single_all) and not wave.is_imported and wave.state != WaveState.OPENING,
        "job": opening.job_of(wave) if wave.state == WaveState.OPENING or not wave.size else None,
        "form": (form or CloseForm(relabels=wave.kind == WaveKind.RELABEL, **_closable(draw, member)))
        if is_open
        else None,
        "proof": _proof(draw, asked="verify" in request.GET),
        "not_known": imported.NOT_KNOWN,
        "not_drawn": verifying.verify(draw).sentence if draw and draw.is_imported else "",
    }
    return render(request, "annotations/waves/wave.html", context, status=status)


def _people(wave: Wave) -> dict[str, object]:
    """To whom the wave is given, and whether they are still enough."""
    if not wave.is_given or wave.state == WaveState.CLOSED:
        return {}
    people = giving.people(wave)
    return {"given": ", ".join(one.name for one in people), "too_few": giving.too_few(wave, people)}


def _panel(wave: Wave, *, asked: bool) -> dict[str, object]:
    """The panels that were opened together, and how the items came to this one; its seed once the draw is closed."""
    panel = panels_of.of_wave(wave)
    if panel is None:
        return {}
    draw, split = waves.draw_of(wave), panel.split
    shown = split.commitment and (wave.state == WaveState.CLOSED if draw is None else not draw.is_open)
    return {
        "panel": panel,
        "panels": panels_of.beside(panel),
        "split_seed": bytes(split.seed).hex() if shown else "",
        "split_salt": bytes(split.salt).hex() if shown else "",
        "split_proof": panels_of.verify(panel) if shown and asked else None,
    }


def _proof(draw: Draw | None, *, asked: bool) -> dict[str, object]:
    """What a closed draw shows of itself; of an open one the commitment alone."""
    if draw is None:
        return {}
    if draw.is_open or draw.is_imported:
        return {"commitment": draw.commitment}
    return {
        "commitment": draw.commitment,
        "seed": bytes(draw.seed).hex(),
        "salt": bytes(draw.salt).hex(),
        "population_size": draw.population_size,
        "verification": verifying.verify(draw) if asked else None,
    }
