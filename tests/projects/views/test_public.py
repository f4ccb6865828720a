"""A version that anybody with its address may read, where a lead wants that."""

import pytest
from django.urls import reverse

from projects import guidelines
from projects.errors import Invalid, NotAllowed
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(version) -> str:
    return reverse("projects:public-guideline", args=[version.uuid])


@pytest.fixture
def switch(version) -> str:
    return reverse("projects:guideline-public", args=[version.project.uuid, version.uuid])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_a_version_is_not_public_unless_somebody_made_it_so(client, version, address):
    assert client.get(address).status_code == 404


def test_a_public_version_is_read_without_a_log_in(client, version, lead, address):
    version.digest = "ab" * 32
    version.save()
    guidelines.set_public(version, True, by=lead)

    answer = client.get(address)
    page = text(answer)

    assert answer.status_code == 200
    for wanted in (
        "App reviews: guideline 1.0",
        "It is praise.",
        "App reviews: annotation guideline, version 1.0,",
        f"http://testserver{address}",
        "ab" * 32,
        '<meta name="robots" content="noindex">',
    ):
        assert wanted in page, wanted
    assert answer["X-Robots-Tag"] == "noindex"
    assert "no-store" in answer["Cache-Control"]


def test_it_says_nothing_of_the_people_or_the_project(client, version, lead, address):
    version.published_by = lead
    version.reason = "INTERNAL reason"
    version.save()
    version.project.notice = "INTERNAL notice"
    version.project.save()
    guidelines.set_public(version, True, by=lead)

    page = text(client.get(address))

    assert "INTERNAL" not in page
    assert "lea" not in page.replace("lead", "").replace("leave", "").replace("least", "").replace("clear", "")
    assert f"/p/{version.project.uuid}" not in page


def test_who_is_logged_in_elsewhere_reads_the_same(client_of, version, lead, outsider, address):
    guidelines.set_public(version, True, by=lead)

    assert client_of(outsider).get(address).status_code == 200


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 302), ("lead", 302), ("anna", 403), ("outsider", 404), ("anonymous", 302)]
)
def test_leads_and_admins_make_it_public(request, client, client_of, version, switch, who, status):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    answer = visitor.post(switch, {"public": "yes"})

    version.refresh_from_db()
    assert (answer.status_code, version.public) == (status, who in ("admin", "lead"))


def test_it_is_closed_again_at_once(client, client_of, version, lead, switch, address):
    client_of(lead).post(switch, {"public": "yes"})
    opened = client.get(address).status_code
    client_of(lead).post(switch, {"public": ""})

    assert (opened, client.get(address).status_code) == (200, 404)


def test_being_public_changes_nothing_that_it_says(version, lead):
    before = guidelines.digest(version)

    guidelines.set_public(version, True, by=lead)

    assert guidelines.digest(version) == before


def test_a_draft_and_a_neighbours_version_are_not_made_public(client, client_of, version, lead):
    draft = guidelines.draft_of(version.project, by=lead)
    foreign = factories.version(factories.project("Neighbour"))
    for row in (draft, foreign):
        crossed = reverse("projects:guideline-public", args=[version.project.uuid, row.uuid])
        assert client_of(lead).post(crossed, {"public": "yes"}).status_code == 404
    with pytest.raises(Invalid, match="publish it first"):
        guidelines.set_public(draft, True, by=lead)
    with pytest.raises(NotAllowed):
        guidelines.set_public(foreign, True, by=lead)
    assert client.get(reverse("projects:public-guideline", args=[draft.uuid])).status_code == 404


def test_the_versions_page_asks_about_the_examples_first(client_of, version, lead, anna):
    address = reverse("projects:guideline", args=[version.project.uuid])

    asked, reader = text(client_of(lead).get(address)), text(client_of(anna).get(address))

    assert "none of them names or identifies anybody" in asked
    assert "none of them names or identifies anybody" not in reader
    assert "App reviews: annotation guideline, version 1.0," in reader
