"""The pages of a spot check: opening one from the wave, checking blind, what came of it on the wave's page."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.authtoken.models import Token

from annotations import draws, exporting, releasing, samples, spot_checks
from annotations.models import Wave
from projects import jobs
from tests import factories
from tests.annotations.team import Team


def url(name, member, *args):
    return reverse(name, args=[member.project.uuid, *args])


@pytest.fixture
def wave(project, lead, anna):
    before = timezone.now() - timedelta(days=1)
    factories.items(project, 10)
    opened = releasing.open_wave(project, by=lead, at=before, share_percent=Decimal(0))
    Team([anna], at=before).finish()
    return opened


@pytest.fixture
def sample(wave, lead, client_of):
    client_of(lead).post(url("annotations:spot-check-open", lead, wave.uuid), {"share_percent": "40"})
    return Wave.samples.get()


def check(client, lead, sample, value):
    address = url("annotations:spot-check", lead, sample.uuid)
    item = client.get(address).context["sheet"].key
    return client.post(address, {"item": item, "answer-intent": value}, follow=True)


def test_it_is_opened_from_the_wave_and_checked_blind(wave, sample, lead, client_of):
    client = client_of(lead)
    page = client.get(url("annotations:spot-check", lead, sample.uuid)).content.decode()

    after = check(client, lead, sample, "praise").content.decode()

    assert sample.size == 4
    assert "4 labels are ready to be checked." in page
    assert "checked" not in page.split("<form")[1].split("</form>")[0].replace("checked=", "")
    assert "Saved. You corrected it:" in after
    assert "complaint</bdi> → <bdi>praise" in after
    assert "3 labels are ready to be checked." in after


def test_the_rate_stands_on_the_wave_s_page_with_its_interval(wave, sample, lead, client_of):
    client = client_of(lead)
    for value in ("praise", "complaint", "complaint", "complaint"):
        check(client, lead, sample, value)

    part = client.get(url("agreement:wave-checks", lead, wave.uuid)).content.decode()
    page = client.get(url("annotations:wave", lead, wave.uuid)).content.decode()
    own = client.get(url("agreement:sample", lead, sample.uuid)).content.decode()

    said = "1 of 4 checked labels were corrected: a share of .25, 95 % between .05 and .70."
    assert said in part
    assert said in own
    assert url("agreement:wave-checks", lead, wave.uuid) in page
    assert "Let the first label stand" in own


def test_letting_it_stand_is_a_button(wave, sample, lead, client_of):
    client = client_of(lead)
    check(client, lead, sample, "praise")
    item = sample.wave_items.get(rated=1).item

    page = client.post(url("annotations:spot-check-let-stand", lead, sample.uuid, item.uuid), follow=True)

    assert "0 of 1 checked label was corrected" in page.content.decode()


def test_an_answer_that_cannot_be_used_comes_back_with_what_was_said(sample, lead, client_of):
    client = client_of(lead)
    address = url("annotations:spot-check", lead, sample.uuid)
    item = client.get(address).context["sheet"].key

    answer = client.post(address, {"item": item, "answer-intent": "spam", "comment": "odd"})
    nothing = client.post(address, {"item": "x"})

    assert (answer.status_code, nothing.status_code) == (422, 404)
    assert "odd" in answer.content.decode()


def test_when_all_is_checked_the_page_says_so(wave, sample, lead, client_of):
    client = client_of(lead)
    for _ in range(4):
        check(client, lead, sample, "praise")

    page = client.get(url("annotations:spot-check", lead, sample.uuid)).content.decode()

    assert "Nothing is ready to be checked now" in page


def test_who_labelled_there_is_refused_in_words(wave, sample, anna, client_of):
    anna.is_lead = True
    anna.save()

    answer = client_of(anna).get(url("annotations:spot-check", anna, sample.uuid))

    assert answer.status_code == 403
    assert "You have labelled in wave 1 yourself: another lead checks it." in answer.content.decode()


def test_who_may_still_rate_the_overlap_learns_nothing_of_its_singles(project, lead, anna, client_of):
    both = factories.member(project, "bo", "lead", "annotator")
    before = timezone.now() - timedelta(days=1)
    factories.items(project, 10)
    wave = releasing.open_wave(project, by=lead, at=before, share_percent=Decimal(50))
    Team([anna], at=before).work()
    made = spot_checks.open_check(wave, share_percent=Decimal(100), by=lead, at=before)
    sample = samples.find(lead, made.uuid)
    check(client_of(lead), lead, sample, "praise")
    client = client_of(both)
    pages = [("agreement:sample", sample.uuid), ("agreement:wave-checks", wave.uuid)]

    barred = [client.get(url(name, both, uuid)).content.decode() for name, uuid in pages]
    draws.give_up(wave.draw, by=both, at=timezone.now())
    free = [client.get(url(name, both, uuid)).content.decode() for name, uuid in pages]

    assert ["1 of 1 checked label was corrected" in page for page in barred] == [False, False]
    assert "complaint" not in barred[0].split("<main")[1]
    assert ["1 of 1 checked label was corrected" in page for page in free] == [True, True]


def test_the_file_has_the_rate(sample, project, lead, client_of):
    client = client_of(lead)
    for value in ("praise", "complaint", "complaint", "complaint"):
        check(client, lead, sample, value)
    Wave.samples.update(state="closed")
    exporting.start(project, what="samples", file_format="csv", by=lead)
    jobs.run_waiting(limit=1)

    text = exporting.download(project.jobs.get(kind="export"), lead).read().decode("utf-8-sig")

    assert "spot check 1,spotcheck,wave 1,1.0,any,share of checked labels that were corrected" in text
    assert ",0.25,1,4," in text


def test_the_api_opens_and_checks(wave, project, lead, client):
    headers = {"Authorization": f"Token {Token.objects.create(user=lead.user).key}"}
    address = f"/api/v1/projects/{project.uuid}/"
    made = client.post(
        f"{address}waves/{wave.uuid}/spot-checks/", {"share_percent": "20"}, "application/json", headers=headers
    ).json()
    checks = f"{address}samples/{made['uuid']}/checks/"

    for _ in range(2):
        task = client.get(checks, headers=headers).json()
        sent = {"item": task["item"], "answers": {"intent": "praise"}}
        saved = client.post(checks, sent, "application/json", headers=headers)

    assert (made["name"], made["size"], set(task)) == ("spot check 1", 2, {"item", "content", "version"})
    assert saved.json() == {"saved": task["item"]}
    assert client.get(checks, headers=headers).json()["item"] is None
    figures = client.get(f"{address}samples/{made['uuid']}/", headers=headers).json()["figures"]
    assert (figures[0]["value"], figures[0]["n"]) == (1.0, 2)


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        ("annotations:spot-check-open", {"lead": 200, "admin": 200, "anna": 403, "outsider": 404}),
        ("annotations:spot-check", {"lead": 200, "admin": 403, "anna": 403, "outsider": 404}),
        ("agreement:wave-checks", {"lead": 200, "admin": 200, "anna": 403, "outsider": 404}),
        ("agreement:sample", {"lead": 200, "admin": 200, "anna": 403, "outsider": 404}),
    ],
)
def test_access(request, wave, sample, lead, admin, anna, client, client_of, name, statuses):
    of = wave if name in ("annotations:spot-check-open", "agreement:wave-checks") else sample
    found = {who: client_of(request.getfixturevalue(who)).get(url(name, lead, of.uuid)).status_code for who in statuses}

    assert found == statuses
    assert client.get(url(name, lead, of.uuid)).status_code == 302


def test_nothing_of_a_neighbour_is_found(wave, sample, client_of):
    nora = factories.member(factories.version(factories.project("Neighbours")).project, "nora", "lead", "admin")
    client = client_of(nora)
    places = [
        ("annotations:spot-check-open", wave.uuid),
        ("annotations:spot-check", sample.uuid),
        ("agreement:wave-checks", wave.uuid),
    ]

    assert [client.get(url(name, nora, uuid)).status_code for name, uuid in places] == [404, 404, 404]
