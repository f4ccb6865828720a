"""Repeats: DESIGN §3 "Bridge and repeat", §2.4 and §2.5."""

import random
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotations import draws, gold, labelling, publishing, releasing, repeats, samples, serving
from annotations.enums import SlotState, WaveState
from annotations.models import Annotation, Assignment, Repeat, Slot, Wave, WaveItem
from annotations.repeats import Choices
from projects import guidelines
from projects.errors import DomainError, Invalid, NotAllowed
from tests import factories
from tests.annotations.team import Team, says

AT = factories.NOW
NOW_OR_LATER = Choices(each=3, items_between=1, days_between=0)


def rated(project, lead, *members, count=8, share=0):
    """A wave that is labelled and closed."""
    factories.items(project, count, prefix="old")
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share))
    team = Team(members)
    team.finish()
    draws.finish_waves(at=team.at)
    for member in members:
        member.refresh_from_db()
    return wave, team.at


def next_wave(project, lead, at, count=30, share=0):
    factories.items(project, count, prefix="new")
    return releasing.open_wave(project, by=lead, at=at, share_percent=Decimal(share))


def test_each_gets_their_own_ratings_again_and_nobody_elses(project, lead, anna, ben):
    _wave, at = rated(project, lead, anna, ben, count=12)
    sample = repeats.open_repeat(project, NOW_OR_LATER, by=lead, at=at)
    next_wave(project, lead, at)

    Team([anna, ben], at=at + timedelta(days=1)).work()

    again = [(r.member, r.slot.annotation.member, r.first.member) for r in repeats.given(sample)]
    assert len(again) == 6
    assert all(a == b == c for a, b, c in again)
    assert {a for a, _b, _c in again} == {anna, ben}
    sample.refresh_from_db()
    draws.finish_waves(at=at)
    assert (sample.single_left, Wave.samples.get().state) == (0, WaveState.CLOSED)


def test_repeats_come_in_among_the_other_work(project, lead, anna):
    _wave, at = rated(project, lead, anna, count=20)
    repeats.open_repeat(project, Choices(10, 1, 0), by=lead, at=at)
    next_wave(project, lead, at, count=30)
    team = Team([anna], at=at + timedelta(days=1))

    team.work()

    kinds = [assignment.slot.kind for _member, assignment in team.served]
    places = [place for place, kind in enumerate(kinds) if kind == "repeat"]
    assert (len(kinds), len(places)) == (40, 10)
    assert places[0] < 20 < places[-1]


def test_without_other_work_no_repeat_is_served(project, lead, anna):
    _wave, at = rated(project, lead, anna)
    repeats.open_repeat(project, NOW_OR_LATER, by=lead, at=at)

    assert serving.next_task(anna, at=at + timedelta(days=1)).code == "no_wave"


@pytest.mark.parametrize(("choices", "turns"), [(Choices(3, 12, 0), 4), (Choices(3, 0, 2), 9)])
def test_none_comes_before_its_items_and_days(project, lead, anna, choices, turns):
    _wave, at = rated(project, lead, anna)  # 8 submits, at AT
    repeats.open_repeat(project, choices, by=lead, at=at)
    next_wave(project, lead, at)
    team = Team([anna], at=at)

    team.work(turns)

    early = [(a.item_id, Repeat.objects.get(slot=a.slot)) for _m, a in team.served if a.slot.kind == "repeat"]
    for item, repeat in early:
        first = Annotation.objects.get(item=item, seq__lte=8)
        mine = Annotation.objects.get(slot=repeat.slot)
        assert mine.seq > first.seq + choices.items_between
        assert mine.submitted_at >= first.submitted_at + timedelta(days=choices.days_between)
    if choices.days_between:
        assert early == []
    team.at = at + timedelta(days=5)
    team.work()
    assert Annotation.objects.filter(slot__kind="repeat").count() == 3


def test_the_page_of_a_repeat_has_the_terms_and_counts_of_the_other_items(project, lead, anna):
    _wave, at = rated(project, lead, anna)
    repeats.open_repeat(project, Choices(8, 1, 0), by=lead, at=at)
    project.protocol["window_submits"] = 77
    project.save()
    next_wave(project, lead, at)
    at += timedelta(days=1)
    seen = {}
    for _turn in range(20):
        task = serving.next_task(anna, at=at, rng=random.Random(_turn))
        kind = Slot.objects.get(assignments__uuid=task.assignment).kind
        again = serving.next_task(anna, at=at)  # held: the same page once more
        seen.setdefault(kind, set()).add((task.window_submits, task.window_minutes, again.window_submits))
        labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=at)

    assert seen["repeat"] == seen["single"] == {(77, task.window_minutes, 77)}


def test_gold_and_measurement_do_not_move(project, lead, anna, ben):
    wave, at = rated(project, lead, anna, ben, count=6, share=100)
    before = [one.row() for one in gold.of_project(project)]
    measured = list(Annotation.objects.filter(draw=wave.draw).values_list("pk", "answers").order_by("pk"))
    repeats.open_repeat(project, Choices(6, 1, 0), by=lead, at=at)
    next_wave(project, lead, at, count=10)

    Team([anna, ben], says("question"), at=at + timedelta(days=1)).work()

    assert Annotation.objects.filter(slot__kind="repeat").count() == 12
    assert [one.row() for one in gold.of_project(project)][:6] == before
    assert list(Annotation.objects.filter(draw=wave.draw).values_list("pk", "answers").order_by("pk")) == measured


