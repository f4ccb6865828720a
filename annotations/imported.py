"""Ratings made elsewhere: upload, say which field is what, look at the preview, confirm or discard.

As with items, a file becomes a wave in two jobs. The first (`imported_rows`) reads it into rows that say what is wrong
with which; the second (`imported_waves`) makes items, raters and ratings of them, in a wave that nobody sees before it
is whole. Nothing is imported as long as a value in the file stands for no label.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations import imported_report, imported_rows, imported_waves, rating_layouts
from annotations.enums import ResolutionRule
from annotations.imported_report import MOST_BY_NAME, Report, Value
from annotations.models import Draw, Wave
from annotations.rating_layouts import Layout
from projects import access, guidelines, importing, jobs
from projects.enums import Action, JobKind, JobState
from projects.errors import DomainError, Invalid, NotAllowed
from projects.file_fields import Field, describe
from projects.formats import FORMATS, guess_format
from projects.models import GuidelineVersion, Job, Membership, Project, Question
from projects.task_types import Json

NOT_KNOWN = gettext_lazy("Imported: blindness and random draw are not known here.")
_LOOK_ROWS = 200
_LOOK_BYTES = 1024 * 1024
_HEAD = 64 * 1024


def start(
    project: Project,
    *,
    upload: "File[Any]",
    by: Membership,
    name: str = "",
    format_key: str = "",
    layout: Layout | None = None,
    claimed: bool = False,
    at: datetime | None = None,
) -> Job:
    """Keep the file and have it checked, with the layout given or the one that its first rows suggest.

    Refuses what is no such file before it is kept, and a project without a published guideline, whose labels the
    ratings need. `claimed`: the caller runs the job itself (see `jobs.create`).
    """
    _check_member(project, by)
    version = version_of(project)
    upload.seek(0)
    key = format_key or guess_format(upload.name or "", upload.read(_HEAD))
    upload.seek(0)
    fields, records = _look(upload, key)
    asked = imported_rows.questions(version)
    layout = layout or rating_layouts.suggest(fields, records, asked, before=project.shown_fields)
    names = [one.name for one in fields]
    problem = ""
    try:
        rating_layouts.check(layout, names, asked)
    except Invalid as error:
        if claimed:  # nobody is there to choose another one
            raise
        problem = error.message
    params = {
        "format": key,
        "name": (name or upload.name or _("pasted text")).strip()[:200],
        "fields": [{"name": one.name, "samples": one.samples} for one in fields],
        "version": str(version.uuid),
        "layout": layout.stored(),
    }
    upload.seek(0)
    job = jobs.create(
        project,
        JobKind.RATINGS_PREVIEW,
        params=params,
        by=by,
        file=upload,
        file_name=upload.name or "",
        claimed=claimed or bool(problem),
        at=at,
    )
    if problem:  # not even read: the fields have to be chosen first
        Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, message=problem, finished_at=at or timezone.now())
        job.refresh_from_db()
    return job


def _check_member(project: Project, by: Membership) -> None:
    access.require(by, Action.IMPORT)
    if by.project_id != project.pk:
        raise NotAllowed(_("You are not a member of “%(project)s”.") % {"project": project.name})


def version_of(project: Project) -> GuidelineVersion:
    """The version whose labels the ratings are read as; DomainError where none is published."""
    version = guidelines.newest(project)
    if version is None:
        raise DomainError(
            _("“%(project)s” has no published guideline: publish the labels that the ratings use, then import them.")
            % {"project": project.name},
            code="no_guideline",
        )
    return version


def _look(stream: Any, key: str) -> tuple[list[Field], list[Mapping[str, Json]]]:
    """The fields of the first rows, and those rows. Long rows end the look early."""
    problem = ""
    records: list[Mapping[str, Json]] = []
    with importing.refusing_unreadable():
        for row in islice(FORMATS[key].read(stream), _LOOK_ROWS):
            if row.record is None:
                problem = problem or row.problem or ""
            else:
                records.append(row.record)
            if stream.tell() > _LOOK_BYTES and records:
                break
    fields = describe([dict(record) for record in records])
    if not fields:
        raise Invalid(problem or _("The file has no fields."), code="unreadable_file")
    return fields, records


def mark(draw: Draw) -> str:
    """What stands beside every figure of a draw whose ratings were imported; empty for what was measured here."""
    return str(NOT_KNOWN) if draw.is_imported else ""


# -- the preview -------------------------------------------------------------------------------------------------------


def layout_of(job: Job) -> Layout:
    return Layout.of(job.params["layout"])


def choose(job: Job, layout: Layout) -> Job:
    """Read the file again as `layout` says. The same layout again changes nothing."""
    with transaction.atomic():
        job = _held(job)
        version = version_of(job.project) if job.project else None
        asked = imported_rows.questions(version) if version else {}
        rating_layouts.check(layout, importing.field_names(job), asked)
        fresh = {**job.params, "layout": layout.stored(), "version": str(version.uuid) if version else ""}
        if job.state not in (JobState.FAILED, JobState.CANCELLED) and fresh == job.params:
            return job
        jobs.again(job, fresh)
    return job


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


def members(project: Project) -> list[Membership]:
    """Whom a rater of the file can be: the active members with an account."""
    return list(project.memberships.active().filter(user__isnull=False).select_related("user").order_by("alias", "pk"))


def same_name(rater: str, people: Sequence[Membership]) -> Membership | None:
    """The member who has the rater's name as user name."""
    found = [person for person in people if person.user and person.user.username.casefold() == rater.casefold()]
    return found[0] if len(found) == 1 else None


