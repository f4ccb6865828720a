"""Agreement: all draws of a project, one draw and question, the items behind a cell, and waiving a gate."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agreement import (
    by_field,
    by_time,
    cells,
    effects,
    gate_pages,
    gates,
    loop,
    matrices,
    overview,
    people,
    report,
    runs,
    tasks,
    time_rows,
)
from agreement import protocol as protocols
from agreement.forms import WaiverForm
from agreement.gate_pages import Gate, OfQuestion
from agreement.models import Run
from annotations import draws, imported
from annotations.enums import Closing
from annotations.models import Draw
from projects import access
from projects.enums import Action
from projects.errors import NotAllowed
from projects.models import Membership, Question

PAGE = 50


def project_draws(member: Membership) -> QuerySet[Draw]:
    rows = Draw.objects.filter(wave__project=member.project)
    return rows.select_related("wave__version", "wave__project", "closed_by__user", "watch").defer("population")


def question_of(draw: Draw, key: str) -> Question:
    for question in matrices.questions(draw):
        if question.key == key:
            return question
    raise Http404(_("This draw did not ask such a question."))


@login_required
@require_safe
def agreement(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    at = timezone.now()
    found = overview.draws_of(member.project)
    questions = protocols.current_questions(member.project)
    visible = draws.visible(found, member)
    gate_rows = overview.gate_rows(visible, questions, found)
    sections = overview.sections(visible, questions, found, gate_rows)
    for draw in found:
        if draw.is_open and overview.shows(sections, draw):
            draws.look(draw, by=member, at=at)
    for draw in runs.lagging(found, at=at):
        tasks.ask_recompute(draw.pk)
    context = {"member": member, "nav": "agreement", "sections": sections, "draws": found, "gates": gate_rows}
    context["step"] = loop.next_step(member, loop.facts(member))[1]
    return render(request, "agreement/agreement.html", context)


@login_required
@require_safe
def draw(request: HttpRequest, project: UUID, draw: UUID, question: str) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    found = get_object_or_404(project_draws(member), uuid=draw)
    asked = question_of(found, question)
    if not draws.may_see_figures(found, member):
        raise NotAllowed(
            _(
                "You annotate in this project, so you see no figure of an open draw: wait until it closes, or give up "
                "your overlap in it on the page of its wave."
            )
        )
    at = timezone.now()
    if runs.is_stale(found, at=at):
        tasks.ask_recompute(found.pk)
    run = runs.newest(found, asked.key)
    context = {"member": member, "nav": "agreement", "draw": found, "question": asked, "run": run}
    context["by_time"] = by_time.is_offered(found, asked)
    context["splits"] = by_field.fields(found) if by_field.is_offered(found, asked) else []
    context["not_measured"] = matrices.not_measured(asked)
    gate = _gate(found)
    context |= {"gate": gate, "gate_here": gate.of_question(asked), "waiver": _waiver(found, gate, member)}
    if run is not None:
        draws.look(found, by=member, at=at)
        run.draw = found
        context["report"] = _report(run, member, gate.of_question(asked))
    return render(request, "agreement/draw.html", context)


def _report(run: Run, member: Membership, gate: OfQuestion) -> report.Report:
    draw = run.draw
    raters = member.project.memberships.filter(uuid__in=run.result["raters"]).select_related("user")
    by_rater = not (access.allows(member, Action.ADJUDICATE) and report.waits(run, report.undecided([draw])))
    names = people.names(draw, raters, member, by_rater=by_rater)
    early = draw.looks.select_related("member__user").order_by("at") if draw.closing == Closing.EARLY else []
    return report.of(run, draw, names, by_rater=by_rater, gate=gate, looks=[look.member.name for look in early])


def _gate(draw: Draw) -> Gate:
    log = draw.gate_decisions.select_related("by__user").order_by("at", "pk")
    return gate_pages.of(draw, log, matrices.questions(draw))


def _waiver(draw: Draw, gate: Gate, member: Membership) -> WaiverForm | None:
    may = gate.held and not draw.is_open and access.allows(member, Action.WAIVE_GATE)
    return WaiverForm() if may and gates.holds_a_wave(draw) else None


@login_required
@require_safe
def by(request: HttpRequest, project: UUID, draw: UUID, question: str) -> HttpResponse:
    """The headline of a closed draw by a metadata field of its items that the draw was not split by."""
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    found = get_object_or_404(project_draws(member), uuid=draw)
    asked = question_of(found, question)
    run = runs.newest(found, asked.key)
    if not by_field.is_offered(found, asked):
        raise Http404(_("The figures of this question cannot be split: the draw is open, or its answers are texts."))
    if run is None or run.interim:  # its final figures are still being computed, and its page says so
        return redirect("agreement:draw", project, draw, question)
    fields = by_field.fields(found)
    field = request.GET.get("field") or (fields[0] if fields else "")
    if fields and field not in fields:
        raise Http404(
            _(
                "There is no field “%(field)s” to split by: these items do not have it, "
                "or the draw itself is split by it."
            )
            % {"field": field}
        )
    entries, more = by_field.of(found, asked, run, field, at=timezone.now()) if fields else ([], 0)
    context = {
        "member": member,
        "nav": "agreement",
        "draw": found,
        "question": asked,
        "title": _(run.result["headline"]["title"]),
        "note": imported.mark(found),
        "fields": fields,
        "field": field,
        "strata": report.by_field(run.result, entries),
        "more": more,
    }
    return render(request, "agreement/by_field.html", context)


@login_required
@require_safe
def over_time(request: HttpRequest, project: UUID, draw: UUID, question: str) -> HttpResponse:
    """The headline of a closed draw by when its items were completed."""
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    found = get_object_or_404(project_draws(member), uuid=draw)
    asked = question_of(found, question)
    run = runs.newest(found, asked.key)
    if not by_time.is_offered(found, asked):
        raise Http404(_("The figures of this question cannot be read by time: the draw is open, or has no times."))
    if run is None or run.interim:  # its final figures are still being computed, and its page says so
        return redirect("agreement:draw", project, draw, question)
    context = {
        "member": member,
        "nav": "agreement",
        "draw": found,
        "question": asked,
        "title": _(run.result["headline"]["title"]),
        "times": time_rows.of(by_time.of(found, asked, run, at=timezone.now()), run.result),
    }
    return render(request, "agreement/by_time.html", context)


@login_required
@require_safe
def cell(request: HttpRequest, project: UUID, draw: UUID, question: str, one: str, other: str) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    found = get_object_or_404(project_draws(member), uuid=draw)
    asked = question_of(found, question)
    labels = {label.key: label for label in asked.labels.all()}
    if one not in labels or other not in labels:
        raise Http404(_("This question has no such label."))
    rows = cells.wave_items(found, asked, labels[one], labels[other])
    after = _after(request)
    found_items = list(rows.filter(pk__gt=after)[: PAGE + 1])
    context = {
        "member": member,
        "nav": "agreement",
        "draw": found,
        "question": asked,
        "one": labels[one],
        "other": labels[other],
        "total": rows.count(),
        "items": cells.describe(found, asked, found_items[:PAGE]),
        "more": found_items[PAGE - 1].pk if len(found_items) > PAGE else None,
        "later": after > 0,
        "note": imported.mark(found),
        "examples": effects.written_for(member.project, question, one, other) if one != other else [],
    }
    return render(request, "agreement/cell.html", context)


def _after(request: HttpRequest) -> int:
    """The key behind which a page begins; 0 for the first."""
    text = request.GET.get("after") or "0"
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)


@login_required
@require_POST
def waive(request: HttpRequest, project: UUID, draw: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.WAIVE_GATE)
    found = get_object_or_404(project_draws(member), uuid=draw)
    form = WaiverForm(request.POST)
    if not form.is_valid():
        context = {"member": member, "nav": "agreement", "draw": found, "waiver": form}
        return render(request, "agreement/waive.html", context, status=422)
    gates.waive(found, reason=form.cleaned_data["reason"], by=member, at=timezone.now())
    messages.success(request, _("The gate is waived: the next wave may go on. Your reason stands with the figures."))
    return redirect("agreement:agreement", project)
