"""The practice round: one new example after another, and at once what the guideline says about it."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations import practice as practising
from annotations.practice import State
from projects import access, guidelines, navigation, reading
from projects.enums import Action
from projects.errors import Invalid
from projects.models import GuidelineVersion, Membership
from projects.requests import UserRequest


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def practice(request: UserRequest, project: UUID) -> HttpResponse:
    """The next example to answer, or, after an answer, whether it was right and why."""
    member = access.member_for(request.user, project, Action.LABEL)
    newest = guidelines.newest(member.project)
    if newest is None or newest.pk != member.acknowledged_id:
        return redirect(navigation.url_of("annotations:label", member) or navigation.start(member))
    if request.method == "POST":
        return _answer(request, member, newest)
    now = practising.state(member, newest)
    lineage = _uuid(request.GET.get("answered"))
    if lineage is not None:
        return _feedback(request, member, newest, now, lineage)
    if now is None:
        return redirect(navigation.url_of("annotations:label", member) or navigation.start(member))
    return _example_page(request, member, now)


def _answer(request: UserRequest, member: Membership, newest: GuidelineVersion) -> HttpResponse:
    lineage = _uuid(request.POST.get("example"))
    try:
        row = practising.answer(member, lineage or UUID(int=0), request.POST.get("value"), at=timezone.now())
    except Invalid as error:
        now = practising.state(member, newest)
        if now is None:
            raise
        return _example_page(request, member, now, problem=error.message, status=422)
    address = reverse("annotations:practice", args=[member.project.uuid])
    return redirect(f"{address}?answered={row.lineage}")


def _example_page(
    request: UserRequest, member: Membership, now: State, *, problem: str = "", status: int = 200
) -> HttpResponse:
    example = now.left[0]
    question = guidelines.reading(now.version).question(example.question_key)
    shown = reading.example_reading(example, [question] if question else [])
    context = {
        "member": member,
        "nav": "label",
        "now": now,
        "question": question,
        "lineage": example.lineage,
        "texts": shown.texts,
        "problem": problem,
    }
    return render(request, "annotations/publishing/practice.html", context, status=status)


def _feedback(
    request: UserRequest, member: Membership, newest: GuidelineVersion, now: State | None, lineage: UUID
) -> HttpResponse:
    version = practising.first_of(newest)
    row = practising.last_answer(member, version, lineage)
    example = version.examples.filter(lineage=lineage).first()
    question = guidelines.reading(version).question(example.question_key) if example else None
    if row is None or example is None or question is None:
        return redirect("annotations:practice", member.project.uuid)
    label = question.label(row.answer)
    context = {
        "member": member,
        "nav": "label",
        "row": row,
        "now": now,
        "round_ended": now is None or now.round != row.round,
        "example": reading.example_reading(example, [question]),
        "question": question,
        "given": label.name if label else row.answer,
        "rule": question.label(example.value),
    }
    return render(request, "annotations/publishing/practice_answer.html", context)


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
