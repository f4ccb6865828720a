"""A guideline version as it is read: its text as HTML, and each label with its rule, look, key and examples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.utils.safestring import SafeString, mark_safe

from projects import prose, styles
from projects.differences import Content, ExamplePart, LabelPart, QuestionPart
from projects.enums import ExampleKind
from projects.models import Example, GuidelineVersion, Membership, Question
from projects.styles import Style
from projects.task_types import TASK_TYPES, Json, TaskType

KEPT_IN_MEMORY = 64
# A rule stands under its label's heading: headings of its own go below that.
DEFINITION_HEADINGS = 4


@dataclass(frozen=True)
class ExampleReading:
    """An example with its values in words. `names_known`: its question and labels are all in the version."""

    uuid: UUID | None
    lineage: UUID | None
    question_key: str
    content: Mapping[str, Json]
    value: Json
    value_name: str
    confused_with: Json
    confused_name: str
    rationale: str
    kind: str
    origin: str
    names_known: bool = True

    @property
    def kind_name(self) -> str:
        return str(ExampleKind(self.kind).label)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """(field, text), without the names where there is but one field."""
        shown = [(name, "" if text is None else str(text)) for name, text in self.content.items()]
        return shown if len(shown) > 1 else [("", text) for _, text in shown]


@dataclass(frozen=True)
class Confusion:
    """The examples that tell the same two labels apart; without a title those that tell none apart."""

    title: str
    examples: list[ExampleReading]


@dataclass(frozen=True)
class LabelReading:
    key: str
    name: str
    order: int
    value: float | None
    definition: str
    html: SafeString
    examples: tuple[ExampleReading, ...] = ()
    not_this: tuple[ExampleReading, ...] = ()
    colour: str = ""
    hotkey: str = ""


@dataclass(frozen=True)
class QuestionReading:
    key: str
    text: str
    help: str
    task_type: str
    required: bool
    options: Mapping[str, Json]
    labels: tuple[LabelReading, ...]
    unlabelled: tuple[ExampleReading, ...] = ()

    @property
    def kind(self) -> TaskType:
        return TASK_TYPES[self.task_type]

    @property
    def task_title(self) -> str:
        return TASK_TYPES[self.task_type].title

    @property
    def widget(self) -> str:
        return TASK_TYPES[self.task_type].widget

    @property
    def confusions(self) -> "list[Confusion]":
        """The examples by the two labels that they tell apart, in the order of the labels; the others come last."""
        order = {label.key: label.order for label in self.labels}
        groups: dict[tuple[str, ...], list[ExampleReading]] = {}
        under = [(label.key, example) for label in self.labels for example in label.examples]
        for key, example in [*under, *(("", example) for example in self.unlabelled)]:
            named = {key, *_keys(self, example.confused_with)} - {""}
            pair = tuple(sorted(named, key=lambda k: order.get(k, 0))) if len(named) > 1 else ()
            group = groups.setdefault(pair, [])
            group.extend([example] if example not in group else [])
        names = {label.key: label.name for label in self.labels}
        return [
            Confusion(" / ".join(names.get(key, key) for key in pair), groups[pair])
            for pair in sorted(groups, key=lambda pair: (not pair, [order.get(key, 0) for key in pair]))
        ]

    @property
    def without_example(self) -> tuple[LabelReading, ...]:
        return tuple(label for label in self.labels if not label.examples)

    def label(self, key: Json) -> LabelReading | None:
        return next((label for label in self.labels if label.key == key), None)


@dataclass(frozen=True)
class Reading:
    """`loose`: examples whose question or label is not in the version; only a draft can have such."""

    version: GuidelineVersion
    html: SafeString
    questions: tuple[QuestionReading, ...]
    loose: tuple[ExampleReading, ...] = field(default=())

    def question(self, key: str) -> QuestionReading | None:
        return next((question for question in self.questions if question.key == key), None)


def reading(version: GuidelineVersion, own: Mapping[str, Mapping[str, str]] | None = None) -> Reading:
    """The version, to be read. Three queries, for one whose project is at hand; a published one is kept in memory.

    own : a member's own keys (`Membership.hotkeys`), for a sheet that this member works on
    """
    return _dressed_reading(version, styles.with_own(styles.kept(version.project), own or {}))


def reading_for(member: Membership, version: GuidelineVersion) -> Reading:
    """The version as `member` has it before them while they label, with their own keys: all of it kept in memory."""
    return _dressed_reading(version, styles.with_own(styles.kept(member.project), member.hotkeys))


def _dressed_reading(version: GuidelineVersion, chosen: Mapping[tuple[str, str], Style]) -> Reading:
    html, questions, loose = _read(version)
    look = styles.worn([(one.key, one.labels) for one in questions], chosen)
    return Reading(version, html, tuple(_dressed(question, look[question.key]) for question in questions), loose)


def questions(version: GuidelineVersion) -> tuple[QuestionReading, ...]:
    """The questions with their labels, without colours and hotkeys: no query once a published version is in memory."""
    return _read(version)[1]


def _read(version: GuidelineVersion) -> "Made":
    if version.is_draft or not version.digest:
        return _made(version.text, content_rows(version))
    return _published(version.uuid, version.digest)


def content(version: GuidelineVersion) -> Content:
    """All that the version says as plain data, in three queries."""
    questions, examples = content_rows(version)
    return Content(
        text=version.text,
        questions=tuple(_question_part(question) for question in questions),
        examples=tuple(_example_part(example) for example in examples),
        label_mapping=version.label_mapping,
    )


def example_reading(example: Example, questions: Iterable[QuestionPart | QuestionReading]) -> ExampleReading:
    """An example, saved or not, in the words of the version's labels."""
    question = next((one for one in questions if one.key == example.question_key), None)
    keys = [] if question is None else [*_keys(question, example.value), *_keys(question, example.confused_with)]
    known = set() if question is None else {label.key for label in question.labels}
    return ExampleReading(
        uuid=example.uuid,
        lineage=example.lineage,
        question_key=example.question_key,
        content=example.content,
        value=example.value,
        value_name=_said(question, example.value, example.content),
        confused_with=example.confused_with,
        confused_name=_said(question, example.confused_with, example.content),
        rationale=example.rationale,
        kind=example.kind,
        origin=example.origin,
        names_known=question is not None and known.issuperset(keys),
    )


