"""Who gets which item: DESIGN §3 "Serving" and §2.4, §2.5."""

import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import draws, labelling, releasing, serving
from annotations.enums import AssignmentState, SlotState
from annotations.models import Annotation, Assignment, Seat, Slot, Wave, WaveItem
from projects.models import Membership, Project
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
SHARE = Decimal(100)


def wave(project: Project, lead: Membership, count: int = 10, **choices: object) -> Wave:
    factories.items(project, count)
    return releasing.open_wave(project, by=lead, at=AT, **choices)


def test_next_task_again_gives_the_same_item_and_renews_its_lease(project, lead, anna):
    wave(project, lead)
    first = serving.next_task(anna, at=AT)

    again = serving.next_task(anna, at=AT + timedelta(minutes=10))

    assert again.assignment == first.assignment
    assert Slot.objects.get(state=SlotState.CLAIMED).lease_ends == AT + timedelta(minutes=40)


def test_next_task_before_reading_the_guideline_asks_to_read_it(project, version, lead):
    wave(project, lead)
    carl = factories.member(project, "carl", acknowledged=None)

    assert serving.next_task(carl, at=AT).code == "acknowledge"


def test_next_task_of_a_held_wave_gives_nothing(project, lead, anna):
    Wave.objects.filter(pk=wave(project, lead).pk).update(held=True)

    assert serving.next_task(anna, at=AT).code == "held"


def test_next_task_without_a_wave_says_so(project, lead, anna):
    assert serving.next_task(anna, at=AT).code == "no_wave"


def test_everything_is_rated_exactly_as_often_as_drawn_by_different_people(project, lead, anna, ben):
    opened = wave(project, lead, 40, share_percent=Decimal(25), ratings_per_item=2)
    carl = factories.member(project, "carl")

    Team([anna, ben, carl]).finish()

    counts = Counter(Annotation.objects.filter(slot__isnull=False).values_list("wave_item", flat=True))
    assert {row.pk: row.needed for row in WaveItem.objects.all()} == dict(counts)
    assert Annotation.objects.values("item", "member").distinct().count() == Annotation.objects.count() == 50
    opened.refresh_from_db()
    assert (opened.state, opened.overlap_left, opened.single_left) == ("closed", 0, 0)
    assert (opened.draw.state, opened.draw.closing) == ("closed", "complete")


def test_one_rater_alone_never_gets_an_item_twice_and_the_draw_waits(project, lead, anna):
    opened = wave(project, lead, 6, share_percent=SHARE)
    team = Team([anna])

    assert team.work() == 6
    draws.close_due(at=team.at + timedelta(days=1))

    opened.draw.refresh_from_db()
    assert opened.draw.is_open
    assert draws.leftovers(opened.draw, at=team.at).fillable == []


def test_later_ratings_go_first_to_the_pair_that_shares_least(project, lead, anna, ben):
    carl = factories.member(project, "carl")
    wave(project, lead, 12, share_percent=SHARE)
    everyone = Team([anna, ben, carl])
    everyone.work(turns=3)  # all three have a seat
    Team([anna, ben], at=everyone.at, seed=5).work(turns=6)

    everyone.finish()

    pairs = Counter(
        tuple(sorted(Annotation.objects.filter(item=item).values_list("member", flat=True)))
        for item in Annotation.objects.values_list("item", flat=True).distinct()
    )
    assert sum(pairs.values()) == 12
    assert max(pairs.values()) - min(pairs.values()) <= 3


def test_a_lease_that_ended_gives_the_item_to_somebody_else(project, lead, anna, ben):
    wave(project, lead, 1, share_percent=Decimal(0))
    hers = serving.next_task(anna, at=AT)

    assert serving.next_task(ben, at=AT + timedelta(minutes=29)).code == "others"
    his = serving.next_task(ben, at=AT + timedelta(minutes=31))

    assert Assignment.objects.get(uuid=his.assignment).item == Assignment.objects.get(uuid=hers.assignment).item


def test_who_lost_an_item_gets_another_one_and_may_meet_the_first_again(project, lead, anna, ben):
    wave(project, lead, 1, share_percent=Decimal(0))
    hers = serving.next_task(anna, at=AT)
    his = serving.next_task(ben, at=AT + timedelta(minutes=31))
    assert serving.next_task(anna, at=AT + timedelta(minutes=32)).code == "others"

    labelling.skip(ben, his.assignment, reason="other", at=AT + timedelta(minutes=33))
    again = serving.next_task(anna, at=AT + timedelta(minutes=34))

    assert again.assignment == hers.assignment


def test_a_skipped_item_never_comes_back_to_who_skipped_it(project, lead, anna, ben):
    wave(project, lead, 2, share_percent=Decimal(0))
    for minute in range(2):
        task = serving.next_task(anna, at=AT + timedelta(minutes=minute))
        labelling.skip(anna, task.assignment, reason="unclear_item", at=AT + timedelta(minutes=minute))

    assert serving.next_task(anna, at=AT + timedelta(minutes=3)).code == "others"
    assert Team([ben], at=AT + timedelta(minutes=4)).work() == 2


