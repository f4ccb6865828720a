"""The whole loop through the API alone: from nothing to guideline 2.0 and the gold export."""

import json
from collections import Counter
from importlib import import_module
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from agreement import runs
from annotations import draws
from projects import jobs
from tests import factories
from tests.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

TEXTS = [f"The app says something of its own, number {place}" for place in range(12)]
ANNA = ["complaint", "praise", "question"] * 4
BEN = ["complaint", "praise", "praise", "complaint", "praise", "question"] * 2
LABELS = [
    {"name": "Complaint", "definition": "Something is wrong.", "colour": "#D55E00", "hotkey": "1"},
    {"name": "Praise", "definition": "Something is good."},
    {"name": "Question", "definition": "Something is asked."},
]


def founded(owner: Api) -> None:
    made = owner.post("projects", data={"name": "App reviews", "description": "What do people write?"}, status=201)
    owner.project = made["uuid"]


def guideline_published(owner: Api) -> dict[str, Any]:
    draft = owner.post("draft")
    owner.put("draft", data={"text": "# Guideline\n\nRead it, then choose.", "revision": draft["revision"]})
    question = {"text": "What is the intent?", "key": "intent", "task_type": "nominal", "labels": LABELS}
    owner.post("draft-questions", data=question, status=201)
    consequences = owner.get("publish")
    assert (consequences["first"], consequences["problems"]) == (True, [])
    return owner.post("publish", data={"change": "material", "seen": consequences["seen"]})


def imported(owner: Api, texts: list[str], start: int) -> None:
    lines = [json.dumps({"id": f"r{start + i}", "text": text}) for i, text in enumerate(texts)]
    job = owner.upload(ContentFile("\n".join(lines), "reviews.jsonl"), shown=["text"], id_field="id")
    jobs.run_waiting(limit=9)
    assert owner.get("import", job["uuid"])["report"] == {
        "rows": len(texts),
        "good": len(texts),
        "usual": len(texts),
        "kinds": [],
    }
    copied = owner.post("import-confirm", job["uuid"], data={}, status=202)
    jobs.run_waiting(limit=9)
    assert owner.get("job", copied["uuid"])["result"]["imported"] == len(texts)


def labelled(program: Api, answers: list[str]) -> bool:
    """One item: asked for, answered as its number says; False where nothing is left."""
    task = program.post("task")
    if "nothing" in task:
        return False
    place = TEXTS.index(task["content"]["text"])
    program.post("submit", task["assignment"], data={"answers": {"intent": answers[place]}, "seconds": 2.5})
    return True


def test_whole_loop_through_the_api() -> None:
    lea, anna, ben = (Api(factories.user(name)) for name in ("lea", "anna", "ben"))
    founded(lea)
    first = guideline_published(lea)
    assert first["number"] == "1.0"
    imported(lea, TEXTS, 0)
    assert [item["external_id"] for item in lea.get("items")["results"]] == [f"r{i}" for i in range(12)]

    for name, program in (("anna", anna), ("ben", ben)):
        member = lea.post("members", data={"username": name, "roles": ["annotator"]}, status=201)
        assert (member["name"], member["roles"]) == (name, ["annotator"])
        program.project = lea.project
    lea.put("protocol", data={"share_percent": "100", "window_submits": 0, "window_minutes": 0, "minimum_n": 5})
    wave = lea.post("waves", data={}, status=201)
    assert (wave["size"], wave["draw"]["size"], wave["draw"]["seed"]) == (12, 12, None)

    for program in (anna, ben):
        assert program.post("task")["nothing"]["code"] == "acknowledge"
        program.post("acknowledge", first["uuid"], status=204)
    while any([labelled(anna, ANNA), labelled(ben, BEN)]):
        pass
    at = timezone.now()
    draws.close_due(at=at)
    runs.sweep(at=at)

    (figure,) = lea.get("agreement")
    kappa = figure["result"]["statistics"]["cohen_kappa"]["value"]
    referee = import_module("sklearn.metrics")  # takes seconds, which collecting the tests should not
    assert kappa == pytest.approx(referee.cohen_kappa_score(ANNA, BEN), abs=1e-12)
    assert (figure["interim"], figure["n"], figure["drawn"], figure["version"]) == (False, 12, 12, "1.0")
    closed = lea.get("wave", wave["uuid"])["draw"]
    assert (closed["state"], closed["closing"], len(closed["seed"])) == ("closed", "complete", 64)

    conflicts = lea.get("conflicts")["results"]
    disputed = {place for place, (a, b) in enumerate(zip(ANNA, BEN, strict=True)) if a != b}
    assert {TEXTS.index(one["content"]["text"]) for one in conflicts} == disputed
    decided = conflicts[0]
    example = {"content": {"text": "How it is shown"}, "kind": "near_miss"}
    resolution = {"value": "praise", "rationale": "It praises.", "cause": "guideline_silent", "example": example}
    assert lea.post("resolve", decided["uuid"], data=resolution)["standing"] is True
    (shown,) = lea.get("draft-examples")["results"]
    assert (shown["content"], shown["value"], shown["origin"]) == (example["content"], "praise", "adjudicated")

    second = lea.post("publish", data={"change": "material", "reason": "An example of praise."})
    assert second["number"] == "2.0"
    assert [row["number"] for row in lea.get("versions")["results"]] == ["2.0", "1.0"]
    refused = lea.post("waves", data={"size": 5}, status=409)["error"]
    assert (refused["code"], refused["found"], refused["needed"]) == ("too_few_fresh", 0, 5)
    assert sum(refused["not_eligible"].values()) == 12

    imported(lea, ["Something fresh", "Something new"], 12)
    assert lea.post("waves", data={"size": 2, "pilot": True}, status=201)["version"] == "2.0"
    assert anna.post("task")["nothing"]["code"] == "acknowledge"

    gold = exported(lea, "gold")
    by_id = {row["item_id"]: row for row in gold}
    assert Counter(row["status"] for row in by_id.values()) == {
        "agreed": 12 - len(disputed),
        "adjudicated": 1,
        "open": len(disputed) - 1,
        "unlabelled": 2,
    }
    settled = by_id[f"r{TEXTS.index(decided['content']['text'])}"]
    assert (settled["value"], settled["status"]) == ("praise", "adjudicated")
    ratings = exported(lea, "ratings")
    assert {(row["item_id"], row["rater"]): row["value"] for row in ratings} == {
        **{(f"r{i}", "anna"): value for i, value in enumerate(ANNA)},
        **{(f"r{i}", "ben"): value for i, value in enumerate(BEN)},
    }


def exported(owner: Api, what: str) -> list[dict[str, Any]]:
    job = owner.post("exports", data={"what": what, "format": "jsonl"}, status=202)
    jobs.run_waiting(limit=9)
    return [json.loads(line) for line in owner.download(job["uuid"]).splitlines()]
