"""Draws whose protocol has a rule for conflicts, for tests: what two people say, and what a third one adds."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from annotations import draws, labelling, ruling, serving
from annotations.models import Annotation, Assignment, Draw
from projects.models import Membership, Project
from tests import factories
from tests.annotations import disputes

CONFLICT = {"torn": ("praise", "complaint")}
LATER = timedelta(hours=2)


def under(rule: str, project: Project, **questions: str) -> Project:
    """`project` with `rule` in its protocol, and other rules for some questions."""
    own = {key: {"resolution_rule": name} for key, name in questions.items()}
    project.protocol |= {"resolution_rule": rule, "questions": own}
    project.save()
    return project


def closed(rule: str, project: Project, members: Sequence[Membership], said: disputes.Said = CONFLICT, **choices: Any):
    """A closed draw under `rule`, with what `members` said, and the time of its closing."""
    draw = disputes.rated(under(rule, project), members, said, **choices)
    assert draw.closed_at is not None
    return draw, draw.closed_at


def give(member: Membership, answers: dict[str, Any] | str, *, at: datetime) -> Annotation:
    """`member` is served an item and answers it."""
    task = serving.next_task(member, at=at)
    assert isinstance(task, serving.Task), task
    said = {"intent": answers} if isinstance(answers, str) else answers
    saved = labelling.submit(member, task.assignment, answers=said, at=at)
    return Annotation.objects.get(uuid=saved.annotation)


def settle(at: datetime) -> None:
    """What the sweep does."""
    draws.close_due(at=at)
    ruling.settle(at=at)


def held(member: Membership, at: datetime) -> Assignment:
    """The item that `member` has in hand."""
    task = serving.next_task(member, at=at)
    assert isinstance(task, serving.Task), task
    return Assignment.objects.select_related("slot", "item").get(uuid=task.assignment)


def third(project: Project, name: str = "cara") -> Membership:
    return factories.member(project, name)


def draw_again(draw: Draw) -> Draw:
    draw.refresh_from_db()
    return draw
