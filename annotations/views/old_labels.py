"""What becomes of old single labels, label by label, and the wave that labels some of them again."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotations import old_labels
from annotations.enums import OldLabel
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Membership


@login_required
@require_http_methods(["GET", "POST"])
def choices(request: HttpRequest, project: UUID) -> HttpResponse:
    """The list; and what was chosen for one label."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    if request.method == "GET":
        return _page(request, member)
    choice, _colon, becomes = request.POST.get("choice", "").partition(":")
    try:
        old_labels.choose(
            member.project,
            question=request.POST.get("question", ""),
            label=request.POST.get("label", ""),
            choice=choice,
            becomes=becomes,
            by=member,
            at=timezone.now(),
        )
    except DomainError as error:
        return _page(request, member, problem=error.message, status=error.status)
    messages.success(request, _("Kept on record, with your name and the time."))
    return redirect("annotations:old-labels", project)


@login_required
@require_POST
def again(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    try:
        wave = old_labels.open_again(member.project, by=member, at=timezone.now())
    except DomainError as error:
        return _page(request, member, problem=error.message, status=error.status)
    return redirect("annotations:wave", project, wave.uuid)


def _page(request: HttpRequest, member: Membership, *, problem: str = "", status: int = 200) -> HttpResponse:
    found = old_labels.overview(member.project)
    context = {
        "member": member,
        "nav": "waves",
        "found": found,
        "rows": [(row, _options(row)) for row in found.rows],
        "problem": problem,
    }
    return render(request, "annotations/old_labels.html", context, status=status)


def _options(row: old_labels.Row) -> list[tuple[str, str, bool]]:
    """(value, words, chosen) of what can be chosen for a label."""
    now = f"{row.choice}:{row.standing.becomes}" if row.standing and row.standing.becomes else row.choice.value
    options = [(OldLabel.MAPPING.value, str(OldLabel.MAPPING.label)), (OldLabel.KEEP.value, str(OldLabel.KEEP.label))]
    options += [
        (f"{OldLabel.MAP.value}:{other.key}", _("mapped to “%(name)s”") % {"name": other.name}) for other in row.others
    ]
    if row.others:
        options.append((OldLabel.AGAIN.value, str(OldLabel.AGAIN.label)))
    return [(value, words, value == now) for value, words in options]
