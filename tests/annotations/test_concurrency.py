"""Under any concurrency: never too many, never twice, never lost (DESIGN §2.5, §2.12). On both databases."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import F

from annotations import draws, labelling, serving
from annotations.models import Annotation, Assignment, Slot, Wave, WaveItem
from projects.errors import DomainError
from projects.models import Membership
from tests import factories

AT = factories.NOW
pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(*works: Callable[[], None]) -> list[BaseException]:
    """Run all at once; returns what they raised."""
    barrier, raised = threading.Barrier(len(works)), []

    def run(work: Callable[[], None]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.fixture
def team() -> list[Membership]:
    project = factories.project()
    factories.version(project)
    return [factories.member(project, f"rater{i}") for i in range(6)]


@pytest.fixture
def lead(team: list[Membership]) -> Membership:
    return factories.member(team[0].project, "lea", "lead")


def opened(lead: Membership, count: int, **choices: object) -> Wave:
    factories.items(lead.project, count)
    return draws.open_wave(lead.project, by=lead, at=AT, **choices)


def test_two_tabs_of_one_annotator_get_the_same_item(team, lead):
    opened(lead, 20)
    got = []

    raised = in_threads(*[lambda: got.append(serving.next_task(team[0], at=AT).assignment)] * 6)

    assert raised == []
    assert len(set(got)) == 1
    assert Assignment.objects.count() == 1


def test_everybody_asking_at_once_gets_another_item(team, lead):
    opened(lead, 30, share_percent=Decimal(0))
    got = []

    raised = in_threads(
        *(lambda member=member: got.append(serving.next_task(member, at=AT).assignment) for member in team)
    )

    assert raised == []
    assert len(Assignment.objects.values("item").distinct()) == len(team) == len(set(got))


def test_the_same_form_sent_six_times_at_once_is_one_label(team, lead):
    opened(lead, 5)
    task = serving.next_task(team[0], at=AT)

    raised = in_threads(*[lambda: labelling.submit(team[0], task.assignment, answers={"intent": "praise"}, at=AT)] * 6)

    assert raised == []
    assert Annotation.objects.count() == 1
    assert Membership.objects.get(pk=team[0].pk).submits == 1


def test_a_draw_closed_twice_at_once_is_closed_once(team, lead):
    wave = opened(lead, 5, share_percent=Decimal(100))

    raised = in_threads(*[lambda: draws.close(wave.draw, closing="early", reason="deadline", by=lead, at=AT)] * 3)

    assert [type(error) for error in raised] == [DomainError] * 2


def test_a_team_of_six_at_once_rates_every_item_as_often_as_drawn(team, lead):
    """Everybody labels as fast as they can, with skips, repeated submits and corrections, until nothing is left."""
    wave = opened(lead, 60, share_percent=Decimal(50), ratings_per_item=3)
    acknowledged: list[object] = []

    started = time.monotonic()

    def work(member: Membership, seed: int) -> None:
        rng, idle = random.Random(seed), 0
        while idle < 3:
            at = AT + timedelta(seconds=time.monotonic() - started)
            task = serving.next_task(member, at=at, rng=rng)
            if isinstance(task, serving.Nothing):
                idle += 1
                continue
            idle = 0
            if rng.random() < 0.05:
                labelling.skip(member, task.assignment, reason="other", at=at)
                continue
            answers = {"intent": rng.choice(["complaint", "praise", "question"])}
            for _ in range(rng.choice([1, 1, 2])):
                saved = labelling.submit(member, task.assignment, answers=answers, at=at)
            acknowledged.append(saved.annotation)
            if rng.random() < 0.2:
                labelling.correct(
                    member, saved.annotation, answers={"intent": "praise"}, at=at, comment="on reflection"
                )

    raised = in_threads(*(lambda m=member, s=seed: work(m, s) for seed, member in enumerate(team)))

    assert raised == []
    assert Counter(acknowledged) == Counter(Annotation.objects.values_list("uuid", flat=True))
    counted = Annotation.objects.filter(slot__isnull=False)
    assert dict(Counter(counted.values_list("wave_item", flat=True))) == {
        row.pk: row.rated for row in WaveItem.objects.filter(rated__gt=0)
    }
    assert not WaveItem.objects.filter(rated__gt=F("needed")).exists()
    assert Annotation.objects.values("item", "member").distinct().count() == Annotation.objects.count()
    left = Slot.objects.unrated()
    wave.refresh_from_db()
    assert left.count() == wave.overlap_left + wave.single_left
    # What is left waits as cover, or for people who have not met the item: never because it was lost.
    if left.exists():
        draws.release_cover(wave, by=lead, at=AT + timedelta(minutes=5))
        raised = in_threads(*(lambda m=member, s=seed: work(m, s + 50) for seed, member in enumerate(team)))
        assert raised == []
        for slot in Slot.objects.unrated().filter(state="open"):
            met = Assignment.objects.filter(item=slot.item, state__in=["submitted", "skipped"])
            assert met.values("member").distinct().count() == len(team)
