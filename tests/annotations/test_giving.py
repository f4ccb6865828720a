"""Waves given to named people and taken back, with limits for each person (DESIGN §3 "By hand")."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import draws, giving, labelling, releasing, serving
from annotations.models import Annotation, Given, Slot, Wave
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW


@pytest.fixture
def carl(project: Project, version: object) -> Membership:
    return factories.member(project, "carl")


def opened(project: Project, lead: Membership, count: int = 20, share: int = 20, **choices: object) -> Wave:
    factories.items(project, count, prefix=f"g{project.waves.count()}")
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share), **choices)


def code(member: Membership, at=AT) -> str:
    found = serving.next_task(member, at=at)
    return found.code if isinstance(found, serving.Nothing) else "task"


def test_a_given_wave_is_served_to_whom_it_is_given_and_to_nobody_else(project, lead, anna, ben, carl):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)

    team = Team([anna, ben, carl])
    team.finish()

    assert set(Annotation.objects.values_list("member__alias", flat=True)) == {"anna", "ben"}
    assert serving.next_task(carl, at=team.at).code in ("given", "no_wave")
    wave.draw.refresh_from_db()
    assert (wave.draw.state, wave.draw.closing) == ("closed", "complete")
    assert Annotation.objects.filter(draw=wave.draw).count() == 2 * wave.draw.size


def test_who_is_not_named_reads_a_sentence_that_is_true_for_every_item(project, lead, anna, ben, carl):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)

    found = serving.next_task(carl, at=AT)

    assert (found.code, found.sentence) == ("given", "The items that are released at the moment are given to others.")


def test_the_next_wave_serves_whom_the_first_is_not_given_to(project, lead, anna, ben, carl):
    giving.give(opened(project, lead), members=[anna, ben], by=lead, at=AT)
    open_to_all = opened(project, lead)

    task = serving.next_task(carl, at=AT)

    assert Slot.objects.get(assignments__uuid=task.assignment).wave == open_to_all


def test_fewer_people_than_ratings_are_refused_with_numbers_and_a_share_of_zero_may_go_to_one(project, lead, anna):
    wave, single = opened(project, lead, ratings_per_item=3), opened(project, lead, share=0)

    with pytest.raises(Invalid, match="1 person is named, and every overlap item of this wave needs 3: name more"):
        giving.give(wave, members=[anna], by=lead, at=AT)
    giving.give(single, members=[anna], by=lead, at=AT)

    assert not Given.objects.filter(wave=wave).exists()
    assert giving.people(single) == [anna]


def test_who_does_not_label_here_cannot_be_named(project, lead, anna, ben):
    wave = opened(project, lead)

    with pytest.raises(Invalid, match="lea does not label in this project"):
        giving.give(wave, members=[anna, ben, lead], by=lead, at=AT)
    with pytest.raises(Invalid, match="A limit of 0 items: expected 1 or more"):
        giving.give(wave, members=[], limit_per_person=0, by=lead, at=AT)


def test_taking_back_returns_what_is_in_hand_and_keeps_what_was_given(project, lead, anna, ben, carl):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)
    Team([anna]).work(turns=3)
    held = serving.next_task(anna, at=AT + timedelta(minutes=5))
    labelling.save_draft(anna, held.assignment, draft={"intent": "praise"}, at=AT + timedelta(minutes=5))

    giving.give(wave, members=[ben, carl], by=lead, at=AT + timedelta(minutes=6))

    assert code(anna, AT + timedelta(minutes=7)) == "given"
    team = Team([ben, carl], at=AT + timedelta(minutes=8))
    team.finish()
    wave.draw.refresh_from_db()
    assert (wave.draw.closing, Annotation.objects.filter(member=anna, slot__isnull=False).count()) == ("complete", 3)
    assert set(Given.objects.values_list("member__alias", "taken_back_by__alias")) == {
        ("anna", "lea"),
        ("ben", None),
        ("carl", None),
    }


def test_a_label_that_comes_after_the_taking_back_is_kept_and_counts_while_the_slot_is_free(project, lead, anna, ben):
    wave = opened(project, lead, share=0)
    giving.give(wave, members=[anna], by=lead, at=AT)
    held = serving.next_task(anna, at=AT)
    giving.give(wave, members=[ben], by=lead, at=AT + timedelta(minutes=1))

    labelling.submit(anna, held.assignment, answers={"intent": "praise"}, at=AT + timedelta(minutes=2))

    assert Annotation.objects.get().slot is not None


def test_nobody_named_gives_it_to_everybody_again(project, lead, anna, ben, carl):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], due_on=date(2026, 4, 1), by=lead, at=AT)
    giving.give(wave, members=[], by=lead, at=AT)

    assert code(carl) == "task"
    assert (wave.is_given, wave.due_on, giving.standing(wave).count()) == (False, None, 0)


def test_giving_the_same_again_changes_nothing(project, lead, anna, ben):
    wave = opened(project, lead)
    for _ in range(2):
        giving.give(wave, members=[anna, ben], by=lead, at=AT)
    held = serving.next_task(anna, at=AT)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)

    assert Given.objects.count() == 2
    assert serving.next_task(anna, at=AT).assignment == held.assignment


def test_a_closed_wave_cannot_be_given(project, lead, anna, ben):
    wave = opened(project, lead)
    draws.close_wave(wave, by=lead, at=AT, reason="enough")

    with pytest.raises(DomainError, match="closed"):
        giving.give(wave, members=[anna, ben], by=lead, at=AT)


# -- limits ------------------------------------------------------------------------------------------------------------


def test_nobody_gives_more_of_a_wave_than_its_limit_whatever_the_items_are(project, lead, anna, ben, carl):
    wave = opened(project, lead, 12, share=50)  # 18 labels
    giving.give(wave, members=[], limit_per_person=5, by=lead, at=AT)

    team = Team([anna, ben, carl])
    given = team.work()

    counts = [Annotation.objects.filter(member=one).count() for one in (anna, ben, carl)]
    assert max(counts) <= 5
    assert given == sum(counts)
    full = [one for one, n in zip((anna, ben, carl), counts, strict=True) if n == 5]
    assert full
    assert serving.next_task(full[0], at=team.at).sentence == (
        "You have labelled as many of these items as one person may. Thank you."
    )


def test_a_limit_for_a_day_begins_anew_the_next_day(project, lead, anna):
    wave = opened(project, lead, 10, share=0)
    giving.give(wave, members=[], limit_per_day=2, by=lead, at=AT)
    Team([anna]).work()

    assert Annotation.objects.count() == 2
    found = serving.next_task(anna, at=AT + timedelta(hours=3))
    assert (found.code, "Tomorrow" in found.sentence) == ("given", True)
    assert code(anna, AT + timedelta(days=1)) == "task"


def test_a_skip_is_no_label_and_counts_for_no_limit(project, lead, anna):
    wave = opened(project, lead, 5, share=0)
    giving.give(wave, members=[], limit_per_person=2, by=lead, at=AT)
    labelling.skip(anna, serving.next_task(anna, at=AT).assignment, reason="other", at=AT)

    assert Team([anna]).work() == 2


# -- slots that wait ---------------------------------------------------------------------------------------------------


def test_what_the_named_people_can_no_longer_give_waits_and_the_draw_may_close_short(project, lead, anna, ben, carl):
    wave = opened(project, lead, 4, share=100)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)
    team = Team([anna])
    team.work()
    assert draws.leftovers(wave.draw, at=team.at).fillable == [ben]

    Membership.objects.filter(pk=ben.pk).update(active=False)

    left = draws.leftovers(wave.draw, at=team.at)
    assert (left.slots, left.fillable, len(left.items)) == (4, [], 4)
    assert draws.close(wave.draw, closing="short", by=lead, at=team.at).closing == "short"


def test_who_has_reached_the_limit_is_not_waited_for(project, lead, anna, ben):
    wave = opened(project, lead, 4, share=100)
    giving.give(wave, members=[], limit_per_person=3, by=lead, at=AT)
    team = Team([anna, ben])
    team.work()

    assert draws.leftovers(wave.draw, at=team.at).fillable == []


# -- cost --------------------------------------------------------------------------------------------------------------


def queries(member: Membership, at) -> int:
    with CaptureQueriesContext(connection) as found:
        serving.next_task(member, at=at)
    return len(found)


def test_a_wave_without_conditions_asks_nothing_more_and_a_given_one_the_same_at_every_size(project, lead, anna, ben):
    counts = []
    for count in (10, 60):
        wave = opened(project, lead, count)
        giving.give(wave, members=[anna, ben], limit_per_person=900, by=lead, at=AT)
        Team([anna, ben]).work(turns=4)
        counts.append(queries(anna, AT + timedelta(hours=2)))
        plain = queries(ben, AT + timedelta(hours=2))
        draws.close_wave(wave, by=lead, at=AT, reason="done")

    assert abs(counts[0] - counts[1]) <= 2  # of two kinds of item each has its own look
    assert plain <= max(counts) + 2


# -- loads -------------------------------------------------------------------------------------------------------------


def told(wave: Wave, *chosen: Membership, limit: int | None = None) -> dict[str, tuple[int, int]]:
    rows = giving.loads(wave, chosen={one.uuid for one in chosen}, limit_per_person=limit)
    return {row.member.name: (row.now, row.after) for row in rows}


def test_the_load_of_each_before_and_after(project, lead, anna, ben, carl):
    first = opened(project, lead, 20, share=50)  # 30 labels
    second = opened(project, lead, 6, share=0)
    giving.give(second, members=[anna], by=lead, at=AT)

    assert told(first) == {"anna": (16, 16), "ben": (10, 10), "carl": (10, 10)}
    assert told(first, ben, carl) == {"anna": (16, 6), "ben": (10, 15), "carl": (10, 15)}
    assert told(first, ben, carl, limit=4) == {"anna": (16, 6), "ben": (10, 4), "carl": (10, 4)}
    assert giving.shortfall(first, 2, 4) == "At most 4 each, 2 people can give 8 of the 30 labels that are left."
    assert giving.shortfall(first, 2, 15) == ""
