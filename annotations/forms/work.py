"""The form of one's own keys."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from projects.models import Membership
from projects.reading import LabelReading, QuestionReading, Reading


class OwnKeysForm(forms.Form):
    """A key for every label; an empty one is the project's, which stands in its field as a hint."""

    def __init__(self, *args: Any, reading: Reading, member: Membership, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = [question for question in reading.questions if question.labels]
        for place, (question, label) in enumerate(self._labels()):
            self.fields[f"key-{place}"] = forms.CharField(
                required=False,
                max_length=1,
                initial=member.hotkeys.get(question.key, {}).get(label.key, ""),
                label=_("Your key of “%(label)s”") % {"label": label.name},
                widget=forms.TextInput(
                    attrs={"size": 2, "autocomplete": "off", "autocapitalize": "none", "placeholder": label.hotkey}
                ),
            )

    def _labels(self) -> Iterator[tuple[QuestionReading, LabelReading]]:
        return ((question, label) for question in self.questions for label in question.labels)

    def rows(self) -> list[tuple[QuestionReading, LabelReading, forms.BoundField]]:
        return [(question, label, self[f"key-{place}"]) for place, (question, label) in enumerate(self._labels())]

    def chosen(self) -> dict[str, dict[str, str]]:
        """Question key -> label key -> what was typed."""
        found: dict[str, dict[str, str]] = {question.key: {} for question in self.questions}
        for place, (question, label) in enumerate(self._labels()):
            found[question.key][label.key] = self.cleaned_data[f"key-{place}"]
        return found
