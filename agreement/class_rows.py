"""The labels of a run by what costs most, and what the figure would be were two of them one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agreement import charts, people, worded
from agreement.charts import Axis
from agreement.gate_pages import OfQuestion, Said
from agreement.worded import Figure

# More columns of raters than these are one sum, with the numbers of each below.
COLUMNS = 4


@dataclass(frozen=True)
class ClassRow:
    """A label. `disputed` are the pairs of ratings in which only one has it; `gate` None where it has no threshold."""

    label: str
    by_rater: list[tuple[str, int]]
    disputed: int
    specific: Figure
    against_rest: Figure
    gate: Said | None

    @property
    def uses(self) -> list[int]:
        return [n for _rater, n in self.by_rater]

    @property
    def total(self) -> int:
        return sum(self.uses)


@dataclass(frozen=True)
class Classes:
    title: str
    rows: list[ClassRow]
    raters: list[str]
    axis: Axis
    has_gate: bool

    @property
    def wide(self) -> bool:
        """Whether there are more raters than the table has columns for: then it has their sum."""
        return len(self.raters) > COLUMNS

    @property
    def uses_by_rater(self) -> list[tuple[str, list[int]]]:
        return [(rater, [row.uses[place] for row in self.rows]) for place, rater in enumerate(self.raters)]

    @property
    def columns(self) -> int:
        """How many stand before the picture."""
        return 5 + (1 if self.wide else len(self.raters)) + self.has_gate

    @property
    def smoothed(self) -> bool:
        return worded.has_smoothed(row.against_rest for row in self.rows)

    @property
    def disputed(self) -> int:
        return sum(row.disputed for row in self.rows)


@dataclass(frozen=True)
class Merge:
    """Two labels as one: what the headline is, and what it would have been."""

    labels: str
    confused: int
    percent: str
    before: Figure
    merged: Figure
    gain: str
    worth: bool


@dataclass(frozen=True)
class PerLabel:
    """Of sets and spans: pairs of ratings by whether both, one or neither has the label."""

    label: str
    both: int
    one: int
    neither: int | None
    figure: Figure


def key_of(result: Mapping[str, Any]) -> tuple[str, str]:
    """The statistic of a label against the rest, and its title."""
    level = result.get("level")
    if "per_class_kappa" in result["statistics"]:
        return "per_class_kappa", _("kappa of the label") if level == "multilabel" else _("kappa against the rest")
    if "per_class_alpha" not in result["statistics"]:
        return "", ""
    titles = {"multilabel": _("alpha of the label"), "spans": _("alpha of the label, on tokens")}
    return "per_class_alpha", titles.get(str(level), _("alpha against the rest"))


def classes(result: Mapping[str, Any], raters: list[str], gate: OfQuestion) -> Classes:
    """Labels by what costs most: the pairs of ratings in which only one has the label."""
    key, title = key_of(result)
    specific, entries = result["statistics"].get("specific_agreement", []), result["statistics"].get(key, [])
    axis, spans = charts.forest([worded.ends(entry) for entry in entries])
    order = sorted(range(len(raters)), key=lambda at: people.in_order(raters[at]))
    rows = []
    for place, (label, own, entry, span) in enumerate(zip(result["labels"], specific, entries, spans, strict=True)):
        name = label["name"]
        rows.append(
            ClassRow(
                name,
                [(raters[at], int(result["uses"][at][place])) for at in order],
                _disputed(result, place),
                worded.of(name, own),
                worded.of(name, entry, span=span),
                gate.labels.get(label["key"]) or gate.labels.get(name),
            )
        )
    worst_first = sorted(rows, key=lambda row: -row.disputed)
    return Classes(title, worst_first, [raters[at] for at in order], axis, any(row.gate for row in rows))


def merges(result: Mapping[str, Any]) -> list[Merge]:
    """The most confused pair first; nothing for sets and spans."""
    found = []
    names = {label["key"]: label["name"] for label in result["labels"]}
    for each in result.get("merged") or []:
        one, other = (names.get(key, str(key)) for key in each["labels"])
        gain = each.get("gain")
        found.append(
            Merge(
                f"{one} / {other}",
                int(each["confused"]),
                f"{100 * each['share']:.0f}",
                worded.of("", each["before"]),
                worded.of("", each["merged"]),
                "" if gain is None else charts.signed(gain),
                bool(each["worth"]),
            )
        )
    return found


def per_label(result: Mapping[str, Any]) -> list[PerLabel]:
    """The table of labels of sets and spans, by what costs most."""
    key, _title = key_of(result)
    names = {label["key"]: label["name"] for label in result["labels"]}
    entries: Sequence[Mapping[str, Any]] = result["statistics"].get(key, [])
    by_label = {str(entry["label"]): entry for entry in entries}
    found = []
    for each in result.get("per_label") or []:
        entry = by_label.get(str(each["label"]))
        neither = each.get("neither")
        if entry is not None:
            name = names.get(each["label"], str(each["label"]))
            kept = None if neither is None else int(neither)
            found.append(PerLabel(name, int(each["both"]), int(each["one"]), kept, worded.of(name, entry)))
    return sorted(found, key=lambda row: -row.one)


def _disputed(result: Mapping[str, Any], place: int) -> int:
    if result.get("per_label"):
        return int(result["per_label"][place]["one"])
    pairs = result["coincidences"][place]
    return int(sum(pairs) - pairs[place])
