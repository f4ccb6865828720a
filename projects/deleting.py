"""Deleting a whole project: asked for by an admin, put off by a grace period in which it can be had back, then done.

Nothing else deletes what people made (annotations are append-only); a project as a whole is its owners' to delete.
Which tables hold rows of a project, and in which order they can go, is read from the models, so that a table that comes
later is not forgotten. The work goes in chunks, each a transaction, and may be repeated from any line.
"""

import logging
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from graphlib import TopologicalSorter
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import access, activities, jobs
from projects.enums import Action, JobKind, JobState
from projects.errors import DomainError, Invalid
from projects.models import Job, Membership, Project, Tombstone, User

logger = logging.getLogger(__name__)

CHUNK = 2_000
ROUNDS = 5  # through all tables, before a deletion fails
FAILED_RESTS = timedelta(minutes=10)  # then the sweep starts it again
# The one ring among the tables: a member has acknowledged a version, and a version was written by a member.
LOOSE = {"projects.membership": "acknowledged"}


# -- asking for it, and having it back ---------------------------------------------------------------------------------


@transaction.atomic
def ask(project: Project, *, typed: str, by: Membership, at: datetime) -> None:
    """From now on nobody works in the project, and after the grace period the sweep deletes it.

    Raises Invalid where `typed` is not the project's name.
    """
    access.require(by, Action.MANAGE_PROJECT)
    row = Project.objects.select_for_update().get(pk=project.pk)
    if row.delete_after is not None:
        raise DomainError(_("“%(project)s” is being deleted already.") % {"project": row.name}, code="deleting")
    if " ".join(typed.split()) != " ".join(row.name.split()):
        raise Invalid(
            _("You typed “%(typed)s”, and the project is called “%(project)s”: type its name to delete it.")
            % {"typed": typed[:120], "project": row.name}
        )
    under_way = row.jobs.filter(state__in=[JobState.WAITING, JobState.RUNNING])
    # An invitation's link is in no other place: its mail waits, and goes out if the project is restored.
    for job in under_way.exclude(kind=JobKind.MAIL):
        jobs.cancel(job, at=at)
    row.delete_after = at + timedelta(days=settings.DELETE_AFTER_DAYS)
    row.delete_asked_by = by.user
    row.save(update_fields=["delete_after", "delete_asked_by"])
    activities.record("deletion_asked", row, by=by, at=at, days=settings.DELETE_AFTER_DAYS)
    logger.info("Project %s will be deleted after %s; %s asked for it.", row.uuid, row.delete_after, by.alias)
    project.refresh_from_db()


@transaction.atomic
def restore(project: Project, *, by: Membership) -> None:
    """Have the project back as it was; DomainError once its rows are being deleted."""
    access.require(by, Action.MANAGE_PROJECT)
    waiting = Project.objects.filter(pk=project.pk, delete_after__isnull=False, erasing_at=None)
    if waiting.update(delete_after=None, delete_asked_by=None) != 1:
        raise DomainError(
            _("“%(project)s” is not waiting to be deleted: it was restored, or its rows are just being deleted.")
            % {"project": project.name},
            code="not_waiting",
        )
    activities.record("project_restored", project, by=by)
    project.refresh_from_db()


# -- doing it ----------------------------------------------------------------------------------------------------------


def start_due(*, at: datetime) -> list[Job]:
    """Write a job for each project whose grace period is over, once for each; those that failed are begun again."""
    made = _restarted(at=at)
    for project in Project.objects.filter(delete_after__lte=at, erasing_at=None):
        with transaction.atomic():
            mine = Project.objects.filter(pk=project.pk, delete_after__lte=at, erasing_at=None)
            if mine.update(erasing_at=at) == 1:
                made.append(jobs.create(None, JobKind.DELETE, params={"project": str(project.uuid)}, at=at))
    return made


@transaction.atomic
def _restarted(*, at: datetime) -> list[Job]:
    """The failed deletions, sent back to their start: once the members are gone, nobody could do it by hand."""
    begun = [str(uuid) for uuid in Project.objects.filter(erasing_at__isnull=False).values_list("uuid", flat=True)]
    failed = Job.objects.filter(kind=JobKind.DELETE, state=JobState.FAILED, finished_at__lte=at - FAILED_RESTS)
    found = list(failed.filter(params__project__in=begun).select_for_update()) if begun else []
    for job in found:
        jobs.again(job)
    return found


def job_of(project: Project) -> Job | None:
    """The job that deletes the project, where it has begun."""
    return Job.objects.filter(kind=JobKind.DELETE, params__project=str(project.uuid)).order_by("-pk").first()


def is_gone(uuid: UUID, *, asked_by: User) -> bool:
    """Whether a project that `asked_by` wanted deleted is. To all others it never was."""
    return Tombstone.objects.filter(project=uuid, asked_by=asked_by).exists()


def resume(project: Project, *, by: Membership) -> None:
    """Go on with a deletion that failed."""
    access.require(by, Action.MANAGE_PROJECT)
    job = job_of(project)
    if job is None or job.is_unfinished:
        raise DomainError(_("Nothing to go on with: the deletion is under way, or has not begun."), code="not_stuck")
    jobs.again(job)


