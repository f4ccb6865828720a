"""From an uploaded file to items: start, choose the fields, look at the preview, confirm or discard.

A file becomes items in two jobs. The first reads it into staged rows, which say what is wrong with which row; nothing
else is written. The second copies the staged rows into items of a batch that nobody sees (`Batch.ready`) until all
are there, so that a killed worker leaves no half import: whoever takes the job up goes on after the last row copied.
"""

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import uuid4

from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import access, jobs, staging
from projects.enums import JobKind, JobState, RowProblem
from projects.errors import DomainError, Invalid
from projects.file_fields import Choice, Field, describe, suggest
from projects.formats import FORMATS, FormatError, guess_format
from projects.models import Batch, Job, Membership, Project, StagedRow
from projects.staging import OPTIONAL, USUAL

KEPT = timedelta(days=14)
_LOOK_ROWS = 200
_LOOK_BYTES = 1024 * 1024
_HEAD = 64 * 1024


def start(
    project: Project,
    *,
    upload: "File[Any]",
    by: Membership | None,
    name: str = "",
    format_key: str = "",
    shown: Sequence[str] | None = None,
    id_field: str | None = None,
    metadata: Sequence[str] | None = None,
    claimed: bool = False,
    at: datetime | None = None,
) -> Job:
    """Keep the file and have it checked, with the fields given or, where none are, those its first rows suggest.

    Refuses what is no such file before it is kept. `claimed`: the caller runs the job itself (see `jobs.create`).
    """
    upload.seek(0)
    key = format_key or guess_format(upload.name or "", upload.read(_HEAD))
    upload.seek(0)
    fields, rows = _look(upload, key)
    guess = suggest(fields, rows, before=project.shown_fields)
    shown = guess.shown if shown is None else shown
    id_field = guess.id_field if id_field is None else id_field
    metadata = [name for name in guess.metadata if name not in shown] if metadata is None else metadata
    choice = Choice(tuple(shown), id_field, tuple(metadata))
    _check(choice, [one.name for one in fields])
    params = {
        "format": key,
        "name": (name or upload.name or _("pasted text")).strip()[:200],
        "fields": [{"name": one.name, "samples": one.samples} for one in fields],
        "choice": choice.stored(),
    }
    upload.seek(0)
    return jobs.create(
        project,
        JobKind.IMPORT_PREVIEW,
        params=params,
        by=by,
        file=upload,
        file_name=upload.name or "",
        claimed=claimed,
        at=at,
    )


def _look(stream: Any, key: str) -> tuple[list[Field], int]:
    """The fields of the first rows and the number of rows looked at. Long rows end the look early."""
    problem = ""
    records = []
    with refusing_unreadable():
        for row in islice(FORMATS[key].read(stream), _LOOK_ROWS):
            if row.record is None:
                problem = problem or row.problem or ""
            else:
                records.append(row.record)
            if stream.tell() > _LOOK_BYTES and records:
                break
    fields = describe(records)
    if not fields:
        raise Invalid(problem or _("The file has no fields."), code="unreadable_file")
    return fields, len(records)


@contextlib.contextmanager
def refusing_unreadable() -> Iterator[None]:
    """What the readers say of a file that is none becomes a refusal."""
    try:
        yield
    except FormatError as error:
        raise Invalid(str(error), code="unreadable_file") from error


def choice_of(job: Job) -> Choice:
    return Choice.of(job.params["choice"])


def field_names(job: Job) -> list[str]:
    """The fields that the file was found to have so far."""
    return [one["name"] for one in job.params["fields"]]


def choose(job: Job, *, shown: Sequence[str], id_field: str = "", metadata: Sequence[str] = ()) -> Job:
    """Read the file again with other fields. The same choice again changes nothing."""
    choice = Choice(tuple(shown), id_field, tuple(metadata))
    _check(choice, field_names(job))
    with transaction.atomic():
        job = _held(job)
        if job.state not in (JobState.FAILED, JobState.CANCELLED) and choice_of(job) == choice:
            return job
        jobs.again(job, {**job.params, "choice": choice.stored()})
    return job


def _check(choice: Choice, names: Sequence[str]) -> None:
    if not choice.shown:
        raise Invalid(_("Choose at least one field to show."), code="nothing_shown")
    wanted = [*choice.shown, *choice.metadata, *([choice.id_field] if choice.id_field else [])]
    unknown = next((name for name in wanted if name not in names), None)
    if unknown is not None:
        raise Invalid(
            _("The file has no field “%(field)s”; it has: %(names)s.") % {"field": unknown, "names": ", ".join(names)},
            code="unknown_field",
        )
    if len(set(choice.shown)) < len(choice.shown) or len(set(choice.metadata)) < len(choice.metadata):
        raise Invalid(_("A field was chosen twice."), code="field_twice")
    if len(choice.id_field) > 200:
        raise Invalid(_("The id field has a name of more than 200 characters: rename it."), code="long_name")


def _held(job: Job) -> Job:
    """The job, locked, if its file is still there and was not imported."""
    job = Job.objects.select_for_update(of=("self",)).select_related("project").get(pk=job.pk)
    if job.state == JobState.CANCELLED or not job.file:
        raise DomainError(
            _("“%(name)s” was discarded or has been imported: upload the file again.") % {"name": job.file_name},
            code="import_over",
        )
    if "import" in job.params:
        raise DomainError(_("“%(name)s” is being imported already.") % {"name": job.file_name}, code="import_confirmed")
    return job


@dataclass(frozen=True)
class Kind:
    """A kind of problem, how many rows have it, and whether they can be (and usually are) imported all the same."""

    problem: RowProblem
    count: int
    optional: bool
    usual: bool


