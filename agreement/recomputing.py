"""Every figure of a recompute kit against its ratings: the file is all that is read, no database is asked.

The objects made here are of the tables' classes and are never saved: figures are made by the same functions as in the
application, from the ratings, protocol and labels that the file holds. Intervals come out the same, because their seed
follows from the draw. Which earlier draws a difference or a pooled figure is made with is taken from the figure itself.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any
from uuid import UUID

from agreement import figures, kits, matrices
from agreement.markings import Marked, Markings, Tokens
from agreement.matrices import Matrix
from annotations.enums import DrawState
from annotations.models import Draw, Wave
from projects.enums import Role
from projects.formats import FORMATS
from projects.models import GuidelineVersion, Label, Membership, Question
from projects.task_types import TASK_TYPES

TOLERANCE = 1e-9
# What an entry of a list is about, where it says so: the name that it gets in a path.
NAMES = ("label", "pair", "raters", "rater", "stratum", "key", "symbol")

Pattern = tuple[tuple[str | None, ...], str]


class BadKit(ValueError):
    """A file that is no kit; the message says what was found and where."""


@dataclass
class Measurement:
    """One draw of the file."""

    draw: Draw
    questions: dict[str, tuple[Question, tuple[Label, ...]]]
    raters: tuple[Membership, ...]
    sizes: Mapping[str, tuple[int, int]]
    patterns: dict[str, Counter[Pattern]]
    skips: Counter[tuple[str, str]] = field(default_factory=Counter)
    versions: Counter[tuple[int, int]] = field(default_factory=Counter)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    spans: dict[str, Markings] = field(default_factory=dict)

    @property
    def ratings(self) -> int:
        return self.versions.total()

    def matrix(self, question_key: str) -> Matrix | None:
        """The ratings of a question, None where it was not asked."""
        if question_key not in self.questions:
            return None
        question, labels = self.questions[question_key]
        if question_key in self.spans:
            return matrices.of_marked(self.draw, question, labels, self.raters, self.spans[question_key])
        rows = ((answers, stratum, items) for (answers, stratum), items in self.patterns[question_key].items())
        return matrices.of_rows(self.draw, question, labels, self.raters, rows, self.sizes)


@dataclass(frozen=True)
class Kit:
    project: str
    engine: str
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True)
class Difference:
    """A figure that does not follow from the ratings. `figure` is its path in the result."""

    figure: str
    stated: Any
    found: Any


@dataclass(frozen=True)
class Verdict:
    """The figures of one draw and question: how many were compared, and those that differ."""

    wave: int
    version: str
    question: str
    ratings: int
    figures: int
    differences: tuple[Difference, ...]


def read(stream: IO[bytes]) -> Kit:
    """The kit that a file holds. Raises BadKit or FormatError with the line that cannot be read."""
    reader = _Reader()
    for row in FORMATS["jsonl"].read(stream):
        if row.record is None:
            raise BadKit(row.problem or f"Line {row.number} cannot be read.")
        try:
            reader.take(dict(row.record))
        except KeyError as error:
            raise BadKit(f"Line {row.number} has no {error.args[0]!r}: it is no line of a kit.") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise BadKit(f"Line {row.number}: {error}") from error
    return reader.kit()


def check(kit: Kit) -> Iterator[Verdict]:
    """Recompute every figure of the kit, draw by draw."""
    for measurement in kit.measurements:
        for question_key, stated in measurement.results.items():
            yield _verdict(kit, measurement, question_key, stated)


def differences(stated: Any, found: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Where two results differ, numbers by more than 1e-9 (relative above 1)."""
    if isinstance(stated, dict) and isinstance(found, dict):
        for key in [*found, *(key for key in stated if key not in found)]:
            yield from differences(stated.get(key), found.get(key), (*path, str(key)))
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for place, (one, other) in enumerate(zip(stated, found, strict=True), start=1):
            yield from differences(one, other, (*path, _name(other, place)))
    elif not _same(stated, found):
        yield Difference(" › ".join(path), stated, found)


