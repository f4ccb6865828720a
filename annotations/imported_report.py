"""What the preview of a file of ratings found: counts, values and what they stand for, rows that are left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import imported_rows, rating_values
from annotations.enums import RatingProblem
from annotations.models import ImportedRow
from annotations.rating_layouts import Given, Layout
from projects.models import Job, Label, Question
from projects.task_types import Json

MOST_BY_NAME = 100  # raters: figures by pair grow with the square of their number


@dataclass(frozen=True)
class Kind:
    """A kind of problem and how many rows have it."""

    problem: RatingProblem
    count: int


@dataclass(frozen=True)
class Value:
    """A value of the file, how often it stands there and where first, and the label that it speaks for."""

    question: str
    raw: Json
    count: int
    rows: list[int]
    guess: str | None

    @property
    def token(self) -> str:
        return rating_values.token(self.raw)

    @property
    def shown(self) -> str:
        return self.raw.strip() if isinstance(self.raw, str) else self.token


@dataclass(frozen=True)
class Report:
    """What the preview of a file found. `overlap`: items with two ratings or more; `unrated`: with none, left out."""

    rows: int
    items: int
    unrated: int
    overlap: int
    ratings: int
    raters: dict[str, int]
    n_raters: int
    kinds: list[Kind]
    values: list[Value]

    @property
    def bad(self) -> int:
        """Rows that are left out."""
        return sum(kind.count for kind in self.kinds)

    @property
    def singles(self) -> int:
        return self.items - self.overlap

    @property
    def too_many_raters(self) -> bool:
        return self.n_raters > MOST_BY_NAME

    @property
    def unmapped(self) -> list[Value]:
        return [value for value in self.values if value.guess is None]


def of(job: Job) -> Report:
    """The counts of a finished preview."""
    found, asked = job.result, imported_rows.questions_of(job)
    kinds = [Kind(problem, found["counts"][problem]) for problem in RatingProblem if found["counts"].get(problem)]
    values = [
        Value(key, raw, count, rows, rating_values.guess(raw, labels_of(asked.get(key))))
        for key, entries in found["values"].items()
        for raw, count, rows in entries
    ]
    return Report(
        rows=found["rows"],
        items=found["items"],
        unrated=found["unrated"],
        overlap=found["overlap"],
        ratings=found["ratings"],
        raters=dict(found["raters"]),
        n_raters=len(found["raters"]),
        kinds=kinds,
        values=values,
    )


def labels_of(question: Question | None) -> list[Label]:
    return list(question.labels.all()) if question else []


def preview(job: Job, *, limit: int = 3) -> list[tuple[list[tuple[str, Json]], list[Given]]]:
    """The first items: what is shown, and the ratings that their first row has."""
    shown = Layout.of(job.params["layout"]).shown
    rows = ImportedRow.objects.filter(job=job, problem="", head__isnull=False, number=F("head")).order_by("number")
    return [
        ([(name, row.content[name]) for name in shown if name in row.content] if row.content else [], row.ratings)
        for row in rows[:limit]
    ]


def problems(job: Job, *, kind: str = "", after: int = 0, limit: int = 100) -> list[ImportedRow]:
    """Rows that are left out, in the file's order, from the one after number `after` on."""
    rows = ImportedRow.objects.filter(job=job, number__gt=after).order_by("number")
    return list((rows.filter(problem=kind) if kind else rows.exclude(problem=""))[:limit])


def unmapped_sentence(values: Sequence[Value]) -> str:
    """Which values stand for no label, how often, and where they come first."""
    listed = "; ".join(
        _("“%(value)s” %(n)s × (first in row %(row)s)") % {"value": value.shown, "n": value.count, "row": value.rows[0]}
        for value in values[:10]
    )
    more = _(" and %(n)s more") % {"n": len(values) - 10} if len(values) > 10 else ""
    said = ngettext(
        "%(n)s value of the file is no label: %(listed)s%(more)s. Say which label it stands for, or leave it out.",
        "%(n)s values of the file are no labels: %(listed)s%(more)s. Say which labels they stand for, or leave them "
        "out.",
        len(values),
    )
    return said % {"n": len(values), "listed": listed, "more": more}
