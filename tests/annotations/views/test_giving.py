"""The page that gives a wave to named people: loads while choosing, refusals in words, and whose it is."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations import draws, giving, releasing
from annotations.models import Given, Wave
from projects.models import Membership, Project
from tests import factories


def opened(project: Project, lead: Membership, count: int = 20, share: int = 50) -> Wave:
    factories.items(project, count, prefix=f"v{project.waves.count()}")
    return releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(share))


def url(wave: Wave) -> str:
    return f"/p/{wave.project.uuid}/waves/{wave.uuid}/people/"


def test_a_wave_is_given_and_its_page_says_to_whom(project, lead, anna, ben, client_of):
    wave, client = opened(project, lead), client_of(lead)
    people = [str(anna.uuid), str(ben.uuid)]

    response = client.post(url(wave), {"members": people, "due_on": "2027-01-15", "limit_per_person": "20"})

    page = client.get(response["Location"]).content.decode()
    assert response.status_code == 302
    assert "Given to anna, ben." in page
    assert re.search(r"Due [^.]*15[^.]*2027", page)
    assert "At most 20 for one person." in page
    form = client.get(url(wave)).context["form"]
    assert sorted(form.initial["members"]) == sorted(people)


def test_the_load_follows_what_is_chosen(project, lead, anna, ben, client_of):
    wave = opened(project, lead)

    part = client_of(lead).get(url(wave), {"members": [str(ben.uuid)]}, headers={"HX-Request": "true"})

    rows = [(row.member.name, row.now, row.after) for row in part.context["loads"]]
    assert part.content.decode().startswith('<section id="loads"')
    assert rows == [("anna", 15, 0), ("ben", 15, 30)]


def test_too_few_people_are_refused_on_the_page_with_the_numbers(project, lead, anna, ben, client_of):
    wave = opened(project, lead)

    response = client_of(lead).post(url(wave), {"members": [str(anna.uuid)]})

    assert response.status_code == 422
    assert "1 person is named, and every overlap item of this wave needs 2" in response.content.decode()
    assert not Given.objects.exists()


def test_half_typed_choices_are_borne_and_wrong_ones_come_back_at_their_field(project, lead, anna, ben, client_of):
    wave, client = opened(project, lead), client_of(lead)
    wrong = {"members": ["nobody"], "limit_per_person": "soon", "due_on": "never"}

    part = client.get(url(wave), wrong, headers={"HX-Request": "true"})
    response = client.post(url(wave), wrong)

    assert part.status_code == 200
    assert (response.status_code, sorted(response.context["form"].errors)) == (
        422,
        ["due_on", "limit_per_person", "members"],
    )


def test_the_wave_says_when_too_few_of_the_named_are_still_here(project, lead, anna, ben, client_of):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], by=lead, at=timezone.now())
    Membership.objects.filter(pk=ben.pk).update(active=False)

    page = client_of(lead).get(f"/p/{project.uuid}/waves/{wave.uuid}/").content.decode()

    assert "1 of them is still here, and every overlap item needs 2: what is left waits." in page


def test_a_closed_wave_leads_back_to_its_page(project, lead, anna, ben, client_of):
    wave = opened(project, lead)
    draws.close_wave(wave, by=lead, at=timezone.now(), reason="enough")

    assert client_of(lead).get(url(wave))["Location"] == f"/p/{project.uuid}/waves/{wave.uuid}/"


def test_without_annotators_the_page_says_what_to_do(project, lead, client_of):
    assert "add an annotator first" in client_of(lead).get(url(opened(project, lead))).content.decode()


def test_the_api_gives_and_takes_back(project, lead, anna, ben, outsider, client_of):
    wave, client = opened(project, lead), client_of(lead)
    address = f"/api/v1/projects/{project.uuid}/waves/{wave.uuid}/people/"

    def put(**sent: object):
        return client.put(address, sent, content_type="application/json")

    given = put(members=[str(anna.uuid), str(ben.uuid)], due_on="2027-01-15", limit_per_day=30).json()
    refused = put(members=[str(anna.uuid)])
    stranger = put(members=[str(lead.uuid)])
    back = put(members=[]).json()

    assert sorted(given["given_to"]) == sorted([str(anna.uuid), str(ben.uuid)])
    assert (given["due_on"], given["limit_per_day"]) == ("2027-01-15", 30)
    assert (refused.status_code, stranger.status_code) == (422, 404)
    assert (back["given_to"], back["due_on"]) == (None, None)


def test_the_page_costs_the_same_with_one_wave_and_with_three(project, lead, anna, ben, client_of):
    client, counts = client_of(lead), []
    for more in (1, 2):
        for _ in range(more):
            wave = opened(project, lead, 4)
            giving.give(wave, members=[anna, ben], by=lead, at=timezone.now())
        with CaptureQueriesContext(connection) as queries:
            client.get(url(wave))
        counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404), ("nobody", 302)]
)
def test_access(request, project, lead, anna, client, client_of, who, status):
    wave = opened(project, lead, 3)
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(url(wave)).status_code == status
    assert visitor.post(url(wave), {"members": []}).status_code == (302 if status == 200 else status)


def test_a_neighbour_s_wave_and_people_do_not_exist_here(project, lead, anna, client_of):
    other = factories.project("Neighbour")
    factories.version(other)
    boss, bob = factories.member(other, "boss", "lead"), factories.member(other, "bob")
    wave, own = opened(other, boss, 3), opened(project, lead, 3)
    client = client_of(lead)

    assert client.get(f"/p/{project.uuid}/waves/{wave.uuid}/people/").status_code == 404
    assert "bob" not in client.get(url(own)).content.decode()
    assert client.post(url(own), {"members": [str(bob.uuid)]}).status_code == 422
