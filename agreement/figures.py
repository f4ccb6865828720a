"""What one computation keeps: the kernel's figures for one draw and question, with all that stands beside them.

The result is plain data, and what pages, API, exports and the recompute kit read. SCHEMA 3:

  schema interim question level engine seed     `level`: nominal, ordinal, multilabel or spans; free text has no result
  labels           [{key name value}] in declared order; `answers` too, of sets: the distinct ones that were given
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
                   (left out by `people.kept_back`). Spans: of matched borders, `neither` is None
  pairs            [{raters n statistics table}], of pairs that share items; `table` by label as above
  strata           [{stratum n, **entry of the headline}]; after those of the draw's field those by the raters' role:
                   {stratum by raters key n, **entry}, `by` being "role" and `stratum` lead or annotator: the people
                   of one role among themselves, where there are two or more and others have another role. Not of spans
  weighting        None, or, where strata were drawn at unequal rates, {key title as_drawn weighted strata}: two entries
                   of the headline, never one in the place of the other, and [{stratum population rated complete}].
                   Every other statistic of the whole table has its own "weighted" entry inside its entry
  expert           None, or {rater rated}: the one whom the protocol names, and how many items they rated here.
                   Then statistics have expert_kappa_pooled (or, on a scale, expert_weighted_kappa_linear and _quadratic
                   too), expert_percent_agreement, and lists of the same by rater: expert_kappa_per_rater,
                   expert_weighted_kappa_linear_per_rater, …_quadratic_per_rater. Of sets: expert_kappa_per_label (a
                   list by label) and expert_percent_agreement. Of spans: expert_exact_f1, expert_overlap_f1,
                   expert_token_f1. Of both kinds each share is also a list by rater, …_per_rater
  merged           [{labels confused share key title before merged gain worth}], the most confused pair first: the
                   headline as it is and if the two labels were one (two entries, the second with its interval), `share`
                   of all disagreeing pairs of ratings; `worth`: the gain is 0.05 or more. [] for sets and spans
  units            spans only: {tokenisation title total inside threshold}: what alpha is counted on, how many there are
                   and how many are in a span of either; the threshold of overlap F1
  arithmetic       [{symbol formula numbers value}]
  diagnostics      [{key numbers}], sentences in coefficients.diagnostics.SENTENCES
  skips versions unknown
  difference       None, or {draw version key title, **entry, se, p}: this draw minus the newest one of the MAJOR before
  pooled           None, or {waves key title, **entry}

An entry is {value n}, with observed, expected, observed_disagreement, expected_disagreement, se, interval, method,
level, replicates, undefined_share and weighted where there are such; or {undefined sentence n}. What is a share (F1,
percent agreement) has no expected agreement. Statistics by label, in declared order: specific_agreement,
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

from agreement import label_figures, matrices, span_figures
from agreement.coefficients import ENGINE_VERSION, headline
from agreement.coefficients.classes import MINIMUM_USES
from agreement.coefficients.ratings import Ratings
from agreement.matrices import Matrix
from agreement.protocol import Protocol
from annotations.enums import AssignmentState
from annotations.models import Assignment, Draw
from projects.models import Membership, Question

SCHEMA = 3
# Values of the protocol that are as if they were not there.
SILENT = {"minimum_uses": MINIMUM_USES}


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
        skipped = Assignment.objects.filter(
            member__project=draw.wave.project_id, state=AssignmentState.SKIPPED, slot__draw=draw
        )
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
        "answers": [sorted(answer) for answer in ratings.labels if isinstance(answer, frozenset)],
        "raters": list(ratings.raters),
        "roles": [matrices.role_of(member) for member in matrix.raters],
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
    if matrix.spans is not None:
        found.update(matrix.spans.fingerprint())
    return found.hexdigest()


def seed_of(draw: Draw, question_key: str) -> int:
    """The seed of the intervals: the same draw and question give the same interval on any machine."""
    return int.from_bytes(hashlib.sha256(f"{draw.uuid}/{question_key}".encode()).digest()[:6])


def compute(draw: Draw, matrix: Matrix, context: Context) -> dict[str, Any]:
    """Everything that pages, API and exports show of a draw and question, as plain data. Asks no database itself."""
    protocol = Protocol.from_json(draw.protocol, [matrix.question])
    ratings, question = matrix.ratings, matrix.question.key
    make = label_figures.of if matrix.spans is None else span_figures.of
    return {
        **make(draw, matrix, protocol, seed=seed_of(draw, question), others=_others(draw, matrix, context)),
        "schema": SCHEMA,
        "interim": draw.is_open,
        "question": question,
        "level": matrix.level,
        "engine": ENGINE_VERSION,
        "labels": [{"key": label.key, "name": label.name, "value": label.value} for label in matrix.labels],
        "n": round(ratings.n_paired),
        "drawn": draw.size,
        "ratings_per_item": protocol.ratings_per_item,
        "minimum_n": protocol.minimum_n,
        "coverage": _coverage(ratings, draw.size),
        "expert": _expert(protocol, ratings),
        "skips": [{"rater": rater, "reason": reason, "n": n} for rater, reason, n in context.skips],
        "versions": [{"version": version, "ratings": n} for version, n in context.versions],
        "unknown": [{"value": value, "ratings": n} for value, n in matrix.unknown],
    }


def _others(draw: Draw, matrix: Matrix, context: Context) -> label_figures.Others:
    """The draws that this one is compared or pooled with, as far as they asked the question in the same way.

    Raises
    ------
    ValueError : siblings whose ratings must not be pooled with these, see `headline.refusal`
    """
    earlier = context.earlier
    before = context.matrix_of(earlier, matrix.question.key) if earlier else None
    if before is not None and (before.question.task_type, _cut(before)) != (matrix.question.task_type, _cut(matrix)):
        before = None
    parts = [(other, context.matrix_of(other, matrix.question.key)) for other in context.siblings]
    siblings = tuple((other, part) for other, part in parts if part is not None)
    majors = {draw.wave.major, *(other.wave.major for other, _ in siblings)}
    cuts = {_cut(part) for part in [matrix, *(part for _, part in siblings)]}
    design = headline.Design(matrix.level, max(2, matrix.ratings.n_raters))
    why_not = headline.refusal("", design, majors=len(majors), tokenisations=len(cuts))
    if why_not:
        raise ValueError(why_not)
    return label_figures.Others(earlier if before else None, before, siblings)


def _cut(matrix: Matrix) -> str:
    """The tokenisation that figures on spans are made on; the same for all other answers."""
    return matrix.spans.tokenisation if matrix.spans else ""


def _coverage(ratings: Ratings, drawn: int) -> dict[str, Any]:
    by_size = np.bincount(ratings.sizes, weights=ratings.weights) if len(ratings.weights) else np.zeros(1)
    sizes = {str(size): round(float(items)) for size, items in enumerate(by_size) if size and items}
    rated = round(ratings.n_rated)
    return {"drawn": drawn, "rated": rated, "unrated": drawn - rated, "items_by_ratings": sizes}


def _expert(protocol: Protocol, ratings: Ratings) -> dict[str, Any] | None:
    """The one whom the protocol names, and how many of these items they rated; None of places of ratings."""
    if not protocol.expert or ratings.exchangeable:
        return None
    rated = 0.0
    if protocol.expert in ratings.raters:
        column = ratings.codes[:, ratings.raters.index(protocol.expert)]
        rated = float(ratings.weights[column >= 0].sum())
    return {"rater": protocol.expert, "rated": round(rated)}


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
    """What two protocols must share for their draws to pool; under which MINOR they opened is told, not compared.

    What says nothing is left out: a protocol that was frozen before a field came pools with one that leaves it empty.
    """
    rules = {key: _said(rule) for key, rule in draw.protocol.get("questions", {}).items()}
    return {**_said(draw.protocol), "version": None, "questions": rules}


def _said(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, "") and SILENT.get(name) != value}
