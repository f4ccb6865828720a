"""The pages of repeats, bridges and spot checks, from the list to what came of one."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import releasing, repeats
from annotations.models import Assignment, Wave
from annotations.repeats import Choices
from tests import factories
from tests.annotations import rated_twice

C, P = "complaint", "praise"
SAID = [(C, C)] * 4 + [(P, P)] * 3 + [(P, C)]


def url(name, member, *args):
    return reverse(name, args=[member.project.uuid, *args])


@pytest.fixture
def given(project, lead, anna, ben):
    return rated_twice.given(project, lead, {anna: SAID, ben: [(P, P)] * 2})


def test_the_empty_list_says_what_to_do(project, version, lead, client_of):
    page = client_of(lead).get(url("annotations:samples", lead)).content.decode()

    assert "Once people have labelled a wave, open a repeat" in page


def test_a_repeat_is_opened_from_its_page(given, lead, client_of):
    client = client_of(lead)
    form = client.get(url("annotations:repeat-open", lead)).content.decode()
    answer = client.post(url("annotations:repeat-open", lead), {"each": 2, "items_between": 3, "days_between": 0})

    made = Wave.samples.get(number=2)
    assert "ben: " in form
    assert answer.headers["Location"] == url("agreement:sample", lead, made.uuid)
    assert made.sample.choices["each"] == 2
    assert "repeat 2" in client.get(url("annotations:samples", lead)).content.decode()


def test_half_a_form_is_refused_in_words(given, lead, client_of):
    answer = client_of(lead).post(
        url("annotations:repeat-open", lead), {"each": 2, "items_between": 0, "days_between": 0}
    )

    assert answer.status_code == 422
    assert "people would answer from memory" in answer.content.decode()


def test_nothing_rated_is_refused_on_the_page(project, version, lead, anna, client_of):
    client = client_of(lead)
    answer = client.post(url("annotations:repeat-open", lead), {"each": 2, "items_between": 1, "days_between": 0})

    assert answer.status_code == 409
    assert "a repeat needs ratings first" in answer.content.decode()
    assert "To the waves" in client.get(url("annotations:repeat-open", lead)).content.decode()


def test_the_figure_is_a_sentence_with_n_and_interval_named_as_intra_rater(given, lead, client_of):
    page = client_of(lead).get(url("agreement:sample", lead, given.uuid)).content.decode()

    assert "Intra-rater agreement: Cohen" in page
    assert "on 10 repeated items of 2 people." in page
    assert "undefined: Only one label was used" in page
    assert "never pooled with the agreement between raters" in page
    assert bytes(given.sample.seed).hex() in page


def test_an_open_repeat_shows_no_seed_and_can_be_ended(given, lead, client_of):
    made = repeats.open_repeat(lead.project, Choices(1, 5, 0), by=lead, at=timezone.now())
    client = client_of(lead)
    page = client.get(url("agreement:sample", lead, made.uuid), {"verify": ""}).content.decode()

    ended = client.post(url("annotations:sample-end", lead, made.uuid), follow=True).content.decode()

    assert bytes(made.sample.seed).hex() not in page
    assert made.sample.commitment in page
    assert bytes(made.sample.seed).hex() in ended
    assert "ended by lea" in ended
    replay = client.get(url("agreement:sample", lead, made.uuid), {"verify": ""}).content.decode()
    assert "The same set, drawn again from this record." in replay


def test_who_has_repeats_to_give_sees_nothing_of_it_before_it_has_ended(project, lead, version, client_of):
    both = factories.member(project, "bo", "lead", "annotator")
    given = rated_twice.given(project, lead, {both: SAID})
    made = repeats.open_repeat(project, Choices(1, 5, 0), by=lead, at=timezone.now())
    client = client_of(both)

    assert (
        "You have items of this repeat yourself"
        in client.get(url("agreement:sample", both, made.uuid)).content.decode()
    )
    assert "Intra-rater agreement: Cohen" in client.get(url("agreement:sample", both, given.uuid)).content.decode()


def test_the_labelling_page_of_a_repeat_is_that_of_any_other_item(project, lead, anna, client_of):
    rated_twice.given(project, lead, {anna: SAID})
    factories.items(project, 30, prefix="more")
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
    repeats.open_repeat(project, Choices(20, 1, 0), by=lead, at=timezone.now())
    client, address = client_of(anna), url("annotations:label", anna)
    pages = {}
    for _turn in range(30):
        seen = client.get(address)
        task = seen.context["task"]
        item = Assignment.objects.select_related("slot", "item").get(uuid=task.assignment)
        page = seen.content.decode().replace(item.item.content["text"], "TEXT")
        page = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|value=\"\w{64}\"|X-CSRFToken\": \"\w+", "ID", page)
        headers = tuple(sorted((name, re.sub(r"\d+", "N", value)) for name, value in seen.items()))
        pages.setdefault(item.slot.kind, set()).add((re.sub(r"\d+", "N", page), headers))
        client.post(url("annotations:label-submit", anna, task.assignment), {"answer-intent": "praise"})

    assert set(pages) == {"repeat", "single"}
    assert pages["repeat"] == pages["single"]
    assert len(pages["single"]) == 1


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404), ("nobody", 302)]
)
@pytest.mark.parametrize("name", ["annotations:samples", "annotations:repeat-open", "agreement:sample"])
def test_access(request, given, lead, client, client_of, name, who, status):
    args = [given.uuid] if name == "agreement:sample" else []
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(url(name, lead, *args)).status_code == status


@pytest.mark.parametrize("who", ["anna", "outsider"])
def test_others_change_nothing(request, given, lead, anna, client_of, who):
    client = client_of(request.getfixturevalue(who))

    for name, args in (("annotations:repeat-open", []), ("annotations:sample-end", [given.uuid])):
        assert client.post(url(name, lead, *args)).status_code in (403, 404)
    assert Wave.samples.count() == 1


def test_nothing_of_a_neighbour_is_found(given, client_of):
    nora = factories.member(factories.version(factories.project("Neighbours")).project, "nora", "lead", "admin")
    client = client_of(nora)

    assert client.get(url("agreement:sample", nora, given.uuid)).status_code == 404
    assert client.post(url("annotations:sample-end", nora, given.uuid)).status_code == 404
    assert "repeat 1" not in client.get(url("annotations:samples", nora)).content.decode()


def test_the_list_costs_the_same_with_one_and_with_three(given, lead, client_of):
    client = client_of(lead)
    counts = []
    for more in (0, 2):
        for _ in range(more):
            repeats.open_repeat(lead.project, Choices(1, 5, 0), by=lead, at=timezone.now())
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(url("annotations:samples", lead))
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_the_history_of_an_item_names_the_repeat(given, lead, client_of):
    item = given.wave_items.first().item

    page = client_of(lead).get(url("annotations:item-history", lead, item.uuid)).content.decode()

    assert "Repeat 1, guideline 1.0" in page
    assert url("agreement:sample", lead, given.uuid) in page