Rows = tuple[list[Question], list[Example]]
Made = tuple[SafeString, tuple[QuestionReading, ...], tuple[ExampleReading, ...]]


def content_rows(version: GuidelineVersion) -> Rows:
    """The questions with their labels prefetched, and the examples; from memory after `read_ahead`."""
    if "questions" in getattr(version, "_prefetched_objects_cache", {}):
        return list(version.questions.all()), list(version.examples.all())
    return list(version.questions.prefetch_related("labels")), list(version.examples.all())


def read_ahead(version: GuidelineVersion) -> None:
    """Read all that the version says once, for a page that looks at it several times and changes nothing."""
    prefetch_related_objects([version], "questions__labels", "examples")


@lru_cache(maxsize=KEPT_IN_MEMORY)
def _published(uuid: UUID, digest: str) -> Made:
    """What is published never changes, so that it need be rendered once. The digest is part of what it is known by."""
    version = GuidelineVersion.objects.get(uuid=uuid, digest=digest)
    return _made(version.text, content_rows(version))


def _made(text: str, rows: Rows) -> Made:
    questions, examples = rows
    parts = [_question_part(question) for question in questions]
    read = [example_reading(example, parts) for example in examples]
    return (
        _html(text),
        tuple(_question(part, [one for one in read if one.question_key == part.key]) for part in parts),
        tuple(one for one in read if not one.names_known),
    )


def _question(part: QuestionPart, examples: Sequence[ExampleReading]) -> QuestionReading:
    return QuestionReading(
        key=part.key,
        text=part.text,
        help=part.help,
        task_type=part.task_type,
        required=part.required,
        options=part.options,
        labels=tuple(
            LabelReading(
                key=label.key,
                name=label.name,
                order=order,
                value=label.value,
                definition=label.definition,
                html=_html(label.definition, DEFINITION_HEADINGS),
                examples=tuple(one for one in examples if label.key in _keys(part, one.value)),
                not_this=tuple(one for one in examples if label.key in _keys(part, one.confused_with)),
            )
            for order, label in enumerate(part.labels)
        ),
        unlabelled=tuple(one for one in examples if not _keys(part, one.value)),
    )


def _dressed(question: QuestionReading, worn: Mapping[str, Style]) -> QuestionReading:
    labels = (replace(label, colour=worn[label.key].colour, hotkey=worn[label.key].hotkey) for label in question.labels)
    return replace(question, labels=tuple(labels))


def _html(text: str, heading_offset: int = 1) -> SafeString:
    return mark_safe(prose.render_markdown(text, heading_offset))  # noqa: S308 - prose sanitises what it makes


def _keys(question: QuestionPart | QuestionReading, value: Json) -> list[str]:
    """The label keys in a value: one, several, or none."""
    return [] if value is None else TASK_TYPES[question.task_type].named(value)


def _said(question: QuestionPart | QuestionReading | None, value: Json, content: Mapping[str, Json]) -> str:
    if value is None:
        return ""
    if question is None:
        return str(value)
    return TASK_TYPES[question.task_type].describe(value, question.labels, content)


def _question_part(question: Question) -> QuestionPart:
    return QuestionPart(
        key=question.key,
        text=question.text,
        help=question.help,
        task_type=question.task_type,
        required=question.required,
        options=question.options,
        labels=tuple(
            LabelPart(label.key, label.name, label.definition, label.value) for label in question.labels.all()
        ),
    )


def _example_part(example: Example) -> ExamplePart:
    return ExamplePart(
        lineage=str(example.lineage),
        question_key=example.question_key,
        content=example.content,
        value=example.value,
        confused_with=example.confused_with,
        rationale=example.rationale,
        kind=example.kind,
        origin=example.origin,
    )
