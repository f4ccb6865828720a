"""Forms of the waves' pages: opening one, and ending its measurement."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Project

PILOT, SOME, ALL = "pilot", "some", "all"
DRAW_COMPLETE, DRAW_SHORT, DRAW_EARLY, WAVE = "complete", "short", "early", "wave"


class OpenForm(forms.Form):
    """Which items, which share, how many ratings. What is not chosen here is the project's protocol."""

    scope = forms.ChoiceField(
        label=gettext_lazy("Items"),
        choices=[
            (PILOT, gettext_lazy("a pilot of a set size")),
            (SOME, gettext_lazy("a wave of a set size")),
            (ALL, gettext_lazy("all fresh items at once")),
        ],
        widget=forms.RadioSelect,
    )
    size = forms.IntegerField(
        label=gettext_lazy("Size"),
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text=gettext_lazy("How many items, for a pilot or a wave of a set size. The rest stays fresh."),
    )
    share_percent = forms.DecimalField(
        label=gettext_lazy("Share of overlap, in %"),
        min_value=Decimal(0),
        max_value=Decimal(100),
        max_digits=6,
        decimal_places=3,
        help_text=gettext_lazy("How many of the items several people rate. 0: not measured. 100: everything."),
    )
    ratings_per_item = forms.IntegerField(
        label=gettext_lazy("Ratings per overlap item"),
        min_value=2,
        max_value=10,
        help_text=gettext_lazy("2 to 10, each by another person."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("scope") in (PILOT, SOME) and cleaned.get("size") is None and "size" not in self.errors:
            self.add_error("size", _("Say how many items."))
        return cleaned

    @property
    def choices(self) -> dict[str, Any]:
        """What `opening.open_wave` takes."""
        cleaned = self.cleaned_data
        return {
            "size": None if cleaned["scope"] == ALL else cleaned["size"],
            "share_percent": cleaned["share_percent"],
            "ratings_per_item": cleaned["ratings_per_item"],
            "pilot": cleaned["scope"] == PILOT,
        }


def open_defaults(project: Project, *, fresh: int) -> dict[str, Any]:
    """A pilot of a third at most, then all the rest; share and ratings as the project's protocol has them.

    What a pilot teaches is of use only where fresh items are left to measure it on.
    """
    first = not project.waves.exists()
    return {
        "scope": PILOT if first and fresh > 1 else ALL,
        "size": min(-(-fresh // 3), 100) if first and fresh else None,
        "share_percent": project.protocol["share_percent"],
        "ratings_per_item": project.protocol["ratings_per_item"],
    }


class CloseForm(forms.Form):
    """How the measurement, or the wave, is ended."""

    closing = forms.ChoiceField(label=gettext_lazy("What ends"), widget=forms.RadioSelect)
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Printed with every figure of this draw. Needed where ratings are missing, save short."),
    )

    def __init__(
        self, *args: Any, has_open_draw: bool, all_rated: bool = False, relabels: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.all_rated = all_rated
        draw = [
            (DRAW_SHORT, _("the draw, short: nobody present may give what is left")),
            (DRAW_EARLY, _("the draw, early: ratings that could still come are not waited for, and the gate holds")),
        ]
        if all_rated:
            draw = [(DRAW_COMPLETE, _("the correction time: everything measured is rated, and the draw is complete"))]
        wave = (WAVE, _("the whole wave: what is unlabelled becomes fresh again"))
        if relabels:
            wave = (WAVE, _("the whole wave: what is not labelled again keeps its old label"))
        field = self.fields["closing"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
        field.choices = [*draw, wave] if has_open_draw else [wave]
        if not has_open_draw or all_rated:
            self.initial.setdefault("closing", DRAW_COMPLETE if has_open_draw else WAVE)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        needs_reason = cleaned.get("closing") in (DRAW_EARLY, WAVE) and not self.all_rated
        if needs_reason and not cleaned.get("reason", "").strip():
            self.add_error("reason", _("Say why: the reason is printed with every figure of this draw."))
        return cleaned
