"""Publishing the draft with its consequences in view, and reading what a new version changed."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotations import feedback, practice, publishing
from annotations.forms.publishing import PublishForm
from projects import access, drafts, guidelines, navigation
from projects.enums import Action
from projects.errors import DomainError
from projects.models import GuidelineVersion, Membership
from projects.requests import UserRequest
from projects.views.drafts import draft_context, on_draft

BESIDE_SHOWN = 8


@login_required
@require_http_methods(["GET", "POST"])
def publish(request: UserRequest, project: UUID) -> HttpResponse:
    """What publishing means, and on POST the deed. A form made for another draft does nothing."""
    member = access.member_for(request.user, project, Action.PUBLISH)
    draft = drafts.current(member.project)
    if request.method == "POST" and (draft is None or request.POST.get("draft") != str(draft.uuid)):
        raise drafts.DraftGone(
            _("This draft is no longer there: it was published or discarded while you had the page open.")
        )
    if draft is None:
        return redirect("projects:guideline", project)
    if request.method == "GET":
        return _publish_page(request, member, draft)
    form = PublishForm(request.POST, consequences=guidelines.consequences(draft))
    if not form.is_valid():
        return _publish_page(request, member, draft, form, status=422)
    try:
        version = publishing.publish(draft, **form.decision(), by=member, at=timezone.now())
    except DomainError as error:
        draft.refresh_from_db()
        form.add_error(None, error.message)
        return _publish_page(request, member, draft, form, status=error.status)
    messages.success(
        request,
        _("Guideline %(number)s is published. Annotators read what changed before their next item.")
        % {"number": version.number},
    )
    return redirect("projects:guideline", project)


def _publish_page(
    request: UserRequest,
    member: Membership,
    draft: GuidelineVersion,
    form: PublishForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    consequences = guidelines.consequences(draft)
    answered, unanswered = feedback.answered(draft)
    if form is None:
        initial = {"draft": draft.uuid, "seen": consequences.seen}
        form = PublishForm(initial=initial, consequences=consequences)
    context = {
        "member": member,
        "nav": "guideline",
        "draft": draft,
        "old": draft.based_on,
        "form": form,
        "consequences": consequences,
        "differences": consequences.differences,
        "outlook": publishing.outlook(draft),
        "answered": answered,
        "unanswered": unanswered,
        "contradicted": feedback.contradicted(draft),
        "old_labels": publishing.old_labels(draft),
        "practice_percent": practice.pass_percent(member.project),
        "practised": len(practice.new_examples(draft)),
    }
    return render(request, "annotations/publishing/publish.html", context, status=status)


@require_safe
@on_draft
def conflicts(request: UserRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    """The conflicts under the published version that the draft does not answer; a fragment beside the draft's pages."""
    answered, unanswered = feedback.answered(draft)
    beside = bool(request.headers.get("HX-Request"))
    context = draft_context(member, draft, place="conflicts") | {
        "unanswered": unanswered[:BESIDE_SHOWN] if beside else unanswered,
        "more": len(unanswered[BESIDE_SHOWN:]) if beside else 0,
        "answered": answered,
        "asked": {question.key for question in draft.questions.all()},
    }
    name = "_conflicts" if beside else "conflicts"
    response = render(request, f"annotations/publishing/{name}.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_safe
def readers(request: UserRequest, project: UUID, version: UUID) -> HttpResponse:
    """Who has read a version and how their practice went; a fragment at the end of the version's page."""
    member = access.member_for(request.user, project, Action.SEE_MEMBERS)
    found = get_object_or_404(guidelines.published(member.project), uuid=version)
    rows = publishing.reading_rows(found)
    context = {
        "member": member,
        "nav": "guideline",
        "version": found,
        "rows": rows,
        "have": sum(row.has_read for row in rows),
        "practice": any(row.standing for row in rows),
        "percent": practice.pass_percent(member.project),
    }
    name = "_readers" if request.headers.get("HX-Request") else "readers"
    response = render(request, f"annotations/publishing/{name}.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_http_methods(["GET", "POST"])
def acknowledge(request: UserRequest, project: UUID) -> HttpResponse:
    """What changed since the member last read the guideline; "I have read this" goes on to the next item."""
    member = access.member_for(request.user, project, Action.LABEL)
    if request.method == "POST":
        version = get_object_or_404(guidelines.published(member.project), uuid=_uuid(request))
        try:
            publishing.acknowledge(member, version, at=timezone.now())
        except publishing.NewerVersion as error:
            messages.warning(request, error.message)
            return redirect("annotations:acknowledge", project)
        return redirect(navigation.url_of("annotations:label", member) or navigation.start(member))
    news = publishing.whats_new(member)
    if news is None:
        return redirect(navigation.url_of("annotations:label", member) or navigation.start(member))
    context = {"member": member, "nav": "label", "news": news, "reading": guidelines.reading(news.version)}
    return render(request, "annotations/publishing/acknowledge.html", context)


def _uuid(request: UserRequest) -> UUID | None:
    try:
        return UUID(request.POST.get("version", ""))
    except ValueError:
        return None
