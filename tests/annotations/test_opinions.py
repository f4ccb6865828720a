"""Second opinions: two leads decide independently, and what comes of it."""

from datetime import timedelta

import pytest
from django.db import connection

from annotations import adjudication, cases, opinions, queue
from annotations.models import Case, Opinion, Resolution
from annotations.queue import Filters
from projects.errors import DomainError, Invalid, NotAllowed
from tests import factories
from tests.annotations import disputes
from tests.annotations.test_concurrency import in_threads

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
SAID = {"first": ("praise", "complaint"), "second": ("praise", "complaint")}


@pytest.fixture
def lou(version):
    return factories.member(version.project, "lou", "lead")


@pytest.fixture
def case(project, lead, lou, anna, ben) -> Case:
    disputes.rated(project, [anna, ben], SAID)
    return disputes.case_of("first")


def give(case, by, value="complaint", **changes):
    fields = {"rationale": f"{by} says so.", "cause": "slip", "at": AT} | changes
    return opinions.give(Case.objects.get(pk=case.pk), value=value, by=by, **fields)


def test_two_who_say_the_same_have_decided(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)

    assert give(case, lou, cause="guideline_silent") is None
    made = give(case, lead)

    case.refresh_from_db()
    assert (case.state, case.wants_opinions, made.value, made.by, made.cause) == (
        "decided",
        False,
        "complaint",
        lou,
        "guideline_silent",
    )
    assert [[one.by for one in ended.opinions.all()] for ended in opinions.shown(case)] == [[lou, lead]]
    assert opinions.agreement(case.item.project) == opinions.Agreement(1, 1)


def test_two_who_differ_are_shown_to_both_and_decide_nothing(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)
    give(case, lead)
    give(case, lou, "praise")

    case.refresh_from_db()
    (ended,) = opinions.shown(case)
    assert (case.state, case.wants_opinions, ended.outcome) == ("open", False, "differed")
    assert [one.value for one in ended.opinions.all()] == ["complaint", "praise"]
    adjudication.resolve(case, value="praise", rationale="lou is right.", cause="slip", by=lead, at=AT)
    assert opinions.shown(case) == [ended]
    assert opinions.agreement(case.item.project) == opinions.Agreement(0, 1)


def test_one_opinion_is_shown_to_nobody(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)
    give(case, lead)

    assert opinions.shown(case) == []
    assert opinions.given(case, lou) is None
    assert opinions.agreement(case.item.project) == opinions.Agreement(0, 0)


def test_taking_a_request_back_shows_the_opinion_only_once_the_case_is_decided(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)
    give(case, lou)
    opinions.withdraw(case, by=lead, at=AT)

    assert opinions.shown(case) == []
    adjudication.resolve(case, value="praise", rationale="Mine.", cause="slip", by=lead, at=AT)
    case.refresh_from_db()
    assert [one.outcome for one in opinions.shown(case)] == ["withdrawn"]
    assert opinions.agreement(case.item.project).n == 0


def test_nobody_decides_or_holds_the_case_alone_meanwhile(case, lead, lou):
    adjudication.claim(case, by=lead, at=AT)
    opinions.ask(case, by=lead, at=AT)

    for act in (
        lambda: adjudication.claim(case, by=lou, at=AT),
        lambda: adjudication.resolve(case, value="praise", rationale="x", cause="slip", by=lead, at=AT),
    ):
        with pytest.raises(adjudication.OpinionsWanted, match="second opinion"):
            act()
    case.refresh_from_db()
    assert case.claimed_by is None


def test_a_case_that_another_lead_holds_is_not_asked_about(case, lead, lou):
    adjudication.claim(case, by=lou, at=AT)

    with pytest.raises(adjudication.Held):
        opinions.ask(case, by=lead, at=AT)


def test_asking_twice_is_asking_once(case, lead, lou):
    first = opinions.ask(case, by=lead, at=AT)

    assert opinions.ask(Case.objects.get(pk=case.pk), by=lou, at=AT) == first


