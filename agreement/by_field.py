"""The headline by a field of the items that the draw was not split by: computed when a page asks for it.

Such a split was not declared before the draw opened, so no gate judges it and no report prints it. It is made of closed
draws only: of an open one a small part could tell which of its items are measured.
"""

from collections import Counter
from datetime import datetime
from typing import Any

from agreement import matrices, patterns, splits
from agreement.coefficients.coefficient import MULTILABEL, NOMINAL, ORDERED
from agreement.models import Run
from annotations.models import Draw
from projects.models import Batch, Question

# A field with more values than this (an id, a date) is shown by those with the most items.
MOST_PARTS = 30
LEVELS = (NOMINAL, *ORDERED, MULTILABEL)


def fields(draw: Draw) -> list[str]:
    """The metadata fields by which the figures of `draw` can be split, in the order of the imports."""
    rows = Batch.objects.filter(project=draw.wave.project_id, ready=True).order_by("pk")
    named = dict.fromkeys(name for names in rows.values_list("metadata_fields", flat=True) for name in names)
    return [name for name in named if name != draw.protocol.get("strata_field")]


def is_offered(draw: Draw, question: Question) -> bool:
    """Whether the figures of this question can be split: answers that point into a text are read otherwise."""
    return not draw.is_open and matrices.level_of(question) in LEVELS


def of(draw: Draw, question: Question, run: Run, field: str, *, at: datetime) -> tuple[list[dict[str, Any]], int]:
    """The headline's entry for each value of `field`, most items first, and how many values there are beyond them."""
    people = matrices.raters(draw)
    found = list(patterns.by_field(draw, question.key, field, at))
    sizes: Counter[str] = Counter()
    for _draw, _answers, part, items in found:
        sizes[part] += items
    shown = [part for part, _items in sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MOST_PARTS]]
    rows = [(tuple(answers.get(one.pk) for one in people), part, n) for _draw, answers, part, n in found]
    split = splits.of_rows(draw, question, run, people, rows, {part: sizes[part] for part in shown})
    return split.entries(), len(sizes) - len(shown)
