"""A run as its page shows it: sentences, tables and pictures, ready for the template. Nothing is computed here.

What a result may hold is told in `agreement.figures`; a part that an older result does not have is left out.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from agreement import (
    charts,
    class_rows,
    confusions,
    expert_rows,
    people,
    rater_graph,
    rater_rows,
    reasons,
    sentences,
    worded,
)
from agreement.charts import Axis
from agreement.class_rows import Classes, Merge, PerLabel
from agreement.coefficients import COEFFICIENTS
from agreement.confusions import Heat
from agreement.expert_rows import Expert
from agreement.gate_pages import OfQuestion, Said
from agreement.models import Run
from agreement.rater_graph import Coverage
from agreement.rater_rows import Pairs, Raters
from agreement.sentences import Entry
from agreement.worded import Figure
from annotations.enums import SkipReason
from annotations.models import Case, Draw
from projects.enums import Role

NO_GATE = OfQuestion([], {}, {}, decided=False)


@dataclass(frozen=True)
class StratumRow:
    """A stratum with its own figure; `gate` None where it has no threshold."""

    figure: Figure
    gate: Said | None


@dataclass(frozen=True)
class Strata:
    rows: list[StratumRow]
    axis: Axis
    has_gate: bool

    @property
    def smoothed(self) -> bool:
        return worded.has_smoothed(row.figure for row in self.rows)


@dataclass(frozen=True)
class Weighting:
    """The headline as drawn and weighted to the population: one never in the place of the other."""

    as_drawn: Figure
    weighted: Figure
    strata: list[dict[str, Any]]

    @property
    def smoothed(self) -> bool:
        return worded.has_smoothed([self.as_drawn, self.weighted])


@dataclass(frozen=True)
class Report:
    """Everything on a draw's page that comes from its run."""

    sentence: str
    figure: Figure
    agreement: str
    reasons: list[str]
    notes: list[str]
    labels: list[str]
    raters: list[str]
    heat: Heat
    beside: list[Figure]
    beside_said: list[str]
    classes: Classes
    merges: list[Merge]
    per_label: list[PerLabel]
    pairs: Pairs
    against_rest: Raters | None
    coverage: Coverage | None
    by_rater: bool
    strata: Strata
    roles: Strata
    weighting: Weighting | None
    expert: Expert | None
    units: str
    skips: list[tuple[str, str, int]]
    diagnostics: list[str]
    cannot_tell: list[str]
    arithmetic: list[dict[str, str]]
    arithmetic_note: str
    method: list[str]
    comparisons: list[str] = field(default_factory=list)

    @property
    def beside_smoothed(self) -> bool:
        return worded.has_smoothed(self.beside)

    @property
    def merges_smoothed(self) -> bool:
        return worded.has_smoothed(merge.merged for merge in self.merges)


def waits(run: Run, undecided: Container[tuple[int, str]]) -> bool:
    """Whether cases of what the run measures are, or may yet be, open: those of an open draw come when it closes."""
    return run.draw.is_open or (run.draw_id, run.question_key) in undecided


def undecided(draws: Iterable[Draw]) -> set[tuple[int, str]]:
    """(draw, question) where a case is not decided yet, in one query."""
    rows = Case.objects.undecided().filter(draw__in=list(draws)).order_by()
    return set(rows.values_list("draw_id", "question_key").distinct())


def entry_of(run: Run) -> Entry:
    """The numbers of the headline."""
    found: Entry = run.result["statistics"][run.result["headline"]["key"]]
    return found


def headline(run: Run) -> Figure:
    """The headline of a run."""
    return worded.of(_(run.result["headline"]["title"]), entry_of(run))


def of(
    run: Run,
    draw: Draw,
    names: Mapping[str, str],
    *,
    by_rater: bool,
    gate: OfQuestion = NO_GATE,
    looks: Sequence[str] = (),
) -> Report:
    """The page of a run. `by_rater` False keeps back who said which while the draw or a case of it is open."""
    result = people.shown(run.result, draw, names, by_rater=by_rater)
    labels = [label["name"] for label in result["labels"]]
    entry, others = entry_of(run), _others(result)
    summed = draw.is_anonymous or not by_rater
    raters = [_("Uses")] if summed else [names.get(rater, rater) for rater in result["raters"]]
    return Report(
        sentence=sentences.sentence(run),
        figure=headline(run),
        agreement=sentences.observed(entry, result["statistics"]),
        reasons=reasons.of(result),
        notes=[*sentences.notes(draw, looks), *sentences.run_notes(result)],
        labels=labels,
        raters=raters,
        heat=confusions.heat(result, draw, names, by_rater=by_rater),
        beside=[_other(result, key) for key in others],
        beside_said=reasons.beside(result, draw, others),
        classes=class_rows.classes(result, raters, gate),
        merges=class_rows.merges(result),
        per_label=class_rows.per_label(result),
        pairs=rater_rows.pairs(result, names, by_rater=by_rater, weights=_weights(draw, result)),
        against_rest=rater_rows.raters(result, names),
        coverage=rater_graph.coverage(result, names),
        by_rater=by_rater,
        strata=_strata(result, gate),
        roles=_roles(result),
        weighting=_weighting(result),
        expert=expert_rows.of(result, names),
        units=sentences.units(result),
        skips=_skips(result, names),
        diagnostics=_diagnostics(result, names),
        cannot_tell=sentences.cannot_tell(result, draw),
        arithmetic=_arithmetic(result),
        arithmetic_note=_arithmetic_note(result),
        method=sentences.method(run, draw, entry),
        comparisons=sentences.comparisons(run),
    )


