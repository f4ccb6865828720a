"""Panels: items split at random among groups of people, a wave for each, with one total and one proof (DESIGN §3)."""

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agreement import figures, gates
from annotations import draws, exporting, giving, opening, panels, releasing, sampling, serving, verifying
from annotations.models import Annotation, Draw, Given, Panel, Split, Wave, WaveItem
from annotations.panels import Declared
from projects import jobs
from projects.errors import DomainError, Invalid
from projects.models import Job, Membership, Project
from tests import factories
from tests.annotations import thirds
from tests.annotations.team import Team

AT = factories.NOW


@pytest.fixture
def team(project: Project, version: object) -> list[Membership]:
    return [factories.member(project, name) for name in ("anna", "ben", "carl", "dora", "emil")]


def opened(project, lead, *groups, count=40, weights=(1, 1, 1), **choices) -> list[Wave]:
    factories.items(project, count, prefix=f"p{project.items.count()}")
    declared = [Declared(group, weight) for group, weight in zip(groups, weights, strict=False)]
    choices = {"share_percent": Decimal(20), "size": None} | choices
    return panels.open_waves(project, declared, by=lead, at=AT, **choices)


def close(wave: Wave, lead: Membership) -> Draw:
    draws.close_wave(wave, by=lead, at=AT, reason="to look at it")
    return Draw.objects.get(wave=wave)


# -- what is opened ----------------------------------------------------------------------------------------------------


def test_each_panel_gets_a_wave_of_its_own_and_every_item_is_in_one(project, lead, team):
    waves = opened(project, lead, team[:2], team[2:4], pilot=True)

    assert [(wave.number, wave.state, wave.size, wave.is_given, wave.pilot) for wave in waves] == [
        (1, "open", 20, True, True),
        (2, "open", 20, True, True),
    ]
    assert [giving.people(wave) for wave in waves] == [team[:2], team[2:4]]
    assert WaveItem.objects.values("item").distinct().count() == WaveItem.objects.count() == 40


def test_weights_say_how_many_items_and_the_rest_goes_to_the_largest_remainder(project, lead, team):
    waves = opened(project, lead, team[:2], team[2:], count=41, weights=(2, 1))

    assert [wave.size for wave in waves] == [27, 14]
    assert sampling.split_sizes(10, [1, 1, 1]) == [4, 3, 3]
    assert sampling.split_sizes(7, [5, 2]) == [5, 2]


@pytest.mark.parametrize("items", [3, 14, 15, 40, 101])
def test_the_share_comes_to_the_same_total_as_in_one_wave(project, lead, team, items):
    waves = opened(project, lead, team[:2], team[2:], count=items, weights=(3, 2), share_percent=Decimal(10))

    overlap = WaveItem.objects.filter(draw__isnull=False).count()
    assert overlap == sampling.overlap_size(10, items, 0)
    after = releasing.open_wave(
        factories.items(project, 10, prefix="later")[0].project, by=lead, at=AT, share_percent=Decimal(10)
    )
    assert overlap + after.draw.size == sampling.overlap_size(10, items + 10, 0)
    assert sum(wave.draw.size for wave in waves) == overlap


def test_everybody_labels_their_panel_s_items_only_and_no_item_gets_too_many(project, lead, team):
    one, other = opened(project, lead, team[:2], team[2:4])
    everybody = Team(team)
    everybody.finish()

    who = Counter(Annotation.objects.values_list("wave_item__wave__number", "member__alias").distinct())
    assert set(who) == {(1, "anna"), (1, "ben"), (2, "carl"), (2, "dora")}
    assert serving.next_task(team[4], at=everybody.at).code == "no_wave"
    for wave in (one, other):
        wave.draw.refresh_from_db()
        assert wave.draw.closing == "complete"
        assert Annotation.objects.filter(draw=wave.draw).count() == 2 * wave.draw.size
    assert not WaveItem.objects.exclude(rated=2, needed=2).exclude(rated=1, needed=1).exists()


def test_who_is_in_no_panel_reads_what_is_true_of_every_item(project, lead, team):
    opened(project, lead, team[:2], team[2:4])

    found = serving.next_task(team[4], at=AT)

    assert (found.code, found.sentence) == ("given", "The items that are released at the moment are given to others.")


def test_a_panel_is_taken_back_and_its_items_go_to_everybody(project, lead, team):
    one, other = opened(project, lead, team[:2], team[2:4])

    giving.give(one, members=[], by=lead, at=AT + timedelta(minutes=1))

    assert isinstance(serving.next_task(team[4], at=AT + timedelta(minutes=2)), serving.Task)
    assert Annotation.objects.count() == 0
    assert set(Given.objects.filter(taken_back_at__isnull=True).values_list("wave__number", flat=True)) == {2}
    assert Panel.objects.get(wave=one).members == sorted(str(one.uuid) for one in team[:2])  # as declared
    assert giving.people(other) == team[2:4]


def test_without_a_share_a_panel_may_be_one_person_and_nothing_is_measured(project, lead, team):
    waves = opened(project, lead, team[:1], team[1:2], share_percent=Decimal(0))

    assert not Draw.objects.exists()
    assert all(panels.verify(wave.panel).same for wave in waves)


