"""Under any concurrency: never too many, never twice, never lost (DESIGN §2.5, §2.12). On both databases."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.db.models import F

from annotations import cycles, draws, labelling, releasing, serving
from annotations.models import Annotation, Assignment, Case, Seat, Slot, Wave, WaveItem
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


@contextmanager
def uncommitted(work: Callable[[], object]) -> Iterator[None]:
    """Somebody else has done `work`, in a transaction that is committed when the block ends."""
    done, may_commit = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with transaction.atomic():
                work()
                done.set()
                may_commit.wait(60)
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    done.wait(60)
    try:
        yield
    finally:
        may_commit.set()
        thread.join()
    assert raised == []


class Started:
    """`work` in a thread, until `finish`: what it returned, or raises what it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.result: object = None
        self.raised: list[BaseException] = []
        self.thread = threading.Thread(target=self._run, args=(work,))
        self.thread.start()
        time.sleep(0.3)  # until it waits for a lock

    def _run(self, work: Callable[[], object]) -> None:
        try:
            self.result = work()
        except BaseException as error:
            self.raised.append(error)
        finally:
            connection.close()

    def finish(self) -> object:
        self.thread.join()
        if self.raised:
            raise self.raised[0]
        return self.result


@pytest.fixture
def team() -> list[Membership]:
    project = factories.project()
    factories.version(project)
    return [factories.member(project, f"rater{i}") for i in range(6)]


@pytest.fixture
def lead(team: list[Membership]) -> Membership:
    return factories.member(team[0].project, "lea", "lead")


def opened(lead: Membership, count: int, **choices: object) -> Wave:
    factories.items(lead.project, count, prefix=f"wave{lead.project.waves.count()}")
    return releasing.open_wave(lead.project, by=lead, at=AT, **choices)


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
        met_before = -1
        # Who had nothing to do has gone home: what was skipped after that is left for them until they look again.
        while met_before != (met_before := Assignment.objects.count()):
            for seed, member in enumerate(team):
                work(member, seed + 100)
        for slot in Slot.objects.unrated().filter(state="open"):
            met = Assignment.objects.filter(item=slot.item, state__in=["submitted", "skipped"])
            assert met.values("member").distinct().count() == len(team)


# -- statement by statement, where two transactions can meet (READ COMMITTED) ------------------------------------------


def rated(member: Membership, value: str, at=AT) -> Annotation:
    task = serving.next_task(member, at=at)
    saved = labelling.submit(member, task.assignment, answers={"intent": value}, at=at)
    return Annotation.objects.get(uuid=saved.annotation)


def lock(rows) -> list[object]:
    return list(rows.select_for_update())


@pytest.mark.postgres
def test_asking_while_a_draw_is_just_closing_is_no_error_and_nobody_is_told_that_all_is_done(team, lead):
    anna, ben = team[:2]
    wave = opened(lead, 6, share_percent=Decimal(100))
    rated(anna, "praise")
    rated(ben, "praise")

    with uncommitted(lambda: draws.close(wave.draw, closing="early", reason="deadline", by=lead, at=AT)):
        answer = serving.next_task(anna, at=AT)

    assert answer.code == "others"
    assert Seat.objects.get(member=anna).told_empty_at is None


@pytest.mark.postgres
def test_a_submit_that_opens_the_next_rating_and_a_closing_do_not_block_each_other(team, lead):
    wave = opened(lead, 30, share_percent=Decimal(100))
    task = serving.next_task(team[0], at=AT)
    row = WaveItem.objects.filter(slots__state="claimed")

    with uncommitted(lambda: lock(row)):  # the submit has taken its slot and is about to open the next one
        submit = Started(lambda: labelling.submit(team[0], task.assignment, answers={"intent": "praise"}, at=AT))
        close = Started(lambda: draws.close(wave.draw, closing="early", reason="deadline", by=lead, at=AT))

    submit.finish()
    close.finish()
    assert Annotation.objects.get().draw == wave.draw
    assert Slot.objects.unrated().count() == 0


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["measured", "single"])
def test_a_submit_and_the_end_of_its_wave_do_not_block_each_other(team, lead, kind):
    wave = opened(lead, 30, share_percent=Decimal(100 if kind == "measured" else 0))
    rated(team[1], "praise")
    task = serving.next_task(team[0], at=AT)

    with uncommitted(lambda: lock(Membership.objects.filter(pk=team[0].pk))):  # the submit has taken its slot
        submit = Started(lambda: labelling.submit(team[0], task.assignment, answers={"intent": "praise"}, at=AT))
        end = Started(lambda: draws.close_wave(wave, by=lead, at=AT, reason="deadline"))

    submit.finish()
    end.finish()
    wave.refresh_from_db()
    assert (wave.state, wave.overlap_left, wave.single_left) == ("closed", 0, 0)
    assert Annotation.objects.filter(slot__isnull=False).count() == 2
    assert Slot.objects.unrated().count() == 0


