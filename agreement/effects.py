"""Whether an example helped: the rate of the confusion it was written for, before it was written and under a version.

The rate is the share of pairs of ratings of an item in which one says the one label and the other the other, averaged
over the items with two measured ratings or more. Of items with two ratings each it is the share of items that were
confused, and waves with another number of ratings per item can be held against it. Only closed draws count.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from agreement import figures
from agreement.coefficients import intervals
from agreement.coefficients.bootstrap import Interval
from agreement.matrices import AnswerText
from annotations.models import Annotation, Draw, Resolution
from projects import reading
from projects.models import Example, GuidelineVersion, Project
from projects.reading import ExampleReading
from projects.task_types import Json

# Labels counted in one statement: each is a column.
LABELS_AT_ONCE = 40
COMPARED = ("question_key", "content_hash", "value", "confused_with", "rationale", "kind")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Part:
    """One draw of a rate: how many of its `n` items have both labels, and the sum of their shares of pairs."""

    draw: Draw
    items: int
    shares: float
    n: int


@dataclass(frozen=True)
class Rate:
    """A confusion in the closed draws of one MAJOR that share a protocol."""

    parts: tuple[Part, ...]

    @property
    def items(self) -> int:
        return sum(part.items for part in self.parts)

    @property
    def shares(self) -> float:
        return sum(part.shares for part in self.parts)

    @property
    def n(self) -> int:
        return sum(part.n for part in self.parts)

    @property
    def value(self) -> float:
        return self.shares / self.n

    @property
    def interval(self) -> Interval:
        """Wilson's. An item with three ratings or more enters with its share, which varies less than yes or no does:
        there the interval is too wide rather than too narrow."""
        return intervals.wilson(self.shares, self.n)

    @property
    def versions(self) -> str:
        """The versions under which these draws opened."""
        return ", ".join(dict.fromkeys(part.draw.wave.version.number for part in self.parts))


@dataclass(frozen=True)
class Change:
    """The rate under the version minus the rate before, with an interval of its own."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class Effect:
    """An example of a version and the rate of its confusion.

    entered : the version that brought it, or changed it last
    before  : rates under the MAJOR before `entered`; more than one where protocols differ
    after   : rates under the MAJOR of the version that was asked about
    why_not : the reason where there is no confusion to count
    """

    lineage: UUID
    example: ExampleReading
    entered: GuidelineVersion
    changed: bool
    before: tuple[Rate, ...] = ()
    after: tuple[Rate, ...] = ()
    why_not: str = ""

    @property
    def names(self) -> tuple[str, str]:
        return self.example.value_name, self.example.confused_name

    @property
    def change(self) -> Change | None:
        """Of the newest measurement of each side; None where one is missing."""
        if not self.before or not self.after:
            return None
        before, after = self.before[-1], self.after[-1]
        span = intervals.newcombe((after.shares, after.n), (before.shares, before.n))
        return Change(after.value - before.value, span)


def of_version(version: GuidelineVersion) -> list[Effect]:
    """Every example of a published version; those that it brought or changed first, the most frequent before first."""
    found = _effects(version, _carried(version.project))
    own = [one for one in found if one.entered.pk == version.pk]
    older = [one for one in found if one.entered.pk != version.pk]
    return [*_by_frequency(own), *_by_frequency(older)]


def of_example(project: Project, lineage: UUID) -> list[tuple[GuidelineVersion, Effect]]:
    """One example under each MAJOR that carries it, oldest first; the MAJOR's newest version speaks for it."""
    carried = _carried(project)
    last = {version.major: version for version, examples in carried.items() if lineage in examples}
    return [(version, _effects(version, carried, only=lineage)[0]) for version in last.values()]


def written_for(project: Project, question_key: str, one: str, other: str) -> list[tuple[GuidelineVersion, Example]]:
    """The examples in published versions that settle this confusion, each in the version that carries it last."""
    found: dict[UUID, tuple[GuidelineVersion, Example]] = {}
    for version, examples in _carried(project).items():
        for example in examples.values():
            if example.question_key == question_key and _pair(example) == _sorted(one, other):
                found[example.lineage] = version, example
    return list(found.values())


def decisions(lineages: Iterable[UUID]) -> dict[UUID, list[Resolution]]:
    """Lineage -> the standing decisions that its example was made of, in one query."""
    rows = Resolution.objects.filter(lineage__in=list(lineages), standing=True).order_by("at")
    found: dict[UUID, list[Resolution]] = {}
    for row in rows.select_related("case__draw__wave__version").defer("case__draw__population"):
        if row.lineage is not None:
            found.setdefault(row.lineage, []).append(row)
    return found


# -- what is compared with what ----------------------------------------------------------------------------------------

Carried = Mapping[GuidelineVersion, Mapping[UUID, Example]]


def _carried(project: Project) -> Carried:
    """The published versions, oldest first, with their examples by lineage. Two queries."""
    versions = list(project.versions.published().select_related("project", "based_on").order_by("major", "minor"))
    found: dict[int, dict[UUID, Example]] = {version.pk: {} for version in versions}
    for example in Example.objects.filter(version__in=versions):
        found[example.version_id][example.lineage] = example
    return {version: found[version.pk] for version in versions}


def _entered(version: GuidelineVersion, lineage: UUID, carried: Carried) -> tuple[GuidelineVersion, bool]:
    """The version that brought the example as it stands in `version`, and whether it changed it, not made it."""
    since, known = version, False
    for older in reversed([one for one in carried if _number(one) < _number(version)]):
        before = carried[older].get(lineage)
        known = before is not None
        if before is None or any(getattr(before, name) != getattr(carried[since][lineage], name) for name in COMPARED):
            break
        since = older
    return since, known and since.based_on_id is not None


