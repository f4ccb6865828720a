"""The draft of the next version: started, written, compared with what is published, thrown away."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import access, drafts, guidelines, prose, reading
from projects.enums import Action
from projects.errors import DomainError, StaleText
from projects.forms.guideline import TextForm
from projects.models import GuidelineVersion, Membership


def on_draft(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Give a page of the draft its member and the draft; where there is none, send people to the guideline's page.

    A form names the draft that it was made for: what was meant for one draft never lands in the next.
    """

    @login_required
    @wraps(view)
    def found(request: HttpRequest, project: UUID, **kwargs: Any) -> HttpResponse:
        member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
        draft = drafts.current(member.project)
        if request.method == "POST" and not _meant_for(request, draft):
            raise drafts.DraftGone(
                _("This draft is no longer there: it was published or discarded while you had the page open.")
            )
        if draft is None:
            return redirect("projects:guideline", project)
        if request.method in ("GET", "HEAD"):
            reading.read_ahead(draft)
        return view(request, member, draft, **kwargs)

    return found


def draft_page(
    request: HttpRequest,
    member: Membership,
    draft: GuidelineVersion,
    template: str,
    *,
    place: str,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """A page of the draft, with the list of what is left to do beside it."""
    context |= draft_context(member, draft, place=place)
    return render(request, f"projects/guideline/{template}.html", context, status=status)


def draft_context(member: Membership, draft: GuidelineVersion, *, place: str) -> dict[str, Any]:
    """What `projects/guideline/draft.html` needs; pages of the draft in other apps extend it too."""
    steps = guidelines.checklist(draft)
    return {
        "member": member,
        "nav": "guideline",
        "draft": draft,
        "place": place,
        "steps": steps,
        "ready": all(step.done for step in steps if step.needed),
    }


@login_required
@require_POST
def start(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    drafts.draft_of(member.project, by=member)
    return redirect("projects:guideline-draft", project)


@require_safe
@on_draft
def text(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    return _text_page(request, member, draft, _text_form(draft))


@login_required
@require_POST
def save_text(request: HttpRequest, project: UUID) -> HttpResponse:
    """Save, or show what it would look like. Whatever happens, what was written comes back."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    draft = drafts.current(member.project)
    if draft is None or not _meant_for(request, draft):
        context = {"member": member, "nav": "guideline", "text": request.POST.get("text", ""), "draft": draft}
        return render(request, "projects/guideline/draft_gone.html", context, status=409)
    form = TextForm(request.POST)
    if not form.is_valid():
        return _text_page(request, member, draft, form, status=422)
    written = form.cleaned_data["text"]
    if "preview" in request.POST:
        return _text_page(request, member, draft, form, preview=prose.render_markdown(written))
    try:
        drafts.save_text(draft, text=written, revision=form.cleaned_data["revision"], by=member)
    except StaleText as error:
        return _stale_page(request, member, draft, error)
    except DomainError as error:
        form.add_error("text", error.message)
        return _text_page(request, member, draft, form, status=422)
    messages.success(request, _("The text is saved."))
    return redirect("projects:guideline-draft", project)


@login_required
@require_POST
def autosave(request: HttpRequest, project: UUID) -> JsonResponse:
    """Save what is being written, without leaving the page. Nothing of anybody else's is ever replaced: who wrote on
    top of another text is told so, and decides about both by saving with the button."""
    member = access.member_for(request.user, project, Action.EDIT_GUIDELINE)
    draft = drafts.current(member.project)
    if draft is None or not _meant_for(request, draft):
        gone = _("Not saved: this draft was published or discarded while you were writing. Copy your text.")
        return JsonResponse({"code": "draft_gone", "message": gone}, status=409)
    form = TextForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"code": "invalid", "message": _("Not saved: the page is incomplete.")}, status=422)
    try:
        drafts.save_text(draft, text=form.cleaned_data["text"], revision=form.cleaned_data["revision"], by=member)
    except StaleText:
        both = _("Not saved: somebody else saved this text. Save with the button to see both.")
        return JsonResponse({"code": "stale", "message": both}, status=409)
    except DomainError as error:
        return JsonResponse({"code": error.code, "message": error.message}, status=error.status)
    return JsonResponse({"revision": draft.revision})


@require_POST
@on_draft
def preview(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    """What a text looks like, saved nowhere: for the pane beside the editor."""
    text = request.POST.get("text", "")[: drafts.TEXT_LIMIT]
    return render(request, "projects/guideline/_preview.html", {"preview": prose.render_markdown(text)})


@require_safe
@on_draft
def changes(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    """What changed against the published text, in place."""
    found = guidelines.consequences(draft)
    return draft_page(
        request,
        member,
        draft,
        "draft_changes",
        place="changes",
        consequences=found,
        differences=found.differences,
        old=draft.based_on,
    )


@require_http_methods(["GET", "POST"])
@on_draft
def discard(request: HttpRequest, member: Membership, draft: GuidelineVersion) -> HttpResponse:
    if request.method == "POST":
        drafts.discard(draft, by=member)
        messages.success(request, _("The draft is discarded."))
        return redirect("projects:guideline", member.project.uuid)
    return draft_page(
        request,
        member,
        draft,
        "draft_discard",
        place="discard",
        differences=guidelines.differences(draft.based_on, draft),
    )


def _meant_for(request: HttpRequest, draft: GuidelineVersion | None) -> bool:
    return draft is not None and request.POST.get("draft", str(draft.uuid)) == str(draft.uuid)


def _text_form(draft: GuidelineVersion, text: str | None = None) -> TextForm:
    written = draft.text if text is None else text
    return TextForm(initial={"draft": draft.uuid, "revision": draft.revision, "text": written})


def _text_page(
    request: HttpRequest,
    member: Membership,
    draft: GuidelineVersion,
    form: TextForm,
    *,
    status: int = 200,
    preview: str | None = None,
    **context: Any,
) -> HttpResponse:
    shown = prose.render_markdown(draft.text) if preview is None else preview
    return draft_page(
        request, member, draft, "draft_text", place="text", status=status, form=form, preview=shown, **context
    )


def _stale_page(request: HttpRequest, member: Membership, draft: GuidelineVersion, error: StaleText) -> HttpResponse:
    """Both texts: theirs to read, with what yours changes of it, and yours in the editor, now on top of theirs."""
    draft.refresh_from_db()
    return _text_page(
        request,
        member,
        draft,
        _text_form(draft, error.yours),
        status=409,
        preview=prose.render_markdown(error.yours),
        stale=error,
        words=prose.word_diff(error.theirs, error.yours),
    )
