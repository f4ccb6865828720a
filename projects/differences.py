"""What changed between two guideline versions, and whether it changes what a label means. Plain data in, plain out.

The wording of the guideline's text may change within a MAJOR. Questions, labels and examples are the rules themselves:
any change of them is material.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias, TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects import prose
from projects.enums import ExampleKind
from projects.task_types import TASK_TYPES, Json

NAMED_AT_MOST = 6
SHORTENED_TO = 60


@dataclass(frozen=True)
class LabelPart:
    key: str
    name: str
    definition: str
    value: float | None


@dataclass(frozen=True)
class QuestionPart:
    key: str
    text: str
    help: str
    task_type: str
    required: bool
    options: Mapping[str, Json]
    labels: tuple[LabelPart, ...]

    def say(self, value: Json) -> str:
        """A value in the words of the labels."""
        known = TASK_TYPES.get(self.task_type)
        return known.describe(value, self.labels) if known else str(value)


@dataclass(frozen=True)
class ExamplePart:
    lineage: str
    question_key: str
    content: Mapping[str, Json]
    value: Json
    confused_with: Json
    rationale: str
    kind: str
    origin: str

    @property
    def shown(self) -> str:
        return "\n".join(str(text) for text in self.content.values())


@dataclass(frozen=True)
class Content:
    """All that a version says, in order: what its digest is taken of."""

    text: str = ""
    questions: tuple[QuestionPart, ...] = ()
    examples: tuple[ExamplePart, ...] = ()
    label_mapping: Mapping[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        plain = asdict(self)
        # Lists, as JSON has them: a tuple reads the same and hashes otherwise.
        plain["questions"] = [question | {"labels": list(question["labels"])} for question in plain["questions"]]
        plain["examples"] = list(plain["examples"])
        return plain


Part: TypeAlias = QuestionPart | LabelPart | ExamplePart
P = TypeVar("P", QuestionPart, LabelPart, ExamplePart)


@dataclass(frozen=True)
class FieldChange:
    """One field of a part, before and after, as people read it."""

    title: str
    old: str
    new: str

    @property
    def words(self) -> list[prose.Change]:
        return prose.word_diff(self.old, self.new)


@dataclass(frozen=True)
class PartChange:
    """A part that was added (`old` is None), removed (`new` is None), or changed in `fields`."""

    question: QuestionPart | None
    old: Part | None
    new: Part | None
    fields: tuple[FieldChange, ...] = ()

    @property
    def part(self) -> Part | None:
        return self.old if self.new is None else self.new

    @property
    def how(self) -> str:
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"

    @property
    def said(self) -> tuple[str, str]:
        """Of an example: its label and the one it is confused with, in words."""
        part = self.part
        return (
            (say(self.question, part.value), say(self.question, part.confused_with))
            if isinstance(part, ExamplePart)
            else ("", "")
        )


@dataclass(frozen=True)
class OrderChange:
    """The parts that both versions have stand in another order; `question` is None where it is the questions'."""

    question: QuestionPart | None
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class MappingChange:
    """What a label that was given before is from now on: one label, or one of several and nobody knows which."""

    question: str
    old: str
    new: tuple[str, ...]
    divided: bool

    @property
    def sentence(self) -> str:
        said = {"old": self.old, "new": ", ".join(f"“{name}”" for name in self.new)}
        return _("“%(old)s” is divided into %(new)s") % said if self.divided else _("“%(old)s” becomes %(new)s") % said


@dataclass(frozen=True)
class Differences:
    text: tuple[prose.Change, ...] = ()
    questions: tuple[PartChange, ...] = ()
    labels: tuple[PartChange, ...] = ()
    examples: tuple[PartChange, ...] = ()
    orders: tuple[OrderChange, ...] = ()
    mapping: tuple[MappingChange, ...] = ()

    @property
    def text_changed(self) -> bool:
        return any(change.op != "equal" for change in self.text)

    @property
    def is_material(self) -> bool:
        return bool(self.questions or self.labels or self.examples or self.orders or self.mapping)

    @property
    def is_empty(self) -> bool:
        return not (self.text_changed or self.is_material)

    def material(self) -> list[str]:
        """What makes the change material, a clause for each thing."""
        clauses = [_clause(change) for change in (*self.questions, *self.labels, *self.examples)]
        clauses += [_order_clause(change) for change in self.orders]
        return clauses + [change.sentence for change in self.mapping]

    def named(self) -> str:
        """The material changes in one line: the first few by name, then how many more."""
        clauses = self.material()
        more = len(clauses) - NAMED_AT_MOST
        rest = [ngettext("%(n)s more change", "%(n)s more changes", more) % {"n": more}] if more > 0 else []
        return "; ".join([*clauses[:NAMED_AT_MOST], *rest])


def between(old: Content, new: Content) -> Differences:
    """What changed from `old` to `new`. Questions and labels are known again by key, examples by lineage."""
    before = {question.key: question for question in old.questions}
    after = {question.key: question for question in new.questions}
    kept = [(before[key], question) for key, question in after.items() if key in before]
    return Differences(
        text=tuple(prose.word_diff(old.text, new.text)),
        questions=tuple(PartChange(b or a, a, b, fields) for a, b, fields in _compare(before, after, _question_fields)),
        labels=tuple(change for pair in kept for change in _label_changes(*pair)),
        examples=tuple(_example_changes(old, new, before | after)),
        orders=tuple(_order_changes(old, new, kept)),
        mapping=tuple(_mapping_changes(before, after, old.label_mapping, new.label_mapping)),
    )