@dataclass(frozen=True)
class Report:
    """What the preview of a file found."""

    rows: int
    good: int
    kinds: list[Kind]

    def importable(self, also: Collection[str] = USUAL) -> int:
        return self.good + sum(kind.count for kind in self.kinds if kind.optional and kind.problem in also)

    @property
    def usual(self) -> int:
        return self.importable()

    @property
    def left_out(self) -> int:
        return self.rows - self.usual

    @property
    def most(self) -> int:
        return self.importable(OPTIONAL)

    @property
    def bad(self) -> int:
        """Rows that cannot be imported whatever one says."""
        return self.rows - self.most


def report(job: Job) -> Report:
    """The counts of a finished preview."""
    counts = job.result["counts"]
    kinds = [Kind(p, counts[p], p in OPTIONAL, OPTIONAL.get(p, False)) for p in RowProblem if counts.get(p)]
    return Report(rows=job.result["rows"], good=counts.get("", 0), kinds=kinds)


def preview(job: Job, *, limit: int = 3) -> list[list[tuple[str, object]]]:
    """The first rows as annotators will see them."""
    shown = choice_of(job).shown
    rows = staging.importable(job, USUAL)[:limit]
    return [[(name, row.content.get(name, "")) for name in shown] for row in rows]


def problems(job: Job, *, kind: str = "", after: int = 0, limit: int = 100) -> list[StagedRow]:
    """Rows with a problem, in the file's order, from the one after number `after` on."""
    return list(staging.with_problem(job, kind).filter(number__gt=after)[:limit])


def confirm(
    job: Job,
    *,
    by: Membership | None,
    also: Collection[str] = USUAL,
    attempt: int | None = None,
    at: datetime | None = None,
) -> Job:
    """Have the previewed rows imported: the good ones and those whose problem is in `also`. Twice is once.

    `attempt` is the preview's `attempts` when it was looked at; refused if the file was read anew since then.
    """
    with transaction.atomic():
        job = Job.objects.select_for_update(of=("self",)).select_related("project").get(pk=job.pk)
        if "import" in job.params:
            return _confirmed_before(job)
        job = _held(job)
        if job.state != JobState.DONE or attempt not in (None, job.attempts):
            raise DomainError(
                _("The fields were changed since this preview was shown: look at the new one and confirm it."),
                code="preview_changed",
            )
        kept = sorted(problem.value for problem in OPTIONAL if problem in also)
        if not report(job).importable(kept):
            raise Invalid(_("None of the rows can be imported: the list says why."), code="nothing_to_import")
        params = {"preview": str(job.uuid), "batch": str(uuid4()), "also": kept}
        made = jobs.create(job.project, JobKind.IMPORT, params=params, by=by, at=at)
        job.params["import"] = str(made.uuid)
        job.save(update_fields=["params"])
    return made


def _confirmed_before(job: Job) -> Job:
    made = Job.objects.select_related("project").get(uuid=job.params["import"])
    if made.state in (JobState.FAILED, JobState.CANCELLED):
        jobs.again(made)
    return made


def import_of(job: Job) -> Job | None:
    """The job that imports (or imported) what `job` previewed."""
    made = job.params.get("import")
    return Job.objects.select_related("project", "created_by").filter(uuid=made).first() if made else None


def left_out(job: Job) -> list[Kind]:
    """What a finished import did not take over, by kind."""
    counts = job.result["left_out"]
    return [Kind(problem, counts[problem], problem in OPTIONAL, False) for problem in RowProblem if counts.get(problem)]


def discard(job: Job, *, at: datetime | None = None) -> None:
    """Drop the upload, what was staged of it, and what an import that did not come to its end had copied."""
    batch = _stop_import(job, at)
    if batch:
        staging.remove_unfinished(batch)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, finished_at=at or timezone.now())
    job.refresh_from_db()
    staging.clear(job)
    drop_file(job)


@transaction.atomic
def _stop_import(job: Job, at: datetime | None) -> Batch | None:
    """Cancel the import of `job`, if there is one, and give back the batch that it leaves unfinished."""
    made = Job.objects.select_for_update().filter(uuid=job.params.get("import")).first()
    if made is None:
        return None
    batch = Batch.objects.filter(uuid=made.params["batch"]).first()
    # With the row locked its runner cannot finish the batch between this look and the cancelling.
    if batch and batch.ready:
        raise DomainError(
            _("“%(name)s” has been imported: it cannot be discarded any more.") % {"name": job.file_name},
            code="imported",
        )
    jobs.cancel(made, at=at)
    return batch


def drop_file(job: Job) -> None:
    """Delete the uploaded file; the job then says by its empty `file` that it is over."""
    if job.file:
        job.file.delete(save=False)
        Job.objects.filter(pk=job.pk).update(file="")


def waiting(project: Project) -> QuerySet[Job]:
    """The uploads of `project` that are neither imported nor discarded, newest first."""
    uploads = project.jobs.filter(kind=JobKind.IMPORT_PREVIEW).exclude(state=JobState.CANCELLED).exclude(file="")
    return uploads.order_by("-created_at", "-pk")


def discard_old(at: datetime) -> int:
    """Drop uploads that nobody confirmed in two weeks; how many. The sweep may call it whenever it likes."""
    old = Job.objects.filter(access.live("project"), kind=JobKind.IMPORT_PREVIEW, created_at__lt=at - KEPT)
    old = old.exclude(file="")
    dropped = 0
    for job in old.order_by("pk")[:10]:
        made = import_of(job)
        if made is None or made.state not in (JobState.WAITING, JobState.RUNNING, JobState.DONE):
            discard(job, at=at)
            dropped += 1
    return dropped
