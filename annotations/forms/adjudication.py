"""Forms of adjudication: the decision, the example that it may become, and taking it back."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.adjudication import RATIONALE_LIMIT, ExampleText
from annotations.cases import Side
from annotations.enums import Cause
from annotations.models import Case
from projects.asking import AnswerField
from projects.enums import ExampleKind
from projects.models import Membership
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

    def __init__(self, *args: Any, content: Sequence[tuple[str, object]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_wording(content)

    def add_wording(self, content: Sequence[tuple[str, object]]) -> None:
        """A text for each of the fields that are shown."""
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


class DecisionForm(forms.Form):
    """A label, the reason for it, and what the disagreement came from."""

    # A browser must not insist on fields that are folded away; the server does where the example is wanted.
    use_required_attribute = False

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

    def __init__(
        self, *args: Any, question: QuestionReading, content: Sequence[tuple[str, object]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.question = question
        value = AnswerField(question, error_messages={"required": _("Choose the label that holds.")})
        value.content = {name: cast(Json, text) for name, text in content}
        self.fields["value"] = value

    def decision(self) -> dict[str, Any]:
        """What the functions that decide take."""
        return {name: self.cleaned_data[name] for name in ("value", "rationale", "cause")}


class ResolutionForm(DecisionForm, ExampleFields):
    """The decision on a case, and the example that it may become."""

    as_example = forms.BooleanField(
        required=False, label=gettext_lazy("Use it as an example in the draft of the next guideline")
    )

    def __init__(
        self, *args: Any, question: QuestionReading, content: Sequence[tuple[str, object]], **kwargs: Any
    ) -> None:
        super().__init__(*args, question=question, content=content, **kwargs)
        self.add_wording(content)
        if self.is_bound and not self["as_example"].value():
            for field in self.wording:
                field.field.required = False

    def decision(self) -> dict[str, Any]:
        return {**super().decision(), "example": self.example() if self.cleaned_data["as_example"] else None}


class AlikeForm(DecisionForm):
    """One decision for the ticked ones of some cases."""

    cases = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Tick the cases that are decided alike.")},
    )

    def __init__(self, *args: Any, offered: Sequence[Case], **kwargs: Any) -> None:
        super().__init__(*args, content=(), **kwargs)
        self.fields["cases"].choices = [(str(case.uuid), str(case.uuid)) for case in offered]  # type: ignore[attr-defined]  # a ChoiceField


class HandOverForm(forms.Form):
    to = forms.ModelChoiceField(
        queryset=Membership.objects.none(),
        to_field_name="uuid",
        label=gettext_lazy("To"),
        empty_label=gettext_lazy("another lead …"),
    )

    def __init__(self, *args: Any, takers: Sequence[Membership], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        field.queryset = Membership.objects.filter(pk__in=[m.pk for m in takers])  # type: ignore[attr-defined]  # a ModelChoiceField
        field.label_from_instance = lambda member: member.name  # type: ignore[attr-defined]


class SendBackForm(forms.Form):
    letter = forms.ChoiceField(label=gettext_lazy("Whose label"), widget=forms.RadioSelect)
    reason = forms.CharField(
        label=gettext_lazy("What to look at"),
        help_text=gettext_lazy("The rater reads it beside the item. A correction changes no figure."),
        max_length=RATIONALE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, **_AUTO}),
        error_messages={"required": gettext_lazy("Say why: the rater reads it beside the item.")},
    )

    def __init__(self, *args: Any, sides: Sequence[Side], **kwargs: Any) -> None:
        # It stands on one page with the form that reopens a case, which has a reason, too.
        kwargs.setdefault("auto_id", "send_back_%s")
        super().__init__(*args, **kwargs)
        named = [(side.letter, side.rater or _("Rater %(letter)s") % {"letter": side.letter}) for side in sides]
        self.fields["letter"].choices = named  # type: ignore[attr-defined]  # a ChoiceField


class ReopenForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Why it is reopened"),
        max_length=RATIONALE_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, **_AUTO}),
        error_messages={"required": gettext_lazy("Say why the decision is reopened: it is kept beside it.")},
    )
