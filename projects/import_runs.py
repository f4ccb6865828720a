"""The two long parts of an import: reading the file into staged rows, and copying those into items."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min
from django.utils.translation import gettext as _

from projects import activities, bulk, importing, jobs, repeats, staging
from projects.candidates import candidate
from projects.errors import DomainError
from projects.file_fields import MOST_FIELDS, describe
from projects.formats import FORMATS, Record, Row
from projects.models import Batch, Item, Job, Project, StagedRow


def check(job: Job) -> None:
    """The runner of IMPORT_PREVIEW: read the file into staged rows. Begins anew each time."""
    staging.clear(job)
    project, choice = job.project, importing.choice_of(job)
    if project is None:
        raise DomainError(_("The project of this import is gone."))
    compare = project.items.exists()
    counts: Counter[str] = Counter()
    fields = _Fields(job.params["fields"])
    total = job.file.size
    with (
        job.file.open("rb") as stream,
        importing.refusing_unreadable(),
        staging.unhurried(),
        staging.Writer(job) as writer,
    ):
        read = fields.seen(FORMATS[job.params["format"]].read(stream))
        # Row by row, so that a record is gone before the next one is read.
        for rows in staging.chunks((candidate(row, choice) for row in read), stream.tell):
            writer.settle()
            if compare:
                repeats.mark_in_project(project, rows)
            counts.update(row.problem for row in rows)
            jobs.progress(job, stream.tell(), total, _("%(rows)d rows read") % {"rows": counts.total()})
            jobs.give_way()
            writer.write(rows)
    counts.update(repeats.mark_in_file(job))
    counts = +counts
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

    def seen(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows; their fields are noted on the way."""
        for row in rows:
            if row.record is not None and len(self.all) < MOST_FIELDS and not row.record.keys() <= self._names:
                self._note(row.record)
            yield row

    def _note(self, record: Record) -> None:
        for one in describe([record]):
            if one.name not in self._names and len(self.all) < MOST_FIELDS:
                self.all.append({"name": one.name, "samples": one.samples})
                self._names.add(one.name)
                self.late = True


def copy(job: Job) -> None:
    """The runner of IMPORT: copy the staged rows into a batch, then show it. Goes on where an earlier run ended."""
    staged = Job.objects.select_related("project").get(uuid=job.params["preview"], project=job.project)
    batch = _batch(job, staged)
    if not batch.ready:
        with staging.unhurried():
            _copy_rows(job, staged, batch)
        _finish(job, staged, batch)
    job.result = {"imported": batch.size, "batch": str(batch.uuid), **_left_out(job, staged, batch)}
    staging.clear(staged)
    importing.drop_file(staged)


def _batch(job: Job, staged: Job) -> Batch:
    choice = importing.choice_of(staged)
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
    # A chunk is moved whole or not at all, in the order of the numbers: the lowest one left says where to go on.
    rows = StagedRow.objects.filter(job=staged).aggregate(first=Min("number"), last=Max("number"))
    last = rows["last"] or 0
    for begin in range((rows["first"] or 1) - 1, last, staging.MOVED_ROWS):
        until = begin + staging.MOVED_ROWS
        with transaction.atomic():
            jobs.hold(job)
            staging.move(staged, batch, after=begin, until=until, also=job.params["also"], at=job.created_at)
        jobs.progress(job, min(until, last), last)
        jobs.give_way()


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
        by, at = job.created_by, job.started_at
        activities.record("items_imported", project, by=by, subject=batch.uuid, at=at, name=batch.name, items=size)
    if size >= staging.CHUNK_ROWS:
        bulk.refresh_statistics(
            Item
        )  # the next question is which of them are fresh, and to millions a bad plan is no end


def _left_out(job: Job, staged: Job, batch: Batch) -> dict[str, Any]:
    """What was not imported and why; `met` came into the project by another import after the preview."""
    found = importing.report(staged)
    left = {kind.problem.value: kind.count for kind in found.kinds if kind.problem not in job.params["also"]}
    return {"left_out": left, "met": found.importable(job.params["also"]) - batch.size}
