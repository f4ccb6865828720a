"""Ratings that were made elsewhere, through the API: what was found, what is refused, and the wave in the end."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile

from annotations.models import Annotation, Case, Wave
from projects import jobs
from projects.models import Item, Job
from tests import factories
from tests.annotations import ratings_files
from tests.api import Api

pytestmark = pytest.mark.django_db

WIDE = "id,text,Ann,Bob\n1,It crashes,complaint,complaint\n2,Lovely,praise,nice\n"
BY_COLUMN = {"shape": "wide", "shown": ["text"], "id_field": "id", "labels": {"intent": ""}, "raters": ["Ann", "Bob"]}
NESTED = '{"id": 1, "text": "It crashes", "said": {"Ann": "complaint", "Bob": "praise"}}\n'


def checked(api: Api, content: str = ratings_files.LONG, name: str = "ratings.csv", **fields: Any) -> Any:
    job = api.upload(ContentFile(content.encode(), name), to="ratings", **fields)
    jobs.run_waiting(limit=9)
    return api.get("ratings-upload", job["uuid"])


def confirmed(api: Api, job: Any, **said: Any) -> Any:
    made = api.post("ratings-confirm", job["uuid"], data=said, status=202)
    jobs.run_waiting(limit=9)
    return api.get("job", made["uuid"])


def test_an_upload_says_what_it_found_before_anything_is_written(lead) -> None:
    found = checked(Api(lead))

    report = found["report"]
    assert (found["state"], found["layout"]["shape"], found["layout"]["rater"]) == ("done", "long", "rater")
    assert (report["rows"], report["items"], report["overlap"], report["ratings"]) == (9, 4, 3, 8)
    assert (report["raters"], report["bad"]) == ({"Ann": 4, "Bob": 2, "Cid": 2}, 0)
    assert found["note"] == "Imported: blindness and random draw are not known here."
    assert not Item.objects.exists()


def test_what_was_found_becomes_a_closed_wave_with_its_conflicts(lead) -> None:
    api = Api(lead)

    made = confirmed(api, checked(api))

    wave = Wave.objects.get(uuid=made["result"]["wave"])
    assert (made["state"], wave.is_imported, wave.state) == ("done", True, "closed")
    assert (Annotation.objects.count(), Case.objects.count()) == (8, 1)


@pytest.mark.parametrize(
    ("content", "name", "layout"),
    [
        (WIDE.replace("nice", "praise"), "wide.csv", BY_COLUMN),
        (
            NESTED,
            "nested.jsonl",
            {"shape": "nested", "shown": ["text"], "id_field": "id", "labels": {"intent": "said"}},
        ),
        (
            "n,message,who,what\n1,It crashes,Ann,complaint\n1,,Bob,praise\n",
            "long.csv",
            {"shape": "long", "shown": ["message"], "id_field": "n", "labels": {"intent": "what"}, "rater": "who"},
        ),
    ],
)
def test_a_layout_in_each_shape(lead, content, name, layout) -> None:
    api = Api(lead)

    made = confirmed(api, checked(api, content, name, layout=json.dumps(layout)))

    assert (made["state"], made["result"]["ratings"]) == ("done", content.count("praise") + content.count("complaint"))
    assert sorted(lead.project.memberships.filter(user=None).values_list("alias", flat=True)) == ["Ann", "Bob"]


def test_a_value_that_is_no_label_is_asked_for_and_then_mapped(lead) -> None:
    api = Api(lead)
    job = checked(api, WIDE, layout=json.dumps(BY_COLUMN))
    values = {value["value"]: value["label_key"] for value in job["report"]["values"]}

    error = api.post("ratings-confirm", job["uuid"], data={}, status=422)["error"]
    made = confirmed(api, job, values=[{"value": "nice", "label_key": "praise"}])

    assert values == {"complaint": "complaint", "praise": "praise", "nice": None}
    assert (error["code"], "“nice” 1 × (first in row 3)" in error["message"]) == ("unmapped", True)
    assert (made["result"]["ratings"], Case.objects.count()) == (4, 0)


def test_a_value_may_be_left_out_and_a_rater_may_be_a_member(lead, anna) -> None:
    api = Api(lead)
    job = checked(api, WIDE, layout=json.dumps(BY_COLUMN))

    made = confirmed(
        api, job, values=[{"question": "intent", "value": "nice", "label_key": None}], raters={"Ann": str(anna.uuid)}
    )

    assert made["result"]["ratings"] == 3
    assert Annotation.objects.filter(member=anna).count() == 2


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"values": [{"value": "gone", "label_key": "praise"}]}, "unknown_value"),
        ({"values": [{"question": "tone", "value": "nice", "label_key": "praise"}]}, "unknown_value"),
        ({"values": [{"value": "nice", "label_key": "gone"}]}, "unknown_label"),
        (
            {
                "values": [{"value": "nice", "label_key": None}],
                "raters": {"Zoe": "00000000-0000-4000-8000-000000000000"},
            },
            "unknown_rater",
        ),
        (
            {
                "values": [{"value": "nice", "label_key": None}],
                "raters": {"Ann": "00000000-0000-4000-8000-000000000000"},
            },
            "unknown_member",
        ),
        ({"values": [{"label_key": "praise"}]}, "invalid"),
    ],
)
def test_confirmations_that_name_what_is_not_there_are_refused(lead, said, code) -> None:
    api = Api(lead)
    job = checked(api, WIDE, layout=json.dumps(BY_COLUMN))

    assert api.post("ratings-confirm", job["uuid"], data=said, status=422)["error"]["code"] == code
    assert not Wave.objects.exists()


def test_another_layout_is_read_again_and_an_old_preview_not_confirmed(lead) -> None:
    api = Api(lead)
    job = checked(api, WIDE, layout=json.dumps(BY_COLUMN))

    waiting = api.put("ratings-upload", job["uuid"], data={**BY_COLUMN, "raters": ["Ann"]}, status=202)
    jobs.run_waiting(limit=9)

    assert (waiting["state"], waiting["report"]) == ("waiting", None)
    assert api.get("ratings-upload", job["uuid"])["report"]["ratings"] == 2
    error = api.post("ratings-confirm", job["uuid"], data={"attempt": job["attempt"]}, status=409)["error"]
    assert error["code"] == "preview_changed"


def test_confirmed_twice_is_one_and_dropped_leaves_nothing(lead) -> None:
    api = Api(lead)
    job, other = checked(api), checked(api, WIDE, layout=json.dumps(BY_COLUMN))

    first, second = (api.post("ratings-confirm", job["uuid"], data={}, status=202) for _ in range(2))
    jobs.run_waiting(limit=9)
    api.delete("ratings-upload", other["uuid"], status=204)

    assert (first["uuid"], Wave.objects.count()) == (second["uuid"], 1)
    error = api.post("ratings-confirm", other["uuid"], data={}, status=409)["error"]
    assert error["code"] == "import_over"


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("", {}),
        (WIDE, {"layout": json.dumps({**BY_COLUMN, "raters": ["Zoe"]})}),
        (WIDE, {"layout": json.dumps({**BY_COLUMN, "labels": {"tone": ""}})}),
        (WIDE, {"layout": json.dumps({**BY_COLUMN, "shape": "tall"})}),
        (WIDE, {"layout": "{"}),
        (WIDE, {"format": "xlsx"}),
    ],
)
def test_files_and_layouts_that_cannot_be_are_refused(lead, content, fields) -> None:
    api = Api(lead)
    answer = api.client.post(
        api.address("ratings"), {"file": ContentFile(content.encode(), "r.csv"), **fields}, headers=api.headers
    )

    # A layout that does not fit the file is kept with the reason, as on the page, to be chosen again.
    if answer.status_code == 202:
        assert (answer.json()["state"], bool(answer.json()["message"])) == ("failed", True)
    else:
        assert (answer.status_code, Job.objects.count()) == (422, 0)


def test_a_project_without_a_guideline_and_a_file_over_the_limit(settings) -> None:
    lead = factories.member(factories.project("Empty"), "lea", "lead")
    error = Api(lead).upload(ContentFile(b"id,text,Ann\n1,a,x", "r.csv"), to="ratings", status=409)["error"]
    settings.UPLOAD_MEGABYTES = 1
    large = ContentFile(b"text\n" + b"x" * 1024 * 1024, "large.csv")

    assert error["code"] == "no_guideline"
    assert Api(lead).upload(large, to="ratings", status=413)["error"]["code"] == "too_large"


@pytest.mark.one_database
@pytest.mark.timeout(400)
def test_of_ten_thousand_rows_the_three_bad_ones_are_named_with_their_reasons(lead) -> None:
    rows = [f"{n},text {n},Ann,praise" for n in range(1, 10_001)]
    rows[16], rows[4_998], rows[9_999] = "17,text 17,,praise", "4999,,Ann,praise,more,cells", "2,text 2,Ann,complaint"
    api = Api(lead)

    found = checked(api, "\n".join(["id,text,rater,label", *rows]) + "\n")
    made = confirmed(api, found)

    told = [(row["number"], row["problem"]) for row in found["problems"]]
    assert told == [(18, "no_rater"), (5_000, "unreadable"), (10_001, "rater_twice")]
    assert all(row["message"] for row in found["problems"])
    assert (found["report"]["rows"], found["report"]["bad"], made["result"]["ratings"]) == (10_000, 3, 9_997)
