"""Rows of an upload whose id or content was there before: in the project, or in an earlier row of the file.

With the project a chunk of rows is compared as it is read, in two queries. With the file they are compared when all
are staged, in one pass that the database sorts: an index that holds every id and every hash as it comes would cost
more than all the rest of the reading.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import CharField, F, Lookup, Min, Value, Window
from django.db.models.functions import Concat
from django.utils.translation import gettext as _

from projects import jobs, staging
from projects.candidates import Candidate
from projects.enums import RowProblem, Standing
from projects.models import Item, Job, Project, StagedRow

_TAKEN = ["", *staging.OPTIONAL]


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


# -- in the project ----------------------------------------------------------------------------------------------------


def mark_in_project(project: Project, chunk: Sequence[Candidate]) -> None:
    """Mark the rows of `chunk` whose id or content an item of `project` has."""
    _ids_in_project(project, [row for row in chunk if row.external_id and row.problem in _TAKEN])
    _content_in_project(project, [row for row in chunk if not row.problem])


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
    ids = [row.external_id for row in rows]
    wanted = ids if connection.vendor == "postgresql" else json.dumps(ids)
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_IDS[connection.vendor], [wanted, project.pk])
        known = {external_id for (external_id,) in cursor}
    for row in rows:
        if row.external_id in known:
            message = _("The project has an item “%(id)s”.") % {"id": row.external_id}
            row.reject(RowProblem.ID_IN_PROJECT, message)


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


# -- in the file -------------------------------------------------------------------------------------------------------

# (number, problem before, problem now, its sentence)
_Mark = tuple[int, str, str, str]


def mark_in_file(job: Job) -> Counter[str]:
    """Mark the staged rows whose id or content an earlier row has; by how much that changes the count of each problem.

    A row holds its id and its content against later ones if it can be imported at all. Begun anew it does the same.
    """
    changes: Counter[str] = Counter()
    # Ids first: a row that repeats one cannot be imported, and no longer holds its content against others.
    for found in (_ids_in_file(job), _content_in_file(job)):
        for part in _parts(found):
            with transaction.atomic():
                jobs.hold(job)
                _write_marks(job, part)
            for _number, before, now, _message in part:
                changes[before] -= 1
                changes[now] += 1
    return changes


def _ids_in_file(job: Job) -> Iterator[_Mark]:
    rows = StagedRow.objects.filter(job=job, problem__in=_TAKEN).exclude(external_id="")
    rows = rows.annotate(first=Window(Min("number"), partition_by="external_id")).filter(first__lt=F("number"))
    for number, problem, first, external_id in rows.values_list("number", "problem", "first", "external_id").iterator():
        message = _("Row %(row)d has the id “%(id)s” already.") % {"row": first, "id": external_id}
        yield number, problem, RowProblem.ID_IN_FILE.value, message


def _content_in_file(job: Job) -> Iterator[_Mark]:
    rows = (
        StagedRow.objects.filter(job=job, problem__in=["", RowProblem.LIKE_IN_PROJECT])
        .annotate(
            like=Window(Min("number"), partition_by="folded_hash"),
            same=Window(Min("number"), partition_by=["folded_hash", "content_hash"]),
        )
        .filter(like__lt=F("number"))
    )
    for number, problem, like, same in rows.values_list("number", "problem", "like", "same").iterator():
        exact = same < number
        if exact or not problem:
            message = _repeat(_("row %(row)d") % {"row": same if exact else like}, exact=exact)
            now = RowProblem.SAME_IN_FILE if exact else RowProblem.LIKE_IN_FILE
            yield number, problem, now.value, message


def _parts(marks: Iterable[_Mark]) -> Iterator[list[_Mark]]:
    part: list[_Mark] = []
    for mark in marks:
        part.append(mark)
        if len(part) == staging.CHUNK_ROWS:
            yield part
            part = []
    if part:
        yield part


def _write_marks(job: Job, marks: Sequence[_Mark]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE projects_stagedrow SET problem = %s, message = %s WHERE job_id = %s AND number = %s",
            [(now, message, job.pk, number) for number, _before, now, message in marks],
        )