def test_the_same_opinion_sent_twice_is_one_and_another_is_refused(case, lead):
    opinions.ask(case, by=lead, at=AT)
    give(case, lead)

    assert give(case, lead) is None
    with pytest.raises(DomainError, match="have given your opinion"):
        give(case, lead, "praise")
    assert Opinion.objects.count() == 1


def test_who_gave_an_opinion_is_led_on_to_other_cases(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)
    give(case, lead)

    found = queue.queue(lead, Filters(), at=AT)

    assert ([row.case for row in found.rows], found.told, found.total) == ([disputes.case_of("second")], 1, 1)
    assert (cases.open_count(lead), cases.open_count(lou)) == (1, 2)
    assert queue.queue(lou, Filters(), at=AT).told == 0


def test_who_rated_neither_asks_nor_tells(case, anna, lead):
    anna.is_lead = True
    anna.save()
    with pytest.raises(adjudication.OwnRating):
        opinions.ask(case, by=anna, at=AT)
    opinions.ask(case, by=lead, at=AT)

    for act in (lambda: give(case, anna), lambda: opinions.withdraw(case, by=anna, at=AT)):
        with pytest.raises(adjudication.OwnRating):
            act()


def test_one_lead_alone_cannot_ask(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], SAID)

    with pytest.raises(DomainError, match="one lead"):
        opinions.ask(disputes.case_of("first"), by=lead, at=AT)


def test_an_opinion_is_checked_like_a_decision(case, lead, admin):
    with pytest.raises(opinions.NotAsked):
        give(case, lead)
    opinions.ask(case, by=lead, at=AT)

    for changes in ({"value": "threat"}, {"rationale": " "}, {"cause": "mood"}):
        with pytest.raises(Invalid):
            give(case, lead, **changes)
    with pytest.raises(NotAllowed):
        give(case, admin)


def test_a_reopened_case_may_get_a_second_opinion_anew(case, lead, lou):
    opinions.ask(case, by=lead, at=AT)
    give(case, lead)
    give(case, lou)
    case.refresh_from_db()
    adjudication.reopen(case, reason="misread", by=lead, at=AT)
    opinions.ask(case, by=lou, at=AT)
    give(case, lead, "praise")
    give(case, lou, "praise")

    assert opinions.agreement(case.item.project) == opinions.Agreement(2, 2)
    assert Resolution.objects.get(case=case, standing=True).value == "praise"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", ["complaint", "praise"])
def test_of_two_opinions_at_once_one_is_the_second(project, lead, lou, anna, ben, other):
    disputes.rated(project, [anna, ben], SAID)
    case = disputes.case_of("first")
    opinions.ask(case, by=lead, at=AT)

    raised = in_threads(lambda: give(case, lead), lambda: give(case, lou, other))

    case.refresh_from_db()
    assert raised == []
    assert (case.state, opinions.shown(case)[0].outcome) == (
        ("decided", "agreed") if other == "complaint" else ("open", "differed")
    )
    assert (Opinion.objects.count(), Resolution.objects.count()) == (2, int(other == "complaint"))
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_asking_and_deciding_at_once_is_one_of_the_two(project, lead, lou, anna, ben):
    disputes.rated(project, [anna, ben], SAID)
    case = disputes.case_of("first")

    raised = in_threads(
        lambda: opinions.ask(Case.objects.get(pk=case.pk), by=lead, at=AT),
        lambda: adjudication.resolve(
            Case.objects.get(pk=case.pk), value="praise", rationale="x", cause="slip", by=lou, at=AT
        ),
    )

    case.refresh_from_db()
    assert [type(error) for error in raised] in ([adjudication.Decided], [adjudication.OpinionsWanted])
    assert (case.state, case.wants_opinions) in (("decided", False), ("open", True))
    connection.close()
