"""Results of a draw made straight from rating patterns, without a database."""

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Any
from uuid import UUID

from agreement import figures, markings, matrices
from agreement.markings import Marked
from agreement.matrices import Matrix
from annotations.models import Draw, Wave
from projects.models import GuidelineVersion, Label, Membership, Question
from projects.task_types import Json
from tests.agreement import rows

DRAW = UUID("6f1f2a3c-0000-4000-8000-000000000001")
# The members that tables are about, in the order of their columns.
ANNA, BEN, CARA, DORA = (Membership(pk=place, uuid=UUID(int=place)) for place in range(1, 5))
PEOPLE = (ANNA, BEN, CARA, DORA)

Pattern = tuple[tuple[Json, ...], str, int]


def draw(size: int, **protocol: Any) -> Draw:
    """A closed draw that is in no database."""
    wave = Wave(number=1, major=1, version=GuidelineVersion(major=1, minor=0))
    return Draw(uuid=DRAW, wave=wave, state="closed", size=size, protocol=rows.protocol(**protocol))


def question(
    task_type: str, labels: Sequence[str], values: Sequence[float | None] = ()
) -> tuple[Question, tuple[Label, ...]]:
    values = values or [None] * len(labels)
    named = [Label(key=key, name=key.title(), order=place, value=values[place]) for place, key in enumerate(labels)]
    return Question(key="intent", text="What is the intent?", task_type=task_type), tuple(named)


def matrix(
    made: Draw,
    task_type: str,
    labels: Sequence[str],
    patterns: Sequence[Pattern],
    sizes: Mapping[str, tuple[int, int]],
    values: Sequence[float | None] = (),
) -> Matrix:
    """The table of patterns (answer of each rater, stratum, items)."""
    asked, named = question(task_type, labels, values)
    people = PEOPLE[: max((len(answers) for answers, _, _ in patterns), default=2)]
    if task_type == "spans":
        found = matrices.no_spans(made, named, people[:-1], sizes)
        for answers, stratum, _items in patterns:
            found.add(Marked(answers[:-1], stratum, markings.tokens_of({"text": answers[-1]})))
        return matrices.of_marked(made, asked, named, people[:-1], found)
    texts = [
        (tuple(None if answer is None else dumps(answer) for answer in answers), stratum, items)
        for answers, stratum, items in patterns
    ]
    return matrices.of_rows(made, asked, named, people, texts, sizes)


def result(
    task_type: str,
    labels: Sequence[str],
    patterns: Sequence[Pattern],
    *,
    sizes: Mapping[str, tuple[int, int]] | None = None,
    values: Sequence[float | None] = (),
    rule: Mapping[str, Any] | None = None,
    **protocol: Any,
) -> dict[str, Any]:
    """What a run keeps of these patterns. Of spans each pattern is one item, and its last answer the text."""
    made = draw(sum(items for _, _, items in patterns), questions={"intent": dict(rule or {})}, **protocol)
    table = matrix(made, task_type, labels, patterns, sizes or {}, values)
    alone = figures.Context(table.raters, (), (("1.0", 1),), None, (), lambda _draw, _key: None)
    return figures.compute(made, table, alone)


def headline(found: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = found["statistics"][found["headline"]["key"]]
    return entry
