"""Changes of a label set that concern labels which were already given: merged, split, retired, and what they become.

A key never changes and is never given to something else. What old labels become is stored with the version; examples
that name a label which is merged away follow it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from projects import activities, drafts, labels, mapping
from projects.errors import Invalid
from projects.labels import NewLabel
from projects.mapping import Target
from projects.models import Example, GuidelineVersion, Label, Membership, Question
from projects.task_types import TASK_TYPES, Json, TaskType


@dataclass(frozen=True)
class Retired:
    """A label of the published version that the draft no longer has. `becomes`: the names of what it is mapped to."""

    question: Question
    label: Label
    target: Target | None
    becomes: tuple[str, ...]

    @property
    def mapped(self) -> bool:
        return isinstance(self.target, str)


def retired(draft: GuidelineVersion, question_key: str | None = None) -> list[Retired]:
    """The published labels that are not in the draft, in their order; those of a question that is gone are there too.

    Four queries, whatever is retired.
    """
    if draft.based_on is None:
        return []
    wanted = {} if question_key is None else {"key": question_key}
    now = {
        question.key: {label.key: label.name for label in question.labels.all()}
        for question in draft.questions.filter(**wanted).prefetch_related("labels")
    }
    found = []
    for question in draft.based_on.questions.filter(**wanted).prefetch_related("labels"):
        names, targets = now.get(question.key, {}), mapping.of(draft, question.key)
        for label in question.labels.all():
            if label.key not in names:
                target = targets.get(label.key)
                keys = [target] if isinstance(target, str) else target or []
                found.append(Retired(question, label, target, tuple(names.get(key, key) for key in keys)))
    return found


def merge(label: Label, *, into: str, by: Membership) -> Label:
    """Take `label` out of the draft; what was called so is the label `into` from now on. Its examples follow it."""
    with drafts.editing(label.question.version, by=by) as draft:
        row, other = _row(label), _other(label, into)
        _map(draft, row, other.key)
        row.delete()
        for example in naming(draft, row):
            _follow(example, row.question, {row.key: other.key})
        _record("label_merged", draft, row, by=by, into=other.name)
    return other


def split(label: Label, new: Sequence[NewLabel], *, stays: bool, by: Membership) -> list[Label]:
    """Add the labels that `label` is divided into; it leaves the draft unless it `stays`, with a narrower meaning.

    Nobody can say which of them an old label would be: old ones are kept as they are.
    """
    if len(new) + stays < 2:
        raise Invalid(_("Splitting needs two labels or more: write one a line, or let the old one stay beside one."))
    with drafts.editing(label.question.version, by=by) as draft:
        row = _row(label)
        made = labels.add_labels(row.question, new, by=by)
        draft.refresh_from_db(fields=["label_mapping"])
        _map(draft, row, [*([row.key] if stays else []), *(one.key for one in made)])
        if not stays:
            row.delete()
        parts = [*([row.name] if stays else []), *(one.name for one in made)]
        _record("label_split", draft, row, by=by, parts=", ".join(f"“{name}”" for name in parts))
    return made


def retire(label: Label, *, becomes: str, by: Membership) -> None:
    """Take `label` out of the draft. `becomes`: the label that old ones are from now on; empty keeps them."""
    with drafts.editing(label.question.version, by=by) as draft:
        row = _row(label)
        if becomes:
            _map(draft, row, _other(label, becomes).key)
        else:
            mapping.label_gone(draft, row.question.key, row.key)
        row.delete()
        _record("label_retired", draft, row, by=by, becomes=_other(label, becomes).name if becomes else "")


def choose(draft: GuidelineVersion, question_key: str, old: str, *, becomes: str, by: Membership) -> None:
    """Say what becomes of labels that the draft has retired: the label `becomes`, or nothing (kept) where empty."""
    with drafts.editing(draft, by=by) as row:
        known = {one.label.key for one in retired(row, question_key)}
        if old not in known:
            raise Invalid(_("“%(key)s” is no label that this draft retires.") % {"key": old})
        if becomes and not Label.objects.filter(question__version=row, question__key=question_key, key=becomes):
            raise Invalid(_("“%(key)s” is no label of this question in the draft.") % {"key": becomes})
        found = mapping.of(row, question_key)
        if becomes:
            mapping.save(row, question_key, found | {old: becomes})
        elif isinstance(found.get(old), str):  # what it was divided into stays on record
            mapping.save(row, question_key, {key: target for key, target in found.items() if key != old})
        if found != mapping.of(row, question_key):
            names = dict(
                Label.objects.filter(question__version=row, question__key=question_key).values_list("key", "name")
            )
            facts: dict[str, Any] = {"question": question_key, "label": old, "becomes": names.get(becomes, "")}
            activities.record("label_becomes", row.project_id, by=by, **facts)


def _record(kind: str, draft: GuidelineVersion, label: Label, *, by: Membership, **facts: Any) -> None:
    question = label.question.text
    activities.record(kind, draft.project_id, by=by, question=question, label=label.name, **facts)


def _row(label: Label) -> Label:
    row = Label.objects.select_related("question__version__project").filter(pk=label.pk).first()
    if row is None:
        raise drafts.DraftGone(_("Somebody else removed this label in the meantime."))
    return row


def _other(label: Label, key: str) -> Label:
    other = Label.objects.filter(question=label.question_id, key=key).exclude(pk=label.pk).first()
    if other is None:
        raise Invalid(_("“%(key)s” is no other label of this question: choose one that is there.") % {"key": key})
    return other


def _map(draft: GuidelineVersion, label: Label, target: Target) -> None:
    """Old labels become `target`, and so does what was to become `label`. A label that was never published is none."""
    key = label.question.key
    found = mapping.of(draft, key)
    single = target if isinstance(target, str) else None
    if single is not None:
        found = {old: single if was == label.key else was for old, was in found.items()}
        found = {old: _renamed(was, label.key, single) for old, was in found.items()}
    elif label.key not in target:
        found = {old: target if was == label.key else was for old, was in found.items()}
    if draft.based_on and Label.objects.filter(question__version=draft.based_on, question__key=key, key=label.key):
        found[label.key] = target
    mapping.save(draft, key, found)


def _renamed(target: Target, old: str, new: str) -> Target:
    return target if isinstance(target, str) else list(dict.fromkeys(new if one == old else one for one in target))


def naming(draft: GuidelineVersion, label: Label) -> list[Example]:
    """The examples of the draft that name `label`, as what holds or as what it is confused with."""
    kind = TASK_TYPES[label.question.task_type]
    rows = draft.examples.filter(question_key=label.question.key)
    return [row for row in rows if label.key in (*kind.named(row.value), *_named(kind, row.confused_with))]


def _named(kind: TaskType, value: Json) -> list[str]:
    return [] if value is None else kind.named(value)


def _follow(example: Example, question: Question, names: dict[str, str]) -> None:
    kind, labels_now = TASK_TYPES[question.task_type], list(Label.objects.filter(question=question))
    example.value = kind.clean(kind.renamed(example.value, names), labels_now)
    if example.confused_with is not None:
        example.confused_with = kind.clean(kind.renamed(example.confused_with, names), labels_now)
    if example.confused_with == example.value:
        example.confused_with = None  # it told the two apart, and they are one now
    example.save(update_fields=["value", "confused_with"])
