"""What the examples of a version did to the confusions they were written for."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agreement import effect_report, effects
from projects import access, guidelines
from projects.enums import Action


@login_required
@require_safe
def effect(request: HttpRequest, project: UUID, version: UUID | None = None) -> HttpResponse:
    """The examples of a published version, of the newest one unless said otherwise."""
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    versions = list(guidelines.published(member.project))
    shown = next((one for one in versions if version in (None, one.uuid)), None)
    if shown is None and version is not None:
        raise Http404(_("There is no such published version."))
    rows = effect_report.rows(effects.of_version(shown), shown) if shown else []
    context = {
        "member": member,
        "nav": "agreement",
        "version": shown,
        "versions": versions,
        "own": [row for row in rows if row.own],
        "older": [row for row in rows if not row.own],
    }
    return render(request, "agreement/effect.html", context)


@login_required
@require_safe
def effect_of_example(request: HttpRequest, project: UUID, lineage: UUID) -> HttpResponse:
    """One example: what it was made of, and its confusion before it and under every MAJOR since."""
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    found = effects.of_example(member.project, lineage)
    if not found:
        raise Http404(_("No published version has such an example."))
    context = {
        "member": member,
        "nav": "agreement",
        "rows": [effect_report.row(one, version) for version, one in found],
        "newest": effect_report.row(found[-1][1], found[-1][0]),
        "decisions": effects.decisions([lineage]).get(lineage, []),
    }
    return render(request, "agreement/effect_example.html", context)
