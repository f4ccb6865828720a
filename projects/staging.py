"""Rows of an uploaded file on their way to being items: checked, staged, compared, copied. All in chunks.

What the rows of one chunk are compared with is asked of the database once per chunk, so that memory and the time a
write lock is held depend on the chunk and never on the file.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import CharField, Lookup, Min, Q, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext as _

from projects import folding
from projects.enums import RowProblem, Standing
from projects.file_fields import Choice, shown_value
from projects.formats import Row
from projects.models import Batch, Item, Job, Project, StagedRow
from projects.task_types import Json

CHUNK_ROWS = 2_000
CHUNK_BYTES = 4 * 1024 * 1024

# Can be imported all the same, if the person who imports says so; the value is what the page suggests.
OPTIONAL: dict[RowProblem, bool] = {
    RowProblem.PARTLY_EMPTY: False,
    RowProblem.SAME_IN_PROJECT: False,
    RowProblem.SAME_IN_FILE: False,
    RowProblem.LIKE_IN_PROJECT: True,
    RowProblem.LIKE_IN_FILE: True,
}
USUAL: frozenset[RowProblem] = frozenset(problem for problem, usual in OPTIONAL.items() if usual)
_TAKEN = ["", *OPTIONAL]


@CharField.register_lookup
class Among(Lookup):
    """`field__among=[…]`: as `in`, but thousands of values are one parameter, which both databases take much faster."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        column, params = self.process_lhs(compiler, connection)
        # The column is quoted by the compiler, the values are a parameter.
        sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        return sql, [*params, json.dumps(list(self.rhs))]

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", [*params, list(self.rhs)]


@dataclass(slots=True)
class Candidate:
    """A row of the file, with what it would be as an item, or what is wrong with it."""

    number: int
    external_id: str = ""
    content: dict[str, str | int | float] | None = None
    metadata: dict[str, Json] = field(default_factory=dict)
    content_hash: str = ""
    folded_hash: str = ""
    problem: str = ""
    message: str = ""

    def reject(self, problem: RowProblem, message: str) -> None:
        self.problem, self.message = problem.value, message


def candidate(row: Row, choice: Choice) -> Candidate:
    """What `choice` makes of a row; problems that the row has by itself are found here."""
    made = Candidate(row.number)
    record = row.record
    if record is None:
        made.reject(RowProblem.UNREADABLE, row.problem or "")
        return made
    made.content = content = {name: shown_value(record.get(name)) for name in choice.shown}
    made.metadata = {name: record[name] for name in choice.metadata if record.get(name) is not None}
    if choice.id_field:
        _identify(made, record.get(choice.id_field), choice.id_field)
    blank = [name for name, value in content.items() if isinstance(value, str) and not value.strip()]
    if made.problem:
        return made
    if len(blank) == len(content):
        made.reject(RowProblem.EMPTY, _("“%(field)s” is empty, so there is nothing to label.") % {"field": blank[0]})
        return made
    made.content_hash, made.folded_hash = folding.content_hash(content), folding.folded_hash(content)
    if blank:
        made.reject(RowProblem.PARTLY_EMPTY, _("“%(field)s” is empty.") % {"field": "”, “".join(blank)})
    return made


def _identify(made: Candidate, value: Json, name: str) -> None:
    """Take over the id: a text, or a number as the text it is written as."""
    if isinstance(value, bool | dict | list):
        kind = {"bool": _("true or false"), "dict": _("an object"), "list": _("a list")}[type(value).__name__]
        made.reject(
            RowProblem.BAD_ID,
            _("“%(field)s” is %(kind)s: an id is a text or a number.") % {"field": name, "kind": kind},
        )
        return
    text = str(shown_value(value)).strip()
    if not text:
        made.reject(RowProblem.NO_ID, _("“%(field)s”, the id, is missing or empty.") % {"field": name})
    elif len(text) > 200:
        made.reject(
            RowProblem.BAD_ID,
            _("“%(field)s” has %(length)d characters: an id has 200 at most.") % {"field": name, "length": len(text)},
        )
    else:
        made.external_id = text


def chunks(rows: Iterable[Row], position: Callable[[], int]) -> Iterator[list[Row]]:
    """Cut `rows` by number, and earlier where the file's `position` says that they are long."""
    chunk: list[Row] = []
    begin = position()
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK_ROWS or position() - begin >= CHUNK_BYTES:
            yield chunk
            chunk, begin = [], position()
    if chunk:
        yield chunk


