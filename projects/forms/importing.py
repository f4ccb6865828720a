"""Forms of an import: the upload, the choice of fields, the confirmation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.utils.functional import lazystr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects import importing, staging
from projects.formats import FORMATS
from projects.models import Job

PASTED_CHARACTERS = 500_000
SHOWN_AT_MOST = 10


class UploadForm(forms.Form):
    """A file or a pasted text. `refusal` says what went wrong before the form could be read."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        required=False,
        allow_empty_file=True,
        help_text=gettext_lazy("CSV or TSV with a header line, a JSON array of objects, or JSONL. UTF-8 or UTF-16."),
    )
    text = forms.CharField(
        label=gettext_lazy("Or paste the rows"),
        required=False,
        strip=False,
        max_length=PASTED_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        required=False,
        choices=[("", gettext_lazy("recognise it")), *((key, lazystr(key.upper())) for key in FORMATS)],
    )
    name = forms.CharField(
        label=gettext_lazy("Name of the batch"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("The file's name unless you give one."),
    )
    # The first and the last field that a browser sends: without the last one the upload was cut off.
    begin = forms.CharField(required=False, initial="1", widget=forms.HiddenInput)
    end = forms.CharField(required=False, initial="1", widget=forms.HiddenInput)

    def __init__(self, *args: Any, refusal: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refusal = refusal

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.refusal:
            raise forms.ValidationError(self.refusal, code="refused")
        if cleaned.get("begin") and not cleaned.get("end"):
            raise forms.ValidationError(_("The upload was cut off before its end: send it again."), code="cut_off")
        file, text = cleaned.get("file"), cleaned.get("text")
        if file is not None and text:
            raise forms.ValidationError(_("Choose a file or paste rows, not both."), code="both")
        if file is None and not text and not self.errors:
            raise forms.ValidationError(_("Choose a file, or paste some rows."), code="neither")
        return cleaned

    def upload(self) -> "File[Any]":
        file = self.cleaned_data.get("file")
        return file if file is not None else ContentFile(self.cleaned_data["text"].encode(), name=_("pasted text"))


def too_large() -> str:
    return _("The file is larger than %(limit)d MB, the most that this server takes: split it.") % {
        "limit": settings.UPLOAD_MEGABYTES
    }


def pasted_too_large() -> str:
    return _("That is too much text to paste: save it as a file and upload the file.")


@dataclass(frozen=True)
class FieldRow:
    """One field of the file as the form shows it."""

    index: str
    name: str
    samples: list[str]
    shown: Any
    is_id: bool
    is_metadata: bool


class FieldsForm(forms.Form):
    """Which fields are shown in which order, which is the id, which are metadata. Fields go by their place."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, job: Job) -> None:
        super().__init__(data)
        self.job = job
        self.names = importing.field_names(job)
        choice = importing.choice_of(job)
        numbers = [str(n) for n in range(1, min(len(self.names), SHOWN_AT_MOST) + 1)]
        places = [(str(i), name) for i, name in enumerate(self.names)]
        for place, name in places:
            at = str(choice.shown.index(name) + 1) if name in choice.shown else ""
            self.fields[f"shown_{place}"] = forms.ChoiceField(
                choices=[("", "–"), *((n, n) for n in numbers)],
                required=False,
                initial=at,
                widget=forms.Select(attrs={"aria-label": _("place of “%(field)s”") % {"field": name}}),
            )
        self.fields["id_field"] = forms.ChoiceField(
            choices=[("", ""), *places],
            required=False,
            initial=next((place for place, name in places if name == choice.id_field), ""),
        )
        self.fields["metadata"] = forms.MultipleChoiceField(
            choices=places, required=False, initial=[place for place, name in places if name in choice.metadata]
        )

    def rows(self) -> list[FieldRow]:
        id_field, metadata = self["id_field"].value(), self["metadata"].value() or []
        samples = [one["samples"] for one in self.job.params["fields"]]
        return [
            FieldRow(str(i), name, samples[i], self[f"shown_{i}"], str(i) == id_field, str(i) in metadata)
            for i, name in enumerate(self.names)
        ]

    @property
    def without_id(self) -> bool:
        return not self["id_field"].value()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        chosen = [(int(n), i) for i in range(len(self.names)) if (n := cleaned.get(f"shown_{i}"))]
        if not chosen:
            raise forms.ValidationError(_("Choose at least one field to show."), code="nothing_shown")
        return cleaned

    def choice(self) -> dict[str, Any]:
        """The arguments of `importing.choose`."""
        cleaned = self.cleaned_data
        numbered = sorted((int(n), i) for i in range(len(self.names)) if (n := cleaned.get(f"shown_{i}")))
        id_field = cleaned.get("id_field")
        return {
            "shown": [self.names[i] for _number, i in numbered],
            "id_field": self.names[int(id_field)] if id_field else "",
            "metadata": [self.names[int(i)] for i in cleaned.get("metadata", [])],
        }


class ConfirmForm(forms.Form):
    """Which rows with a problem are imported all the same, and which reading of the file was looked at."""

    also = forms.MultipleChoiceField(
        required=False, choices=[(problem.value, problem.label) for problem in staging.OPTIONAL]
    )
    attempt = forms.IntegerField(required=False, widget=forms.HiddenInput)
