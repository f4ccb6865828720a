"""`manage.py verify_draw DRAW`: draw the overlap of a closed measurement again, and say whether it is the same set.

DRAW is a draw's id, as on the page of its wave; or an export “Draws, to be replayed”, for which no database is asked.
The exit code is 0 where every draw replays, 1 where one does not, 2 where there is nothing to replay.
"""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations import draw_records, verifying
from annotations.draw_records import BadRecord, Record
from annotations.models import Draw
from annotations.verifying import Verification
from projects.errors import DomainError
from projects.formats import FormatError

DIFFERS, NOTHING = 1, 2


class Command(BaseCommand):
    help = "Replay a closed draw from its record: “same set”, or the first difference."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("draw", help="a draw's id, or an export “Draws, to be replayed” (JSONL)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            draw = UUID(options["draw"])
        except ValueError:
            self._verify_file(Path(options["draw"]))
        else:
            self._verify_row(draw)

    def _verify_row(self, uuid: UUID) -> None:
        draw = Draw.objects.select_related("wave__project").filter(uuid=uuid).first()
        if draw is None:
            raise CommandError(f"There is no draw {uuid}.", returncode=NOTHING)
        try:
            verdict = verifying.verify(draw)
        except DomainError as error:
            raise CommandError(error.message, returncode=NOTHING) from error
        if draw.is_imported:
            raise CommandError(verdict.sentence, returncode=NOTHING)
        self._say(draw.wave.number, verdict)
        if not verdict.same:
            raise CommandError("The draw does not follow from its record.", returncode=DIFFERS)

    def _verify_file(self, path: Path) -> None:
        checked = differing = 0
        of_panels: list[Record] = []
        try:
            with path.open("rb") as stream:
                for record in draw_records.read(stream):
                    verdict = verifying.replay(record)
                    self._say(record.wave, verdict)
                    checked, differing = checked + 1, differing + (not verdict.same)
                    of_panels += [record] if record.panel else []
            splits = verifying.replay_splits(of_panels)
        except OSError as error:
            raise CommandError(
                f"{path} is neither a draw's id nor a file that can be read: {error.strerror}.", returncode=NOTHING
            ) from error
        except (BadRecord, FormatError) as error:
            raise CommandError(f"{path}: {error}", returncode=NOTHING) from error
        for verdict in splits:
            self.stdout.write("\n".join([*filter(None, [verdict.sentence]), *verdict.unproved]))
        if not all(verdict.same for verdict in splits):
            raise CommandError("A split into panels does not follow from its record.", returncode=DIFFERS)
        if differing:
            raise CommandError(f"{differing} of {checked} draws do not follow from their records.", returncode=DIFFERS)

    def _say(self, wave: int, verdict: Verification) -> None:
        self.stdout.write(f"Wave {wave}: {verdict.sentence}")
        for sentence in verdict.unproved:
            self.stdout.write(f"  {sentence}")
