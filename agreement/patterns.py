"""Measured ratings counted by the database: which answers stand together on an item, and on how many items.

One grouped query for a question, in as many draws as are wanted; Django cannot group by an aggregate, so its outer part
is written here. Nothing is as large as the number of items but the database's own work.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Count, F, Func, Max, QuerySet, TextField, Value, When, Window
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, RowNumber

from annotations.models import Annotation, Draw, WaveItem
from projects.task_types import Json

# A column per rater is cheapest while they are few; beyond that a column per rating of an item.
MOST_COLUMNS = 12
# Items with more ratings than this, by many raters, show patterns that hardly repeat: their rows are read in order.
MOST_RATINGS = 10


class Answered(NamedTuple):
    """An item of a draw with its content, and what each member answered."""

    wave_item: int
    draw: int
    stratum: str
    content: Mapping[str, Json]
    answers: Mapping[int, Json]


# Draw, what each member answered (as JSON), stratum, and how many items show it.
Pattern = tuple[int, Mapping[int, str], str, int]


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


def measured_in(draws: Iterable[Draw]) -> QuerySet[Annotation]:
    """The measured ratings of several draws."""
    return Annotation.objects.filter(draw__in=[draw.pk for draw in draws], slot__isnull=False)


def of(draws: Sequence[Draw], key: str, people: Sequence[int], at: datetime) -> Iterator[Pattern]:
    """What `people` answered to the question `key`. Of an open draw only complete items are counted."""
    if len(people) <= MOST_COLUMNS:
        return _by_rater(draws, key, people, at)
    needed = WaveItem.objects.filter(draw__in=[draw.pk for draw in draws]).aggregate(most=Max("needed"))["most"]
    if needed <= MOST_RATINGS:
        return _by_place(draws, key, needed, at)
    return _streamed(draws, key, at)


def answers_by_item(draws: Sequence[Draw], key: str, at: datetime) -> Iterator[Answered]:
    """Item by item what each member answered: for answers that point into a text, which hardly ever repeat.

    One query, streamed. Of an open draw only complete items are given.
    """
    still_open = {draw.pk for draw in draws if draw.is_open}
    rows = measured_in(draws).order_by("wave_item_id", "pk").annotate(answer=AnswerText(key))
    fields = (
        "wave_item_id",
        "draw_id",
        "wave_item__stratum",
        "wave_item__needed",
        "window_ends",
        "member_id",
        "answer",
    )
    found = rows.values_list(*fields, "item__content").iterator(chunk_size=2000)
    for _, group in groupby(found, key=lambda row: row[0]):
        given = list(group)
        wave_item, draw, stratum, needed, *_rest, content = given[0]
        if draw in still_open and (len(given) < needed or max(row[4] for row in given) > at):
            continue
        answers = {member: json.loads(answer) for *_more, member, answer, _content in given if answer is not None}
        yield Answered(wave_item, draw, stratum, content, answers)


def _by_rater(draws: Sequence[Draw], key: str, people: Sequence[int], at: datetime) -> Iterator[Pattern]:
    """Ratings grouped by item, with a column for each of `people`."""
    names = [f"rater_{place}" for place in range(len(people))]
    columns = {
        name: Max(Case(When(member_id=member, then=AnswerText(key)), default=Value(None, TextField())))
        for name, member in zip(names, people, strict=True)
    }
    rows = measured_in(draws).order_by().values("draw_id", "wave_item_id").annotate(**columns)
    if any(draw.is_open for draw in draws):
        counted = rows.annotate(given=Count("pk"), needed=Max("wave_item__needed"), ends=Max("window_ends"))
        rows = counted.filter(given__gte=F("needed"), ends__lte=at)
    inner, params = rows.query.get_compiler(connection=connection).as_sql()
    for draw, *answers, stratum, items in _counted(draws, inner, params, names):
        given = {member: answer for member, answer in zip(people, answers, strict=True) if answer is not None}
        yield draw, given, stratum, items


def _by_place(draws: Sequence[Draw], key: str, needed: int, at: datetime) -> Iterator[Pattern]:
    """Ratings grouped by item, with a column for the first of its raters, the second, …, in a lasting order."""
    turn = Window(RowNumber(), partition_by=[F("wave_item_id")], order_by=F("member_id").asc())
    placed = measured_in(draws).order_by().annotate(place=turn, answer=AnswerText(key), needed=F("wave_item__needed"))
    fields = ("draw_id", "wave_item_id", "member_id", "place", "answer", "window_ends", "needed")
    inner, params = placed.values(*fields).query.get_compiler(connection=connection).as_sql()
    names = [name for place in range(1, needed + 1) for name in (f"member_{place}", f"answer_{place}")]
    columns = ", ".join(
        f"MAX(CASE WHEN place = {place} THEN member_id END) AS member_{place},"
        f" MAX(CASE WHEN place = {place} THEN answer END) AS answer_{place}"
        for place in range(1, needed + 1)
    )
    having = "HAVING COUNT(*) >= MAX(needed) AND MAX(window_ends) <= %s" if any(d.is_open for d in draws) else ""
    grouped = (
        f"SELECT draw_id, wave_item_id, {columns} FROM ({inner}) AS placed"  # noqa: S608 (no input in it)
        f" GROUP BY draw_id, wave_item_id {having}"
    )
    moment = [connection.ops.adapt_datetimefield_value(at)] if having else []
    for draw, *answers, stratum, items in _counted(draws, grouped, [*params, *moment], names):
        pairs = zip(answers[::2], answers[1::2], strict=True)
        yield draw, {member: answer for member, answer in pairs if answer is not None}, stratum, items


def _counted(draws: Sequence[Draw], items: str, params: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
    """How many rows of the query `items` show the same: (draw_id, *names, stratum, number)."""
    columns = ", ".join(["draw_id", *map(connection.ops.quote_name, names)])
    # Only where there are strata is each item looked up once more.
    strata = any(draw.protocol.get("strata_field") for draw in draws)
    table = connection.ops.quote_name(WaveItem._meta.db_table)
    found = f"({items}) AS items"
    sql = f"SELECT {columns}, '', COUNT(*) FROM {found} GROUP BY {columns}"  # noqa: S608 (only names made here)
    if strata:
        qualified = ", ".join(f"items.{name}" for name in ["draw_id", *map(connection.ops.quote_name, names)])
        sql = (
            f"SELECT {qualified}, known.stratum, COUNT(*) FROM {found}"  # noqa: S608 (only names made here)
            f" JOIN {table} AS known ON known.id = items.wave_item_id GROUP BY {qualified}, known.stratum"
        )
    # Django cannot group by an aggregate, so the outer query is written here.
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while part := cursor.fetchmany(1000):
            yield from part


def by_field(draw: Draw, key: str, field: str, at: datetime) -> Iterator[Pattern]:
    """As `of`, with the value of a metadata field of the item (as text, empty where it has none) as the stratum."""
    return _streamed([draw], key, at, part=Coalesce(KeyTextTransform(field, "item__metadata"), Value("", TextField())))


def by_item(draw: Draw, key: str, parts: Mapping[int, str], at: datetime) -> Iterator[Pattern]:
    """As `of`, with the part of each item (by its place in the wave) as the stratum; items without one are left out."""
    return (row for row in _streamed([draw], key, at, part_of=parts) if row[2])


def completions(draw: Draw) -> Iterator[tuple[int, datetime]]:
    """When each item of a closed draw was completed: when the last of its measured ratings first came in. Items with
    fewer than two are left out."""
    rows = measured_in([draw]).order_by().values("wave_item_id").annotate(given=Count("pk"), last=Max("submitted_at"))
    return rows.filter(given__gte=2).values_list("wave_item_id", "last").iterator(chunk_size=5000)


def _streamed(
    draws: Sequence[Draw], key: str, at: datetime, *, part: Any = None, part_of: Mapping[int, str] | None = None
) -> Iterator[Pattern]:
    still_open = {draw.pk for draw in draws if draw.is_open}
    rows = (
        measured_in(draws)
        .order_by("wave_item_id", "pk")
        .annotate(answer=AnswerText(key), part=F("wave_item__stratum") if part is None else part)
    )
    fields = (
        "wave_item_id",
        "draw_id",
        "part",
        "wave_item__needed",
        "window_ends",
        "member_id",
        "answer",
    )
    patterns: Counter[tuple[int, tuple[tuple[int, str], ...], str]] = Counter()
    for _, group in groupby(rows.values_list(*fields).iterator(chunk_size=5000), key=lambda row: row[0]):
        found = list(group)
        wave_item, draw, stratum, needed, *_rest = found[0]
        stratum = stratum if part_of is None else part_of.get(wave_item, "")
        if draw in still_open and (len(found) < needed or max(row[4] for row in found) > at):
            continue
        given = tuple(sorted((member, answer) for *_rest, member, answer in found if answer is not None))
        patterns[draw, given, stratum] += 1
    for (draw, given, stratum), items in patterns.items():
        yield draw, dict(given), stratum, items