def _weights(draw: Draw, result: Mapping[str, Any]) -> str | None:
    """The weights of an ordered scale, as the frozen protocol has them."""
    if result["headline"]["key"] in rater_rows.UNWEIGHTED:
        return None
    rule = draw.protocol.get("questions", {}).get(result["question"], {})
    return str(rule.get("weights") or "linear")


def _others(result: Mapping[str, Any]) -> list[str]:
    """The coefficients of the whole table beside the headline."""
    statistics, shown = result["statistics"], result["headline"]["key"]
    own = [key for key in result.get("titles") or {} if key not in COEFFICIENTS and not key.startswith("expert_")]
    return [key for key in [*COEFFICIENTS, *own] if isinstance(statistics.get(key), Mapping) and key != shown]


def _other(result: Mapping[str, Any], key: str) -> Figure:
    entry, coefficient = result["statistics"][key], COEFFICIENTS.get(key)
    flat = any(each["key"] == "no_variation" for each in result["diagnostics"])
    fixed = coefficient is not None and coefficient.standard_error is not None
    note = _("no class variation: 1 by definition") if flat and fixed and entry.get("value") == 1 else ""
    return worded.of(rater_rows.title_of(result, key), entry, note=note)


def _strata(result: Mapping[str, Any], gate: OfQuestion) -> Strata:
    found = [stratum for stratum in result["strata"] if "by" not in stratum]
    return _parts(result, [(stratum["stratum"] or _("without a value"), stratum) for stratum in found], gate)


def _roles(result: Mapping[str, Any]) -> Strata:
    """The people of one role among themselves."""
    words = dict(Role.choices)
    found = [stratum for stratum in result["strata"] if stratum.get("by") == "role"]
    named = [(str(words.get(stratum["stratum"], stratum["stratum"])).capitalize(), stratum) for stratum in found]
    return _parts(result, named, NO_GATE)


def by_field(result: Mapping[str, Any], entries: Sequence[Entry]) -> Strata:
    """The parts by a field of the items that was asked for afterwards; no gate judges them."""
    return _parts(result, [(part["stratum"] or _("without a value"), part) for part in entries], NO_GATE)


def _parts(result: Mapping[str, Any], parts: Sequence[tuple[str, Entry]], gate: OfQuestion) -> Strata:
    whole = result["statistics"][result["headline"]["key"]].get("value")
    axis, spans = charts.forest([worded.ends(part) for _name, part in parts], whole)
    rows = [
        StratumRow(worded.of(name, part, span=span), gate.strata.get(part["stratum"]))
        for (name, part), span in zip(parts, spans, strict=True)
    ]
    return Strata(rows, axis, any(row.gate for row in rows))


def _weighting(result: Mapping[str, Any]) -> Weighting | None:
    found = result.get("weighting")
    if not found:
        entry = result["statistics"][result["headline"]["key"]]
        found = {"as_drawn": entry, "weighted": entry.get("weighted"), "strata": []}
    if not found["weighted"]:
        return None
    as_drawn, weighted = (worded.of("", found[name]) for name in ("as_drawn", "weighted"))
    return Weighting(as_drawn, weighted, list(found["strata"]))


def _skips(result: Mapping[str, Any], names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    words = dict(SkipReason.choices)
    return [
        (names.get(each["rater"], each["rater"]), str(words.get(each["reason"], each["reason"])), each["n"])
        for each in result["skips"]
    ]


def _diagnostics(result: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    label_names = {label["key"]: label["name"] for label in result["labels"]}

    def named(key: str, value: Any) -> Any:
        if key == "title":
            return _(value)
        if not isinstance(value, str):
            return value
        return names.get(value) or label_names.get(value, value)

    # Two labels as one have a table of their own where the result has it.
    told = [each for each in result["diagnostics"] if not each["key"].startswith("merge") or not result.get("merged")]
    return [
        reasons.diagnostic(each["key"], {key: named(key, value) for key, value in each["numbers"].items()})
        for each in told
    ]


def _arithmetic_note(result: Mapping[str, Any]) -> str:
    """Why some steps have no numbers, where they have none (see `people`)."""
    if all(step["numbers"] for step in result["arithmetic"]):
        return ""
    return _(
        "Left out: what sets the totals of the one rater beside those of the other. You read the raters by number, and "
        "with these totals the numbers would tell who is who."
    )


def _arithmetic(result: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {
            **step,
            "numbers": reasons.bare(step["numbers"]) or _("left out"),
            "value": _("0/0, undefined") if step["value"] is None else reasons.bare(f"{step['value']:.4g}"),
        }
        for step in result["arithmetic"]
    ]
