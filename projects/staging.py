"""Rows of an uploaded file on their way to being items: staged, copied, cleared. All in chunks.

Memory, and the time that a write lock is held, depend on the chunk and never on the file.
"""

import dataclasses
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

from django.db import IntegrityError, connection, transaction
from django.db.models import Max, Min

from projects import jobs
from projects.candidates import Candidate
from projects.enums import RowProblem
from projects.models import Batch, Item, Job, StagedRow

T = TypeVar("T")

CHUNK_ROWS = 2_000
CHUNK_BYTES = 4 * 1024 * 1024
MOVED_ROWS = 5_000

# Can be imported all the same, if the person who imports says so; the value is what the page suggests.
OPTIONAL: dict[RowProblem, bool] = {
    RowProblem.PARTLY_EMPTY: False,
    RowProblem.SAME_IN_PROJECT: False,
    RowProblem.SAME_IN_FILE: False,
    RowProblem.LIKE_IN_PROJECT: True,
    RowProblem.LIKE_IN_FILE: True,
}
USUAL: frozenset[RowProblem] = frozenset(problem for problem, usual in OPTIONAL.items() if usual)


def chunks(rows: Iterable[T], position: Callable[[], int]) -> Iterator[list[T]]:
    """Cut `rows` by number, and earlier where the file's `position` says that they are long."""
    chunk: list[T] = []
    begin = position()
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK_ROWS or position() - begin >= CHUNK_BYTES:
            yield chunk
            chunk, begin = [], position()
    if chunk:
        yield chunk


_INTO = (
    "projects_stagedrow (number, external_id, content, metadata, content_hash, folded_hash, problem, message, job_id)"
)
_INSERT = f"INSERT INTO {_INTO} VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608  - a constant
_COPY_IN = f"COPY {_INTO} FROM STDIN"
_SPECIAL = re.compile(r"[\\\t\n\r]")
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_values = attrgetter(*(field.name for field in dataclasses.fields(Candidate)))


class Writer(AbstractContextManager["Writer"]):
    """Stages chunks past the ORM, whose objects would cost more than reading and hashing the rows.

    PostgreSQL stores a chunk while the next one is being read. `settle` waits until it is committed: to be called
    before anything else is asked of the database.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._unsettled = ExitStack()

    def __exit__(self, *error: Any) -> None:
        self._unsettled.__exit__(*error)

    def write(self, chunk: Sequence[Candidate]) -> None:
        """Stage `chunk` in a transaction of its own; raises Interrupted when the job is no longer this runner's."""
        self.settle()
        self._unsettled.enter_context(transaction.atomic())
        jobs.hold(self._job)
        cursor = self._unsettled.enter_context(connection.cursor())
        if connection.vendor == "postgresql":
            copy = self._unsettled.enter_context(cursor.copy(_COPY_IN))
            copy.write("".join([_line(row, self._job.pk) for row in chunk]))
        else:
            cursor.executemany(_INSERT, [(*_values(row), self._job.pk) for row in chunk])
            self.settle()  # nobody else may write until then

    def settle(self) -> None:
        self._unsettled.close()


def _line(row: Candidate, job: int) -> str:
    """A row as COPY takes it: written in one piece, which costs half of what the driver takes value by value."""
    content = r"\N" if row.content is None else row.content.replace("\\", r"\\")  # JSON has no other sign to escape
    metadata = row.metadata.replace("\\", r"\\")
    message = _escaped(row.message) if row.message else ""
    named = f"{row.number}\t{_escaped(row.external_id)}\t{content}\t{metadata}"
    return f"{named}\t{row.content_hash}\t{row.folded_hash}\t{row.problem}\t{message}\t{job}\n"


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _SPECIAL.search(text) else text


