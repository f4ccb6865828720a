"""What one computation keeps: the kernel's figures for one draw and question, with all that stands beside them.

The result is plain data, and what pages, API, exports and the recompute kit read. SCHEMA 2:

  schema interim question level engine seed     `level`: nominal, ordinal, multilabel or spans; free text has no result
  labels           [{key name value}] in declared order
  raters           ids in the order of the columns; [] where the ratings are anonymous (`anonymous` is then true)
  n drawn ratings_per_item minimum_n            n: items with two measured ratings or more
  coverage         {drawn rated unrated items_by_ratings}
  disagreements    items on which two ratings differ
  headline         {key title source reason named refused beside}; its entry is statistics[key], whatever the level
  titles           {key: title} of those statistics that COEFFICIENTS does not name, or that are called otherwise here
  statistics       {key: entry}, or a list of entries with "label", "pair" or "rater" (see below)
  uses             [by rater][by label]: ratings that have the label; for spans, spans with it
  table            [by label][by label], two named raters only, the first down: for sets and spans see `coincidences`
  coincidences     [by label][by label] pairs of ratings, without who said which, symmetric. Sets: on the diagonal both
                   have the label, off it one has the first and not the second, the other the second and not the first.
                   Spans: spans of the two with the same borders
  per_label        sets and spans only: [{label, both, one, neither, table}], pairs of ratings in which both, one or
                   neither has the label; `table` [[both, first only], [second only, neither]] for two named raters
                   (left out where `without_raters` holds). Spans: of matched borders, `neither` is None
  pairs            [{raters n statistics table}], of pairs that share items; `table` by label as above
  strata           [{stratum n, **entry of the headline}]
  weighting        None, or, where strata were drawn at unequal rates, {key title as_drawn weighted strata}: two entries
                   of the headline, never one in the place of the other, and [{stratum population drawn complete}].
                   Every other statistic of the whole table has its own "weighted" entry inside its entry
  expert           None, or {rater rated}: the one whom the protocol names, and how many items they rated here.
                   Then statistics have expert_kappa_pooled (or, on a scale, expert_weighted_kappa_linear and _quadratic
                   too), expert_percent_agreement, and lists of the same by rater: expert_kappa_per_rater,
                   expert_weighted_kappa_linear_per_rater, …_quadratic_per_rater
  merged           [{labels confused share key title before merged gain worth}], the most confused pair first: the
                   headline as it is and if the two labels were one (two entries, the second with its interval), `share`
                   of all disagreeing pairs of ratings; `worth` says that the gain is 0.05 or more. [] for sets and spans
  units            spans only: {tokenisation title total inside threshold}: what alpha is counted on, how many there are
                   and how many are in a span of either; the threshold of overlap F1
  arithmetic       [{symbol formula numbers value}]
  diagnostics      [{key numbers}], sentences in coefficients.diagnostics.SENTENCES
  skips versions unknown
  difference       None, or {draw version key title, **entry, se, p}: this draw minus the newest one of the MAJOR before
  pooled           None, or {waves key title, **entry}

An entry is {value n}, with observed, expected, se, interval, method, level, replicates, undefined_share and weighted
where there are such; or {undefined sentence n}. Statistics by label, in declared order: specific_agreement,
per_class_kappa (two raters) or per_class_alpha: of the label against the rest. Of sets: percent_agreement is exact-set
agreement, krippendorff_alpha_masi, _jaccard, _nominal, macro_mean_kappa (never without the list). Of spans:
krippendorff_alpha_nominal (on tokens), exact_f1, boundary_f1, label_agreement, overlap_f1, token_f1, and by label
specific_agreement (exact F1 of the label's spans) and per_class_alpha (on tokens).

Free text has no coefficient and no result: `matrices.not_measured` is the sentence that stands in its place.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count

from agreement import matrices
from agreement.coefficients import COEFFICIENTS, ENGINE_VERSION, REASONS, summarise
from agreement.coefficients import headline as headlines
from agreement.coefficients.arithmetic import UNFOLDED
from agreement.coefficients.bootstrap import Interval, interval
from agreement.coefficients.comparing import draws as difference_of
from agreement.coefficients.diagnostics import diagnose
from agreement.coefficients.headline import Design
from agreement.coefficients.light import rater_pairs
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.summary import entry
from agreement.matrices import Matrix
from agreement.protocol import AUTO, Protocol, QuestionRule
from annotations.enums import AssignmentState
from annotations.models import Assignment, Draw
from projects.models import Membership, Question
from projects.task_types import TASK_TYPES

SCHEMA = 2
PAIR_COEFFICIENTS = ("cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic")


@dataclass(frozen=True)
class Context:
    """What all questions of a draw share, read once: who rated, who skipped why, and which draws came before.

    `matrix_of` gives the ratings of those other draws on a question, None where they were not asked it.
    """

    raters: tuple[Membership, ...]
    skips: tuple[tuple[str, str, int], ...]
    versions: tuple[tuple[str, int], ...]
    earlier: Draw | None
    siblings: tuple[Draw, ...]
    matrix_of: Callable[[Draw, str], Matrix | None]

    @classmethod
    def of(cls, draw: Draw, *, at: datetime) -> "Context":
        skipped = Assignment.objects.filter(slot__draw=draw, state=AssignmentState.SKIPPED)
        skips = skipped.values_list("member__uuid", "skip_reason").annotate(Count("pk")).order_by("member__uuid")
        before = Before.of(draw, at=at)
        tallies = matrices.tallies([draw, *before.draws])
        before.tallies.update(tallies)
        return cls(
            raters=tallies[draw.pk].raters,
            skips=tuple(sorted((str(member), reason, count) for member, reason, count in skips)),
            versions=tallies[draw.pk].versions,
            earlier=before.earlier,
            siblings=before.siblings,
            matrix_of=before.matrix_of,
        )


@dataclass
class Before:
    """The draws that a closed one is compared or pooled with: read only if asked for, all of them at once."""

    earlier: Draw | None
    siblings: tuple[Draw, ...]
    at: datetime
    tallies: dict[int, matrices.Tally] = field(default_factory=dict)
    _read: dict[str, dict[int, Matrix]] = field(default_factory=dict)
    _questions: dict[int, list[Question]] | None = None
    _sizes: dict[int, dict[str, tuple[int, int]]] | None = None

    @classmethod
    def of(cls, draw: Draw, *, at: datetime) -> "Before":
        return cls(_earlier(draw), _siblings(draw), at)

    @property
    def draws(self) -> list[Draw]:
        return [*self.siblings, *([self.earlier] if self.earlier else [])]

    def matrix_of(self, draw: Draw, question_key: str) -> Matrix | None:
        """The ratings of one of these draws on a question."""
        if question_key not in self._read:
            self._read[question_key] = self._matrices(question_key)
        return self._read[question_key].get(draw.pk)

    def _matrices(self, question_key: str) -> dict[int, Matrix]:
        if self._questions is None or self._sizes is None:
            self._questions = matrices.questions_of(self.draws)
            self._sizes = matrices.sizes_of(self.draws)
        asked = {
            draw: question
            for draw, questions in self._questions.items()
            for question in questions
            if question.key == question_key
        }
        by = {draw.pk: self.tallies[draw.pk].raters for draw in self.draws}
        return matrices.of_several(self.draws, asked, by=by, sizes=self._sizes, at=self.at)


def digest(draw: Draw, matrix: Matrix, context: Context) -> str:
    """The fingerprint of everything that a result is made from. Equal fingerprints mean equal figures."""
    ratings = matrix.ratings
    about = {
        "schema": SCHEMA,
        "engine": ENGINE_VERSION,
        "interim": draw.is_open,
        "question": [matrix.question.key, matrix.question.task_type],
        "labels": [[label.key, label.value] for label in matrix.labels],
        "raters": list(ratings.raters),
        "strata": matrix.strata,
        "populations": ratings.populations,
        "protocol": draw.protocol,
        "drawn": draw.size,
        "unknown": matrix.unknown,
        "skips": context.skips,
        "versions": context.versions,
        "earlier": str(context.earlier.uuid) if context.earlier else None,
        "siblings": [str(sibling.uuid) for sibling in context.siblings],
    }
    found = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode())
    for array, dtype in ((ratings.codes, "<i8"), (ratings.weights, "<f8"), (ratings.strata, "<i8")):
        found.update(b"-" if array is None else np.ascontiguousarray(array, dtype=dtype).tobytes())
    return found.hexdigest()


def seed_of(draw: Draw, question_key: str) -> int:
    """The seed of the intervals: the same draw and question give the same interval on any machine."""
    return int.from_bytes(hashlib.sha256(f"{draw.uuid}/{question_key}".encode()).digest()[:6])


def compute(draw: Draw, matrix: Matrix, context: Context) -> dict[str, Any]:
    """Everything that pages, API and exports show of a draw and question, as plain data. Asks no database itself."""
    protocol = Protocol.from_json(draw.protocol, [matrix.question])
    rule, ratings = protocol.questions[matrix.question.key], matrix.ratings
    seed = seed_of(draw, matrix.question.key)
    result = summarise(ratings, rule.level, seed=seed)
    statistics = result["statistics"]
    chosen = _headline(rule, ratings, protocol.ratings_per_item, statistics)
    statistics.setdefault(chosen["key"], nothing_to_compare())
    found = diagnose(ratings, rule.level, minimum_n=protocol.minimum_n)
    return {
        **(_without_raters(result) if ratings.exchangeable else result),
        "schema": SCHEMA,
        "interim": draw.is_open,
        "question": matrix.question.key,
        "labels": [{"key": label.key, "name": label.name, "value": label.value} for label in matrix.labels],
        "n": round(ratings.n_paired),
        "drawn": draw.size,
        "ratings_per_item": protocol.ratings_per_item,
        "minimum_n": protocol.minimum_n,
        "coverage": _coverage(ratings, draw.size),
        "disagreements": round(ratings.n_disputed),
        "headline": chosen,
        "coincidences": [[round(count) for count in row] for row in pair_counts(ratings)],
        "pairs": _pairs(ratings, statistics),
        "strata": _strata(matrix, chosen["key"], seed),
        "arithmetic": _arithmetic(chosen["key"], ratings),
        "diagnostics": [{"key": each.key, "numbers": dict(each.numbers)} for each in found],
        "skips": [{"rater": rater, "reason": reason, "n": n} for rater, reason, n in context.skips],
        "versions": [{"version": version, "ratings": n} for version, n in context.versions],
        "unknown": [{"value": value, "ratings": n} for value, n in matrix.unknown],
        "difference": _difference(context, matrix, chosen["key"], seed),
        "pooled": _pooled(context, draw, matrix, chosen["key"], seed),
    }


def _without_raters(result: Mapping[str, Any]) -> dict[str, Any]:
    """Uses of the labels in all, and no rater: columns are places of ratings."""
    uses = [sum(column) for column in zip(*result["uses"], strict=True)]
    return {**result, "raters": [], "uses": [uses], "anonymous": True}


def nothing_to_compare() -> dict[str, Any]:
    """The entry of a coefficient that no pair of ratings is there for."""
    return {"undefined": "no_pairs", "sentence": REASONS["no_pairs"], "n": 0}


def pair_counts(ratings: Ratings) -> FloatArray:
    """(n_labels, n_labels) unordered pairs of ratings of an item, symmetric, without who said which."""
    counts, weights = ratings.counts(), ratings.weights
    pairs = (counts * weights[:, None]).T @ counts
    same = weights @ (counts * (counts - 1)) / 2
    np.fill_diagonal(pairs, same)
    return np.asarray(pairs)


def _headline(
    rule: QuestionRule, ratings: Ratings, ratings_per_item: int, statistics: Mapping[str, Any]
) -> dict[str, Any]:
    """The coefficient that the protocol names, or the one that its scale and raters call for, and why."""
    # Two people who rate every item are complete by design; a pair that is missing at the end is left out of kappa.
    n_raters = max(ratings.n_raters, 2 if ratings_per_item == 2 else 3)
    complete = n_raters == ratings_per_item == 2
    design = Design(rule.level, n_raters, complete, weights=rule.weights or "linear", exchangeable=ratings.exchangeable)
    choice = headlines.choose(design)
    key, reason, named, refused = choice.key or "percent_agreement", choice.reason, False, None
    if rule.coefficient != AUTO:
        refused = headlines.refusal(rule.coefficient, design, named=True)
        named = refused is None and (rule.coefficient in statistics or not ratings.n_paired)
        key = rule.coefficient if named else key
    beside = [each for each in choice.beside if each != key]
    return {
        "key": key,
        "title": COEFFICIENTS[key].title,
        "source": COEFFICIENTS[key].source,
        "reason": "" if named else reason,
        "named": rule.coefficient if rule.coefficient != AUTO else None,
        "refused": refused,
        "beside": [*beside, choice.key] if key != choice.key else beside,
    }


def _coverage(ratings: Ratings, drawn: int) -> dict[str, Any]:
    by_size = np.bincount(ratings.sizes, weights=ratings.weights) if len(ratings.weights) else np.zeros(1)
    sizes = {str(size): round(float(items)) for size, items in enumerate(by_size) if size and items}
    rated = round(ratings.n_rated)
    return {"drawn": drawn, "rated": rated, "unrated": drawn - rated, "items_by_ratings": sizes}


def _pairs(ratings: Ratings, statistics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each pair of raters that shares items: its table by rater, and its kappas on the items both rated."""
    found: list[dict[str, Any]] = []
    if ratings.exchangeable:
        return found
    for place, (first, second) in enumerate(rater_pairs(ratings.n_raters)):
        pair = ratings.pair(first, second)
        if not pair.n_paired:
            continue
        entries = {
            key: statistics[key] if ratings.n_raters == 2 else statistics[f"pairwise_{key}"][place]
            for key in PAIR_COEFFICIENTS
            if key in statistics or f"pairwise_{key}" in statistics
        }
        table = [[round(float(count)) for count in row] for row in pair.table()]
        names = [ratings.raters[first], ratings.raters[second]]
        found.append({"raters": names, "n": round(pair.n_paired), "table": table, "statistics": entries})
    return found


