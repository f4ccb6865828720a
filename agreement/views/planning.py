"""Planning: how many overlap items a question needs, before a wave is opened."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agreement import plans
from agreement import protocol as protocols
from agreement.plan_forms import PlanForm
from annotations import eligibility
from projects import access
from projects.enums import Action
from projects.models import Question


@login_required
@require_safe
def planning(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    questions = protocols.current_questions(member.project)
    context: dict[str, object] = {"member": member, "nav": "agreement", "questions": questions}
    if not questions:
        return render(request, "agreement/planning.html", context)
    asked = _asked(questions, request.GET.get("question", questions[0].key))
    start = plans.start(member.project, asked, protocols.of_project(member.project, questions))
    sent = {name: value for name, value in request.GET.items() if name in start.values}
    form = PlanForm({**start.values, **sent})
    fresh = eligibility.eligible(member.project).count()
    context |= {"question": asked, "form": form, "start": start, "fresh": fresh}
    if form.is_valid():
        context |= {"plan": plans.plan(form.wish, fresh=fresh), "wish": form.wish}
    return render(request, "agreement/planning.html", context, status=200 if form.is_valid() else 422)


def _asked(questions: list[Question], key: str) -> Question:
    for question in questions:
        if question.key == key:
            return question
    raise Http404(_("There is no such question."))
