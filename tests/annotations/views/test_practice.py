"""The pages of the practice round and of who has read a version."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations import practice, publishing
from annotations.models import Practice
from projects import guidelines
from projects.models import GuidelineVersion
from tests import factories

pytestmark = pytest.mark.django_db

PRACTICE_STATUS = {"lead": 403, "admin": 403, "anna": 200, "outsider": 404, "anonymous": 302}
READERS_STATUS = {"lead": 200, "admin": 200, "anna": 403, "outsider": 404, "anonymous": 302}


@pytest.fixture
def second(project, version, lead, anna, ben) -> GuidelineVersion:
    draft = guidelines.draft_of(project, by=lead)
    for text, value in (("Fix it.", "complaint"), ("Where is it?", "question")):
        guidelines.add_example(
            draft, question_key="intent", content={"text": text}, value=value, rationale=f"Because {value}.", by=lead
        )
    made = publishing.publish(draft, change="material", reason="New examples.", by=lead, at=factories.NOW)
    project.protocol |= {"practice_pass_percent": 100}
    project.save()
    publishing.acknowledge(anna, made, at=factories.NOW)
    return made


@pytest.fixture
def address(project) -> str:
    return reverse("annotations:practice", args=[project.uuid])


def readers(version: GuidelineVersion) -> str:
    return reverse("annotations:guideline-readers", args=[version.project.uuid, version.uuid])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def visitor(request, client, client_of, who):
    return client if who == "anonymous" else client_of(request.getfixturevalue(who))


@pytest.mark.parametrize("who", PRACTICE_STATUS)
def test_who_labels_practises(request, client, client_of, second, address, who, admin):
    client = visitor(request, client, client_of, who)

    assert client.get(address).status_code == PRACTICE_STATUS[who]
    if who != "anna":
        assert client.post(address, {"value": "praise"}).status_code == PRACTICE_STATUS[who]


@pytest.mark.parametrize("who", READERS_STATUS)
def test_leads_and_admins_see_who_has_read(request, client, client_of, second, who, admin):
    client = visitor(request, client, client_of, who)

    assert client.get(readers(second)).status_code == READERS_STATUS[who]


def test_the_labelling_page_leads_to_the_practice(client_of, project, second, anna, address):
    label = reverse("annotations:label", args=[project.uuid])

    assert client_of(anna).get(label).url == address
    assert client_of(anna).get(label, headers={"HX-Request": "true"})["HX-Redirect"] == address


def test_an_example_is_shown_without_its_answer(client_of, second, anna, address):
    page = text(client_of(anna).get(address))

    assert "1 of 2" in page
    assert "Because" not in page
    assert ("Fix it." in page) != ("Where is it?" in page)


def test_an_answer_is_told_at_once_with_the_reason(client_of, second, anna, address):
    client, (first, _other) = client_of(anna), practice.state(anna, second).left

    right = text(client.post(address, {"example": str(first.lineage), "value": first.value}, follow=True))

    assert "<h1>Right</h1>" in right
    assert first.rationale in right
    assert "Next example" in right


def test_a_wrong_answer_shows_the_rule_and_the_round_begins_again(client_of, second, anna, address):
    client = client_of(anna)
    for example in practice.state(anna, second).left:
        page = text(client.post(address, {"example": str(example.lineage), "value": "praise"}, follow=True))

    assert "The guideline says otherwise" in page
    assert f"It is {example.value}." in page
    assert "Once more" in page
    assert "round 2" in text(client.get(address))


def test_after_the_last_right_answer_labelling_goes_on(client_of, project, second, anna, address):
    client = client_of(anna)
    for example in practice.state(anna, second).left:
        page = text(client.post(address, {"example": str(example.lineage), "value": example.value}, follow=True))

    assert "The practice is done." in page
    assert client.get(address).url == reverse("annotations:label", args=[project.uuid])


def test_no_answer_is_asked_for_again(client_of, second, anna, address):
    lineage = practice.state(anna, second).left[0].lineage

    answer = client_of(anna).post(address, {"example": str(lineage)})

    assert (answer.status_code, Practice.objects.count()) == (422, 0)
    assert "Choose a label." in text(answer)


@pytest.mark.parametrize("sent", ["", "nonsense", "7fd1a7e8-7f8b-4a55-9d3c-0d4a4f1e0a11"])
def test_an_example_that_is_not_there_is_not_answered(client_of, second, anna, address, sent):
    assert client_of(anna).post(address, {"example": sent, "value": "praise"}).status_code == 404
    assert client_of(anna).get(f"{address}?answered={sent}").status_code in (200, 302)


def test_who_has_not_read_reads_first(client_of, project, second, ben, address):
    assert client_of(ben).get(address).url == reverse("annotations:label", args=[project.uuid])


def test_the_readers_are_told_apart_with_their_practice(client_of, second, lead, anna, ben):
    for example in practice.state(anna, second).left:
        practice.answer(anna, example.lineage, example.value, at=factories.NOW)

    page = text(client_of(lead).get(readers(second)))

    assert "1 of 2 annotators." in page
    assert page.index("ben") < page.index("not yet") < page.index("anna") < page.index("2 of 2 right at first")


def test_at_the_end_of_the_version_it_is_a_fragment(client_of, project, second, lead, anna):
    part = client_of(lead).get(readers(second), headers={"HX-Request": "true"})
    version = reverse("projects:guideline-version", args=[project.uuid, second.uuid])

    assert ("<html" in text(part), "HX-Request" in part["Vary"]) == (False, True)
    assert readers(second) in text(client_of(lead).get(version))
    assert readers(second) not in text(client_of(anna).get(version))


def test_a_neighbours_readers_do_not_exist_here(client_of, second):
    neighbour = factories.version(factories.project("Neighbour"))
    nora = factories.member(neighbour.project, "nora", "lead")

    crossed = reverse("annotations:guideline-readers", args=[neighbour.project.uuid, second.uuid])
    assert client_of(nora).get(crossed).status_code == 404
    assert "anna" not in text(client_of(nora).get(readers(neighbour)))


def test_as_many_queries_for_three_readers_as_for_one(client_of, project, second, lead, anna):
    client = client_of(lead)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(readers(second))
        return len(queries)

    count()
    one = count()
    for name in ("cara", "dan"):
        factories.member(project, name)

    assert count() == one
