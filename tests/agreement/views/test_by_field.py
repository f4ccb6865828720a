"""A closed draw's headline by a field of its items that it was not split by."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import by_field, runs
from agreement.models import Run
from annotations.models import Draw
from projects.models import Batch, GuidelineVersion, Membership, Project
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
ALIKE = [("praise", "praise"), ("complaint", "complaint")] * 2
CROSSED = [("praise", "complaint"), ("complaint", "praise")] * 2
LANGUAGES = [*["en"] * 4, *["de"] * 4, None]


def drawn(
    version: GuidelineVersion, people: tuple[Membership, Membership, Membership], closing: str = "complete"
) -> Draw:
    """Two agree on what is English, cross on what is German, and have one item without a language."""
    anna, ben, lead = people
    metadata = [{"source": "mail", **({"language": each} if each else {})} for each in LANGUAGES]
    items = factories.items(version.project, len(metadata), prefix=closing or "open", metadata=metadata)
    Batch.objects.filter(project=version.project).update(metadata_fields=["source", "language"])
    said = [{anna: a, ben: b} for a, b in [*ALIKE, *CROSSED, ("praise", "praise")]]
    draw = rows.draw(version, said, by=lead, items=items, closing=closing, strata=["mail"] * 9, strata_field="source")
    runs.compute(draw, at=LATER)
    return draw


@pytest.fixture
def people(anna: Membership, ben: Membership, lead: Membership) -> tuple[Membership, Membership, Membership]:
    return anna, ben, lead


@pytest.fixture
def closed(version: GuidelineVersion, people) -> Draw:
    return drawn(version, people)


def address(draw: Draw, query: str = "?field=language") -> str:
    return reverse("agreement:by-field", args=[draw.wave.project.uuid, draw.uuid, "intent"]) + query


def test_each_part_has_its_own_figure(closed: Draw) -> None:
    question = closed.wave.version.questions.get()

    entries, more = by_field.of(closed, question, Run.objects.get(), "language", at=LATER)

    found = [(part["stratum"], part["n"], part.get("value"), part.get("undefined")) for part in entries]
    assert (found, more) == (
        [("de", 4, -1.0, None), ("en", 4, 1.0, None), ("", 1, None, "no_variation")],
        0,
    )


def test_the_field_of_the_strata_is_not_offered_again(closed: Draw) -> None:
    assert by_field.fields(closed) == ["language"]


def test_values_beyond_the_most_common_are_counted(closed: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_field, "MOST_PARTS", 1)
    question = closed.wave.version.questions.get()

    entries, more = by_field.of(closed, question, Run.objects.get(), "language", at=LATER)

    assert ([part["stratum"] for part in entries], more) == (["de"], 2)


def test_the_page_shows_the_parts_and_says_that_nobody_declared_them(client_of, closed, lead) -> None:
    page = client_of(lead).get(address(closed)).content.decode()
    draw = client_of(lead).get(reverse("agreement:draw", args=[closed.wave.project.uuid, closed.uuid, "intent"]))

    words = ("By language", "Cohen&#x27;s kappa, on the items of each part", "−1.00", "1.00", "without a value")
    assert [word for word in (*words, "not declared") if word not in page] == []
    assert address(closed) in draw.content.decode()


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, closed, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(address(closed)).status_code == status


@pytest.mark.parametrize("query", ["?field=source", "?field=age"])
def test_a_field_that_is_none_does_not_exist(client_of, closed, lead, query) -> None:
    answer = client_of(lead).get(address(closed, query))

    assert answer.status_code == 404
    assert f"There is no field “{query.removeprefix('?field=')}” to split by" in answer.content.decode()


def test_an_open_draw_is_not_split(client_of, version, people, lead) -> None:
    draw = drawn(version, people, closing="")

    page = client_of(lead).get(reverse("agreement:draw", args=[draw.wave.project.uuid, draw.uuid, "intent"]))

    assert client_of(lead).get(address(draw)).status_code == 404
    assert "/by/" not in page.content.decode()


def test_a_draw_whose_figures_are_still_computed_has_its_own_page(client_of, closed, lead) -> None:
    Run.objects.all().delete()

    response = client_of(lead).get(address(closed))

    draw = reverse("agreement:draw", args=[closed.wave.project.uuid, closed.uuid, "intent"])
    assert (response.status_code, response["Location"]) == (302, draw)


def test_another_project_s_draw_does_not_exist(client_of, closed) -> None:
    other: Project = factories.version(factories.project("Neighbours")).project
    nora = factories.member(other, "nora", "lead", "admin")

    assert client_of(nora).get(address(closed)).status_code == 404
    elsewhere = reverse("agreement:by-field", args=[other.uuid, closed.uuid, "intent"])
    assert client_of(nora).get(elsewhere).status_code == 404


def test_more_values_cost_no_more_queries(client_of, closed, lead) -> None:
    client = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(address(closed))
        return len(found)

    few = queries()
    for number, wave_item in enumerate(closed.wave.wave_items.select_related("item")):
        wave_item.item.metadata = {"language": f"language {number}"}
        wave_item.item.save()

    assert queries() == few
