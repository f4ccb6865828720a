"""The loop with answers of every kind: labelled by form, in conflict or not, decided, exported; and no page breaks."""

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from agreement import runs
from annotations import adjudication, exporting, gold, releasing, serving
from annotations.models import Annotation, Assignment, Case, Draw
from projects import guidelines, jobs
from projects.models import GuidelineVersion, Item, Membership, Project
from tests import factories
from tests.annotations.disputes import case_of, rated

AT = factories.NOW
QUESTIONS: list[dict[str, Any]] = [
    {"key": "intent"},
    {"key": "topics", "task_type": "multilabel", "labels": ("list", "map", "log-in")},
    {"key": "parts", "task_type": "spans", "labels": ("praise", "fault")},
    {"key": "why", "task_type": "text", "labels": ()},
]
TEXT = "The list is fast, the map is slow."


def part(start: int, end: int, label: str) -> dict[str, Any]:
    return {"field": "text", "start": start, "end": end, "label": label}


ANNA: dict[str, Any] = {
    "intent": "complaint",
    "topics": ["list", "map"],
    "parts": [part(0, 16, "praise"), part(18, 34, "fault")],
    "why": "It is slow.",
}
BEN: dict[str, Any] = {"intent": "complaint", "topics": [], "parts": [part(18, 33, "fault")], "why": "Slow map"}


@pytest.fixture
def version(project: Project) -> GuidelineVersion:
    made = factories.version(project, questions=False)
    for asked in QUESTIONS:
        factories.question(made, **asked)
    return made


@pytest.fixture
def draw(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    """Two items: on the first anna and ben differ in all that has no label of its own, on the second in nothing."""
    found = rated(version.project, [anna, ben], {"differ": (ANNA, BEN), "same": (ANNA, ANNA)})
    assert found.closed_at is not None
    return found


def one_item(project: Project, lead: Membership, member: Membership, text: str = TEXT) -> Assignment:
    (item,) = factories.items(project, 1)
    Item.objects.filter(pk=item.pk).update(content={"text": text})
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
    task = serving.next_task(member, at=timezone.now())
    assert isinstance(task, serving.Task)
    return Assignment.objects.get(uuid=task.assignment)


def submit_url(member: Membership, assignment: Assignment) -> str:
    return reverse("annotations:label-submit", args=[member.project.uuid, assignment.uuid])


def test_a_form_with_answers_of_every_kind_is_saved(version, lead, anna, client_of):
    assignment = one_item(version.project, lead, anna)
    form = {
        "answer-intent": "complaint",
        "answer-topics": ["map", "list"],
        "answer-parts": json.dumps(list(reversed(ANNA["parts"]))),
        "answer-why": " It is slow.\r\n",
    }

    response = client_of(anna).post(submit_url(anna, assignment), form)

    assert response.status_code == 302
    assert Annotation.objects.get().answers == ANNA


def test_none_of_these_is_saved_as_an_answer(version, lead, anna, client_of):
    assignment = one_item(version.project, lead, anna)
    form = {"answer-intent": "praise", "answer-topics": "[]", "answer-parts": "[]", "answer-why": "Nothing"}

    client_of(anna).post(submit_url(anna, assignment), form)

    assert Annotation.objects.get().answers == {"intent": "praise", "topics": [], "parts": [], "why": "Nothing"}


def test_what_is_missing_or_wrong_is_said_by_question_and_what_was_sent_is_shown_again(version, lead, anna, client_of):
    assignment = one_item(version.project, lead, anna)
    form = {
        "answer-intent": "complaint",
        "answer-topics": ["list", "[]"],
        "answer-parts": json.dumps([part(0, 99, "praise")]),
        "answer-why": "  ",
    }

    response = client_of(anna).post(submit_url(anna, assignment), form, headers={"HX-Request": "true"})

    page = response.content.decode()
    assert response.status_code == 422
    assert "Found labels together with “none of these”: take one or the other." in page
    assert "A span ends at 99, and the text of &#x27;text&#x27; has 34 characters." in page
    assert "“What is the why?” has no answer: write one." in page
    assert page.count(" checked") == 3
    assert "&quot;end&quot;: 99" in page
    assert not Annotation.objects.exists()


def test_a_draft_of_every_kind_is_shown_again(version, lead, anna, client_of):
    assignment = one_item(version.project, lead, anna)
    client = client_of(anna)
    form = {
        "answer-topics": ["map", "list"],
        "answer-parts": json.dumps([part(0, 3, "praise")]),
        "answer-why": "half a thou",
    }

    client.post(reverse("annotations:label-draft", args=[version.project.uuid, assignment.uuid]), form)

    page = client.get(reverse("annotations:label", args=[version.project.uuid])).content.decode()
    assert page.count(" checked") == 2
    assert "&quot;end&quot;: 3" in page
    assert ">half a thou</textarea>" in page


def test_line_ends_of_the_text_reach_the_page_as_they_are(version, lead, anna, client_of):
    one_item(version.project, lead, anna, text="one\r\ntwo\r<b>")

    page = client_of(anna).get(reverse("annotations:label", args=[version.project.uuid])).content.decode()

    assert 'data-text="text">one&#13;\ntwo&#13;&lt;b&gt;</div>' in page


def test_spans_say_that_they_need_javascript(version, lead, anna, client_of):
    one_item(version.project, lead, anna)

    page = client_of(anna).get(reverse("annotations:label", args=[version.project.uuid])).content.decode()

    (said,) = re.findall("<noscript>(.*?)</noscript>", page)
    assert "Marking parts of a text needs JavaScript" in said


def test_what_differs_is_a_conflict_but_for_free_text(draw):
    found = {case.question_key: round(case.gap, 3) for case in Case.objects.all()}

    # Of the parts one of 16 and one of 15 characters match, and one has no match: 1 - 2 * (15/16) / 3.
    assert found == {"topics": 1.0, "parts": round(1 - 2 * (15 / 16) / 3, 3)}
    assert {case.item.external_id for case in Case.objects.all()} == {"differ"}


def test_a_protocol_may_tolerate_small_differences_and_ask_for_those_of_texts(version, lead, anna, ben):
    version.project.protocol["questions"] = {"topics": {"conflict_gap": 0.5}, "why": {"conflict_gap": 0.0}}
    version.project.save()
    near = {**ANNA, "topics": ["list"], "parts": ANNA["parts"]}

    rated(version.project, [anna, ben], {"near": (ANNA, near), "far": (ANNA, BEN)})

    found = {(case.item.external_id, case.question_key) for case in Case.objects.all()}
    assert found == {("far", "topics"), ("far", "parts"), ("far", "why")}
    near_item = Item.objects.get(external_id="near")
    values = {one.question_key: (one.status, one.value) for one in gold.of_item(near_item)}
    assert values["topics"] == ("within_tolerance", ["list", "map"])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("topics", ["map"], "map"),
        ("topics", [], "none of these"),
        ("parts", [part(5, 6, "fault")], "fault “0”"),
        ("parts", [], "nothing marked"),
    ],
)
def test_a_case_is_decided_by_the_form_of_its_question(draw, lead, client_of, key, value, words):
    case = case_of("differ", key)
    client = client_of(lead)
    address = reverse("annotations:adjudication-case", args=[draw.wave.project.uuid, case.uuid])
    page = client.get(address).content.decode()
    sent = value or "[]" if key == "topics" else json.dumps(value)
    form = {"value": sent, "rationale": "It says so.", "cause": "slip"}

    response = client.post(reverse("annotations:adjudication-resolve", args=[draw.wave.project.uuid, case.uuid]), form)

    assert ("data-widget" in page, "Rater A" in page) == (True, True)
    assert response.status_code == 302
    assert case.resolutions.get().value == value
    assert words in client.get(address).content.decode()


