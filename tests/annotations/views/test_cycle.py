"""What one turn of an annotator costs: saving a label and getting the next item, over HTTP, every statement counted."""

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import cycles, labelling, releasing, serving
from annotations.models import Annotation, Assignment, Seat, Slot
from projects import guidelines, styles
from projects.models import GuidelineVersion, LabelStyle, Membership, Project
from tests import factories

HX = {"HX-Request": "true"}
# Session, user, member; BEGIN and COMMIT; seven that look, ten that write. A server of PostgreSQL is asked for a sign
# of life before them (CONN_HEALTH_CHECKS), and a cursor that moves, once a minute at most, is one more.
STATEMENTS = 20


@pytest.fixture
def version(project: Project) -> GuidelineVersion:
    """As published ones are: with its digest, by which it is kept in memory."""
    return factories.version(project, digest="d" * 64)


def open_wave(project: Project, lead: Membership, count: int, **choices: object) -> None:
    factories.items(project, count)
    releasing.open_wave(project, by=lead, at=timezone.now(), **choices)


def in_hand(member: Membership) -> Assignment:
    return Assignment.objects.select_related("slot").get(member=member, state="open")


def kind(slot: Slot) -> str:
    return {Slot.SINGLES: "single", Slot.FIRST: "first"}.get(slot.queue, "later")


def turn(client: Client, member: Membership) -> int:
    """The member labels what they hold and gets the next item; how many statements that took."""
    url = reverse("annotations:label-submit", args=[member.project.uuid, in_hand(member).uuid])
    with CaptureQueriesContext(connection) as queries:
        page = client.post(url, {"answer-intent": "praise"}, headers=HX)
    assert (page.status_code, b'data-kind="task"' in page.content) == (200, True)
    return len(queries)


def test_a_turn_takes_the_same_statements_whatever_the_item_and_the_next_one_are(project, lead, anna, ben, client_of):
    open_wave(project, lead, 120, share_percent=Decimal(50))
    team = {member: client_of(member) for member in (anna, ben)}
    for member, client in team.items():
        serving.next_task(member, at=timezone.now())
        turn(client, member)
        turn(client, member)
    counted = defaultdict(set)

    for _ in range(30):
        for member, client in team.items():
            before = kind(in_hand(member).slot)
            took = turn(client, member)
            counted[before, kind(in_hand(member).slot)].add(took)

    assert {kind for both in counted for kind in both} == {"single", "first", "later"}
    assert set(map(frozenset, counted.values())) == {frozenset([STATEMENTS])}


def test_a_turn_of_who_is_far_ahead_takes_no_more(project, lead, anna, ben, client_of):
    """Overlap slots that anna has met pile up, and she labels on."""
    open_wave(project, lead, 150, share_percent=Decimal(20), ratings_per_item=4)
    ahead, other = client_of(anna), client_of(ben)
    serving.next_task(ben, at=timezone.now())
    turn(other, ben)
    serving.next_task(anna, at=timezone.now())
    while Slot.objects.filter(queue=anna.pk, state="open").count() < 25:
        turn(ahead, anna)

    counted = [turn(ahead, anna) for _ in range(5)]

    assert max(counted) <= STATEMENTS + 1
    assert min(counted) == STATEMENTS


def test_a_turn_takes_as_much_in_a_team_of_twelve(project, lead, anna, client_of):
    open_wave(project, lead, 150, share_percent=Decimal(20))
    for i in range(11):
        serving.next_task(factories.member(project, f"rater{i}"), at=timezone.now())
    client = client_of(anna)
    serving.next_task(anna, at=timezone.now())
    turn(client, anna)

    assert {turn(client, anna) for _ in range(8)} == {STATEMENTS}


def test_colours_are_read_again_as_soon_as_somebody_changed_them(project, lead, anna, client_of):
    open_wave(project, lead, 30, share_percent=Decimal(0))
    client = client_of(anna)
    address = reverse("annotations:label", args=[project.uuid])
    assert "#123456" not in client.get(address).content.decode()

    styles.set_style(project, "intent", "praise", colour="#123456")

    assert "#123456" in client.get(address).content.decode()
    assert LabelStyle.objects.count() == 1


def test_a_version_kept_in_memory_is_nobody_s_but_the_caller_s(version):
    first = guidelines.kept(version.uuid)
    first.text = "something else"

    again = guidelines.kept(version.uuid)

    assert (again, again.text) == (version, version.text)


def test_whether_a_version_is_public_is_not_kept_in_memory(version):
    guidelines.kept(version.uuid)
    GuidelineVersion.objects.filter(pk=version.pk).update(public=True)

    assert guidelines.kept(version.uuid).public


# -- a label never waits for an item -----------------------------------------------------------------------------------


def submitted_and_next(member: Membership, assignment: Assignment):
    return cycles.submit_and_next(member, assignment.uuid, answers={"intent": "praise"}, at=timezone.now())


def test_a_label_is_saved_though_looking_for_the_next_item_breaks(project, lead, anna):
    open_wave(project, lead, 5, share_percent=Decimal(0))
    serving.next_task(anna, at=timezone.now())
    anna.project.protocol["practice_pass_percent"] = "most"

    with pytest.raises(ValueError, match="most"):
        submitted_and_next(anna, in_hand(anna))

    assert Annotation.objects.count() == 1
    anna.refresh_from_db()
    assert anna.submits == 1


def test_a_refused_label_claims_nothing(project, lead, anna):
    open_wave(project, lead, 5, share_percent=Decimal(0))
    serving.next_task(anna, at=timezone.now())
    held = in_hand(anna)

    with pytest.raises(labelling.BadAnswers):
        cycles.submit_and_next(anna, held.uuid, answers={"intent": "spam"}, at=timezone.now())

    assert in_hand(anna) == held


def test_the_last_label_of_a_wave_is_saved_and_nothing_is_left(project, lead, anna):
    open_wave(project, lead, 1, share_percent=Decimal(0))
    serving.next_task(anna, at=timezone.now())

    _saved, task = submitted_and_next(anna, in_hand(anna))

    assert (task.code, Annotation.objects.count()) == ("others", 1)


def test_an_item_of_another_tab_is_the_next_one(project, lead, anna):
    """The form of an item that was given to somebody else comes late, while another tab holds the next item."""
    open_wave(project, lead, 3, share_percent=Decimal(0))
    serving.next_task(anna, at=timezone.now())
    late = in_hand(anna)
    Assignment.objects.filter(pk=late.pk).update(state="lapsed")
    second = serving.next_task(anna, at=timezone.now())

    _saved, task = submitted_and_next(anna, late)

    assert task.assignment == second.assignment


def test_cursors_move_once_a_minute(project, lead, anna, ben):
    open_wave(project, lead, 40, share_percent=Decimal(0))
    at = timezone.now()
    serving.next_task(anna, at=at)
    serving.next_task(ben, at=at)
    moved = []
    for seconds in (1, 2, 121, 122):
        held = in_hand(anna)
        cycles.submit_and_next(anna, held.uuid, answers={"intent": "praise"}, at=at + timedelta(seconds=seconds))
        moved.append(Seat.objects.get(member=anna).first_cursor)

    assert moved[0] == moved[1] < moved[2] == moved[3]
