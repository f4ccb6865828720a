"""Items are snapshots: DESIGN §2.1 and the erasing of §2.2."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotations import draws, eligibility, labelling, releasing, serving, superseding
from annotations.models import Annotation, Slot
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Item
from tests import factories

AT = factories.NOW
LATER = AT + timedelta(minutes=1)


@pytest.fixture
def item(project, lead) -> Item:
    only = factories.items(project, 1)[0]
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    return only


def test_a_correction_makes_a_successor_and_closes_the_old_one_s_slots(project, lead, anna, item):
    serving.next_task(anna, at=AT)

    new = superseding.supersede(item, content={"text": "Mended."}, by=lead, at=LATER)

    item.refresh_from_db()
    assert (item.standing, item.superseded_by, item.content["text"]) == (
        "superseded",
        new,
        "item 0 says something of its own",
    )
    assert (new.standing, new.external_id, new.content) == ("current", "item-0", {"text": "Mended."})
    assert set(Slot.objects.values_list("state", flat=True)) == {"cancelled"}
    wave = project.waves.get()
    assert (wave.overlap_left, wave.single_left) == (0, 0)


def test_a_rating_of_the_old_text_stays_with_the_old_text_and_is_not_measured(lead, anna, item):
    task = serving.next_task(anna, at=AT)
    superseding.supersede(item, content={"text": "Mended."}, by=lead, at=LATER)

    labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=LATER)

    kept = Annotation.objects.get()
    assert (kept.item, kept.slot, kept.draw) == (item, None, None)


def test_the_successor_is_fresh_only_if_nobody_rated_a_text_before_it(project, lead, anna, item):
    untouched = factories.items(project, 1, prefix="other")[0]
    second = superseding.supersede(untouched, content={"text": "Nobody saw the first."}, by=lead, at=AT)
    assert list(eligibility.eligible(project)) == [second]

    labelling.submit(anna, serving.next_task(anna, at=AT).assignment, answers={"intent": "praise"}, at=AT)
    once = superseding.supersede(item, content={"text": "Mended."}, by=lead, at=LATER)
    twice = superseding.supersede(once, content={"text": "Mended again."}, by=lead, at=LATER)

    assert list(eligibility.eligible(project)) == [second]
    assert twice in eligibility.not_eligible(project, "rated")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"text": "  "}, "no text"),
        ({"body": "x"}, "keeps the fields"),
        ({"text": "item 0 says something of its own"}, "Nothing"),
    ],
)
def test_a_correction_that_is_none_is_refused(lead, item, content, words):
    with pytest.raises(Invalid, match=words):
        superseding.supersede(item, content=content, by=lead, at=AT)


def test_an_item_is_corrected_once_and_not_by_an_annotator(lead, anna, item):
    superseding.supersede(item, content={"text": "Mended."}, by=lead, at=AT)

    with pytest.raises(DomainError, match="corrected meanwhile"):
        superseding.supersede(item, content={"text": "Mended otherwise."}, by=lead, at=AT)
    with pytest.raises(NotAllowed):
        superseding.supersede(item, content={"text": "By whom?"}, by=anna, at=AT)


def test_erasing_redacts_the_text_and_keeps_hash_and_labels(admin, anna, item):
    labelling.submit(anna, serving.next_task(anna, at=AT).assignment, answers={"intent": "praise"}, at=AT)
    before = item.content_hash

    superseding.erase(item, by=admin, at=LATER)

    assert (item.content, item.content_hash) == ({"text": "[erased]"}, before)
    assert Annotation.objects.get().answers == {"intent": "praise"}


def test_a_correction_while_a_wave_is_filled_asks_nothing_of_the_old_text(project, lead, anna):
    items = factories.items(project, 3)
    wave = releasing.plan_wave(project, by=lead, at=AT, share_percent=Decimal(100))

    superseding.supersede(items[0], content={"text": "Mended."}, by=lead, at=LATER)
    releasing.fill_wave(wave)

    assert Slot.objects.filter(item=items[0]).count() == 0
    assert (wave.overlap_all, wave.overlap_left, Slot.objects.unrated().count()) == (4, 4, 4)


def test_a_correction_after_the_draw_has_closed_leaves_its_record(project, lead, anna, item):
    labelling.submit(anna, serving.next_task(anna, at=AT).assignment, answers={"intent": "praise"}, at=AT)
    factories.items(project, 1, prefix="other")
    wave = project.waves.get()
    draws.close(wave.draw, closing="early", reason="enough", by=lead, at=LATER)

    superseding.supersede(item, content={"text": "Mended."}, by=lead, at=LATER)

    row = wave.wave_items.get()
    assert (row.needed, row.rated) == (2, 1)