@pytest.mark.postgres
@pytest.mark.parametrize("minutes", [-1, 1], ids=["sent before", "sent after"])
def test_a_correction_and_a_closing_at_once_agree_on_what_was_measured(team, lead, minutes):
    """Whichever comes first: the cases were opened on the answers that are measured now."""
    anna, ben = team[:2]
    opened(lead, 1, share_percent=Decimal(100))
    given = rated(anna, "complaint")
    rated(ben, "praise")
    sent = AT + timedelta(minutes=5 + minutes)
    answers = {"intent": "praise"}

    with uncommitted(lambda: lock(Annotation.objects.filter(pk=given.pk))):
        works = [
            Started(lambda: labelling.correct(anna, given.uuid, answers=answers, at=sent)),
            Started(
                lambda: draws.close(
                    given.draw, closing="early", reason="deadline", by=lead, at=AT + timedelta(minutes=5)
                )
            ),
        ]

    for work in works:
        work.finish()
    given.refresh_from_db()
    assert given.latest == answers
    assert Case.objects.exists() == (given.answers != answers)


@pytest.mark.postgres
def test_a_correction_that_waited_for_a_closing_is_not_measured(team, lead):
    anna, ben = team[:2]
    opened(lead, 1, share_percent=Decimal(100))
    given = rated(anna, "complaint")
    rated(ben, "praise")

    closing = {"closing": "early", "reason": "deadline", "by": lead, "at": AT + timedelta(minutes=5)}
    with uncommitted(lambda: draws.close(given.draw, **closing)):
        correct = Started(lambda: labelling.correct(anna, given.uuid, answers={"intent": "praise"}, at=AT))

    correct.finish()
    given.refresh_from_db()
    assert (given.answers, Case.objects.count()) == ({"intent": "complaint"}, 1)


@pytest.mark.postgres
def test_a_late_submit_while_the_next_rating_is_just_opened_counts(team, lead):
    anna, ben = team[:2]
    opened(lead, 1, share_percent=Decimal(100))
    hers = serving.next_task(anna, at=AT)
    later = AT + timedelta(minutes=31)
    his = serving.next_task(ben, at=later)

    with uncommitted(lambda: labelling.submit(ben, his.assignment, answers={"intent": "praise"}, at=later)):
        late = Started(lambda: labelling.submit(anna, hers.assignment, answers={"intent": "praise"}, at=later))

    late.finish()
    assert Annotation.objects.filter(slot__isnull=False).count() == 2
    assert Wave.objects.get().overlap_left == 0


@pytest.mark.postgres
def test_a_submit_while_another_tab_shows_the_item_under_a_newer_version_is_saved(team, lead):
    opened(lead, 1, share_percent=Decimal(0))
    task = serving.next_task(team[0], at=AT)
    minor = factories.version(lead.project, 1, 1)

    with uncommitted(lambda: Assignment.objects.update(version=minor)):
        submit = Started(lambda: labelling.submit(team[0], task.assignment, answers={"intent": "praise"}, at=AT))

    submit.finish()
    assert Annotation.objects.count() == 1


@pytest.mark.postgres
def test_a_surplus_is_not_promoted_into_a_slot_that_somebody_is_just_claiming(team, lead):
    """Two roads to the same slot: one of them gets it, and the counters agree."""
    anna, ben, carl = team[:3]
    wave = opened(lead, 1, share_percent=Decimal(100))
    hers = serving.next_task(anna, at=AT)
    later = AT + timedelta(minutes=31)
    rated(ben, "praise", at=later)

    with uncommitted(lambda: serving.next_task(carl, at=later)):
        late = Started(lambda: labelling.submit(anna, hers.assignment, answers={"intent": "praise"}, at=later))

    late.finish()
    wave.refresh_from_db()
    assert Slot.objects.get(number=2).claimed_by == carl
    assert (Annotation.objects.get(member=anna).slot, wave.overlap_left) == (None, 1)


