"""Rows -> rating patterns: the only bridge from the tables to the kernel.

A draw and a question become one table of distinct rating patterns with the number of items that show each. The
database does the counting, in one grouped query, so that a draw of a million ratings costs no more memory than a
small one. Ratings are matched by item and member, never by position.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Count, QuerySet

from agreement import patterns
from agreement.coefficients.coefficient import NOMINAL, ORDERED
from agreement.coefficients.ratings import MISSING, Ratings
from agreement.patterns import AnswerText as AnswerText
from annotations.models import Annotation, Draw, WaveItem
from projects.models import Label, Membership, Question
from projects.task_types import TASK_TYPES

logger = logging.getLogger(__name__)

# DESIGN §3 "Share": each stratum of a proportional draw is within three items of its share.
PROPORTIONAL = 3

MEASURED = (NOMINAL, *ORDERED)

# What each rater answered, as JSON; the stratum; and how many items show it.
Row = tuple[tuple[str | None, ...], str, int]


@dataclass(frozen=True)
class Matrix:
    """The measured ratings of a draw on one question.

    `unknown` counts values that the version does not declare: they are an error and are compared with nothing.
    """

    question: Question
    labels: tuple[Label, ...]
    raters: tuple[Membership, ...]
    ratings: Ratings
    strata: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()

    def in_stratum(self, place: int) -> Ratings:
        """The ratings of one stratum, as ratings of their own."""
        ratings = self.ratings
        if ratings.strata is None:
            raise ValueError("This draw has no strata.")
        mask = ratings.strata == place
        return Ratings(ratings.codes[mask], ratings.weights[mask], ratings.labels, ratings.raters, ratings.values)


def measured(draw: Draw) -> QuerySet[Annotation]:
    """The measured ratings of a draw; surplus has no slot."""
    return patterns.measured_in([draw])


def pooled(parts: Sequence[Matrix]) -> Ratings:
    """The ratings of several draws as one table: people are matched by who they are, draw x stratum are the strata."""
    names = sorted({name for part in parts for name in part.ratings.raters})
    codes, weights, strata, first = [], [], [], 0
    for part in parts:
        table = part.ratings
        wide = np.full((len(table.weights), len(names)), MISSING, dtype=np.int64)
        wide[:, [names.index(name) for name in table.raters]] = table.codes
        within = np.zeros(len(table.weights), dtype=np.int64) if table.strata is None else table.strata
        codes.append(wide)
        weights.append(table.weights)
        strata.append(within + first)
        first += max(1, len(part.strata))
    labels, values = parts[0].ratings.labels, parts[0].ratings.values
    return Ratings(np.concatenate(codes), np.concatenate(weights), labels, tuple(names), values, np.concatenate(strata))


def is_measured(question: Question) -> bool:
    """Whether this kind of answer has a coefficient; none is offered for free text, and for spans not yet."""
    return TASK_TYPES[question.task_type].level in MEASURED


def questions(draw: Draw) -> list[Question]:
    """The questions of the version under which the draw was opened; one MAJOR has one label set."""
    return list(draw.wave.version.questions.prefetch_related("labels"))


def questions_of(draws: Iterable[Draw]) -> dict[int, list[Question]]:
    """The questions of each draw; two queries, however many there are."""
    version_of = {draw.pk: draw.wave.version_id for draw in draws}
    rows = Question.objects.filter(version__in=set(version_of.values())).prefetch_related("labels")
    asked: dict[int, list[Question]] = {}
    for question in rows:
        asked.setdefault(question.version_id, []).append(question)
    return {draw: asked.get(version, []) for draw, version in version_of.items()}


@dataclass(frozen=True)
class Tally:
    """Who rated in a draw, in a lasting order, and how many of its ratings were given under each MINOR."""

    raters: tuple[Membership, ...] = ()
    versions: tuple[tuple[str, int], ...] = ()


def tallies(draws: Sequence[Draw]) -> dict[int, Tally]:
    """The tally of each draw; two queries, however many there are."""
    fields = ("draw_id", "member_id", "version__major", "version__minor")
    counted = patterns.measured_in(draws).order_by().values_list(*fields).annotate(n=Count("pk"))
    found: dict[int, tuple[set[int], Counter[tuple[int, int]]]] = {draw.pk: (set(), Counter()) for draw in draws}
    for draw, member, major, minor, n in counted:
        found[draw][0].add(member)
        found[draw][1][major, minor] += n
    people = Membership.objects.filter(pk__in=set().union(*(members for members, _ in found.values())))
    by_pk = {member.pk: member for member in people.select_related("user")}
    return {
        draw: Tally(
            tuple(by_pk[pk] for pk in sorted(members)),
            tuple((f"{major}.{minor}", n) for (major, minor), n in sorted(versions.items())),
        )
        for draw, (members, versions) in found.items()
    }


def raters(draw: Draw) -> tuple[Membership, ...]:
    """Who has a measured rating in the draw, in a lasting order."""
    return tallies([draw])[draw.pk].raters


def of(draw: Draw, question: Question, *, by: Sequence[Membership], at: datetime) -> Matrix:
    """The pattern table of `question`, with a column for each of `by` (see `raters`).

    While the draw is open only complete items are in it: all their ratings are given and their windows have ended.
    Of a closed draw everything measured is, and a coefficient takes the pairs or items it can use.
    """
    asked = {draw.pk: question}
    return of_several([draw], asked, by={draw.pk: tuple(by)}, sizes=sizes_of([draw]), at=at)[draw.pk]


def of_several(
    draws: Sequence[Draw],
    asked: Mapping[int, Question],
    *,
    by: Mapping[int, tuple[Membership, ...]],
    sizes: Mapping[int, Mapping[str, tuple[int, int]]],
    at: datetime,
) -> dict[int, Matrix]:
    """The pattern tables of one question in several draws, from one query. All but one of them are closed.

    `asked` has the question as each draw's version asks it, `by` each draw's raters, `sizes` its strata.
    """
    wanted = [draw for draw in draws if draw.pk in asked]
    if not wanted:
        return {}
    people = sorted({member.pk for draw in wanted for member in by[draw.pk]})
    found: dict[int, list[Row]] = {draw.pk: [] for draw in wanted}
    for draw, answers, stratum, items in patterns.of(wanted, asked[wanted[0].pk].key, people, at):
        found[draw].append((tuple(answers.get(member.pk) for member in by[draw]), stratum, items))
    return {
        draw.pk: of_rows(
            draw,
            (question := asked[draw.pk]),
            tuple(question.labels.all()),
            by[draw.pk],
            found[draw.pk],
            sizes.get(draw.pk, {}),
        )
        for draw in wanted
    }


def of_rows(
    draw: Draw,
    question: Question,
    labels: tuple[Label, ...],
    by: tuple[Membership, ...],
    rows: Iterable[Row],
    sizes: Mapping[str, tuple[int, int]],
) -> Matrix:
    """The pattern table of rows: what each of `by` answered (as JSON), the stratum, and how many items show it.

    Asks no database: the recompute kit makes its tables of a file here. `sizes` as `stratum_sizes` has them.
    """
    code_of = {label.key: place for place, label in enumerate(labels)}
    place_of = {stratum: place for place, stratum in enumerate(sizes)}
    unknown: Counter[str] = Counter()
    codes, weights, strata = [], [], []
    for answers, stratum, items in rows:
        pattern = [_code(answer, code_of, unknown, items) for answer in answers]
        if any(code != MISSING for code in pattern):
            codes.append(pattern)
            weights.append(items)
            strata.append(place_of.get(stratum, 0))
    if unknown:
        logger.error("Draw %s, question %s: values that are no label: %s", draw.uuid, question.key, dict(unknown))
    ratings = Ratings(
        np.array(codes, dtype=np.int16).reshape(len(codes), len(by)),
        np.array(weights, dtype=np.float64),
        tuple(label.key for label in labels),
        raters=tuple(str(member.uuid) for member in by),
        values=_values(labels),
        strata=np.array(strata, dtype=np.int64) if sizes else None,
        populations=None if draw.is_imported else _populations(sizes),
    ).merged()
    if draw.is_anonymous:  # columns are places, not people
        ratings = ratings.forget_raters()
    return Matrix(question, labels, by, ratings, tuple(sizes), tuple(sorted(unknown.items())))


def _code(answer: str | None, code_of: dict[str, int], unknown: Counter[str], items: int) -> int:
    if answer is None:
        return MISSING
    value = json.loads(answer)
    code = code_of.get(value, MISSING) if isinstance(value, str) else MISSING
    if code == MISSING:
        unknown[answer] += items
    return code


def _values(labels: Sequence[Label]) -> tuple[float, ...] | None:
    values = [label.value for label in labels if label.value is not None]
    return tuple(values) if len(values) == len(labels) and values else None


def stratum_sizes(draw: Draw) -> dict[str, tuple[int, int]]:
    """Stratum -> (items in the wave, items drawn), in alphabetical order; empty where the draw has no strata."""
    return sizes_of([draw]).get(draw.pk, {})


def sizes_of(draws: Iterable[Draw]) -> dict[int, dict[str, tuple[int, int]]]:
    """`stratum_sizes` of each draw that has strata."""
    wanted = {draw.wave_id: draw.pk for draw in draws if draw.protocol.get("strata_field")}
    if not wanted:
        return {}
    rows = WaveItem.objects.filter(wave__in=list(wanted)).order_by("wave", "stratum").values("wave", "stratum")
    found: dict[int, dict[str, tuple[int, int]]] = {draw: {} for draw in wanted.values()}
    for row in rows.annotate(items=Count("pk"), drawn=Count("draw")):
        found[wanted[row["wave"]]][row["stratum"]] = row["items"], row["drawn"]
    return found


def _populations(sizes: Mapping[str, tuple[int, int]]) -> tuple[float, ...] | None:
    """The size of each stratum where they were drawn at unequal rates, so that figures are also weighted to it.

    A proportional draw is within three items of its share in each stratum; that is no reason to weight.
    """
    items, drawn = (sum(column) for column in zip(*sizes.values(), strict=True)) if sizes else (0, 0)
    if not any(abs(took - drawn * held / items) > PROPORTIONAL for held, took in sizes.values()):
        return None
    return tuple(float(held) for held, _ in sizes.values())
