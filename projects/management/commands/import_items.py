"""`manage.py import_items PROJECT FILE`: the import of the pages, from a shell."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from projects import importing, jobs, staging
from projects.enums import JobState
from projects.errors import DomainError
from projects.formats import FORMATS
from projects.models import Job, Project

LISTED = 20


class Command(BaseCommand):
    help = "Import the rows of a CSV, TSV, JSON or JSONL file as items. Nothing is imported when a row cannot be."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's UUID or its exact name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--fields", type=_names, help="the shown fields in order, e.g. question_1,question_2")
        parser.add_argument("--id", dest="id_field", help="the field that holds the id ('' for none)")
        parser.add_argument("--metadata", type=_names, help="fields kept as metadata, e.g. split,source")
        parser.add_argument("--format", choices=sorted(FORMATS), default="", help="recognised unless given")
        parser.add_argument("--name", default="", help="the batch's name; the file's unless given")
        parser.add_argument("--dry-run", action="store_true", help="report what was found and import nothing")
        parser.add_argument("--skip-bad", action="store_true", help="import the good rows and leave out the bad ones")
        parser.add_argument(
            "--also",
            action="append",
            choices=[problem.value for problem in staging.OPTIONAL],
            help="import these rows as well (may be repeated); those that differ only in case always are",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        try:
            self._import(project, options)
        except DomainError as error:
            raise CommandError(error.message) from error

    def _import(self, project: Project, options: dict[str, Any]) -> None:
        also = sorted(staging.USUAL | set(options["also"] or ()))
        job = _start(project, options)
        try:
            report = self._preview(job, also)
            if options["dry_run"]:
                self.stdout.write("Nothing was imported: this was a dry run.")
                if not report.importable(also):
                    raise CommandError("None of the rows can be imported.")
                return
            if report.bad and not options["skip_bad"]:
                raise CommandError(
                    f"Nothing was imported, because {report.bad} of {report.rows} rows cannot be. "
                    "Mend them, or leave them out with --skip-bad."
                )
            self._confirm(job, also)
        finally:
            job.refresh_from_db()
            if job.file and importing.import_of(job) is None:
                importing.discard(job)

    def _preview(self, job: Job, also: list[str]) -> importing.Report:
        jobs.run(job)
        if job.state != JobState.DONE:
            raise CommandError(f"Nothing was imported. {job.message}")
        report = importing.report(job)
        choice = importing.choice_of(job)
        self.stdout.write(
            f"Shown: {', '.join(choice.shown)}. Id: {choice.id_field or 'none'}. "
            f"Metadata: {', '.join(choice.metadata) or 'none'}."
        )
        self.stdout.write(f"{report.rows} rows read, {report.importable(also)} can be imported.")
        for kind in report.kinds:
            taken = "imported all the same" if kind.optional and kind.problem in also else "left out"
            self.stdout.write(f"  {kind.count} {taken}: {kind.problem.label}")
        for row in importing.problems(job, limit=LISTED):
            self.stdout.write(f"  row {row.number}: {row.message}")
        listed = sum(kind.count for kind in report.kinds)
        if listed > LISTED:
            self.stdout.write(f"  and {listed - LISTED} more rows with a problem")
        return report

    def _confirm(self, job: Job, also: list[str]) -> None:
        with transaction.atomic():
            made = importing.confirm(job, by=None, also=also)
            jobs.claim(made, at=timezone.now())
        jobs.run(made)
        if made.state != JobState.DONE:
            raise CommandError(f"Nothing was imported. {made.message}")
        self.stdout.write(
            self.style.SUCCESS(f"{made.result['imported']} items imported as batch {made.result['batch']}.")
        )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _start(project: Project, options: dict[str, Any]) -> Job:
    path: Path = options["file"]
    try:
        with path.open("rb") as stream:
            return importing.start(
                project,
                upload=File(stream, name=path.name),
                by=None,
                name=options["name"],
                format_key=options["format"],
                shown=options["fields"],
                id_field=options["id_field"],
                metadata=options["metadata"],
                claimed=True,
            )
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


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
