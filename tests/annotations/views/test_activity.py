"""The page of a project's log, its file and its API."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects import activities
from tests import factories

PAGES = ["annotations:activity", "annotations:activity-file", "api:activity"]
WHO = [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)]


def address(project, name="annotations:activity", query=""):
    return reverse(name, args=[project.uuid]) + query


@pytest.fixture
def acts(project, lead):
    activities.record("draft_discarded", project, by=lead, at=factories.NOW)
    activities.record("wave_closed", project, by=None, at=factories.NOW, number=3, reason="=1+1")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("who", "status"), WHO)
def test_access(request, project, client_of, name, who, status):
    assert client_of(request.getfixturevalue(who)).get(address(project, name)).status_code == status


@pytest.mark.parametrize(("name", "status"), [*zip(PAGES, [302, 302, 401], strict=True)])
def test_strangers_log_in(project, name, status):
    assert Client().get(address(project, name)).status_code == status


def test_times_are_in_the_viewer_s_zone(project, lead, acts, client_of):
    lead.user.time_zone = "Asia/Tokyo"
    lead.user.save()

    page = client_of(lead).get(address(project)).content.decode()

    assert "18:00" in page
    assert "2026-03-02T18:00:00+09:00" in page
    assert "09:00:00" not in page.replace("+09:00", "")


def test_the_page_costs_the_same_with_one_and_with_three_rows(project, lead, admin, client_of):
    client, costs = client_of(lead), []
    client.get(address(project))
    for more in (1, 2):
        for number in range(more):
            by = admin if number else lead
            activities.record("wave_finished", project, by=by, at=factories.NOW, number=10 * more + number)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(address(project)).content.decode()
        costs.append((len(queries), page.count('<li class="entry">')))

    assert costs == [(costs[0][0], 1), (costs[0][0], 3)]
    assert costs[0][0] < 12


def test_a_day_that_is_none_is_said_beside_its_field(project, lead, acts, client_of):
    answer = client_of(lead).get(address(project, query="?since=yesterday"))

    assert answer.status_code == 422
    assert answer.context["form"].errors == {"since": ["Enter a valid date."]}
    swapped = client_of(lead).get(address(project, query="?since=2026-03-03&until=2026-03-02"))
    assert swapped.context["form"].errors == {
        "__all__": ["The last day, 2026-03-02, is before the first one, 2026-03-03: change one of them."]
    }
    assert client_of(lead).get(address(project, query="?since=0001-01-01")).status_code == 422


@pytest.mark.parametrize("query", ["?kind=dancing", "?by=me", "?before=x", "?before=²"])
def test_a_filter_that_cannot_be_is_not_found(project, lead, client_of, query):
    assert client_of(lead).get(address(project, query=query)).status_code == 404


def test_filters_are_links_that_keep_each_other(project, lead, acts, client_of):
    page = client_of(lead).get(address(project, query="?kind=waves&until=2026-04-01")).content.decode()

    assert "Ended wave 3" in page
    assert "Threw the draft away" not in page
    assert f'href="?kind=waves&amp;by={lead.uuid}&amp;until=2026-04-01"' in page
    assert 'href="?kind=wave_closed&amp;until=2026-04-01"' in page


def test_an_act_leads_to_what_it_was_about_for_who_may_see_it(project, lead, admin, client_of):
    activities.record("case_decided", project, by=lead, subject=project.uuid, at=factories.NOW, number=1)
    link = reverse("annotations:adjudication-case", args=[project.uuid, project.uuid])

    pages = [client_of(who).get(address(project)).content.decode() for who in (lead, admin)]

    assert [link in page for page in pages] == [True, False]


def test_the_file_holds_what_the_filters_leave(project, lead, acts, client_of):
    client = client_of(lead)

    whole = b"".join(client.get(address(project, PAGES[1], "?format=jsonl")).streaming_content)
    some = client.get(address(project, PAGES[1], "?kind=waves"))

    assert [json.loads(line)["kind"] for line in whole.splitlines()] == ["draft_discarded", "wave_closed"]
    assert some.headers["Content-Disposition"].startswith('attachment; filename="app-reviews-activity-')
    (row,) = csv.DictReader(io.StringIO(b"".join(some.streaming_content).decode("utf-8-sig")))
    assert (row["at"], row["by"], row["kind"]) == ("2026-03-02T09:00:00+00:00", "", "wave_closed")
    assert row["reason"] == "=1+1"


@pytest.mark.parametrize("query", ["?format=exe", "?since=yesterday", "?kind=dancing"])
def test_a_file_that_cannot_be_is_not_found(project, lead, client_of, query):
    assert client_of(lead).get(address(project, PAGES[1], query)).status_code == 404


def test_the_api_lists_the_newest_first(project, lead, acts, client_of):
    first = client_of(lead).get(address(project, "api:activity", "?size=1")).json()
    second = client_of(lead).get(first["next"]).json()

    assert first["results"] == [
        {
            "at": "2026-03-02T09:00:00Z",
            "by": None,
            "kind": "wave_closed",
            "what": "Ended wave 3: “=1+1”.",
            "reason": "=1+1",
        }
    ]
    assert ([one["by"] for one in second["results"]], second["next"]) == (["lea"], None)


def test_the_api_says_which_filter_cannot_be(project, lead, client_of):
    answer = client_of(lead).get(address(project, "api:activity", "?since=soon"))

    assert (answer.status_code, "since" in answer.content.decode()) == (422, True)


@pytest.mark.parametrize("day", ["since=0001-01-01", "since=9999-12-31", "until=0001-01-01", "until=9999-12-31"])
def test_the_api_refuses_a_day_at_the_ends_of_the_calendar(project, lead, client_of, day):
    answer = client_of(lead).get(address(project, "api:activity", f"?{day}"))

    assert answer.status_code == 422
    assert "is no day of this log: expected a year such as 2026." in answer.content.decode()
