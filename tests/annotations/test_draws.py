"""Opening, closing and replaying draws: DESIGN §2.3, §2.9, §3."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest

from annotations import draws, eligibility, labelling, releasing, serving, verifying
from annotations.models import Annotation, Draw, Slot, Wave, WaveItem
from projects.errors import DomainError, Invalid
from projects.models import Item
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW


def opened(project, lead, count=20, **choices) -> Wave:
    factories.items(project, count, prefix=f"n{Item.objects.count()}")
    return releasing.open_wave(project, by=lead, at=AT, **choices)


@pytest.mark.parametrize(
    ("count", "share", "overlap"), [(20, 10, 2), (15, 10, 2), (14, 10, 1), (4, 10, 0), (7, 100, 7)]
)
def test_open_wave_draws_the_exact_share(project, lead, count, share, overlap):
    wave = opened(project, lead, count, share_percent=Decimal(share))

    assert WaveItem.objects.filter(draw=wave.draw).count() == wave.draw.size == overlap
    assert (wave.overlap_all, wave.single_all) == (2 * overlap, count - overlap)
    assert Slot.objects.count() == 2 * overlap + count - overlap


def test_ten_batches_of_four_at_ten_per_cent_give_four(project, lead):
    sizes = []
    for _ in range(10):
        wave = opened(project, lead, 4, share_percent=Decimal(10))
        sizes.append(wave.draw.size)

    assert sum(sizes) == 4


def test_a_pilot_at_100_per_cent_does_not_use_up_what_follows(project, lead):
    opened(project, lead, 30, share_percent=Decimal(100), pilot=True)

    assert opened(project, lead, 50, share_percent=Decimal(10)).draw.size == 5


def test_a_wave_of_set_size_leaves_the_rest_fresh(project, lead):
    wave = opened(project, lead, 30, size=12, pilot=True)

    assert (wave.size, eligibility.ledger(project).fresh) == (12, 18)


def test_strata_share_the_overlap(project, lead):
    project.protocol |= {"strata_field": "source"}
    project.save()
    metadata = [{"source": "mail" if i % 4 else "chat"} for i in range(100)]
    factories.items(project, 100, metadata=metadata)

    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(20))

    drawn = Counter(WaveItem.objects.filter(draw=wave.draw).values_list("stratum", flat=True))
    assert drawn == {"mail": 15, "chat": 5}
    assert set(WaveItem.objects.values_list("probability", flat=True)) == {0.2}


def test_the_same_record_gives_the_same_set_and_a_forged_one_does_not(project, lead):
    wave = opened(project, lead, 60, share_percent=Decimal(20))
    draws.close(wave.draw, closing="early", reason="for the test", by=lead, at=AT)
    draw = Draw.objects.get()
    assert verifying.verify(draw).same

    swapped = WaveItem.objects.filter(draw=draw).first()
    other = WaveItem.objects.filter(draw__isnull=True).first()
    WaveItem.objects.filter(pk=swapped.pk).update(draw=None)
    WaveItem.objects.filter(pk=other.pk).update(draw=draw)

    assert not verifying.verify(draw).same
    assert "differ" in verifying.verify(draw).sentence
    draw.seed = bytes(32)
    assert "commitment" in verifying.verify(draw).sentence


def test_an_open_draw_cannot_be_replayed(project, lead):
    wave = opened(project, lead, 20)

    with pytest.raises(DomainError, match="open"):
        verifying.verify(wave.draw)


def test_the_protocol_is_frozen_when_the_draw_opens(project, lead):
    wave = opened(project, lead, 20)

    project.protocol |= {"minimum_n": 999}
    project.save()

    assert Draw.objects.get(pk=wave.draw.pk).protocol["minimum_n"] == 50


def test_too_few_fresh_says_how_many_and_why(project, lead, anna, ben):
    opened(project, lead, 5, share_percent=Decimal(0))
    Team([anna, ben]).finish()

    with pytest.raises(
        releasing.TooFewFresh, match=r"No fresh item is left .* needs 1: import 1 more.*5 × rated before"
    ):
        releasing.open_wave(project, by=lead, at=AT)
    factories.items(project, 3, prefix="late")
    with pytest.raises(
        releasing.TooFewFresh, match=r"Only 3 fresh items are left and this wave needs 10: import 7 more"
    ):
        releasing.open_wave(project, by=lead, at=AT, size=10)


@pytest.mark.parametrize("choice", [{"share_percent": Decimal(101)}, {"ratings_per_item": 1}, {"size": 0}])
def test_a_choice_out_of_range_is_refused(project, lead, choice):
    factories.items(project, 5)

    with pytest.raises(Invalid, match="expected"):
        releasing.open_wave(project, by=lead, at=AT, **choice)
    assert not Wave.objects.exists()


def test_without_a_published_guideline_no_wave_opens(project):
    lead = factories.member(project, "lea", "lead")
    factories.items(project, 5)

    with pytest.raises(DomainError, match="no published guideline"):
        releasing.open_wave(project, by=lead, at=AT)


def test_the_ledger_counts_every_item_once_with_its_first_reason(project, version, lead, anna):
    twins = factories.items(project, 2, prefix="first")
    Item.objects.filter(pk=twins[1].pk).update(folded_hash=twins[0].folded_hash)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna]).finish()
    shown, old = factories.items(project, 2, prefix="second")
    project.versions.get().examples.create(
        question_key="intent", content=shown.content, value="praise", content_hash="", folded_hash=shown.folded_hash
    )
    Item.objects.filter(pk=old.pk).update(standing="superseded")
    factories.items(project, 4, prefix="third")

    ledger = eligibility.ledger(project)

    assert (ledger.fresh, ledger.total) == (4, 8)
    assert {reason: n for reason, n in ledger.counts.items() if n} == {
        "superseded": 1,
        "rated": 1,
        "example": 1,
        "same_content": 1,
    }
    assert list(eligibility.not_eligible(project, "example")) == [shown]


def test_items_of_the_same_content_are_in_a_wave_once(project, lead):
    items = factories.items(project, 6)
    Item.objects.filter(pk__in=[items[1].pk, items[2].pk]).update(folded_hash=items[0].folded_hash)

    wave = releasing.open_wave(project, by=lead, at=AT)

    assert wave.size == 4
    assert eligibility.ledger(project).counts["same_content"] == 2
    assert {(item.pk, item.same_as) for item in eligibility.not_eligible(project, "same_content")} == {
        (items[1].pk, items[0].uuid),
        (items[2].pk, items[0].uuid),
    }
    assert {item.same_as for item in eligibility.not_eligible(project, "open_wave")} == {None}


def test_a_skipped_and_never_rated_item_is_fresh_again(project, lead, anna):
    wave = opened(project, lead, 1, share_percent=Decimal(0))
    labelling.skip(anna, serving.next_task(anna, at=AT).assignment, reason="other", at=AT)

    draws.close_wave(wave, by=lead, at=AT, reason="nobody else is here")

    assert eligibility.ledger(project).fresh == 1


def test_close_due_waits_for_the_windows(project, lead, anna, ben):
    wave = opened(project, lead, 4, share_percent=Decimal(100))
    team = Team([anna, ben])
    team.work()

    assert draws.close_due(at=team.at + timedelta(minutes=5)) == []
    closed = draws.close_due(at=team.at + timedelta(minutes=31))

    assert [(draw.pk, draw.closing) for draw in closed] == [(wave.draw.pk, "complete")]


def test_closing_short_is_refused_while_somebody_can_still_rate(project, lead, anna, ben):
    wave = opened(project, lead, 4, share_percent=Decimal(100))
    Team([anna]).work()

    with pytest.raises(DomainError, match="ben"):
        draws.close(wave.draw, closing="short", by=lead, at=AT + timedelta(hours=1))


def test_closing_short_where_nobody_can_and_early_with_a_reason(project, lead, anna):
    wave = opened(project, lead, 4, share_percent=Decimal(100))
    team = Team([anna])
    team.work()

    short = draws.close(wave.draw, closing="short", by=lead, at=team.at)

    assert (short.closing, short.closed_by) == ("short", lead)
    assert not Slot.objects.unrated().filter(draw=short).exists()
    other = opened(project, lead, 4, share_percent=Decimal(100))
    with pytest.raises(Invalid, match="reason"):
        draws.close(other.draw, closing="early", reason=" ", by=lead, at=team.at)
    assert draws.close(other.draw, closing="early", reason="deadline", by=lead, at=team.at).reason == "deadline"
    with pytest.raises(DomainError, match="already closed"):
        draws.close(other.draw, closing="early", reason="again", by=lead, at=team.at)


def test_a_wave_waits_for_the_gate_before_it_and_is_released_by_it(project, lead, anna):
    project.protocol["questions"] = {"intent": {"threshold": 0.7, "threshold_on": "low"}}
    project.save()
    first = opened(project, lead, 5, share_percent=Decimal(100))
    second = opened(project, lead, 5, share_percent=Decimal(100))
    third = opened(project, lead, 5, share_percent=Decimal(100), ratings_per_item=3)
    assert (first.held, second.held, third.held) == (False, True, False)

    draws.release(first, by=lead)

    second.refresh_from_db()
    assert not second.held


def test_surplus_and_singles_are_not_measured(project, lead, anna, ben):
    opened(project, lead, 20, share_percent=Decimal(10))
    Team([anna, ben]).finish()

    assert Annotation.objects.filter(draw__isnull=False).count() == 4
    assert Annotation.objects.count() == 22


def test_a_lead_who_annotates_sees_figures_only_after_giving_up(project, lead, anna):
    both = factories.member(project, "bo", "lead", "annotator")
    wave = opened(project, lead, 10)
    assert draws.may_see_figures(wave.draw, lead)
    assert not draws.may_see_figures(wave.draw, both)

    draws.give_up(wave.draw, by=both, at=AT)

    assert draws.may_see_figures(wave.draw, both)


# -- a wave that is still being opened ---------------------------------------------------------------------------------


def planned(project, lead, count=1200, **choices) -> Wave:
    factories.items(project, count, prefix=f"n{Item.objects.count()}")
    return releasing.plan_wave(project, by=lead, at=AT, **choices)


class Stop(Exception):
    """The worker is killed here."""


def filled_in_part(wave: Wave) -> None:
    """One chunk of the slots is made, then the worker is killed."""
    rounds = iter([None, Stop()])

    def beat(done: int) -> None:
        if error := next(rounds):
            raise error

    with pytest.raises(Stop):
        releasing.fill_wave(wave, beat=beat)


def test_a_filling_that_was_cut_off_goes_on_and_every_slot_is_there_once(project, lead):
    wave = planned(project, lead, share_percent=Decimal(10))
    filled_in_part(wave)
    assert Wave.objects.get().state == "opening"

    releasing.fill_wave(wave)
    releasing.fill_wave(wave)

    assert (wave.state, wave.overlap_left, wave.single_left) == ("open", 240, 1080)
    assert Slot.objects.count() == 240 + 1080


def test_a_wave_that_is_ended_while_it_is_filled_leaves_no_slot_behind(project, lead):
    wave = planned(project, lead, share_percent=Decimal(10))
    filled_in_part(wave)

    draws.close_wave(wave, by=lead, at=AT, reason="the wrong file")
    releasing.fill_wave(wave)

    assert (wave.state, Slot.objects.unrated().count(), wave.overlap_left) == ("closed", 0, 0)
    assert eligibility.ledger(project).fresh == 1200


def test_a_draw_is_not_closed_while_its_wave_is_filled(project, lead):
    wave = planned(project, lead)

    with pytest.raises(DomainError, match="still being opened"):
        draws.close(wave.draw, closing="early", reason="changed my mind", by=lead, at=AT)
    releasing.fill_wave(wave)

    assert (wave.state, Draw.objects.get().state) == ("open", "open")


# -- gates and shares --------------------------------------------------------------------------------------------------


def test_a_gate_lets_go_what_waits_for_it_and_not_what_waits_for_the_next_one(project, lead):
    project.protocol["questions"] = {"intent": {"threshold": 0.7, "threshold_on": "low"}}
    project.save()
    waves = [opened(project, lead, 5, share_percent=Decimal(share)) for share in (100, 0, 100, 100, 0)]
    assert [wave.held for wave in waves] == [False, True, True, True, True]

    draws.release(waves[0], by=lead)
    held = list(project.waves.values_list("held", flat=True))
    draws.release(waves[2], by=lead)

    assert held == [False, False, False, True, True]
    assert list(project.waves.values_list("held", flat=True)) == [False, False, False, False, True]


@pytest.mark.parametrize("share", ["NaN", "Infinity", "33.3333", "-0.001", "100.001"])
def test_a_share_that_is_none_or_cannot_be_kept_is_refused(project, lead, share):
    factories.items(project, 5)

    with pytest.raises(Invalid, match="expected 0 to 100"):
        releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share))


def test_a_draw_that_is_all_rated_can_be_completed_by_hand_and_not_closed_short(project, lead, anna, ben):
    wave = opened(project, lead, 4, share_percent=Decimal(100))
    with pytest.raises(DomainError, match="still missing"):
        draws.close(wave.draw, closing="complete", by=lead, at=AT)
    team = Team([anna, ben])
    team.work()
    with pytest.raises(DomainError, match="Every measured rating is given"):
        draws.close(wave.draw, closing="short", by=lead, at=team.at)

    closed = draws.close(wave.draw, closing="complete", by=lead, at=team.at)

    assert (closed.closing, closed.closed_by, closed.reason) == ("complete", lead, "")
    assert not Annotation.objects.filter(window_ends__gt=team.at).exists()


def test_ending_a_wave_whose_draw_is_all_rated_completes_the_draw(project, lead, anna, ben):
    wave = opened(project, lead, 20, share_percent=Decimal(20))
    team = Team([anna, ben])
    while not draws.all_rated(wave.draw):
        assert team.work(turns=1)

    draws.close_wave(wave, by=lead, at=team.at, reason="")

    wave.draw.refresh_from_db()
    assert (wave.state, wave.draw.closing) == ("closed", "complete")