# -- what is refused ---------------------------------------------------------------------------------------------------


def refusal(project, lead, *groups, **choices) -> str:
    with pytest.raises(Invalid) as refused:
        opened(project, lead, *groups, **choices)
    assert not Wave.objects.exists()
    assert not Split.objects.exists()
    assert not Given.objects.exists()
    return refused.value.message


def test_a_panel_too_small_for_the_ratings_is_named_with_its_numbers(project, lead, team):
    said = refusal(project, lead, team[:3], team[3:], ratings_per_item=3)

    assert said == "Panel B has 2 people, and every overlap item needs 3: put others into it."


def test_panels_that_are_none_are_refused(project, lead, team):
    assert refusal(project, lead, team).startswith("1 panel is declared: expected 2 to 8, or none for everybody.")
    assert refusal(project, lead, team[:2], [team[1], team[2]]) == ("ben is named twice: one person is in one panel.")
    assert refusal(project, lead, team[:2], [lead, team[2]]) == "lea does not label in this project."
    assert refusal(project, lead, team[:2], team[2:], weights=(1, 0)) == ("Panel B has weight 0: expected 1 to 1000.")
    assert refusal(project, lead, team[:2], team[2:], size=1).startswith("1 item for 2 panels")


def test_an_expert_beside_panels_is_refused_with_the_reason(project, lead, team):
    said = refusal(project, lead, team[:2], team[2:], expert=str(team[0].uuid))

    assert said.startswith("An expert is compared with those who rate the same items")


def test_too_few_fresh_items_leave_nothing_behind(project, lead, team):
    factories.items(project, 4)
    with pytest.raises(releasing.TooFewFresh):
        panels.open_waves(project, [Declared(team[:2]), Declared(team[2:])], by=lead, at=AT, size=9)

    assert not Wave.objects.exists()


# -- the proof ---------------------------------------------------------------------------------------------------------


def test_a_panel_s_draw_replays_with_the_split_that_gave_it_its_items(project, lead, team):
    one, _other = opened(project, lead, team[:2], team[2:])

    verdict = verifying.verify(close(one, lead))

    assert (verdict.same, verdict.sentence) == (
        True,
        "Same set: 4 of 20 items. The split into 2 panels replays, too: 20 of 40 items.",
    )


def test_an_item_moved_between_panels_is_named(project, lead, team):
    one, other = opened(project, lead, team[:2], team[2:])
    mine, theirs = (wave.wave_items.filter(draw__isnull=True).order_by("pk").first() for wave in (one, other))
    panel = Panel.objects.get(wave=one)

    WaveItem.objects.filter(pk=mine.pk).update(item=theirs.item)

    proof = panels.verify(panel)
    assert not proof.same
    assert str(mine.item.uuid) in proof.sentence or str(theirs.item.uuid) in proof.sentence


def test_another_seed_or_another_weight_does_not_match_the_commitment(project, lead, team):
    one, _other = opened(project, lead, team[:2], team[2:])
    panel = Panel.objects.get(wave=one)
    Panel.objects.filter(pk=panel.pk).update(weight=7)

    assert panels.verify(panel).sentence == (
        "The split into panels: the commitment does not match seed, weights and items."
    )


def test_the_split_is_independent_of_the_overlap_and_the_same_in_any_order(project, lead, team):
    opened(project, lead, team[:2], team[2:])
    split = Split.objects.get()
    population = sampling.unpack_population(bytes(split.population))

    parts = sampling.split(population, bytes(split.seed), [1, 1])

    assert parts == sampling.split(reversed(population), bytes(split.seed), [1, 1])
    assert [one.uuid for one in parts[0]] != sorted(
        (one.uuid for one in parts[0]), key=lambda uuid: sampling.rank(bytes(split.seed), uuid)
    )


def test_the_exported_draws_replay_the_split_where_all_panels_are_closed(project, lead, team, tmp_path):
    one, other = opened(project, lead, team[:2], team[2:])

    def exported() -> str:
        job = jobs.work_now(exporting.start(project, what="draws", file_format="csv", by=lead))
        with exporting.download(Job.objects.get(pk=job.pk), lead) as file:
            return file.read().decode()

    def said(text: str) -> tuple[list[str], int]:
        path, out = tmp_path / "draws.jsonl", StringIO()
        path.write_text(text)
        try:
            call_command("verify_draw", str(path), stdout=out)
        except CommandError as error:
            return [*out.getvalue().splitlines(), str(error)], error.returncode
        return out.getvalue().splitlines(), 0

    close(one, lead)
    half = exported()
    assert bytes(Split.objects.get().seed).hex() in half  # says nothing of the other panel's overlap
    assert said(half)[0][-1] == (
        "The split into panels is not proved: the draws of 20 of its 40 items are in this file."
    )
    close(other, lead)
    whole = exported()
    assert said(whole) == (
        [
            "Wave 1: Same set: 4 of 20 items.",
            "Wave 2: Same set: 4 of 20 items.",
            "The split into 2 panels replays, too: 40 of 40 items.",
        ],
        0,
    )
    lines = [json.loads(line) for line in whole.splitlines()]
    for line in lines:
        if line["record"] == "draw":
            line["panel"]["number"] = 3 - line["panel"]["number"]
    assert said("\n".join(json.dumps(line) for line in lines) + "\n")[1] == 1
    lines[0]["panel"]["number"] = 9
    assert said("\n".join(json.dumps(line) for line in lines) + "\n")[1] == 2