def run(job: Job) -> None:
    """Delete the project of a job: what refers to others before what is referred to, and the project last."""
    project = Project.objects.filter(uuid=job.params["project"]).first()
    if project is None:
        return  # its worker died after the last line
    found = tables()
    if "counts" not in job.params:
        counts = {one.label: n for one in found if (n := one.rows(project).count())}
        job.params = {**job.params, "counts": counts}
        Job.objects.filter(pk=job.pk).update(params=job.params)
    for last in (*[False] * (ROUNDS - 1), True):
        try:
            _erase(found, project, job)
        except IntegrityError:
            # What was let in before the project was closed has written into a table that was empty already.
            if last:
                raise
            logger.info("Rows of project %s came in while it was deleted: once more through its tables.", project.uuid)
        else:
            return


def _erase(found: "list[Table]", project: Project, job: Job) -> None:
    """Once through all tables, and the project last; IntegrityError where something still refers to what went."""
    total = sum(job.params["counts"].values())
    _loosen(found, project, job)
    left = sum(one.rows(project).count() for one in found)
    for table in found:
        for gone in _emptied(table, project, job):
            left -= gone
            jobs.progress(job, max(0, total - left), total, message=str(table.model._meta.verbose_name_plural))
            jobs.give_way()
    _bury(project, job)


@transaction.atomic
def _loosen(found: "Iterable[Table]", project: Project, job: Job) -> None:
    """Empty what refers within a table or in a ring, in all tables before the first row goes."""
    jobs.hold(job)
    for table in found:
        for name in table.loose:
            table.rows(project).filter(**{f"{name}__isnull": False}).update(**{name: None})


def _emptied(table: "Table", project: Project, job: Job) -> Iterator[int]:
    """Delete the rows of one table in chunks; how many went each time."""
    # All keys at once, 8 MB a million: asked for chunk by chunk, each look would pass all rows that went before.
    while keys := array("q", table.rows(project).values_list("pk", flat=True).iterator(chunk_size=CHUNK)):
        for start in range(0, len(keys), CHUNK):
            with transaction.atomic():
                jobs.hold(job)
                rows = table.model._base_manager.filter(pk__in=list(keys[start : start + CHUNK]))
                for row in rows if table.files else ():
                    for name in table.files:
                        if file := getattr(row, name):
                            file.delete(save=False)  # first: a row without its file is deleted all the same
                rows._raw_delete(rows.db)
            yield min(CHUNK, len(keys) - start)


@transaction.atomic
def _bury(project: Project, job: Job) -> None:
    """The project's own row goes, and a line stays that says so: no text of it but its name."""
    jobs.hold(job)
    asked_by = project.delete_asked_by
    Tombstone.objects.create(
        project=project.uuid,
        name=project.name,
        asked_by=asked_by,
        asked_by_name=str(asked_by) if asked_by else "",
        deleted_at=timezone.now(),
        counts=job.params["counts"],
    )
    own = Project.objects.filter(pk=project.pk)
    own._raw_delete(own.db)
    logger.info("Project %s is deleted: %s.", project.uuid, job.params["counts"])


# -- which tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table with rows of projects. `path`: from a row to its project; `loose`: what is emptied before rows go."""

    model: type[models.Model]
    path: str
    loose: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.model._meta.label_lower

    def rows(self, project: Project) -> models.QuerySet[Any]:
        return self.model._base_manager.filter(**{self.path: project.pk}).order_by()


def tables() -> list[Table]:
    """Every table with rows of a project, those that refer to others first."""
    paths = _paths()
    order: TopologicalSorter[type[models.Model]] = TopologicalSorter()
    for model in paths:
        order.add(model)
        for field in _references(model):
            if field.related_model in paths and field.related_model is not model and not _is_loose(field):
                order.add(field.related_model, model)
    return [_table(model, paths[model]) for model in order.static_order()]


def _table(model: type[models.Model], path: str) -> Table:
    references = _references(model)
    loose = tuple(one.name for one in references if one.null and (one.related_model is model or _is_loose(one)))
    files = tuple(one.name for one in model._meta.concrete_fields if isinstance(one, models.FileField))
    return Table(model, path, loose, files)


def _is_loose(field: "models.ForeignKey[Any, Any]") -> bool:
    return LOOSE.get(field.model._meta.label_lower) == field.name


def _paths() -> dict[type[models.Model], str]:
    """Model -> the shortest way from its rows to their project; by columns that may be empty only where there is no
    other."""
    found: dict[type[models.Model], str] = {}
    for may_be_empty in (False, True):
        grown = True
        while grown:
            grown = False
            for model in apps.get_models(include_auto_created=True):
                if model in found or model is Project:
                    continue
                ways = [
                    field.name if field.related_model is Project else f"{field.name}__{found[field.related_model]}"
                    for field in _references(model)
                    if (field.related_model is Project or field.related_model in found)
                    and (may_be_empty or not field.null)
                ]
                if ways:
                    found[model] = min(ways, key=lambda way: (way.count("__"), way))
                    grown = True
    return found


def _references(model: type[models.Model]) -> "list[models.ForeignKey[Any, Any]]":
    return [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]
