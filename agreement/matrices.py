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
from django.utils.translation import gettext as _

from agreement import markings, patterns
from agreement.coefficients import headline
from agreement.coefficients.coefficient import MULTILABEL, SINGLE
from agreement.coefficients.headline import SPANS, TEXT
from agreement.coefficients.ratings import MISSING, Ratings
from agreement.coefficients.ratings import Label as Name
from agreement.markings import Marked, Markings
from agreement.patterns import AnswerText as AnswerText
from annotations.models import Annotation, Draw, WaveItem
from projects.enums import Role
from projects.models import GuidelineVersion, Label, Membership, Question
from projects.task_types import TASK_TYPES

logger = logging.getLogger(__name__)

# DESIGN §3 "Share": each stratum of a proportional draw is within three items of its share.
PROPORTIONAL = 3

# Of spans, the one code of a rating that is there.
RATED = "rated"

# What each rater answered, as JSON; the stratum; and how many items show it.
Row = tuple[tuple[str | None, ...], str, int]


@dataclass(frozen=True)
class Matrix:
    """The measured ratings of a draw on one question.

    `unknown` counts values that the version does not declare: they are an error and are compared with nothing. The
    labels of `ratings` are those of the question; of sets, the distinct sets that were given; of spans there is one,
    "rated", and `spans` has what was marked.
    """

    question: Question
    labels: tuple[Label, ...]
    raters: tuple[Membership, ...]
    ratings: Ratings
    strata: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()
    spans: Markings | None = None

    @property
    def level(self) -> str:
        return level_of(self.question)

    def in_stratum(self, place: int) -> Ratings:
        """The ratings of one stratum, as ratings of their own."""
        ratings = self.ratings
        if ratings.strata is None:
            raise ValueError("This draw has no strata.")
        mask = ratings.strata == place
        return Ratings(ratings.codes[mask], ratings.weights[mask], ratings.labels, ratings.raters, ratings.values)

    def by_role(self) -> dict[str, list[int]]:
        """Role -> the columns of its people, of roles that two or more share while others have another; none of
        places of ratings."""
        roles = [role_of(member) for member in self.raters]
        if self.ratings.exchangeable or len(set(roles)) < 2:
            return {}
        columns = {role: [place for place, each in enumerate(roles) if each == role] for role in sorted(set(roles))}
        return {role: places for role, places in columns.items() if role and len(places) > 1}


def role_of(member: Membership) -> str:
    """The role in which a member rates: a lead who labels, too, is a lead; empty for ratings made elsewhere."""
    if member.is_lead:
        return str(Role.LEAD)
    return str(Role.ANNOTATOR) if member.is_annotator else ""


def measured(draw: Draw) -> QuerySet[Annotation]:
    """The measured ratings of a draw; surplus has no slot."""
    return patterns.measured_in([draw])


def pooled(parts: Sequence[Matrix]) -> Ratings:
    """The ratings of several draws as one table: people are matched by who they are, draw x stratum are the strata."""
    names = sorted({name for part in parts for name in part.ratings.raters})
    labels = _labels_of_all(parts)
    codes, weights, strata, first = [], [], [], 0
    for part in parts:
        table = part.ratings.recode([labels.index(label) for label in part.ratings.labels], labels)
        wide = np.full((len(table.weights), len(names)), MISSING, dtype=np.int64)
        wide[:, [names.index(name) for name in table.raters]] = table.codes
        within = np.zeros(len(table.weights), dtype=np.int64) if table.strata is None else table.strata
        codes.append(wide)
        weights.append(table.weights)
        strata.append(within + first)
        first += max(1, len(part.strata))
    values = parts[0].ratings.values
    return Ratings(np.concatenate(codes), np.concatenate(weights), labels, tuple(names), values, np.concatenate(strata))


def _labels_of_all(parts: Sequence[Matrix]) -> tuple[Name, ...]:
    """The labels that the parts share; of sets those that were given in any of them."""
    if parts[0].level != MULTILABEL:
        return parts[0].ratings.labels
    place = {label.key: at for at, label in enumerate(parts[0].labels)}
    return _in_order({label for part in parts for label in part.ratings.labels}, place)