def _verdict(kit: Kit, measurement: Measurement, question_key: str, stated: dict[str, Any]) -> Verdict:
    _take_roles(measurement, stated)
    matrix = measurement.matrix(question_key)
    if matrix is None:
        raise BadKit(f"Wave {measurement.draw.wave.number} has figures on {question_key!r} and asks no such question.")
    made = figures.compute(measurement.draw, matrix, _context(kit, measurement, stated))
    # As it is stored: tuples become lists, and whole numbers stay whole.
    found = json.loads(json.dumps(made, allow_nan=False))
    if stated.get("schema") != figures.SCHEMA:
        found = _as_far_as(stated, found)
    headline = ("statistics", found["headline"]["key"])
    differing = sorted(differences(stated, found), key=lambda each: not each.figure.startswith(" › ".join(headline)))
    return Verdict(
        measurement.draw.wave.number,
        measurement.draw.wave.version.number,
        question_key,
        measurement.ratings,
        sum(1 for _ in _numbers(found)),
        tuple(differing),
    )


def _take_roles(measurement: Measurement, stated: Mapping[str, Any]) -> None:
    """Who rated in which role, from the figure itself: people may have other roles by now."""
    role_of = {
        rater: each["stratum"] for each in stated.get("strata", []) for rater in each.get("raters", []) if "by" in each
    }
    for member in measurement.raters:
        role = role_of.get(str(member.uuid))
        member.is_lead, member.is_annotator = role == Role.LEAD, role == Role.ANNOTATOR


def _as_far_as(stated: Any, found: Any) -> Any:
    """What an older result holds of a newer one, which says more."""
    if isinstance(stated, dict) and isinstance(found, dict):
        return {key: _as_far_as(stated[key], value) for key, value in found.items() if key in stated} | {
            key: value for key, value in stated.items() if key == "schema"
        }
    return found


def _context(kit: Kit, measurement: Measurement, stated: Mapping[str, Any]) -> figures.Context:
    by_draw = {str(each.draw.uuid): each for each in kit.measurements}
    by_wave = {each.draw.wave.number: each for each in kit.measurements}
    difference, pooled = stated.get("difference"), stated.get("pooled")
    earlier = by_draw.get(difference.get("draw", "")) if isinstance(difference, dict) else None
    waves = pooled.get("waves", []) if isinstance(pooled, dict) else []
    own = measurement.draw.wave.number
    return figures.Context(
        raters=measurement.raters,
        skips=tuple(sorted((rater, reason, n) for (rater, reason), n in measurement.skips.items())),
        versions=tuple((f"{major}.{minor}", n) for (major, minor), n in sorted(measurement.versions.items())),
        earlier=earlier.draw if earlier else None,
        siblings=tuple(by_wave[wave].draw for wave in waves if wave != own and wave in by_wave),
        matrix_of=lambda draw, question_key: by_draw[str(draw.uuid)].matrix(question_key),
    )


def _name(entry: Any, place: int) -> str:
    """What an entry of a list is about, else its place."""
    about = next((entry[name] for name in NAMES if name in entry), None) if isinstance(entry, dict) else None
    if about is None:
        return str(place)
    return " – ".join(map(str, about)) if isinstance(about, list) else str(about)


