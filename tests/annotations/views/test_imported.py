"""The pages of an import of ratings, as a lead goes through them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agreement import runs
from annotations import imported as ratings
from annotations.models import Annotation, ImportedRow, Wave
from annotations.views import imported
from projects import jobs
from projects.models import Item, Job, Membership, Project
from tests import factories
from tests.annotations.ratings_files import LONG, bring, read

CSV = LONG.encode()


def file(content: bytes = CSV, name: str = "ratings.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.fixture
def page(lead: Membership, client_of: Callable) -> Client:
    return client_of(lead)


@pytest.fixture
def new(version: Any) -> str:
    return f"/p/{version.project.uuid}/ratings/new/"


def uploaded(page: Client, new: str, content: bytes = CSV, name: str = "ratings.csv", **fields: str) -> str:
    """The address of the import of an uploaded file."""
    answer = page.post(new, {"file": file(content, name), **fields})
    assert answer.status_code == 302, answer.context["form"].errors
    return answer["Location"]


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def filled(answer: Any, name: str = "confirm_form") -> dict[str, Any]:
    """What a browser would send of a form as it is shown."""
    form = answer.context[name]
    values = {field.html_name: field.value() for field in form}
    return {key: value for key, value in values.items() if value not in (None, False)}


def test_from_file_to_wave(project: Project, page: Client, new: str, lead: Membership) -> None:
    url = uploaded(page, new)
    shown = page.get(url)
    assert "9 rows were read. Found: 8 ratings of 4 items, 3 of which have two or more." in words(shown)
    assert "Import 8 ratings" in words(shown)
    assert "Ann: complaint" in words(shown)
    assert (Item.objects.count(), Wave.unseen.count()) == (0, 0)

    assert page.post(f"{url}confirm/", filled(shown))["Location"] == url
    done = words(page.get(url))
    wave = Wave.objects.get()
    assert "<b>8</b> <span>ratings of 4 items were imported.</span>" in done
    assert "1 conflict was opened." in done
    assert "Imported: blindness and random draw are not known here." in done
    assert f'href="/p/{project.uuid}/waves/{wave.uuid}/"' in done
    assert (wave.opened_by, wave.number) == (lead, 1)


def test_the_wave_and_its_figures_say_that_they_are_imported(project: Project, page: Client, lead: Membership) -> None:
    wave = bring(lead)
    runs.sweep(at=timezone.now())
    note = "Imported: blindness and random draw are not known here."
    shown = words(page.get(f"/p/{project.uuid}/waves/{wave.uuid}/?verify"))
    assert note in shown
    assert "the system drew nothing here, so there is nothing to replay" in shown
    assert "Commitment" not in shown
    assert "8 of 8" in shown
    assert "<td>imported </td>" in words(page.get(f"/p/{project.uuid}/waves/"))
    assert note in words(page.get(f"/p/{project.uuid}/agreement/"))
    figures = words(page.get(f"/p/{project.uuid}/agreement/{wave.draw.uuid}/intent/"))
    assert note in figures
    assert "Imported ratings have no gate." in figures
    assert page.get(f"/p/{project.uuid}/").status_code == 200


def test_pages_of_anonymous_ratings_name_no_rater(project: Project, page: Client, lead: Membership) -> None:
    rows = [{"id": i, "text": f"t{i}", "ratings": ["praise", "question", "praise"]} for i in range(5)]
    wave = bring(lead, rows)
    runs.sweep(at=timezone.now())
    figures = words(page.get(f"/p/{project.uuid}/agreement/{wave.draw.uuid}/intent/"))
    assert "with anonymous ratings" in figures
    assert "rating 1" not in figures
    assert "Pairs of raters" not in figures
    url = reverse("agreement:cell", args=[project.uuid, wave.draw.uuid, "intent", "praise", "question"])
    assert "rating 1" not in words(page.get(url))


def test_values_are_mapped_in_the_page(page: Client, new: str) -> None:
    content = CSV.replace(b",praise\n", b",lovely\n").replace(b"rater,label", b"rater,intent")
    url = uploaded(page, new, content)
    shown = page.get(url)
    sent = filled(shown)
    refused = page.post(f"{url}confirm/", sent)
    assert refused.status_code == 422
    assert "Say what “lovely” stands for." in refused.content.decode()
    assert Wave.unseen.count() == 0
    places = {value.shown: place for place, value in enumerate(shown.context["report"].values)}
    page.post(f"{url}confirm/", sent | {f"value_{places['lovely']}": "praise", f"value_{places['question']}": "-"})
    answers = Annotation.objects.order_by("pk").values_list("answers__intent", flat=True)
    assert list(answers) == ["complaint", "complaint", "complaint", "praise", "praise", "praise"]


def said(page: Client, url: str, **fields: str) -> str:
    answer = page.post(f"{url}fields/", fields)
    assert answer.status_code == 302, answer.context["layout_form"].errors
    return answer["Location"]


def test_a_rater_can_be_a_member(page: Client, new: str, anna: Membership) -> None:
    url = uploaded(page, new, CSV.replace(b"Ann", b"anna"))
    shown = page.get(url)
    sent = filled(shown)
    assert sent["rater_0"] == str(anna.uuid)  # the same name as the user's
    page.post(f"{url}confirm/", sent)
    assert Annotation.objects.filter(member=anna).count() == 4


def test_two_raters_cannot_be_one_member(page: Client, new: str, anna: Membership) -> None:
    url = uploaded(page, new)
    sent = filled(page.get(url)) | {"rater_0": str(anna.uuid), "rater_1": str(anna.uuid)}
    answer = page.post(f"{url}confirm/", sent)
    assert answer.status_code == 422
    assert "Two raters of the file cannot be the same member" in answer.content.decode()
    assert Job.objects.filter(kind="ratings_import").count() == 0


def test_fields_can_be_changed(page: Client, new: str) -> None:
    url = uploaded(page, new)
    sent = {"shape": "long", "use_0": "metadata", "use_1": "shown", "use_2": "rater", "use_3": "labels:intent"}
    refused = page.post(f"{url}fields/", sent | {"use_2": ""})
    assert refused.status_code == 422
    assert "Choose the field that names the rater, or say that nobody knows who rated." in refused.content.decode()
    twice = page.post(f"{url}fields/", sent | {"use_1": "rater"})
    assert "Two fields are “rater”: choose one." in twice.content.decode()
    said(page, url, **sent)
    shown = page.get(url)
    # Without ids the text is the item, and only half of the rows have one.
    assert (shown.context["report"].items, shown.context["report"].bad) == (4, 5)
    assert [row.use.value() for row in shown.context["layout_form"].rows()] == [
        "metadata",
        "shown",
        "rater",
        "labels:intent",
    ]


def test_columns_in_the_page(page: Client, new: str) -> None:
    url = uploaded(page, new, b"id,text,a1,a2\n1,It crashes,x,y\n2,Lovely,y,y\n")
    assert "Say which field holds the labels of which question." in words(page.get(url))
    said(
        page,
        url,
        shape="wide",
        question="intent",
        use_0="id",
        use_1="shown",
        use_2="column",
        use_3="column",
        anonymous="on",
    )
    shown = page.get(url)
    assert shown.context["report"].raters == {}
    page.post(f"{url}confirm/", filled(shown) | {"value_0": "praise", "value_1": "question"})
    assert Wave.objects.get().draw.is_anonymous


def test_without_a_guideline_the_page_says_what_to_do(project: Project, client_of: Callable) -> None:
    page = client_of(factories.member(project, "ada", "admin"))
    url = f"/p/{project.uuid}/ratings/new/"
    assert "Publish its first version" in words(page.get(url))
    answer = page.post(url, {"file": file()})
    assert answer.status_code == 422
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Choose a file, or paste some rows."),
        ({"file": CSV, "text": "x"}, "Choose a file or paste rows, not both."),
        ({"file": b""}, "The file is empty (0 bytes): export it again, with rows in it."),
        ({"file": b"PK\x03\x04 more"}, "The file is a ZIP archive or an Excel workbook, not a text file"),
        ({"file": CSV, "begin": "1"}, "The upload was cut off before its end: send it again."),
    ],
)
def test_upload_that_is_none_is_refused(page: Client, new: str, fields: dict[str, Any], sentence: str) -> None:
    sent = {name: file(value) if name == "file" else value for name, value in fields.items()}
    answer = page.post(new, sent)
    assert answer.status_code == 422
    assert sentence in " ".join(answer.context["form"].non_field_errors())
    assert (Job.objects.count(), ImportedRow.objects.count()) == (0, 0)


def test_file_over_the_limit_is_refused_and_not_kept(page: Client, new: str, settings: Any) -> None:
    settings.UPLOAD_MEGABYTES = 1
    answer = page.post(new, {"file": file(CSV + b"1,,x,praise\n" * 100_000)})
    assert answer.status_code == 422
    assert "larger than 1 MB" in answer.content.decode()


def test_upload_needs_its_token(lead: Membership, new: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(lead.user)
    assert client.post(new, {"file": file()}).status_code == 403
    assert Job.objects.count() == 0


def test_a_large_file_waits_for_the_worker_and_is_polled(
    page: Client, new: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported, "SMALL", 10)
    url = uploaded(page, new)
    job = Job.objects.get()
    assert f'hx-get="/p/{project.uuid}/jobs/{job.uuid}/"' in words(page.get(url))
    assert page.get(f"/p/{project.uuid}/jobs/{job.uuid}/").status_code == 200
    jobs.run_waiting()
    page.post(f"{url}confirm/", filled(page.get(url)))
    made = Job.objects.get(kind="ratings_import")
    assert f'hx-get="/p/{project.uuid}/jobs/{made.uuid}/"' in words(page.get(url))
    jobs.run_waiting()
    assert page.get(url).context["wave"].size == 4


def test_rows_that_are_left_out_are_named_and_paged(page: Client, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported, "PROBLEMS", 2)
    url = uploaded(page, new, CSV + b"1,,Ann,praise\n1,,Bob,praise\n2,,Cid,praise\n")
    first = page.get(f"{url}?kind=rater_twice")
    assert "leave out 3 rows" in words(first)
    assert [row.message for row in first.context["problems"]] == [
        "“Ann” rated “1” in row 2 already.",
        "“Bob” rated “1” in row 3 already.",
    ]
    second = page.get(f"{url}?kind=rater_twice&after={first.context['next']}")
    assert ([row.number for row in second.context["problems"]], second.context["next"]) == ([13], None)
    assert page.get(f"{url}?kind=nonsense&after=x").status_code == 200


def test_confirming_twice_imports_once(page: Client, new: str) -> None:
    url = uploaded(page, new)
    sent = filled(page.get(url))
    assert [page.post(f"{url}confirm/", sent).status_code for _time in range(2)] == [302, 302]
    assert Wave.objects.count() == 1


def test_confirming_a_stale_page_is_refused(page: Client, new: str) -> None:
    url = uploaded(page, new)
    sent = filled(page.get(url))
    said(page, url, shape="long", use_0="", use_1="shown", use_2="rater", use_3="labels:intent")
    assert page.post(f"{url}confirm/", sent).status_code == 409
    assert Wave.unseen.count() == 0


def test_discard(page: Client, new: str, project: Project) -> None:
    url = uploaded(page, new)
    assert "was uploaded and is not imported yet" in words(page.get(new))
    assert page.post(f"{url}discard/")["Location"] == f"/p/{project.uuid}/waves/"
    assert (ImportedRow.objects.count(), Item.objects.count()) == (0, 0)
    assert "This upload was discarded" in words(page.get(url))
    assert page.post(f"{url}confirm/").status_code == 409
    assert (
        page.post(
            f"{url}fields/", {"shape": "long", "use_1": "shown", "use_2": "rater", "use_3": "labels:intent"}
        ).status_code
        == 409
    )


def test_a_failed_import_says_why_and_can_be_tried_again(page: Client, new: str) -> None:
    url = uploaded(page, new)
    job = Job.objects.get()
    made = ratings.confirm(job, by=Membership.objects.get(alias="lea"))
    Job.objects.filter(pk=made.pk).update(state="failed", message="The disk is full.")
    shown = words(page.get(url))
    assert "The disk is full." in shown
    assert "Try again" in shown
    page.post(f"{url}confirm/")
    assert page.get(url).context["wave"].size == 4


def test_text_of_the_file_is_escaped(page: Client, new: str) -> None:
    rows = b"id,text,rater,label\n1,<b>bold</b>,<i>Ann</i>,praise\n1,,Bob,<script>x</script>\n"
    url = uploaded(page, new, rows)
    text = page.get(url).content.decode()
    assert "<script>x" not in text
    assert "<b>bold" not in text
    assert "&lt;i&gt;Ann" in text


def test_page_takes_as_many_queries_for_three_items_as_for_one(page: Client, new: str) -> None:
    counts = []
    for rows in (b"1,a,Ann,praise\n", b"2,b,Ann,praise\n3,c,Ann,praise\n4,d,Bob,question\n"):
        url = uploaded(page, new, b"id,text,rater,label\n" + rows)
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
    lead: Membership,
    path: str,
    method: str,
    client: Client,
    outsider: object,
    request: pytest.FixtureRequest,
    client_of: Callable,
) -> None:
    job = read(lead)
    url = f"/p/{project.uuid}/ratings/{path.format(job=job.uuid)}"
    who = {"anna": 403, "outsider": 404}
    assert {n: getattr(client_of(request.getfixturevalue(n)), method)(url).status_code for n in who} == who
    assert getattr(client, method)(url)["Location"] == f"/login/?next={url}"
    neighbour = factories.member(factories.project("Neighbour"), "nora", "admin")
    assert getattr(client_of(neighbour), method)(url).status_code == 404
    if "{job}" in path:
        foreign = f"/p/{neighbour.project.uuid}/ratings/{path.format(job=job.uuid)}"
        assert getattr(client_of(neighbour), method)(foreign).status_code == 404
    for name in ("admin", "lead"):
        assert getattr(client_of(request.getfixturevalue(name)), method)(url).status_code in (200, 302, 409, 422)


def test_other_kinds_of_job_are_no_import_of_ratings(page: Client, project: Project) -> None:
    job = jobs.create(project, "export")
    assert page.get(f"/p/{project.uuid}/ratings/{job.uuid}/").status_code == 404


def test_an_annotator_learns_of_no_import(anna: Membership, lead: Membership, client_of: Callable) -> None:
    bring(lead, raters={"Ann": anna.uuid})
    page = client_of(anna)
    work = words(page.get(f"/p/{anna.project.uuid}/work/"))
    assert "It crashes" not in work
    assert page.get(f"/p/{anna.project.uuid}/waves/").status_code == 403
