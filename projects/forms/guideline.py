"""Forms of a guideline's draft: its text, questions, labels, styles and examples."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.asking import AnswerField
from projects.enums import ExampleKind
from projects.labels import NewLabel
from projects.models import Example, Label, Project, Question
from projects.reading import LabelReading, QuestionReading
from projects.styles import PALETTE, Style
from projects.task_types import TASK_TYPES, Json

# "Complaint: says that something is wrong"; the first colon divides, and a name may stand alone.
_LABEL_LINE = re.compile(r"\s*(?P<name>[^:：]+?)\s*(?:[:：]\s*(?P<definition>.*?)\s*)?")
# Whoever writes in two directions need not say so.
_AUTO = {"dir": "auto"}


class TextForm(forms.Form):
    """`draft` and `revision` say what the text was written on top of."""

    draft = forms.UUIDField(widget=forms.HiddenInput)
    revision = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    text = forms.CharField(
        required=False,
        strip=False,
        label=gettext_lazy("Text"),
        help_text=gettext_lazy("Markdown: # heading, **bold**, - list, > quotation, | table |"),
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "true", **_AUTO}),
    )


def task_type_choices() -> list[tuple[str, str]]:
    return [(kind.key, _(kind.title)) for kind in TASK_TYPES.values()]


class QuestionFields(forms.Form):
    text = forms.CharField(
        max_length=300, label=gettext_lazy("Question"), widget=forms.TextInput(attrs={"class": "wide", **_AUTO})
    )
    help = forms.CharField(
        max_length=500,
        required=False,
        label=gettext_lazy("Help"),
        help_text=gettext_lazy("One line that stands under the question while people label."),
        widget=forms.TextInput(attrs={"class": "wide", **_AUTO}),
    )
    task_type = forms.ChoiceField(
        choices=task_type_choices, label=gettext_lazy("Kind of answer"), widget=forms.RadioSelect, initial="nominal"
    )
    required = forms.BooleanField(
        required=False, initial=True, label=gettext_lazy("An answer is required"), help_text=""
    )


class QuestionForm(QuestionFields):
    """An existing question. `seen` is its stamp when the form was made."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    @classmethod
    def of(cls, question: Question, stamp: str) -> "QuestionForm":
        names = ("text", "help", "task_type", "required")
        return cls(initial={"seen": stamp, **{name: getattr(question, name) for name in names}})


class NewQuestionForm(QuestionFields):
    """A question with its labels, one a line."""

    key = forms.CharField(
        max_length=60,
        required=False,
        label=gettext_lazy("Short name"),
        help_text=gettext_lazy(
            "Stands in exports and addresses, for example “intent”, and never changes. Made from the question if left "
            "empty."
        ),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off", "autocapitalize": "none"}),
    )
    labels = forms.CharField(
        required=False,
        label=gettext_lazy("Labels"),
        help_text=gettext_lazy(
            "One a line, in their order, with the definition behind a colon: “Complaint: says that something is "
            "wrong”. You can change and add to them later."
        ),
        widget=forms.Textarea(attrs={"rows": 6, **_AUTO}),
    )
    field_order = ("text", "help", "task_type", "labels", "key", "required")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        lines = cleaned.get("labels") or ""
        cleaned["labels"] = labels_of(lines, numbered=_numbered(cleaned.get("task_type")))
        return cleaned


class LabelsForm(forms.Form):
    """Further labels, one a line."""

    labels = forms.CharField(
        label=gettext_lazy("Add labels"),
        help_text=gettext_lazy("One a line, with the definition behind a colon."),
        widget=forms.Textarea(attrs={"rows": 3, **_AUTO}),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, question: Question | QuestionReading) -> None:
        super().__init__(data, prefix=question.key)
        self.question = question

    def clean_labels(self) -> list[NewLabel]:
        return labels_of(self.cleaned_data["labels"], numbered=_numbered(self.question.task_type))