def test_rounds_go_on_counting(project, lead, anna):
    _wave, at = rated(project, lead, anna, count=4)
    for day in (1, 3):
        repeats.open_repeat(project, Choices(9, 1, 0), by=lead, at=at)
        factories.items(project, 5, prefix=f"more {day}")
        releasing.open_wave(project, by=lead, at=at, share_percent=Decimal(0))
        Team([anna], at=at + timedelta(days=day)).work()
        draws.finish_waves(at=at)

    old = Assignment.objects.filter(item__external_id="old-0", member=anna).order_by("round")
    assert [row.round for row in old] == list(range(len(old)))
    assert Repeat.objects.filter(round=2).exists()


def test_a_skipped_repeat_goes_to_nobody_and_is_counted(project, lead, anna, ben):
    _wave, at = rated(project, lead, anna, count=4)
    sample = repeats.open_repeat(project, Choices(1, 1, 0), by=lead, at=at)
    next_wave(project, lead, at, count=6)
    at += timedelta(days=1)
    for turn in range(20):
        task = serving.next_task(anna, at=at, rng=random.Random(turn))
        if isinstance(task, serving.Nothing):
            break
        if Slot.objects.get(assignments__uuid=task.assignment).kind == "repeat":
            labelling.skip(anna, task.assignment, reason="other", at=at)
        else:
            labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=at)

    (one,) = repeats.standings(sample)
    assert (one.drawn, one.given, one.skipped) == (1, 0, 1)
    assert Slot.objects.get(wave=sample).state == SlotState.CANCELLED
    assert isinstance(serving.next_task(ben, at=at), serving.Nothing)


def test_a_new_major_ends_a_repeat_and_what_comes_late_is_no_repeat(project, version, lead, anna):
    _wave, at = rated(project, lead, anna, count=4)
    sample = repeats.open_repeat(project, Choices(4, 1, 0), by=lead, at=at)
    next_wave(project, lead, at, count=1)
    at += timedelta(days=1)
    while True:
        task = serving.next_task(anna, at=at)
        if Slot.objects.get(assignments__uuid=task.assignment).kind == "repeat":
            break
        labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=at)

    draft = guidelines.draft_of(project, by=lead)
    guidelines.save_text(draft, text="# Other rules", revision=draft.revision, by=lead)
    publishing.publish(draft, change="material", reason="New.", by=lead, at=at)
    labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=at)

    sample.refresh_from_db()
    assert sample.state == WaveState.CLOSED
    assert list(repeats.given(sample)) == []
    assert Annotation.objects.get(assignment__uuid=task.assignment).slot is None


def test_the_record_gives_the_same_sample_and_shows_a_change(project, lead, anna, ben):
    _wave, at = rated(project, lead, anna, ben, count=12)
    sample = repeats.open_repeat(project, Choices(2, 0, 1), by=lead, at=at)

    assert samples.verify(sample).same
    assert sorted(one.drawn for one in repeats.standings(sample)) == [2, 2]
    repeat = Repeat.objects.first()
    other = repeats.eligible(project, 1).filter(member=repeat.member).first()
    Repeat.objects.filter(pk=repeat.pk).update(first=other)
    assert not samples.verify(sample).same


def test_the_publish_page_says_that_a_repeat_ends(project, lead, anna, client_of):
    _wave, at = rated(project, lead, anna, count=4)
    repeats.open_repeat(project, NOW_OR_LATER, by=lead, at=at)
    draft = guidelines.draft_of(project, by=lead)
    guidelines.save_text(draft, text="# Other rules", revision=draft.revision, by=lead)

    page = client_of(lead).get(f"/p/{project.uuid}/guideline/draft/publish/").content.decode()

    assert "Repeat 1 ends with what is given." in page
    assert "Wave 1 closes" not in page


@pytest.mark.parametrize(
    ("choices", "word"),
    [(Choices(0, 1, 0), "expected 1 to"), (Choices(2, -1, 1), "expected 0 to"), (Choices(2, 0, 0), "from memory")],
)
def test_choices_that_make_no_sense_are_refused(project, lead, anna, choices, word):
    rated(project, lead, anna)

    with pytest.raises(Invalid, match=word):
        repeats.open_repeat(project, choices, by=lead, at=AT)


def test_nothing_rated_is_refused_in_words(project, version, lead):
    with pytest.raises(DomainError, match="needs ratings first"):
        repeats.open_repeat(project, NOW_OR_LATER, by=lead, at=AT)


def test_who_does_not_run_waves_opens_none(project, lead, anna):
    rated(project, lead, anna)

    with pytest.raises(NotAllowed):
        repeats.open_repeat(project, NOW_OR_LATER, by=anna, at=AT)


def test_ending_asks_for_nothing_more_and_keeps_what_was_given(project, lead, anna):
    _wave, at = rated(project, lead, anna)
    sample = repeats.open_repeat(project, Choices(8, 1, 0), by=lead, at=at)
    next_wave(project, lead, at, count=4)
    team = Team([anna], at=at + timedelta(days=1))
    while not repeats.given(sample):
        team.turn(anna)

    samples.end(sample, by=lead, at=team.at)

    kept = len(repeats.given(sample))
    team.work()
    assert len(repeats.given(sample)) == kept
    assert not Slot.objects.unrated().filter(wave=sample).exists()
    with pytest.raises(DomainError, match="ended already"):
        samples.end(Wave.samples.get(), by=lead, at=team.at)


def test_waves_keep_their_own_numbers(project, lead, anna):
    _wave, at = rated(project, lead, anna)
    sample = repeats.open_repeat(project, NOW_OR_LATER, by=lead, at=at)

    second = next_wave(project, lead, at)

    assert (str(sample), second.number, list(project.waves.values_list("number", flat=True))) == ("repeat 1", 2, [1, 2])
    assert WaveItem.objects.filter(wave=sample).count() == 3
    assert timezone.is_aware(sample.opened_at)