@pytest.mark.postgres
def test_a_label_is_saved_though_others_are_just_taking_all_that_is_left(team, lead):
    anna = team[0]
    opened(lead, 3, share_percent=Decimal(0))
    task = serving.next_task(anna, at=AT)

    with uncommitted(lambda: lock(Slot.objects.open())):
        saved, following = cycles.submit_and_next(anna, task.assignment, answers={"intent": "praise"}, at=AT)

    assert (Annotation.objects.get().uuid, following.code) == (saved.annotation, "others")
    assert Membership.objects.get(pk=anna.pk).submits == 1


def test_a_team_in_full_swing_that_takes_label_and_next_item_in_one_rates_everything(team, lead):
    wave = opened(lead, 60, share_percent=Decimal(50), ratings_per_item=3)
    acknowledged: list[object] = []
    started = time.monotonic()

    def work(member: Membership) -> None:
        def now():
            return AT + timedelta(seconds=time.monotonic() - started)

        task, idle = serving.next_task(member, at=now()), 0
        while idle < 3:
            if isinstance(task, serving.Nothing):
                idle += 1
                task = serving.next_task(member, at=now())
                continue
            answers = {"intent": "praise"}
            saved, task = cycles.submit_and_next(member, task.assignment, answers=answers, at=now())
            acknowledged.append(saved.annotation)

    raised = in_threads(*(lambda m=member: work(m) for member in team))

    assert raised == []
    assert Counter(acknowledged) == Counter(Annotation.objects.values_list("uuid", flat=True))
    assert not WaveItem.objects.filter(rated__gt=F("needed")).exists()
    assert Annotation.objects.values("item", "member").distinct().count() == Annotation.objects.count()
    wave.refresh_from_db()
    assert Slot.objects.unrated().count() == wave.overlap_left + wave.single_left
    for pair in wave.pairs.all():
        both = Annotation.objects.filter(member=pair.member, wave_item__annotations__member=pair.other)
        assert pair.shared == both.count()


@pytest.mark.postgres
def test_newcomers_at_once_get_pairs_with_each_other(team, lead):
    wave = opened(lead, 20, share_percent=Decimal(100))

    raised = in_threads(*(lambda m=member: serving.next_task(m, at=AT) for member in team))

    assert raised == []
    assert wave.pairs.count() == len(team) * (len(team) - 1)


def test_closings_corrections_skips_and_late_submits_at_once(team, lead):
    """Six annotators in full swing while a lead ends the wave: nobody sees an error, and everything adds up."""
    for round_ in range(3):
        wave = opened(lead, 40, share_percent=Decimal(60), ratings_per_item=3)
        started = time.monotonic()

        def now(started: float = started, round_: int = round_):
            return AT + timedelta(days=round_, seconds=time.monotonic() - started)

        def work(member: Membership, seed: int, now=now) -> None:
            rng = random.Random(seed)
            for _ in range(12):
                task = serving.next_task(member, at=now(), rng=rng)
                if isinstance(task, serving.Nothing):
                    continue
                if rng.random() < 0.1:
                    labelling.skip(member, task.assignment, reason="other", at=now())
                    continue
                answers = {"intent": rng.choice(["complaint", "praise"])}
                saved = labelling.submit(member, task.assignment, answers=answers, at=now())
                if rng.random() < 0.3:
                    labelling.correct(member, saved.annotation, answers={"intent": "question"}, at=now())

        def end(wave: Wave = wave, now=now) -> None:
            time.sleep(0.5)
            draws.close_wave(wave, by=lead, at=now(), reason="deadline")

        raised = in_threads(end, *(lambda m=m, s=s, w=work: w(m, s) for s, m in enumerate(team)))

        assert raised == []
        wave.refresh_from_db()
        assert (wave.state, Slot.objects.unrated().filter(wave=wave).count()) == ("closed", 0)
        counted = Annotation.objects.filter(wave_item__wave=wave, slot__isnull=False)
        per_item = Counter(counted.values_list("wave_item", flat=True))
        assert per_item == Counter({r.pk: r.rated for r in wave.wave_items.filter(rated__gt=0)})
        assert not wave.wave_items.filter(rated__gt=F("needed")).exists()
