"""What becomes of single labels of earlier MAJORs: kept, mapped, or labelled again (DESIGN §3, "a new MAJOR").

A lead chooses label by label, under the newest MAJOR; without a choice the mapping that is stored with the guideline
holds. What is to be labelled again goes into a wave of its own, which is not measured; until that wave opens each
choice can be changed, and every one stays on record.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils.translation import gettext as _

from annotations import opening, releasing, samples
from annotations.enums import SAMPLES, OldLabel, SlotKind, WaveKind, WaveState
from annotations.models import Annotation, OldLabelChoice, Wave, WaveItem
from projects import activities, mapping
from projects.enums import Standing
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Label, Membership, Project, Question
from projects.task_types import TASK_TYPES

Key = tuple[str, str]  # question, label


@dataclass(frozen=True)
class Row:
    """An old label: how many single labels have it, what the stored mapping makes of it, and what was chosen."""

    question: Question
    label: Label
    n: int
    by_mapping: tuple[str, ...]
    standing: OldLabelChoice | None
    others: list[Label]

    @property
    def choice(self) -> OldLabel:
        return OldLabel(self.standing.choice) if self.standing else OldLabel.MAPPING

    @property
    def locked(self) -> Wave | None:
        """The wave that labels it again: what was chosen holds from its opening on."""
        return self.standing.wave if self.standing else None


@dataclass(frozen=True)
class Overview:
    """The old labels of a project under its newest MAJOR, and how many items wait to be labelled again."""

    version: GuidelineVersion | None
    rows: list[Row]
    again: int
    history: list[OldLabelChoice]


def overview(project: Project) -> Overview:
    """Every label that old singles carry, by question; the number of queries does not depend on how many items."""
    versions = list(project.versions.published().newest_first())[::-1]
    if not versions:
        return Overview(None, [], 0, [])
    version, labels = versions[-1], list(_labels(project))
    asked = {(label.question.key, label.key): (label.question, label) for label in labels}  # the newest stands
    old = {label.question for label in labels if (label.question.version.major or 0) < (version.major or 0)}
    now: dict[str, list[Label]] = {}
    for label in labels:
        if label.question.version_id == version.pk:
            now.setdefault(label.question.key, []).append(label)
    counts = _counts(project, version, {(question.key, question.task_type) for question in old})
    history = list(_choices(project, version).order_by("-pk"))
    choices = {(row.question_key, row.label_key): row for row in history if row.standing}
    rows = []
    for (question, key), (known, found) in asked.items():
        n = counts.get((question, key), 0)
        if n or (question, key) in choices:  # what is just being labelled again has none left
            others = [one for one in now.get(question, []) if one.key != key]
            made = _by_mapping(known.version, question, key, versions, now.get(question, []))
            rows.append(Row(known, found, n, made, choices.get((question, key)), others))
    return Overview(version, rows, len(_again(project, version, choices.values())), history)


def singles(project: Project, version: GuidelineVersion) -> QuerySet[Annotation]:
    """The ratings that alone stand for their items, of earlier MAJORs, of items that nothing newer was said of."""
    met = WaveItem.objects.filter(item=OuterRef("item")).exclude(wave__kind__in=SAMPLES)
    newer = Annotation.objects.filter(item=OuterRef("item"), slot__isnull=False, major__gt=OuterRef("major"))
    checked = Annotation.objects.filter(
        item=OuterRef("item"), wave_item__wave__kind=WaveKind.SPOTCHECK, slot__isnull=False
    )
    return Annotation.objects.filter(
        ~Exists(newer.exclude(wave_item__wave__kind__in=SAMPLES)),
        ~Exists(met.filter(wave__state__in=[WaveState.OPENING, WaveState.OPEN])),
        ~Exists(checked),
        item__project=project,
        item__standing=Standing.CURRENT,
        major__lt=version.major or 0,
        wave_item__draw__isnull=True,
        slot__kind__in=[SlotKind.SINGLE, SlotKind.IMPORTED],
    ).exclude(wave_item__wave__state=WaveState.IMPORTING)


def _counts(project: Project, version: GuidelineVersion, questions: Iterable[tuple[str, str]]) -> Counter[Key]:
    """(question, label) -> single labels that name it; of these questions, each with its task type."""
    found: Counter[Key] = Counter()
    for question, kind in questions:
        task = TASK_TYPES[kind]
        if not task.needs_labels:
            continue
        rows = (
            singles(project, version)
            .filter(version__questions__key=question, version__questions__task_type=kind)
            .annotate(answer=KeyTextTransform(question, "latest"))
            .filter(answer__isnull=False)
            .values_list("answer")
            .annotate(n=Count("pk", distinct=True))
            .order_by()
        )
        for answer, n in rows.iterator():
            value = json.loads(answer) if answer.startswith("[") else answer
            for label in dict.fromkeys(task.named(value)):
                found[question, label] += n
    return found


def _labels(project: Project) -> QuerySet[Label]:
    """Every label of every published version, in the order of the versions."""
    rows = Label.objects.filter(question__version__in=project.versions.published()).select_related("question__version")
    return rows.order_by("question__version__major", "question__version__minor", "question__order", "order")


def _choices(project: Project, version: GuidelineVersion) -> QuerySet[OldLabelChoice]:
    rows = OldLabelChoice.objects.filter(project=project, major=version.major or 0)
    return rows.select_related("by__user", "wave")


def _standing(project: Project, version: GuidelineVersion) -> QuerySet[OldLabelChoice]:
    return _choices(project, version).filter(standing=True)


def _by_mapping(
    since: GuidelineVersion, question: str, label: str, versions: list[GuidelineVersion], now: Iterable[Label]
) -> tuple[str, ...]:
    """The names of what the stored mapping makes of a label; none where it is kept though nobody asks it any more."""
    target: mapping.Target = label
    for version in versions[versions.index(since) + 1 :]:
        if isinstance(target, str):
            target = mapping.of(version, question).get(target, target)
    names = {one.key: one.name for one in now}
    keys = [target] if isinstance(target, str) else target
    return tuple(names[key] for key in keys if key in names)


# -- choosing ----------------------------------------------------------------------------------------------------------


@transaction.atomic
def choose(
    project: Project, *, question: str, label: str, choice: str, becomes: str = "", by: Membership, at: datetime
) -> OldLabelChoice:
    """Say what becomes of the old single labels `label`. May be repeated; the same again changes nothing.

    Raises Invalid for what cannot be chosen, DomainError once a wave labels them again.
    """
    project, version = samples.lock(project, by=by)
    _check(project, version, question, label, choice, becomes)
    becomes = becomes if choice == OldLabel.MAP else ""
    standing = _standing(project, version).filter(question_key=question, label_key=label).first()
    if standing is not None:
        if (standing.choice, standing.becomes) == (choice, becomes):
            return standing
        if standing.wave is not None:
            raise DomainError(
                _("%(wave)s labels these again since it was opened: what was chosen holds.")
                % {"wave": str(standing.wave).capitalize()},
                code="labelled_again",
            )
        OldLabelChoice.objects.filter(pk=standing.pk).update(standing=False)
    facts: dict[str, Any] = {"label": label, "question": question, "choice": choice}
    activities.record("old_label_chosen", project, by=by, at=at, **facts)
    return OldLabelChoice.objects.create(
        project=project,
        major=version.major or 0,
        question_key=question,
        label_key=label,
        choice=choice,
        becomes=becomes,
        by=by,
        at=at,
    )


def _check(project: Project, version: GuidelineVersion, question: str, label: str, choice: str, becomes: str) -> None:
    if choice not in OldLabel.values:
        raise Invalid(
            _("“%(choice)s” cannot be chosen: expected one of %(known)s.")
            % {"choice": choice, "known": ", ".join(OldLabel.values)}
        )
    old = Label.objects.filter(
        question__version__in=project.versions.published(),
        question__version__major__lt=version.major or 0,
        question__key=question,
        key=label,
    )
    if not old.exists():
        raise Invalid(_("“%(label)s” is no label of an earlier MAJOR.") % {"label": label})
    asked = Label.objects.filter(question__version=version, question__key=question)
    if choice == OldLabel.MAP and (becomes == label or not asked.filter(key=becomes).exists()):
        raise Invalid(
            _("“%(label)s” is no other label of this question in guideline %(number)s: choose one that is.")
            % {"label": becomes, "number": version.number}
        )
    if choice == OldLabel.AGAIN and not asked.exists():
        raise Invalid(
            _("Guideline %(number)s does not ask this question any more: its old labels can be kept, not given again.")
            % {"number": version.number}
        )


# -- labelling again ---------------------------------------------------------------------------------------------------


def _again(project: Project, version: GuidelineVersion, standing: Iterable[OldLabelChoice]) -> list[int]:
    """The items whose old single label is one that is to be given again, in the order of their import."""
    wanted: dict[str, set[str]] = {}
    for row in standing:
        if row.choice == OldLabel.AGAIN:
            wanted.setdefault(row.question_key, set()).add(row.label_key)
    found: dict[int, None] = {}
    for question, labels in wanted.items():
        rows = singles(project, version).annotate(answer=KeyTextTransform(question, "latest"))
        kinds = _kinds(project, question)
        told = rows.filter(answer__isnull=False).order_by("item").values_list("item", "answer", "version")
        for item, answer, since in told.iterator():
            value = json.loads(answer) if answer.startswith("[") else answer
            if labels.intersection(TASK_TYPES[kinds[since]].named(value)):
                found[item] = None
    return sorted(found)


def _kinds(project: Project, question: str) -> Mapping[int, str]:
    rows = Question.objects.filter(version__project=project, key=question)
    return dict(rows.values_list("version", "task_type"))


def open_again(project: Project, *, by: Membership, at: datetime) -> Wave:
    """Open a wave of all that is to be labelled again: one label each, under the newest guideline, not measured.

    From now on what was chosen for these labels holds. A large wave is filled by the worker.
    """
    with transaction.atomic():
        project, version = samples.lock(project, by=by)
        busy = project.waves.filter(state=WaveState.OPENING).first()
        if busy is not None:
            raise DomainError(
                _("Wave %(number)s is still being opened: wait until it is.") % {"number": busy.number},
                code="wave_opening",
            )
        items = _again(project, version, _standing(project, version))
        if not items:
            raise DomainError(
                _("No old label is to be given again: choose “labelled again” for one that items still have."),
                code="nothing_again",
            )
        wave = _wave(project, version, size=len(items), by=by, at=at)
        releasing.record_opened(wave)
        WaveItem.objects.bulk_create([WaveItem(wave=wave, item_id=item, needed=1) for item in items], batch_size=1_000)
        _standing(project, version).filter(choice=OldLabel.AGAIN, wave=None).update(wave=wave)
        large = wave.size > opening.AT_ONCE
        if large:
            opening.enqueue(wave, by=by, at=at)
    if not large:
        releasing.fill_wave(wave)
    return wave


def _wave(project: Project, version: GuidelineVersion, *, size: int, by: Membership, at: datetime) -> Wave:
    protocol: dict[str, Any] = project.protocol
    return Wave.objects.create(
        project=project,
        number=(project.waves.aggregate(last=Max("number"))["last"] or 0) + 1,
        version=version,
        major=version.major or 0,
        kind=WaveKind.RELABEL,
        held=releasing.is_held(project, version, 1),
        share_percent=Decimal(0),
        ratings_per_item=1,
        size=size,
        window_submits=int(protocol["window_submits"]),
        window_minutes=int(protocol["window_minutes"]),
        lease_minutes=int(protocol["lease_minutes"]),
        opened_at=at,
        opened_by=by,
    )
