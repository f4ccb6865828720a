"""The record of a closed draw: all that it can be replayed from, in the database and as a file (see `verifying`).

The export “Draws, to be replayed” has one JSON object a line, told apart by "record":

  draw   what was declared (protocol, plan), seed and salt, the commitment that was shown from the opening on; of a
         panel also `panel`: its number, all weights, and the seed, salt and commitment of the split; then
  item   each item that was in the wave: its stratum, the hash of its content, whether it was drawn, and how probable
         that was
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any
from uuid import UUID

from django.db.models import QuerySet

from annotations import sampling
from annotations.enums import DrawState
from annotations.models import Draw, Wave, WaveItem
from annotations.sampling import Candidate
from projects.decoding import lines, open_text
from projects.models import Project
from projects.task_types import Json

SCHEMA = 1
CHUNK = 2_000


class BadRecord(ValueError):
    """A file that is no export of draws; the message says what was found and where."""


@dataclass(frozen=True)
class Row:
    """An item as it stands in the wave."""

    stratum: str
    drawn: bool
    probability: float


@dataclass(frozen=True)
class PanelRecord:
    """How the items of a panel's draw came to it: by a split of `items` among panels of these weights."""

    split: str
    number: int
    weights: tuple[int, ...]
    items: int
    seed: bytes
    salt: bytes
    commitment: str


@dataclass
class Record:
    """Everything that a draw can be replayed from."""

    draw: str
    wave: int
    protocol: Mapping[str, Any]
    plan: Mapping[str, Any] | None
    seed: bytes
    salt: bytes
    commitment: str
    population: list[Candidate]
    rows: dict[UUID, Row] = field(default_factory=dict)
    panel: PanelRecord | None = None


def of(draw: Draw) -> Record:
    """The record of a draw as the database has it."""
    return Record(
        draw=str(draw.uuid),
        wave=draw.wave.number,
        protocol=draw.protocol,
        plan=draw.plan,
        seed=bytes(draw.seed),
        salt=bytes(draw.salt),
        commitment=draw.commitment,
        population=sampling.unpack_population(bytes(draw.population)),
        rows=dict(rows_of(draw)),
    )


def rows_of(draw: Draw) -> Iterator[tuple[UUID, Row]]:
    """The items of the wave as they stand there now."""
    rows = WaveItem.objects.filter(wave=draw.wave).values_list("item__uuid", "stratum", "draw", "probability")
    for uuid, stratum, its_draw, probability in rows.iterator(chunk_size=CHUNK):
        yield uuid, Row(stratum, its_draw is not None, probability)


# -- as a file ---------------------------------------------------------------------------------------------------------


def replayable(project: Project) -> QuerySet[Draw]:
    """The draws of a project that are closed or abandoned, and that the system drew."""
    ended = Draw.objects.filter(wave__project=project, state__in=[DrawState.CLOSED, DrawState.ABANDONED])
    rows = ended.filter(wave__is_imported=False).select_related("wave__version", "wave__panel__split")
    return rows.order_by("wave__number")


def file_rows(project: Project, hidden: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """The lines of the export, each with the number of items so far. Of open draws there is nothing in it."""
    done = 0
    for pk in list(replayable(project).values_list("pk", flat=True)):
        draw = replayable(project).get(pk=pk)
        yield done, _draw_line(draw)
        hashes = {one.uuid: one.content_hash for one in sampling.unpack_population(bytes(draw.population))}
        for uuid, row in rows_of(draw):
            done += 1
            yield (
                done,
                {
                    "record": "item",
                    "item": str(uuid),
                    "stratum": row.stratum,
                    "content_hash": hashes.get(uuid, ""),
                    "drawn": row.drawn,
                    "probability": row.probability,
                },
            )


def _draw_line(draw: Draw) -> Mapping[str, Json]:
    return {
        "record": "draw",
        "schema": SCHEMA,
        "draw": str(draw.uuid),
        "wave": draw.wave.number,
        "version": draw.wave.version.number,
        "state": draw.state,
        "closing": draw.closing,
        "reason": draw.reason,
        "opened_at": draw.opened_at.isoformat(),
        "closed_at": draw.closed_at.isoformat() if draw.closed_at else None,
        "protocol": draw.protocol,
        "plan": draw.plan,
        "seed": bytes(draw.seed).hex(),
        "salt": bytes(draw.salt).hex(),
        "commitment": draw.commitment,
        "size": draw.size,
        "population": draw.population_size,
        "panel": _panel_line(draw.wave),
    }


def _panel_line(wave: Wave) -> Mapping[str, Json] | None:
    if not hasattr(wave, "panel"):
        return None
    panel = wave.panel
    return {
        "split": str(panel.split.uuid),
        "number": panel.number,
        "weights": list(panel.split.panels.order_by("number").values_list("weight", flat=True)),
        "items": panel.split.population_size,
        "seed": bytes(panel.split.seed).hex(),
        "salt": bytes(panel.split.salt).hex(),
        "commitment": panel.split.commitment,
    }


def total(project: Project) -> int:
    """The items that the export of draws holds."""
    return sum(replayable(project).values_list("population_size", flat=True))


def read(stream: IO[bytes]) -> Iterator[Record]:
    """The records of an export, one after the other. Raises BadRecord with the line that cannot be read."""
    record: Record | None = None
    for number, line in enumerate(lines(open_text(stream)), start=1):
        if line.isspace():
            continue
        found = _object(line, number)
        try:
            if found.get("record") == "draw":
                if record is not None:
                    yield record
                record = _record(found)
            elif found.get("record") == "item" and record is not None:
                _add_item(record, found)
            else:
                raise BadRecord(f"Line {number}: an export of draws has a “draw” first, and then its items.")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, BadRecord):
                raise
            raise BadRecord(f"Line {number} is no line of an export of draws: {error}.") from error
    if record is None:
        raise BadRecord("It holds no draw.")
    yield record


def _object(line: str, number: int) -> dict[str, Any]:
    """Not read as rows of items are: the stratum of a draw without strata has an empty name."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"Line {number} is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise BadRecord(f"Line {number} is {line.strip()[:40]!r}: expected an object.")
    return found


def _record(found: Mapping[str, Any]) -> Record:
    if found["schema"] != SCHEMA:
        raise BadRecord(f"It has schema {found['schema']}, and this version reads {SCHEMA}.")
    return Record(
        draw=str(UUID(found["draw"])),
        wave=int(found["wave"]),
        protocol=dict(found["protocol"]),
        plan=found["plan"],
        seed=bytes.fromhex(found["seed"]),
        salt=bytes.fromhex(found["salt"]),
        commitment=str(found["commitment"]),
        population=[],
        panel=_panel(found["panel"]) if found.get("panel") else None,
    )


def _panel(found: Mapping[str, Any]) -> PanelRecord:
    number, weights = int(found["number"]), tuple(int(weight) for weight in found["weights"])
    if not 1 <= number <= len(weights):
        raise ValueError(f"panel {number} of {len(weights)}")
    return PanelRecord(
        split=str(UUID(found["split"])),
        number=number,
        weights=weights,
        items=int(found["items"]),
        seed=bytes.fromhex(found["seed"]),
        salt=bytes.fromhex(found["salt"]),
        commitment=str(found["commitment"]),
    )


def _add_item(record: Record, found: Mapping[str, Any]) -> None:
    uuid, stratum = UUID(found["item"]), str(found["stratum"])
    record.rows[uuid] = Row(stratum, bool(found["drawn"]), float(found["probability"]))
    record.population.append(Candidate(uuid, stratum, str(found["content_hash"])))
