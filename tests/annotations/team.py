"""A team that labels, for tests: everybody asks, answers and asks again until nobody gets anything more."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from annotations import draws, labelling, serving
from annotations.models import Annotation, Assignment
from projects.models import Membership
from tests import factories

Answer = Callable[[Membership, Assignment], dict[str, Any]]


def says(value: str = "complaint", key: str = "intent") -> Answer:
    return lambda member, assignment: {key: value}


@dataclass
class Team:
    """Members who take turns at random, each as often as their speed says. The clock moves ten seconds a turn."""

    members: Sequence[Membership]
    answer: Answer = field(default_factory=says)
    at: datetime = factories.NOW
    seed: int = 1
    speeds: Sequence[float] | None = None
    served: list[tuple[int, Assignment]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def turn(self, member: Membership) -> Annotation | None:
        """One item of `member`: served, answered, saved; None when nothing is left for them now."""
        self.at += timedelta(seconds=10)
        task = serving.next_task(member, at=self.at, rng=self.rng)
        if isinstance(task, serving.Nothing):
            return None
        assignment = Assignment.objects.select_related("item", "slot").get(uuid=task.assignment)
        self.served.append((member.pk, assignment))
        saved = labelling.submit(member, task.assignment, answers=self.answer(member, assignment), at=self.at)
        return Annotation.objects.get(uuid=saved.annotation)

    def work(self, turns: int | None = None) -> int:
        """Turns until nobody gets anything (or `turns` are done); returns how many labels were given."""
        given, idle = 0, set()
        while len(idle) < len(self.members) and (turns is None or given < turns):
            member = self.rng.choices(self.members, weights=self.speeds)[0]
            if self.turn(member) is None:
                idle.add(member.pk)
            else:
                given += 1
                idle.clear()
        return given

    def finish(self) -> None:
        """Work until done, let all windows end, and let the draws close by themselves."""
        self.work()
        self.at += timedelta(hours=1)
        draws.close_due(at=self.at)