def _effects(version: GuidelineVersion, carried: Carried, only: UUID | None = None) -> list[Effect]:
    examples = [row for row in carried[version].values() if only in (None, row.lineage)]
    entered = {row.lineage: _entered(version, row.lineage, carried) for row in examples}
    counts = _Counts(version.project, examples)
    questions = reading.questions(version)
    found = []
    for row in examples:
        since, changed = entered[row.lineage]
        pair = _pair(row)
        old = since.based_on.major if since.based_on else None
        found.append(
            Effect(
                lineage=row.lineage,
                example=reading.example_reading(row, questions),
                entered=since,
                changed=changed,
                before=counts.rates(old, row.question_key, pair) if pair and old else (),
                after=counts.rates(version.major, row.question_key, pair) if pair else (),
                why_not="" if pair else _why_not(row),
            )
        )
    return found


def _number(version: GuidelineVersion) -> tuple[int, int]:
    return version.major or 0, version.minor or 0


def _by_frequency(effects: Sequence[Effect]) -> list[Effect]:
    return sorted(effects, key=lambda one: -one.before[-1].value if one.before else 0.0)


def _pair(example: Example) -> Pair | None:
    """The confusion that an example is about; None where it names no other label."""
    value: Json = example.value
    other: Json = example.confused_with
    return _sorted(value, other) if isinstance(value, str) and isinstance(other, str) else None


def _why_not(example: Example) -> str:
    if example.confused_with is None:
        return _("It names no label that it is confused with, so there is nothing to count.")
    return _("Confusions are counted where an item has one label.")


def _sorted(one: str, other: str) -> Pair:
    return (one, other) if one <= other else (other, one)


# -- counting ----------------------------------------------------------------------------------------------------------


class _Counts:
    """How often the labels of some examples stand on the items of a project's closed draws, read once per question."""

    def __init__(self, project: Project, examples: Iterable[Example]) -> None:
        rows = Draw.objects.closed().filter(wave__project=project).order_by("wave__major", "wave__number")
        self._draws = list(rows.select_related("wave__version").defer("population"))
        self._pairs: dict[str, set[Pair]] = {}
        for example in examples:
            if pair := _pair(example):
                self._pairs.setdefault(example.question_key, set()).add(pair)
        self._parts: dict[tuple[str, Pair], dict[int, Part]] = {}
        for key, pairs in self._pairs.items():
            self._parts |= self._counted(key, pairs)

    def rates(self, major: int | None, question_key: str, pair: Pair) -> tuple[Rate, ...]:
        """The rates under one MAJOR, a rate for each protocol, in the order of their newest draw."""
        groups: list[tuple[dict[str, object], list[Part]]] = []
        for draw in self._draws:
            part = self._parts[question_key, pair].get(draw.pk)
            if draw.wave.major != major or part is None:
                continue
            terms = figures.terms(draw)
            same = next((group for group in groups if group[0] == terms), None)
            if same is None:
                groups.append((terms, [part]))
            else:
                groups.remove(same)
                groups.append((terms, [*same[1], part]))
        return tuple(Rate(tuple(parts)) for _terms, parts in groups)

    def _counted(self, key: str, pairs: set[Pair]) -> dict[tuple[str, Pair], dict[int, Part]]:
        draws = {draw.pk: draw for draw in self._draws}
        sums: dict[Pair, dict[int, list[float]]] = {pair: {} for pair in pairs}
        for some in _chunks(sorted(pairs)):
            labels = sorted({label for pair in some for label in pair})
            for draw, total, items, *uses in _grouped(list(draws), key, labels):
                used = dict(zip(labels, uses, strict=True))
                for pair in some:
                    share = 2 * used[pair[0]] * used[pair[1]] / (total * (total - 1))
                    sum_of = sums[pair].setdefault(draw, [0, 0.0, 0])
                    sum_of[0] += items if share else 0
                    sum_of[1] += items * share
                    sum_of[2] += items
        return {
            (key, pair): {pk: Part(draws[pk], int(found), shares, int(n)) for pk, (found, shares, n) in by_draw.items()}
            for pair, by_draw in sums.items()
        }


def _chunks(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    step = LABELS_AT_ONCE // 2
    return (pairs[start : start + step] for start in range(0, len(pairs), step))


def _grouped(draws: Sequence[int], key: str, labels: Sequence[str]) -> list[tuple[int, ...]]:
    """(draw, ratings of an item, how many such items, then how many of its ratings say each label)."""
    if not draws:
        return []
    answered = Annotation.objects.filter(draw__in=draws, slot__isnull=False).order_by()
    answered = answered.annotate(answer=AnswerText(key)).filter(answer__isnull=False)
    uses = {f"label_{n}": Count("pk", filter=Q(answer=json.dumps(label))) for n, label in enumerate(labels)}
    per_item = answered.values("draw_id", "wave_item_id").annotate(total=Count("pk"), **uses).filter(total__gte=2)
    inner, params = per_item.query.get_compiler(connection=connection).as_sql()
    uses_chosen = [connection.ops.quote_name(name) for name in uses]
    chosen = ", ".join([connection.ops.quote_name("draw_id"), connection.ops.quote_name("total"), "COUNT(*)"])
    groups = ", ".join([connection.ops.quote_name("draw_id"), connection.ops.quote_name("total"), *uses_chosen])
    # As in `matrices`: the outer query is written here, and only names made above go into it.
    sql = f"SELECT {', '.join([chosen, *uses_chosen])} FROM ({inner}) AS items GROUP BY {groups}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
