"""Putting a project away and taking it back. Archived it is read only; `access` says what that means, in one place."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from projects import access, activities
from projects.enums import Action, JobState
from projects.errors import DomainError
from projects.models import Membership, Project


@transaction.atomic
def archive(project: Project, *, by: Membership, at: datetime) -> None:
    """From now on nothing is served and nothing is written; what was labelled before stays as it is. May be repeated.

    Raises DomainError while long work is under way that writes into the project.
    """
    access.require(by, Action.MANAGE_PROJECT)
    access.require_kept(project)
    row = Project.objects.select_for_update().get(pk=project.pk)
    running = row.jobs.filter(state__in=[JobState.WAITING, JobState.RUNNING]).exclude(kind__in=access.READING_JOBS)
    if job := running.first():
        raise DomainError(
            _("“%(job)s” is still under way in “%(project)s”: wait until it is done, or stop it, then archive.")
            % {"job": job.get_kind_display(), "project": row.name},
            code="job_running",
        )
    if row.archived_at is None:
        Project.objects.filter(pk=row.pk).update(archived_at=at, archived_by=by.user)
        activities.record("project_archived", row, by=by, at=at)
    project.refresh_from_db()


@transaction.atomic
def take_back(project: Project, *, by: Membership) -> None:
    """The project goes on where it was. May be repeated."""
    access.require(by, Action.MANAGE_PROJECT)
    access.require_kept(project)
    resting = Project.objects.filter(pk=project.pk, archived_at__isnull=False)
    if resting.update(archived_at=None, archived_by=None):
        activities.record("project_taken_back", project, by=by)
    project.refresh_from_db()
