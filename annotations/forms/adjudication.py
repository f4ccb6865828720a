"""Forms of adjudication: the decision, the example that it may become, and taking it back."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.adjudication import RATIONALE_LIMIT, ExampleText
from annotations.enums import Cause
from projects.asking import AnswerField
from projects.enums import ExampleKind
from projects.reading import QuestionReading
from projects.task_types import Json

# Whoever writes in two directions need not say so.
_AUTO = {"dir": "auto"}


class ExampleFields(forms.Form):
    """The wording in which a case is shown as an example: a text for each field that the item shows."""

    # A browser must not insist on fields that are folded away; the server does where the example is wanted.
    use_required_attribute = False

    kind = forms.ChoiceField(
        choices=ExampleKind.choices,
        initial=ExampleKind.CLEAR,
        label=gettext_lazy("Kind"),
        widget=forms.RadioSelect,
    )
    example_rationale = forms.CharField(
        required=False,
        max_length=RATIONALE_LIMIT,
        label=gettext_lazy("Why, for annotators"),
        help_text=gettext_lazy("Left empty, the rationale is shown."),
        widget=forms.Textarea(attrs={"rows": 2, **_AUTO}),
    )

    def __init__(self, *args: Any, content: Sequence[tuple[str, object]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.content_names = [name for name, _text in content]
        for place, (name, text) in enumerate(content):
            self.fields[f"content-{place}"] = forms.CharField(
                required=text not in (None, ""),
                label=_("Text") if len(content) == 1 else name,
                initial="" if text is None else str(text),
                widget=forms.Textarea(attrs={"rows": 3, **_AUTO}),
            )

    @property
    def wording(self) -> list[forms.BoundField]:
        """The fields of the example, in the order in which they are filled in."""
        texts = [self[f"content-{place}"] for place in range(len(self.content_names))]
        return [*texts, self["kind"], self["example_rationale"]]

    def example(self) -> ExampleText:
        sent = self.cleaned_data
        content: Mapping[str, Json] = {
            name: sent.get(f"content-{place}", "") for place, name in enumerate(self.content_names)
        }
        return ExampleText(
            content=content,
            rationale=sent.get("example_rationale", ""),
            kind=sent.get("kind") or ExampleKind.CLEAR.value,
        )


class ResolutionForm(ExampleFields):
    """The decision on a case, with the labels of its question."""

    rationale = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=RATIONALE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3, "required": True, **_AUTO}),
        error_messages={"required": gettext_lazy("Say why: the rationale is what the guideline can learn from.")},
    )
    cause = forms.ChoiceField(
        choices=Cause.choices,
        label=gettext_lazy("Why the two differed"),
        widget=forms.RadioSelect(attrs={"required": True}),
        error_messages={"required": gettext_lazy("Say what the disagreement came from.")},
    )
    as_example = forms.BooleanField(
        required=False, label=gettext_lazy("Use it as an example in the draft of the next guideline")
    )

    def __init__(
        self, *args: Any, question: QuestionReading, content: Sequence[tuple[str, object]], **kwargs: Any
    ) -> None:
        super().__init__(*args, content=content, **kwargs)
        self.question = question
        value = AnswerField(question, error_messages={"required": _("Choose the label that holds.")})
        value.content = {name: cast(Json, text) for name, text in content}
        self.fields["value"] = value
        if self.is_bound and not self["as_example"].value():
            for field in self.wording:
                field.field.required = False

    def decision(self) -> dict[str, Any]:
        """What `adjudication.resolve` takes."""
        sent = self.cleaned_data
        return {
            **{name: sent[name] for name in ("value", "rationale", "cause")},
            "example": self.example() if sent["as_example"] else None,
        }


class ReopenForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Why it is reopened"),
        max_length=RATIONALE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, **_AUTO}),
        error_messages={"required": gettext_lazy("Say why the decision is reopened: it is kept beside it.")},
    )
