"""Jobs: claimed once, taken up again after a kill, stopped by a cancel, and never a traceback for people."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction

from projects import jobs
from projects.enums import JobKind, JobState
from projects.errors import DomainError
from projects.models import Job, Project
from tests.factories import NOW

LATER = NOW + jobs.STALE + timedelta(seconds=1)


@contextmanager
def runner(function: Callable[[Job], None]) -> Iterator[None]:
    """For the time of a test, `function` does the exports."""
    before = jobs.RUNNERS.get(JobKind.EXPORT.value)
    jobs.register(JobKind.EXPORT, function)
    yield
    del jobs.RUNNERS[JobKind.EXPORT.value]
    if before:
        jobs.register(JobKind.EXPORT, before)


def test_run_waiting_runs_oldest_first_up_to_the_limit(project: Project) -> None:
    ran: list[int] = []
    second = jobs.create(project, JobKind.EXPORT, params={"n": 2}, at=NOW + timedelta(minutes=1))
    first = jobs.create(project, JobKind.EXPORT, params={"n": 1}, at=NOW)
    with runner(lambda job: ran.append(job.params["n"])):
        assert jobs.run_waiting(at=NOW, limit=1) == 1
        first.refresh_from_db()
        second.refresh_from_db()
        assert (ran, first.state, second.state) == ([1], JobState.DONE, JobState.WAITING)
        assert jobs.run_waiting(at=NOW, limit=5) == 1
    assert ran == [1, 2]


def test_mails_of_notices_go_out_after_all_other_work(project: Project) -> None:
    for minute in range(3):
        jobs.create(None, JobKind.DIGEST, at=NOW + timedelta(minutes=minute))
    wanted = jobs.create(project, JobKind.EXPORT, at=NOW + timedelta(hours=1))
    with runner(lambda job: None):
        assert jobs.run_waiting(at=NOW + timedelta(hours=2), limit=1) == 1
    wanted.refresh_from_db()
    assert wanted.state == JobState.DONE
    assert Job.objects.filter(kind=JobKind.DIGEST, state=JobState.WAITING).count() == 3


def test_run_waiting_leaves_kinds_that_nobody_runs(project: Project) -> None:
    job = jobs.create(project, JobKind.OPEN_WAVE)
    known = jobs.RUNNERS.pop(JobKind.OPEN_WAVE.value, None)
    try:
        assert jobs.run_waiting(at=NOW) == 0
    finally:
        if known:
            jobs.register(JobKind.OPEN_WAVE, known)
    job.refresh_from_db()
    assert job.state == JobState.WAITING


def test_claim_goes_to_one_of_two_workers(project: Project) -> None:
    job = jobs.create(project, JobKind.EXPORT)
    same = Job.objects.get(pk=job.pk)
    assert (jobs.claim(job, at=NOW), jobs.claim(same, at=NOW)) == (True, False)


def test_refusal_becomes_the_sentence_of_the_job(project: Project) -> None:
    def refuse(job: Job) -> None:
        raise DomainError("Only 37 are left.")

    job = jobs.create(project, JobKind.EXPORT)
    with runner(refuse):
        jobs.run_waiting(at=NOW)
    job.refresh_from_db()
    assert (job.state, job.message) == (JobState.FAILED, "Only 37 are left.")


def test_unforeseen_error_is_logged_and_shown_without_its_text(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(job: Job) -> None:
        raise KeyError("secret column")

    job = jobs.create(project, JobKind.EXPORT)
    with runner(break_down):
        assert jobs.run_waiting(at=NOW) == 1
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.message == f"Something went wrong that nobody foresaw. It is in the server's log under {job.uuid}."
    assert "secret column" in caplog.text


def test_job_of_a_killed_worker_is_taken_up_again_after_two_minutes(project: Project) -> None:
    seen: list[int] = []
    job = jobs.create(project, JobKind.EXPORT)
    assert jobs.claim(job, at=NOW)
    with runner(lambda job: seen.append(job.attempts)):
        assert jobs.run_waiting(at=NOW + jobs.STALE) == 0
        assert jobs.run_waiting(at=LATER) == 1
    job.refresh_from_db()
    assert (seen, job.state, job.result) == ([2], JobState.DONE, {})


def test_job_that_kills_its_worker_is_given_up(project: Project) -> None:
    job = jobs.create(project, JobKind.EXPORT)
    at = NOW
    assert jobs.claim(job, at=at)
    for _crash in range(jobs.MOST_CRASHES - 1):
        at = at + jobs.STALE + timedelta(seconds=1)
        job.refresh_from_db()
        assert jobs.claim(job, at=at)
    ran: list[Job] = []
    with runner(ran.append):
        jobs.run_waiting(at=at + jobs.STALE + timedelta(seconds=1))
    job.refresh_from_db()
    assert (ran, job.state) == ([], JobState.FAILED)
    assert job.message == "The worker stopped 3 times while it did this. The server's log may say why."


def test_progress_writes_once_a_second_at_most(project: Project, django_assert_num_queries: Callable) -> None:
    job = jobs.create(project, JobKind.EXPORT)
    jobs.claim(job, at=NOW)
    with django_assert_num_queries(1):
        for done in range(1, 101):
            jobs.progress(job, done, 100)
    job.refresh_from_db()
    assert (job.done, job.total, job.percent) == (1, 100, 1)


def test_cancelled_job_stops_its_runner(project: Project) -> None:
    reached: list[str] = []

    def work(job: Job) -> None:
        jobs.cancel(Job.objects.get(pk=job.pk))
        with transaction.atomic():
            jobs.hold(job)
            reached.append("wrote after the cancel")

    job = jobs.create(project, JobKind.EXPORT)
    with runner(work):
        jobs.run_waiting(at=NOW)
    job.refresh_from_db()
    assert (reached, job.state) == ([], JobState.CANCELLED)


def test_runner_that_lost_its_job_to_another_stops_and_settles_nothing(project: Project) -> None:
    def work(job: Job) -> None:
        other = Job.objects.get(pk=job.pk)
        assert jobs.claim(other, at=LATER)
        jobs.progress(job, 1)

    job = jobs.create(project, JobKind.EXPORT)
    with runner(work):
        jobs.run_waiting(at=NOW)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.RUNNING, 2)


def test_cancel_of_a_finished_job_changes_nothing(project: Project) -> None:
    job = jobs.create(project, JobKind.EXPORT)
    with runner(lambda job: None):
        jobs.work_now(job)
    assert not jobs.cancel(job)
    assert job.state == JobState.DONE


def test_work_now_leaves_a_job_that_somebody_else_has(project: Project) -> None:
    ran: list[Job] = []
    job = jobs.create(project, JobKind.EXPORT, claimed=True, at=NOW)
    with runner(ran.append):
        assert jobs.work_now(job).state == JobState.RUNNING
    assert ran == []


def test_again_sends_a_job_back_and_stops_the_runner_that_has_it(project: Project) -> None:
    job = jobs.create(project, JobKind.EXPORT, params={"n": 1})
    jobs.claim(job, at=NOW)
    jobs.again(Job.objects.get(pk=job.pk), {"n": 2})
    with pytest.raises(jobs.Interrupted):
        jobs.progress(job, 1)
    with runner(lambda job: job.result.update(n=job.params["n"])):
        jobs.run_waiting(at=NOW)
    job.refresh_from_db()
    assert (job.state, job.result) == (JobState.DONE, {"n": 2})


@pytest.mark.django_db(transaction=True)
def test_long_work_gives_way_once_a_second_on_sqlite_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_gave_way", time.monotonic() - 2)
    begin = time.monotonic()
    jobs.give_way()
    first = time.monotonic() - begin
    for _ in range(3):
        jobs.give_way()
    rest = time.monotonic() - begin - first
    waits = connection.vendor == "sqlite"
    assert (first >= jobs.SQLITE_ASKS, rest >= jobs.SQLITE_ASKS) == (waits, False)
