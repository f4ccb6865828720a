"""The form that asks for an export."""

from django import forms
from django.utils.translation import gettext_lazy

from annotations.exporting import EXPORTS, FILE_FORMATS


def export_choices() -> list[tuple[str, str]]:
    return [(key, str(export.title)) for key, export in EXPORTS.items()]


class ExportForm(forms.Form):
    what = forms.ChoiceField(
        choices=export_choices, label=gettext_lazy("What"), initial="gold", widget=forms.RadioSelect
    )
    file_format = forms.ChoiceField(
        choices=[(key, key.upper()) for key in FILE_FORMATS],
        label=gettext_lazy("Format"),
        initial="csv",
        widget=forms.RadioSelect,
    )
