"""What a protocol's rule makes of conflicts as a draw closes, and of third ratings afterwards: DESIGN §5, §2.10."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from agreement import matrices, runs
from annotations import (
    adjudication,
    cases,
    draws,
    eligibility,
    giving,
    gold,
    labelling,
    outcomes,
    releasing,
    ruling,
    serving,
    superseding,
    third_ratings,
)
from annotations.enums import CaseState, SlotState, ThirdOutcome, WaveKind, WaveState
from annotations.models import Annotation, Assignment, Case, Given, Resolution, Slot, ThirdRating, Wave
from projects import guidelines
from projects.errors import DomainError
from projects.models import Item, Project
from tests import factories
from tests.annotations import disputes, thirds
from tests.annotations.disputes import case_of
from tests.annotations.thirds import CONFLICT, LATER, closed, give, settle

THREE = {"two": ("praise", "complaint", "praise"), "none": ("praise", "complaint", "question")}


@pytest.fixture
def cara(version, project):
    return thirds.third(project)


def standing(name, key="intent"):
    return Resolution.objects.get(case=case_of(name, key), standing=True)


def state(name, key="intent"):
    return case_of(name, key).state


def told(project):
    """Item and question -> status, value and how many ratings it rests on."""
    return {
        (one.item.external_id, one.question_key): (one.status.value, one.value, one.ratings)
        for one in gold.of_project(project)
    }


# -- as the draw closes ------------------------------------------------------------------------------------------------


def test_without_a_rule_every_conflict_is_a_leads(project, lead, anna, ben, cara):
    closed("lead", project, [anna, ben])

    assert (state("torn"), Resolution.objects.count(), ThirdRating.objects.count()) == ("open", 0, 0)
    assert not Wave.samples.exists()


def test_a_majority_is_decided_by_the_rule_and_by_nobody(project, lead, anna, ben, cara):
    _draw, at = closed("majority", project, [anna, ben, cara], THREE)

    made = standing("two")
    assert (made.value, made.kind, made.rule, made.by, made.cause, made.at) == (
        "praise",
        "majority",
        "majority",
        None,
        "",
        at,
    )
    assert (made.rationale, made.tally) == ("2 of 3 said “praise”, 1 “complaint”.", [["praise", 2], ["complaint", 1]])
    assert (state("two"), case_of("two").decided_at) == ("decided", at)
    assert (state("none"), [c.item.external_id for c in cases.for_member(lead)]) == ("open", ["none"])
    assert told(project) == {("two", "intent"): ("majority", "praise", 3), ("none", "intent"): ("open", None, 3)}


def test_a_tie_says_why_it_is_a_leads(project, lead, anna, ben, cara):
    closed("majority", project, [anna, ben, cara], THREE)

    assert third_ratings.why_open(case_of("none")) == (
        "The rule of the protocol does not settle it: no label has more than half of the ratings."
    )


def test_a_median_is_decided_and_agrees_with_what_gold_calls_the_middle(project, version, lead, anna, ben):
    factories.question(version, "grade", ("bad", "fair", "good", "fine"), task_type="ordinal")
    said = {"far": [{"intent": "praise", "grade": one} for one in ("fine", "bad")]}
    closed("median", project, [anna, ben], said)

    made = standing("far", "grade")
    assert (made.value, made.kind, made.rationale) == (
        "bad",
        "median",
        "In order: bad, fine. Of the two in the middle, “bad” is the lower.",
    )
    assert told(project)["far", "grade"] == ("median", "bad", 2)


def test_a_rule_that_does_not_fit_leaves_the_question_to_a_lead(project, version, lead, anna, ben):
    factories.question(version, "grade", ("bad", "fair", "good"), task_type="ordinal")
    said = {"both": [{"intent": "praise", "grade": "bad"}, {"intent": "complaint", "grade": "good"}]}
    draw, _at = closed("median", project, [anna, ben], said)

    assert (state("both"), state("both", "grade")) == ("open", "decided")
    assert third_ratings.in_words(draw) == [
        ("What is the intent?", "a lead"),
        ("What is the grade?", "the median of the measured ratings"),
    ]
    assert third_ratings.why_open(case_of("both")) == ""


def test_a_question_may_have_a_rule_of_its_own(project, version, lead, anna, ben, cara):
    factories.question(version, "grade", ("bad", "fair", "good"), task_type="ordinal")
    thirds.under("majority", project, grade="median")
    said = {
        "both": [{"intent": i, "grade": g} for i, g in (("praise", "bad"), ("praise", "good"), ("question", "fair"))]
    }
    disputes.rated(project, [anna, ben, cara], said)

    assert told(project) == {("both", "intent"): ("majority", "praise", 3), ("both", "grade"): ("median", "fair", 3)}


def test_what_was_left_out_is_no_rating(project, version, lead, anna, ben, cara):
    factories.question(version, "tone", ("warm", "cold"), required=False)
    said = {"half": [{"intent": "praise", "tone": t} if t else {"intent": "praise"} for t in ("warm", "cold", None)]}
    closed("majority", project, [anna, ben, cara], said)

    assert state("half", "tone") == "open"


def test_opening_the_cases_twice_decides_nothing_again(project, lead, anna, ben, cara):
    draw, at = closed("majority", project, [anna, ben, cara], THREE)
    adjudication.reopen(case_of("two"), reason="Look again.", by=lead, at=at)

    assert ruling.open_cases(draw, at=at + LATER) == 0
    assert (state("two"), Resolution.objects.count()) == ("open", 1)


@pytest.mark.parametrize("fields", [{"rule": "majority", "by": "lead"}, {"rule": "majority", "cause": "slip"}, {}])
def test_a_decision_by_rule_names_no_person_and_one_by_a_person_a_cause(project, lead, anna, ben, fields):
    _draw, at = closed("lead", project, [anna, ben])
    named = fields | ({"by": lead} if fields.get("by") else {})

    with pytest.raises(IntegrityError, match="annotations_resolution_rule_or_person"):
        Resolution.objects.create(case=case_of("torn"), value="praise", rationale="-", at=at, **named)


def test_statements_grow_with_chunks_not_with_conflicts(project, lead, anna, ben, cara):
    draw, at = closed("third_majority", project, [anna, ben], {"agreed": ("praise", "praise")})
    disputes.many(draw, [anna, ben], 600, [("praise", "complaint")])

    with CaptureQueriesContext(connection) as queries:
        assert ruling.open_cases(draw, at=at) == 600

    assert (Case.objects.waiting().count(), Wave.samples.get().single_left) == (600, 600)
    # SQLite takes some fifty rows of a case in one statement, PostgreSQL a thousand.
    assert len(queries) < 600 / 20 + 40


# -- asking for a third rating -----------------------------------------------------------------------------------------


def test_a_third_rating_is_asked_of_somebody_who_has_not_met_the_item(project, lead, anna, ben, cara):
    draw, at = closed("third_majority", project, [anna, ben])

    wave = Wave.samples.get()
    assert (wave.kind, wave.number, wave.major, wave.state, wave.single_left) == ("tiebreak", 1, 1, "open", 1)
    assert (state("torn"), cases.open_count(lead)) == ("waiting", 0)
    assert [isinstance(serving.next_task(one, at=at), serving.Task) for one in (anna, ben, cara)] == [
        False,
        False,
        True,
    ]
    assert str(wave) == "third ratings of wave 1"
    assert Slot.objects.get(kind="tiebreak").draw is None
    assert not draw.is_open


def test_the_third_rating_decides_once_it_can_no_longer_be_corrected(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    rating = give(cara, "complaint", at=at)
    settle(at + timedelta(minutes=1))
    assert state("torn") == "waiting"

    settle(at + LATER)

    made = standing("torn")
    assert (made.value, made.kind, made.rule, made.by) == ("complaint", "majority", "third_majority", None)
    assert made.rationale == (
        "2 of 3 said “complaint”, 1 “praise”. One of them is a third rating, asked for after the measurement."
    )
    assert told(project) == {("torn", "intent"): ("majority", "complaint", 3)}
    assert (ThirdRating.objects.get().outcome, Wave.samples.get().single_left, rating.draw_id) == ("decided", 0, None)
    draws.finish_waves(at=at + LATER)
    assert Wave.samples.get().state == WaveState.CLOSED


def test_a_correction_in_time_counts_and_a_later_one_does_not(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    rating = give(cara, "complaint", at=at)
    labelling.correct(cara, rating.uuid, answers={"intent": "praise"}, at=at + timedelta(minutes=1))
    settle(at + LATER)

    labelling.correct(cara, rating.uuid, answers={"intent": "complaint"}, at=at + timedelta(minutes=2))

    rating.refresh_from_db()
    assert (standing("torn").value, rating.answers, rating.latest) == (
        "praise",
        {"intent": "praise"},
        {"intent": "complaint"},
    )
    assert [one.in_window for one in rating.revisions.all()] == [True, True, False]


def test_three_different_labels_are_a_leads(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    give(cara, "question", at=at)
    settle(at + LATER)

    assert (state("torn"), ThirdRating.objects.get().outcome, cases.open_count(lead)) == ("open", "tie", 1)
    assert third_ratings.why_open(case_of("torn")) == (
        "With the third rating, still no label has more than half of the ratings."
    )
    adjudication.resolve(case_of("torn"), value="praise", rationale="It is.", cause="slip", by=lead, at=at + LATER)
    assert told(project) == {("torn", "intent"): ("adjudicated", "praise", 2)}


def test_a_third_rating_then_the_median(project, version, lead, anna, ben, cara):
    factories.question(version, "grade", ("bad", "fair", "good", "fine"), task_type="ordinal")
    thirds.under("lead", project, grade="third_median")
    disputes.rated(project, [anna, ben], {"far": [{"intent": "praise", "grade": one} for one in ("bad", "fine")]})
    at = Case.objects.get().opened_at
    give(cara, {"intent": "question", "grade": "good"}, at=at)
    settle(at + LATER)

    made = standing("far", "grade")
    assert (made.value, made.rationale.split(". ")[:2]) == (
        "good",
        ["In order: bad, good, fine", "The middle one of 3 is “good”"],
    )
    assert told(project) == {("far", "intent"): ("agreed", "praise", 2), ("far", "grade"): ("median", "good", 3)}


def test_one_third_rating_serves_all_questions_of_an_item(project, version, lead, anna, ben, cara):
    factories.question(version, "tone", ("warm", "cold"))
    said = {"both": [{"intent": "praise", "tone": "warm"}, {"intent": "complaint", "tone": "cold"}]}
    _draw, at = closed("third_majority", project, [anna, ben], said)

    assert (Slot.objects.filter(kind="tiebreak").count(), ThirdRating.objects.count()) == (1, 2)
    give(cara, {"intent": "question", "tone": "cold"}, at=at)
    settle(at + LATER)

    assert (state("both"), state("both", "tone"), standing("both", "tone").value) == ("open", "decided", "cold")


def test_no_rater_is_named_while_another_question_waits(project, version, lead, anna, ben, cara):
    factories.question(version, "tone", ("warm", "cold"))
    thirds.under("lead", project, intent="third_majority")
    said = {"both": [{"intent": "praise", "tone": "warm"}, {"intent": "complaint", "tone": "cold"}]}
    at = disputes.rated(project, [anna, ben], said).closed_at
    adjudication.resolve(case_of("both", "tone"), value="warm", rationale="So.", cause="slip", by=lead, at=at)

    found = cases.find(lead, case_of("both", "tone").uuid)

    assert [side.rater for side in cases.dossier(found, lead, at=at).sides] == ["", ""]


def test_who_can_see_what_was_said_gives_no_third_rating(project, lead, anna, ben):
    factories.member(project, "both", "lead", "annotator")
    factories.member(project, "boss", "admin", "annotator")
    closed("third_majority", project, [anna, ben])

    assert (state("torn"), ThirdRating.objects.get().outcome) == ("open", "nobody")
    assert third_ratings.why_open(case_of("torn")) == "Nobody who labels here may give a third rating of this item."


def test_a_lead_who_annotates_is_not_served_the_third_rating(project, lead, anna, ben, cara):
    both = factories.member(project, "both", "lead", "annotator")
    _draw, at = closed("third_majority", project, [anna, ben])

    assert isinstance(serving.next_task(both, at=at), serving.Nothing)
    assert isinstance(serving.next_task(cara, at=at), serving.Task)


def test_where_nobody_may_give_it_the_conflict_is_a_leads_at_once(project, lead, anna, ben):
    closed("third_majority", project, [anna, ben])

    assert (state("torn"), ThirdRating.objects.get().outcome, Wave.samples.count()) == ("open", "nobody", 0)


def test_a_rater_who_was_brought_in_by_a_file_is_nobody_to_ask(project, lead, anna, ben):
    factories.member(project, "gone")
    project.memberships.filter(alias="gone").update(user=None)
    closed("third_majority", project, [anna, ben])

    assert ThirdRating.objects.get().outcome == "nobody"


def test_when_the_last_who_could_give_it_leaves_it_is_a_leads(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    settle(at)
    assert state("torn") == "waiting"
    cara.active = False
    cara.save()

    settle(at + timedelta(seconds=5))

    assert (state("torn"), ThirdRating.objects.get().outcome) == ("open", "nobody")
    assert (Slot.objects.get(kind="tiebreak").state, Wave.samples.get().single_left) == ("cancelled", 0)


def test_when_the_last_who_could_give_it_skips_it_is_a_leads(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    assignment = thirds.held(cara, at)
    labelling.skip(cara, assignment.uuid, reason="other", at=at)

    settle(at + timedelta(seconds=5))

    assert (state("torn"), ThirdRating.objects.get().outcome) == ("open", "nobody")


def test_a_skip_leaves_it_to_the_next(project, lead, anna, ben, cara):
    dora = factories.member(project, "dora")
    _draw, at = closed("third_majority", project, [anna, ben])
    labelling.skip(cara, thirds.held(cara, at).uuid, reason="other", at=at)
    settle(at + timedelta(seconds=5))

    give(dora, "praise", at=at + timedelta(seconds=6))
    settle(at + LATER)

    assert standing("torn").value == "praise"
    assert isinstance(serving.next_task(cara, at=at), serving.Nothing)


def test_a_wave_given_to_some_asks_no_others_for_a_third_rating(project, lead, anna, ben, cara):
    dora = factories.member(project, "dora")
    thirds.under("third_majority", project)
    factories.items(project, 1, prefix="torn")
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=100)
    giving.give(wave, members=[anna, ben, dora], by=lead, at=factories.NOW)
    for member, value in ((anna, "praise"), (ben, "complaint")):
        give(member, value, at=factories.NOW)
    at = factories.NOW + LATER
    settle(at)

    assert Given.objects.filter(wave__kind=WaveKind.TIEBREAK).count() == 3
    assert isinstance(serving.next_task(cara, at=at), serving.Nothing)
    assert isinstance(serving.next_task(dora, at=at), serving.Task)


def test_a_new_major_leaves_what_waits_to_a_lead(project, version, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    factories.version(project, 2)

    settle(at + timedelta(seconds=5))

    assert (state("torn"), ThirdRating.objects.get().outcome) == ("open", "ended")


def test_a_draw_that_a_new_major_closes_asks_for_nothing(project, version, lead, anna, ben, cara):
    thirds.under("third_majority", project)
    draw = disputes.rated(project, [anna, ben], CONFLICT, close=False)
    factories.version(project, 2)

    draws.close(draw, closing="early", reason="A new guideline.", by=lead, at=factories.NOW + LATER)

    assert (state("torn"), ThirdRating.objects.get().outcome, Wave.samples.count()) == ("open", "ended", 0)


def test_a_corrected_item_is_not_rated_once_more(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    superseding.supersede(Item.objects.get(), content={"text": "Mended."}, by=lead, at=at)

    settle(at + timedelta(seconds=5))

    assert (state("torn"), ThirdRating.objects.get().outcome) == ("open", "ended")
    assert Wave.samples.get().single_left == 0


# -- what never changes ------------------------------------------------------------------------------------------------


def test_a_third_rating_is_never_measured(project, lead, anna, ben, cara):
    said = CONFLICT | {f"agreed {i}": ("praise", "praise") for i in range(3)} | {"other": ("complaint", "complaint")}
    draw, at = closed("third_majority", project, [anna, ben], said)
    before = [run.digest for run in runs.compute(draw, at=at)]

    give(cara, "complaint", at=at)
    settle(at + LATER)

    assert matrices.measured(draw).count() == 10
    assert [run.digest for run in runs.compute(draw, at=at + LATER)] == before
    assert not runs.is_stale(draw, at=at + LATER)


def test_a_third_rating_alone_is_no_final_label(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    give(cara, "complaint", at=at)
    settle(at)

    assert told(project) == {("torn", "intent"): ("open", None, 2)}


def test_an_item_with_a_third_rating_is_not_fresh(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    give(cara, "complaint", at=at)
    settle(at + LATER)

    assert not eligibility.eligible(project).exists()


def test_its_wave_is_none_of_the_projects(project, lead, anna, ben, cara):
    closed("third_majority", project, [anna, ben])

    assert [wave.number for wave in project.waves.all()] == [1]


# -- taken back, and reopened ------------------------------------------------------------------------------------------


def test_a_lead_takes_a_waiting_case_back_and_decides_it(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    with pytest.raises(adjudication.WaitsForThird):
        adjudication.resolve(case_of("torn"), value="praise", rationale="So.", cause="slip", by=lead, at=at)

    third_ratings.take_back(case_of("torn"), by=lead, at=at)
    third_ratings.take_back(case_of("torn"), by=lead, at=at)  # twice is once

    row = ThirdRating.objects.get()
    assert (row.outcome, row.ended_by, row.ended_at, row.slot.state) == ("taken_back", lead, at, SlotState.CANCELLED)
    assert third_ratings.why_open(case_of("torn")) == "lea took it back before the third rating had decided it."
    assert isinstance(serving.next_task(cara, at=at), serving.Nothing)
    adjudication.resolve(case_of("torn"), value="praise", rationale="So.", cause="slip", by=lead, at=at)
    settle(at + LATER)
    assert (standing("torn").by, standing("torn").rule) == (lead, "")


def test_who_has_the_item_in_hand_when_it_is_taken_back_reads_saved_and_decides_nothing(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    assignment = thirds.held(cara, at)
    third_ratings.take_back(case_of("torn"), by=lead, at=at)

    saved = labelling.submit(cara, assignment.uuid, answers={"intent": "praise"}, at=at + timedelta(seconds=9))
    settle(at + LATER)

    assert Annotation.objects.get(uuid=saved.annotation).slot is None
    assert (state("torn"), Resolution.objects.count()) == ("open", 0)


def test_taken_back_on_one_question_the_other_still_waits(project, version, lead, anna, ben, cara):
    factories.question(version, "tone", ("warm", "cold"))
    said = {"both": [{"intent": "praise", "tone": "warm"}, {"intent": "complaint", "tone": "cold"}]}
    _draw, at = closed("third_majority", project, [anna, ben], said)

    third_ratings.take_back(case_of("both"), by=lead, at=at)
    give(cara, {"intent": "praise", "tone": "cold"}, at=at)
    settle(at + LATER)

    assert (state("both"), state("both", "tone")) == ("open", "decided")


def test_a_rating_that_is_in_is_taken_back_before_it_decides(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    give(cara, "praise", at=at)
    third_ratings.take_back(case_of("torn"), by=lead, at=at)

    settle(at + LATER)

    assert (state("torn"), Resolution.objects.count(), Annotation.objects.count()) == ("open", 0, 3)


@pytest.mark.parametrize("rest", ["archived_at", "delete_after"])
def test_in_a_project_that_rests_nothing_is_decided_until_it_goes_on(project, lead, anna, ben, cara, rest):
    said = {"rated": ("praise", "complaint"), "hopeless": ("praise", "complaint")}
    _draw, at = closed("third_majority", project, [anna, ben], said)
    rated = thirds.held(cara, at).item.external_id
    (other,) = said.keys() - {rated}
    give(cara, "praise", at=at)
    cara.active = False
    cara.save()
    Project.objects.filter(pk=project.pk).update(**{rest: at})

    settle(at + LATER)
    resting = (state(rated), state(other), Resolution.objects.count())
    Project.objects.filter(pk=project.pk).update(**{rest: None})
    settle(at + 2 * LATER)

    assert resting == ("waiting", "waiting", 0)
    assert (state(rated), state(other), standing(rated).at) == ("decided", "open", at + 2 * LATER)


def test_what_was_decided_is_not_taken_back_but_reopened(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    give(cara, "praise", at=at)
    settle(at + LATER)
    with pytest.raises(third_ratings.NotWaiting):
        third_ratings.take_back(case_of("torn"), by=lead, at=at + LATER)

    adjudication.reopen(case_of("torn"), reason="The rule is wrong here.", by=lead, at=at + LATER)
    adjudication.resolve(case_of("torn"), value="complaint", rationale="It is.", cause="slip", by=lead, at=at + LATER)

    rows = Resolution.objects.order_by("pk").values_list("rule", "value", "by", "standing", "reopened_by")
    assert list(rows) == [
        ("third_majority", "praise", None, False, lead.pk),
        ("", "complaint", lead.pk, True, None),
    ]
    settle(at + 2 * LATER)
    assert standing("torn").by == lead


def test_only_a_lead_who_did_not_rate_the_item_takes_it_back(project, lead, anna, ben, cara):
    _draw, at = closed("third_majority", project, [anna, ben])
    anna.is_lead = True
    anna.save()

    for member in (anna, cara):
        with pytest.raises(DomainError):
            third_ratings.take_back(case_of("torn"), by=member, at=at)
    assert state("torn") == CaseState.WAITING


def test_all_that_waits_of_a_draw_is_taken_back_at_once(project, lead, anna, ben, cara):
    said = {f"torn {i}": ("praise", "complaint") for i in range(3)}
    draw, at = closed("third_majority", project, [anna, ben], said)
    give(cara, "praise", at=at)

    assert third_ratings.take_back_all(draw, by=lead, at=at) == 3
    assert third_ratings.take_back_all(draw, by=lead, at=at) == 0
    found = third_ratings.of_draw(draw)
    assert (found.conflicts, found.ruled, found.waiting) == (3, 0, 0)
    assert found.left == [(str(ThirdOutcome.TAKEN_BACK.label), 3)]
    assert isinstance(serving.next_task(cara, at=at), serving.Nothing)


def test_taking_all_back_leaves_out_what_the_lead_rated(project, lead, anna, ben, cara):
    draw, at = closed("third_majority", project, [anna, ben])
    anna.is_lead = True
    anna.save()

    assert third_ratings.take_back_all(draw, by=anna, at=at) == 0
    assert (state("torn"), third_ratings.is_waited_for(draw)) == ("waiting", True)
    assert third_ratings.take_back_all(draw, by=lead, at=at) == 1
    assert (state("torn"), third_ratings.is_waited_for(draw)) == ("open", False)


# -- what is told ------------------------------------------------------------------------------------------------------


def test_the_row_of_a_file_says_the_rule(project, lead, anna, ben, cara):
    closed("majority", project, [anna, ben, cara], {"two": THREE["two"]})

    (row,) = (one.row() for one in gold.of_project(project))

    names = ("value", "status", "ratings", "decided_by", "rule", "cause", "rationale")
    assert [row[name] for name in names] == [
        "praise",
        "majority",
        3,
        None,
        "majority",
        None,
        "2 of 3 said “praise”, 1 “complaint”.",
    ]


def test_raters_read_that_a_rule_decided(project, lead, anna, ben, cara):
    closed("majority", project, [anna, ben, cara], {"two": THREE["two"]})

    (one,) = outcomes.of(list(outcomes.measured(ben)))

    assert (one.mine, one.final, one.status, one.rule, one.by, one.cause) == (
        "complaint",
        "praise",
        "majority",
        "the majority of the measured ratings",
        "",
        "",
    )
    assert outcomes.of(list(outcomes.measured(anna))) == []


def test_nobody_learns_of_the_wait(project, lead, anna, ben, cara):
    closed("third_majority", project, [anna, ben])

    assert outcomes.of(list(outcomes.measured(anna))) == []


def test_a_decision_by_rule_becomes_no_example_without_a_reason(project, lead, anna, ben, cara):
    _draw, at = closed("majority", project, [anna, ben, cara], {"two": THREE["two"]})

    with pytest.raises(DomainError, match="Say why"):
        adjudication.promote(standing("two"), by=lead, at=at)
    text = adjudication.ExampleText(content=Item.objects.get().content, rationale="It thanks them.")
    made = adjudication.promote(standing("two"), example=text, by=lead, at=at)
    assert (made.rationale, guidelines.draft_of(project, by=lead).examples.count()) == ("It thanks them.", 1)


def test_assignments_keep_to_the_meeting_rule(project, lead, anna, ben, cara):
    said = {f"torn {i}": ("praise", "complaint") for i in range(4)}
    _draw, at = closed("third_majority", project, [anna, ben], said)
    dora = factories.member(project, "dora")
    for turn in range(4):
        give((cara, dora)[turn % 2], "praise", at=at + timedelta(seconds=turn))

    met = Assignment.objects.values_list("item", "member")
    assert len(met) == len(set(met)) == 12
