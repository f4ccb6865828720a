"""The two long parts of an import: reading the file into staged rows, and copying those into items."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from projects import importing, jobs, staging
from projects.errors import DomainError
from projects.file_fields import MOST_FIELDS, describe
from projects.formats import FORMATS, Row
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
    with job.file.open("rb") as stream, importing.refusing_unreadable():
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


def copy(job: Job) -> None:
    """The runner of IMPORT: copy the staged rows into a batch, then show it. Goes on where an earlier run ended."""
    staged = Job.objects.select_related("project").get(uuid=job.params["preview"], project=job.project)
    batch = _batch(job, staged)
    if not batch.ready:
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
    found = importing.report(staged)
    left = {kind.problem.value: kind.count for kind in found.kinds if kind.problem not in job.params["also"]}
    return {"left_out": left, "met": found.importable(job.params["also"]) - batch.size}
