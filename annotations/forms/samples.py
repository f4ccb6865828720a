"""Forms that open a sample of items which were rated before."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations import bridges, repeats
from annotations.repeats import Choices


class SpotCheckForm(forms.Form):
    """Which share of a wave's singles a lead checks."""

    share_percent = forms.DecimalField(
        label=gettext_lazy("Share of its singles, in %"),
        min_value=Decimal("0.001"),
        max_value=Decimal(100),
        max_digits=6,
        decimal_places=3,
        initial=Decimal(5),
        help_text=gettext_lazy("Drawn at random from those that no earlier spot check took, labelled by now or not."),
    )


class BridgeForm(forms.Form):
    """How many old items are rated once more."""

    size = forms.IntegerField(
        label=gettext_lazy("Old items"),
        min_value=1,
        max_value=bridges.MOST,
        initial=100,
        help_text=gettext_lazy("Drawn at random from all that were rated under an earlier MAJOR and under none since."),
    )


class RepeatForm(forms.Form):
    """How many items each person rates again, and after how much else."""

    each = forms.IntegerField(
        label=gettext_lazy("Items for each person"),
        min_value=1,
        max_value=repeats.MOST_EACH,
        initial=30,
        help_text=gettext_lazy("Drawn at random from what they rated; who has rated fewer gets all of them."),
    )
    items_between = forms.IntegerField(
        label=gettext_lazy("Items between"),
        min_value=0,
        max_value=repeats.MOST_ITEMS,
        initial=50,
        help_text=gettext_lazy("How many other items they have labelled before one comes again."),
    )
    days_between = forms.IntegerField(
        label=gettext_lazy("Days between"),
        min_value=0,
        max_value=repeats.MOST_DAYS,
        initial=1,
        help_text=gettext_lazy("How many days have passed as well; 0 where the items are enough."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("items_between") == 0 and cleaned.get("days_between") == 0:
            self.add_error("items_between", _("Set at least one of items and days: people would answer from memory."))
        return cleaned

    @property
    def choices(self) -> Choices:
        return Choices(**self.cleaned_data)