def _compare(
    before: Mapping[str, P], after: Mapping[str, P], fields: Callable[[P, P], Iterable[FieldChange]]
) -> Iterator[tuple[P | None, P | None, tuple[FieldChange, ...]]]:
    """(old, new, changed fields) of what was changed or added, in the new order, then of what was removed."""
    for key, new in after.items():
        old = before.get(key)
        changed = tuple(change for change in fields(old, new) if change.old != change.new) if old else ()
        if old is None or changed:
            yield old, new, changed
    yield from ((old, None, ()) for key, old in before.items() if key not in after)


def _label_changes(old: QuestionPart, new: QuestionPart) -> Iterator[PartChange]:
    before, after = ({label.key: label for label in question.labels} for question in (old, new))
    return (PartChange(new, a, b, fields) for a, b, fields in _compare(before, after, _label_fields))


def _example_changes(old: Content, new: Content, questions: Mapping[str, QuestionPart]) -> Iterator[PartChange]:
    before, after = ({example.lineage: example for example in content.examples} for content in (old, new))

    def fields(a: ExamplePart, b: ExamplePart) -> list[FieldChange]:
        return _example_fields(a, b, questions.get(a.question_key), questions.get(b.question_key))

    for a, b, changed in _compare(before, after, fields):
        part = b or a
        yield PartChange(questions.get(part.question_key) if part else None, a, b, changed)


def _order_changes(
    old: Content, new: Content, kept: Sequence[tuple[QuestionPart, QuestionPart]]
) -> Iterator[OrderChange]:
    names = {question.key: question.text for question in new.questions}
    if moved := _reordered([q.key for q in old.questions], [q.key for q in new.questions], names):
        yield OrderChange(None, *moved)
    for before, after in kept:
        names = {label.key: label.name for label in after.labels}
        if moved := _reordered([part.key for part in before.labels], [part.key for part in after.labels], names):
            yield OrderChange(after, *moved)


def _mapping_changes(
    before: Mapping[str, QuestionPart],
    after: Mapping[str, QuestionPart],
    old: Mapping[str, Json],
    new: Mapping[str, Json],
) -> Iterator[MappingChange]:
    """What `new` says of the labels before it. Each version says it anew: none of the old one's is carried on."""
    for key, targets in new.items() if new != old else ():
        names = {label.key: label.name for part in (before, after) if key in part for label in part[key].labels}
        question = (after.get(key) or before[key]).text if key in after or key in before else key
        for label, target in targets.items() if isinstance(targets, dict) else ():
            keys = target if isinstance(target, list) else [target]
            said = tuple(names.get(str(one), str(one)) for one in keys)
            yield MappingChange(question, names.get(label, label), said, isinstance(target, list))


def _reordered(
    old: Sequence[str], new: Sequence[str], names: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of what both have, in the old and in the new order, where the two are not the same."""
    before, after = ([key for key in keys if key in old and key in new] for keys in (old, new))
    if before == after:
        return None
    return tuple(names[key] for key in before), tuple(names[key] for key in after)


def _question_fields(old: QuestionPart, new: QuestionPart) -> list[FieldChange]:
    return [
        FieldChange(_("question"), old.text, new.text),
        FieldChange(_("help"), old.help, new.help),
        FieldChange(_("kind of answer"), _task_type(old), _task_type(new)),
        FieldChange(_("answer"), _required(old), _required(new)),
        FieldChange(_("options"), _options(old), _options(new)),
    ]


def _label_fields(old: LabelPart, new: LabelPart) -> list[FieldChange]:
    return [
        FieldChange(_("name"), old.name, new.name),
        FieldChange(_("definition"), old.definition, new.definition),
        FieldChange(_("value"), _number(old.value), _number(new.value)),
    ]


def _example_fields(
    old: ExamplePart, new: ExamplePart, before: QuestionPart | None, after: QuestionPart | None
) -> list[FieldChange]:
    return [
        FieldChange(_("question"), before.text if before else old.question_key, after.text if after else ""),
        FieldChange(_("text"), old.shown, new.shown),
        FieldChange(_("label"), say(before, old.value), say(after, new.value)),
        FieldChange(_("confused with"), say(before, old.confused_with), say(after, new.confused_with)),
        FieldChange(_("why"), old.rationale, new.rationale),
        FieldChange(_("kind"), str(ExampleKind(old.kind).label), str(ExampleKind(new.kind).label)),
    ]


def say(question: QuestionPart | None, value: Json) -> str:
    """A value as people read it; the key where the question is not known, nothing where there is none."""
    if value is None:
        return ""
    return question.say(value) if question else str(value)


def _task_type(question: QuestionPart) -> str:
    known = TASK_TYPES.get(question.task_type)
    return _(known.title) if known else question.task_type


def _required(question: QuestionPart) -> str:
    return _("required") if question.required else _("may be left out")


def _options(question: QuestionPart) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(question.options.items()))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _clause(change: PartChange) -> str:
    said = {"thing": _thing(change), "fields": ", ".join(field.title for field in change.fields)}
    if change.how == "added":
        return _("%(thing)s was added") % said
    if change.how == "removed":
        return _("%(thing)s was removed") % said
    return _("%(thing)s changed (%(fields)s)") % said


def _thing(change: PartChange) -> str:
    part = change.part
    if isinstance(part, QuestionPart):
        return _("the question “%(name)s”") % {"name": part.text}
    if isinstance(part, LabelPart):
        return _("the label “%(name)s”") % {"name": part.name}
    return _("the example “%(name)s”") % {"name": shortened(part.shown if part else "")}


def _order_clause(change: OrderChange) -> str:
    if change.question is None:
        return _("the order of the questions changed")
    return _("the order of the labels of “%(question)s” changed") % {"question": change.question.text}


def shortened(text: str, limit: int = SHORTENED_TO) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