def test_cover_is_kept_for_the_others(project, lead, anna, ben):
    """One person far ahead stops at their share: what they could still get is kept as cover for the slower one."""
    opened = wave(project, lead, 200, share_percent=Decimal(10))

    ahead = Team([anna], seed=3)
    ahead.work()

    opened.refresh_from_db()
    assert opened.overlap_left == 20
    assert 60 <= opened.single_left <= 120  # about half of the 180, as half of the overlap is left
    assert Seat.objects.get(member=anna).told_empty_at is not None
    assert serving.next_task(anna, at=ahead.at).code == "others"
    assert Team([ben], at=ahead.at).work() == 20 + opened.single_left


def test_cover_once_released_is_served_and_the_draw_says_from_when(project, lead, anna):
    opened = wave(project, lead, 100, share_percent=Decimal(10))
    ahead = Team([anna], seed=3)
    first = ahead.work()

    draws.release_cover(opened, by=lead, at=ahead.at)
    second = ahead.work()

    assert first + second == 100
    opened.draw.refresh_from_db()
    assert opened.draw.known_from == 11


def test_who_gave_up_the_overlap_gets_singles_only_beyond_the_cover(project, lead, anna, ben):
    opened = wave(project, lead, 50, share_percent=Decimal(20))
    draws.give_up(opened.draw, by=anna, at=AT)
    assert serving.next_task(anna, at=AT).code == "others"  # at first all singles are cover for the others
    carl = factories.member(project, "carl")
    team = Team([anna, ben, carl])

    team.work()

    hers = [assignment.slot.kind for member, assignment in team.served if member == anna.pk]
    assert set(hers) == {"single"}
    assert draws.leftovers(opened.draw, at=team.at).slots == 0


def test_a_share_of_zero_serves_everybody(project, lead, anna, ben):
    opened = wave(project, lead, 20, share_percent=Decimal(0))

    Team([anna, ben]).finish()

    opened.refresh_from_db()
    assert (opened.state, Annotation.objects.count(), hasattr(opened, "draw")) == ("closed", 20, False)


@pytest.mark.slow
@pytest.mark.one_database
def test_the_slower_one_s_last_items_hold_the_same_share_of_overlap(project, lead, anna, ben):
    """While cover is held, the end of a wave looks like the rest of it, also for the slower of two."""
    shares = []
    for run in range(6):
        factories.items(project, 150, prefix=f"run{run}")
        opened = releasing.open_wave(project, by=lead, at=AT + timedelta(days=run), share_percent=Decimal(10 + run))
        team = Team([anna, ben], seed=run, speeds=[5, 1], at=AT + timedelta(days=run))
        team.work()
        slow = [assignment.slot.kind for member, assignment in team.served if member == ben.pk]
        shares.append(sum(kind == "measured" for kind in slow[-20:]) / 20)
        draws.close_wave(opened, by=lead, at=team.at, reason="the run is over")

    assert sum(shares) / len(shares) < 0.45  # without cover it is 0.8 to 1


def test_queries_of_a_cycle_do_not_grow_with_the_project(project, lead, anna, ben):
    counts = []
    for size in (30, 300):
        factories.items(project, size, prefix=f"p{size}")
        opened = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(20))
        team = Team([anna, ben], seed=2)
        team.work(turns=10)
        most = 0
        for _ in range(5):
            with CaptureQueriesContext(connection) as queries:
                task = serving.next_task(anna, at=team.at, rng=random.Random(1))
                labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=team.at)
            most = max(most, len(queries))
        counts.append(most)
        draws.close_wave(opened, by=lead, at=team.at, reason="next size")

    assert counts[1] <= counts[0] <= 26


def test_a_member_holds_one_item_at_a_time(project, lead, anna):
    wave(project, lead)
    for minute in range(3):
        serving.next_task(anna, at=AT + timedelta(minutes=minute))

    assert Assignment.objects.filter(member=anna, state=AssignmentState.OPEN).count() == 1


def test_cover_is_served_to_everybody_once_the_draw_has_closed(project, lead, anna, ben):
    """Nothing is hidden any more: who was told that nothing is left gets the rest of the wave."""
    opened = wave(project, lead, 60, share_percent=Decimal(10))
    ahead = Team([anna], seed=3)
    ahead.work()
    assert serving.next_task(anna, at=ahead.at).code == "others"

    draws.close(opened.draw, closing="early", reason="ben is ill", by=lead, at=ahead.at)
    ahead.work()

    opened.refresh_from_db()
    assert (opened.single_left, opened.overlap_left) == (0, 0)


