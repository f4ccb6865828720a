"""Repeats, bridges and spot checks: the list, opening one, ending one. What came of one is a page of `agreement`."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations import bridges, repeats, samples, sheets, spot_checks, waves
from annotations.enums import WaveKind, WaveState
from annotations.forms.labelling import answers_in, comment_in
from annotations.forms.samples import BridgeForm, RepeatForm, SpotCheckForm
from annotations.labelling import BadAnswers
from annotations.models import Wave
from annotations.sheets import Given
from projects import access, guidelines, reading
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership


@login_required
@require_safe
def sample_list(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    context = {
        "member": member,
        "nav": "waves",
        "rows": list(samples.of_project(member.project)),
        "version": guidelines.newest(member.project),
    }
    return render(request, "annotations/samples/list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def repeat_open(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    if request.method == "GET":
        return _repeat_page(request, member, RepeatForm())
    form = RepeatForm(request.POST)
    if not form.is_valid():
        return _repeat_page(request, member, form, status=422)
    try:
        wave = repeats.open_repeat(member.project, form.choices, by=member, at=timezone.now())
    except DomainError as error:
        form.add_error(None, error.message)
        return _repeat_page(request, member, form, status=error.status)
    messages.success(request, _("The repeat is open: it is served among the other work, and nothing tells it apart."))
    return redirect("agreement:sample", project, wave.uuid)


def _repeat_page(request: HttpRequest, member: Membership, form: RepeatForm, status: int = 200) -> HttpResponse:
    version = guidelines.newest(member.project)
    counts = repeats.available(member.project, version.major or 0) if version else {}
    people = member.project.memberships.annotators().select_related("user")
    context = {
        "member": member,
        "nav": "waves",
        "form": form,
        "version": version,
        "people": [(person, counts[person.pk]) for person in people if person.pk in counts],
        "has_work": member.project.waves.served().exists(),
    }
    return render(request, "annotations/samples/repeat.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def bridge_open(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    version = guidelines.newest(member.project)
    old = bridges.eligible(member.project, version).count() if version else 0
    form = BridgeForm(request.POST if request.method == "POST" else None, initial={"size": min(old, 100) or 100})
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = bridges.open_bridge(member.project, **form.cleaned_data, by=member, at=timezone.now())
                return redirect("agreement:sample", project, made.uuid)
            except DomainError as error:
                form.add_error(None, error.message)
                status = error.status
    context = {"member": member, "nav": "waves", "form": form, "version": version, "old": old}
    return render(request, "annotations/samples/bridge.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def spot_check_open(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    found = waves.find(member, wave)
    form = SpotCheckForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = spot_checks.open_check(found, **form.cleaned_data, by=member, at=timezone.now())
                return redirect("agreement:sample", project, made.uuid)
            except DomainError as error:
                form.add_error(None, error.message)
                status = error.status
    context = {"member": member, "nav": "waves", "wave": found, "form": form}
    context["singles"] = spot_checks.eligible(found).count()
    return render(request, "annotations/samples/spot_check_open.html", context, status=status)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def spot_check(request: HttpRequest, project: UUID, sample: UUID) -> HttpResponse:
    """The next label to check, blind; with `item`, the answer to one. What stood there is shown afterwards."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = _spot_check(member, sample)
    if request.method == "GET":
        return _check_page(request, member, found)
    version = spot_checks.version_of(found)
    answers, comment = answers_in(request.POST, reading.questions(version)), comment_in(request.POST)
    try:
        item = UUID(request.POST.get("item", ""))
    except ValueError as error:
        raise Http404(_("There is no such item in this spot check.")) from error
    try:
        spot_checks.check(found, item, answers=answers, comment=comment, by=member, at=timezone.now())
    except BadAnswers as error:
        return _check_page(request, member, found, Given(answers, comment, error.by_question), status=422)
    return redirect(f"{reverse('annotations:spot-check', args=[project, sample])}?saved={item}")


@login_required
@require_POST
def let_stand(request: HttpRequest, project: UUID, sample: UUID, item: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    spot_checks.let_stand(_spot_check(member, sample), item, by=member, at=timezone.now())
    messages.success(request, _("The first label stands: your check no longer corrects it."))
    return redirect("agreement:sample", project, sample)


def _spot_check(member: Membership, uuid: UUID) -> Wave:
    found = samples.find(member, uuid)
    if found.kind != WaveKind.SPOTCHECK:
        raise Http404(_("There is no such spot check in this project."))
    return found


def _check_page(
    request: HttpRequest, member: Membership, sample: Wave, given: Given | None = None, status: int = 200
) -> HttpResponse:
    check = None
    refused = spot_checks.refusal(sample, member)
    if not refused and sample.state != WaveState.CLOSED:
        check = spot_checks.next_check(sample, by=member, at=timezone.now())
    context = {
        "member": member,
        "nav": "waves",
        "wave": sample,
        "refused": refused,
        "check": check,
        "sheet": sheets.of_item(check.slot.item, check.version, member, given) if check else None,
        "saved": _just_saved(sample, request.GET.get("saved", "")),
    }
    return render(request, "annotations/samples/spot_check.html", context, status=403 if refused else status)


def _just_saved(sample: Wave, item: str) -> dict[str, Any] | None:
    """What was said before of the item that was just checked."""
    try:
        found = next((one for one in spot_checks.checked(sample) if one.check.item.uuid == UUID(item)), None)
    except ValueError:
        return None
    return None if found is None else spot_checks.worded(found)


@login_required
@require_POST
def end(request: HttpRequest, project: UUID, sample: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    samples.end(samples.find(member, sample), by=member, at=timezone.now())
    messages.success(request, _("Nothing more of it is asked. What was given stays."))
    return redirect("agreement:sample", project, sample)
