"""Spot checks: DESIGN §3 "Spot check" and §5 "Gold"."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.http import Http404

from agreement import check_figures
from agreement.coefficients.intervals import wilson
from annotations import draws, gold, labelling, publishing, releasing, samples, serving, spot_checks
from annotations.enums import WaveState
from annotations.models import Annotation, Revision, Seat, Slot, Wave
from projects import guidelines
from projects.errors import DomainError, Invalid, NotAllowed
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
LATER = AT + timedelta(days=1)
SHARE = Decimal(50)


@pytest.fixture
def wave(project, lead, anna):
    """Ten singles, all said to be a complaint, and nobody can correct them any more."""
    factories.items(project, 10)
    opened = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna]).finish()
    opened.refresh_from_db()
    return opened


def open_check(wave, lead, share=SHARE, at=LATER):
    return samples.of_project(wave.project).get(pk=spot_checks.open_check(wave, share_percent=share, by=lead, at=at).pk)


def check_all(sample, lead, said, at=LATER):
    """The lead checks all that is ready, saying the next of `said` each time."""
    items = []
    for value in said:
        found = spot_checks.next_check(sample, by=lead, at=at)
        spot_checks.check(sample, found.slot.item.uuid, answers={"intent": value}, by=lead, at=at)
        items.append(found.slot.item)
    return items


def test_what_differs_is_corrected_and_the_rate_has_wilsons_interval(wave, lead):
    sample = open_check(wave, lead)

    items = check_all(sample, lead, ["praise", "complaint", "complaint", "praise", "complaint"])

    told = {one.item.pk: (one.status.value, one.value) for one in gold.of_project(wave.project)}
    assert [told[item.pk] for item in items] == [
        ("corrected", "praise"),
        ("single", "complaint"),
        ("single", "complaint"),
        ("corrected", "praise"),
        ("single", "complaint"),
    ]
    assert len([one for one in told.values() if one[0] == "single"]) == 8
    rate = check_figures.of_wave(sample)[0].corrected
    spread = wilson(2, 5)
    assert (rate["found"], rate["n"], rate["value"]) == (2, 5, 0.4)
    assert rate["interval"] == [spread.low, spread.high]
    draws.finish_waves(at=LATER)
    assert Wave.samples.get().state == WaveState.CLOSED


def test_nothing_checked_has_no_rate(wave, lead):
    rate = check_figures.of_wave(open_check(wave, lead))[0].corrected

    assert (rate["undefined"], "value" in rate) == ("no_items", False)


def test_nothing_of_it_is_measured_and_no_count_of_the_lead_moves(wave, lead):
    sample = open_check(wave, lead)
    check_all(sample, lead, ["praise"] * 5)

    lead.refresh_from_db()
    rows = Annotation.objects.filter(wave_item__wave=sample)
    assert list(rows.values_list("draw", "seq").distinct()) == [(None, None)]
    assert lead.submits == 0
    assert not Revision.objects.filter(annotation__in=rows, in_window=True).exists()


def test_only_singles_are_drawn_and_each_once(project, lead, anna, ben):
    factories.items(project, 20)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=SHARE)
    Team([anna, ben]).finish()
    first, second = open_check(wave, lead), open_check(wave, lead)

    drawn = [set(one.wave_items.values_list("item", flat=True)) for one in (first, second)]
    singles = set(wave.wave_items.filter(draw__isnull=True).values_list("item", flat=True))
    assert (len(singles), [len(one) for one in drawn]) == (10, [5, 3])
    assert drawn[0] | drawn[1] <= singles
    assert not drawn[0] & drawn[1]
    assert samples.verify(first).same


def test_a_label_is_ready_when_it_is_given_and_can_no_longer_be_corrected(project, lead, anna):
    factories.items(project, 4)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    sample = open_check(wave, lead, Decimal(100), at=AT)
    before = spot_checks.next_check(sample, by=lead, at=AT)
    team = Team([anna])
    team.turn(anna)

    within = spot_checks.next_check(sample, by=lead, at=team.at)
    afterwards = spot_checks.next_check(sample, by=lead, at=team.at + timedelta(hours=1))

    assert (before, within) == (None, None)
    assert afterwards.slot.item == Annotation.objects.get().item
    assert afterwards.left == 1


def test_no_annotator_is_served_a_check(wave, lead, anna, ben):
    open_check(wave, lead)

    assert [serving.next_task(member, at=LATER).code for member in (anna, ben)] == ["no_wave", "no_wave"]


def test_two_leads_never_have_the_same_label(wave, lead):
    other = factories.member(wave.project, "lou", "lead")
    sample = open_check(wave, lead)

    mine = spot_checks.next_check(sample, by=lead, at=LATER)
    theirs = spot_checks.next_check(sample, by=other, at=LATER)
    again = spot_checks.next_check(sample, by=lead, at=LATER)

    assert mine.slot.item == again.slot.item != theirs.slot.item
    with pytest.raises(DomainError, match="Somebody else"):
        spot_checks.check(sample, mine.slot.item.uuid, answers={"intent": "praise"}, by=other, at=LATER)
    late = LATER + timedelta(minutes=sample.lease_minutes + 1)
    saved = spot_checks.check(sample, mine.slot.item.uuid, answers={"intent": "praise"}, by=other, at=late)
    assert saved.member == other


def test_the_same_answer_sent_twice_is_one_check(wave, lead):
    sample = open_check(wave, lead)
    (item,) = check_all(sample, lead, ["praise"])

    again = spot_checks.check(sample, item.uuid, answers={"intent": "praise"}, by=lead, at=LATER)

    assert Annotation.objects.filter(wave_item__wave=sample).get() == again


def test_who_labelled_in_the_wave_checks_nothing_of_it(wave, lead):
    both = factories.member(wave.project, "bo", "lead", "annotator")
    factories.items(wave.project, 3, prefix="second")
    second = releasing.open_wave(wave.project, by=lead, at=AT, share_percent=Decimal(0))
    Team([both]).finish()
    sample = open_check(second, lead, Decimal(100))

    with pytest.raises(DomainError, match="You have labelled in wave 2 yourself"):
        spot_checks.next_check(sample, by=both, at=LATER)
    assert spot_checks.refusal(open_check(wave, lead), both) == ""


def test_a_lead_who_annotates_gets_no_overlap_of_a_wave_that_they_check(project, lead, anna):
    both = factories.member(project, "bo", "lead", "annotator")
    factories.items(project, 20)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=SHARE)
    sample = open_check(wave, lead, Decimal(100), at=AT)

    spot_checks.next_check(sample, by=both, at=AT)
    team = Team([both], at=LATER)
    team.work(3)

    assert Seat.objects.get(member=both, wave=wave).gave_up_at == AT
    assert {assignment.slot.kind for _member, assignment in team.served} <= {"single"}


def test_an_admin_opens_one_and_does_not_check(wave, admin):
    sample = open_check(wave, admin)

    assert spot_checks.refusal(sample, admin) == "A lead checks these labels."


def test_who_does_not_run_waves_opens_none(wave, anna):
    with pytest.raises(NotAllowed):
        spot_checks.open_check(wave, share_percent=SHARE, by=anna, at=LATER)


@pytest.mark.parametrize("share", ["0", "-1", "100.5", "NaN"])
def test_a_share_out_of_range_is_refused(wave, lead, share):
    with pytest.raises(Invalid, match="more than 0"):
        spot_checks.open_check(wave, share_percent=Decimal(share), by=lead, at=LATER)


def test_a_share_of_nothing_says_what_to_do(wave, lead):
    with pytest.raises(DomainError, match="comes to none: take a larger share"):
        spot_checks.open_check(wave, share_percent=Decimal(1), by=lead, at=LATER)


def test_letting_the_first_label_stand_takes_the_correction_back_on_record(wave, lead):
    sample = open_check(wave, lead)
    (item,) = check_all(sample, lead, ["praise"])

    spot_checks.let_stand(sample, item.uuid, by=lead, at=LATER)

    row = Annotation.objects.get(wave_item__wave=sample)
    assert list(row.revisions.values_list("answers", flat=True)) == [{"intent": "praise"}, {"intent": "complaint"}]
    assert check_figures.of_wave(sample)[0].corrected["found"] == 0
    assert {one.status.value for one in gold.of_project(wave.project)} == {"single"}


def test_a_check_of_another_lead_is_not_taken_back(wave, lead):
    other = factories.member(wave.project, "lou", "lead")
    sample = open_check(wave, lead)
    (item,) = check_all(sample, lead, ["praise"])

    with pytest.raises(Http404):
        spot_checks.let_stand(sample, item.uuid, by=other, at=LATER)


def test_what_the_annotator_corrects_afterwards_moves_no_rate(wave, lead, anna):
    sample = open_check(wave, lead)
    (item,) = check_all(sample, lead, ["praise"])
    mine = Annotation.objects.get(item=item, member=anna)

    labelling.correct(anna, mine.uuid, answers={"intent": "praise"}, at=LATER + timedelta(hours=1))

    assert check_figures.of_wave(sample)[0].corrected["found"] == 1
    assert gold.of_item(item)[0].value == "praise"


def test_a_new_major_ends_it(wave, lead):
    sample = open_check(wave, lead)
    draft = guidelines.draft_of(wave.project, by=lead)
    guidelines.save_text(draft, text="# Other rules", revision=draft.revision, by=lead)
    publishing.publish(draft, change="material", reason="New.", by=lead, at=LATER)
    sample.refresh_from_db()

    with pytest.raises(DomainError, match="has ended"):
        spot_checks.next_check(sample, by=lead, at=LATER)
    with pytest.raises(DomainError, match="has replaced the one"):
        spot_checks.open_check(wave, share_percent=SHARE, by=lead, at=LATER)
    assert not Slot.objects.unrated().filter(wave=sample).exists()
