"""A question as a form asks it: by the fragment of its task type, with what was answered so far."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from projects.reading import QuestionReading
from projects.task_types import AnswerError, Json
from projects.task_types.multilabel import NONE_OF_THESE

PREFIX = "answer-"
NONE_KEYS = "n0x"


@dataclass(frozen=True)
class Asked:
    """A question with what was answered to it, and what is wrong with that.

    `name` is that of its form field, `title` stands in the place of its text, and `nothing` is a choice by itself.
    """

    question: QuestionReading
    answer: Json
    problem: str = ""
    name: str = ""
    content: Mapping[str, Json] | None = None
    required: bool = True
    title: str = ""
    nothing: str = ""

    @property
    def legend(self) -> str:
        return self.title or self.question.text

    @property
    def field(self) -> str:
        return self.name or f"{PREFIX}{self.question.key}"

    @property
    def is_required(self) -> bool:
        return self.required and self.question.required

    @property
    def in_words(self) -> str:
        if self.answer is None:
            return ""
        return self.question.kind.describe(self.answer, self.question.labels, self.content)

    @property
    def chosen(self) -> list[Json]:
        """The parts of an answer that has several; a draft may hold anything."""
        return self.answer if isinstance(self.answer, list) else []

    @property
    def none_key(self) -> str:
        """The key of "none of these": n, where no label has that."""
        taken = {label.hotkey for label in self.question.labels}
        return next((key for key in NONE_KEYS if key not in taken), "")

    @property
    def as_json(self) -> str:
        """For a fragment that keeps the whole answer in one field."""
        return "" if self.answer is None else json.dumps(self.answer, ensure_ascii=False)

    @property
    def is_none(self) -> bool:
        """Whether it says that there is nothing to choose or to mark."""
        return self.answer == [] or NONE_OF_THESE in self.chosen


def posted(question: QuestionReading, values: Sequence[str]) -> Json:
    """What the form fields of a question hold; None where it was left open."""
    given = [value for value in values if value != ""]
    found = question.kind.read(given) if given else None
    return None if question.kind.is_blank(found) else found


class AnswerWidget(forms.Widget):
    """The fragment of the question's task type."""

    is_whole = True  # it brings its own legend and help

    def __init__(self, question: QuestionReading, *, number: int, **about: Any) -> None:
        super().__init__()
        self.question, self.number, self.about = question, number, about

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        values = data.getlist(name) if hasattr(data, "getlist") else data.get(name, [])
        return posted(self.question, [values] if isinstance(values, str) else values)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        asked = Asked(self.question, value, name=name, **self.about)
        return render_to_string(self.question.widget, {"asked": asked, "number": self.number})


class AnswerField(forms.Field):
    """An answer to a question, in canonical form; None where it may be left open and was."""

    def __init__(
        self, question: QuestionReading, *, number: int = 1, title: str = "", nothing: str = "", **options: Any
    ) -> None:
        about = {"required": options.get("required", True), "title": title, "nothing": nothing}
        super().__init__(widget=AnswerWidget(question, number=number, **about), label=title or None, **options)
        self.question = question
        self.content: Mapping[str, Json] | None = None

    def clean(self, value: Any) -> Any:
        if value is None:
            if self.required:
                raise ValidationError(self.error_messages["required"], code="required")
            return None
        try:
            return self.question.kind.clean(value, self.question.labels, self.content)
        except AnswerError as error:
            raise ValidationError(str(error), code="bad_answer") from error


def no_answer(question: QuestionReading) -> str:
    """What is said to somebody who left a required question open."""
    return _("“%(question)s” has no answer: %(wanted)s.") % {
        "question": question.text,
        "wanted": _(question.kind.wanted),
    }
