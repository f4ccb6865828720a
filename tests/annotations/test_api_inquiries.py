"""The API of questions about an item: asked, answered, kept back while it is measured, turned into an example."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotations import draws, releasing
from tests import factories
from tests.api import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(lead, anna) -> dict[str, str]:
    """The item in anna's hands, and her question about it."""
    factories.items(lead.project, 4)
    releasing.open_wave(lead.project, by=lead, at=timezone.now(), share_percent=Decimal(50))
    task = Api(anna).post("task")
    kept = Api(anna).post("ask", task["assignment"], data={"text": "Is that praise?"}, status=201)
    return {"inquiry": kept["inquiry"], "assignment": task["assignment"]}


def test_a_question_is_answered_and_the_answer_waits_for_the_draw(asked, lead, anna) -> None:
    (row,) = Api(lead).get("inquiries", state="open")["results"]
    assert (row["text"], row["by"], row["at"], row["kept_back"]) == ("Is that praise?", "", None, True)

    told = Api(lead).post("inquiry-answer", asked["inquiry"], data={"answer": "It is."})

    assert (told["answer"], told["answered_by"]) == ("It is.", "lea")
    assert Api(lead).get("inquiries", state="open")["results"] == []
    (mine,) = Api(anna).get("answers")["results"]
    assert (mine["text"], mine["mine"], mine["answer"], mine["answered_by"]) == ("Is that praise?", True, "", "")
    wave = lead.project.waves.get()
    draws.close_wave(wave, by=lead, at=timezone.now() + timedelta(days=1), reason="enough")
    (mine,) = Api(anna).get("answers")["results"]
    assert (mine["answer"], mine["answered_by"], mine["is_new"]) == ("It is.", "lea", True)


def test_an_example_is_made_once_the_draw_has_closed(asked, lead) -> None:
    example = {"question_key": "intent", "content": {"text": "Thanks."}, "value": "praise"}
    Api(lead).post("inquiry-answer", asked["inquiry"], data={"answer": "Thanks are praise."})
    refused = Api(lead).post("inquiry-example", asked["inquiry"], data=example, status=409)
    draws.close_wave(lead.project.waves.get(), by=lead, at=timezone.now(), reason="enough")

    made = Api(lead).post("inquiry-example", asked["inquiry"], data=example)

    assert refused["error"]["code"] == "still_measured"
    assert (made["value"], made["rationale"]) == ("praise", "Thanks are praise.")


def test_a_lead_who_may_still_rate_finds_no_question(asked, lead) -> None:
    both = factories.member(lead.project, "cora", "lead", "annotator")

    assert Api(both).get("inquiries")["results"] == []
    Api(both).post("inquiry-answer", asked["inquiry"], data={"answer": "It is."}, status=404)


def test_the_same_question_again_is_the_same_one(asked, anna) -> None:
    again = Api(anna).post("ask", asked["assignment"], data={"text": "Is that praise?"}, status=201)

    assert again["inquiry"] == asked["inquiry"]
