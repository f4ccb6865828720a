"""A new MAJOR in mid-wave, sentence by sentence (DESIGN §3): one transaction, what comes in late, what is fresh again,
what stays. Old single labels have `test_old_labels`, samples `test_repeats`, `test_bridges` and `test_spot_checks`.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DataError, connection
from rest_framework.authtoken.models import Token

from annotations import draws, eligibility, gold, labelling, publishing, releasing, serving
from annotations.enums import Closing
from annotations.models import Annotation, Assignment, Draw, Slot, Wave, WaveItem
from projects import guidelines
from projects.models import GuidelineVersion
from tests import factories
from tests.annotations.team import Team, says

AT = factories.NOW
LATER = AT + timedelta(hours=2)


@pytest.fixture
def wave(project, lead):
    factories.items(project, 12)
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    draft = guidelines.draft_of(version.project, by=lead)
    guidelines.save_text(draft, text="# Other rules", revision=draft.revision, by=lead)
    return draft


def publish(draft, lead, *readers, at=LATER):
    made = publishing.publish(draft, change="material", reason="New rules.", by=lead, at=at)
    for member in readers:
        publishing.acknowledge(member, made, at=at)
    return made


def met(kind, member):
    """An assignment of `member` that is in hand, of an item of this kind; everything before it is labelled."""
    for _turn in range(40):
        task = serving.next_task(member, at=AT)
        row = Assignment.objects.select_related("slot", "item").get(uuid=task.assignment)
        if row.slot.kind == kind:
            return row
        labelling.submit(member, task.assignment, answers={"intent": "praise"}, at=AT)
    raise AssertionError(f"no {kind} item came")


def test_publishing_and_closing_are_one_transaction(wave, draft, lead, anna, ben):
    Team([anna, ben]).work(5)

    def fails(execute, sql, params, many, context):
        if sql.startswith('UPDATE "annotations_draw"'):
            raise DataError("the database gives up")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fails), pytest.raises(DataError):
        publish(draft, lead)

    draft.refresh_from_db()
    wave.refresh_from_db()
    assert (draft.is_draft, wave.state, Draw.objects.get().state) == (True, "open", "open")
    assert Slot.objects.unrated().exists()


def test_the_api_does_what_the_page_does_and_opens_no_wave(project, wave, draft, lead, anna, client):
    Team([anna]).work(3)
    headers = {"Authorization": f"Token {Token.objects.create(user=lead.user).key}"}
    address = f"/api/v1/projects/{project.uuid}/draft/publication/"
    sent = {"change": "material", "reason": "New rules."}

    answer = client.post(address, sent, "application/json", headers=headers)

    draw = Draw.objects.get()
    assert (answer.status_code, answer.json()["number"]) == (200, "2.0")
    assert (draw.state, draw.closing, draw.reason) == ("closed", Closing.EARLY, "guideline 2.0 was published")
    assert list(Wave.objects.values_list("number", "state")) == [(1, "closed")]


def test_unrated_items_move_to_the_new_version_and_partly_rated_ones_stay_under_the_old(
    project, wave, draft, lead, anna, ben
):
    Team([anna]).work(8)  # one person: what is overlap has one rating of two
    partly = set(Annotation.objects.filter(draw__isnull=False).values_list("item", flat=True))
    singles = set(Annotation.objects.filter(draw__isnull=True).values_list("item", flat=True))

    publish(draft, lead, anna, ben)
    second = releasing.open_wave(project, by=lead, at=LATER, share_percent=Decimal(0))
    Team([anna, ben], says("question"), at=LATER).work()

    assert partly
    assert singles
    moved = set(second.wave_items.values_list("item", flat=True))
    assert len(moved) == 4
    assert not moved & (partly | singles)
    told = {one.item.pk: (one.status.value, one.version) for one in gold.of_project(project)}
    assert {told[item] for item in moved} == {("single", "2.0")}
    assert {told[item] for item in partly} == {("partial", "1.0")}
    assert {told[item] for item in singles} == {("single", "1.0")}
    assert eligibility.ledger(project).fresh == 0


def test_an_item_that_was_only_skipped_moves_and_comes_once_under_the_new_version(project, wave, draft, lead, anna):
    task = serving.next_task(anna, at=AT)
    item = Assignment.objects.get(uuid=task.assignment).item
    labelling.skip(anna, task.assignment, reason="guideline", at=AT)

    publish(draft, lead, anna)
    releasing.open_wave(project, by=lead, at=LATER, share_percent=Decimal(0))
    Team([anna], at=LATER).work()

    kept = Assignment.objects.filter(item=item, member=anna).order_by("major")
    assert list(kept.values_list("major", "state")) == [(1, "skipped"), (2, "submitted")]


@pytest.mark.parametrize("kind", ["measured", "single"])
def test_a_late_form_is_kept_under_the_old_version_and_fills_nothing_of_the_new_wave(
    project, wave, draft, lead, anna, ben, kind
):
    held = met(kind, anna)
    publish(draft, lead, anna, ben)
    second = releasing.open_wave(project, by=lead, at=LATER, share_percent=Decimal(100))

    labelling.submit(anna, held.uuid, answers={"intent": "complaint"}, at=LATER)
    Team([anna, ben], says("praise"), at=LATER).finish()

    late = Annotation.objects.get(assignment=held)
    assert (late.version.number, late.major, late.slot, late.draw) == ("1.0", 1, None, None)
    counted = Annotation.objects.filter(draw=second.draw, slot__isnull=False)
    assert set(counted.values_list("version__major", "answers__intent").distinct()) == {(2, "praise")}
    rated = dict(WaveItem.objects.filter(wave=second).values_list("item", "rated"))
    assert set(rated.values()) == {2}
    final = {one.item.pk: (one.status.value, one.value) for one in gold.of_project(project)}
    if held.item_id in rated:
        assert final[held.item_id] == ("agreed", "praise")


def test_windows_end_and_what_is_corrected_afterwards_is_a_layer_on_top(wave, draft, lead, anna):
    row = met("measured", anna)
    labelling.submit(anna, row.uuid, answers={"intent": "praise"}, at=AT)
    mine = Annotation.objects.get(assignment=row)
    minute = AT + timedelta(minutes=1)

    publish(draft, lead, at=minute)
    labelling.correct(anna, mine.uuid, answers={"intent": "complaint"}, at=minute)

    mine.refresh_from_db()
    assert mine.window_ends == minute
    assert (mine.answers, mine.latest) == ({"intent": "praise"}, {"intent": "complaint"})
    assert mine.revisions.get(number=2).version.number == "1.0"


def test_a_draw_whose_ratings_are_all_given_closes_complete(wave, draft, lead, anna, ben):
    Team([anna, ben]).work()
    assert draws.all_rated(wave.draw)

    publish(draft, lead)

    draw = Draw.objects.get()
    assert (draw.closing, draw.reason) == (Closing.COMPLETE, "guideline 2.0 was published")


def test_nothing_of_the_old_wave_is_served_any_more(wave, draft, lead, anna, ben):
    serving.next_task(anna, at=AT)

    publish(draft, lead, anna, ben)

    assert [serving.next_task(member, at=LATER).code for member in (anna, ben)] == ["no_wave", "no_wave"]
    assert not Slot.objects.unrated().exists()


def test_waves_that_a_gate_held_end_too(project, wave, draft, lead):
    factories.items(project, 4, prefix="held")
    held = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))
    Wave.objects.filter(pk=held.pk).update(held=True)

    publish(draft, lead)

    assert set(Wave.objects.values_list("state", flat=True)) == {"closed"}
    assert eligibility.ledger(project).fresh == 16
