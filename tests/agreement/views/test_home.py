"""The project's home: the loop and the next step of whoever looks."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import runs
from annotations import conflicts
from projects import archiving
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)


def home(project) -> str:
    return reverse("agreement:home", args=[project.uuid])


def text(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("outsider", 404)])
def test_access(request, client_of, version, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(home(version.project)).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, version) -> None:
    assert client.get(home(version.project)).status_code == 302


def test_who_only_annotates_goes_to_the_next_item(client_of, version, anna) -> None:
    response = client_of(anna).get(home(version.project))

    assert (response.status_code, response.url) == (302, reverse("annotations:label", args=[version.project.uuid]))


def test_who_only_annotates_comes_from_the_home_of_an_archived_project_to_its_guideline(
    client_of, version, admin, anna
) -> None:
    archiving.archive(version.project, by=admin, at=NOW)

    response = client_of(anna).get(home(version.project), follow=True)

    guideline = reverse("projects:guideline", args=[version.project.uuid])
    assert (response.status_code, response.redirect_chain) == (200, [(guideline, 302)])


def test_next_step_of_an_empty_project_is_to_import(client_of, version, lead) -> None:
    assert "Import the items to be labelled." in text(client_of(lead).get(home(version.project)))


def test_next_step_without_a_guideline_is_to_write_it(client_of, project) -> None:
    boss = factories.member(project, "ada", "admin")

    assert "Write the first guideline" in text(client_of(boss).get(home(project)))


def test_next_step_with_items_is_to_open_a_wave(client_of, version, lead) -> None:
    factories.items(version.project, 3)

    assert "Open a wave: the system draws its overlap" in text(client_of(lead).get(home(version.project)))


def test_open_draw_shows_how_far_it_is(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead, size=4)
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(home(version.project)))

    assert ("interim, 1 of 4" in page, "Labelling is under way" in page) == (True, True)


@pytest.fixture
def disputed(version, lead, anna, ben):
    said = [("praise", "praise")] * 5 + [("complaint", "praise")] * 3 + [("question", "praise")]
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in said], by=lead, closing="complete")
    conflicts.open_cases(draw, at=LATER)
    runs.compute(draw, at=LATER)
    return draw


def test_next_step_of_a_lead_is_to_decide_conflicts(client_of, disputed, lead) -> None:
    page = text(client_of(lead).get(home(disputed.wave.project)))

    assert "Decide 4 conflicts, 3 of them “complaint” against “praise”." in page
    assert reverse("annotations:adjudication", args=[disputed.wave.project.uuid]) in page.split("<main")[1]


def test_next_step_of_an_admin_is_somebody_elses(client_of, disputed, admin) -> None:
    page = text(client_of(admin).get(home(disputed.wave.project)))

    assert "4 conflicts wait for a lead who did not rate their items." in page


def test_stations_count(client_of, disputed, lead) -> None:
    page = text(client_of(lead).get(home(disputed.wave.project)))

    assert [line in page for line in ("4 open", "0 decided", "9 in overlap", "gate: no threshold")] == [True] * 4


def test_counts_of_a_neighbour_are_not_in_it(client_of, disputed) -> None:
    other = factories.version(factories.project("Neighbours"))
    boss = factories.member(other.project, "nora", "lead")

    page = text(client_of(boss).get(home(other.project)))

    assert ("0 open" in page, "none opened" in page) == (True, True)


def test_home_costs_the_same_queries_for_more_waves(client_of, disputed, version, lead, anna, ben) -> None:
    client = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(home(version.project))
        return len(captured)

    with_one = queries()
    for _ in range(2):
        draw = rows.draw(version, [{anna: "praise", ben: "complaint"}] * 3, by=lead, closing="complete")
        runs.compute(draw, at=LATER)

    assert queries() == with_one
