"""A team whose repeats are given: who says what the first time and again is up to the test."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from annotations import draws, releasing, repeats
from annotations.models import Annotation, Wave
from annotations.repeats import Choices
from projects.models import Membership, Project
from tests import factories
from tests.annotations.team import Team


def given(project: Project, lead: Membership, said: dict[Membership, list[Any]], otherwise: Any = "praise") -> Wave:
    """An ended repeat in which each member said the pairs (first, again), an item each."""
    count = sum(map(len, said.values()))
    factories.items(project, count, prefix="twice")
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(0))
    at = factories.NOW
    for member, pairs in said.items():
        left = iter(pairs)
        team = Team([member], lambda m, a, left=left: {"intent": next(left)[0]}, at=at)
        team.work(len(pairs))
        at = team.at + timedelta(hours=1)
        member.refresh_from_db()
    draws.finish_waves(at=at)
    wave = repeats.open_repeat(project, Choices(100, 1, 0), by=lead, at=at)
    factories.items(project, 5 * count, prefix="else")
    releasing.open_wave(project, by=lead, at=at, share_percent=Decimal(0))
    again = {
        first.item_id: pair[1]
        for member, pairs in said.items()
        for first, pair in zip(Annotation.objects.filter(member=member).order_by("seq"), pairs, strict=True)
    }
    Team(list(said), lambda m, a: {"intent": again.get(a.item_id, otherwise)}, at=at + timedelta(days=1)).work()
    draws.finish_waves(at=at)
    return Wave.samples.get(pk=wave.pk)
