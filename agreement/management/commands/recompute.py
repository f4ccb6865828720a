"""`manage.py recompute KIT`: every figure of a project's recompute kit against the ratings in it. No database.

The kit is an export of the project, "Figures with their ratings": one JSON object a line, which `agreement.kits`
describes. Numbers have to agree to 1e-9, intervals too. The exit code is 1 where any figure differs.

The answer of --json is one object: `project`, `engine` and `checked`, a list of

  wave, version, question   which measurement
  ratings, figures          how many ratings it was made from, and how many numbers were compared
  differences               [{"figure", "stated", "found"}]: the path of a figure, in the file and from the ratings
"""

import json
from argparse import RawDescriptionHelpFormatter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter

from agreement import recomputing
from agreement.coefficients import ENGINE_VERSION
from agreement.recomputing import Difference, Kit, Verdict

LISTED = 12


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Django's order of the options; texts as they are written."""


class Command(BaseCommand):
    help = "Check every figure of a project's recompute kit against the ratings in it."
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        description = str(__doc__).split("\n\n", 1)[1]
        return super().create_parser(prog_name, subcommand, formatter_class=Formatter, epilog=description, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kit", type=Path, help="the export “Figures with their ratings”, a JSONL file")
        parser.add_argument("--json", action="store_true", help="one JSON object, described below")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["kit"]
        try:
            with path.open("rb") as stream:
                kit = recomputing.read(stream)
            verdicts = list(recomputing.check(kit))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise CommandError(f"{path}: {error}") from error
        if options["json"]:
            answer = {"project": kit.project, "engine": kit.engine, "checked": [asdict(each) for each in verdicts]}
            self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        else:
            self._print(kit, verdicts)
        _judge(path, kit, verdicts)

    def _print(self, kit: Kit, verdicts: list[Verdict]) -> None:
        self.stdout.write(f"“{kit.project}”, figures by engine {kit.engine}.")
        if kit.engine != ENGINE_VERSION:
            self.stdout.write(f"This is engine {ENGINE_VERSION}: where it computes otherwise, figures differ.")
        for each in verdicts:
            where = f"Wave {each.wave}, guideline {each.version}, {each.question}"
            if not each.differences:
                self.stdout.write(f"{where}: {each.figures} figures follow from {each.ratings} ratings.")
                continue
            self.stdout.write(
                f"{where}: {len(each.differences)} figures do not follow from the {each.ratings} ratings:"
            )
            for difference in each.differences[:LISTED]:
                self.stdout.write(f"  {_said(difference)}")
            if len(each.differences) > LISTED:
                self.stdout.write(f"  and {len(each.differences) - LISTED} more; --json has them all")
        for measurement in kit.measurements:
            for question in measurement.questions.keys() - measurement.results.keys():
                self.stdout.write(f"Wave {measurement.draw.wave.number}, {question}: no figures in the file.")


def _said(difference: Difference) -> str:
    stated, found = (json.dumps(value, ensure_ascii=False) for value in (difference.stated, difference.found))
    return f"{difference.figure}: {stated} in the file, {found} from the ratings"


def _judge(path: Path, kit: Kit, verdicts: list[Verdict]) -> None:
    """Refuse a kit that holds a figure which does not follow, or none at all."""
    if not verdicts:
        raise CommandError(f"{path} holds no figures: there is something to check once a measurement has closed.")
    differing = sum(len(each.differences) for each in verdicts)
    if differing:
        compared = sum(each.figures for each in verdicts)
        raise CommandError(f"{differing} of {compared} figures do not follow from the ratings in {path}.")
