"""My work beside the list of labels: one's own pace, what became of the labels, one's own keys."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotations import outcomes, pace, sheets
from annotations.forms.work import OwnKeysForm
from projects import access, guidelines, own_keys, reading
from projects.enums import Action
from projects.errors import Invalid
from projects.models import GuidelineVersion, Membership

WINDOW = 200  # own measured labels that one page looks through


@login_required
@require_safe
def pace_page(request: HttpRequest, project: UUID) -> HttpResponse:
    """How much was labelled by day, and how fast. Only one's own."""
    member = access.member_for(request.user, project, Action.LABEL)
    context = {
        "member": member,
        "nav": "work",
        "page": "pace",
        "pace": pace.of(member, at=timezone.now()),
        "days": pace.DAYS,
    }
    return render(request, "annotations/work/pace.html", context)


@login_required
@require_safe
def final_labels(request: HttpRequest, project: UUID) -> HttpResponse:
    """Where the final label is not one's own, with the decision: of closed draws only."""
    member = access.member_for(request.user, project, Action.LABEL)
    rows = outcomes.measured(member)
    if before := request.GET.get("before"):
        rows = rows.filter(seq__lt=_number(before))
    found = list(rows[: WINDOW + 1])
    looked = found[:WINDOW]
    fields = member.project.shown_fields
    context = {
        "member": member,
        "nav": "work",
        "page": "final",
        "looked": len(looked),
        "outcomes": [(one, sheets.first_words(one.annotation.item, fields)) for one in outcomes.of(looked)],
        "more": looked[-1].seq if len(found) > WINDOW else None,
    }
    return render(request, "annotations/work/final_labels.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest, project: UUID) -> HttpResponse:
    """One's own keys of the labels of the newest guideline."""
    member = access.member_for(request.user, project, Action.LABEL)
    version = guidelines.newest(member.project)
    if version is None:
        return _keys_page(request, member, None, None)
    form = OwnKeysForm(request.POST or None, reading=reading.reading(version), member=member)
    if request.method == "GET" or not form.is_valid():
        return _keys_page(request, member, version, form)
    try:
        own_keys.save(member, version, form.chosen())
    except Invalid as error:
        form.add_error(None, error.message)
        return _keys_page(request, member, version, form)
    messages.success(request, _("Your keys are saved. They hold from the next item on."))
    return redirect("annotations:my-keys", project)


def _keys_page(
    request: HttpRequest, member: Membership, version: GuidelineVersion | None, form: OwnKeysForm | None
) -> HttpResponse:
    context = {
        "member": member,
        "nav": "work",
        "page": "keys",
        "form": form,
        "version": version,
        "reserved": sorted(own_keys.RESERVED),
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "annotations/work/keys.html", context, status=status)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)
