"""Rows -> rating patterns: the only bridge from the tables to the kernel.

A draw and a question become one table of distinct rating patterns with the number of items that show each. The
database does the counting, in one grouped query, so that a draw of a million ratings costs no more memory than a
small one. Ratings are matched by item and member, never by position.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Case, Count, F, Func, Max, QuerySet, TextField, Value, When

from agreement.coefficients.ratings import MISSING, Ratings
from annotations.models import Annotation, Draw, WaveItem
from projects.models import Label, Membership, Question

logger = logging.getLogger(__name__)

# A column per rater is cheapest while they are few; beyond that rows are read in the order of their items.
MOST_COLUMNS = 12

# DESIGN §3 "Share": each stratum of a proportional draw is within three items of its share.
PROPORTIONAL = 3

Row = tuple[tuple[str | None, ...], str, int]


class AnswerText(Func):
    """The answer to one question as JSON text, NULL where it was left out: "1" and 1 stay two answers."""

    output_field = TextField()

    def __init__(self, question_key: str) -> None:
        super().__init__(F("answers"))
        self.question_key = question_key

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, tuple[Any, ...]]:
        column, params = compiler.compile(self.source_expressions[0])
        # ->> and -> came with SQLite 3.38, which is newer than some systems have.
        return f"NULLIF(JSON_QUOTE(JSON_EXTRACT({column}, %s)), 'null')", (*params, f'$."{self.question_key}"')

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, tuple[Any, ...]]:
        column, params = compiler.compile(self.source_expressions[0])
        return f"NULLIF(({column} -> %s)::text, 'null')", (*params, self.question_key)


@dataclass(frozen=True)
class Matrix:
    """The measured ratings of a draw on one question.

    `unknown` counts values that the version does not declare: they are an error and are compared with nothing.
    """

    question: Question
    labels: tuple[Label, ...]
    raters: tuple[Membership, ...]
    ratings: Ratings
    strata: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()

    def in_stratum(self, place: int) -> Ratings:
        """The ratings of one stratum, as ratings of their own."""
        ratings = self.ratings
        if ratings.strata is None:
            raise ValueError("This draw has no strata.")
        mask = ratings.strata == place
        return Ratings(ratings.codes[mask], ratings.weights[mask], ratings.labels, ratings.raters, ratings.values)


def measured(draw: Draw) -> QuerySet[Annotation]:
    """The measured ratings of a draw; surplus has no slot."""
    return Annotation.objects.filter(draw=draw, slot__isnull=False)


def pooled(parts: Sequence[Matrix]) -> Ratings:
    """The ratings of several draws as one table: people are matched by who they are, draw x stratum are the strata."""
    names = sorted({name for part in parts for name in part.ratings.raters})
    codes, weights, strata, first = [], [], [], 0
    for part in parts:
        table = part.ratings
        wide = np.full((len(table.weights), len(names)), MISSING, dtype=np.int64)
        wide[:, [names.index(name) for name in table.raters]] = table.codes
        within = np.zeros(len(table.weights), dtype=np.int64) if table.strata is None else table.strata
        codes.append(wide)
        weights.append(table.weights)
        strata.append(within + first)
        first += max(1, len(part.strata))
    labels, values = parts[0].ratings.labels, parts[0].ratings.values
    return Ratings(np.concatenate(codes), np.concatenate(weights), labels, tuple(names), values, np.concatenate(strata))


def questions(draw: Draw) -> list[Question]:
    """The questions of the version under which the draw was opened; one MAJOR has one label set."""
    return list(draw.wave.version.questions.prefetch_related("labels"))


def raters(draw: Draw) -> tuple[Membership, ...]:
    """Who has a measured rating in the draw, in a lasting order."""
    rows = Membership.objects.filter(pk__in=measured(draw).values("member"))
    return tuple(rows.select_related("user").order_by("pk"))


def of(draw: Draw, question: Question, *, by: Sequence[Membership], at: datetime) -> Matrix:
    """The pattern table of `question`, with a column for each of `by` (see `raters`).

    While the draw is open only complete items are in it: all their ratings are given and their windows have ended.
    Of a closed draw everything measured is, and a coefficient takes the pairs or items it can use.
    """
    rows = _grouped(draw, question.key, by, at) if len(by) <= MOST_COLUMNS else _streamed(draw, question.key, by, at)
    labels = tuple(question.labels.all())
    return of_rows(draw, question, labels, tuple(by), rows, stratum_sizes(draw))


def _items(draw: Draw, at: datetime) -> QuerySet[Annotation, Any]:
    """Measured ratings grouped by item, complete ones only while the draw is open."""
    rows = measured(draw).order_by().values("wave_item_id", stratum=F("wave_item__stratum"))
    if not draw.is_open:
        return rows
    return rows.annotate(given=Count("pk"), needed=Max("wave_item__needed"), ends=Max("window_ends")).filter(
        given__gte=F("needed"), ends__lte=at
    )


def _grouped(draw: Draw, key: str, by: Sequence[Membership], at: datetime) -> Iterator[Row]:
    names = [f"rater_{place}" for place in range(len(by))]
    columns = {
        name: Max(Case(When(member_id=member.pk, then=AnswerText(key)), default=Value(None, TextField())))
        for name, member in zip(names, by, strict=True)
    }
    inner, params = _items(draw, at).annotate(**columns).query.get_compiler(connection=connection).as_sql()
    chosen = ", ".join([*map(connection.ops.quote_name, names), connection.ops.quote_name("stratum")])
    # Django cannot group by an aggregate, so the outer query is written here; only names made above go into it.
    sql = f"SELECT {chosen}, COUNT(*) FROM ({inner}) AS items GROUP BY {chosen}"  # noqa: S608 (no input in it)
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        for *answers, stratum, items in cursor.fetchall():
            yield tuple(answers), stratum, items


def _streamed(draw: Draw, key: str, by: Sequence[Membership], at: datetime) -> Iterator[Row]:
    place = {member.pk: i for i, member in enumerate(by)}
    rows = measured(draw).order_by("wave_item_id", "pk").annotate(answer=AnswerText(key))
    fields = ("wave_item_id", "wave_item__stratum", "wave_item__needed", "window_ends", "member_id", "answer")
    patterns: Counter[tuple[tuple[str | None, ...], str]] = Counter()
    for _, group in groupby(rows.values_list(*fields).iterator(chunk_size=5000), key=lambda row: row[0]):
        found = list(group)
        if draw.is_open and (len(found) < found[0][2] or max(row[3] for row in found) > at):
            continue
        pattern: list[str | None] = [None] * len(by)
        for *_rest, member, answer in found:
            pattern[place[member]] = answer
        patterns[tuple(pattern), found[0][1]] += 1
    for (answers, stratum), items in patterns.items():
        yield answers, stratum, items


def of_rows(
    draw: Draw,
    question: Question,
    labels: tuple[Label, ...],
    by: tuple[Membership, ...],
    rows: Iterable[Row],
    sizes: Mapping[str, tuple[int, int]],
) -> Matrix:
    """The pattern table of rows: what each of `by` answered (as JSON), the stratum, and how many items show it.

    Asks no database: the recompute kit makes its tables of a file here. `sizes` as `stratum_sizes` has them.
    """
    code_of = {label.key: place for place, label in enumerate(labels)}
    place_of = {stratum: place for place, stratum in enumerate(sizes)}
    unknown: Counter[str] = Counter()
    codes, weights, strata = [], [], []
    for answers, stratum, items in rows:
        pattern = [_code(answer, code_of, unknown, items) for answer in answers]
        if any(code != MISSING for code in pattern):
            codes.append(pattern)
            weights.append(items)
            strata.append(place_of.get(stratum, 0))
    if unknown:
        logger.error("Draw %s, question %s: values that are no label: %s", draw.uuid, question.key, dict(unknown))
    ratings = Ratings(
        np.array(codes, dtype=np.int64).reshape(len(codes), len(by)),
        np.array(weights, dtype=np.float64),
        tuple(label.key for label in labels),
        raters=tuple(str(member.uuid) for member in by),
        values=_values(labels),
        strata=np.array(strata, dtype=np.int64) if sizes else None,
        populations=_populations(sizes),
    ).merged()
    return Matrix(question, labels, by, ratings, tuple(sizes), tuple(sorted(unknown.items())))


def _code(answer: str | None, code_of: dict[str, int], unknown: Counter[str], items: int) -> int:
    if answer is None:
        return MISSING
    value = json.loads(answer)
    code = code_of.get(value, MISSING) if isinstance(value, str) else MISSING
    if code == MISSING:
        unknown[answer] += items
    return code


def _values(labels: Sequence[Label]) -> tuple[float, ...] | None:
    values = [label.value for label in labels if label.value is not None]
    return tuple(values) if len(values) == len(labels) and values else None


def stratum_sizes(draw: Draw) -> dict[str, tuple[int, int]]:
    """Stratum -> (items in the wave, items drawn), in alphabetical order; empty where the draw has no strata."""
    if not draw.protocol.get("strata_field"):
        return {}
    rows = WaveItem.objects.filter(wave_id=draw.wave_id).order_by("stratum").values("stratum")
    counted = rows.annotate(items=Count("pk"), drawn=Count("draw"))
    return {row["stratum"]: (row["items"], row["drawn"]) for row in counted}


def _populations(sizes: Mapping[str, tuple[int, int]]) -> tuple[float, ...] | None:
    """The size of each stratum where they were drawn at unequal rates, so that figures are also weighted to it.

    A proportional draw is within three items of its share in each stratum; that is no reason to weight.
    """
    items, drawn = (sum(column) for column in zip(*sizes.values(), strict=True)) if sizes else (0, 0)
    if not any(abs(took - drawn * held / items) > PROPORTIONAL for held, took in sizes.values()):
        return None
    return tuple(float(held) for held, _ in sizes.values())