def level_of(question: Question) -> str:
    """The level of measurement of its answers."""
    return TASK_TYPES[question.task_type].level


def is_measured(question: Question) -> bool:
    """Whether this kind of answer has a coefficient; none is offered for free text."""
    return level_of(question) != TEXT


def is_single(question: Question) -> bool:
    """Whether an answer is one label, so that labels stand in a table of confusion."""
    return level_of(question) in SINGLE


def has_spans(question: Question) -> bool:
    """Whether an answer points into the item's text."""
    return level_of(question) == SPANS


def not_measured(question: Question) -> str:
    """Why this kind of answer has no coefficient, and what to do; empty where it has one."""
    choice = headline.choose(headline.Design(level_of(question), 2))
    return _(choice.reason) if choice.key is None else ""


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
    """The tally of each draw; three queries, however many there are."""
    # The versions are no part of the count: it is made from an index alone, and a join would look up every rating.
    fields = ("draw_id", "member_id", "version_id")
    counted = list(patterns.measured_in(draws).order_by().values_list(*fields).annotate(n=Count("*")))
    versions = GuidelineVersion.objects.filter(pk__in={version for _draw, _member, version, _n in counted})
    shown = {pk: (major or 0, minor or 0) for pk, major, minor in versions.values_list("pk", "major", "minor")}
    found: dict[int, tuple[set[int], Counter[tuple[int, int]]]] = {draw.pk: (set(), Counter()) for draw in draws}
    for draw, member, version, n in counted:
        found[draw][0].add(member)
        found[draw][1][shown[version]] += n
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
    if has_spans(asked[wanted[0].pk]):
        return _of_spans([draw for draw in wanted if has_spans(asked[draw.pk])], asked, by, sizes, at)
    wanted = [draw for draw in wanted if not has_spans(asked[draw.pk])]
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


def _of_spans(
    draws: Sequence[Draw],
    asked: Mapping[int, Question],
    by: Mapping[int, tuple[Membership, ...]],
    sizes: Mapping[int, Mapping[str, tuple[int, int]]],
    at: datetime,
) -> dict[int, Matrix]:
    """What was marked in several draws, read item by item in one query."""
    labels = {draw.pk: tuple(asked[draw.pk].labels.all()) for draw in draws}
    found = {draw.pk: no_spans(draw, labels[draw.pk], by[draw.pk], sizes.get(draw.pk, {})) for draw in draws}
    for item in patterns.answers_by_item(draws, asked[draws[0].pk].key, at):
        answers = tuple(item.answers.get(member.pk) for member in by[item.draw])
        found[item.draw].add(Marked(answers, item.stratum, markings.tokens_of(item.content)))
    return {draw.pk: of_marked(draw, asked[draw.pk], labels[draw.pk], by[draw.pk], found[draw.pk]) for draw in draws}


def no_spans(
    draw: Draw, labels: Iterable[Label], by: Sequence[Membership], sizes: Mapping[str, tuple[int, int]]
) -> Markings:
    """Where the spans of a draw are counted, item by item, with a column for each of `by`; `sizes` as `stratum_sizes`
    has them."""
    populations = None if draw.is_imported else _populations(draw, sizes)
    named, raters = draw.protocol.get("expert"), [str(member.uuid) for member in by]
    expert = raters.index(named) if named in raters and not draw.is_anonymous else None
    return markings.none(tuple(label.key for label in labels), tuple(sizes), populations, expert)


