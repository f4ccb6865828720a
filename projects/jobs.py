"""Long work as rows: written in the transaction that wants it, claimed by the sweep, shown with its progress.

Each kind of job has one runner, a function of the job. It may be run again from the start (its worker can be killed
at any line), so it has to make the same thing of the same job however often it runs. `attempts` fences: a runner whose
job was cancelled, changed or taken up by another worker is stopped by its next `hold` or `progress`.
"""

import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.files.base import File
from django.db import OperationalError, connection
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import access
from projects.enums import Action, JobKind, JobState
from projects.errors import DomainError
from projects.models import Job, Membership, Project

logger = logging.getLogger(__name__)

Runner = Callable[[Job], None]
RUNNERS: dict[str, Runner] = {}

# Whose work a job is: who may not do it does not see its progress either.
NEEDED = {
    JobKind.IMPORT_PREVIEW: Action.IMPORT,
    JobKind.IMPORT: Action.IMPORT,
    JobKind.OPEN_WAVE: Action.RUN_WAVES,
    JobKind.RATINGS_PREVIEW: Action.IMPORT,
    JobKind.RATINGS_IMPORT: Action.IMPORT,
    JobKind.EXPORT: Action.EXPORT,
    JobKind.MAIL: Action.MANAGE_MEMBERS,
    JobKind.DIGEST: Action.MANAGE_MEMBERS,  # of no project: nobody sees it in one
    JobKind.DELETE: Action.MANAGE_PROJECT,
}

# One for each person, all in the same hour, and nobody looks at a page until they are done.
LAST = [JobKind.DIGEST]

BEAT = timedelta(seconds=1)
SQLITE_ASKS = 0.11  # seconds; it lets nobody sleep longer than 0.1
_gave_way = 0.0
STALE = timedelta(minutes=2)
MOST_CRASHES = 3


class Interrupted(Exception):  # not an error: somebody decided that the work shall stop
    """The job is no longer this runner's: it was cancelled or changed, or another worker took it up."""


def register(kind: JobKind, runner: Runner) -> None:
    """Say who does jobs of `kind`; called in `AppConfig.ready`."""
    RUNNERS[kind.value] = runner


def create(
    project: Project | None,
    kind: JobKind,
    *,
    params: Mapping[str, Any] | None = None,
    by: Membership | None = None,
    file: "File[Any] | None" = None,
    file_name: str = "",
    at: datetime | None = None,
    claimed: bool = False,
) -> Job:
    """Write a waiting job; the sweep picks it up once the caller's transaction has committed.

    A `claimed` one is the caller's own, to be run at once with `run`; the sweep takes it up only if the caller dies.
    """
    at = at or timezone.now()
    if project is not None and kind not in access.READING_JOBS:
        access.require_live(project)
    job = Job(project=project, kind=kind, params=dict(params or {}), created_by=by, created_at=at)
    if claimed:
        job.state, job.attempts, job.started_at, job.beat_at = JobState.RUNNING, 1, at, at
    if file is not None:
        job.file_name = (file_name or file.name or "")[-255:]
        job.file.save(f"{job.uuid}.upload", file, save=False)
    job.save(force_insert=True)
    return job


def run_waiting(*, at: datetime | None = None, limit: int = 1) -> int:
    """Run up to `limit` jobs that wait or whose worker died, oldest first, those in `LAST` after all others; how many
    were run."""
    at = at or timezone.now()
    ran = 0
    while ran < limit and (job := _next(at)):
        if claim(job, at=at):
            run(job)
            ran += 1
    return ran


def work_now(job: Job, *, at: datetime | None = None) -> Job:
    """Run `job` in this process if it still waits; else leave it to whoever has it. Gives back its newest state."""
    if job.state == JobState.WAITING and claim(job, at=at or timezone.now()):
        run(job)
    job.refresh_from_db()
    return job


def _next(at: datetime) -> Job | None:
    abandoned = Q(state=JobState.RUNNING, beat_at__lt=at - STALE)
    # In an archived project only what reads it; `archiving` lets nothing else be under way there. In one that is to be
    # deleted nothing: what waits there goes on once it is restored.
    reading = Q(kind__in=access.READING_JOBS, project__delete_after=None)
    allowed = Q(project=None) | access.live("project") | reading
    ready = Job.objects.filter(Q(state=JobState.WAITING) | abandoned, allowed, kind__in=RUNNERS)
    ordered = ready.alias(last=Q(kind__in=LAST)).order_by("last", "created_at", "pk")
    return ordered.select_related("project", "created_by").first()


