"""The API of projects, members, guideline drafts and imports: what it makes, and what it refuses."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from projects import guidelines, jobs
from projects.models import Example, Item, Job, Membership, Project
from tests import factories
from tests.api import Api

pytestmark = pytest.mark.django_db

LABELS = [{"name": "Yes", "definition": "It is."}, {"name": "No", "definition": "It is not.", "hotkey": "n"}]
QUESTION = {"text": "Is it so?", "task_type": "nominal", "labels": LABELS}


# -- projects and members ----------------------------------------------------------------------------------------------


def test_founder_is_admin_and_lead(outsider) -> None:
    made = Api(outsider).post("projects", data={"name": "Reviews"}, status=201)

    assert (made["name"], made["description"], made["roles"]) == ("Reviews", "", ["admin", "lead"])
    assert Project.objects.get().created_by == outsider


@pytest.mark.parametrize("data", [{}, {"name": ""}, {"name": "x" * 121}, {"name": ["a"]}, {"name": None}])
def test_projects_need_a_name(outsider, data) -> None:
    error = Api(outsider).post("projects", data=data, status=422)["error"]

    assert list(error["fields"]) == ["name"]
    assert not Project.objects.exists()


def test_annotator_reads_the_project_without_its_protocol(anna) -> None:
    project = Api(anna).get("project")

    assert sorted(project) == [
        "archived_at",
        "comment_required",
        "created_at",
        "description",
        "name",
        "notice",
        "roles",
        "shown_fields",
        "uuid",
    ]
    assert project["roles"] == ["annotator"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"username": "nobody", "roles": ["lead"]}, "no_such_user"),
        ({"username": "anna", "roles": ["lead"]}, "member_already"),
        ({"username": "otto", "roles": []}, "no_role"),
        ({"username": "otto", "roles": ["owner"]}, "invalid"),
        ({"username": "otto\u0001", "roles": ["lead"]}, "no_such_user"),
    ],
)
def test_members_that_cannot_be_added_are_refused(admin, anna, outsider, data, code) -> None:
    assert Api(admin).post("members", data=data, status=422)["error"]["code"] == code


def test_roles_and_activity_of_a_member_change(admin, anna) -> None:
    api = Api(admin)

    lead = api.patch("member", anna.uuid, data={"roles": ["lead", "annotator"]})
    gone = api.patch("member", anna.uuid, data={"active": False})
    back = api.patch("member", anna.uuid, data={"active": True})

    assert (lead["roles"], lead["active"]) == (["annotator", "lead"], True)
    assert (gone["active"], back["active"], back["roles"]) == (False, True, ["annotator", "lead"])


@pytest.mark.parametrize("data", [{"roles": ["lead"]}, {"active": False}])
def test_last_admin_stays(admin, data) -> None:
    assert Api(admin).patch("member", admin.uuid, data=data, status=409)["error"]["code"] == "last_admin"


# -- the draft ---------------------------------------------------------------------------------------------------------


def test_draft_is_made_once(lead) -> None:
    api = Api(lead)
    missing = api.get("draft", status=404)["error"]["code"]

    assert missing == "no_draft"
    assert api.post("draft")["uuid"] == api.post("draft")["uuid"] == api.get("draft")["uuid"]


def test_text_saved_by_somebody_else_comes_back_beside_ones_own(lead, admin) -> None:
    api = Api(lead)
    draft = api.post("draft")
    Api(admin).put("draft", data={"text": "Theirs.", "revision": draft["revision"]})

    error = api.put("draft", data={"text": "Mine.", "revision": draft["revision"]}, status=409)["error"]

    assert (error["code"], error["theirs"], error["yours"]) == ("stale", "Theirs.", "Mine.")
    assert api.get("draft")["text"] == "Theirs."


def test_question_comes_with_labels_and_their_looks(lead) -> None:
    api = Api(lead)
    api.post("draft")

    made = api.post("draft-questions", data=QUESTION, status=201)

    assert made["key"] == "is-it-so"
    assert [(label["key"], label["name"]) for label in made["labels"]] == [("yes", "Yes"), ("no", "No")]
    assert {key: style["hotkey"] for key, style in api.get("draft")["styles"]["is-it-so"].items()} == {
        "yes": "4",
        "no": "n",
    }


def test_questions_and_labels_are_changed_and_removed(lead) -> None:
    api = Api(lead)
    api.post("draft")
    api.post("draft-questions", data=QUESTION | {"key": "so"}, status=201)

    api.put("draft-question", "so", data={"text": "Really?", "task_type": "ordinal"})
    api.post("draft-labels", "so", data=[{"name": "Perhaps"}], status=201)
    api.put("draft-label", "so", "perhaps", data={"name": "Maybe", "value": 0.5})
    api.delete("draft-label", "so", "yes", status=204)
    api.delete("draft-question", "intent", status=204)

    (question,) = api.get("draft")["questions"]
    assert (question["key"], question["text"], question["task_type"]) == ("so", "Really?", "ordinal")
    assert [(label["key"], label["name"], label["value"]) for label in question["labels"]] == [
        ("no", "No", None),
        ("perhaps", "Maybe", 0.5),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"task_type": "spans of time"},
        {"key": "Not a key!"},
        {"key": "intent"},
        {"labels": [{"name": "Yes"}, {"name": "yes"}]},
        {"labels": [{"name": "Yes", "value": "much"}]},
        {"labels": [{"name": "Yes", "colour": "red"}]},
        {"labels": [{"name": "Yes", "hotkey": "s"}]},
        {"labels": {"name": "Yes"}},
        {"labels": ["Yes"]},
    ],
)
def test_questions_that_make_no_sense_are_refused_whole(lead, change) -> None:
    api = Api(lead)
    api.post("draft")

    api.post("draft-questions", data=QUESTION | change, status=422)

    assert [question["key"] for question in api.get("draft")["questions"]] == ["intent"]


def test_looks_of_published_labels_change(lead, anna, version) -> None:
    looks = [{"label_key": "praise", "colour": "#112233", "hotkey": "p"}, {"label_key": "complaint"}]

    Api(lead).put("styles", "intent", data=looks, status=204)

    found = Api(anna).get("version", version.uuid)["styles"]["intent"]
    assert found["praise"] == {"colour": "#112233", "hotkey": "p"}


@pytest.mark.parametrize("looks", [[{"label_key": "gone"}], [{"label_key": "praise", "colour": "red"}], [{}], {}])
def test_looks_that_make_no_sense_are_refused(lead, looks) -> None:
    Api(lead).put("styles", "intent", data=looks, status=422)


def test_examples_are_added_changed_and_removed(lead) -> None:
    api = Api(lead)
    api.post("draft")
    example = {"question_key": "intent", "content": {"text": " As it was. \n"}, "value": "praise"}

    made = api.post("draft-examples", data=example | {"confused_with": "question"}, status=201)
    changed = api.put("draft-example", made["uuid"], data={"content": {"text": "Else."}, "value": "complaint"})
    api.delete("draft-example", made["uuid"], status=204)

    assert (made["content"], made["confused_with"], made["origin"]) == ({"text": "As it was."}, "question", "written")
    assert (changed["content"], changed["value"], changed["confused_with"]) == ({"text": "Else."}, "complaint", None)
    assert not Example.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"question_key": "gone"},
        {"content": {}},
        {"content": {"text": {"deep": "er"}}},
        {"content": "text"},
        {"value": "gone"},
        {"value": ["praise"]},
        {"value": None},
        {"confused_with": "praise"},
        {"kind": "odd"},
    ],
)
def test_examples_that_make_no_sense_are_refused(lead, change) -> None:
    api = Api(lead)
    api.post("draft")
    example = {"question_key": "intent", "content": {"text": "As it was."}, "value": "praise"}

    api.post("draft-examples", data=example | change, status=422)

    assert not Example.objects.exists()


def test_draft_that_was_read_is_the_one_that_is_published(lead) -> None:
    api = Api(lead)
    revision = api.post("draft")["revision"]
    seen = api.get("publish")["seen"]
    api.put("draft", data={"text": "Something else.", "revision": revision})

    decision = {"change": "editorial", "reason": "Clearer.", "seen": seen}

    assert api.post("publish", data=decision, status=409)["error"]["code"] == "stale"
    assert api.post("publish", data=decision | {"seen": api.get("publish")["seen"]})["number"] == "1.1"


@pytest.mark.parametrize(
    ("decision", "code"),
    [
        ({"change": "editorial", "reason": "Small."}, "not_editorial"),
        ({"change": "material", "reason": ""}, "invalid"),
        ({"change": "great", "reason": "Why not."}, "invalid"),
    ],
)
def test_publications_that_do_not_hold_are_refused(lead, decision, code) -> None:
    draft = guidelines.draft_of(lead.project, by=lead)
    guidelines.add_example(draft, question_key="intent", content={"text": "Great."}, value="praise", by=lead)

    assert Api(lead).post("publish", data=decision, status=422)["error"]["code"] == code


def test_annotators_do_not_see_the_draft_among_the_versions(lead, anna) -> None:
    draft = Api(lead).post("draft")
    api = Api(anna)

    assert [row["number"] for row in api.get("versions")["results"]] == ["1.0"]
    api.get("version", draft["uuid"], status=404)
    api.get("examples", draft["uuid"], status=404)


# -- imports -----------------------------------------------------------------------------------------------------------

ROWS = b"id,text,source\n1,Good,web\n2,,web\n1,Again,mail\n"


def checked(api: Api, content: bytes = ROWS, name: str = "rows.csv", **fields: Any) -> Any:
    job = api.upload(ContentFile(content, name), **fields)
    jobs.run_waiting(limit=9)
    return api.get("import", job["uuid"])


def test_import_says_what_it_found_before_anything_is_written(lead) -> None:
    found = checked(Api(lead), shown=["text"], id_field="id", metadata=["source"])

    assert (found["state"], found["fields_found"], found["shown"]) == ("done", ["id", "text", "source"], ["text"])
    assert (found["report"]["rows"], found["report"]["good"]) == (3, 1)
    assert [(row["number"], row["problem"]) for row in found["problems"]] == [(3, "empty"), (4, "id_in_file")]
    assert not Item.objects.exists()


def test_import_with_other_fields_is_checked_again(lead) -> None:
    api = Api(lead)
    job = checked(api, shown=["text"], id_field="id")

    waiting = api.put("import", job["uuid"], data={"shown": ["source", "text"]}, status=202)
    jobs.run_waiting(limit=9)

    assert (waiting["state"], waiting["report"]) == ("waiting", None)
    assert api.get("import", job["uuid"])["report"]["usual"] == 2


def test_import_confirmed_twice_is_one(lead) -> None:
    api = Api(lead)
    job = checked(api, shown=["text"], id_field="id")

    first, second = (api.post("import-confirm", job["uuid"], data={}, status=202) for _ in range(2))
    jobs.run_waiting(limit=9)

    assert first["uuid"] == second["uuid"]
    assert Item.objects.count() == 1


def test_import_that_is_dropped_leaves_nothing(lead) -> None:
    api = Api(lead)
    job = checked(api)

    api.delete("import", job["uuid"], status=204)

    assert api.post("import-confirm", job["uuid"], data={}, status=409)["error"]["code"] == "import_over"


@pytest.mark.parametrize(
    ("content", "name", "fields"),
    [
        (b"", "empty.csv", {}),
        (bytes(range(256)) * 8, "binary.csv", {}),
        (b"[1, 2", "cut.json", {}),
        (ROWS, "rows.csv", {"format": "xlsx"}),
        (ROWS, "rows.csv", {"shown": ["gone"]}),
        (ROWS, "rows.csv", {"shown": ["text", "text"]}),
        (ROWS, "rows.csv", {"shown": ["text"], "id_field": "gone"}),
        (ROWS, "rows.csv", {"metadata": ["gone"]}),
    ],
)
def test_files_that_cannot_be_imported_are_refused_at_once(lead, content, name, fields) -> None:
    Api(lead).upload(ContentFile(content, name), status=422, **fields)

    assert not Job.objects.exists()


def test_file_over_the_limit_is_not_kept(lead, settings) -> None:
    settings.UPLOAD_MEGABYTES = 1

    error = Api(lead).upload(ContentFile(b"text\n" + b"x" * 1024 * 1024, "large.csv"), status=413)["error"]

    assert error["code"] == "too_large"
    assert not Job.objects.exists()


def test_upload_by_json_is_refused(lead) -> None:
    error = Api(lead).post("imports", data={"file": "text\nHello"}, status=422)["error"]

    assert list(error["fields"]) == ["file"]


def test_confirmation_names_only_kinds_that_there_are(lead) -> None:
    api = Api(lead)
    job = checked(api)

    api.post("import-confirm", job["uuid"], data={"also": ["unreadable"]}, status=422)


# -- items -------------------------------------------------------------------------------------------------------------


def test_items_come_in_pages_and_are_found_by_id(lead) -> None:
    factories.items(lead.project, 5)
    api = Api(lead)

    first = api.get("items", size=3)
    second = api.client.get(first["next"], headers=api.headers).json()

    assert [row["external_id"] for row in [*first["results"], *second["results"]]] == [f"item-{i}" for i in range(5)]
    assert [row["external_id"] for row in api.get("items", external_id="item-3")["results"]] == ["item-3"]
    assert api.get("items", standing="superseded")["results"] == []


def test_item_says_where_it_came_from_and_nothing_of_its_labels(lead) -> None:
    (item,) = factories.items(lead.project, 1)

    assert sorted(Api(lead).get("item", item.uuid)) == [
        "batch",
        "content",
        "content_hash",
        "created_at",
        "external_id",
        "metadata",
        "standing",
        "uuid",
    ]


def test_jobs_show_their_makers_name_and_no_secrets(lead, client_of) -> None:
    job = checked(Api(lead))

    body = client_of(lead).get(reverse("api:job", args=[lead.project.uuid, job["uuid"]])).json()

    assert (body["created_by"], body["kind"]) == ("lea", "import_preview")
    assert "params" not in json.dumps(body)
    assert Membership.objects.filter(alias="lea").count() == 1
