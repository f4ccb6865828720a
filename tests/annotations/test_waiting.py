"""Leases, skips, people who leave, what waits and what an empty queue says, sentence by sentence of DESIGN §2.9, §3."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotations import draws, labelling, releasing, serving
from annotations.models import Annotation, Assignment, Slot, Wave
from projects.models import Membership, Project
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
MINUTE = timedelta(minutes=1)
PRAISE = {"intent": "praise"}


@pytest.fixture
def carl(project: Project, version: object) -> Membership:
    return factories.member(project, "carl")


def opened(project: Project, lead: Membership, count: int, share: int, **choices: object) -> Wave:
    factories.items(project, count, prefix=f"w{project.waves.count()}")
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share), **choices)


def submitted(member: Membership, at, answers=PRAISE) -> Annotation:
    task = serving.next_task(member, at=at)
    return Annotation.objects.get(uuid=labelling.submit(member, task.assignment, answers=answers, at=at).annotation)


# -- leases ------------------------------------------------------------------------------------------------------------


def test_the_lease_is_what_the_protocol_says(project, lead, anna, ben):
    project.protocol |= {"lease_minutes": 4}
    project.save()
    opened(project, lead, 1, 0)
    held = serving.next_task(anna, at=AT)

    assert isinstance(serving.next_task(ben, at=AT + 3 * MINUTE), serving.Nothing)
    taken = serving.next_task(ben, at=AT + 5 * MINUTE)

    assert Assignment.objects.get(uuid=taken.assignment).item == Assignment.objects.get(uuid=held.assignment).item


def test_a_draft_survives_the_end_of_its_lease(project, lead, anna, ben):
    """Also where somebody else has held the item and skipped it in between."""
    opened(project, lead, 1, 0)
    held = serving.next_task(anna, at=AT)
    labelling.save_draft(anna, held.assignment, draft={"intent": "question"}, at=AT)
    other = serving.next_task(ben, at=AT + 31 * MINUTE)
    assert other.draft is None
    labelling.skip(ben, other.assignment, reason="other", at=AT + 32 * MINUTE)

    again = serving.next_task(anna, at=AT + 33 * MINUTE)

    assert (again.assignment, again.draft) == (held.assignment, {"intent": "question"})


def test_the_annotator_reads_the_same_whether_it_counts_or_is_surplus_and_the_lead_sees_which(
    project, lead, anna, ben, client_of
):
    wave = opened(project, lead, 1, 0)
    hers = serving.next_task(anna, at=AT)
    serving.next_task(ben, at=AT + 31 * MINUTE)

    late = labelling.submit(anna, hers.assignment, answers=PRAISE, at=AT + 32 * MINUTE)
    counted = labelling.submit(ben, Assignment.objects.get(member=ben).uuid, answers=PRAISE, at=AT + 33 * MINUTE)

    assert (late.repeated, late.differs) == (counted.repeated, counted.differs) == (False, False)
    item = wave.wave_items.get().item
    page = client_of(lead).get(f"/p/{project.uuid}/items/{item.uuid}/history/").content.decode()
    assert page.count("came late, not counted") == 1


def test_surplus_of_a_draw_that_has_closed_stays_surplus_for_ever(project, lead, anna, ben):
    wave = opened(project, lead, 1, 100)
    hers = serving.next_task(anna, at=AT)
    submitted(ben, AT + 31 * MINUTE)  # takes the slot whose lease has ended
    draws.close(wave.draw, closing="early", reason="enough", by=lead, at=AT + 32 * MINUTE)

    labelling.submit(anna, hers.assignment, answers=PRAISE, at=AT + 33 * MINUTE)

    assert Annotation.objects.get(member=anna).slot is None
    assert Annotation.objects.filter(draw=wave.draw).count() == 1


# -- closing short and early, with windows open ------------------------------------------------------------------------


@pytest.mark.parametrize(("closing", "reason"), [("short", ""), ("early", "the deadline came")])
def test_closing_by_hand_ends_windows_and_cancels_what_is_open(project, lead, anna, closing, reason):
    wave = opened(project, lead, 3, 100)
    given = [submitted(anna, AT + n * MINUTE) for n in range(3)]
    assert Annotation.objects.filter(window_ends__gt=AT + 3 * MINUTE).count() == 3

    draws.close(wave.draw, closing=closing, reason=reason, by=lead, at=AT + 3 * MINUTE)
    labelling.correct(anna, given[0].uuid, answers={"intent": "complaint"}, at=AT + 4 * MINUTE)

    given[0].refresh_from_db()
    assert (given[0].answers, given[0].latest) == (PRAISE, {"intent": "complaint"})
    assert set(Slot.objects.values_list("state", flat=True)) == {"rated", "cancelled"}
    assert not Annotation.objects.filter(window_ends__gt=AT + 3 * MINUTE).exists()


def test_a_draw_whose_last_window_is_open_does_not_close_short(project, lead, anna, ben):
    wave = opened(project, lead, 1, 100)
    submitted(anna, AT)
    submitted(ben, AT + MINUTE)

    assert draws.close_due(at=AT + 2 * MINUTE) == []
    assert draws.all_rated(wave.draw)
    assert draws.close(wave.draw, closing="complete", by=lead, at=AT + 3 * MINUTE).closing == "complete"


# -- people who leave --------------------------------------------------------------------------------------------------


def test_who_leaves_keeps_what_they_gave_and_what_they_held_goes_to_the_others(project, lead, anna, ben, carl):
    wave = opened(project, lead, 4, 100)
    submitted(anna, AT)
    serving.next_task(anna, at=AT + MINUTE)
    Membership.objects.filter(pk=anna.pk).update(active=False)

    team = Team([ben, carl], at=AT + 2 * MINUTE)
    team.work()
    team.at += timedelta(hours=1)
    team.finish()

    wave.draw.refresh_from_db()
    assert (wave.draw.closing, Annotation.objects.filter(draw=wave.draw).count()) == ("complete", 8)
    assert Annotation.objects.get(member=anna).slot is not None


def test_slots_that_only_somebody_who_left_could_fill_wait_and_are_named_until_another_joins(
    project, lead, anna, ben, client_of
):
    wave = opened(project, lead, 2, 100)
    Team([anna]).work()
    Membership.objects.filter(pk=ben.pk).update(active=False)
    address = f"/p/{project.uuid}/waves/{wave.uuid}/"
    client = client_of(lead)

    waits = client.get(address).content.decode()
    draws.close_due(at=AT + timedelta(days=9))
    wave.draw.refresh_from_db()
    factories.member(project, "dora")
    then = client.get(address).content.decode()

    assert "2 measured ratings are left that nobody present may give." in waits
    assert "w0 0 says something" in waits
    assert wave.draw.is_open
    assert "dora can give them." in then


def test_what_everybody_has_skipped_waits_and_does_not_come_back(project, lead, anna, ben):
    wave = opened(project, lead, 1, 100)
    for member in (anna, ben):
        labelling.skip(member, serving.next_task(member, at=AT).assignment, reason="unclear_item", at=AT)

    assert [isinstance(serving.next_task(one, at=AT + MINUTE), serving.Nothing) for one in (anna, ben)] == [True, True]
    left = draws.leftovers(wave.draw, at=AT)
    assert (left.slots, left.fillable, len(left.items)) == (2, [], 1)
    assert draws.close(wave.draw, closing="short", by=lead, at=AT).closing == "short"


# -- nothing left ------------------------------------------------------------------------------------------------------


def emptied(project, lead, anna, ben, how: str) -> serving.Nothing:
    """What anna reads once nothing more comes, in ways that differ in what is left of the wave."""
    count, share = {"cover": (20, 20), "met": (5, 100), "held": (1, 0), "skipped": (1, 0)}[how]
    opened(project, lead, count, share)
    if how == "held":
        serving.next_task(ben, at=AT)
        return serving.next_task(anna, at=AT)
    if how == "skipped":
        labelling.skip(anna, serving.next_task(anna, at=AT).assignment, reason="other", at=AT)
        return serving.next_task(anna, at=AT)
    team = Team([anna])
    team.work()
    return serving.next_task(anna, at=team.at)


@pytest.mark.parametrize("how", ["cover", "met", "held", "skipped"])
def test_an_empty_queue_says_the_same_whatever_is_left_behind_it(project, lead, anna, ben, how):
    """Cover held back, overlap that waits for another, an item in somebody's hands, one's own skip: one sentence."""
    assert emptied(project, lead, anna, ben, how) == serving.Nothing(
        "others", "Nothing is left for you at the moment. If something comes back from the others, it appears here."
    )


def test_an_empty_queue_names_the_other_reasons(project, version, lead, anna, ben):
    assert serving.next_task(anna, at=AT).code == "no_wave"
    wave = opened(project, lead, 4, 0)
    Wave.objects.update(held=True)
    assert serving.next_task(anna, at=AT).code == "held"
    Wave.objects.update(held=False)
    factories.version(project, 2, 0)
    assert serving.next_task(anna, at=AT).code == "acknowledge"
    assert Slot.objects.filter(wave=wave, state="open").count() == 4
