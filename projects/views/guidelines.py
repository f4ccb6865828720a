"""Reading the guideline: the newest version, any version, what changed between two, and how labels look."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from projects import access, drafts, guidelines, styles
from projects.enums import Action
from projects.errors import DomainError
from projects.forms.guideline import StylesForm
from projects.models import GuidelineVersion, Membership
from projects.reading import Reading


@login_required
@require_safe
def guideline(request: HttpRequest, project: UUID) -> HttpResponse:
    """The newest published version; before there is one, what to do next."""
    member = access.member_for(request.user, project, Action.VIEW)
    newest = guidelines.published(member.project).first()
    if newest is None:
        return render(request, "projects/guideline/none.html", _context(member))
    return _reading_page(request, member, newest, newest)


@login_required
@require_safe
def version(request: HttpRequest, project: UUID, version: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.VIEW)
    found = _version(member, version)
    if found.is_draft:
        return redirect("projects:guideline-draft", project)
    return _reading_page(request, member, found, guidelines.newest(member.project))


@login_required
@require_safe
def versions(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.VIEW)
    context = _context(member) | {"versions": guidelines.published(member.project)}
    return render(request, "projects/guideline/versions.html", context)


@login_required
@require_safe
def differences(request: HttpRequest, project: UUID, old: UUID, new: UUID) -> HttpResponse:
    """What changed from one version to another; a draft is only for those who write it."""
    member = access.member_for(request.user, project, Action.VIEW)
    before, after = _version(member, old), _version(member, new)
    context = _context(member) | {
        "old": before,
        "new": after,
        "differences": guidelines.differences(before, after),
        "versions": guidelines.published(member.project),
    }
    return render(request, "projects/guideline/differences.html", context)


@login_required
@require_safe
def compare(request: HttpRequest, project: UUID) -> HttpResponse:
    """The form that picks two versions, answered with the address of their comparison."""
    member = access.member_for(request.user, project, Action.VIEW)
    try:
        old, new = (UUID(request.GET.get(name, "")) for name in ("old", "new"))
    except ValueError as error:
        raise Http404(_("Choose two versions to compare.")) from error
    return redirect("projects:guideline-differences", member.project.uuid, old, new)


@login_required
@require_http_methods(["GET", "POST"])
def label_styles(request: HttpRequest, project: UUID, question: str) -> HttpResponse:
    """Colours and hotkeys. Presentation: also those of a published version can change."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    shown = drafts.current(member.project) or guidelines.newest(member.project)
    asked = guidelines.reading(shown).question(question) if shown else None
    if asked is None:
        raise Http404(_("There is no such question."))
    form = StylesForm(request.POST or None, question=asked)
    if request.method == "POST" and form.is_valid():
        try:
            styles.set_styles(member.project, question, form.chosen())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("Colours and keys are saved; they hold in every version."))
            return redirect("projects:guideline-styles", project, question)
    context = _context(member) | {"form": form, "question": asked, "shown": shown, "reserved": sorted(styles.RESERVED)}
    return render(request, "projects/guideline/styles.html", context, status=422 if form.errors else 200)


def _context(member: Membership) -> dict[str, object]:
    """What every page here needs; the draft is shown to those who write it and to nobody else."""
    writes = access.allows(member, Action.EDIT_GUIDELINE)
    return {"member": member, "nav": "guideline", "draft": drafts.current(member.project) if writes else None}


def _reading_page(
    request: HttpRequest, member: Membership, version: GuidelineVersion, newest: GuidelineVersion | None
) -> HttpResponse:
    reading: Reading = guidelines.reading(version)
    context = _context(member) | {
        "version": version,
        "reading": reading,
        "newest": newest,
        "public_address": request.build_absolute_uri(reverse("projects:public-guideline", args=[version.uuid])),
    }
    return render(request, "projects/guideline/version.html", context)


def _version(member: Membership, uuid: UUID) -> GuidelineVersion:
    rows = member.project.versions.select_related("based_on", "published_by__user")
    if not access.allows(member, Action.EDIT_GUIDELINE):
        rows = rows.published()
    return get_object_or_404(rows, uuid=uuid)
