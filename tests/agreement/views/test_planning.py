"""The planning page: who may open it, what it begins with, and what it refuses."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import runs
from projects.models import GuidelineVersion
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
SAID = [("praise", "praise")] * 6 + [("complaint", "complaint")] * 5 + [("praise", "complaint")] * 4


def address(version: GuidelineVersion, query: str = "") -> str:
    return f"{reverse('agreement:planning', args=[version.project.uuid])}{query}"


def text(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, version, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(address(version)).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, version) -> None:
    assert client.get(address(version)).status_code == 302


def test_page_begins_with_guesses_and_counts_the_fresh_items(client_of, version, lead) -> None:
    factories.items(version.project, 1000)

    page = text(client_of(lead).get(address(version)))

    assert ("the form begins with guesses" in page, "of the 1000 fresh items" in page) == (True, True)
    assert "scope=all&amp;share_percent=" in page


def test_page_begins_with_what_the_newest_draw_had(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete")
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(address(version)))

    # 30 ratings: 16 praise and 14 complaint; kappa .50.
    assert "The form begins with what wave 1 had: its Cohen&#x27;s kappa" in page
    assert ('name="kappa" value="0.5"' in page, 'value="47, 53"' in page) == (True, True)


def test_open_draw_tells_nothing(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, size=40)
    runs.compute(draw, at=LATER)

    assert "the form begins with guesses" in text(client_of(lead).get(address(version)))


def test_numbers_that_make_no_plan_are_refused(client_of, version, lead) -> None:
    response = client_of(lead).get(address(version, "?kappa=1.2&shares=50,20"))

    assert response.status_code == 422
    assert ("The shares add up to 70, not 100." in text(response), "For an interval" in text(response)) == (True, False)


def test_question_that_is_not_asked_is_not_found(client_of, version, lead) -> None:
    assert client_of(lead).get(address(version, "?question=tone")).status_code == 404


def test_project_without_a_question_says_what_to_do(client_of) -> None:
    boss = factories.member(factories.project("Empty"), "nora", "lead")
    response = client_of(boss).get(reverse("agreement:planning", args=[boss.project.uuid]))

    assert (response.status_code, "write the guideline and its questions first" in text(response)) == (200, True)


def test_neighbours_items_and_draws_do_not_count(client_of, version, lead) -> None:
    other = factories.version(factories.project("Neighbours"))
    boss, cara, dan = (factories.member(other.project, *who) for who in (("nora", "lead"), ("cara",), ("dan",)))
    factories.items(other.project, 500)
    draw = rows.draw(other, [{cara: a, dan: b} for a, b in SAID], by=boss, closing="complete")
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(address(version)))

    assert ("0 items are fresh" in page, "begins with guesses" in page) == (True, True)


def test_page_costs_the_same_queries_for_more_draws(client_of, version, lead, anna, ben) -> None:
    client = client_of(lead)

    def queries() -> int:
        draw = rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete")
        runs.compute(draw, at=LATER)
        with CaptureQueriesContext(connection) as captured:
            client.get(address(version))
        return len(captured)

    assert queries() == queries()
