"""The items behind a cell of the confusion table, without a word on who said what."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from agreement import matrices
from agreement.patterns import AnswerText
from annotations.models import Case, Draw, Resolution, WaveItem
from projects.errors import DomainError
from projects.models import Label, Question


@dataclass(frozen=True)
class CellItem:
    """An item behind a cell. `case` is None where its ratings agree, or differ by less than the protocol's gap."""

    wave_item: WaveItem
    text: str
    said: list[tuple[str, int]]
    case: Case | None
    decided: str


def wave_items(draw: Draw, question: Question, one: Label, other: Label) -> QuerySet[WaveItem]:
    """The items of a closed draw with both labels among their measured ratings; for one label, with it twice."""
    if draw.is_open:
        raise DomainError(_("This draw is open: what is behind its figures is shown when it closes."), code="draw_open")
    given = matrices.measured(draw).annotate(answer=AnswerText(question.key))
    rows = WaveItem.objects.filter(draw=draw).select_related("item").order_by("pk")
    if one == other:
        twice = given.filter(answer=json.dumps(one.key)).order_by().values("wave_item").annotate(n=Count("pk"))
        return rows.filter(pk__in=twice.filter(n__gte=2).values("wave_item"))
    both = given.filter(wave_item=OuterRef("pk"))
    return rows.filter(
        Exists(both.filter(answer=json.dumps(one.key))), Exists(both.filter(answer=json.dumps(other.key)))
    )


def describe(draw: Draw, question: Question, page: Sequence[WaveItem]) -> list[CellItem]:
    """What a page of those items shows; three queries whatever its length."""
    names = {label.key: label.name for label in question.labels.all()}
    given = matrices.measured(draw).filter(wave_item__in=page).annotate(answer=AnswerText(question.key))
    said: dict[int, Counter[str]] = {row.pk: Counter() for row in page}
    for row, answer in given.filter(answer__isnull=False).values_list("wave_item_id", "answer"):
        said[row][json.loads(answer)] += 1
    cases = {c.wave_item_id: c for c in Case.objects.filter(wave_item__in=page, question_key=question.key)}
    standing = Resolution.objects.filter(case__in=cases.values(), standing=True)
    decided = {resolution.case_id: str(resolution.value) for resolution in standing}
    return [
        CellItem(
            wave_item=row,
            text=" · ".join(str(value) for value in row.item.content.values()),
            said=[(names.get(key, key), n) for key, n in sorted(said[row.pk].items())],
            case=(case := cases.get(row.pk)),
            decided=names.get(value, value) if case and (value := decided.get(case.pk)) else "",
        )
        for row in page
    ]
