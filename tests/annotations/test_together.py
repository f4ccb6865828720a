"""Deciding together: proposed by one rater, confirmed by the other, where the project allows it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import Http404

from annotations import adjudication, gold, together
from annotations.enums import GoldStatus
from annotations.models import Case, Proposal, Resolution
from projects.errors import DomainError, Invalid, NotAllowed
from tests import factories
from tests.annotations import disputes
from tests.annotations.test_concurrency import in_threads

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
SAID = {"first": ("praise", "complaint")}
DECISION = {"value": "complaint", "rationale": "It asks for a remedy.", "cause": "slip"}


@pytest.fixture
def anna(anna):
    """Of the team of two one is a lead."""
    anna.is_lead = True
    anna.save()
    return anna


@pytest.fixture
def case(project, anna, ben) -> Case:
    project.protocol["decide_together"] = True
    project.save()
    disputes.rated(project, [anna, ben], SAID)
    return disputes.case_of("first")


def again(member):
    """As the next request finds them."""
    return type(member).objects.select_related("project", "user").get(pk=member.pk)


def test_what_both_agree_to_is_a_consensus(case, anna, ben):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)

    resolution = together.confirm(again(ben), proposal.uuid, at=AT + timedelta(minutes=1))

    case.refresh_from_db()
    assert (case.state, resolution.kind, resolution.value, resolution.by) == (
        "decided",
        "consensus",
        "complaint",
        anna,
    )
    assert [(one.status, one.value) for one in gold.of_item(case.item)] == [(GoldStatus.CONSENSUS, "complaint")]
    assert together.confirm(again(ben), proposal.uuid, at=AT) == resolution


def test_nothing_is_decided_before_the_other_confirms(case, anna, ben):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)

    case.refresh_from_db()
    assert (case.state, list(together.to(ben)), list(together.to(anna))) == ("open", [proposal], [])
    together.refuse(again(ben), proposal.uuid, at=AT)
    with pytest.raises(DomainError, match="does not hold any more"):
        together.confirm(again(ben), proposal.uuid, at=AT)
    assert (Resolution.objects.count(), list(together.to(ben))) == (0, [])


def test_a_newer_proposal_takes_the_place_of_the_last(case, anna, ben):
    first = together.propose(case, **DECISION, by=again(anna), at=AT)
    assert together.propose(case, **DECISION, by=again(anna), at=AT) == first

    second = together.propose(case, **DECISION | {"value": "praise"}, by=again(anna), at=AT)

    assert list(together.to(ben)) == [second]
    with pytest.raises(DomainError, match="does not hold any more"):
        together.confirm(again(ben), first.uuid, at=AT)


def test_only_where_the_project_says_so(case, project, anna, ben):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)
    project.protocol["decide_together"] = False
    project.save()

    with pytest.raises(together.NotTogether):
        together.propose(case, **DECISION, by=again(anna), at=AT)
    with pytest.raises(together.NotTogether):
        together.confirm(again(ben), proposal.uuid, at=AT)
    assert together.other_rater(case, again(anna)) is None


def test_only_the_two_raters_decide_together(case, project, lead, ben):
    with pytest.raises(together.NotTogether):
        together.propose(case, **DECISION, by=again(lead), at=AT)
    with pytest.raises(NotAllowed):  # ben labels and adjudicates nothing
        together.propose(case, **DECISION, by=again(ben), at=AT)
    assert Proposal.objects.count() == 0


def test_with_three_raters_nobody_decides_together(project, anna, ben):
    cleo = factories.member(project, "cleo")
    project.protocol["decide_together"] = True
    project.save()
    disputes.rated(project, [anna, ben, cleo], {"third": ("praise", "complaint", "praise")})

    assert together.other_rater(disputes.case_of("third"), again(anna)) is None


def test_a_proposal_is_for_the_other_rater_alone(case, anna, lead):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)

    for member in (anna, lead):
        with pytest.raises(Http404):
            together.confirm(again(member), proposal.uuid, at=AT)


def test_what_a_lead_decided_meanwhile_stands(case, anna, ben, lead):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)
    adjudication.resolve(case, **DECISION | {"value": "praise"}, by=lead, at=AT)

    with pytest.raises(adjudication.Decided):
        together.confirm(again(ben), proposal.uuid, at=AT)
    assert Proposal.objects.get().answer == ""


def test_a_proposal_is_checked_like_a_decision(case, anna):
    with pytest.raises(Invalid):
        together.propose(case, **DECISION | {"value": "threat"}, by=again(anna), at=AT)


def test_who_proposed_a_consensus_may_reopen_it(case, anna, ben):
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)
    together.confirm(again(ben), proposal.uuid, at=AT)
    case.refresh_from_db()

    adjudication.reopen(case, reason="We misread it.", by=again(anna), at=AT)

    assert case.state == "open"


@pytest.mark.django_db(transaction=True)
def test_confirmed_and_decided_at_once_is_decided_once(project, anna, ben, lead):
    project.protocol["decide_together"] = True
    project.save()
    disputes.rated(project, [anna, ben], SAID)
    case = disputes.case_of("first")
    proposal = together.propose(case, **DECISION, by=again(anna), at=AT)

    raised = in_threads(
        lambda: together.confirm(again(ben), proposal.uuid, at=AT),
        lambda: adjudication.resolve(Case.objects.get(pk=case.pk), **DECISION, by=again(lead), at=AT),
    )

    assert [type(error) for error in raised] == [adjudication.Decided]
    assert Resolution.objects.filter(case=case, standing=True).count() == 1
    connection.close()