# -- the decision ------------------------------------------------------------------------------------------------------


def confirm(
    job: Job,
    *,
    by: Membership,
    values: Mapping[str, Mapping[str, str | None]] | None = None,
    raters: Mapping[str, UUID] | None = None,
    attempt: int | None = None,
    resolution_rule: str = "",
    at: datetime | None = None,
) -> Job:
    """Have the previewed ratings imported; rows with a problem are left out. Twice is once.

    `values`: question key -> value (as `rating_values.token` writes it) -> label key, or None to leave these ratings
    out; what is not in it is read as the label it speaks for, and refused where that is none. `raters`: name in the
    file -> uuid of the member who that is; the others become members without an account. `attempt`: the preview's
    `attempts` when it was looked at. `resolution_rule`: what decides the conflicts; empty: what the protocol says.
    """
    if resolution_rule not in ("", *ResolutionRule.values):
        raise Invalid(_("There is no rule “%(name)s” for deciding conflicts.") % {"name": resolution_rule})
    with transaction.atomic():
        job = Job.objects.select_for_update(of=("self",)).select_related("project").get(pk=job.pk)
        project = job.project
        if project is None:
            raise DomainError(_("The project of this import is gone."))
        _check_member(project, by)
        if "import" in job.params:
            return _confirmed_before(job)
        job = _held(job)
        _check_fresh(job, attempt)
        found = imported_report.of(job)
        if not found.ratings:
            raise Invalid(_("None of the ratings can be imported: the list says why."), code="nothing_to_import")
        params = {
            "preview": str(job.uuid),
            "version": job.params["version"],
            "values": _mapped(found, values or {}, imported_rows.questions_of(job)),
            "raters": _people(found, raters or {}, project),
            "resolution_rule": resolution_rule,
        }
        made = jobs.create(job.project, JobKind.RATINGS_IMPORT, params=params, by=by, at=at)
        job.params["import"] = str(made.uuid)
        job.save(update_fields=["params"])
    return made


def _confirmed_before(job: Job) -> Job:
    made = Job.objects.select_related("project").get(uuid=job.params["import"])
    if made.state in (JobState.FAILED, JobState.CANCELLED):
        jobs.again(made)
    return made


def _check_fresh(job: Job, attempt: int | None) -> None:
    if job.state != JobState.DONE or attempt not in (None, job.attempts):
        raise DomainError(
            _("The fields were changed since this preview was shown: look at the new one and confirm it."),
            code="preview_changed",
        )
    if job.project and str(version_of(job.project).uuid) != job.params["version"]:
        raise DomainError(
            _("A new guideline was published since this file was read: read it again with the labels of today."),
            code="guideline_changed",
        )