def _strata(matrix: Matrix, key: str, seed: int) -> list[dict[str, Any]]:
    found = []
    for place, name in enumerate(matrix.strata):
        ratings = matrix.in_stratum(place)
        found.append({"stratum": name, "n": round(ratings.n_paired), **_one(ratings, key, seed)})
    return found


def _one(ratings: Ratings, key: str, seed: int) -> dict[str, Any]:
    """One coefficient of a part of the ratings, with its interval."""
    coefficient = COEFFICIENTS[key]
    if not ratings.n_paired:
        return nothing_to_compare()
    return entry(coefficient.function(ratings), interval(ratings, coefficient.statistic(ratings), seed=seed))


def _arithmetic(key: str, ratings: Ratings) -> list[dict[str, Any]]:
    """The steps from the table to the headline, where it can be unfolded."""
    if key not in UNFOLDED or not ratings.n_paired:
        return []
    if ratings.n_raters == 2:
        table = ratings.table()
    elif key == "krippendorff_alpha_nominal":
        table = _coincidences(ratings) / 2
    else:
        return []
    steps = UNFOLDED[key](table, ratings)
    return [{"symbol": s.symbol, "formula": s.formula, "numbers": s.numbers, "value": s.value} for s in steps]


def _coincidences(ratings: Ratings) -> FloatArray:
    """Krippendorff's coincidence matrix: an item with m ratings enters with 1 / (m - 1)."""
    pairs = ratings.keep(ratings.sizes >= 2)
    counts, weights = pairs.counts(), pairs.weights / (pairs.sizes - 1)
    matrix = (counts * weights[:, None]).T @ counts
    np.fill_diagonal(matrix, weights @ (counts * (counts - 1)))
    return np.asarray(matrix)


