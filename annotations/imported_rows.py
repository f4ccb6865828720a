"""A file of ratings on its way to being a wave: read into rows, put together by item, checked. All in chunks.

The rows of an item may stand anywhere in the file, so they find each other in the database: by `key`, a hash of the id
or, without ids, of the text. The first good row of an item is its `head`; from then on items are read in the order in
which the file names them.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Max, Min, OuterRef, Subquery
from django.utils.translation import gettext as _

from annotations import imported_items, rating_layouts, rating_values
from annotations.enums import RatingProblem
from annotations.imported_items import Group
from annotations.models import ImportedRow
from annotations.rating_layouts import LONG, Layout, RowError
from projects import importing, jobs, staging
from projects.candidates import candidate
from projects.enums import RowProblem
from projects.errors import DomainError
from projects.file_fields import Choice
from projects.formats import FORMATS, Row
from projects.models import GuidelineVersion, Job, Question
from projects.task_types import TASK_TYPES, Json

CHUNK_ROWS = 1_000
CHUNK_WHOLE = 50  # rows that hold all ratings of their item
MOST_VALUES = 200  # different values of one question
MOST_RATERS = 10_000  # more different names are no raters
FIRST_ROWS = 3  # named with each value
LEVELS = ("nominal", "ordinal", "multilabel")


def questions(version: GuidelineVersion) -> dict[str, Question]:
    """The questions of a version that are answered by a label or a set of labels, by key."""
    found = version.questions.prefetch_related("labels")
    return {one.key: one for one in found if TASK_TYPES[one.task_type].level in LEVELS and one.labels.all()}


def questions_of(job: Job) -> dict[str, Question]:
    """The questions that the ratings of `job` (of either kind) answer, as its version asks them."""
    version = GuidelineVersion.objects.filter(uuid=job.params["version"], project=job.project_id).first()
    return questions(version) if version else {}


def check(job: Job) -> None:
    """The runner of RATINGS_PREVIEW: read the file, put it together, check it. Begins anew each time."""
    clear(job)
    project, layout = job.project, Layout.of(job.params["layout"])
    if project is None:
        raise DomainError(_("The project of this import is gone."))
    read = _read(job, layout)
    _find_heads(job)
    tally = Tally()
    for chunk in groups(job, size=chunk_size(layout)):
        with transaction.atomic():
            jobs.hold(job)
            _mark(imported_items.flaws(chunk, project, layout))
        tally.count(chunk)
        jobs.progress(job, read, None, _("%(items)d items put together") % {"items": tally.items})
        jobs.give_way()
    counts = ImportedRow.objects.filter(job=job).exclude(problem="").values_list("problem").annotate(Count("pk"))
    job.result = tally.result() | {"rows": read, "counts": dict(counts.order_by())}
    job.done, job.total = read, read


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(job: Job, layout: Layout) -> int:
    """Write the rows of the file down, with the problems that each has by itself; how many there are."""
    sets = {key: rating_layouts.takes_sets(question) for key, question in questions_of(job).items()}
    total, done = job.file.size, 0
    with job.file.open("rb") as stream, importing.refusing_unreadable():
        read = FORMATS[job.params["format"]].read(stream)
        # Row by row, so that a record is gone before the next one is read.
        for rows in staging.chunks((_row(job, row, layout, sets) for row in read), stream.tell):
            with transaction.atomic():
                jobs.hold(job)
                _write(rows)
            done += len(rows)
            jobs.progress(job, stream.tell(), total, _("%(rows)d rows read") % {"rows": done})
            jobs.give_way()
    return done


def _row(job: Job, row: Row, layout: Layout, sets: Mapping[str, bool]) -> ImportedRow:
    """A row to be written; its content and metadata are JSON texts already."""
    # Without a shown field the id stands for the item, which the project has to have.
    choice = Choice(layout.shown or (layout.id_field,), layout.id_field, layout.metadata)
    made = candidate(row, choice)
    kept = ImportedRow(job=job, number=row.number, external_id=made.external_id)
    empty = made.problem == RowProblem.EMPTY or not layout.shown
    if made.problem not in ("", RowProblem.PARTLY_EMPTY) and not (empty and made.external_id):
        kept.problem, kept.message = RatingProblem(made.problem).value, made.message
        return kept
    kept.metadata = made.metadata
    if not empty:
        kept.content, kept.content_hash, kept.folded_hash = made.content, made.content_hash, made.folded_hash
    named = f"id {made.external_id}" if made.external_id else f"text {made.content_hash}"
    kept.key = hashlib.sha256(named.encode()).hexdigest()
    try:
        kept.ratings = rating_layouts.ratings(row.record or {}, layout, sets=sets)
    except RowError as error:
        kept.problem, kept.message = error.problem.value, error.message
    return kept


_COLUMNS = (
    "job_id, number, key, external_id, content, metadata, content_hash, folded_hash, ratings, head, problem, message"
)
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _write(rows: Iterable[ImportedRow]) -> None:
    """Past the ORM, whose statements would cost more than reading the rows."""
    values = (
        (
            row.job_id,
            row.number,
            row.key,
            row.external_id,
            row.content,
            row.metadata or "{}",
            row.content_hash,
            row.folded_hash,
            _json(row.ratings),
            None,
            row.problem,
            row.message,
        )
        for row in rows
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY annotations_importedrow ({_COLUMNS}) FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * 12)
            insert = f"INSERT INTO annotations_importedrow ({_COLUMNS}) VALUES ({places})"  # noqa: S608 (no input in it)
            cursor.executemany(insert, list(values))


def clear(job: Job) -> None:
    """Delete what was read for `job`, in short transactions; may be repeated."""
    rows = ImportedRow.objects.filter(job=job)
    while numbers := list(rows.order_by("number").values_list("number", flat=True)[:CHUNK_ROWS]):
        rows.filter(number__lte=numbers[-1]).delete()


# -- putting together --------------------------------------------------------------------------------------------------


def _find_heads(job: Job) -> None:
    """Let every good row know the first one of its item."""
    rows = ImportedRow.objects.filter(job=job, problem="")
    same = ImportedRow.objects.filter(job=job, problem="", key=OuterRef("key")).order_by()
    first = Subquery(same.values("key").annotate(first=Min("number")).values("first"))
    last = rows.aggregate(last=Max("number"))["last"] or 0
    for begin in range(0, last, CHUNK_ROWS):
        with transaction.atomic():
            jobs.hold(job)
            rows.filter(number__gt=begin, number__lte=begin + CHUNK_ROWS).update(head=first)
        jobs.give_way()


def chunk_size(layout: Layout) -> int:
    """How many rows of the file are worked on at a time: about a thousand ratings."""
    return CHUNK_ROWS if layout.shape == LONG else CHUNK_WHOLE


def groups(job: Job, *, size: int, after: int = 0) -> Iterator[list[Group]]:
    """The items of a file from the one after head `after` on, about `size` rows at a time and never half an item."""
    rows = ImportedRow.objects.filter(job=job, problem="", head__isnull=False).order_by("head", "number")
    while chunk := list(rows.filter(head__gt=after)[:size]):
        last = chunk[-1].head or 0
        if len(chunk) == size:
            whole = [row for row in chunk if row.head != last]
            # The last item may go on; if it is the only one, it is read to its end.
            chunk = whole or list(rows.filter(head=last))
        after = chunk[-1].head or 0
        found: dict[int, list[ImportedRow]] = {}
        for row in chunk:
            found.setdefault(row.head or 0, []).append(row)
        yield [Group(rows_of) for rows_of in found.values()]


@dataclass
class Tally:
    """What the good rows hold, counted as they go by."""

    items: int = 0
    unrated: int = 0
    overlap: int = 0
    ratings: int = 0
    raters: dict[str, int] = field(default_factory=dict)
    values: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

    def count(self, chunk: Iterable[Group]) -> None:
        for group in chunk:
            given = len(group.given)
            self.items += given > 0
            self.unrated += not given and bool(group.good)
            self.overlap += given > 1
            self.ratings += given
            for row in group.good:
                for rater, answers, _comment in row.ratings:
                    if rater is not None:
                        self.raters[rater] = self.raters.get(rater, 0) + 1
                    self._count_values(answers, row.number)
                if len(self.raters) > MOST_RATERS:
                    raise DomainError(
                        _("More than %(most)d different raters up to row %(row)d: that is no field of raters.")
                        % {"most": MOST_RATERS, "row": row.number},
                        code="too_many_raters",
                    )

    def _count_values(self, answers: Mapping[str, Json], number: int) -> None:
        for key, raw in answers.items():
            known = self.values.setdefault(key, {})
            for part in rating_values.parts(raw):
                entry = known.setdefault(rating_values.token(part), [part, 0, []])
                entry[1] += 1
                if len(entry[2]) < FIRST_ROWS:
                    entry[2].append(number)
            if len(known) > MOST_VALUES:
                raise DomainError(
                    _(
                        "The ratings of “%(key)s” have more than %(most)d different values, up to row %(row)d: that "
                        "is no field of labels. Choose another one."
                    )
                    % {"key": key, "most": MOST_VALUES, "row": number},
                    code="too_many_values",
                )

    def result(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "unrated": self.unrated,
            "overlap": self.overlap,
            "ratings": self.ratings,
            "raters": list(self.raters.items()),  # PostgreSQL keeps no order of keys
            "values": {key: list(entries.values()) for key, entries in self.values.items()},
        }


def _mark(changed: Sequence[ImportedRow]) -> None:
    unique = list({row.pk: row for row in changed}.values())
    fields = ["problem", "message", "content", "metadata", "content_hash", "folded_hash"]
    ImportedRow.objects.bulk_update(unique, fields, batch_size=100)