# A UUID of version 7, made by the database itself; SQLite keeps it as 32 hexadecimal digits. It begins with the time,
# so that the rows of a chunk stand side by side in its index; the other 74 bits are random.
_UUID = {
    "postgresql": "overlay(gen_random_uuid()::text placing %s from 1 for 15)::uuid",
    "sqlite": "replace(%s, '-', '') || lower(substr(hex(randomblob(2)), 2) || substr('89ab', 1 + (random() & 3), 1)"
    " || substr(hex(randomblob(8)), 2))",
}
_COPY = """
    INSERT INTO projects_item (uuid, project_id, batch_id, number, external_id, content, metadata,
                               content_hash, folded_hash, standing, created_at)
    SELECT <uuid>, %s, %s, number, external_id, content, metadata, content_hash, folded_hash, 'current', %s
      FROM projects_stagedrow
     WHERE job_id = %s AND number > %s AND number <= %s AND problem IN (%s, %s, %s, %s, %s, %s)
     ORDER BY number
"""


def move(job: Job, batch: Batch, *, after: int, until: int, also: Collection[str], at: datetime) -> None:
    """Make items of the staged rows of `job` whose numbers are in (after, until]: the good ones and those in `also`.

    The staged ones are deleted, also those that make no item. The caller holds the transaction.
    """
    kinds = ["", *(problem.value for problem in OPTIONAL if problem in also)]
    kinds += [""] * (1 + len(OPTIONAL) - len(kinds))
    moment = connection.ops.adapt_datetimefield_value(at)
    sql = _COPY.replace("<uuid>", _UUID[connection.vendor])
    values = [_uuid_prefix(), batch.project_id, batch.pk, moment, job.pk, after, until, *kinds]
    with connection.cursor() as cursor:
        try:
            with transaction.atomic():
                cursor.execute(sql, values)
        except IntegrityError:
            # Another import has brought in some of these ids since the preview: the constraint on them leaves those
            # out. Only now, because a row that may conflict costs PostgreSQL a quarter more.
            cursor.execute(f"{sql} ON CONFLICT DO NOTHING", values)
        cursor.execute(_DELETE, [job.pk, after, until])


@contextmanager
def unhurried() -> Iterator[None]:
    """Within, a commit does not wait for the disk: after a power cut the last ones may be gone, each whole, in order.

    An import can go on from wherever it then stands. The first commit behind it waits for all that came before.
    """
    if connection.in_atomic_block:
        yield  # only the caller's own commit counts
        return
    begin, end = _UNHURRIED[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(begin)
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute(end)


_UNHURRIED = {
    "postgresql": ("SET synchronous_commit = off", "RESET synchronous_commit"),
    "sqlite": ("PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"),
}
_DELETE = "DELETE FROM projects_stagedrow WHERE job_id = %s AND number > %s AND number <= %s"


def _uuid_prefix() -> str:
    """The first 13 digits of a UUID of version 7: milliseconds since 1970, and the version."""
    moment = f"{time.time_ns() // 1_000_000:012x}"
    return f"{moment[:8]}-{moment[8:]}-7"


def importable(job: Job, also: Collection[str]) -> Any:
    """The staged rows that would be imported, in the file's order."""
    return StagedRow.objects.filter(job=job, problem__in=["", *also]).order_by("number")


def with_problem(job: Job, kind: str = "") -> Any:
    """The staged rows with a problem (of one kind), in the file's order."""
    rows = StagedRow.objects.filter(job=job).order_by("number")
    return rows.filter(problem=kind) if kind else rows.exclude(problem="")


def clear(job: Job) -> None:
    """Delete what is staged for `job`, in short transactions; may be repeated."""
    rows = StagedRow.objects.filter(job=job).aggregate(first=Min("number"), last=Max("number"))
    with connection.cursor() as cursor:
        for begin in range((rows["first"] or 1) - 1, rows["last"] or 0, CHUNK_ROWS):
            cursor.execute(_DELETE, [job.pk, begin, begin + CHUNK_ROWS])


def remove_unfinished(batch: Batch) -> None:
    """Delete a batch that never became ready, with its items: nobody has seen them, so nothing points to them."""
    if batch.ready:
        raise ValueError(f"Batch {batch.uuid} is in use.")
    rows = Item.objects.filter(batch=batch, batch__ready=False)
    while pks := list(rows.order_by("pk").values_list("pk", flat=True)[:CHUNK_ROWS]):
        rows.filter(pk__gte=pks[0], pk__lte=pks[-1]).delete()
    batch.delete()
