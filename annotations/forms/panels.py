"""The part of the form that opens a wave in which people are put into panels: a choice for each person."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from annotations import panels
from annotations.panels import Declared
from projects.models import Membership

PREFIX = "panel-"
WEIGHTS = "panel_weights"
LETTERS = [panels.letter(number) for number in range(1, panels.MOST + 1)]


def people_of(annotators: Iterable[Membership]) -> list[Membership]:
    return sorted(annotators, key=lambda one: one.name)


def fields_for(people: Sequence[Membership]) -> dict[str, forms.Field]:
    """A choice of panel for each person, and the weights; nothing where there are too few to make two panels."""
    if len(people) < panels.FEWEST:
        return {}
    choices = [("", _("in no panel")), *((one, _("panel %(name)s") % {"name": one}) for one in LETTERS)]
    found: dict[str, forms.Field] = {
        f"{PREFIX}{one.uuid}": forms.ChoiceField(label=one.name, required=False, choices=choices) for one in people
    }
    found[WEIGHTS] = forms.CharField(
        label=_("Weights of the panels"),
        required=False,
        max_length=100,
        help_text=_("Empty: each panel gets as many items. “2, 1” gives panel A two items for each one of panel B."),
    )
    return found


def read(data: Mapping[str, Any], people: Sequence[Membership]) -> list[Declared]:
    """The panels that were chosen, in order; empty where nobody is in one. ValueError says what cannot be read."""
    chosen: dict[str, list[Membership]] = {}
    for one in people:
        if name := str(data.get(f"{PREFIX}{one.uuid}") or ""):
            chosen.setdefault(name, []).append(one)
    if not chosen:
        return []
    used = LETTERS[: LETTERS.index(max(chosen)) + 1] if set(chosen) <= set(LETTERS) else []
    missing = [name for name in used if name not in chosen]
    if not used or missing:
        said = _("Panel %(name)s has nobody: fill the panels from A on.")
        raise ValueError(said % {"name": missing[0] if missing else "?"})
    weights = _weights(str(data.get(WEIGHTS) or ""), len(used))
    return [Declared(chosen[name], weight) for name, weight in zip(used, weights, strict=True)]


def _weights(text: str, wanted: int) -> list[int]:
    parts = text.replace(";", ",").replace(":", ",").split(",") if text.strip() else ["1"] * wanted
    said = _("Weights “%(text)s”: expected %(wanted)s whole numbers of 1 to %(most)s, one for each panel.")
    about = {"text": text.strip()[:40], "wanted": wanted, "most": panels.MOST_WEIGHT}
    digits = [part.strip() for part in parts]
    if len(parts) != wanted or not all(one.isascii() and one.isdecimal() and len(one) < 6 for one in digits):
        raise ValueError(said % about)
    found = [int(one) for one in digits]
    if not all(1 <= weight <= panels.MOST_WEIGHT for weight in found):
        raise ValueError(said % about)
    return found
