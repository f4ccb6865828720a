"""The progress fragment: polled while the job runs, and only by those whose work it is."""

from collections.abc import Callable

import pytest
from django.test import Client

from projects import jobs
from projects.enums import JobKind
from projects.models import Job, Membership, Project
from tests import factories
from tests.factories import NOW


def address(job: Job) -> str:
    return f"/p/{job.project.uuid}/jobs/{job.uuid}/"


@pytest.fixture
def job(project: Project) -> Job:
    return jobs.create(project, JobKind.EXPORT, at=NOW)


def test_running_job_is_polled_and_says_how_far_it_is(job: Job, lead: Membership, client_of: Callable) -> None:
    jobs.claim(job, at=NOW)
    jobs.progress(job, 30, 120, "30 rows read")
    page = client_of(lead).get(address(job), headers={"HX-Request": "true"})
    assert page.status_code == 200
    assert page["Vary"].split(", ")[0] == "HX-Request"
    text = page.content.decode()
    assert f'hx-get="{address(job)}" hx-trigger="every 1s"' in text
    assert "30 rows read (25 %)" in text
    assert '<progress aria-label="exporting" max="100" value="25">' in text
    assert text.count("<html") == 0


def test_page_reloads_once_the_job_is_over(job: Job, lead: Membership, client_of: Callable) -> None:
    Job.objects.update(state="done")
    answer = client_of(lead).get(address(job), headers={"HX-Request": "true"})
    assert (answer["HX-Refresh"], answer.content) == ("true", b"")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("waiting", "Waiting for the worker"),
        ("failed", "Only 37 are left."),
        ("cancelled", "This was stopped."),
        ("done", "Done."),
    ],
)
def test_page_without_javascript(job: Job, lead: Membership, client_of: Callable, state: str, text: str) -> None:
    Job.objects.update(state=state, message="Only 37 are left.")
    page = client_of(lead).get(address(job)).content.decode()
    assert text in page
    assert ('<noscript><meta http-equiv="refresh" content="3"></noscript>' in page) == (state == "waiting")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (JobKind.IMPORT, {"admin": 200, "lead": 200, "anna": 404}),
        (JobKind.IMPORT_PREVIEW, {"admin": 200, "lead": 200, "anna": 404}),
        (JobKind.EXPORT, {"admin": 200, "lead": 200, "anna": 404}),
        (JobKind.OPEN_WAVE, {"admin": 200, "lead": 200, "anna": 404}),
        (JobKind.MAIL, {"admin": 200, "lead": 404, "anna": 404}),
    ],
)
def test_access(
    project: Project,
    kind: JobKind,
    status: dict[str, int],
    request: pytest.FixtureRequest,
    client_of: Callable,
) -> None:
    job = jobs.create(project, kind, at=NOW)
    got = {who: client_of(request.getfixturevalue(who)).get(address(job)).status_code for who in status}
    assert got == status


def test_strangers_and_neighbours(job: Job, outsider: object, client: Client, client_of: Callable) -> None:
    assert client_of(outsider).get(address(job)).status_code == 404
    assert client.get(address(job)).status_code == 302
    neighbour = factories.member(factories.project("Neighbour"), "nora", "admin")
    assert client_of(neighbour).get(address(job)).status_code == 404
    foreign = f"/p/{neighbour.project.uuid}/jobs/{job.uuid}/"
    assert client_of(neighbour).get(foreign).status_code == 404
