"""Questions about an item: who reads them, when the answer comes, and whose name is kept back (DESIGN §2.4)."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from annotations import draws, inquiries, releasing, serving
from annotations.enums import SlotKind
from annotations.models import Assignment, Case, Draw, Inquiry, Slot
from projects import guidelines
from projects.errors import Invalid, NotAllowed
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team

pytestmark = pytest.mark.django_db

AT = factories.NOW
LATER = AT + timedelta(days=1)


@pytest.fixture
def open_draw(project, lead, anna, ben) -> Draw:
    """Two overlap items and two singles, all rated by anna and ben as they come; the draw is open still."""
    factories.items(project, 4)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))
    Team([anna, ben]).work()
    return wave.draw


def rated(member, kind) -> Assignment:
    return Assignment.objects.filter(member=member, slot__kind=kind, state="submitted").first()


def asked(member, assignment, text="Is that praise?") -> Inquiry:
    return inquiries.ask(member, assignment.uuid, text=text, at=AT)


def said(member) -> list[tuple[str, bool, str]]:
    return [(one.text, one.mine, one.answer) for one in (inquiries.told(row, member) for row in inquiries.to(member))]


def close(draw) -> None:
    draws.close_due(at=LATER)
    draw.refresh_from_db()
    assert not draw.is_open


@pytest.mark.parametrize("kind", [SlotKind.MEASURED, SlotKind.SINGLE])
def test_the_answer_waits_for_the_draw_of_the_wave_for_both_kinds(open_draw, lead, anna, ben, kind):
    assignment = rated(anna, kind)
    row = asked(anna, assignment)

    inquiries.answer(row, text="It is.", by=lead, at=AT)

    assert said(anna) == [("Is that praise?", True, "")]
    assert (said(ben), inquiries.news(anna).count(), inquiries.news(ben).count()) == ([], 0, 0)
    close(open_draw)
    assert said(anna) == [("Is that praise?", True, "It is.")]
    both = kind == SlotKind.MEASURED
    assert said(ben) == ([("Is that praise?", False, "It is.")] if both else [])
    assert (inquiries.news(anna).count(), inquiries.news(ben).count()) == (1, int(both))


def test_who_asked_reads_the_answer_without_having_rated(open_draw, lead, anna, ben):
    carl = factories.member(lead.project, "carl")
    assignment = rated(anna, SlotKind.SINGLE)
    skip = Assignment.objects.create(
        slot=assignment.slot,
        wave_item=assignment.wave_item,
        item=assignment.item,
        member=carl,
        major=1,
        version=assignment.version,
        state="skipped",
        served_at=AT,
    )
    inquiries.answer(asked(carl, skip), text="It is.", by=lead, at=AT)
    close(open_draw)

    assert said(carl) == [("Is that praise?", True, "It is.")]
    assert said(anna) == [("Is that praise?", False, "It is.")]
    assert said(ben) == []


def test_an_open_draw_of_a_later_wave_with_the_item_keeps_the_answer_back(open_draw, lead, anna):
    row = asked(anna, rated(anna, SlotKind.SINGLE))
    inquiries.answer(row, text="It is.", by=lead, at=AT)
    close(open_draw)
    factories.items(lead.project, 2, prefix="more")
    later = releasing.open_wave(lead.project, by=lead, at=LATER, share_percent=Decimal(100))
    later.wave_items.filter(item__external_id="more-0").update(item=row.item)

    assert said(anna) == [("Is that praise?", True, "")]


def test_a_wave_without_a_draw_keeps_nothing_back(project, lead, anna):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    task = serving.next_task(anna, at=AT)
    row = inquiries.ask(anna, task.assignment, text="Is that praise?", at=AT)

    inquiries.answer(row, text="It is.", by=lead, at=AT)

    assert said(anna) == [("Is that praise?", True, "It is.")]


def test_an_answer_is_news_until_it_is_seen(open_draw, lead, anna):
    inquiries.answer(asked(anna, rated(anna, SlotKind.SINGLE)), text="It is.", by=lead, at=AT)
    close(open_draw)
    seen = [inquiries.told(row, anna) for row in inquiries.to(anna)]

    inquiries.hear(anna, seen, at=LATER)
    inquiries.hear(anna, seen, at=LATER)

    assert [one.is_new for one in seen] == [True]
    assert inquiries.news(anna).count() == 0
    assert [inquiries.told(row, anna).is_new for row in inquiries.to(anna)] == [False]


@pytest.mark.parametrize("kind", [SlotKind.MEASURED, SlotKind.SINGLE])
def test_a_lead_who_may_still_rate_reads_no_question_of_the_wave(open_draw, lead, anna, kind):
    both = factories.member(lead.project, "bo", "lead", "annotator")
    row = asked(anna, rated(anna, kind))

    assert (inquiries.waiting(both).count(), inquiries.of_item(row.item, both)) == (0, [])
    with pytest.raises(Http404):
        inquiries.find(both, row.uuid)
    with pytest.raises(NotAllowed):
        inquiries.answer(row, text="It is.", by=both, at=AT)
    assert inquiries.waiting(lead).count() == 1

    draws.give_up(open_draw, by=both, at=AT)
    assert inquiries.waiting(both).count() == 1


def test_who_annotates_only_has_no_count_of_open_questions(open_draw, anna):
    asked(anna, rated(anna, SlotKind.SINGLE))

    assert inquiries.waiting(anna).count() == 0


def test_who_asked_is_not_named_to_adjudicators_while_the_item_may_be_a_conflict(project, lead, admin, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")}, close=False)
    row = asked(anna, Assignment.objects.get(member=anna))

    def shown(member):
        one = inquiries.find(member, row.uuid)
        return one.name, one.at

    assert (shown(lead), shown(admin)) == (("", None), ("anna", AT))
    draws.close_due(at=LATER)
    assert Case.objects.open().filter(draw=draw).count() == 1
    assert shown(lead) == ("", None)
    Case.objects.update(state="decided")
    assert shown(lead) == ("anna", AT)


def test_the_same_question_twice_is_one(open_draw, anna):
    assignment = rated(anna, SlotKind.SINGLE)

    assert asked(anna, assignment) == asked(anna, assignment, " Is that praise?\r\n")
    assert asked(anna, assignment, "Or a complaint?") != asked(anna, assignment)


@pytest.mark.parametrize("text", ["  ", "a\x00b", "x" * 2_001])
def test_what_cannot_be_used_asks_nothing(open_draw, anna, text):
    with pytest.raises(Invalid):
        asked(anna, rated(anna, SlotKind.SINGLE), text)
    assert Inquiry.objects.count() == 0


def test_nobody_asks_with_somebody_elses_assignment(open_draw, anna, ben):
    with pytest.raises(Http404):
        asked(ben, rated(anna, SlotKind.SINGLE))


def test_one_answer_stands_and_the_second_says_whose_it_is(open_draw, lead, admin, anna):
    row = asked(anna, rated(anna, SlotKind.SINGLE))
    inquiries.answer(row, text="It is.", by=lead, at=AT)

    assert inquiries.answer(row, text="It is.", by=lead, at=LATER).answered_at == AT
    with pytest.raises(inquiries.Answered, match="lea answered this on 02 Mar"):
        inquiries.answer(row, text="It is not.", by=admin, at=LATER)
    assert Inquiry.objects.get().answer == "It is."


def test_an_annotator_answers_nothing(open_draw, anna):
    with pytest.raises(NotAllowed):
        inquiries.answer(asked(anna, rated(anna, SlotKind.SINGLE)), text="It is.", by=anna, at=AT)


def test_an_answer_becomes_an_example_once_the_draw_has_closed_and_stays_one(open_draw, lead, anna):
    row = asked(anna, rated(anna, SlotKind.SINGLE))
    worded = {"question_key": "intent", "content": {"text": "Thanks a lot."}, "value": "praise", "by": lead}
    with pytest.raises(Invalid, match="no answer yet"):
        inquiries.promote(row, **worded, at=AT)
    inquiries.answer(row, text="Thanks are praise.", by=lead, at=AT)
    with pytest.raises(inquiries.StillMeasured):
        inquiries.promote(row, **worded, at=AT)
    close(open_draw)

    made = inquiries.promote(row, **worded, at=LATER)
    again = inquiries.promote(row, **worded | {"content": {"text": "Thanks."}}, at=LATER)

    assert (made.rationale, made.origin, made.version.is_draft) == ("Thanks are praise.", "asked", True)
    assert (again.pk, again.content) == (made.pk, {"text": "Thanks."})
    assert list(guidelines.draft_of(lead.project, by=lead).examples.all()) == [made]
    assert Inquiry.objects.get().example == made


def test_nothing_of_a_question_is_told_by_a_slot_that_is_served(open_draw, anna):
    """The one asking keeps the item; no slot moves."""
    before = list(Slot.objects.order_by("pk").values())

    asked(anna, rated(anna, SlotKind.MEASURED))

    assert list(Slot.objects.order_by("pk").values()) == before


def test_answers_from_before_are_not_read_at_all(open_draw, lead, anna):
    """From the answer or the closing of the draw on, whichever is later."""
    row = asked(anna, rated(anna, SlotKind.MEASURED))
    inquiries.answer(row, text="It is.", by=lead, at=AT)
    close(open_draw)

    found = inquiries.readable(anna, since=open_draw.closed_at)
    assert found == [(row.uuid, open_draw.closed_at, False)]
    with CaptureQueriesContext(connection) as sent:
        assert inquiries.readable(anna, since=open_draw.closed_at + timedelta(seconds=1)) == []
    assert 'answered_at" >= ' in sent[0]["sql"]
