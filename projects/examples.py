"""Worked cases in a draft: added by hand or from a decision, changed, removed. Each is a copy that stands alone."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID, uuid4

from django.utils import timezone
from django.utils.translation import gettext as _

from projects import drafts, folding
from projects.enums import ExampleKind, Origin
from projects.errors import Invalid
from projects.models import Example, GuidelineVersion, Label, Membership, Question
from projects.task_types import TASK_TYPES, AnswerError, Json

FIELD_LIMIT = 100_000
RATIONALE_LIMIT = 5_000


def add_example(
    draft: GuidelineVersion,
    *,
    question_key: str,
    content: Mapping[str, Json],
    value: Json,
    by: Membership,
    confused_with: Json = None,
    rationale: str = "",
    kind: str = ExampleKind.CLEAR,
    origin: str = Origin.WRITTEN,
    lineage: UUID | None = None,
    at: datetime | None = None,
) -> Example:
    """Add an example to the draft. With the `lineage` of one that is there it changes that one, so that a decision
    promoted twice is one example."""
    with drafts.editing(draft, by=by) as row:
        example = row.examples.filter(lineage=lineage).first() if lineage else None
        if example is None:
            example = Example(version=row, lineage=lineage or uuid4(), created_at=at or timezone.now())
            example.order = max((other.order for other in row.examples.only("order")), default=-1) + 1
        example.question_key, example.origin = question_key, origin
        _write(example, content, value, confused_with, rationale, kind)
        example.save()
    return example


def edit_example(
    example: Example,
    *,
    content: Mapping[str, Json],
    value: Json,
    by: Membership,
    confused_with: Json = None,
    rationale: str = "",
    kind: str = ExampleKind.CLEAR,
    seen: str | None = None,
) -> Example:
    """Change an example of a draft. `seen`: its stamp when the form was made; refused if it changed since."""
    with drafts.editing(example.version, by=by):
        row = Example.objects.select_related("version").filter(pk=example.pk).first()
        if row is None:
            raise drafts.DraftGone(_("Somebody else removed this example in the meantime."))
        if seen and seen != stamp(row):
            raise drafts.Changed(_("Somebody else changed this example while you were writing."))
        _write(row, content, value, confused_with, rationale, kind)
        row.save()
    return row


def remove_example(example: Example, *, by: Membership) -> None:
    """Remove it from the draft; published versions keep theirs."""
    with drafts.editing(example.version, by=by):
        Example.objects.filter(pk=example.pk).delete()


def preview(
    draft: GuidelineVersion,
    *,
    question_key: str,
    content: Mapping[str, Json],
    value: Json,
    confused_with: Json = None,
    rationale: str = "",
    kind: str = ExampleKind.CLEAR,
    lineage: UUID | None = None,
) -> Example:
    """The example as it would be saved, and is not. `lineage`: of the one that it would change."""
    example = Example(version=draft, question_key=question_key, lineage=lineage or uuid4())
    _write(example, content, value, confused_with, rationale, kind)
    return example


def problems(examples: list[Example], questions: list[Question]) -> list[str]:
    """A sentence for each example whose question or label is no longer there. Wants the labels prefetched."""
    labels = {question.key: list(question.labels.all()) for question in questions}
    kinds = {question.key: question.task_type for question in questions}
    found = []
    for example in examples:
        shown = short(example)
        if example.question_key not in kinds:
            found.append(
                _("The example “%(example)s” belongs to a question that is no longer there.") % {"example": shown}
            )
            continue
        for value in (example.value, example.confused_with):
            if value is not None and not _allowed(value, kinds[example.question_key], labels[example.question_key]):
                found.append(
                    _("The example “%(example)s” names “%(value)s”, which is no longer a label.")
                    % {"example": shown, "value": value}
                )
    return found


def stamp(example: Example) -> str:
    """Changes with whatever a form can change of it."""
    names = ("content", "value", "confused_with", "rationale", "kind")
    return folding.content_hash({name: getattr(example, name) for name in names})[:16]


def short(example: Example, limit: int = 60) -> str:
    """The first words of what is shown."""
    line = " ".join(" ".join(str(text) for text in example.content.values()).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _write(
    example: Example, content: Mapping[str, Json], value: Json, confused_with: Json, rationale: str, kind: str
) -> None:
    question = example.version.questions.filter(key=example.question_key).prefetch_related("labels").first()
    if question is None:
        raise Invalid(_("There is no question “%(key)s” in the draft.") % {"key": example.question_key})
    labels = list(question.labels.all())
    example.content = _content(content)
    example.value = _answer(value, question, labels, example.content)
    example.confused_with = (
        None if confused_with in (None, "") else _answer(confused_with, question, labels, example.content)
    )
    if example.confused_with == example.value:
        raise Invalid(_("An example cannot be confused with its own label: choose another one, or none."))
    example.rationale = drafts.clean_text(
        rationale.replace("\r\n", "\n").strip(), limit=RATIONALE_LIMIT, name=_("reason")
    )
    if kind not in ExampleKind.values:
        raise Invalid(_("“%(kind)s” is no kind of example.") % {"kind": kind})
    example.kind = kind
    example.content_hash = folding.content_hash(example.content)
    example.folded_hash = folding.folded_hash(example.content)
    _refuse_twin(example, labels)


def _content(content: Mapping[str, Json]) -> dict[str, Json]:
    cleaned: dict[str, Json] = {}
    for name, text in content.items():
        drafts.clean_text(name, limit=200, name=_("field’s name"))
        if isinstance(text, str):
            text = drafts.clean_text(text.replace("\r\n", "\n").strip(), limit=FIELD_LIMIT, name=name)
        cleaned[name] = text
    if not any(text not in (None, "") for text in cleaned.values()):
        raise Invalid(_("The example shows nothing: write the text of the case."))
    return cleaned


def _answer(value: Json, question: Question, labels: list[Label], content: Mapping[str, Json]) -> Json:
    try:
        return TASK_TYPES[question.task_type].clean(value, labels, content)
    except AnswerError as error:
        raise Invalid(str(error)) from error


def _allowed(value: Json, task_type: str, labels: list[Label]) -> bool:
    try:
        TASK_TYPES[task_type].clean(value, labels)
    except AnswerError:
        return False
    return True


def _refuse_twin(example: Example, labels: list[Label]) -> None:
    twins = example.version.examples.filter(question_key=example.question_key, folded_hash=example.folded_hash)
    twin = twins.exclude(lineage=example.lineage).first()
    if twin:
        label = TASK_TYPES[example.version.questions.get(key=example.question_key).task_type].describe(
            twin.value, labels
        )
        raise Invalid(
            _("This text is already an example of “%(label)s” in the draft: change that one.") % {"label": label},
            code="example_twice",
        )