def find_repeats(job: Job, chunk: Sequence[Candidate], *, project: Project, compare_project: bool) -> None:
    """Mark the rows whose id or content the project has, or an earlier row of the file. Earlier chunks are staged.

    A row holds its id and its content against later ones if it can be imported at all.
    """
    fit = [row for row in chunk if row.problem in _TAKEN]
    if compare_project:
        _ids_in_project(project, fit)
    _ids_in_file(job, fit)
    fit = [row for row in fit if not row.problem]
    if compare_project:
        _content_in_project(project, fit)
    _content_in_file(job, [row for row in fit if row.problem in ("", RowProblem.LIKE_IN_PROJECT)], chunk)


# By hand, because without statistics SQLite prefers another index and reads the whole project for each chunk. The
# conditions are those of the constraint projects_item_external_id_once, whose index is wanted.
_KNOWN_IDS = {
    "sqlite": """
        SELECT item.external_id FROM json_each(%s) AS wanted CROSS JOIN projects_item AS item
         WHERE item.project_id = %s AND item.external_id = wanted.value
           AND item.standing = 'current' AND NOT (item.external_id = '')
    """,
    "postgresql": """
        SELECT external_id FROM projects_item
         WHERE external_id = ANY(%s) AND project_id = %s AND standing = 'current' AND NOT (external_id = '')
    """,
}


def _ids_in_project(project: Project, rows: Sequence[Candidate]) -> None:
    # Items of imports that still run count as well: the constraint does not know the difference.
    ids = _ids(rows)
    wanted = ids if connection.vendor == "postgresql" else json.dumps(ids)
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_IDS[connection.vendor], [wanted, project.pk])
        known = {external_id for (external_id,) in cursor}
    for row in rows:
        if row.external_id in known:
            message = _("The project has an item “%(id)s”.") % {"id": row.external_id}
            row.reject(RowProblem.ID_IN_PROJECT, message)


def _ids_in_file(job: Job, rows: Sequence[Candidate]) -> None:
    staged = StagedRow.objects.filter(job=job, problem__in=_TAKEN, external_id__among=_ids(rows))
    first = dict(staged.values_list("external_id").annotate(Min("number")))
    for row in rows:
        if row.problem in _TAKEN and row.external_id:
            earlier = first.setdefault(row.external_id, row.number)
            if earlier != row.number:
                message = _("Row %(row)d has the id “%(id)s” already.") % {"row": earlier, "id": row.external_id}
                row.reject(RowProblem.ID_IN_FILE, message)


def _ids(rows: Sequence[Candidate]) -> list[str]:
    return [row.external_id for row in rows if row.external_id]


def _content_in_project(project: Project, rows: Sequence[Candidate]) -> None:
    # The standing stands in an expression so that SQLite cannot take the index that begins with it (see above).
    standing = Concat("standing", Value(""))
    items = Item.objects.filter(project=project).alias(standing_is=standing).filter(standing_is=Standing.CURRENT.value)
    like = items.filter(folded_hash__among=[row.folded_hash for row in rows]).values_list("folded_hash")
    alike = dict(like.annotate(Min("external_id")))
    hits = [row for row in rows if row.folded_hash in alike]
    if not hits:
        return
    same = items.filter(
        folded_hash__among=[row.folded_hash for row in hits], content_hash__among=[row.content_hash for row in hits]
    )
    equal = dict(same.values_list("content_hash").annotate(Min("external_id")))
    for row in hits:
        exact = row.content_hash in equal
        known = equal[row.content_hash] if exact else alike[row.folded_hash]
        where = _("item “%(id)s” of the project") % {"id": known} if known else _("an item of the project")
        row.reject(RowProblem.SAME_IN_PROJECT if exact else RowProblem.LIKE_IN_PROJECT, _repeat(where, exact=exact))


def _repeat(where: str, *, exact: bool) -> str:
    if exact:
        return _("Exactly the content of %(where)s.") % {"where": where}
    return _("The content of %(where)s, apart from case or white space.") % {"where": where}


