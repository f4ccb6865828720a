"""Claiming, deciding, reopening and promoting conflicts; and what a draft makes of them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict

from annotations import adjudication, cases, conflicts, feedback, queue, third_ratings
from annotations.adjudication import ExampleText
from annotations.models import Case, Resolution
from annotations.queue import Filters
from projects import guidelines
from projects.enums import Role
from projects.errors import Invalid, NotAllowed
from projects.models import Example
from tests import factories
from tests.annotations import disputes, thirds
from tests.annotations.test_concurrency import in_threads

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
SAID = {
    "first": ("praise", "complaint"),
    "second": ("praise", "complaint"),
    "third": ("question", "praise"),
    "agreed": ("praise", "praise"),
}


@pytest.fixture
def draw(project, lead, anna, ben):
    return disputes.rated(project, [anna, ben], SAID)


@pytest.fixture
def case(draw) -> Case:
    return disputes.case_of("first")


@pytest.fixture
def other_lead(version):
    return factories.member(version.project, "lou", "lead")


def decide(case: Case, by, value="complaint", **changes) -> Resolution:
    fields = {"rationale": "It asks for a remedy.", "cause": "guideline_silent", "at": AT} | changes
    return adjudication.resolve(case, value=value, by=by, **fields)


# -- holding -----------------------------------------------------------------------------------------------------------


def test_a_claim_holds_the_case_for_twenty_minutes(case, lead, other_lead):
    adjudication.claim(case, by=lead, at=AT)

    with pytest.raises(adjudication.Held) as refused:
        adjudication.claim(case, by=other_lead, at=AT + timedelta(minutes=19))

    assert "lea is deciding this case until" in refused.value.message
    assert cases.holder_of(cases.find(lead, case.uuid), at=AT + timedelta(minutes=19)) == lead


def test_a_claim_that_has_ended_can_be_taken_over(case, lead, other_lead):
    adjudication.claim(case, by=lead, at=AT)

    adjudication.claim(case, by=other_lead, at=AT + timedelta(minutes=20))

    with pytest.raises(adjudication.Held):
        decide(case, lead, at=AT + timedelta(minutes=21))


def test_who_still_holds_nothing_may_decide_a_free_case(case, lead):
    assert decide(case, lead).value == "complaint"


def test_a_released_case_is_free(case, lead, other_lead):
    adjudication.claim(case, by=lead, at=AT)

    adjudication.release(case, by=lead)

    assert adjudication.claim(case, by=other_lead, at=AT).claimed_by == other_lead


def test_nobody_releases_the_claim_of_somebody_else(case, lead, other_lead):
    adjudication.claim(case, by=lead, at=AT)

    adjudication.release(case, by=other_lead)

    case.refresh_from_db()
    assert case.claimed_by == lead


# -- who may -----------------------------------------------------------------------------------------------------------


def test_who_rated_an_item_neither_claims_nor_decides_nor_reopens_it(case, anna, lead):
    anna.is_lead = True
    anna.save()

    for act in (
        lambda: adjudication.claim(case, by=anna, at=AT),
        lambda: decide(case, anna),
        lambda: decide(case, lead) and adjudication.reopen(case, reason="I know better", by=anna, at=AT),
    ):
        with pytest.raises(adjudication.OwnRating, match="You rated this item yourself"):
            act()


def test_late_ratings_bar_from_deciding_too(case, anna):
    """Surplus is not measured, but whoever gave it has a view of the item."""
    anna.is_lead = True
    anna.save()
    anna.annotations.update(slot=None, draw=None)

    with pytest.raises(adjudication.OwnRating):
        adjudication.claim(case, by=anna, at=AT)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.ANNOTATOR])
def test_only_leads_decide(case, project, role):
    somebody = factories.member(project, "somebody", role.value)

    with pytest.raises(NotAllowed):
        decide(case, somebody)


def test_a_lead_of_another_project_decides_nothing_here(case):
    neighbour = factories.member(factories.project("Neighbour"), "nora", "lead")

    with pytest.raises(NotAllowed):
        decide(case, neighbour)


# -- deciding ----------------------------------------------------------------------------------------------------------


def test_a_decision_is_kept_with_rationale_and_cause(case, lead):
    resolution = decide(case, lead)

    case.refresh_from_db()
    assert (case.state, case.decided_at, case.claimed_by, case.claim_ends) == ("decided", AT, None, None)
    assert (resolution.value, resolution.rationale, resolution.cause, resolution.by, resolution.kind) == (
        "complaint",
        "It asks for a remedy.",
        "guideline_silent",
        lead,
        "adjudicated",
    )


def test_the_same_decision_sent_twice_is_one(case, lead):
    first = decide(case, lead)

    assert decide(Case.objects.get(pk=case.pk), lead) == first
    assert Resolution.objects.count() == 1


def test_another_decision_of_the_same_lead_is_refused(case, lead):
    decide(case, lead)

    with pytest.raises(adjudication.Decided, match="lea decided this case"):
        decide(case, lead, "praise")


def test_a_second_lead_learns_who_decided(case, lead, other_lead):
    stale = Case.objects.get(pk=case.pk)
    decide(case, lead)

    with pytest.raises(adjudication.Decided, match="lea decided this case"):
        decide(stale, other_lead)


def test_the_label_may_be_neither_of_the_two(case, lead):
    assert decide(case, lead, "question").value == "question"


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "threat"},
        {"value": ""},
        {"rationale": " \n"},
        {"rationale": "a\x00b"},
        {"rationale": "x" * 5_001},
        {"cause": "mood"},
    ],
)
def test_what_cannot_be_used_decides_nothing(case, lead, changes):
    with pytest.raises(Invalid):
        decide(case, lead, **changes)

    case.refresh_from_db()
    assert case.state == "open"


# -- reopening ---------------------------------------------------------------------------------------------------------


def test_a_reopened_case_keeps_the_earlier_decision(case, lead, other_lead):
    first = decide(case, lead)

    adjudication.reopen(case, reason="The rule was misread.", by=other_lead, at=AT + timedelta(hours=1))
    second = decide(case, other_lead, "praise", at=AT + timedelta(hours=2))

    first.refresh_from_db()
    assert (first.standing, first.reopened_by, first.reopened_reason) == (False, other_lead, "The rule was misread.")
    assert list(case.resolutions.filter(standing=True)) == [second]


def test_reopening_needs_a_reason_and_a_decision(case, lead):
    with pytest.raises(adjudication.NotDecided):
        adjudication.reopen(case, reason="why not", by=lead, at=AT)
    decide(case, lead)

    with pytest.raises(Invalid):
        adjudication.reopen(case, reason="  ", by=lead, at=AT)

    case.refresh_from_db()
    assert case.state == "decided"


# -- into the guideline ------------------------------------------------------------------------------------------------


def test_a_decision_becomes_an_example_in_the_draft(case, lead, version):
    resolution = decide(case, lead, example=ExampleText(content={"text": "It stopped. Refund me."}))

    draft = version.project.versions.get(state="draft")
    example = draft.examples.get()
    assert (example.content, example.value, example.confused_with, example.rationale, example.origin) == (
        {"text": "It stopped. Refund me."},
        "complaint",
        "praise",
        "It asks for a remedy.",
        "adjudicated",
    )
    assert (resolution.example, resolution.lineage) == (example, example.lineage)


def test_an_example_of_a_third_label_names_no_confusion(case, lead):
    resolution = decide(case, lead, "question", example=ExampleText(content={"text": "How?"}))

    assert resolution.example.confused_with is None


def test_a_decision_promoted_twice_is_one_example(case, lead):
    resolution = decide(case, lead, example=ExampleText(content={"text": "Short."}))

    adjudication.promote(resolution, example=ExampleText(content={"text": "Shorter."}), by=lead, at=AT)

    assert [example.content for example in Example.objects.all()] == [{"text": "Shorter."}]


def test_a_text_that_is_an_example_already_says_so_and_decides_nothing(case, lead, version):
    draft = guidelines.draft_of(version.project, by=lead)
    guidelines.add_example(draft, question_key="intent", content=case.item.content, value="praise", by=lead)

    with pytest.raises(Invalid, match="already an example"):
        decide(case, lead, example=ExampleText(content=case.item.content))

    case.refresh_from_db()
    assert (case.state, cases.twin_in_draft(case).value) == ("open", "praise")


def test_a_reopened_decision_is_not_promoted(case, lead):
    resolution = decide(case, lead)
    adjudication.reopen(case, reason="wrong", by=lead, at=AT)

    with pytest.raises(adjudication.NotDecided):
        adjudication.promote(resolution, by=lead, at=AT)


def test_the_draft_answers_the_confusions_that_it_has_new_examples_for(case, lead, version):
    decide(case, lead, example=ExampleText(content=case.item.content))
    draft = version.project.versions.get(state="draft")

    answered, unanswered = feedback.answered(draft)

    assert [(one.names, one.count, one.decided) for one in answered] == [(["complaint", "praise"], 2, 1)]
    assert [(one.names, one.count, one.decided) for one in unanswered] == [(["praise", "question"], 1, 0)]


def test_conflicts_that_wait_for_a_third_rating_are_linked_where_they_are_listed(project, lead, anna, ben):
    factories.member(project, "cara")
    thirds.closed("third_majority", project, [anna, ben], SAID)
    draft = guidelines.draft_of(project, by=lead)

    def states():
        found = [QueryDict(one.query) for one in feedback.confusions(draft)]
        return {one["pair"]: one.get("state", "open") for one in found}

    assert states() == {"complaint|praise": "waiting", "praise|question": "waiting"}
    third_ratings.take_back(disputes.case_of("first"), by=lead, at=AT)
    assert states() == {"complaint|praise": "open", "praise|question": "waiting"}


def test_an_example_that_was_there_before_answers_nothing(project, version, lead, anna, ben):
    first = guidelines.draft_of(project, by=lead)
    example = guidelines.add_example(
        first, question_key="intent", content={"text": "Old."}, value="praise", confused_with="complaint", by=lead
    )
    Example.objects.filter(pk=example.pk).update(version=version)
    first.delete()
    disputes.rated(project, [anna, ben], SAID)
    draft = guidelines.draft_of(project, by=lead)

    answered, unanswered = feedback.answered(draft)

    assert ([one.pair for one in answered], len(unanswered)) == ([], 2)
    carried = draft.examples.get()
    guidelines.edit_example(carried, content={"text": "New."}, value="praise", confused_with="complaint", by=lead)
    assert [one.pair for one in feedback.answered(draft)[0]] == ["complaint|praise"]


def test_a_draft_of_a_first_version_has_no_conflicts_to_answer(db):
    project = factories.project("New")
    draft = guidelines.draft_of(project, by=factories.member(project, "lea", "lead"))

    assert feedback.answered(draft) == ([], [])


def test_an_example_whose_decision_was_reopened_is_contradicted(case, lead, version):
    decide(case, lead, example=ExampleText(content=case.item.content))
    draft = version.project.versions.get(state="draft")
    assert feedback.contradicted(draft) == []

    adjudication.reopen(case, reason="misread", by=lead, at=AT)
    (open_again,) = feedback.contradicted(draft)
    decide(case, lead, "praise", at=AT)
    (otherwise,) = feedback.contradicted(draft)
    adjudication.reopen(case, reason="no, the first time was right", by=lead, at=AT)
    decide(case, lead, "complaint", at=AT)

    assert (open_again.example.value, open_again.standing) == ("complaint", None)
    assert otherwise.standing.value == "praise"
    assert feedback.contradicted(draft) == []


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_the_queue_is_worst_first_and_counts_each_confusion(draw, lead):
    found = queue.queue(lead, Filters(), at=AT)

    assert [row.confusion for row in found.rows] == ["complaint / praise"] * 2 + ["praise / question"]
    assert [(choice.title, choice.count) for choice in found.confusions] == [
        ("complaint / praise", 2),
        ("praise / question", 1),
    ]
    assert [(choice.title, choice.count) for choice in found.states] == [("open", 3), ("decided", 0)]
    assert (found.total, found.own, found.more) == (3, 0, "")


def test_a_filter_narrows_the_list_and_keeps_the_other_choices(draw, lead):
    found = queue.queue(lead, Filters(pair="praise|question", question="intent"), at=AT)

    assert [row.confusion for row in found.rows] == ["praise / question"]
    assert [choice.count for choice in found.confusions] == [2, 1]
    assert [choice.current for choice in found.confusions] == [False, True]


def test_own_items_are_left_out_with_their_count(draw, anna, project):
    anna.is_lead = True
    anna.save()

    found = queue.queue(anna, Filters(), at=AT)

    assert (found.rows, found.own, found.total, cases.open_count(anna)) == ([], 3, 0, 0)
    assert queue.following(anna, Filters(), at=AT) is None


def test_the_queue_pages_without_gap_or_repetition(project, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"first": ("praise", "praise")})
    disputes.many(draw, [anna, ben], 120, [("praise", "complaint"), ("question", "praise"), ("question", "complaint")])
    conflicts.open_cases(draw, at=AT)
    seen, after = [], None

    for _page in range(3):
        found = queue.queue(lead, Filters(), at=AT, after=after)
        seen += [row.case.pk for row in found.rows]
        after = found.rows[-1].case.uuid

    assert (len(seen), len(set(seen)), found.more) == (120, 120, "")


def test_the_next_case_is_one_that_nobody_else_holds(draw, lead, other_lead):
    first, second, third = (row.case for row in queue.queue(lead, Filters(), at=AT).rows)
    adjudication.claim(second, by=other_lead, at=AT)

    assert queue.following(lead, Filters(), at=AT, case=first) == third
    assert queue.following(lead, Filters(), at=AT, case=third) == first
    assert queue.following(other_lead, Filters(), at=AT, case=first) == second


def test_an_address_of_filters_reads_back_as_the_same_filters(draw):
    filters = Filters(question="intent", pair="a|b", stratum="", draw=draw.uuid)

    assert Filters.read(QueryDict(filters.query()).dict()) == filters


# -- at the same time --------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_two_leads_at_once_one_decides(project, version, lead, anna, ben, other_lead):
    disputes.rated(project, [anna, ben], SAID)
    case = disputes.case_of("first")

    raised = in_threads(
        lambda: decide(Case.objects.get(pk=case.pk), lead, "praise"),
        lambda: decide(Case.objects.get(pk=case.pk), other_lead, "complaint"),
    )

    assert [type(error) for error in raised] == [adjudication.Decided]
    assert Resolution.objects.filter(case=case, standing=True).count() == 1
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_of_two_leads_at_once_one_holds(project, version, lead, anna, ben, other_lead):
    disputes.rated(project, [anna, ben], SAID)
    case = disputes.case_of("first")

    raised = in_threads(
        lambda: adjudication.claim(Case.objects.get(pk=case.pk), by=lead, at=AT),
        lambda: adjudication.claim(Case.objects.get(pk=case.pk), by=other_lead, at=AT),
    )

    assert [type(error) for error in raised] == [adjudication.Held]
    connection.close()
