"""`manage.py import_ratings PROJECT FILE`: ratings that were made elsewhere, from a shell."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from annotations import imported, imported_report, imported_rows
from annotations.imported_report import Report
from annotations.rating_layouts import LONG, NESTED, WIDE, Layout
from projects import access, jobs
from projects.enums import Action, JobState
from projects.errors import DomainError
from projects.formats import FORMATS
from projects.models import Job, Membership, Project

LISTED = 20


class Command(BaseCommand):
    help = "Import items with the ratings that they got elsewhere, as a closed wave. All or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's UUID or its exact name")
        parser.add_argument("file", type=Path)
        items = parser.add_argument_group("items")
        items.add_argument("--fields", type=_names, default=[], help="the shown fields in order; none: items are here")
        items.add_argument("--id", dest="id_field", default="", help="the field that holds the item's id")
        items.add_argument("--metadata", type=_names, default=[], help="fields kept as metadata")
        given = parser.add_argument_group("ratings, in one of these ways; without any the first rows suggest one")
        given.add_argument(
            "--ratings", help="the field that holds {rater: label}, or [label, …] of nobody in particular"
        )
        given.add_argument("--raters", type=_names, default=[], help="columns, one for each rater")
        given.add_argument("--label", help="the column of the label, with a row for each rating")
        given.add_argument("--rater", default="", help="the column of the rater, beside --label")
        given.add_argument("--anonymous", action="store_true", help="raters are places of ratings, not people")
        given.add_argument("--comment", default="", help="the field of the comment on a rating, or {rater: comment}")
        given.add_argument("--question", default="", help="the key of the question; may be left out if there is one")
        given.add_argument("--value", action="append", default=[], metavar="VALUE=LABEL", help="which label a value is")
        given.add_argument("--member", action="append", default=[], metavar="RATER=USER", help="who a rater is")
        parser.add_argument("--format", choices=sorted(FORMATS), default="", help="recognised unless given")
        parser.add_argument("--name", default="", help="the batch's name; the file's unless given")
        parser.add_argument(
            "--by", default="", help="user name of the member who imports; the first admin unless given"
        )
        parser.add_argument("--dry-run", action="store_true", help="report what was found and import nothing")
        parser.add_argument("--skip-bad", action="store_true", help="import what is good and leave out the bad rows")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        by = _by(project, options["by"])
        try:
            self._import(project, by, options)
        except DomainError as error:
            raise CommandError(error.message) from error

    def _import(self, project: Project, by: Membership, options: dict[str, Any]) -> None:
        key = _question(project, options["question"])
        job = _start(project, by, _layout(options, key), options)
        try:
            found = self._preview(job)
            values, raters = _values(options["value"], found), _people(options["member"], project)
            if options["dry_run"]:
                self._unmapped(found, values)
                self.stdout.write("Nothing was imported: this was a dry run.")
                return
            if found.bad and not options["skip_bad"]:
                raise CommandError(
                    f"Nothing was imported, because {found.bad} of {found.rows} rows cannot be. "
                    "Mend them, or leave them out with --skip-bad."
                )
            self._confirm(job, by, values, raters)
        finally:
            job.refresh_from_db()
            made = imported.import_of(job)
            if job.file and (made is None or made.state == JobState.FAILED):
                imported.discard(job)

    def _preview(self, job: Job) -> Report:
        jobs.run(job)
        if job.state != JobState.DONE:
            raise CommandError(f"Nothing was imported. {job.message}")
        found, layout = imported_report.of(job), imported.layout_of(job)
        self.stdout.write(
            f"Shown: {', '.join(layout.shown) or 'items of the project'}. Id: {layout.id_field or 'none'}. "
            f"Metadata: {', '.join(layout.metadata) or 'none'}. Ratings: {_ratings_in(layout)}."
        )
        who = f"{found.n_raters} raters" if found.raters else "anonymous raters"
        self.stdout.write(
            f"{found.rows} rows read: {found.ratings} ratings of {found.items} items by {who}, "
            f"{found.overlap} items with two or more."
        )
        if found.unrated:
            self.stdout.write(f"  {found.unrated} items have no rating and are left out.")
        for kind in found.kinds:
            self.stdout.write(f"  {kind.count} left out: {kind.problem.label}")
        for row in imported_report.problems(job, limit=LISTED):
            self.stdout.write(f"  row {row.number}: {row.message}")
        if found.bad > LISTED:
            self.stdout.write(f"  and {found.bad - LISTED} more rows")
        return found

    def _unmapped(self, found: Report, values: dict[str, dict[str, str | None]]) -> None:
        open_ones = [one for one in found.unmapped if one.token not in values.get(one.question, {})]
        if open_ones:
            raise CommandError(imported_report.unmapped_sentence(open_ones))

    def _confirm(
        self, job: Job, by: Membership, values: dict[str, dict[str, str | None]], raters: dict[str, UUID]
    ) -> None:
        with transaction.atomic():
            made = imported.confirm(job, by=by, values=values, raters=raters)
            jobs.claim(made, at=timezone.now())
        jobs.run(made)
        if made.state != JobState.DONE:
            raise CommandError(f"Nothing was imported. {made.message}")
        wave, result = imported.wave_of(made), made.result
        self.stdout.write(
            self.style.SUCCESS(
                f"{result['ratings']} ratings of {result['items']} items imported as {wave}, "
                f"{result['cases']} conflicts."
            )
        )
        self.stdout.write(str(imported.NOT_KNOWN))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _question(project: Project, key: str) -> str:
    known = list(imported_rows.questions(imported.version_of(project)))
    if key in known or (not key and len(known) == 1):
        return key or known[0]
    if not key:
        raise CommandError(f"Say which question the ratings answer, with --question: {', '.join(known)}.")
    raise CommandError(f"The guideline has no question “{key}” with labels; it has: {', '.join(known)}.")


def _layout(options: dict[str, Any], question: str) -> Layout | None:
    """What the options say, or None where they leave it to the first rows."""
    ways = [name for name in ("ratings", "raters", "label") if options[name]]
    if len(ways) > 1:
        raise CommandError("Ratings stand in one way: give --ratings, --raters or --label, not two of them.")
    if not ways:
        if options["rater"]:
            raise CommandError("--rater needs --label: the column of the labels.")
        return None
    shape = {"ratings": NESTED, "raters": WIDE, "label": LONG}[ways[0]]
    return Layout(
        shape,
        shown=tuple(options["fields"]),
        id_field=options["id_field"],
        metadata=tuple(options["metadata"]),
        labels={question: options["ratings"] or options["label"] or ""},
        rater=options["rater"],
        raters=tuple(options["raters"]),
        comment=options["comment"],
        anonymous=options["anonymous"],
    )


def _ratings_in(layout: Layout) -> str:
    held = ", ".join(f"{key} in {name or ', '.join(layout.raters)}" for key, name in layout.labels.items())
    return f"{held}, rater in {layout.rater}" if layout.rater else held


def _start(project: Project, by: Membership, layout: Layout | None, options: dict[str, Any]) -> Job:
    path: Path = options["file"]
    try:
        with path.open("rb") as stream:
            return imported.start(
                project,
                upload=File(stream, name=path.name),
                by=by,
                name=options["name"],
                format_key=options["format"],
                layout=layout,
                claimed=True,
            )
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


def _values(pairs: list[str], found: Report) -> dict[str, dict[str, str | None]]:
    """VALUE=LABEL as `imported.confirm` takes it; without a label the value is left out."""
    chosen: dict[str, dict[str, str | None]] = {}
    for pair in pairs:
        value, _equals, label = pair.rpartition("=")
        matching = [one for one in found.values if value in (one.shown, one.token)]
        if not matching:
            raise CommandError(f"--value {pair}: the file has no rating “{value}”.")
        for one in matching:
            chosen.setdefault(one.question, {})[one.token] = label or None
    return chosen


def _people(pairs: list[str], project: Project) -> dict[str, UUID]:
    chosen = {}
    for pair in pairs:
        rater, _equals, name = pair.rpartition("=")
        person = imported.same_name(name, imported.members(project))
        if person is None:
            raise CommandError(f"--member {pair}: “{name}” is no active member of the project.")
        chosen[rater] = person.uuid
    return chosen


def _by(project: Project, name: str) -> Membership:
    people = [one for one in imported.members(project) if access.allows(one, Action.IMPORT)]
    if name:
        person = imported.same_name(name, people)
        if person is None:
            raise CommandError(f"--by {name}: no active member of the project who may import.")
        return person
    if not people:
        raise CommandError("Nobody in the project may import: add a lead or an admin.")
    return min(people, key=lambda one: one.pk)


def _project(name: str) -> Project:
    try:
        matching = Project.objects.filter(uuid=UUID(name))
    except ValueError:
        matching = Project.objects.filter(name=name)
    found = list(matching[:2])
    if len(found) == 1:
        return found[0]
    if found:
        raise CommandError(f"Several projects are called “{name}”: give the UUID, as in the address of its pages.")
    raise CommandError(f"There is no project “{name}”: give its exact name or its UUID.")
