"""The items behind a cell of the confusion table, without a word on who said what."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from agreement import matrices
from agreement.coefficients.span_table import label_table
from agreement.coefficients.spans import Span
from agreement.patterns import AnswerText
from annotations.models import Case, Draw, Resolution, WaveItem
from projects.errors import DomainError
from projects.models import Label, Question
from projects.task_types import TASK_TYPES, Json
from projects.task_types.spans import Span as Marked
from projects.task_types.spans import spans_in


@dataclass(frozen=True)
class CellItem:
    """An item behind a cell. `case` is None where its ratings agree, or differ by less than the protocol's gap."""

    wave_item: WaveItem
    text: str
    said: list[tuple[str, int]]
    case: Case | None
    decided: str


def wave_items(draw: Draw, question: Question, one: Label, other: Label) -> QuerySet[WaveItem]:
    """The items of a closed draw with both labels among their measured ratings; for one label, with it twice.

    Of sets: items to which one person gave the one label and not the other, and another the other and not the one. Of
    spans: items in which two people gave them to the same part of the text.
    """
    if draw.is_open:
        raise DomainError(_("This draw is open: what is behind its figures is shown when it closes."), code="draw_open")
    rows = WaveItem.objects.filter(draw=draw).select_related("item").order_by("pk")
    if not matrices.is_single(question):
        return rows.filter(pk__in=_read(draw, question, one.key, other.key))
    given = matrices.measured(draw).annotate(answer=AnswerText(question.key))
    if one == other:
        twice = given.filter(answer=json.dumps(one.key)).order_by().values("wave_item").annotate(n=Count("pk"))
        return rows.filter(pk__in=twice.filter(n__gte=2).values("wave_item"))
    both = given.filter(wave_item=OuterRef("pk"))
    return rows.filter(
        Exists(both.filter(answer=json.dumps(one.key))), Exists(both.filter(answer=json.dumps(other.key)))
    )


def describe(draw: Draw, question: Question, page: Sequence[WaveItem]) -> list[CellItem]:
    """What a page of those items shows; three queries whatever its length."""
    kind, labels = TASK_TYPES[question.task_type], list(question.labels.all())
    given = matrices.measured(draw).filter(wave_item__in=page).annotate(answer=AnswerText(question.key))
    said: dict[int, Counter[str]] = {row.pk: Counter() for row in page}
    for row, answer in given.filter(answer__isnull=False).values_list("wave_item_id", "answer"):
        said[row][answer] += 1
    cases = {c.wave_item_id: c for c in Case.objects.filter(wave_item__in=page, question_key=question.key)}
    standing = Resolution.objects.filter(case__in=cases.values(), standing=True)
    decided: dict[int, Json] = {resolution.case_id: resolution.value for resolution in standing}

    def worded(value: Json, row: WaveItem) -> str:
        return _(kind.describe(value, labels, row.item.content))

    return [
        CellItem(
            wave_item=row,
            text=" · ".join(str(value) for value in row.item.content.values()),
            said=[(worded(json.loads(answer), row), n) for answer, n in sorted(said[row.pk].items())],
            case=(case := cases.get(row.pk)),
            decided=worded(decided[case.pk], row) if case and case.pk in decided else "",
        )
        for row in page
    ]


def _read(draw: Draw, question: Question, one: str, other: str) -> list[int]:
    """Items behind a cell of answers that the database cannot look into: read item by item, in one query."""
    holds = _of_spans if matrices.has_spans(question) else _of_sets
    given = matrices.measured(draw).annotate(answer=AnswerText(question.key)).filter(answer__isnull=False)
    rows = given.order_by("wave_item_id", "pk").values_list("wave_item_id", "answer").iterator(chunk_size=2000)
    return [
        item
        for item, answers in groupby(rows, key=lambda row: row[0])
        if holds([json.loads(answer) for _item, answer in answers], one, other)
    ]


def _of_sets(answers: Iterable[Json], one: str, other: str) -> bool:
    sets: list[Collection[Json]] = [answer for answer in answers if isinstance(answer, list)]
    if one == other:
        return sum(one in chosen for chosen in sets) >= 2
    only_one, only_other = ({one, other} - {each} for each in (other, one))
    chosen = [{key for key in each if key in (one, other)} for each in sets]
    return only_one in chosen and only_other in chosen


def _of_spans(answers: Sequence[Json], one: str, other: str) -> bool:
    labels = list(dict.fromkeys([one, other]))
    marked = [[span for span in spans_in(answer) if span.label in labels] for answer in answers]
    fields = {span.field for spans in marked for span in spans}
    wanted = labels.index(one), labels.index(other)
    return any(
        wanted in label_table(_in_field(first, name), _in_field(second, name), labels)
        for name in fields
        for first, second in permutations(marked, 2)
    )


def _in_field(spans: Iterable[Marked], name: str) -> list[Span]:
    return [Span(span.start, span.end, span.label) for span in spans if span.field == name]