def _earlier(draw: Draw) -> Draw | None:
    """The newest closed draw of the MAJOR before, once this one is closed."""
    if draw.is_open:
        return None
    before = Draw.objects.closed().filter(wave__project=draw.wave.project_id, wave__major__lt=draw.wave.major)
    newest_first = before.order_by("-wave__major", "-wave__number")
    return newest_first.select_related("wave__version").defer("population").first()


def _siblings(draw: Draw) -> tuple[Draw, ...]:
    """The closed draws before this one under its MAJOR with the same protocol: they pool, once this one is closed.

    The protocol of imported ratings was chosen after the data, so they pool with nothing.
    """
    if draw.is_open or draw.is_imported:
        return ()
    same = Draw.objects.closed().filter(wave__project=draw.wave.project_id, wave__major=draw.wave.major)
    before = same.filter(wave__number__lt=draw.wave.number).order_by("wave__number")
    before = before.select_related("wave__version").defer("population")
    return tuple(other for other in before if terms(other) == terms(draw))


def terms(draw: Draw) -> dict[str, Any]:
    """What two protocols must share for their draws to pool; under which MINOR they opened is told, not compared."""
    return {name: value for name, value in draw.protocol.items() if name != "version"}


def _difference(context: Context, matrix: Matrix, key: str, seed: int) -> dict[str, Any] | None:
    """This draw minus the newest closed one of the MAJOR before: each is resampled by itself and subtracted."""
    earlier = context.earlier
    before = context.matrix_of(earlier, matrix.question.key) if earlier else None
    if earlier is None or before is None or before.question.task_type != matrix.question.task_type:
        return None
    sides, level = (matrix.ratings, before.ratings), TASK_TYPES[matrix.question.task_type].level
    if not all(side.n_paired for side in sides):
        return None
    coefficient = COEFFICIENTS[key]
    if not all(coefficient.applies(side, level) for side in sides):
        # Two raters against several: the coefficient that takes both.
        coefficient = COEFFICIENTS[f"krippendorff_alpha_{level}"]
    statistics = coefficient.statistic(sides[0]), coefficient.statistic(sides[1])
    found = difference_of(*sides, statistics, seed=seed)
    if found is None:
        return None
    return {
        "draw": str(earlier.uuid),
        "version": earlier.wave.version.number,
        "key": coefficient.key,
        "title": coefficient.title,
        "value": found.value,
        "se": found.standard_error,
        "p": found.p,
        **_span(found.interval),
    }


def _pooled(context: Context, draw: Draw, matrix: Matrix, key: str, seed: int) -> dict[str, Any] | None:
    question = matrix.question.key
    parts = [part for other in context.siblings if (part := context.matrix_of(other, question)) is not None]
    if not parts:
        return None
    ratings = matrices.pooled([*parts, matrix])
    level = TASK_TYPES[matrix.question.task_type].level
    if not COEFFICIENTS[key].applies(ratings, level):
        key = f"krippendorff_alpha_{level}"
    waves = [*(other.wave.number for other in context.siblings), draw.wave.number]
    return {"waves": waves, "key": key, "title": COEFFICIENTS[key].title, **_one(ratings, key, seed)}


def _span(found: Interval | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {"interval": [found.low, found.high], "method": found.method, "level": found.level}
