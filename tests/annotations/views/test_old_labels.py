"""The page on which a lead says what becomes of old single labels."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.authtoken.models import Token

from annotations.models import OldLabelChoice, Wave
from tests import factories
from tests.annotations import bridged


def url(name, member):
    return reverse(f"annotations:{name}", args=[member.project.uuid])


def send(client, member, label, choice):
    return client.post(url("old-labels", member), {"question": "intent", "label": label, "choice": choice})


@pytest.fixture
def two(project, lead, anna, ben):
    bridged.rated(project, lead, anna)
    return bridged.published(project, lead, anna, ben)


def test_the_empty_page_says_when_there_will_be_something(project, version, lead, client_of):
    page = client_of(lead).get(url("old-labels", lead)).content.decode()

    assert "They appear here when a material change of the guideline is published" in page


def test_a_choice_is_kept_with_name_and_time(two, lead, client_of):
    client = client_of(lead)
    answer = send(client, lead, "question", "map:praise")
    page = client.get(url("old-labels", lead)).content.decode()

    assert answer.status_code == 302
    assert OldLabelChoice.objects.get().becomes == "praise"
    assert "chosen by lea" in page
    assert '<option value="map:praise" selected>' in page
    assert "Open the wave" not in page


def test_labelling_again_is_a_wave_and_locks_the_choice(two, lead, client_of):
    client = client_of(lead)
    send(client, lead, "question", "again")
    page = client.get(url("old-labels", lead)).content.decode()

    opened = client.post(url("old-labels-again", lead))
    after = client.get(url("old-labels", lead)).content.decode()
    refused = send(client, lead, "question", "keep")

    wave = Wave.objects.get(kind="relabel")
    assert "3 items wait to be labelled again under guideline 2.0" in page
    assert opened.headers["Location"] == reverse("annotations:wave", args=[lead.project.uuid, wave.uuid])
    assert "labelled again: <a" in after
    assert (refused.status_code, "Wave 2 labels these again" in refused.content.decode()) == (409, True)
    listed = client.get(url("waves", lead)).content.decode()
    assert '<span class="tag">labelled again</span>' in listed
    own = client.get(opened.headers["Location"]).content.decode()
    assert "keeps its old label" in own


@pytest.mark.parametrize("choice", ["burn", "map:", "map:spam", ""])
def test_what_makes_no_sense_is_refused_in_words(two, lead, client_of, choice):
    answer = send(client_of(lead), lead, "question", choice)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()


def test_nothing_to_label_again_is_refused_in_words(two, lead, client_of):
    answer = client_of(lead).post(url("old-labels-again", lead))

    assert (answer.status_code, "No old label is to be given again" in answer.content.decode()) == (409, True)


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404), ("nobody", 302)]
)
def test_access(request, two, lead, client, client_of, who, status):
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(url("old-labels", lead)).status_code == status
    if who in ("anna", "outsider"):
        assert visitor.post(url("old-labels-again", lead)).status_code == status
        assert send(visitor, lead, "question", "keep").status_code == status
    assert not OldLabelChoice.objects.exists()


def test_nothing_of_a_neighbour_is_shown(two, client_of):
    nora = factories.member(factories.version(factories.project("Neighbours")).project, "nora", "lead", "admin")

    assert "question" not in client_of(nora).get(url("old-labels", nora)).content.decode().split("<main")[1]


def test_it_costs_the_same_with_one_and_with_three_choices(two, lead, client_of):
    client = client_of(lead)
    counts = []
    for labels in (["question"], ["praise", "complaint"]):
        for label in labels:
            send(client, lead, label, "keep")
        client.get(url("old-labels", lead))
        with CaptureQueriesContext(connection) as queries:
            client.get(url("old-labels", lead))
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 9


def test_the_api_chooses_and_opens(two, project, lead, client):
    headers = {"Authorization": f"Token {Token.objects.create(user=lead.user).key}"}
    address = f"/api/v1/projects/{project.uuid}/old-labels/"
    sent = {"question_key": "intent", "label_key": "question", "choice": "again"}

    chosen = client.post(address, sent, "application/json", headers=headers).json()
    found = client.get(address, headers=headers).json()
    made = client.post(f"{address}wave/", headers=headers)

    assert (chosen["choice"], chosen["by"], chosen["wave"]) == ("again", "lea", None)
    assert [(row["label_key"], row["singles"]) for row in found["rows"]] == [
        ("complaint", 4),
        ("praise", 3),
        ("question", 3),
    ]
    assert (found["again"], made.status_code, made.json()["number"]) == (3, 201, 2)
