"""The form that publishes a draft."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from projects.enums import Change
from projects.guidelines import Consequences


class PublishForm(forms.Form):
    """`seen`: the digest of the draft that the page showed. A first version is neither material nor editorial."""

    draft = forms.UUIDField(widget=forms.HiddenInput)
    seen = forms.CharField(widget=forms.HiddenInput)
    change = forms.ChoiceField(
        choices=Change.choices,
        label=gettext_lazy("What kind of change it is"),
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Say whether the change is material or editorial.")},
    )
    reason = forms.CharField(
        label=gettext_lazy("Why it is published"),
        help_text=gettext_lazy("A sentence that annotators and later readers see beside the version."),
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        error_messages={"required": gettext_lazy("Say in a sentence why it is published.")},
    )

    def __init__(self, *args: Any, consequences: Consequences, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if consequences.first:
            del self.fields["change"]
            self.fields["reason"].required = False
        elif not consequences.may_be_editorial:
            self.fields["change"].initial = Change.MATERIAL

    def decision(self) -> dict[str, Any]:
        """What `publishing.publish` takes."""
        sent = self.cleaned_data
        return {"change": sent.get("change", Change.MATERIAL), "reason": sent["reason"], "seen": sent["seen"]}
