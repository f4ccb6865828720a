"""The pages of questions about an item: asking with and without JavaScript, answering, who sees what."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import draws, inquiries, releasing
from annotations.models import Assignment, Inquiry
from projects.models import Example
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}


@pytest.fixture
def assignment(project, lead, anna, ben) -> Assignment:
    """An overlap item that anna labelled; its draw is open."""
    factories.items(project, 3)
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(100))
    Team([anna, ben]).work()
    return Assignment.objects.filter(member=anna).first()


def close() -> None:
    assert draws.close_due(at=timezone.now() + timedelta(days=1))


@pytest.fixture
def row(assignment, anna) -> Inquiry:
    return inquiries.ask(anna, assignment.uuid, text="Is that praise?", at=factories.NOW)


def url(name: str, member, *more) -> str:
    return reverse(f"annotations:{name}", args=[member.project.uuid, *more])


def text(response) -> str:
    return response.content.decode()


def test_asking_from_the_page_keeps_it_where_it_is(assignment, anna, client_of):
    response = client_of(anna).post(url("label-ask", anna, assignment.uuid), {"text": "Why?"}, headers=HX)

    assert (response.status_code, response.content) == (204, b"")
    assert Inquiry.objects.get().text == "Why?"


def test_asking_without_javascript_says_what_follows(assignment, anna, client_of):
    response = client_of(anna).post(url("label-ask", anna, assignment.uuid), {"text": "Why?"}, follow=True)

    assert response.redirect_chain == [(url("my-answers", anna), 302)]
    page = text(response)
    assert "Your question is with the leads" in page
    assert "once the results of this round are in" in page


def test_an_empty_question_comes_back_with_the_reason(assignment, anna, client_of):
    response = client_of(anna).post(url("label-ask", anna, assignment.uuid), {"text": " "})

    assert response.status_code == 422
    assert "Write what you want to know about the item." in text(response)


def test_a_lead_answers_and_the_page_says_when_it_is_read(row, lead, anna, client_of):
    client = client_of(lead)
    page = text(client.get(url("inquiries", lead)))
    assert ("Is that praise?" in page, "anna" in page, "a rater" in page) == (True, False, True)

    response = client.post(url("inquiry", lead, row.uuid), {"text": "It is."}, follow=True)

    page = text(response)
    assert "Those who asked or labelled the item read it once the measurement has closed." in page
    assert "kept back until the measurement of the wave has closed" in page
    assert ("anna" in page, 'name="text"' in page) == (False, False)
    assert "It is." not in text(client_of(anna).get(url("my-answers", anna)))


def test_the_answer_is_in_my_work_with_a_badge_until_it_is_seen(row, lead, anna, ben, client_of):
    inquiries.answer(row, text="It is.", by=lead, at=factories.NOW)
    close()
    client = client_of(ben)
    badge = 'My work <span class="count">1</span>'
    assert badge in text(client.get(url("my-work", ben)))

    first, second = text(client.get(url("my-answers", ben))), text(client.get(url("my-answers", ben)))

    assert ("Somebody asked" in first, "It is." in first, "anna" in first) == (True, True, False)
    assert ('<span class="tag tag--strong">new</span>' in first, badge in second) == (True, False)


def test_an_answer_becomes_an_example_with_its_own_words(row, lead, client_of):
    inquiries.answer(row, text="Thanks are praise.", by=lead, at=factories.NOW)
    close()
    client = client_of(lead)
    address = url("inquiry-example", lead, row.uuid)
    assert "Thanks are praise." in text(client.get(address))

    form = {"content-0": "Thanks a lot.", "value": "praise", "kind": "clear", "rationale": "Thanks are praise."}
    page = text(client.post(address, form, follow=True))

    made = Example.objects.get()
    assert (made.content, made.value, made.origin) == ({"text": "Thanks a lot."}, "praise", "asked")
    assert reverse("projects:guideline-example", args=[lead.project.uuid, made.uuid]) in page


def test_an_example_waits_for_the_draw(row, lead, client_of):
    inquiries.answer(row, text="It is.", by=lead, at=factories.NOW)
    form = {"content-0": "Thanks.", "value": "praise", "kind": "clear"}

    response = client_of(lead).post(url("inquiry-example", lead, row.uuid), form)

    assert (response.status_code, Example.objects.count()) == (409, 0)
    assert "has to wait until it has closed" in text(response)


def test_the_case_and_the_history_show_what_was_asked_and_name_nobody(project, lead, anna, ben, client_of):
    disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")})
    case = disputes.case_of("first")
    assignment = Assignment.objects.get(member=anna)
    inquiries.ask(anna, assignment.uuid, text="Is that praise?", at=factories.NOW)
    client = client_of(lead)

    for address in (url("adjudication-case", lead, case.uuid), url("item-history", lead, case.item.uuid)):
        page = text(client.get(address))
        assert ("Is that praise?" in page, "anna" in page) == (True, False)


ALLOWED = {
    "label-ask": {"anna": 200, "lead": 403, "admin": 403, "outsider": 404, "anonymous": 302},
    "my-answers": {"anna": 200, "lead": 403, "admin": 403, "outsider": 404, "anonymous": 302},
    "inquiries": {"anna": 403, "lead": 200, "admin": 200, "outsider": 404, "anonymous": 302},
    "inquiry": {"anna": 403, "lead": 200, "admin": 200, "outsider": 404, "anonymous": 302},
    "inquiry-example": {"anna": 403, "lead": 200, "admin": 200, "outsider": 404, "anonymous": 302},
}


@pytest.mark.parametrize("who", ["anna", "lead", "admin", "outsider", "anonymous"])
def test_access(request, assignment, row, client, client_of, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))
    of = {"label-ask": [assignment.uuid], "inquiry": [row.uuid], "inquiry-example": [row.uuid]}

    found = {name: visitor.get(url(name, assignment.member, *of.get(name, []))).status_code for name in ALLOWED}

    assert found == {name: statuses[who] for name, statuses in ALLOWED.items()}


def test_a_neighbours_questions_do_not_appear(row, client_of):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = factories.member(neighbour, "nora", "lead", "annotator")
    client = client_of(nora)

    assert "No question waits for an answer" in text(client.get(url("inquiries", nora)))
    assert "You have asked nothing" in text(client.get(url("my-answers", nora)))
    assert client.get(url("inquiry", nora, row.uuid)).status_code == 404


@pytest.mark.parametrize(("name", "who"), [("inquiries", "lead"), ("my-answers", "anna")])
def test_a_list_costs_the_same_for_one_and_three(request, row, anna, client_of, name, who):
    member = request.getfixturevalue(who)
    client = client_of(member)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(url(name, member))
        return len(queries)

    client.get(url(name, member))
    one = cost()
    for assignment in Assignment.objects.filter(member=anna):
        inquiries.ask(anna, assignment.uuid, text="And this?", at=factories.NOW)
    assert Inquiry.objects.count() == 4

    assert cost() == one
