"""A closed draw's headline by when its items were completed."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import by_time, runs
from agreement.models import Run
from annotations.models import Annotation, Draw
from projects.models import GuidelineVersion, Membership, Project
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

LATER = NOW + timedelta(seconds=10)
ALIKE, CROSSED = [("praise", "praise"), ("complaint", "complaint")], [("praise", "complaint"), ("complaint", "praise")]
DAY = 86_400


def taken(version: GuidelineVersion, people, said, days, closing: str = "complete", **changes) -> Draw:
    """A draw whose items were completed on these days; the first rating of each came two days before its last."""
    anna, ben, lead = people
    pairs = [{anna: a, ben: b} for a, b in said]
    draw = rows.draw(version, pairs, by=lead, closing=closing, minimum_n=2, **changes)
    given = Annotation.objects.filter(draw=draw).order_by("wave_item_id", "pk")
    for place, annotation in enumerate(given):
        after = timedelta(days=days[place // 2] - 2 * (1 - place % 2), minutes=place)
        annotation.submitted_at = NOW - timedelta(days=30) + after
        annotation.save(update_fields=["submitted_at"])
    runs.compute(draw, at=LATER)
    return draw


@pytest.fixture
def people(anna: Membership, ben: Membership, lead: Membership) -> tuple[Membership, Membership, Membership]:
    return anna, ben, lead


@pytest.fixture
def closed(version: GuidelineVersion, people) -> Draw:
    """Two agree on the first day and cross on the last."""
    return taken(version, people, [*ALIKE * 2, *CROSSED * 2], [0] * 4 + [5] * 4)


def address(draw: Draw, question: str = "intent") -> str:
    return reverse("agreement:by-time", args=[draw.wave.project.uuid, draw.uuid, question])


def found_in(draw: Draw, key: str = "intent") -> by_time.ByTime:
    question = draw.wave.version.questions.get(key=key)
    return by_time.of(draw, question, Run.objects.get(draw=draw, question_key=key), at=LATER)


# -- where the parts are cut ------------------------------------------------------------------------------------------


def times(*per_day: int) -> np.ndarray:
    start = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
    return np.array([start + place * DAY + minute for place, n in enumerate(per_day) for minute in range(n)])


@pytest.mark.parametrize(
    ("per_day", "minimum", "wanted"),
    [
        ((20, 30), 20, (by_time.DAY, [20, 50])),
        ((20, 5, 30), 20, (by_time.DAY, [20, 55])),
        ((20, 30, 5), 20, (by_time.DAY, [20, 55])),
        ((20, 0, 0, 20), 20, (by_time.DAY, [20, 40])),
        ((45, 5), 20, (by_time.ORDER, [25, 50])),
        ((100,), 20, (by_time.ORDER, [20, 40, 60, 80, 100])),
        ((1000,), 20, (by_time.ORDER, [200, 400, 600, 800, 1000])),
        ((39,), 20, (by_time.ORDER, [39])),
        ((19,), 20, (by_time.ORDER, [])),
        ((), 20, (by_time.ORDER, [])),
    ],
)
def test_parts_are_days_or_equal_and_never_too_small(per_day, minimum, wanted) -> None:
    assert by_time.cuts(times(*per_day), minimum, UTC) == wanted


def test_many_days_are_put_together() -> None:
    by, ends = by_time.cuts(times(*[20] * 60), 20, UTC)

    assert (by, len(ends), ends[-1]) == (by_time.DAY, by_time.MOST_DAYS, 1200)


def test_a_day_is_one_of_the_place_where_people_read_it() -> None:
    """22:00 and 23:30 in Greenwich are two days in Berlin."""
    evening = datetime(2026, 3, 2, 22, tzinfo=UTC).timestamp()
    found = np.array([evening, evening + 60, evening + 5400, evening + 5460])

    assert by_time.cuts(found, 2, UTC)[0] == by_time.ORDER
    assert by_time.cuts(found, 2, ZoneInfo("Europe/Berlin")) == (by_time.DAY, [2, 4])


# -- the figures ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_each_part_has_the_figure_of_its_own_items(closed: Draw) -> None:
    found = found_in(closed)

    said = [(part.first, part.last, part.entry["n"], part.entry["value"]) for part in found.parts]
    assert (found.by, said) == (by_time.DAY, [(1, 4, 4, 1.0), (5, 8, 4, -1.0)])
    assert found.difference is not None
    assert found.difference["value"] == -2.0
    assert found.difference["interval"][1] < 0


@pytest.mark.django_db
def test_an_item_counts_when_its_last_rating_came_in(version, people) -> None:
    """Items that were begun first and completed last stand last."""
    draw = taken(version, people, [*CROSSED, *ALIKE], [9, 9, 0, 0])

    assert [part.entry["value"] for part in found_in(draw).parts] == [1.0, -1.0]


@pytest.mark.django_db
def test_one_day_is_cut_into_equal_parts(version, people) -> None:
    draw = taken(version, people, [*ALIKE * 2, *CROSSED], [0] * 6)
    found = found_in(draw)

    assert (found.by, [(part.first, part.last) for part in found.parts]) == (by_time.ORDER, [(1, 2), (3, 4), (5, 6)])


@pytest.mark.django_db
def test_spans_are_read_by_time_too(version, people) -> None:
    factories.question(version, "where", ("who",), task_type="spans")

    def mark(start: int, end: int) -> list[dict[str, object]]:
        return [{"field": "text", "start": start, "end": end, "label": "who"}]

    alike, apart = (mark(0, 4), mark(0, 4)), (mark(0, 4), mark(5, 9))
    said = [({"where": a}, {"where": b}) for a, b in (alike, alike, apart, apart)]
    draw = taken(version, people, said, [0, 0, 7, 7])

    parts = found_in(draw, "where").parts
    assert [part.entry["n"] for part in parts] == [2, 2]
    assert parts[0].entry["value"] == 1.0
    assert parts[1].entry["value"] < 0


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_page_says_whether_the_last_part_differs(client_of, closed, lead) -> None:
    page = client_of(lead).get(address(closed)).content.decode()
    project = closed.wave.project.uuid
    draw = client_of(lead).get(reverse("agreement:draw", args=[project, closed.uuid, "intent"])).content.decode()
    overview = client_of(lead).get(reverse("agreement:agreement", args=[project])).content.decode()

    words = ("The last part minus the first: −2.00, 95 % between", "Agreement was lower in the last part.", "4 items")
    assert [word for word in words if word not in page] == []
    assert address(closed) in draw
    assert address(closed) in overview


@pytest.mark.django_db
def test_parts_that_are_not_told_apart_say_so(client_of, version, people, lead) -> None:
    draw = taken(version, people, [*ALIKE, ALIKE[0], CROSSED[0]] * 2, [0] * 4 + [5] * 4)

    page = client_of(lead).get(address(draw)).content.decode()

    assert "The last part minus the first: .00, 95 % between" in page
    assert "The interval holds 0: they are not told apart." in page


@pytest.mark.django_db
def test_a_part_without_a_figure_cannot_be_compared(client_of, version, people, lead) -> None:
    draw = taken(version, people, [ALIKE[0], ALIKE[0], *ALIKE], [0, 0, 5, 5])

    page = client_of(lead).get(address(draw)).content.decode()

    assert "cannot be compared: the figure of one of them is undefined" in page
    assert "undefined: " in page


@pytest.mark.django_db
def test_too_few_items_are_said_to_be(client_of, version, people, lead) -> None:
    draw = taken(version, people, [*ALIKE, CROSSED[0]], [0] * 3)

    page = client_of(lead).get(address(draw)).content.decode()

    assert "3 items are complete, and two parts of 2 items, the smallest n of the protocol, need 4." in page


@pytest.mark.django_db
@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, closed, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(address(closed)).status_code == status


@pytest.mark.django_db
def test_an_open_draw_is_not_read_by_time(client_of, version, people, lead) -> None:
    draw = taken(version, people, ALIKE * 2, [0, 0, 5, 5], closing="")
    project = draw.wave.project.uuid

    page = client_of(lead).get(reverse("agreement:draw", args=[project, draw.uuid, "intent"]))
    overview = client_of(lead).get(reverse("agreement:agreement", args=[project]))

    assert client_of(lead).get(address(draw)).status_code == 404
    assert "/time/" not in page.content.decode() + overview.content.decode()


@pytest.mark.django_db
def test_imported_ratings_have_no_times(client_of, closed, lead) -> None:
    Draw.objects.update(protocol={**closed.protocol, "imported": True})

    assert client_of(lead).get(address(closed)).status_code == 404


@pytest.mark.django_db
def test_a_draw_whose_figures_are_still_computed_has_its_own_page(client_of, closed, lead) -> None:
    Run.objects.all().delete()

    response = client_of(lead).get(address(closed))

    draw = reverse("agreement:draw", args=[closed.wave.project.uuid, closed.uuid, "intent"])
    assert (response.status_code, response["Location"]) == (302, draw)


@pytest.mark.django_db
def test_another_project_s_draw_does_not_exist(client_of, closed) -> None:
    other: Project = factories.version(factories.project("Neighbours")).project
    nora = factories.member(other, "nora", "lead", "admin")

    assert client_of(nora).get(address(closed)).status_code == 404
    elsewhere = reverse("agreement:by-time", args=[other.uuid, closed.uuid, "intent"])
    assert client_of(nora).get(elsewhere).status_code == 404


@pytest.mark.django_db
def test_more_items_and_parts_cost_no_more_queries(client_of, version, people, lead) -> None:
    client = client_of(lead)

    def queries(draw: Draw) -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(address(draw)).status_code == 200
        return len(found)

    few = queries(taken(version, people, [*ALIKE, *CROSSED], [0, 0, 5, 5]))
    many = queries(taken(version, people, [*ALIKE, *CROSSED] * 4, [place // 2 for place in range(16)]))

    assert many == few
