"""Forms of the waves' pages: opening one, and ending its measurement."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations import strata
from annotations.forms import panels
from annotations.panels import Declared
from projects.models import Membership, Project

PILOT, SOME, ALL = "pilot", "some", "all"
_FACTOR = re.compile(r"[x×]\s*(\S+)|(\S+?)\s*[x×]")
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

    strata_field = forms.ChoiceField(
        label=gettext_lazy("Split the draw by"),
        required=False,
        help_text=gettext_lazy("Each value of this field of the items gets its share of the overlap, its stratum."),
    )
    strata_minimum = forms.IntegerField(
        label=gettext_lazy("At least so many of each stratum"),
        required=False,
        min_value=0,
        max_value=strata.MINIMUM_LIMIT,
        help_text=gettext_lazy("As far as the overlap goes: its size stays what the shares make it."),
    )
    enriched = forms.CharField(
        label=gettext_lazy("Over-sample"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Strata that get more than the share, one a line: “threat = 3x” is three times the share, “threat = 50 %” "
            "half of that stratum. Figures are then told as drawn, and weighted to the population."
        ),
    )

    expert = forms.ChoiceField(
        label=gettext_lazy("Expert"),
        required=False,
        help_text=gettext_lazy("One rater whom the others are compared with: the headline is agreement with them."),
    )

    MORE = ("strata_field", "strata_minimum", "enriched", "expert")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["strata_field"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
        kept = str(project.protocol.get("strata_field") or "")
        names = [*strata.fields_of(project)]
        names += [kept] if kept and kept not in names else []
        field.choices = [("", _("nothing")), *((name, name) for name in names)]
        expert = self.fields["expert"]
        assert isinstance(expert, forms.ChoiceField)  # noqa: S101 - for the type checker
        people = project.memberships.annotators().filter(user__isnull=False).select_related("user")
        expert.choices = [("", _("nobody")), *((str(one.uuid), one.name) for one in people)]
        self.people = panels.people_of(people)
        self.fields.update(panels.fields_for(self.people))

    @property
    def main(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in self.base_fields and field.name not in self.MORE]

    @property
    def of_panels(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.base_fields]

    @property
    def of_people(self) -> list[forms.BoundField]:
        return [field for field in self.of_panels if field.name.startswith(panels.PREFIX)]

    @property
    def of_weights(self) -> list[forms.BoundField]:
        return [field for field in self.of_panels if field.name == panels.WEIGHTS]

    @property
    def shows_panels(self) -> bool:
        return any(field.value() or field.errors for field in self.of_panels)

    @property
    def more(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in self.MORE]

    @property
    def shows_more(self) -> bool:
        """Whether something is chosen or wrong in the part that is folded away."""
        return any(field.value() or field.errors for field in self.more)

    def clean_enriched(self) -> dict[str, dict[str, str]]:
        try:
            return read_enriched(self.cleaned_data["enriched"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("scope") in (PILOT, SOME) and cleaned.get("size") is None and "size" not in self.errors:
            self.add_error("size", _("Say how many items."))
        try:
            self.declared = panels.read(cleaned, self.people)
        except ValueError as error:
            self.add_error(panels.WEIGHTS, str(error))
        return cleaned

    declared: list[Declared] = []

    @property
    def choices(self) -> dict[str, Any]:
        """What `opening.open_wave` takes."""
        cleaned = self.cleaned_data
        return {
            "size": None if cleaned["scope"] == ALL else cleaned["size"],
            "share_percent": cleaned["share_percent"],
            "ratings_per_item": cleaned["ratings_per_item"],
            "pilot": cleaned["scope"] == PILOT,
            **{name: cleaned.get(name) or EMPTY[name] for name in self.MORE if name in self.data},
        }


EMPTY: dict[str, Any] = {"strata_field": "", "strata_minimum": 0, "enriched": {}, "expert": ""}


def read_enriched(text: str) -> dict[str, dict[str, str]]:
    """“threat = 3x” and “threat = 50 %”, one a line, as `strata.declare` takes it. ValueError names the line."""
    found: dict[str, dict[str, str]] = {}
    for line in filter(str.strip, text.splitlines()):
        stratum, equals, amount = line.rpartition("=")
        stratum, amount = stratum.strip(), amount.strip().replace(",", ".")
        factor = _FACTOR.fullmatch(amount)
        if not equals or not (factor or amount.endswith("%")):
            raise ValueError(
                _("“%(line)s”: expected a value of the field, =, and a factor (3x) or a share (50 %%).")
                % {"line": line.strip()[:100]}
            )
        if stratum in found:
            raise ValueError(_("“%(name)s” is there twice.") % {"name": stratum})
        if factor:
            found[stratum] = {strata.FACTOR: factor[1] or factor[2]}
        else:
            found[stratum] = {strata.SHARE: amount.removesuffix("%").strip()}
    return found


def write_enriched(enriched: strata.Enriched) -> str:
    """The text that `read_enriched` reads."""
    return "\n".join(
        f"{stratum} = {rule[strata.FACTOR]}x" if strata.FACTOR in rule else f"{stratum} = {rule[strata.SHARE]} %"
        for stratum, rule in enriched.items()
    )


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
        "strata_field": project.protocol.get("strata_field") or "",
        "strata_minimum": project.protocol.get("strata_minimum"),
        "enriched": write_enriched(project.protocol.get("enriched") or {}),
        "expert": project.protocol.get("expert") or "",
    }


class GiveForm(forms.Form):
    """To whom a wave is given, until when, and how much of it one person may take."""

    members = forms.MultipleChoiceField(
        label=gettext_lazy("People"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Only they get items of this wave. If nobody is chosen, everybody who labels does."),
    )
    due_on = forms.DateField(
        label=gettext_lazy("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    limit_per_person = forms.IntegerField(
        label=gettext_lazy("At most for one person"),
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text=gettext_lazy("Items of this wave."),
    )
    limit_per_day = forms.IntegerField(
        label=gettext_lazy("At most for one person in a day"),
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text=gettext_lazy("Items of this wave. Empty: no limit."),
    )

    def __init__(self, *args: Any, people: Sequence[Membership], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.people = {str(member.uuid): member for member in people}
        field = self.fields["members"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - for the type checker
        field.choices = [(uuid, member.name) for uuid, member in self.people.items()]

    @property
    def choices(self) -> dict[str, Any]:
        """What `giving.give` takes."""
        return {**self.cleaned_data, "members": [self.people[uuid] for uuid in self.cleaned_data["members"]]}


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
