"""What became of each old label under a new MAJOR: counts and shares with intervals, never a figure of agreement.

Beside each: what the mapping that is stored with the versions would have made of the old label, and how often it was
right. Of sets and spans an item counts under each label that it has, so that rows may add up to more than their items.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agreement.sample_entries import Entry, share
from annotations import bridges
from annotations.models import Sample, Wave
from projects import mapping
from projects.models import GuidelineVersion, Label, Question
from projects.task_types import TASK_TYPES, Json


@dataclass(frozen=True)
class Cell:
    """Of the items with an old label, those that have this label now."""

    label: Label
    share: Entry


@dataclass(frozen=True)
class Row:
    """An old label. `predicted`: what the stored mapping makes of it, several where it was split, none where retired
    without becoming another; `hit`: the items whose new answer has one of these."""

    key: str
    name: str
    n: int
    cells: list[Cell]
    predicted: list[Label]
    hit: Entry


@dataclass(frozen=True)
class Table:
    """The migration of the labels of one question. `unlabelled`: rated again, without an old label on it."""

    question: Question
    labels: list[Label]
    rows: list[Row]
    hit: Entry
    n: int
    same_people: int
    unlabelled: int


@dataclass(frozen=True)
class _Pair:
    """One item: its old labels, its new ones, and for each old one what the mapping makes of it."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    predicted: Mapping[str, tuple[str, ...]]
    same: bool


def of_wave(wave: Wave) -> list[Table]:
    """A table for each question that has labels now and had labels before."""
    stored: dict[str, Any] = Sample.objects.only("before").get(wave=wave).before
    versions = list(wave.project.versions.published().newest_first())[::-1]
    asked = {
        (question.version.number, question.key): question
        for question in Question.objects.filter(version__in=versions)
        .select_related("version")
        .prefetch_related("labels")
    }
    later = {
        version.number: [one for one in versions[at + 1 :] if one.major is not None and one.major <= wave.major]
        for at, version in enumerate(versions)
    }
    same = bridges.by_the_same(wave)
    answers = [(str(row.item.uuid), row.answers, row.item_id in same) for row in bridges.given(wave)]
    found = []
    for question in wave.version.questions.prefetch_related("labels"):
        if TASK_TYPES[question.task_type].needs_labels:
            found.append(_table(question, answers, stored, asked, later))
    return found


def _table(
    question: Question,
    answers: Sequence[tuple[str, Mapping[str, Json], bool]],
    stored: Mapping[str, Any],
    asked: Mapping[tuple[str, str], Question],
    later: Mapping[str, Sequence[GuidelineVersion]],
) -> Table:
    kind, labels = TASK_TYPES[question.task_type], list(question.labels.all())
    known = {label.key for label in labels}
    pairs, names, unlabelled = [], dict[str, str](), 0
    for item, said, is_same in answers:
        old = stored.get(item, {}).get(question.key)
        new = said.get(question.key)
        was = asked.get((old["version"], question.key)) if old else None
        if new is None:
            continue
        if old is None or was is None:
            unlabelled += 1
            continue
        keys = tuple(dict.fromkeys(TASK_TYPES[was.task_type].named(old["value"])))
        names |= {label.key: label.name for label in was.labels.all()}
        predicted = {key: _predicted(key, question.key, later[old["version"]], known) for key in keys}
        pairs.append(_Pair(keys, tuple(dict.fromkeys(kind.named(new))), predicted, is_same))
    used = {key for pair in pairs for key in pair.old}
    rows = [
        _row(key, name, labels, [pair for pair in pairs if key in pair.old])
        for key, name in names.items()
        if key in used
    ]
    hits = [_is_hit(pair) for pair in pairs]
    return Table(
        question=question,
        labels=labels,
        rows=rows,
        hit=share(sum(hits), len(hits)),
        n=len(pairs),
        same_people=sum(pair.same for pair in pairs),
        unlabelled=unlabelled,
    )


def _row(key: str, name: str, labels: Sequence[Label], pairs: Sequence[_Pair]) -> Row:
    now = Counter(label for pair in pairs for label in pair.new)
    predicted = {label for pair in pairs for label in pair.predicted[key]}
    return Row(
        key=key,
        name=name,
        n=len(pairs),
        cells=[Cell(label, share(now[label.key], len(pairs))) for label in labels],
        predicted=[label for label in labels if label.key in predicted],
        hit=share(sum(bool(set(pair.predicted[key]) & set(pair.new)) for pair in pairs), len(pairs)),
    )


def _is_hit(pair: _Pair) -> bool:
    """Whether every old label became one that the mapping makes of it, and no label came from nowhere."""
    made = {label for key in pair.old for label in pair.predicted[key]}
    return set(pair.new) <= made and all(set(pair.predicted[key]) & set(pair.new) for key in pair.old)


def _predicted(label: str, question: str, later: Sequence[GuidelineVersion], known: set[str]) -> tuple[str, ...]:
    """What the versions after the one that it was given under make of a label, one after another."""
    now = [label]
    for version in later:
        targets = mapping.of(version, question)
        made: list[str] = []
        for key in now:
            target = targets.get(key, key)
            made += [target] if isinstance(target, str) else target
        now = list(dict.fromkeys(made))
    return tuple(key for key in now if key in known)
