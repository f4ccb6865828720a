"""The pages of an import, as a lead goes through them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from projects import importing, jobs
from projects.models import Item, Job, Membership, Project, StagedRow
from projects.views import imports
from tests import factories

CSV = b"id,text,source\n1,It crashes every day,forum\n2,Lovely,forum\n3,it  CRASHES every day,mail\n3,Twice,mail\n"


def file(content: bytes = CSV, name: str = "reviews.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.fixture
def page(lead: Membership, client_of: Callable) -> Client:
    return client_of(lead)


@pytest.fixture
def new(project: Project) -> str:
    return f"/p/{project.uuid}/imports/new/"


def uploaded(page: Client, new: str, content: bytes = CSV, name: str = "reviews.csv", **fields: str) -> str:
    """The address of the import of an uploaded file."""
    answer = page.post(new, {"file": file(content, name), **fields})
    assert answer.status_code == 302, answer.context["form"].errors
    return answer["Location"]


def test_from_file_to_items(project: Project, lead: Membership, page: Client, new: str) -> None:
    url = uploaded(page, new, name="reviews.csv", begin="1", end="1")
    shown = page.get(url)
    text = shown.content.decode()
    assert "4 rows were read. 3 will be imported, 1 left out." in " ".join(text.split())
    assert shown.context["preview"][0] == [("text", "It crashes every day")]
    assert [(row.number, row.problem) for row in shown.context["problems"]] == [(4, "like_in_file"), (5, "id_in_file")]
    assert "Import the 2 good rows and what is ticked" in text
    assert Item.objects.count() == 0

    answer = page.post(f"{url}confirm/", {"also": ["like_in_file"], "attempt": shown.context["job"].attempts})
    assert answer["Location"] == url
    done = page.get(url).content.decode()
    assert "<b>3</b> <span>items were imported.</span>" in done
    assert "1 × an earlier row has the same id" in done
    batch = project.batches.get()
    assert (batch.name, batch.created_by, batch.size) == ("reviews.csv", lead, 3)
    assert list(batch.items.order_by("pk").values_list("external_id", "metadata__source")) == [
        ("1", "forum"),
        ("2", "forum"),
        ("3", "mail"),
    ]


def test_bad_rows_are_named_on_the_button(page: Client, new: str) -> None:
    url = uploaded(page, new, b"id,text\n1,one\n1,two\n2,three\n")
    assert "Import the 2 good rows, leave out 1" in page.get(url).content.decode()


def test_pasted_rows(page: Client, new: str, project: Project) -> None:
    answer = page.post(new, {"text": '{"id": 1, "text": "pasted"}\n', "name": "By hand"})
    page.post(f"{answer['Location']}confirm/")
    assert (project.batches.get().name, Item.objects.get().content) == ("By hand", {"text": "pasted"})


def test_format_can_be_said(page: Client, new: str) -> None:
    url = uploaded(page, new, b"id\ttext\n1\tone, two\n", "data.txt", format="tsv")
    assert page.get(url).context["preview"] == [[("text", "one, two")]]


def refused(answer: Any) -> str:
    assert answer.status_code == 422
    assert (Job.objects.count(), StagedRow.objects.count()) == (0, 0)
    return " ".join(answer.context["form"].non_field_errors())


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Choose a file, or paste some rows."),
        ({"file": CSV, "text": "x"}, "Choose a file or paste rows, not both."),
        ({"file": b""}, "The file is empty (0 bytes): export it again, with rows in it."),
        ({"file": b"id,text\n"}, "The file has a header and no rows: add rows below the header."),
        ({"file": CSV, "begin": "1"}, "The upload was cut off before its end: send it again."),
    ],
)
def test_upload_that_is_none_is_refused(page: Client, new: str, fields: dict[str, Any], sentence: str) -> None:
    sent = {name: file(value) if name == "file" else value for name, value in fields.items()}
    assert refused(page.post(new, sent)) == sentence


def test_binary_file_is_refused(page: Client, new: str) -> None:
    assert "is a ZIP archive or an Excel workbook" in refused(page.post(new, {"file": file(b"PK\x03\x04 more")}))


def test_file_over_the_limit_is_refused_and_not_kept(page: Client, new: str, settings: Any) -> None:
    settings.UPLOAD_MEGABYTES = 1
    rows = b"id,text\n" + b"1,some text\n" * 100_000
    assert refused(page.post(new, {"file": file(rows)})) == (
        "The file is larger than 1 MB, the most that this server takes: split it."
    )


def test_too_much_pasted_text_is_refused(page: Client, new: str, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000
    answer = page.post(new, {"text": "x" * 20_000})
    assert refused(answer) == "That is too much text to paste: save it as a file and upload the file."


def test_upload_needs_its_token(lead: Membership, new: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(lead.user)
    assert client.post(new, {"file": file()}).status_code == 403
    assert Job.objects.count() == 0


def test_large_file_waits_for_the_worker_and_is_polled(
    page: Client, new: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "SMALL", 10)
    url = uploaded(page, new)
    job = Job.objects.get()
    waiting = page.get(url).content.decode()
    assert f'hx-get="/p/{project.uuid}/jobs/{job.uuid}/"' in waiting
    assert '<meta http-equiv="refresh" content="3">' in waiting
    assert "Choose" not in waiting.split("<main")[0]
    jobs.run_waiting()
    shown = page.get(url)
    assert shown.context["report"].rows == 4
    page.post(f"{url}confirm/")
    made = Job.objects.get(kind="import")
    assert f'hx-get="/p/{project.uuid}/jobs/{made.uuid}/"' in page.get(url).content.decode()
    jobs.run_waiting()
    assert page.get(url).context["batch"].size == 2


def test_fields_can_be_changed(page: Client, new: str, project: Project) -> None:
    url = uploaded(page, new)
    answer = page.post(f"{url}fields/", {"shown_1": "2", "shown_2": "1", "id_field": "", "metadata": ["0"]})
    assert answer["Location"] == url
    shown = page.get(url)
    assert shown.context["preview"][0] == [("source", "forum"), ("text", "It crashes every day")]
    assert "The project's other items show other fields: text." in shown.content.decode()
    page.post(f"{url}confirm/")
    assert list(Item.objects.order_by("pk").values_list("external_id", "metadata")[:1]) == [("", {"id": "1"})]


def test_no_shown_field_is_refused_with_the_choice_kept(page: Client, new: str) -> None:
    url = uploaded(page, new)
    answer = page.post(f"{url}fields/", {"id_field": "2"})
    assert answer.status_code == 422
    assert "Choose at least one field to show." in answer.content.decode()
    assert [row.is_id for row in answer.context["form"].rows()] == [False, False, True]


def test_problems_are_filtered_and_paged(page: Client, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "PROBLEMS", 2)
    url = uploaded(page, new, b"id,text\n1,\n2,\n3,\n,x\n")
    first = page.get(f"{url}?kind=empty")
    second = page.get(f"{url}?kind=empty&after={first.context['next']}")
    assert [row.number for row in first.context["problems"]] == [2, 3]
    assert ([row.number for row in second.context["problems"]], second.context["next"]) == ([4], None)
    assert page.get(f"{url}?kind=nonsense&after=x").status_code == 200


def test_confirming_twice_imports_once(page: Client, new: str, project: Project) -> None:
    url = uploaded(page, new)
    assert [page.post(f"{url}confirm/").status_code for _time in range(2)] == [302, 302]
    assert (Item.objects.count(), project.batches.count()) == (2, 1)


def test_confirming_a_stale_page_is_refused(page: Client, new: str) -> None:
    url = uploaded(page, new)
    seen = Job.objects.get().attempts
    page.post(f"{url}fields/", {"shown_2": "1"})
    answer = page.post(f"{url}confirm/", {"attempt": seen})
    assert answer.status_code == 409
    assert Item.objects.count() == 0


def test_discard(page: Client, new: str, project: Project) -> None:
    url = uploaded(page, new)
    assert page.post(f"{url}discard/")["Location"] == f"/p/{project.uuid}/items/"
    assert (StagedRow.objects.count(), Item.objects.count()) == (0, 0)
    assert "This upload was discarded" in page.get(url).content.decode()
    assert page.post(f"{url}confirm/").status_code == 409


def test_file_that_breaks_off_says_so(page: Client, new: str) -> None:
    rows = ",".join(json.dumps({"text": f"row {i}"}) for i in range(500))
    url = uploaded(page, new, f"[{rows}, {{".encode(), "cut.json")
    text = page.get(url).content.decode()
    assert "The file ends inside item 501: it was cut off" in text
    assert "Upload another file" in text


def test_upload_that_waits_is_named_on_the_list_of_items(page: Client, new: str, project: Project) -> None:
    url = uploaded(page, new)
    text = page.get(f"/p/{project.uuid}/items/").content.decode()
    assert "“reviews.csv” was read and waits for you to confirm it." in text
    assert f'href="{url}"' in text


def test_page_takes_as_many_queries_for_three_rows_as_for_one(page: Client, new: str) -> None:
    counts = []
    for rows in (b"1,\n", b"2,\n3,\n4,\n"):
        url = uploaded(page, new, b"id,text\n0,fine\n" + rows)
        page.get(url)
        with CaptureQueriesContext(connection) as queries:
            page.get(url)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("new/", "get"),
        ("new/", "post"),
        ("{job}/", "get"),
        ("{job}/fields/", "post"),
        ("{job}/confirm/", "post"),
        ("{job}/discard/", "post"),
    ],
)
def test_access(
    project: Project,
    path: str,
    method: str,
    client: Client,
    outsider: object,
    request: pytest.FixtureRequest,
    client_of: Callable,
) -> None:
    job = importing.start(project, upload=file(), by=None)
    url = f"/p/{project.uuid}/imports/{path.format(job=job.uuid)}"
    who = {"anna": 403, "outsider": 404}
    assert {n: getattr(client_of(request.getfixturevalue(n)), method)(url).status_code for n in who} == who
    assert getattr(client, method)(url)["Location"] == f"/login/?next={url}"
    neighbour = factories.member(factories.project("Neighbour"), "nora", "admin")
    assert getattr(client_of(neighbour), method)(url).status_code == 404
    if "{job}" in path:
        foreign = f"/p/{neighbour.project.uuid}/imports/{path.format(job=job.uuid)}"
        assert getattr(client_of(neighbour), method)(foreign).status_code == 404
    for name in ("admin", "lead"):
        assert getattr(client_of(request.getfixturevalue(name)), method)(url).status_code in (200, 302, 409, 422)
    job.refresh_from_db()
    assert job.project == project


def test_other_kinds_of_job_are_no_import(page: Client, project: Project) -> None:
    job = jobs.create(project, "export")
    assert page.get(f"/p/{project.uuid}/imports/{job.uuid}/").status_code == 404