def _mapped(
    found: Report, chosen: Mapping[str, Mapping[str, str | None]], asked: Mapping[str, Question]
) -> dict[str, dict[str, str | None]]:
    """What each value of the file stands for; Invalid as long as one stands for nothing."""
    mapped: dict[str, dict[str, str | None]] = {}
    for value in found.values:
        known = chosen.get(value.question, {})
        label = known.get(value.token, value.guess)
        if label is None and value.token not in known:
            raise Invalid(
                imported_report.unmapped_sentence([one for one in found.unmapped if _open(one, chosen)]),
                code="unmapped",
            )
        if label is not None and label not in [one.key for one in imported_report.labels_of(asked.get(value.question))]:
            raise Invalid(
                _("“%(value)s” cannot be “%(label)s”: the question has no such label.")
                % {"value": value.shown, "label": label},
                code="unknown_label",
            )
        mapped.setdefault(value.question, {})[value.token] = label
    return mapped


def _open(value: Value, chosen: Mapping[str, Mapping[str, str | None]]) -> bool:
    return value.token not in chosen.get(value.question, {})


def _people(found: Report, chosen: Mapping[str, UUID], project: Project) -> dict[str, str]:
    """Rater -> the member who that is; empty for those who become members without an account."""
    if found.too_many_raters:
        raise Invalid(
            _(
                "The file has %(n)s raters, and up to %(most)s are taken by name: figures by pair would be "
                "%(pairs)s. Say that the ratings are anonymous."
            )
            % {"n": found.n_raters, "most": MOST_BY_NAME, "pairs": found.n_raters * (found.n_raters - 1) // 2},
            code="too_many_raters",
        )
    unknown = next((name for name in chosen if name not in found.raters), None)
    if unknown is not None:
        raise Invalid(_("The file has no rater “%(name)s”.") % {"name": unknown}, code="unknown_rater")
    known = {person.uuid for person in members(project)}
    if any(uuid not in known for uuid in chosen.values()):
        raise Invalid(_("A rater can only be an active member of this project."), code="unknown_member")
    if len(set(chosen.values())) < len(chosen):
        raise Invalid(_("Two raters of the file cannot be the same member: nobody rates an item twice."), code="twice")
    return {name: str(chosen[name]) if name in chosen else "" for name in found.raters}


def import_of(job: Job) -> Job | None:
    """The job that imports (or imported) what `job` previewed."""
    return importing.import_of(job)


def wave_of(made: Job) -> Wave | None:
    """The wave that a finished import made."""
    return Wave.objects.filter(project=made.project_id, uuid=made.result.get("wave")).first()


def discard(job: Job, *, at: datetime | None = None) -> None:
    """Drop the upload, what was read of it, and what an import that did not come to its end had made."""
    made = _stop_import(job, at)
    if made:
        imported_waves.remove_unfinished(made)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, finished_at=at or timezone.now())
    job.refresh_from_db()
    imported_rows.clear(job)
    importing.drop_file(job)


@transaction.atomic
def _stop_import(job: Job, at: datetime | None) -> Job | None:
    """Cancel the import of `job`, if there is one."""
    made = Job.objects.select_for_update().filter(uuid=job.params.get("import")).first()
    if made is None:
        return None
    # With the row locked its runner cannot show the wave between this look and the cancelling.
    if imported_waves.is_shown(made):
        raise DomainError(
            _("“%(name)s” has been imported: it cannot be discarded any more.") % {"name": job.file_name},
            code="imported",
        )
    jobs.cancel(made, at=at)
    return made


def waiting(project: Project) -> QuerySet[Job]:
    """The files of ratings of `project` that are neither imported nor discarded, newest first."""
    uploads = project.jobs.filter(kind=JobKind.RATINGS_PREVIEW).exclude(state=JobState.CANCELLED).exclude(file="")
    return uploads.order_by("-created_at", "-pk")
