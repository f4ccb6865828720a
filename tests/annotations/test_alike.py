"""One decision for several conflicts of a pair: offered, decided, left out."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from annotations import adjudication, alike, cases, opinions
from annotations.models import Case, Resolution
from annotations.queue import Filters
from projects import activities
from projects.errors import Invalid, NotAllowed
from tests import factories
from tests.annotations import disputes
from tests.annotations.test_concurrency import in_threads

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
PAIR = Filters(question="intent", pair="complaint|praise")
NAMES = [f"case-{n}" for n in range(5)]
SAID = dict.fromkeys(NAMES, ("praise", "complaint")) | {"other": ("praise", "question")}
DECISION = {"value": "complaint", "rationale": "All of them ask for a remedy.", "cause": "guideline_silent"}


@pytest.fixture
def lou(version):
    return factories.member(version.project, "lou", "lead")


@pytest.fixture
def draw(project, lead, lou, anna, ben):
    return disputes.rated(project, [anna, ben], SAID)


def chosen(*names: str) -> list[Case]:
    rows = Case.objects.select_related("item__project", "draw__wave")
    return [rows.get(item__external_id=name, question_key="intent") for name in names]


def test_every_chosen_case_gets_a_decision_of_its_own(draw, lead):
    outcome = alike.resolve(chosen(*NAMES[:3]), **DECISION, by=lead, at=AT)

    assert {one.case for one in outcome.decided} == set(chosen(*NAMES[:3]))
    assert list(Resolution.objects.values_list("value", "rationale", "cause", "by", "at").distinct()) == [
        ("complaint", DECISION["rationale"], "guideline_silent", lead.pk, AT)
    ]
    assert (Resolution.objects.count(), outcome.left_out, Case.objects.open().count()) == (3, [], 3)
    adjudication.reopen(chosen(NAMES[0])[0], reason="Not this one.", by=lead, at=AT)
    assert Resolution.objects.filter(standing=True).count() == 2


def test_the_offer_leaves_out_what_is_held_asked_about_or_ones_own(draw, lead, lou, anna, project):
    adjudication.claim(chosen(NAMES[0])[0], by=lou, at=AT)
    opinions.ask(chosen(NAMES[1])[0], by=lead, at=AT)

    offer = alike.offer(lead, PAIR, at=AT)

    assert {case.item.external_id for case in offer.cases} == set(NAMES[2:])
    assert (offer.own, offer.held, offer.asked, offer.more) == (0, ["lou"], 1, 0)
    anna.is_lead = True
    anna.save()
    assert (alike.offer(anna, PAIR, at=AT).cases, alike.offer(anna, PAIR, at=AT).own) == ([], 5)


def test_what_was_taken_meanwhile_is_left_out_and_the_rest_decided(draw, lead, lou):
    rows = chosen(*NAMES)
    adjudication.claim(rows[0], by=lou, at=AT)
    adjudication.resolve(rows[1], **DECISION | {"value": "praise"}, by=lou, at=AT)
    opinions.ask(rows[2], by=lou, at=AT)

    outcome = alike.resolve(rows, **DECISION, by=lead, at=AT)

    assert set(outcome.left_out) == set(rows[:3])
    assert {one.case for one in outcome.decided} == set(rows[3:])


def test_own_items_are_left_out(draw, anna):
    anna.is_lead = True
    anna.save()

    outcome = alike.resolve(chosen(*NAMES), **DECISION, by=anna, at=AT)

    assert (outcome.decided, len(outcome.left_out)) == ([], 5)


def test_sent_twice_it_is_decided_once(draw, lead):
    first = alike.resolve(chosen(*NAMES), **DECISION, by=lead, at=AT)

    assert alike.resolve(chosen(*NAMES), **DECISION, by=lead, at=AT).decided == first.decided
    assert Resolution.objects.count() == 5


def test_only_cases_of_one_pair_are_decided_alike(draw, lead, admin):
    with pytest.raises(Invalid, match="same two labels"):
        alike.resolve(chosen(NAMES[0], "other"), **DECISION, by=lead, at=AT)
    with pytest.raises(Invalid):
        alike.resolve(chosen(*NAMES), **DECISION | {"value": "threat"}, by=lead, at=AT)
    with pytest.raises(NotAllowed):
        alike.resolve(chosen(*NAMES), **DECISION, by=admin, at=AT)
    assert Resolution.objects.count() == 0


def test_names_of_other_projects_are_nobodys(draw, lead):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = factories.member(neighbour, "nora", "lead")
    uuids = [str(case.uuid) for case in chosen(*NAMES)]

    assert len(alike.named(lead, PAIR, uuids)) == 5
    assert alike.named(nora, PAIR, uuids) == []
    with pytest.raises(Invalid):
        alike.named(lead, PAIR, ["x"])


@pytest.mark.django_db(transaction=True)
def test_two_leads_at_once_share_the_cases_without_deciding_one_twice(project, lead, lou, anna, ben):
    disputes.rated(project, [anna, ben], SAID)
    outcomes = {}

    def decide(by, names):
        outcomes[by.alias] = alike.resolve(chosen(*names), **DECISION, by=by, at=AT)

    raised = in_threads(lambda: decide(lead, NAMES), lambda: decide(lou, NAMES[::-1]))

    decided = [len(outcomes[name].decided) for name in ("lea", "lou")]
    assert (raised, sum(decided), Resolution.objects.count()) == ([], 5, 5)
    assert cases.of_project(project).open().count() == 1
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_where_the_database_says_no_all_are_decided_at_a_second_attempt(draw, lead, monkeypatch):
    record, refused = activities.record, []

    def busy_once(*args, **facts):
        if not refused:
            refused.append(True)
            raise OperationalError("database is locked")
        record(*args, **facts)

    monkeypatch.setattr(alike.activities, "record", busy_once)

    outcome = alike.resolve(chosen(*NAMES[:2]), **DECISION, by=lead, at=AT)

    assert (len(outcome.decided), outcome.left_out, Resolution.objects.count(), refused) == (2, [], 2, [True])
