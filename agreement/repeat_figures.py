"""Intra-rater agreement: how far people agree with themselves, from repeats (`annotations.repeats`).

Each person's first rating against their second one of the same item under the same MAJOR. It is never pooled with,
nor compared as if it were, the agreement between raters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agreement import matrices, protocol
from agreement.coefficients import COEFFICIENTS, intrarater
from agreement.coefficients.coefficient import ORDINAL
from agreement.sample_entries import Entry, coefficient, share
from annotations import repeats
from annotations.conflicts import canonical
from annotations.models import Repeat, Sample, Wave
from projects.models import Membership, Question
from projects.task_types import Json

NO_KAPPA = "Sets, spans and texts have no kappa of one person with themselves here: the share of equal answers stands."


@dataclass(frozen=True)
class Twice:
    """What one person said of an item the first time and again."""

    member: Membership
    first: Json
    again: Json


@dataclass(frozen=True)
class Row:
    """One person, or all of them pooled (`member` None): kappa, the share of equal answers, items."""

    member: Membership | None
    kappa: Entry
    same: Entry


@dataclass(frozen=True)
class QuestionFigures:
    """The intra-rater figures of one question. `table` counts first label (down) by second; empty without labels."""

    question: Question
    title: str
    pooled: Row
    people: list[Row]
    labels: list[str]
    table: list[list[int]]

    def to_json(self) -> dict[str, Any]:
        rows = [self.pooled, *self.people]
        return {
            "question": self.question.key,
            "title": self.title,
            "kind": "intra-rater agreement",
            "figures": [
                {
                    "rater": str(row.member.uuid) if row.member else None,
                    "rater_name": row.member.name if row.member else "pooled",
                    "kappa": row.kappa,
                    "same": row.same,
                }
                for row in rows
            ],
            "labels": [label.key for label in self.question.labels.all()] if self.table else [],
            "table": self.table,
        }


def of_wave(wave: Wave) -> list[QuestionFigures]:
    """The figures of every question that the repeats of `wave` answer, as they stand now."""
    given = list(repeats.given(wave))
    seed = int.from_bytes(bytes(Sample.objects.only("seed").get(wave=wave).seed[:4]))
    questions = list(wave.version.questions.prefetch_related("labels"))
    rules = protocol.of_project(wave.project, questions).questions
    return [_of_question(question, rules[question.key].weights, given, seed) for question in questions]


def _of_question(question: Question, weights: str | None, given: Iterable[Repeat], seed: int) -> QuestionFigures:
    twice = [_twice(repeat, question.key) for repeat in given]
    both = [one for one in twice if one.first is not None and one.again is not None]
    people: dict[int, list[Twice]] = {}
    for one in both:
        people.setdefault(one.member.pk, []).append(one)
    key = _kappa(question, weights)
    labels = list(question.labels.all())
    return QuestionFigures(
        question=question,
        title=_(COEFFICIENTS[key].title) if key else _("Share of equal answers"),
        pooled=_row(None, both, question, key, seed),
        people=sorted(
            (_row(own[0].member, own, question, key, seed) for own in people.values()),
            key=lambda row: row.member.name if row.member else "",
        ),
        labels=[label.name for label in labels] if key else [],
        table=_table(both, [label.key for label in labels]) if key else [],
    )


def _twice(repeat: Repeat, key: str) -> Twice:
    again = repeat.slot.annotation
    return Twice(repeat.member, repeat.first.answers.get(key), again.answers.get(key))


def _kappa(question: Question, weights: str | None) -> str:
    """The kappa of a person with themselves; empty for answers that are no single label."""
    if not matrices.is_single(question):
        return ""
    if matrices.level_of(question) == ORDINAL:
        return "weighted_kappa_linear" if weights == "linear" else "weighted_kappa_quadratic"
    return "cohen_kappa"


def _row(member: Membership | None, both: Sequence[Twice], question: Question, key: str, seed: int) -> Row:
    same = sum(canonical(one.first) == canonical(one.again) for one in both)
    return Row(member, _entry(both, question, key, seed), share(same, len(both)))


def _entry(both: Sequence[Twice], question: Question, key: str, seed: int) -> Entry:
    if not key:
        return {"undefined": "not_offered", "sentence": NO_KAPPA, "n": len(both)}
    labels = [label.key for label in question.labels.all()]
    known = [one for one in both if one.first in labels and one.again in labels]
    first, again = [str(one.first) for one in known], [str(one.again) for one in known]
    return coefficient(key, intrarater.repeated(first, again, labels), seed=seed)


def _table(both: Sequence[Twice], labels: Sequence[str]) -> list[list[int]]:
    place = {label: at for at, label in enumerate(labels)}
    table = [[0] * len(labels) for _label in labels]
    for one in both:
        if one.first in place and one.again in place:
            table[place[str(one.first)]][place[str(one.again)]] += 1
    return table