def claim(job: Job, *, at: datetime) -> bool:
    """Take the job. Of two workers at once one gets it: the update names the state in which it was seen."""
    crashed = job.state == JobState.RUNNING
    result = {"crashes": job.result.get("crashes", 0) + 1} if crashed else {}
    seen = Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts, beat_at=job.beat_at)
    taken = {"state": JobState.RUNNING, "attempts": job.attempts + 1, "beat_at": at, "started_at": at, "done": 0}
    if seen.update(**taken, result=result, message="", finished_at=None) != 1:
        return False
    # All of the row, as it is now: the caller may have read it before its params were changed.
    job.refresh_from_db()
    return True


def run(job: Job) -> None:
    """Run a claimed job to its end. Whatever happens, the project's people get a sentence and the log the rest."""
    crashes = job.result.get("crashes", 0)
    try:
        if crashes >= MOST_CRASHES:
            raise DomainError(
                _("The worker stopped %(count)d times while it did this. The server's log may say why.")
                % {"count": crashes}
            )
        RUNNERS[job.kind](job)
    except Interrupted:
        logger.info("Job %s (%s) was stopped or taken up elsewhere.", job.uuid, job.kind)
    except DomainError as error:
        _settle(job, JobState.FAILED, error.message)
    except OperationalError:
        # The database is away or full: nothing can be written down. The job stays claimed, goes stale, is taken again.
        logger.exception("Job %s (%s) lost its database.", job.uuid, job.kind)
    except Exception:
        # The boundary: what a runner did not foresee must not end the sweep, nor show a traceback to the project.
        logger.exception("Job %s (%s) failed.", job.uuid, job.kind)
        _settle(
            job,
            JobState.FAILED,
            _("Something went wrong that nobody foresaw. It is in the server's log under %(job)s.") % {"job": job.uuid},
        )
    else:
        _settle(job, JobState.DONE)


def _settle(job: Job, state: JobState, message: str = "") -> None:
    job.result.pop("crashes", None)
    end = {"state": state, "message": message, "finished_at": timezone.now()}
    if _mine(job).update(**end, result=job.result, done=job.done, total=job.total) == 1:
        for name, value in end.items():
            setattr(job, name, value)


def _mine(job: Job) -> Any:
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)


def progress(job: Job, done: int, total: int | None = None, message: str = "") -> None:
    """Say how far the runner is, at most once a second; raises Interrupted when the job is no longer its own."""
    job.done, job.total = done, total
    now = timezone.now()
    if job.beat_at and abs(now - job.beat_at) < BEAT:
        return
    if _mine(job).update(done=done, total=total, message=message, beat_at=now) != 1:
        raise Interrupted(job.uuid)
    job.beat_at = now


def give_way() -> None:
    """Between two transactions of long work: let others write.

    PostgreSQL locks rows. SQLite has one lock, and who waits for it asks again ten times a second: work that takes it
    anew at once would keep everybody out to its end. So it stays away that long, once a second.
    """
    global _gave_way
    if connection.vendor == "sqlite" and not connection.in_atomic_block and time.monotonic() - _gave_way > BEAT.seconds:
        time.sleep(SQLITE_ASKS)
        _gave_way = time.monotonic()


def hold(job: Job) -> None:
    """Inside a transaction: lock the job until its end, so that no chunk is written after a cancel or by two workers.

    Raises Interrupted when the job is no longer this runner's.
    """
    if not _mine(job).select_for_update().values_list("pk").first():
        raise Interrupted(job.uuid)


def cancel(job: Job, *, at: datetime | None = None) -> bool:
    """Stop an unfinished job; false if it was over already. Its runner notices before its next write."""
    unfinished = Job.objects.filter(pk=job.pk, state__in=[JobState.WAITING, JobState.RUNNING])
    stopped = unfinished.update(state=JobState.CANCELLED, finished_at=at or timezone.now()) == 1
    job.refresh_from_db()
    return stopped


def again(job: Job, params: Mapping[str, Any] | None = None) -> None:
    """Send a job back to the start, perhaps with other `params`. A runner that is at it stops by itself.

    The caller holds the row (select_for_update) if it decided on what it saw there.
    """
    job.params = dict(job.params if params is None else params)
    job.state, job.message, job.result = JobState.WAITING, "", {}
    job.done, job.total, job.finished_at = 0, None, None
    job.save(update_fields=["params", "state", "message", "result", "done", "total", "finished_at"])