def of_marked(
    draw: Draw,
    question: Question,
    labels: tuple[Label, ...],
    by: tuple[Membership, ...],
    found: Markings,
) -> Matrix:
    """The same as `of_rows` of answers that are spans: who rated which items, and what they marked."""
    _log_unknown(draw, question, found.unknown)
    codes = [codes for codes, _ in found.rated]
    strata = np.array([stratum for _, stratum in found.rated], dtype=np.int64)
    ratings = Ratings(
        np.array(codes, dtype=np.int16).reshape(len(codes), len(by)),
        np.array(list(found.rated.values()), dtype=np.float64),
        (RATED,),
        raters=tuple(str(member.uuid) for member in by),
        strata=strata if found.strata else None,
        populations=found.whole.populations,
        exchangeable=draw.is_anonymous,
    )
    return Matrix(question, labels, by, ratings.merged(), found.strata, tuple(sorted(found.unknown.items())), found)


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
    place_of = {stratum: place for place, stratum in enumerate(sizes)}
    unknown: Counter[str] = Counter()
    found = list(rows)
    names, code_of = _codes(question, labels, found)
    codes, weights, strata = [], [], []
    for answers, stratum, items in found:
        pattern = [_code(answer, code_of, unknown, items) for answer in answers]
        if any(code != MISSING for code in pattern):
            codes.append(pattern)
            weights.append(items)
            strata.append(place_of.get(stratum, 0))
    _log_unknown(draw, question, unknown)
    ratings = Ratings(
        np.array(codes, dtype=np.int16).reshape(len(codes), len(by)),
        np.array(weights, dtype=np.float64),
        names,
        raters=tuple(str(member.uuid) for member in by),
        values=_values(labels) if level_of(question) != MULTILABEL else None,
        strata=np.array(strata, dtype=np.int64) if sizes else None,
        populations=None if draw.is_imported else _populations(draw, sizes),
    ).merged()
    if draw.is_anonymous:  # columns are places, not people
        ratings = ratings.forget_raters()
    return Matrix(question, labels, by, ratings, tuple(sizes), tuple(sorted(unknown.items())))


def _log_unknown(draw: Draw, question: Question, unknown: Counter[str]) -> None:
    if unknown:
        logger.error("Draw %s, question %s: values that are no label: %s", draw.uuid, question.key, dict(unknown))


def _codes(question: Question, labels: Sequence[Label], rows: Sequence[Row]) -> tuple[tuple[Name, ...], dict[str, int]]:
    """The labels that are compared, and the code of each answer as JSON text; what is not in it is no answer.

    Of sets, the distinct ones that were given act as labels; the empty set is one of them.
    """
    place = {label.key: at for at, label in enumerate(labels)}
    given = {answer for row in rows for answer in row[0] if answer is not None}
    if level_of(question) == MULTILABEL:
        sets = {answer: _set(answer, place) for answer in given}
        names = _in_order({found for found in sets.values() if found is not None}, place)
        code_of = {name: code for code, name in enumerate(names)}
        return names, {answer: code_of[found] for answer, found in sets.items() if found is not None}
    values = {answer: json.loads(answer) for answer in given}
    known = {answer: place[value] for answer, value in values.items() if isinstance(value, str) and value in place}
    return tuple(place), known


def _set(answer: str, place: Mapping[str, int]) -> frozenset[str] | None:
    """The set that an answer is, None where it names what is no label."""
    value = json.loads(answer)
    if not isinstance(value, list) or not all(isinstance(key, str) and key in place for key in value):
        return None
    return frozenset(value)


def _in_order(sets: Iterable[Name], place: Mapping[str, int]) -> tuple[Name, ...]:
    """Small sets first, then by the declared order of their labels: the same whoever answered first."""
    keyed = [(sorted(place[key] for key in each), each) for each in sets if isinstance(each, frozenset)]
    return tuple(each for _places, each in sorted(keyed, key=lambda pair: (len(pair[0]), pair[0])))


def _code(answer: str | None, code_of: Mapping[str, int], unknown: Counter[str], items: int) -> int:
    if answer is None:
        return MISSING
    code = code_of.get(answer, MISSING)
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


def _populations(draw: Draw, sizes: Mapping[str, tuple[int, int]]) -> tuple[float, ...] | None:
    """The size of each stratum where they were drawn at unequal rates, so that figures are also weighted to it.

    A proportional draw is within three items of its share in each stratum; that is no reason to weight. One that was
    declared to over-sample is always weighted, however few items it drew.
    """
    items, drawn = (sum(column) for column in zip(*sizes.values(), strict=True)) if sizes else (0, 0)
    enriched = sizes and (draw.protocol.get("enriched") or draw.protocol.get("strata_minimum"))
    if not enriched and not any(abs(took - drawn * held / items) > PROPORTIONAL for held, took in sizes.values()):
        return None
    return tuple(float(held) for held, _ in sizes.values())
