"""Gold and ratings as files, made by a job.

A lead who also annotates must not learn from a file what is in the overlap of an open draw, or what others said there:
for them every item of that wave is left out, overlap and single alike (DESIGN §3 "Lead and annotator in one"). For
who does not annotate it is a look at the interim state, and logged as one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, Any

from django.core.files.base import File
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from annotations import draw_records, draws, eligibility, gold, rating_rows
from annotations.enums import AssignmentState
from annotations.models import Assignment, Draw
from projects import access, activities, item_search, jobs
from projects.enums import Action, JobKind, JobState
from projects.errors import DomainError, Invalid, NotAllowed
from projects.formats import FORMATS
from projects.models import Item, Job, Membership, Project
from projects.task_types import Json

FILE_FORMATS = ("csv", "jsonl")
SAID_EVERY = 100  # steps between two looks at the clock, to say how far a job is


@dataclass(frozen=True)
class Export:
    """One kind of file: its rows, its columns, and how many steps it takes.

    `fields` is None where rows differ in what they hold. The first of `formats` is made where another is asked for.
    `closed_only` says that nothing of an open draw is ever in it, so that nobody takes a look by making it.
    `record` names the column that holds the item's record: in a table each field of it is a column of its own.
    """

    title: Any
    fields: Sequence[str] | None
    rows: Callable[[Project, Sequence[Draw]], Iterator[tuple[int, Mapping[str, Json]]]]
    total: Callable[[Project], int]
    formats: Sequence[str] = FILE_FORMATS
    closed_only: bool = False
    record: str = ""


# -- asking for one ----------------------------------------------------------------------------------------------------


@transaction.atomic
def start(project: Project, *, what: str, file_format: str, by: Membership, at: datetime | None = None) -> Job:
    """Write the job that makes the file. Raises Invalid for a file or a format that does not exist."""
    access.require(by, Action.EXPORT)
    if by.project_id != project.pk:
        raise NotAllowed(_("You are not a member of “%(project)s”.") % {"project": project.name})
    for found, known in ((what, EXPORTS), (file_format, FILE_FORMATS)):
        if found not in known:
            raise Invalid(
                _("“%(found)s” cannot be exported: expected one of %(known)s.")
                % {"found": found, "known": ", ".join(known)}
            )
    formats = EXPORTS[what].formats
    made = file_format if file_format in formats else formats[0]
    # By its English name: who reads the log may read another language than who asked for the file.
    with override("en"):
        name = str(EXPORTS[what].title)
    activities.record("export_started", project, by=by, at=at, title=name, format=made.upper())
    return jobs.create(project, JobKind.EXPORT, params={"what": what, "format": made}, by=by, at=at)


def of_project(project: Project) -> QuerySet[Job]:
    """The exports of `project`, newest first."""
    return project.jobs.filter(kind=JobKind.EXPORT).select_related("created_by__user").order_by("-created_at", "-pk")


@dataclass(frozen=True)
class Listed:
    """An export in the list: what it holds, what it leaves out, and why the viewer cannot have it, if they cannot."""

    job: Job
    title: str
    format: str
    rows: int | None
    size: int | None
    left_out: str
    refusal: str


def listed(found: Iterable[Job], member: Membership) -> list[Listed]:
    """Exports as `member` sees them; one query more, however many draws are open."""
    barred = _barred(member)
    return [
        Listed(
            job=job,
            title=title(job),
            format=str(job.params.get("format", "")).upper(),
            rows=job.result.get("rows"),
            size=job.result.get("size"),
            left_out=", ".join(str(number) for number in job.result.get("left_out", [])),
            refusal=_refusal(job, barred),
        )
        for job in found
    ]


def title(job: Job) -> str:
    """What an export holds, in words."""
    export = EXPORTS.get(str(job.params.get("what")))
    return str(export.title) if export else ""


def refusal(job: Job, member: Membership) -> str:
    """Why `member` cannot have the file of a finished export now; empty where they can."""
    return _refusal(job, _barred(member))


def _barred(member: Membership) -> dict[str, int]:
    """The open draws of which `member` may see nothing: uuid -> number of the wave."""
    hidden, _shown = _open_draws(member.project, member)
    return {str(draw.uuid): draw.wave.number for draw in hidden}


def _refusal(job: Job, barred: Mapping[str, int]) -> str:
    waves = sorted(barred[uuid] for uuid in job.result.get("open_draws", []) if uuid in barred)
    if not waves:
        return ""
    return _(
        "It holds ratings of wave %(waves)s, whose measurement is open, and you label there: wait until it closes, "
        "or export a file of your own."
    ) % {"waves": ", ".join(map(str, waves))}


def download(job: Job, member: Membership) -> "File[Any]":
    """The file of a finished export, opened. Raises DomainError with the reason where `member` may not have it."""
    access.require(member, Action.EXPORT)
    why_not = refusal(job, member) if job.state == JobState.DONE and job.file else _("This file is not there yet.")
    if why_not:
        raise DomainError(why_not, code="no_file")
    return job.file.open("rb")


def file_name(job: Job) -> str:
    """A name that says what it is: project, kind, day."""
    day = timezone.localtime(job.created_at).strftime("%Y-%m-%d")
    stem = slugify(job.project.name if job.project else "") or "concord"
    return f"{stem}-{job.params['what']}-{day}{FORMATS[job.params['format']].suffix}"


# -- making it ---------------------------------------------------------------------------------------------------------


def run(job: Job) -> None:
    """Write the file of `job`. Started again, it makes the file anew."""
    project, by = job.project, job.created_by
    if project is None or by is None:
        raise DomainError(_("Whoever asked for this export is no longer in the project: start a new one."))
    access.require(by, Action.EXPORT)
    closed_only = EXPORTS[job.params["what"]].closed_only
    while True:
        hidden, shown = ([], []) if closed_only else _open_draws(project, by)
        # Before the first row is read: a look that was taken is on record even if the file is never fetched.
        for draw in shown:
            draws.look(draw, by=by, at=timezone.now())
        with TemporaryFile() as stream:
            rows = _write(job, project, hidden, stream)
            if not closed_only and _opened_meanwhile(project, by, [*hidden, *shown]):
                continue  # rows of that wave may be in the file, and nobody asked whether they may be
            stream.seek(0)
            _keep(job, stream)
        break
    job.result |= {
        "rows": rows,
        "size": job.file.size,
        "open_draws": [str(draw.uuid) for draw in shown],
        "left_out": [draw.wave.number for draw in hidden],
    }


def _write(job: Job, project: Project, hidden: Sequence[Draw], stream: IO[bytes]) -> int:
    export = EXPORTS[job.params["what"]]
    total = export.total(project)
    rows = _reporting(job, export.rows(project, hidden), total)
    fields = export.fields
    if export.record and fields is not None and job.params["format"] != "jsonl":
        shown = item_search.fields_of(project)
        fields = [*(name for name in fields if name != export.record), *(f"{export.record}.{name}" for name in shown)]
        rows = (_flat(row, export.record) for row in rows)
    written = FORMATS[job.params["format"]].write(rows, stream, fields=fields)
    jobs.progress(job, total, total)
    return written


def _flat(row: Mapping[str, Json], record: str) -> dict[str, Json]:
    """A row with the fields of its record beside the others: `content.text`."""
    content = row[record]
    fields = content if isinstance(content, dict) else {}
    return {name: value for name, value in row.items() if name != record} | {
        f"{record}.{name}": value for name, value in fields.items()
    }


def _keep(job: Job, stream: IO[bytes]) -> None:
    if job.file:
        job.file.delete(save=False)
    job.file_name = file_name(job)
    job.file.save(f"{job.uuid}{FORMATS[job.params['format']].suffix}", File(stream), save=False)
    Job.objects.filter(pk=job.pk).update(file=job.file.name, file_name=job.file_name)


def _opened_meanwhile(project: Project, by: Membership, known: Sequence[Draw]) -> bool:
    hidden, shown = _open_draws(project, by)
    return not {draw.pk for draw in (*hidden, *shown)} <= {draw.pk for draw in known}


def _open_draws(project: Project, by: Membership) -> tuple[list[Draw], list[Draw]]:
    """The open draws of `project` whose waves are left out for `by`, and those that they may see."""
    rows = Draw.objects.open().filter(wave__project=project).select_related("wave__project").defer("population")
    hidden = draws.hidden_from(by).filter(pk=OuterRef("pk"))
    found = list(rows.annotate(is_hidden=Exists(hidden)).order_by("wave__number"))
    hides = {draw.pk: bool(draw.is_hidden) for draw in found}  # type: ignore[attr-defined]  # annotated above
    return [draw for draw in found if hides[draw.pk]], [draw for draw in found if not hides[draw.pk]]


def _reporting(job: Job, rows: Iterator[tuple[int, Mapping[str, Json]]], total: int) -> Iterator[Mapping[str, Json]]:
    """The rows, saying on the way how far it is."""
    said = 0
    for done, row in rows:
        if done >= said + SAID_EVERY:
            jobs.progress(job, done, total)
            said = done
        yield row


def _gold_rows(project: Project, hidden: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, Json]]]:
    waves = [draw.wave_id for draw in hidden]
    without = Item.objects.filter(project=project, wave_items__wave__in=waves) if waves else None
    done, last = 0, None
    for one in gold.of_project(project, without=without):
        if one.item.pk != last:
            done, last = done + 1, one.item.pk
        yield done, one.row()


def _count_items(project: Project) -> int:
    return project.items.count()


def _count_ratings(project: Project) -> int:
    ended = Q(state=AssignmentState.SUBMITTED) | Q(state=AssignmentState.SKIPPED)
    return Assignment.objects.filter(ended, item__project=project).count()


EXPORTS: dict[str, Export] = {
    "gold": Export(gettext_lazy("Final labels (gold)"), gold.FIELDS, _gold_rows, _count_items, record="content"),
    "ratings": Export(gettext_lazy("All ratings"), rating_rows.FIELDS, rating_rows.of_project, _count_ratings),
    "draws": Export(
        gettext_lazy("Draws, to be replayed"),
        None,
        draw_records.file_rows,
        draw_records.total,
        formats=("jsonl",),
        closed_only=True,
    ),
    "ledger": Export(
        gettext_lazy("Items that are not fresh"),
        eligibility.FIELDS,
        eligibility.file_rows,
        lambda project: eligibility.not_eligible(project).count(),
        closed_only=True,
    ),
}


def register(key: str, export: Export) -> None:
    """A file of a higher app's, offered beside these; called once, from its AppConfig.ready."""
    EXPORTS[key] = export
