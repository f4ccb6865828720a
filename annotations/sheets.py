"""A sheet is what an annotator has in front of them: an item's texts, its questions, and what is answered so far."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotations.models import Annotation
from annotations.serving import Task
from projects import reading
from projects.asking import Asked
from projects.models import GuidelineVersion, Item, Membership, Project
from projects.reading import Reading

FIRST_WORDS = 180


@dataclass(frozen=True)
class Shown:
    """A field of an item as it stands on a page. `name` is empty where there is but one field.

    `html` is the text with each of its characters kept: spans are counted in them. `marked` says that they can be.
    """

    field: str
    name: str
    html: SafeString
    marked: bool


@dataclass(frozen=True)
class Sheet:
    """A form to label an item, or to correct a label. It knows of the item what `Task` knows, and no more."""

    key: UUID
    shown: list[Shown]
    reading: Reading
    asked: list[Asked]
    comment: str
    problem: str
    typed_at: int = 0

    @property
    def scripts(self) -> list[str]:
        """The modules that the fragments of its questions need."""
        return scripts(self.reading)


def scripts(read: Reading) -> list[str]:
    return sorted({question.kind.script for question in read.questions} - {""})


@dataclass(frozen=True)
class Given:
    """What was sent or typed so far, and what is wrong with it by question ("" is the form as a whole)."""

    answers: Mapping[str, Any]
    comment: str = ""
    problems: Mapping[str, str] | None = None


def of_task(task: Task, member: Membership, given: Given | None = None) -> Sheet:
    """The sheet of an item that `member` is to label: with what was just sent, else with the draft."""
    draft = task.draft or {}
    if given is None:
        given = Given(draft.get("answers") or {}, draft.get("comment") or "")
    read = reading.reading_for(member, task.version)
    return _sheet(task.assignment, task.content, read, given, draft.get("typed_at") or 0)


def of_annotation(row: Annotation, member: Membership, given: Given | None = None) -> Sheet:
    """The sheet of a label that `member` gave, with the questions of the version that it was given under."""
    given = given or Given(row.latest, row.comment)
    read = reading.reading_for(member, row.version)
    return _sheet(row.uuid, dict(row.item.shown(member.project.shown_fields)), read, given, 0)


def of_item(item: Item, version: GuidelineVersion, member: Membership, given: Given | None = None) -> Sheet:
    """The sheet of an item that is in nobody's hand, as a lead checks it."""
    read = reading.reading(version, member.hotkeys)
    return _sheet(item.uuid, dict(item.shown(member.project.shown_fields)), read, given or Given({}), 0)


def _sheet(key: UUID, content: Mapping[str, Any], read: Reading, given: Given, typed_at: int) -> Sheet:
    problems = given.problems or {}
    known = {question.key for question in read.questions}
    return Sheet(
        key=key,
        shown=shown(content),
        reading=read,
        asked=[Asked(q, given.answers.get(q.key), problems.get(q.key, ""), content=content) for q in read.questions],
        comment=given.comment,
        problem=" ".join(problem for name, problem in problems.items() if name not in known),
        typed_at=typed_at,
    )


def shown(content: Mapping[str, Any]) -> list[Shown]:
    """The fields in the order of `content`."""
    alone = len(content) == 1
    return [
        Shown(name, "" if alone else name, untouched(in_text(value)), isinstance(value, str))
        for name, value in content.items()
    ]


def untouched(text: str) -> SafeString:
    """A text as HTML. A browser makes one line end of a bare carriage return and newline, but not of a reference."""
    return mark_safe(escape(text).replace("\r", "&#13;"))  # noqa: S308 - escaped just here


def in_text(value: Any) -> str:
    """A value of an item as text: words as they are, anything structured as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def first_words(item: Item, fields: Iterable[str], limit: int = FIRST_WORDS) -> str:
    """The beginning of an item in one line."""
    line = " / ".join(" ".join(in_text(value)[: limit * 4].split()) for _name, value in item.shown(list(fields)))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


@dataclass(frozen=True)
class Entry:
    """One line of somebody's own work. Whether a correction still counts is a matter of the clock alone."""

    annotation: Annotation
    words: str
    asked: list[Asked]
    still_counts: bool


def entries(rows: Iterable[Annotation], project: Project, *, at: datetime) -> list[Entry]:
    read: dict[int, Reading] = {}
    made = []
    for row in rows:
        if row.version_id not in read:
            row.version.project = project  # at hand here, and else asked for once for each version
            read[row.version_id] = reading.reading(row.version)
        made.append(
            Entry(
                annotation=row,
                words=first_words(row.item, project.shown_fields),
                asked=[
                    Asked(q, row.latest.get(q.key), content=row.item.content) for q in read[row.version_id].questions
                ],
                still_counts=row.window_ends > at,
            )
        )
    return made
