"""What the decisions say: causes by pair, annotators beside the decisions, leads beside each other."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import adjudication, adjudication_report
from annotations.models import Case
from tests import factories
from tests.annotations import disputes
from tests.annotations.test_precedents import by_rule

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
SAID = {f"case-{n}": ("praise", "complaint") for n in range(5)} | {"other": ("praise", "question")}
SLIP, SILENT, AMBIGUOUS = "slip", "guideline_silent", "guideline_ambiguous"


def decide(name: str, by, value: str, cause: str) -> Case:
    case = disputes.case_of(name)
    adjudication.resolve(case, value=value, rationale="why", cause=cause, by=by, at=AT)
    return case


@pytest.fixture
def decided(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], SAID | {"agreed": ("praise", "praise")})
    for n, (value, cause) in enumerate([("praise", SLIP), ("praise", SILENT), ("praise", AMBIGUOUS)]):
        decide(f"case-{n}", lead, value, cause)
    decide("case-3", lead, "complaint", SLIP)
    return project


def test_causes_are_counted_by_pair_and_what_the_guideline_lacks_comes_first(decided, lead):
    decide("other", lead, "praise", SLIP)

    found = adjudication_report.report(decided)

    assert [(one.names, one.lacking, one.slips, one.n) for one in found.confusions] == [
        (["complaint", "praise"], 2, 2, 4),
        (["praise", "question"], 0, 1, 1),
    ]
    assert (found.decided, [n for _name, n in found.causes]) == (5, [1, 1, 3, 0, 0])


def test_an_annotator_with_fewer_than_five_decided_items_has_no_share(decided, lead):
    before = adjudication_report.report(decided).raters
    decide("case-4", lead, "praise", SLIP)
    after = adjudication_report.report(decided).raters

    assert [(one.name, one.n, one.same, one.percent) for one in before] == [
        ("anna", 4, None, None),
        ("ben", 4, None, None),
    ]
    assert [(one.name, one.n, one.same, one.percent) for one in after] == [("anna", 5, 4, 80), ("ben", 5, 1, 20)]


def test_a_reopened_decision_counts_no_more(decided, lead):
    adjudication.reopen(disputes.case_of("case-0"), reason="wrong", by=lead, at=AT)

    assert adjudication_report.report(decided).decided == 3


def test_a_correction_afterwards_changes_no_share(decided, lead, anna):
    decide("case-4", lead, "praise", SLIP)
    anna.annotations.update(latest={"intent": "question"})

    assert [one.same for one in adjudication_report.report(decided).raters] == [4, 1]


def test_what_a_rule_decided_is_nobody_s_measure(decided, lead):
    before = adjudication_report.report(decided)

    by_rule("case-4")

    after = adjudication_report.report(decided)
    assert (before.ruled, after.ruled) == (0, 1)
    assert replace(after, ruled=0) == before


def test_a_neighbours_decisions_are_not_counted(decided):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)

    found = adjudication_report.report(neighbour)

    assert (found.decided, found.confusions, found.raters) == (0, [], [])


def test_the_report_costs_the_same_however_much_is_decided(decided, lead):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            adjudication_report.report(decided)
        return len(found)

    one = queries()
    decide("case-4", lead, "praise", SLIP)
    decide("other", lead, "praise", SLIP)

    assert queries() == one