def _content_in_file(job: Job, rows: Sequence[Candidate], chunk: Sequence[Candidate]) -> None:
    staged = StagedRow.objects.filter(job=job, folded_hash__among=[row.folded_hash for row in rows])
    # Of a group of many variants only its first row and the exact matches are wanted.
    wanted = staged.filter(
        Q(problem="") | Q(problem__in=OPTIONAL, content_hash__among=[row.content_hash for row in rows])
    )
    same: dict[str, int] = {}
    like: dict[str, int] = {}
    for folded, content, number in wanted.values_list("folded_hash", "content_hash").annotate(Min("number")):
        same[content] = number
        like[folded] = min(number, like.get(folded, number))
    in_question = {id(row) for row in rows}
    for row in chunk:
        if id(row) in in_question and row.content_hash in same:
            where = _("row %(row)d") % {"row": same[row.content_hash]}
            row.reject(RowProblem.SAME_IN_FILE, _repeat(where, exact=True))
        elif id(row) in in_question and row.folded_hash in like and not row.problem:
            where = _("row %(row)d") % {"row": like[row.folded_hash]}
            row.reject(RowProblem.LIKE_IN_FILE, _repeat(where, exact=False))
        if row.content_hash and row.problem in _TAKEN:
            same.setdefault(row.content_hash, row.number)
            like.setdefault(row.folded_hash, row.number)


# One encoder for all rows: json.dumps makes a new one for each call with options.
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_INSERT = (
    "INSERT INTO projects_stagedrow "
    "(job_id, number, external_id, content, metadata, content_hash, folded_hash, problem, message) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_COPY_IN = (
    "COPY projects_stagedrow "
    "(job_id, number, external_id, content, metadata, content_hash, folded_hash, problem, message) FROM STDIN"
)


def write(job: Job, chunk: Sequence[Candidate]) -> None:
    """Stage a chunk. Past the ORM, whose objects would cost more than reading and hashing the row."""
    rows = (
        (
            job.pk,
            row.number,
            row.external_id,
            None if row.content is None else _json(row.content),
            _json(row.metadata),
            row.content_hash,
            row.folded_hash,
            row.problem,
            row.message,
        )
        for row in chunk
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(_COPY_IN) as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            cursor.executemany(_INSERT, list(rows))


# A random version-4 UUID made by the database itself; SQLite keeps it as 32 hexadecimal digits.
_UUID = {
    "postgresql": "gen_random_uuid()",
    "sqlite": "lower(hex(randomblob(6)) || '4' || substr(hex(randomblob(2)), 2)"
    " || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || hex(randomblob(6)))",
}
# What another import brought in since the preview is left out by the constraint on ids.
_COPY = """
    INSERT INTO projects_item (uuid, project_id, batch_id, number, external_id, content, metadata,
                               content_hash, folded_hash, standing, created_at)
    SELECT <uuid>, %s, %s, number, external_id, content, metadata, content_hash, folded_hash, 'current', %s
      FROM projects_stagedrow
     WHERE job_id = %s AND number > %s AND number <= %s AND problem IN (%s, %s, %s, %s, %s, %s)
     ORDER BY number
        ON CONFLICT DO NOTHING
"""


def copy(job: Job, batch: Batch, *, after: int, until: int, also: Collection[str], at: datetime) -> None:
    """Make items of the staged rows of `job` whose numbers are in (after, until]: the good ones and those in `also`."""
    kinds = ["", *(problem.value for problem in OPTIONAL if problem in also)]
    kinds += [""] * (1 + len(OPTIONAL) - len(kinds))
    moment = connection.ops.adapt_datetimefield_value(at)
    with connection.cursor() as cursor:
        cursor.execute(
            _COPY.replace("<uuid>", _UUID[connection.vendor]),
            [batch.project_id, batch.pk, moment, job.pk, after, until, *kinds],
        )


def importable(job: Job, also: Collection[str]) -> Any:
    """The staged rows that would be imported, in the file's order."""
    return StagedRow.objects.filter(job=job, problem__in=["", *also]).order_by("number")


def with_problem(job: Job, kind: str = "") -> Any:
    """The staged rows with a problem (of one kind), in the file's order."""
    rows = StagedRow.objects.filter(job=job).order_by("number")
    return rows.filter(problem=kind) if kind else rows.exclude(problem="")


def clear(job: Job) -> None:
    """Delete what is staged for `job`, in short transactions; may be repeated."""
    _delete_in_chunks(lambda: StagedRow.objects.filter(job=job))


def remove_unfinished(batch: Batch) -> None:
    """Delete a batch that never became ready, with its items: nobody has seen them, so nothing points to them."""
    if batch.ready:
        raise ValueError(f"Batch {batch.uuid} is in use.")
    _delete_in_chunks(lambda: Item.objects.filter(batch=batch, batch__ready=False))
    batch.delete()


def _delete_in_chunks(rows: Callable[[], Any]) -> None:
    while pks := list(rows().order_by("pk").values_list("pk", flat=True)[:CHUNK_ROWS]):
        rows().filter(pk__gte=pks[0], pk__lte=pks[-1]).delete()