# -- many items, gates, figures ----------------------------------------------------------------------------------------


def test_many_items_are_split_by_the_first_job_and_filled_by_one_for_each_panel(project, lead, team, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 30)

    waves = opening.open_panels(
        project, [Declared(team[:2]), Declared(team[2:])], by=lead, at=AT, size=None, share_percent=Decimal(20)
    )

    assert [wave.state for wave in waves] == ["opening", "opening"]
    for _run in range(2):
        jobs.run_waiting()
        for wave in waves:
            wave.refresh_from_db()
    assert [(wave.state, wave.size) for wave in waves] == [("open", 15), ("open", 15)]
    assert Job.objects.filter(state="done").count() == 2


def test_panels_that_can_no_longer_be_drawn_are_called_off_together(project, lead, team, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    rows = factories.items(project, 30)
    waves = opening.open_panels(
        project, [Declared(team[:2]), Declared(team[2:])], by=lead, at=AT, size=25, share_percent=Decimal(20)
    )
    type(rows[0]).objects.filter(pk__in=[row.pk for row in rows[:10]]).update(standing="superseded")

    for _run in range(2):
        jobs.run_waiting()

    assert {wave.state for wave in Wave.objects.filter(pk__in=[wave.pk for wave in waves])} == {"closed"}
    assert "this wave needs 25" in Job.objects.order_by("pk").first().message


def gated(project: Project) -> None:
    project.protocol |= {"questions": {"intent": {"threshold": 0.7}}}
    project.save()


def test_the_next_wave_waits_for_the_gates_of_all_panels(project, lead, team):
    gated(project)
    one, other = opened(project, lead, team[:2], team[2:])
    assert (one.held, other.held) == (False, False)
    factories.items(project, 10, prefix="next")
    following = releasing.open_wave(project, by=lead, at=AT)
    assert following.held

    draws.release(one)
    following.refresh_from_db()
    assert following.held
    assert gates.holds_a_wave(other.draw)
    draws.release(other)
    following.refresh_from_db()
    assert not following.held


def test_panels_behind_one_gate_are_let_go_together(project, lead, team):
    gated(project)
    factories.items(project, 10, prefix="first")
    first = releasing.open_wave(project, by=lead, at=AT)
    one, other = opened(project, lead, team[:2], team[2:])
    assert (one.held, other.held) == (True, True)

    draws.release(first)

    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.held, other.held) == (False, False)


def test_closed_draws_of_panels_have_the_same_terms_so_that_they_pool(project, lead, team):
    one, other = (close(wave, lead) for wave in opened(project, lead, team[:2], team[2:]))

    assert figures.terms(one) == figures.terms(other)


def test_nothing_is_drawn_twice(project, lead, team):
    one, _other = opened(project, lead, team[:2], team[2:])
    before = sorted(WaveItem.objects.values_list("wave", "item", "draw"))

    panels.draw(Split.objects.get(), dict(one.draw.protocol), size=None)

    assert sorted(WaveItem.objects.values_list("wave", "item", "draw")) == before
    with pytest.raises(DomainError, match="This wave is open already"):
        opening.resume(one, by=lead, at=AT)


def test_panels_of_which_one_is_ended_before_the_draw_are_called_off_with_the_reason(project, lead, team, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 30)
    one, other = opening.open_panels(
        project, [Declared(team[:2]), Declared(team[2:])], by=lead, at=AT, size=None, share_percent=Decimal(20)
    )
    draws.close_wave(one, by=lead, at=AT, reason="a mistake")

    for _run in range(2):
        jobs.run_waiting()

    other.refresh_from_db()
    assert (other.state, WaveItem.objects.count()) == ("closed", 0)
    assert {(job.state, "a wave of theirs was ended" in job.message) for job in Job.objects.all()} == {("failed", True)}


def test_the_forecast_warns_where_nobody_is_left_for_a_third_rating(project, lead, team):
    thirds.under("third_majority", project)
    factories.items(project, 40)
    asked = {"size": None, "share_percent": Decimal(50), "ratings_per_item": 2}

    def said(*groups, **choices) -> list[str]:
        found = opening.forecast(project, declared=[Declared(group) for group in groups], **asked | choices).warnings
        return [one for one in found if "one more rater" in one]

    (of_panel,) = said(team[:2], team[2:])
    assert "in panel A nobody is left for that: 2 people, 2 ratings" in of_panel
    (of_all,) = said(ratings_per_item=5)
    assert "nobody is left for that: 5 annotators, 5 ratings" in of_all
    assert (said(), said(team[:2], team[2:], share_percent=Decimal(0))) == ([], [])
    thirds.under("majority", project)
    assert said(team[:2], team[2:]) == []