def _same(stated: Any, found: Any) -> bool:
    if _is_number(stated) and _is_number(found):
        return bool(abs(stated - found) <= TOLERANCE * max(1.0, abs(found)))
    return type(stated) is type(found) and bool(stated == found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(part)
    elif _is_number(value):
        yield value


class _Reader:
    """Takes the lines of a kit one by one. Of ratings the patterns are kept, and which items were met."""

    def __init__(self) -> None:
        self._head: dict[str, Any] | None = None
        self._measurements: list[Measurement] = []
        self._item: str | None = None
        self._stratum = ""
        self._tokens: Tokens = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._met: set[str] = set()
        self._raters: set[str] = set()

    def take(self, row: dict[str, Any]) -> None:
        record = row["record"]
        if self._head is None:
            self._begin(record, row)
        elif record == "draw":
            self._end_item()
            self._measurements.append(_measurement(row))
            self._met, self._raters = set(), set(map(str, row["raters"]))
        elif not self._measurements:
            raise BadKit(f"a {record!r} stands before the first draw.")
        elif record == "item":
            self._begin_item(str(row["item"]), _tokens(row["tokens"]))
        elif record == "rating":
            self._rating(row)
        elif record == "skip":
            self._measurements[-1].skips[row["rater"], row["reason"]] += 1
        elif record == "figures":
            self._figures(row)
        else:
            raise BadKit(f"{record!r} is no record of a kit.")

    def kit(self) -> Kit:
        self._end_item()
        head = self._head or {}
        return Kit(str(head["project"]["name"]), str(head["engine"]), tuple(self._measurements))

    def _begin(self, record: str, row: dict[str, Any]) -> None:
        if record != "kit":
            raise BadKit("a kit begins with a line that says so: export “Figures with their ratings” and give that.")
        if row["schema"] not in range(1, kits.SCHEMA + 1):
            raise BadKit(f"the kit has schema {row['schema']}, and this version reads 1 to {kits.SCHEMA}.")
        _ = row["engine"], row["project"]["name"]
        self._head = row

    def _rating(self, row: dict[str, Any]) -> None:
        measurement, item, rater = self._measurements[-1], str(row["item"]), str(row["rater"])
        if item != self._item:
            self._begin_item(item, {})
        self._stratum = str(row["stratum"])
        if rater in self._answers:
            raise BadKit(f"rater {rater} has rated item {item} before.")
        if rater not in self._raters:
            raise BadKit(f"rater {rater} is none of the raters of this draw.")
        self._answers[rater] = dict(row["answers"])
        major, minor = str(row["version"]).split(".")
        measurement.versions[int(major), int(minor)] += 1

    def _begin_item(self, item: str, tokens: Tokens) -> None:
        self._end_item()
        if item in self._met:
            raise BadKit(f"item {item} stands in two places of the file: its ratings have to follow each other.")
        self._item, self._tokens = item, tokens
        self._met.add(item)

    def _figures(self, row: dict[str, Any]) -> None:
        draw, key = str(row["draw"]), str(row["question"])
        of_draw = next((each for each in self._measurements if str(each.draw.uuid) == draw), None)
        if of_draw is None:
            raise BadKit(f"figures of draw {draw}, which stands nowhere before them.")
        if key in of_draw.results:
            raise BadKit(f"figures on {key!r} stand twice.")
        of_draw.results[key] = dict(row["result"])

    def _end_item(self) -> None:
        """The ratings of an item are complete: they are one more item that shows their pattern."""
        if self._item is None:
            return
        measurement = self._measurements[-1]
        given = [self._answers.get(str(member.uuid), {}) for member in measurement.raters]
        for key, patterns in measurement.patterns.items():
            patterns[tuple(_text(answers.get(key)) for answers in given), self._stratum] += 1
        for key, spans in measurement.spans.items():
            spans.add(Marked(tuple(answers.get(key) for answers in given), self._stratum, self._tokens))
        self._item, self._answers, self._tokens = None, {}, {}


def _text(answer: Any) -> str | None:
    """An answer as JSON text, as the tables of a draw read it."""
    return None if answer is None else json.dumps(answer)


def _measurement(row: dict[str, Any]) -> Measurement:
    major, minor = map(int, str(row["version"]).split("."))
    wave = Wave(number=int(row["wave"]), major=major, version=GuidelineVersion(major=major, minor=minor))
    questions = {str(each["key"]): _question(each) for each in row["questions"]}
    draw = Draw(
        uuid=UUID(row["draw"]),
        wave=wave,
        state=DrawState.CLOSED,
        closing=row["closing"],
        size=int(row["size"]),
        protocol=dict(row["protocol"]),
    )
    sizes = {name: (int(held), int(drawn)) for name, (held, drawn) in row["strata"].items()}
    raters = tuple(Membership(uuid=UUID(rater)) for rater in row["raters"])
    spans = {}
    for key, (question, labels) in questions.items():
        if matrices.has_spans(question):
            spans[key] = matrices.no_spans(draw, labels, raters, sizes)
            spans[key].tokenisation = str(row["tokenisation"])
    return Measurement(
        draw=draw,
        questions=questions,
        raters=raters,
        sizes=sizes,
        patterns={key: Counter() for key in questions if key not in spans},
        spans=spans,
    )


def _tokens(row: Mapping[str, Any]) -> Tokens:
    return {str(name): [(int(start), int(end)) for start, end in places] for name, places in row.items()}


def _question(row: Mapping[str, Any]) -> tuple[Question, tuple[Label, ...]]:
    if row["task_type"] not in TASK_TYPES:
        raise BadKit(f"{row['task_type']!r} is no task type.")
    labels: Sequence[Mapping[str, Any]] = row["labels"]
    return Question(key=row["key"], task_type=row["task_type"]), tuple(
        Label(key=each["key"], name=each["name"], value=each["value"], order=each["order"]) for each in labels
    )