class LabelForm(forms.Form):
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(max_length=120, label=gettext_lazy("Name"), widget=forms.TextInput(attrs=_AUTO))
    definition = forms.CharField(
        required=False,
        label=gettext_lazy("Definition"),
        help_text=gettext_lazy("When does this label hold, and when not? Markdown."),
        widget=forms.Textarea(attrs={"rows": 6, **_AUTO}),
    )
    value = forms.FloatField(
        required=False,
        label=gettext_lazy("Value"),
        help_text=gettext_lazy("A number, where the scale has numbers. All labels of a question have one, or none."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    @classmethod
    def of(cls, label: Label, stamp: str) -> "LabelForm":
        return cls(initial={"seen": stamp, "name": label.name, "definition": label.definition, "value": label.value})


class SplitForm(forms.Form):
    """The labels that one is divided into, one a line."""

    labels = forms.CharField(
        label=gettext_lazy("Divide it into"),
        help_text=gettext_lazy("One a line, with the definition behind a colon."),
        widget=forms.Textarea(attrs={"rows": 4, **_AUTO}),
    )
    stays = forms.BooleanField(
        required=False,
        label=gettext_lazy("The old label stays beside them, with a narrower meaning"),
    )

    def parts(self, *, numbered: bool) -> list[NewLabel]:
        return labels_of(self.cleaned_data["labels"], numbered=numbered)


class StylesForm(forms.Form):
    """Colour and hotkey of every label of a question at once, so that two can swap theirs."""

    def __init__(self, *args: Any, question: QuestionReading, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.question = question
        for label in question.labels:
            self.fields[f"hotkey-{label.key}"] = forms.CharField(
                required=False,
                max_length=1,
                initial=label.hotkey,
                label=_("Key of “%(label)s”") % {"label": label.name},
                widget=forms.TextInput(attrs={"size": 2, "autocomplete": "off", "autocapitalize": "none"}),
            )
            self.fields[f"colour-{label.key}"] = forms.CharField(
                required=False,
                max_length=7,
                initial=label.colour or PALETTE[0],
                label=_("Colour of “%(label)s”") % {"label": label.name},
                widget=forms.TextInput(attrs={"type": "color"}),
            )

    def rows(self) -> list[tuple[LabelReading, forms.BoundField, forms.BoundField]]:
        return [(one, self[f"hotkey-{one.key}"], self[f"colour-{one.key}"]) for one in self.question.labels]

    def chosen(self) -> dict[str, Style]:
        sent = self.cleaned_data
        return {one.key: Style(sent[f"colour-{one.key}"], sent[f"hotkey-{one.key}"]) for one in self.question.labels}


class ExampleForm(forms.Form):
    """An example under one question: a text for each field that items show."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    kind = forms.ChoiceField(
        choices=ExampleKind.choices, initial=ExampleKind.CLEAR, label=gettext_lazy("Kind"), widget=forms.RadioSelect
    )
    rationale = forms.CharField(
        required=False,
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("The reason that decides it, in a sentence or two."),
        widget=forms.Textarea(attrs={"rows": 3, **_AUTO}),
    )

    def __init__(self, *args: Any, question: QuestionReading, content_fields: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.question = question
        self.content_fields = list(content_fields)
        for place, name in enumerate(self.content_fields):
            self.fields[f"content-{place}"] = forms.CharField(
                required=place == 0,
                label=_("Text") if len(self.content_fields) == 1 else name,
                widget=forms.Textarea(attrs={"rows": 4, "data-text": name, **_AUTO}),
            )
        self.fields["value"] = AnswerField(question, title=_("Label") if question.kind.needs_labels else _("Answer"))
        self.fields["confused_with"] = AnswerField(
            question,
            number=2,
            title=_("Confused with"),
            nothing=_("nothing in particular"),
            required=False,
            help_text=_("What people give to it by mistake: it is shown there too, as “not this”."),
        )
        self.order_fields(
            ["seen", *(f"content-{place}" for place in range(len(self.content_fields))), "value", "confused_with"]
        )

    def example(self) -> dict[str, Any]:
        """What `guidelines.add_example` and `edit_example` take."""
        sent = self.cleaned_data
        content: Mapping[str, Json] = {name: sent[f"content-{place}"] for place, name in enumerate(self.content_fields)}
        return {
            "content": content,
            "value": sent["value"],
            "confused_with": sent["confused_with"],
            "kind": sent["kind"],
            "rationale": sent["rationale"],
        }

    @staticmethod
    def initial_of(example: Example, stamp: str) -> dict[str, Any]:
        texts = {f"content-{place}": text for place, text in enumerate(example.content.values())}
        names = ("value", "confused_with", "kind", "rationale")
        return {"seen": stamp, **texts, **{name: getattr(example, name) for name in names}}


def content_fields(project: Project, example: Example | None = None) -> list[str]:
    """The fields that an example's form asks for: its own, or those that the project's items show."""
    return list(example.content) if example else list(project.shown_fields) or ["text"]


def labels_of(lines: str, *, numbered: bool) -> list[NewLabel]:
    """The labels in a text, one a line. On a scale whose steps are all called by a number, that number is the value."""
    found = [match for line in lines.splitlines() if line.strip() and (match := _LABEL_LINE.fullmatch(line))]
    values = [_number(match["name"]) for match in found] if numbered else []
    if None in values or not values:
        values = [None] * len(found)
    return [
        NewLabel(name=match["name"], definition=match["definition"] or "", value=value)
        for match, value in zip(found, values, strict=True)
    ]


def _numbered(task_type: str | None) -> bool:
    return task_type in TASK_TYPES and TASK_TYPES[task_type].numbered


def _number(name: str) -> float | None:
    try:
        return float(name.replace("−", "-").replace(",", "."))
    except ValueError:
        return None
