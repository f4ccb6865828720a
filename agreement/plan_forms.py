"""The form of the planning page. It is sent by its address, so that a plan can be sent to a colleague."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.plans import Wish

MOST_LABELS = 100
# Percentages as people type them rarely add up to 100 exactly; further off it is a slip.
SLACK = 1.0


class PlanForm(forms.Form):
    kappa = forms.FloatField(
        label=gettext_lazy("Kappa that you expect"), min_value=0, max_value=0.99, help_text=gettext_lazy("0 to .99")
    )
    shares = forms.CharField(
        label=gettext_lazy("Share of each label, in %"),
        max_length=600,
        help_text=gettext_lazy("By commas, together 100. Leave out labels that nobody will use."),
    )
    half_width = forms.FloatField(
        label=gettext_lazy("Interval, to each side"),
        min_value=0.005,
        max_value=0.5,
        help_text=gettext_lazy(".1 means: from .1 below the figure to .1 above"),
    )
    against = forms.FloatField(
        label=gettext_lazy("Kappa to be told apart from it"),
        min_value=0,
        max_value=0.99,
        help_text=gettext_lazy("The threshold of the gate, say, or the figure of the version before"),
    )
    power = forms.IntegerField(
        label=gettext_lazy("Found in so many of 100 cases"),
        min_value=50,
        max_value=99,
        help_text=gettext_lazy("50 to 99"),
    )
    ratings = forms.IntegerField(
        label=gettext_lazy("Ratings per overlap item"), min_value=2, max_value=10, help_text=gettext_lazy("2 to 10")
    )

    def __init__(self, data: Mapping[str, Any], **options: Any) -> None:
        super().__init__(data, **options)
        for field in self.fields.values():
            field.widget.attrs["autocomplete"] = "off"
            if isinstance(field, forms.FloatField):
                field.widget.attrs |= {"step": "any", "inputmode": "decimal"}

    def clean_shares(self) -> tuple[float, ...]:
        """The shares, adding up to 1."""
        text = self.cleaned_data["shares"]
        parts = [part for part in re.split(r"[,;\s]+", text.replace("%", " ").strip()) if part]
        try:
            found = [float(part) for part in parts]
        except ValueError as error:
            raise forms.ValidationError(
                _("“%(text)s” is no list of numbers: write one for each label, by commas, such as 70, 20, 10.")
                % {"text": text}
            ) from error
        total = sum(found)
        if not 2 <= len(found) <= MOST_LABELS:
            raise forms.ValidationError(
                _("%(n)s shares: write 2 to %(most)s, one for each label.") % {"n": len(found), "most": MOST_LABELS}
            )
        if not all(0 < share < 100 for share in found):
            raise forms.ValidationError(_("Each share is more than 0 and less than 100: leave out unused labels."))
        if abs(total - 100) > SLACK:
            raise forms.ValidationError(_("The shares add up to %(total)s, not 100.") % {"total": f"{total:g}"})
        return tuple(share / total for share in found)

    @property
    def wish(self) -> Wish:
        cleaned = self.cleaned_data
        return Wish(
            kappa=cleaned["kappa"],
            shares=cleaned["shares"],
            half_width=cleaned["half_width"],
            against=cleaned["against"],
            power=cleaned["power"] / 100,
            ratings=cleaned["ratings"],
        )
