"""Panels on the pages and in the API: choosing people, what it would mean, refusals, and how their waves are shown."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import panels, serving
from annotations.models import Panel, Split, Wave
from annotations.panels import Declared
from projects.models import Membership, Project
from tests import factories

AT = factories.NOW


@pytest.fixture
def team(project: Project, version: object) -> list[Membership]:
    return [factories.member(project, name) for name in ("anna", "ben", "carl", "dora")]


def choices(team: list[Membership], letters: str, **other: object) -> dict[str, object]:
    chosen = {f"panel-{one.uuid}": letter for one, letter in zip(team, letters, strict=True)}
    return {"scope": "all", "size": "", "share_percent": "20", "ratings_per_item": "2", **chosen, **other}


def opened(project: Project, lead: Membership, team: list[Membership]) -> list[Wave]:
    factories.items(project, 20, prefix=f"v{project.items.count()}")
    return panels.open_waves(project, [Declared(team[:2]), Declared(team[2:])], by=lead, at=AT, size=None)


def test_the_form_opens_a_wave_for_each_panel_and_the_list_shows_that_they_belong_together(
    project, lead, team, client_of
):
    factories.items(project, 30)
    client = client_of(lead)

    response = client.post(f"/p/{project.uuid}/waves/new/", choices(team, "AABB", panel_weights="2, 1"), follow=True)

    page = response.content.decode()
    assert response.redirect_chain[-1][0] == f"/p/{project.uuid}/waves/"
    assert "Waves 1 to 2 are open, one for each panel." in page
    assert [
        (row.wave.number, row.wave.panel.letter, row.wave.size, row.together) for row in response.context["rows"]
    ] == [
        (2, "B", 10, (1,)),
        (1, "A", 20, (2,)),
    ]
    assert "split with wave 1" in page


def test_the_forecast_says_what_each_panel_would_get(project, lead, team, client_of):
    factories.items(project, 30)

    part = client_of(lead).get(
        f"/p/{project.uuid}/waves/new/", choices(team, "ABBA", panel_weights="2, 1"), headers={"HX-Request": "true"}
    )

    said = part.context["forecast"].sentences
    assert "Panel A, anna, dora, gets 20 of them as a wave of its own." in said
    assert "Panel B, ben, carl, gets 10 of them as a wave of its own." in said


@pytest.mark.parametrize(
    ("letters", "other", "said"),
    [
        (("A", "A", "A", "B"), {}, "Panel B has 1 person, and every overlap item needs 2: put others into it."),
        (("A", "A", "C", "C"), {}, "Panel B has nobody: fill the panels from A on."),
        (("A", "A", "B", "B"), {"panel_weights": "2"}, "Weights “2”: expected 2 whole numbers of 1 to 1000"),
        (("A", "A", "B", "B"), {"panel_weights": "0, 1"}, "Weights “0, 1”: expected 2 whole numbers"),
        (("A", "A", "B", "Z"), {}, "Select a valid choice"),
    ],
)
def test_what_makes_no_panels_comes_back_with_the_reason(project, lead, team, client_of, letters, other, said):
    factories.items(project, 30)
    client, address = client_of(lead), f"/p/{project.uuid}/waves/new/"

    response = client.post(address, choices(team, letters, **other))

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not Wave.objects.exists()
    assert client.get(address, choices(team, letters, **other), headers={"HX-Request": "true"}).status_code == 200


def test_one_annotator_alone_is_offered_no_panels(project, lead, anna, client_of):
    factories.items(project, 3)

    assert "panel-" not in client_of(lead).get(f"/p/{project.uuid}/waves/new/").content.decode()


def test_the_wave_s_page_links_the_panels_and_shows_the_seed_only_once_its_draw_is_closed(
    project, lead, team, client_of
):
    one, other = opened(project, lead, team)
    split, client = Split.objects.get(), client_of(lead)
    address = f"/p/{project.uuid}/waves/{one.uuid}/"

    page = client.get(address).content.decode()
    assert f"/waves/{other.uuid}/" in page
    assert split.commitment in page
    assert bytes(split.seed).hex() not in page
    assert "20 items were split at random among 2 panels" in page

    client.post(f"{address}close/", {"closing": "wave", "reason": "enough"})
    page = client.get(f"{address}?verify").content.decode()
    assert bytes(split.seed).hex() in page
    assert "The split into 2 panels replays, too: 10 of 20 items." in page


def test_a_panel_s_annotator_is_told_nothing_of_it(project, lead, team, client_of):
    one, other = opened(project, lead, team)
    anna = client_of(team[0])

    page = anna.get(f"/p/{project.uuid}/label/")

    assert isinstance(serving.next_task(team[0], at=AT), serving.Task)
    assert not any(word in page.content.decode().lower() for word in ("panel", str(one.uuid), str(other.uuid)))
    assert anna.get(f"/p/{project.uuid}/waves/{one.uuid}/").status_code == 403


def test_the_api_declares_panels_and_names_their_waves(project, lead, team, client_of):
    factories.items(project, 30)
    client, address = client_of(lead), f"/api/v1/projects/{project.uuid}/waves/"
    wanted = [
        {"members": [str(one.uuid) for one in team[:2]], "weight": 2},
        {"members": [str(one.uuid) for one in team[2:]]},
    ]

    refused = client.post(address, {"panels": wanted[:1]}, content_type="application/json")
    stranger = client.post(
        address, {"panels": [wanted[0], {"members": [str(lead.uuid)]}]}, content_type="application/json"
    )
    made = client.post(address, {"panels": wanted, "share_percent": "20"}, content_type="application/json")

    assert (refused.status_code, stranger.status_code, made.status_code) == (422, 422, 201)
    split = Split.objects.get()
    assert made.json()["panel"] == {
        "name": "A",
        "number": 1,
        "weight": 2,
        "members": sorted(str(one.uuid) for one in team[:2]),
        "split": str(split.uuid),
        "commitment": split.commitment,
        "waves": [str(wave.uuid) for wave in panels.waves_of(split)],
    }
    assert (made.json()["size"], made.json()["given_to"]) == (20, [str(one.uuid) for one in team[:2]])
    listed = client.get(address).json()["results"]
    assert [row["panel"]["name"] for row in listed] == ["B", "A"]


def test_the_list_costs_the_same_with_one_release_of_panels_and_with_three(project, lead, team, client_of):
    client, counts = client_of(lead), []
    for more in (1, 2):
        for _ in range(more):
            opened(project, lead, team)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/{project.uuid}/waves/")
        counts.append(len(queries))

    assert counts[0] == counts[1]
    assert Panel.objects.count() == 6


def test_the_home_shows_the_panel_that_still_labels(project, admin, lead, team, client_of):
    one, other = opened(project, lead, team)
    client = client_of(admin)
    client_of(lead).post(f"/p/{project.uuid}/waves/{other.uuid}/close/", {"closing": "wave", "reason": "enough"})

    page = client.get(f"/p/{project.uuid}/").content.decode()

    assert "panel A" in page
    assert "Labelling is under way" in page
    assert one.number == 1
