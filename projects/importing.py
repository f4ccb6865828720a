"""From an uploaded file to items: start, choose the fields, look at the preview, confirm or discard.

A file becomes items in two jobs. The first reads it into staged rows, which say what is wrong with which row; nothing
else is written. The second copies the staged rows into items of a batch that nobody sees (`Batch.ready`) until all
are there, so that a killed worker leaves no half import: whoever takes the job up goes on after the last row copied.
"""

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from django.core.files.base import File
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import jobs, staging
from projects.enums import JobKind, JobState, RowProblem
from projects.errors import DomainError, Invalid
from projects.file_fields import MOST_FIELDS, Choice, Field, describe, suggest
from projects.formats import FORMATS, FormatError, Row, guess_format
from projects.models import Batch, Item, Job, Membership, Project, StagedRow
from projects.staging import OPTIONAL, USUAL

KEPT = timedelta(days=14)
_LOOK_ROWS = 200
_LOOK_BYTES = 1024 * 1024
_HEAD = 64 * 1024


def start(
    project: Project,
    *,
    upload: File,
    by: Membership | None,
    name: str = "",
    format_key: str = "",
    at: datetime | None = None,
) -> Job:
    """Keep the file and have it checked with the fields that its first rows suggest. Refuses what is no such file."""
    upload.seek(0)
    key = format_key or guess_format(upload.name or "", upload.read(_HEAD))
    upload.seek(0)
    fields, rows = _look(upload, key)
    choice = suggest(fields, rows, before=project.shown_fields)
    params = {
        "format": key,
        "name": (name or upload.name or _("pasted text")).strip()[:200],
        "fields": [{"name": one.name, "samples": one.samples} for one in fields],
        "choice": choice.stored(),
    }
    upload.seek(0)
    return jobs.create(
        project, JobKind.IMPORT_PREVIEW, params=params, by=by, file=upload, file_name=upload.name or "", at=at
    )


def _look(stream: Any, key: str) -> tuple[list[Field], int]:
    """The fields of the first rows and the number of rows looked at. Long rows end the look early."""
    problem = ""
    records = []
    with _refusing_unreadable():
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
def _refusing_unreadable() -> Iterator[None]:
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


def check(job: Job) -> None:
    """The runner of IMPORT_PREVIEW: read the file into staged rows. Begins anew each time."""
    staging.clear(job)
    project, choice = job.project, choice_of(job)
    if project is None:
        raise DomainError(_("The project of this import is gone."))
    compare = project.items.exists()
    counts: Counter[str] = Counter()
    fields = _Fields(job.params["fields"])
    total = job.file.size
    with job.file.open("rb") as stream, _refusing_unreadable():
        for chunk in staging.chunks(FORMATS[job.params["format"]].read(stream), stream.tell):
            fields.see(chunk)
            rows = [staging.candidate(row, choice) for row in chunk]
            with transaction.atomic():
                jobs.hold(job)
                staging.find_repeats(job, rows, project=project, compare_project=compare)
                staging.write(job, rows)
            counts.update(row.problem for row in rows)
            jobs.progress(job, stream.tell(), total, _("%(rows)d rows read") % {"rows": counts.total()})
    job.done = job.total = total
    job.result = {"rows": counts.total(), "counts": dict(counts)}
    if fields.late:
        with transaction.atomic():
            jobs.hold(job)
            job.params["fields"] = fields.all
            job.save(update_fields=["params"])


