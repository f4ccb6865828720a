"""The exports page and its files."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations import exporting, releasing
from projects import jobs
from projects.models import Job
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team

pytestmark = pytest.mark.django_db

STATUS = {"lead": 200, "admin": 200, "anna": 403, "outsider": 404, "anonymous": 302}


def address(project) -> str:
    return reverse("annotations:exports", args=[project.uuid])


def file_of(job: Job, project=None) -> str:
    return reverse("annotations:export-file", args=[(project or job.project).uuid, job.uuid])


def text(response) -> str:
    return response.content.decode()


@pytest.fixture
def job(project, lead, anna, ben) -> Job:
    disputes.rated(project, [anna, ben], {"one": ("praise", "praise")})
    return jobs.work_now(exporting.start(project, what="gold", file_format="csv", by=lead))


@pytest.mark.parametrize("who", STATUS)
def test_leads_and_admins_see_the_page_and_have_the_file(request, client, client_of, job, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    assert visitor.get(address(job.project)).status_code == STATUS[who]
    assert visitor.get(file_of(job)).status_code == STATUS[who]


def test_a_neighbours_file_neither_appears_nor_comes(client_of, job):
    neighbour = factories.project("Neighbour")
    nora = client_of(factories.member(neighbour, "nora", "lead"))

    assert "No file was made yet." in text(nora.get(address(neighbour)))
    assert nora.get(file_of(job, neighbour)).status_code == 404
    assert nora.get(file_of(job)).status_code == 404


def test_other_jobs_are_no_exports(client_of, project, lead, version):
    other = jobs.create(project, "import", by=lead)

    assert client_of(lead).get(file_of(other)).status_code == 404
    assert client_of(lead).get(reverse("annotations:export-file", args=[project.uuid, uuid4()])).status_code == 404


def test_the_form_writes_a_job_and_the_page_shows_its_progress(client_of, project, lead):
    client = client_of(lead)

    answer = client.post(address(project), {"what": "ratings", "file_format": "jsonl"}, follow=True)

    job = Job.objects.get()
    assert (job.kind, job.params, job.created_by) == ("export", {"what": "ratings", "format": "jsonl"}, lead)
    assert f'id="job-{job.uuid}"' in text(answer)


def test_what_cannot_be_exported_is_refused_in_the_form(client_of, project, lead):
    answer = client_of(lead).post(address(project), {"what": "secrets", "file_format": "csv"})

    assert (answer.status_code, Job.objects.count()) == (422, 0)


def test_the_file_comes_as_an_attachment_that_is_not_kept(client_of, job, lead):
    answer = client_of(lead).get(file_of(job))

    assert answer["Content-Disposition"] == f'attachment; filename="{job.file_name}"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert "no-store" in answer["Cache-Control"]
    assert b"".join(answer.streaming_content).startswith(b"item,item_id,question,value")


def test_an_unfinished_file_is_refused_with_a_sentence(client_of, project, lead):
    job = exporting.start(project, what="gold", file_format="csv", by=lead)

    answer = client_of(lead).get(file_of(job))

    assert (answer.status_code, "not there yet" in text(answer)) == (409, True)


def test_who_may_still_label_in_an_open_wave_is_told_why_there_is_no_file(client_of, project, lead, anna, ben):
    factories.items(project, 10)
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=50)
    Team([anna, ben]).work(turns=6)
    job = jobs.work_now(exporting.start(project, what="ratings", file_format="csv", by=lead))
    anna.is_lead = True
    anna.save()
    client = client_of(anna)

    page = text(client.get(address(project)))

    assert "whose measurement is open" in page
    assert file_of(job) not in page
    assert client.get(file_of(job)).status_code == 409


def test_the_page_costs_the_same_with_one_and_with_three_rows(client_of, project, job, lead):
    client = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(address(project)).status_code == 200
        return len(found)

    one = queries()
    for _time in range(2):
        exporting.start(project, what="gold", file_format="csv", by=lead)

    assert queries() == one
