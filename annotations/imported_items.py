"""The items of a file of ratings: the rows that speak of each, and what keeps one from being imported."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotations.enums import RatingProblem, WaveState
from annotations.models import Assignment, ImportedRow, WaveItem
from annotations.rating_layouts import LONG, Given, Layout
from projects.models import Example, Item, Project

MOST_PLACES = 1_000  # ratings of one item


@dataclass(frozen=True)
class Group:
    """The good rows of one item, in the file's order."""

    rows: list[ImportedRow]

    @property
    def head(self) -> ImportedRow:
        return self.rows[0]

    @property
    def good(self) -> list[ImportedRow]:
        return [row for row in self.rows if not row.problem]

    @property
    def given(self) -> list[Given]:
        """The ratings of the item."""
        return [rating for row in self.good for rating in row.ratings]


def flaws(chunk: Sequence[Group], project: Project, layout: Layout) -> list[ImportedRow]:
    """Mark what is wrong with the items of a chunk, and between their rows; the rows that were changed."""
    changed: list[ImportedRow] = []
    known = known_items(project, [group.head for group in chunk])
    examples = _examples(project, chunk)
    for group in chunk:
        item = known.get(group.head.external_id or group.head.content_hash)
        problem = _of_item(group, item, examples)
        if problem is not None:
            for row in group.rows:
                row.problem, row.message = problem[0].value, problem[1]
            changed += group.rows
        else:
            changed += _between_rows(group, layout)
            changed += _take_text(group)
    return changed


def _of_item(group: Group, item: "Known | None", examples: set[str]) -> tuple[RatingProblem, str] | None:
    """What keeps an item as a whole from being imported."""
    texts = next((row for row in group.rows if row.content is not None), None)
    if item is None and texts is None:
        return RatingProblem.EMPTY, _("No row of the item has a text, and the project has no such item.")
    if texts is not None and texts.folded_hash in examples:
        return RatingProblem.IN_GUIDELINE, _("The guideline shows it as an example: it is never measured.")
    if item is None:
        return None
    if texts is not None and texts.content_hash != item.content_hash:
        return RatingProblem.OTHER_TEXT, _("The project's item “%(id)s” has another text.") % {"id": item.name}
    return item.problem


def _between_rows(group: Group, layout: Layout) -> list[ImportedRow]:
    """Rows that say another text, a rater again, or more than there is room for."""
    text: ImportedRow | None = None
    seen: dict[str, int] = {}
    places = 0
    bad = []
    for row in group.rows:
        found = _row_flaw(row, text, seen, layout, places, first=row is group.head)
        if found is not None:
            row.problem, row.message = found[0].value, found[1]
            bad.append(row)
            continue
        text = text or (row if row.content is not None else None)
        seen |= {rater: row.number for rater, _answers, _comment in row.ratings if rater is not None}
        places += len(row.ratings)
    return bad


def _row_flaw(
    row: ImportedRow, text: ImportedRow | None, seen: Mapping[str, int], layout: Layout, places: int, *, first: bool
) -> tuple[RatingProblem, str] | None:
    about: dict[str, str | int] = {"id": row.external_id or _("this item")}
    if text is not None and row.content is not None and row.content_hash != text.content_hash:
        said = _("Row %(row)d has another text for “%(id)s”.") % (about | {"row": text.number})
        return RatingProblem.OTHER_TEXT, said
    twice = next((rater for rater, _answers, _comment in row.ratings if rater in seen), None)
    if twice is not None:
        about |= {"rater": twice, "row": seen[twice]}
        return RatingProblem.RATER_TWICE, _("“%(rater)s” rated “%(id)s” in row %(row)d already.") % about
    if layout.anonymous and layout.shape != LONG and not first:
        return RatingProblem.ID_IN_FILE, _("An earlier row has the ratings of “%(id)s” already.") % about
    if places + len(row.ratings) > MOST_PLACES:
        said = _("“%(id)s” has more than %(most)d ratings.") % (about | {"most": MOST_PLACES})
        return RatingProblem.TOO_MANY, said
    return None


