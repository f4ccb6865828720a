"""Questions and labels of a draft: added, changed, moved, removed. Keys are made once and never change."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.utils.translation import gettext as _

from projects import drafts, keys, mapping, styles
from projects.errors import Invalid
from projects.folding import content_hash, fold
from projects.models import GuidelineVersion, Label, Membership, Project, Question
from projects.styles import Style
from projects.task_types import TASK_TYPES, Json

LABELS_LIMIT = 500
DEFINITION_LIMIT = 20_000


@dataclass(frozen=True)
class NewLabel:
    """A label to be made. Without a key it gets one from its name, without colour and hotkey those of its place."""

    name: str
    definition: str = ""
    value: float | None = None
    key: str = ""
    colour: str = ""
    hotkey: str = ""


def add_question(
    draft: GuidelineVersion,
    *,
    text: str,
    task_type: str,
    by: Membership,
    key: str = "",
    help: str = "",
    required: bool = True,
    options: Mapping[str, Json] | None = None,
    labels: Sequence[NewLabel] = (),
) -> Question:
    """Add a question, with its labels, behind those that are there."""
    with drafts.editing(draft, by=by) as row:
        present = list(row.questions.all())
        taken = [question.key for question in present]
        question = Question(
            version=row,
            key=_key(key, text, taken=taken, used=_question_keys(row.project), stem="question"),
            text=_required_text(text, limit=300, name=_("question")),
            help=drafts.clean_text(help.strip(), limit=500, name=_("help")),
            task_type=_task_type(task_type),
            required=required,
            options=dict(options or {}),
            order=_next_order(present),
        )
        question.save(force_insert=True)
        _add_labels(question, labels)
    return question


def edit_question(
    question: Question,
    *,
    text: str,
    task_type: str,
    by: Membership,
    help: str = "",
    required: bool = True,
    options: Mapping[str, Json] | None = None,
    seen: str | None = None,
) -> Question:
    """Change all of a question but its key. `seen`: its stamp when the form was made; refused if it changed since."""
    with drafts.editing(question.version, by=by):
        row = _still_there(Question.objects.select_related("version").filter(pk=question.pk).first())
        _refuse_stale(row, seen)
        row.text = _required_text(text, limit=300, name=_("question"))
        row.help = drafts.clean_text(help.strip(), limit=500, name=_("help"))
        row.task_type = _task_type(task_type)
        row.required = required
        if options is not None:
            row.options = dict(options)
        row.save()
    return row


def remove_question(question: Question, *, by: Membership) -> None:
    """Remove it with its labels. Its examples stay in the draft until somebody decides about each."""
    with drafts.editing(question.version, by=by) as draft:
        Question.objects.filter(pk=question.pk).delete()
        mapping.save(draft, question.key, {})


def move_question(question: Question, *, to: int, by: Membership) -> None:
    """Put it at the place `to`, counted from 0; beyond the ends means at the end."""
    with drafts.editing(question.version, by=by) as draft:
        _move(list(draft.questions.all()), question, to)


def add_label(
    question: Question,
    *,
    name: str,
    by: Membership,
    definition: str = "",
    value: float | None = None,
    key: str = "",
    colour: str = "",
    hotkey: str = "",
) -> Label:
    new = NewLabel(name=name, definition=definition, value=value, key=key, colour=colour, hotkey=hotkey)
    return add_labels(question, [new], by=by)[0]


def add_labels(question: Question, labels: Sequence[NewLabel], *, by: Membership) -> list[Label]:
    """Add labels behind those that are there: all of them, or none and the reason."""
    with drafts.editing(question.version, by=by):
        row = _still_there(Question.objects.select_related("version__project").filter(pk=question.pk).first())
        return _add_labels(row, labels)


def edit_label(
    label: Label,
    *,
    name: str,
    by: Membership,
    definition: str = "",
    value: float | None = None,
    seen: str | None = None,
) -> Label:
    """Change name, definition and value. `seen`: its stamp when the form was made; refused if it changed since."""
    with drafts.editing(label.question.version, by=by):
        row = _still_there(Label.objects.select_related("question__version").filter(pk=label.pk).first())
        _refuse_stale(row, seen)
        others = row.question.labels.exclude(pk=row.pk)
        row.name = _free_name(name, [other.name for other in others])
        row.definition = _definition(definition)
        row.value = _value(value, row.name)
        row.save()
    return row


def remove_label(label: Label, *, by: Membership) -> None:
    """Remove it from the draft. Examples that name it stay until somebody decides about each."""
    with drafts.editing(label.question.version, by=by) as draft:
        Label.objects.filter(pk=label.pk).delete()
        mapping.label_gone(draft, label.question.key, label.key)


def move_label(label: Label, *, to: int, by: Membership) -> None:
    """Put it at the place `to`, counted from 0; beyond the ends means at the end."""
    with drafts.editing(label.question.version, by=by):
        _move(list(Label.objects.filter(question=label.question_id)), label, to)


def stamp(row: Question | Label) -> str:
    """Changes with whatever a form can change of it."""
    names = ("name", "definition", "value") if isinstance(row, Label) else ("text", "help", "task_type", "required")
    return content_hash({name: getattr(row, name) for name in names})[:16]


def problems(questions: Sequence[Question]) -> list[str]:
    """A sentence for everything that keeps these questions from being published. Wants the labels prefetched."""
    if not questions:
        return [_("There is no question yet: add one and give it two labels or more.")]
    return [
        _("“%(question)s”: %(problem)s") % {"question": question.text, "problem": problem}
        for question in questions
        for problem in TASK_TYPES[question.task_type].check_labels(list(question.labels.all()))
    ]


def _add_labels(question: Question, labels: Sequence[NewLabel]) -> list[Label]:
    present = list(question.labels.all())
    if len(present) + len(labels) > LABELS_LIMIT:
        raise Invalid(
            _("“%(question)s” would have %(found)s labels and may have %(limit)s: split it into several questions.")
            % {"question": question.text, "found": len(present) + len(labels), "limit": LABELS_LIMIT}
        )
    project = question.version.project
    used = _label_keys(project, question.key)
    taken = [label.key for label in present]
    names = [label.name for label in present]
    order = _next_order(present)
    rows = []
    for place, new in enumerate(labels):
        name = _free_name(new.name, names)
        key = _key(new.key, name, taken=taken, used=used, stem="label")
        names.append(name)
        taken.append(key)
        rows.append(
            Label(
                question=question,
                key=key,
                name=name,
                definition=_definition(new.definition),
                value=_value(new.value, name),
                order=order + place,
            )
        )
    made = Label.objects.bulk_create(rows)
    mapping.labels_back(question.version, question.key, [label.key for label in made])
    chosen = {
        label.key: Style(new.colour, new.hotkey)
        for label, new in zip(made, labels, strict=True)
        if new.colour or new.hotkey
    }
    if chosen:
        styles.set_styles(project, question.key, chosen)
    return made


R = TypeVar("R", Question, Label)


def _move(rows: list[R], moved: R, to: int) -> None:
    others = [row for row in rows if row.pk != moved.pk]
    if len(others) == len(rows):
        _still_there(None)
    place = min(max(to, 0), len(others))
    others.insert(place, moved)
    for order, row in enumerate(others):
        row.order = order
    type(moved).objects.bulk_update(others, ["order"])


def _next_order(rows: Sequence[R]) -> int:
    return max((row.order for row in rows), default=-1) + 1


def _still_there(row: R | None) -> R:
    if row is None:
        raise drafts.DraftGone(_("Somebody else removed this in the meantime: reload the page to see what is there."))
    return row


def _refuse_stale(row: Question | Label, seen: str | None) -> None:
    if seen and seen != stamp(row):
        raise drafts.Changed(
            _(
                "Somebody else changed “%(name)s” while you were writing. What stands now is shown beside what you "
                "wrote: take over what you need and save again."
            )
            % {"name": row}
        )


def _key(key: str, name: str, *, taken: Sequence[str], used: Mapping[str, str], stem: str) -> str:
    if not key:
        return keys.made_from(name, taken=taken, used=used, stem=stem)
    if not keys.KEY.fullmatch(key):
        raise Invalid(
            _("“%(key)s” cannot be a key: take up to %(limit)s letters a to z, digits, hyphens and underscores.")
            % {"key": key, "limit": keys.KEY_LENGTH}
        )
    if key in taken:
        raise Invalid(_("The key “%(key)s” is there already: every one needs its own.") % {"key": key})
    return key


def _question_keys(project: Project) -> dict[str, str]:
    rows = Question.objects.filter(version__project=project).order_by("pk").values_list("key", "text")
    return dict(rows)


def _label_keys(project: Project, question_key: str) -> dict[str, str]:
    rows = Label.objects.filter(question__version__project=project, question__key=question_key)
    return dict(rows.order_by("pk").values_list("key", "name"))


def _required_text(text: str, *, limit: int, name: str) -> str:
    text = drafts.clean_text(" ".join(text.split()), limit=limit, name=name)
    if not text:
        raise Invalid(_("The %(name)s is empty: write it in words.") % {"name": name})
    return text


def _free_name(name: str, others: Sequence[str]) -> str:
    name = _required_text(name, limit=120, name=_("label’s name"))
    same = [other for other in others if fold(other) == fold(name)]
    if same:
        raise Invalid(
            _("There is a label “%(name)s” already: nobody could tell the two apart. Give this one another name.")
            % {"name": same[0]}
        )
    return name


def _definition(text: str) -> str:
    return drafts.clean_text(text.replace("\r\n", "\n").strip(), limit=DEFINITION_LIMIT, name=_("definition"))


def _value(value: float | None, name: str) -> float | None:
    if value is not None and not math.isfinite(value):
        raise Invalid(_("The value of “%(name)s” has to be a finite number.") % {"name": name})
    return value


def _task_type(key: str) -> str:
    if key not in TASK_TYPES:
        raise Invalid(
            _("“%(key)s” is no kind of answer that Concord knows: choose one of %(known)s.")
            % {"key": key, "known": ", ".join(TASK_TYPES)}
        )
    return key