class _Fields:
    """Notes fields that come up only after the rows that were looked at first."""

    def __init__(self, known: Sequence[Mapping[str, Any]]) -> None:
        self.all: list[Mapping[str, Any]] = list(known)
        self.late = False
        self._names = {one["name"] for one in known}

    def see(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.record is None or len(self.all) >= MOST_FIELDS or row.record.keys() <= self._names:
                continue
            for one in describe([row.record]):
                if one.name not in self._names and len(self.all) < MOST_FIELDS:
                    self.all.append({"name": one.name, "samples": one.samples})
                    self._names.add(one.name)
                    self.late = True


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


def preview(job: Job, *, limit: int = 5) -> list[list[tuple[str, object]]]:
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


def copy(job: Job) -> None:
    """The runner of IMPORT: copy the staged rows into a batch, then show it. Goes on where an earlier run ended."""
    staged = Job.objects.select_related("project").get(uuid=job.params["preview"], project=job.project)
    batch = _batch(job, staged)
    if not batch.ready:
        _copy_rows(job, staged, batch)
        _finish(job, staged, batch)
    job.result = {"imported": batch.size, "batch": str(batch.uuid), **_left_out(job, staged, batch)}
    staging.clear(staged)
    _drop_file(staged)


def _batch(job: Job, staged: Job) -> Batch:
    choice = choice_of(staged)
    return Batch.objects.get_or_create(
        uuid=UUID(job.params["batch"]),
        project=job.project,
        defaults={
            "name": staged.params["name"],
            "format": staged.params["format"],
            "shown_fields": list(choice.shown),
            "id_field": choice.id_field,
            "metadata_fields": list(choice.metadata),
            "ready": False,
            "created_by": job.created_by,
            "created_at": job.created_at,
        },
    )[0]


def _copy_rows(job: Job, staged: Job, batch: Batch) -> None:
    # A chunk is copied whole or not at all, in the order of the numbers: the highest one says where to go on.
    done = Item.objects.filter(batch=batch).aggregate(last=Max("number"))["last"] or 0
    last = StagedRow.objects.filter(job=staged).aggregate(last=Max("number"))["last"] or 0
    for begin in range(done, last, staging.CHUNK_ROWS):
        until = begin + staging.CHUNK_ROWS
        with transaction.atomic():
            jobs.hold(job)
            staging.copy(staged, batch, after=begin, until=until, also=job.params["also"], at=job.created_at)
        jobs.progress(job, min(until, last), last)


def _finish(job: Job, staged: Job, batch: Batch) -> None:
    """Show the batch: from here on its items can be seen and drawn."""
    size = Item.objects.filter(batch=batch).count()
    if not size:
        batch.delete()
        raise DomainError(_("Nothing was left to import: the project has all of these ids by now."))
    with transaction.atomic():
        jobs.hold(job)
        project = Project.objects.select_for_update().get(pk=batch.project_id)
        if not project.shown_fields:
            project.shown_fields = batch.shown_fields
            project.save(update_fields=["shown_fields"])
        batch.size, batch.ready = size, True
        batch.save(update_fields=["size", "ready"])


def _left_out(job: Job, staged: Job, batch: Batch) -> dict[str, Any]:
    """What was not imported and why; `met` came into the project by another import after the preview."""
    found = report(staged)
    left = {kind.problem.value: kind.count for kind in found.kinds if kind.problem not in job.params["also"]}
    return {"left_out": left, "met": found.importable(job.params["also"]) - batch.size}


def discard(job: Job, *, at: datetime | None = None) -> None:
    """Drop the upload, what was staged of it, and what an import that did not come to its end had copied."""
    batch = _stop_import(job, at)
    if batch:
        staging.remove_unfinished(batch)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, finished_at=at or timezone.now())
    job.refresh_from_db()
    staging.clear(job)
    _drop_file(job)


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


def _drop_file(job: Job) -> None:
    if job.file:
        job.file.delete(save=False)
        Job.objects.filter(pk=job.pk).update(file="")


def waiting(project: Project) -> QuerySet[Job]:
    """The uploads of `project` that are neither imported nor discarded, newest first."""
    uploads = project.jobs.filter(kind=JobKind.IMPORT_PREVIEW).exclude(state=JobState.CANCELLED).exclude(file="")
    return uploads.order_by("-created_at", "-pk")


def discard_old(at: datetime) -> int:
    """Drop uploads that nobody confirmed in two weeks; how many. The sweep may call it whenever it likes."""
    old = Job.objects.filter(kind=JobKind.IMPORT_PREVIEW, created_at__lt=at - KEPT).exclude(file="")
    dropped = 0
    for job in old.order_by("pk")[:10]:
        made = import_of(job)
        if made is None or made.state not in (JobState.WAITING, JobState.RUNNING, JobState.DONE):
            discard(job, at=at)
            dropped += 1
    return dropped