def _take_text(group: Group) -> list[ImportedRow]:
    """The head carries the item's text, wherever in the file it stands."""
    texts = next((row for row in group.rows if row.content is not None), None)
    if texts is None or texts is group.head:
        return []
    head = group.head
    head.content, head.metadata = texts.content, head.metadata or texts.metadata
    head.content_hash, head.folded_hash = texts.content_hash, texts.folded_hash
    return [head]


@dataclass(frozen=True)
class Known:
    """An item that the project has, and why it cannot take imported ratings, if it cannot."""

    pk: int
    name: str
    content_hash: str
    problem: tuple[RatingProblem, str] | None


def known_items(project: Project, heads: Sequence[ImportedRow]) -> dict[str, Known]:
    """The items of the project that the rows speak of, by id or, for rows without one, by the hash of their text."""
    ids = [row.external_id for row in heads if row.external_id]
    hashes = [row.content_hash for row in heads if not row.external_id]
    found: dict[str, Known] = {}
    if ids:
        pks = _with_ids(project, ids)
        found |= {item.external_id: _known(item) for item in _described(Item.objects.filter(pk__in=pks))}
    if hashes:
        folded = [row.folded_hash for row in heads if not row.external_id]
        same = Item.objects.filter(project=project, folded_hash__among=folded, content_hash__among=hashes)
        current = [item for item in _described(same) if item.standing == "current"]
        found |= {item.content_hash: _known(item) for item in reversed(current)}
    return found


# By hand, as in `projects.staging`: without statistics SQLite prefers an index that reads the whole project.
_WITH_IDS = {
    "sqlite": """
        SELECT item.id FROM json_each(%s) AS wanted CROSS JOIN projects_item AS item
         WHERE item.project_id = %s AND item.external_id = wanted.value
           AND item.standing = 'current' AND NOT (item.external_id = '')
    """,
    "postgresql": """
        SELECT id FROM projects_item
         WHERE external_id = ANY(%s) AND project_id = %s AND standing = 'current' AND NOT (external_id = '')
    """,
}


def _with_ids(project: Project, ids: Sequence[str]) -> list[int]:
    wanted = list(ids) if connection.vendor == "postgresql" else json.dumps(list(ids))
    with connection.cursor() as cursor:
        cursor.execute(_WITH_IDS[connection.vendor], [wanted, project.pk])
        return [pk for (pk,) in cursor]


def _described(items: QuerySet[Item]) -> QuerySet[Item]:
    unfinished = [WaveState.OPENING, WaveState.OPEN, WaveState.IMPORTING]
    return (
        items.select_related("batch")
        .annotate(
            given_out=Exists(Assignment.objects.filter(item=OuterRef("pk"))),
            in_wave=Exists(WaveItem.objects.filter(item=OuterRef("pk"), wave__state__in=unfinished)),
            is_example=Exists(
                Example.objects.filter(version__project=OuterRef("project"), folded_hash=OuterRef("folded_hash"))
            ),
        )
        .order_by("pk")
    )


def _known(item: Any) -> Known:
    reasons: list[tuple[bool, RatingProblem, Callable[[], str]]] = [
        (item.in_wave, RatingProblem.OPEN_WAVE, lambda: _("It is in a wave that is open: wait until that closes.")),
        (item.given_out, RatingProblem.GIVEN_OUT, lambda: _("It was given out or rated in this project before.")),
        (not item.batch.ready, RatingProblem.OPEN_WAVE, lambda: _("Another import is just bringing it in.")),
        (item.is_example, RatingProblem.IN_GUIDELINE, lambda: _("The guideline shows it as an example.")),
    ]
    problem = next(((kind, words()) for holds, kind, words in reasons if holds), None)
    return Known(item.pk, item.external_id or str(item.uuid), item.content_hash, problem)


def _examples(project: Project, chunk: Sequence[Group]) -> set[str]:
    hashes = {row.folded_hash for group in chunk for row in group.rows if row.folded_hash}
    if not hashes:
        return set()
    rows = Example.objects.filter(version__project=project, folded_hash__among=sorted(hashes))
    return set(rows.values_list("folded_hash", flat=True))