def test_more_ended_leases_than_are_given_back_at_once_are_no_empty_queue(project, lead, anna, ben):
    """Of 25 items that others left lying, the first twenty are not for anna: she gets one of the rest."""
    wave(project, lead, 25, share_percent=Decimal(0))
    for minute in range(20):
        task = serving.next_task(anna, at=AT)
        labelling.skip(anna, task.assignment, reason="other", at=AT + timedelta(seconds=minute))
    others = [factories.member(project, f"rater{i}") for i in range(25)]
    later = AT + timedelta(minutes=5)
    held = {Assignment.objects.get(uuid=serving.next_task(m, at=later).assignment).item_id: m for m in others}
    skipped = set(anna.assignments.values_list("item", flat=True))
    # Of equal leases those of the skipped items come first.
    for item, member in held.items():
        ends = later + timedelta(minutes=1 if item in skipped else 2)
        Slot.objects.filter(claimed_by=member).update(lease_ends=ends)

    task = serving.next_task(anna, at=later + timedelta(hours=1))

    assert Assignment.objects.get(uuid=task.assignment).item_id not in skipped


def test_what_a_held_wave_takes_back_goes_to_waiting_surplus_first(project, lead, anna, ben):
    opened = wave(project, lead, 1, share_percent=Decimal(0))
    hers = serving.next_task(anna, at=AT)
    serving.next_task(ben, at=AT + timedelta(minutes=31))
    labelling.submit(anna, hers.assignment, answers={"intent": "praise"}, at=AT + timedelta(minutes=32))
    Wave.objects.filter(pk=opened.pk).update(held=True)

    serving.next_task(ben, at=AT + timedelta(minutes=33))

    assert Slot.objects.get().annotation.member == anna


def test_queues_that_were_looked_through_in_vain_are_not_looked_through_again(project, lead, anna, ben):
    """Third ratings pile up that neither of two may give: their cursors pass them by (DESIGN §3: constant cost)."""
    carl = factories.member(project, "carl")
    opened = wave(project, lead, 31, share_percent=SHARE, ratings_per_item=3)
    serving.next_task(carl, at=AT)  # one item is in his hands: the others may still take that one
    team = Team([anna, ben])
    team.work()
    assert Slot.objects.open().filter(number=3).count() == 30

    team.at += timedelta(minutes=10)
    for member in (anna, ben):
        assert serving.next_task(member, at=team.at).code == "others"

    newest_key = max(Slot.objects.open().values_list("key", flat=True))
    assert all(pair.cursor >= newest_key for pair in opened.pairs.filter(member__in=[anna, ben]))
    assert Team([carl], at=team.at).work() == 31


def test_a_slot_that_comes_back_while_cursors_move_is_not_lost(project, lead, anna, ben):
    """Everybody looked in vain; what comes back a moment later is still found by all."""
    carl = factories.member(project, "carl")
    wave(project, lead, 1, share_percent=Decimal(0))
    task = serving.next_task(anna, at=AT)
    for member in (ben, carl):
        assert serving.next_task(member, at=AT).code == "others"

    labelling.skip(anna, task.assignment, reason="other", at=AT)

    assert isinstance(serving.next_task(carl, at=AT), serving.Task)


def test_tiny_waves_are_finished(project, lead, anna, ben):
    for size in range(1, 8):
        factories.items(project, size, prefix=f"tiny{size}")
        opened = releasing.open_wave(project, by=lead, at=AT + timedelta(days=size), share_percent=Decimal(30))
        team = Team([anna, ben], seed=size, at=AT + timedelta(days=size))
        team.finish()
        opened.refresh_from_db()
        assert (size, opened.state, opened.draw.closing) == (size, "closed", "complete")


def test_more_ratings_than_people_wait_and_name_nobody(project, lead, anna, ben):
    opened = wave(project, lead, 4, share_percent=SHARE, ratings_per_item=5)
    team = Team([anna, ben])
    assert team.work() == 8

    left = draws.leftovers(opened.draw, at=team.at)
    assert (left.slots, left.fillable, left.barred) == (12, [], [])
    carl = factories.member(project, "carl")
    assert draws.leftovers(opened.draw, at=team.at).fillable == [carl]
    assert Team([carl], at=team.at).work() == 4


def test_a_minor_version_in_mid_wave_goes_on_and_names_the_version_shown(project, version, lead, anna, ben):
    wave(project, lead, 3, share_percent=SHARE)
    first = serving.next_task(anna, at=AT)
    minor = factories.version(project, 1, 1)
    assert serving.next_task(anna, at=AT).code == "acknowledge"

    labelling.submit(anna, first.assignment, answers={"intent": "praise"}, at=AT)  # the page still shows 1.0
    anna.acknowledged = minor
    anna.save()
    second = serving.next_task(anna, at=AT)
    labelling.submit(anna, second.assignment, answers={"intent": "praise"}, at=AT)

    assert [(a.version, a.draw_id is not None) for a in Annotation.objects.order_by("pk")] == [
        (version, True),
        (minor, True),
    ]


def test_who_has_seen_the_figure_and_then_annotates_takes_no_measured_slot(project, lead, anna, ben):
    opened = wave(project, lead, 40, share_percent=Decimal(50))
    draws.look(opened.draw, by=lead, at=AT)
    lead.is_annotator = True
    lead.save()

    team = Team([lead, anna, ben])
    team.work()

    assert {a.slot.kind for member, a in team.served if member == lead.pk} <= {"single"}
    assert draws.leftovers(opened.draw, at=team.at).slots == 0