def test_a_decision_on_spans_becomes_an_example_where_its_words_still_are(draw, lead):
    case = case_of("differ", "parts")
    text = case.item.content["text"]
    shown = adjudication.ExampleText(content={"text": f"(Shortened) {text}"})

    adjudication.resolve(
        case,
        value=[part(0, 4, "praise")],
        rationale="The first word.",
        cause="slip",
        example=shown,
        by=lead,
        at=AT,
    )

    example = guidelines.draft_of(draw.wave.project, by=lead).examples.get()
    assert example.value == [part(12, 16, "praise")]
    assert example.content["text"][12:16] == text[:4]


def test_gold_and_files_have_the_values_as_they_are(draw, lead):
    item = Item.objects.get(external_id="same")
    found = {one.question_key: (one.value, one.label, one.status, one.outdated) for one in gold.of_item(item)}
    quoted = item.content["text"]

    assert found["topics"] == (["list", "map"], "list, map", "agreed", False)
    assert found["why"] == ("It is slow.", "It is slow.", "agreed", False)
    assert found["parts"][0] == ANNA["parts"]
    assert quoted[0:16].strip() in found["parts"][1]

    job = exporting.start(draw.wave.project, what="gold", file_format="csv", by=lead)
    jobs.run_waiting(at=timezone.now(), limit=1)
    job.refresh_from_db()
    with job.file.open("rb") as stream:
        rows = list(csv.DictReader(io.StringIO(stream.read().decode())))
    values = {row["question"]: row["value"] for row in rows if row["item_id"] == "same"}
    assert json.loads(values["topics"]) == ["list", "map"]
    assert json.loads(values["parts"]) == ANNA["parts"]
    assert values["why"] == "It is slow."


def test_no_page_of_agreement_breaks_on_an_answer_without_a_coefficient(draw, admin, client_of):
    runs.compute(draw, at=timezone.now())
    client = client_of(admin)
    uuid = draw.wave.project.uuid
    addresses = [reverse("agreement:home", args=[uuid]), reverse("agreement:agreement", args=[uuid])]
    addresses += [reverse("agreement:protocol", args=[uuid])]
    addresses += [reverse("agreement:draw", args=[uuid, draw.uuid, asked["key"]]) for asked in QUESTIONS]

    assert [client.get(address).status_code for address in addresses] == [200] * len(addresses)
    page = client.get(reverse("agreement:draw", args=[uuid, draw.uuid, "why"])).content.decode()
    assert "Free text has no coefficient: ask its rubric as further ordinal questions." in page


def test_pages_of_a_member_and_a_lead_show_every_kind(draw, lead, anna, client_of):
    uuid = draw.wave.project.uuid
    row = Annotation.objects.filter(member=anna).first()
    mine = client_of(anna)
    guideline = reverse("projects:guideline-version", args=[uuid, draw.wave.version.uuid])

    assert "list, map" in mine.get(reverse("annotations:my-work", args=[uuid])).content.decode()
    assert mine.get(reverse("annotations:my-label", args=[uuid, row.uuid])).status_code == 200
    assert client_of(lead).get(reverse("annotations:adjudication", args=[uuid])).status_code == 200
    assert client_of(lead).get(guideline).status_code == 200
