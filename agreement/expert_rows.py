"""Agreement with the one whom the protocol names as the expert: of all, of each other rater, or of each label."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agreement import charts, rater_rows, sentences, worded
from agreement.charts import Axis
from agreement.worded import Figure

BY_RATER = {
    "expert_kappa_per_rater": gettext_noop("Cohen's kappa of each rater with the expert"),
    "expert_weighted_kappa_linear_per_rater": gettext_noop("Weighted kappa of each rater with the expert (linear)"),
    "expert_weighted_kappa_quadratic_per_rater": gettext_noop(
        "Weighted kappa of each rater with the expert (quadratic)"
    ),
    "expert_percent_agreement_per_rater": gettext_noop("Exact-set agreement of each rater with the expert"),
    "expert_exact_f1_per_rater": gettext_noop(
        "F1 of each rater with the expert, spans with the same borders and label"
    ),
    "expert_overlap_f1_per_rater": gettext_noop("F1 of each rater with the expert, spans that overlap"),
    "expert_token_f1_per_rater": gettext_noop("F1 of each rater with the expert, tokens inside spans"),
}


@dataclass(frozen=True)
class Listed:
    """One statistic of every rater, or of every label where answers are sets, on one axis."""

    title: str
    rows: list[Figure]
    axis: Axis


@dataclass(frozen=True)
class Expert:
    """Agreement with the one whom the protocol names as the expert."""

    sentence: str
    figures: list[Figure]
    lists: list[Listed]

    @property
    def smoothed(self) -> bool:
        return worded.has_smoothed([*self.figures, *(row for each in self.lists for row in each.rows)])


def of(result: Mapping[str, Any], names: Mapping[str, str]) -> Expert | None:
    """Agreement with the expert of a run, None where there is none."""
    found = result.get("expert")
    statistics = result["statistics"]
    if not found or not any(key.startswith("expert_") for key in statistics):
        return None  # a result of an engine that had none against an expert
    pooled = [key for key, entry in statistics.items() if key.startswith("expert_") and isinstance(entry, Mapping)]
    lists = [key for key, rows in statistics.items() if key.startswith("expert_") and isinstance(rows, list)]
    about = {"name": names.get(found["rater"], found["rater"]), "items": sentences.items(found["rated"])}
    sentence = _("%(name)s is the expert of this draw and rated %(items)s of it. What follows is agreement with them.")
    figures = [worded.of(rater_rows.title_of(result, key), statistics[key]) for key in pooled]
    return Expert(sentence % about, figures, [_listed(result, key, names) for key in lists])


def _listed(result: Mapping[str, Any], key: str, names: Mapping[str, str]) -> Listed:
    """A statistic that has an entry for each rater, or for each label."""
    entries = result["statistics"][key]
    called = {label["key"]: label["name"] for label in result["labels"]} | dict(names)
    axis, spans = charts.forest([worded.ends(entry) for entry in entries])
    of_what = [str(entry["rater"] if "rater" in entry else entry["label"]) for entry in entries]
    rows = [
        worded.of(called.get(name, name), entry, span=span)
        for name, entry, span in zip(of_what, entries, spans, strict=True)
    ]
    title = _(BY_RATER[key]) if key in BY_RATER else rater_rows.title_of(result, key)
    return Listed(title, rows, axis)
