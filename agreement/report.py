"""A run as its page shows it: sentences, tables and pictures, ready for the template. Nothing is computed here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from agreement import charts, sentences
from agreement.charts import Bar, number
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.diagnostics import SENTENCES
from agreement.models import Run
from agreement.sentences import Entry
from annotations.enums import SkipReason
from annotations.models import Case, Draw
from projects.models import Membership

# METHODS of the reference, section 11: below this a pair's kappa is not drawn.
PAIR_MINIMUM = 20


@dataclass(frozen=True)
class Figure:
    """A coefficient in words. `value` is empty where it is undefined, and `why` says the reason then."""

    title: str
    value: str
    between: str
    n: str
    why: str
    note: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Cell:
    """A cell of the confusion table: `url` leads to its cases, None draws nothing."""

    count: int
    tint: int
    same: bool
    url: str
    words: str


@dataclass(frozen=True)
class Heat:
    """The confusion table. Folded, a cell counts both ways round and says of nobody who said which."""

    labels: list[str]
    rows: list[tuple[str, list[Cell | None], int]]
    totals: list[int]
    folded: bool
    down: str
    across: str


@dataclass(frozen=True)
class ClassRow:
    label: str
    uses: list[int]
    disputed: int
    specific: Figure
    against_rest: Figure


@dataclass(frozen=True)
class PairRow:
    names: str
    n: int
    figures: list[Figure]
    table: list[tuple[str, list[int]]] | None


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
    classes: list[ClassRow]
    class_title: str
    pair_titles: list[str]
    pairs: list[PairRow]
    by_rater: bool
    strata: list[Figure]
    skips: list[tuple[str, str, int]]
    diagnostics: list[str]
    cannot_tell: list[str]
    arithmetic: list[dict[str, str]]
    method: list[str]
    comparisons: list[str] = field(default_factory=list)


def figure(title: str, entry: Entry, *, note: str = "", bar: Bar | None = None) -> Figure:
    value = entry.get("value")
    why = _("undefined: %(why)s") % {"why": _(entry["sentence"])} if value is None else ""
    shown = "" if value is None else number(value)
    return Figure(title, shown, sentences.between(entry), sentences.items(entry["n"]), why, note, bar)


def undecided(draws: Iterable[Draw]) -> set[tuple[int, str]]:
    """(draw, question) where a case is still open, in one query."""
    rows = Case.objects.open().filter(draw__in=list(draws)).order_by()
    return set(rows.values_list("draw_id", "question_key").distinct())


def without_raters(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result for those who may decide its open cases: nothing in it says who used which label on which items."""
    kept = {key: value for key, value in result.items() if key != "table"}
    kept["pairs"] = [{key: value for key, value in pair.items() if key != "table"} for pair in result["pairs"]]
    return kept


def entry_of(run: Run) -> Entry:
    """The numbers of the headline."""
    found: Entry = run.result["statistics"][run.result["headline"]["key"]]
    return found


def headline(run: Run) -> Figure:
    """The headline of a run."""
    return figure(_(run.result["headline"]["title"]), entry_of(run))


def of(
    run: Run,
    draw: Draw,
    members: Iterable[Membership],
    *,
    by_rater: bool,
    looks: Sequence[str] = (),
) -> Report:
    """The page of a run. `by_rater` False keeps back who said which while a case of the draw is open."""
    result = run.result
    names = {str(member.uuid): member.name for member in members}
    labels = [label["name"] for label in result["labels"]]
    chosen = result["headline"]
    entry = entry_of(run)
    return Report(
        sentence=sentences.sentence(run),
        figure=headline(run),
        agreement=sentences.observed(entry, result["statistics"]),
        reasons=sentences.reasons(chosen),
        notes=[*sentences.notes(draw, looks), *sentences.run_notes(result)],
        labels=labels,
        raters=[_("Uses")] if draw.is_anonymous else [names.get(rater, rater) for rater in result["raters"]],
        heat=heat(run, draw, names, by_rater=by_rater),
        beside=_beside(result),
        classes=_classes(result, labels),
        class_title=_class_key(result)[1],
        pair_titles=_pair_titles(result),
        pairs=_pairs(result, names, labels, by_rater=by_rater),
        by_rater=by_rater,
        strata=_strata(result),
        skips=_skips(result, names),
        diagnostics=_diagnostics(result, names, labels),
        cannot_tell=sentences.cannot_tell(result, draw),
        arithmetic=_arithmetic(result),
        method=sentences.method(run, draw, entry),
        comparisons=sentences.comparisons(run),
    )


def heat(run: Run, draw: Draw, names: Mapping[str, str], *, by_rater: bool) -> Heat:
    """Two raters by rater; more, or where that is kept back, pairs of ratings without who said which."""
    result = run.result
    labels = result["labels"]
    folded = not by_rater or len(result["raters"]) != 2
    table = result["coincidences"] if folded else result["table"]
    largest = max((table[i][j] for i in range(len(labels)) for j in range(len(labels)) if i != j), default=0)
    rows = []
    for i, one in enumerate(labels):
        cells: list[Cell | None] = []
        for j, other in enumerate(labels):
            count = int(table[i][j])
            words = _("%(one)s and %(other)s: %(n)s") % {"one": one["name"], "other": other["name"], "n": count}
            url = _cell_url(draw, run.question_key, one["key"], other["key"]) if count and not run.interim else ""
            tint = 0 if i == j else charts.heat(count, largest)
            cells.append(None if folded and j > i else Cell(count, tint, i == j, url, words))
        rows.append((one["name"], cells, int(sum(table[i]))))
    totals = [int(sum(row[j] for row in table)) for j in range(len(labels))]
    people = [names.get(rater, rater) for rater in result["raters"]]
    down, across = (people[0], people[1]) if not folded else ("", "")
    return Heat([label["name"] for label in labels], rows, totals, folded, down, across)


def _beside(result: Mapping[str, Any]) -> list[Figure]:
    found, statistics = [], result["statistics"]
    flat = any(each["key"] == "no_variation" for each in result["diagnostics"])
    for key, coefficient in COEFFICIENTS.items():
        if key in statistics and key != result["headline"]["key"]:
            by_definition = flat and statistics[key].get("value") == 1 and coefficient.standard_error is not None
            note = _("no class variation: 1 by definition") if by_definition else ""
            found.append(figure(_(coefficient.title), statistics[key], note=note))
    return found


def _class_key(result: Mapping[str, Any]) -> tuple[str, str]:
    if "per_class_kappa" in result["statistics"]:
        return "per_class_kappa", _("kappa against the rest")
    return "per_class_alpha", _("alpha against the rest")


def _classes(result: Mapping[str, Any], labels: Sequence[str]) -> list[ClassRow]:
    """Labels by what costs most: the pairs of ratings in which only one has the label."""
    specific = result["statistics"].get("specific_agreement", [])
    entries = result["statistics"].get(_class_key(result)[0], [])
    drawn = charts.bars([_ends(entry) for entry in entries])
    rows = []
    for place, (label, own, entry, bar) in enumerate(zip(labels, specific, entries, drawn, strict=True)):
        pairs = result["coincidences"][place]
        uses = [int(row[place]) for row in result["uses"]]
        mixed = int(sum(pairs) - pairs[place])
        rows.append(ClassRow(label, uses, mixed, figure(label, own), figure(label, entry, bar=bar)))
    return sorted(rows, key=lambda row: -row.disputed)


def _ends(entry: Entry) -> tuple[float | None, float | None, float | None]:
    low, high = entry.get("interval") or (None, None)
    return entry.get("value"), low, high


def _pair_titles(result: Mapping[str, Any]) -> list[str]:
    keys = result["pairs"][0]["statistics"] if result["pairs"] else []
    return [_title(result, key) for key in keys]


def _title(result: Mapping[str, Any], key: str) -> str:
    return _(result.get("titles", {}).get(key) or COEFFICIENTS[key].title)


def _pairs(
    result: Mapping[str, Any], names: Mapping[str, str], labels: Sequence[str], *, by_rater: bool
) -> list[PairRow]:
    first = [next(iter(pair["statistics"].values())) for pair in result["pairs"]]
    large = [entry if entry["n"] >= PAIR_MINIMUM else {} for entry in first]
    drawn = charts.bars([_ends(entry) for entry in large])
    rows = []
    for pair, bar in zip(result["pairs"], drawn, strict=True):
        people = [names.get(rater, rater) for rater in pair["raters"]]
        figures = [
            figure(_title(result, key), entry, bar=None if place else bar)
            for place, (key, entry) in enumerate(pair["statistics"].items())
        ]
        table = list(zip(labels, pair["table"], strict=True)) if by_rater else None
        rows.append(
            PairRow(_("%(one)s and %(other)s") % {"one": people[0], "other": people[1]}, pair["n"], figures, table)
        )
    return rows


def _strata(result: Mapping[str, Any]) -> list[Figure]:
    drawn = charts.bars([_ends(stratum) for stratum in result["strata"]])
    return [
        figure(stratum["stratum"] or _("without a value"), stratum, bar=bar)
        for stratum, bar in zip(result["strata"], drawn, strict=True)
    ]


def _skips(result: Mapping[str, Any], names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    words = dict(SkipReason.choices)
    return [
        (names.get(each["rater"], each["rater"]), str(words.get(each["reason"], each["reason"])), each["n"])
        for each in result["skips"]
    ]


def _diagnostics(result: Mapping[str, Any], names: Mapping[str, str], labels: Sequence[str]) -> list[str]:
    label_names = dict(zip((label["key"] for label in result["labels"]), labels, strict=True))

    def named(key: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return names.get(value) or label_names.get(value, value)

    return [
        _(SENTENCES[each["key"]]) % {key: named(key, value) for key, value in each["numbers"].items()}
        for each in result["diagnostics"]
    ]


def _arithmetic(result: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {**step, "value": _("0/0, undefined") if step["value"] is None else f"{step['value']:.4g}"}
        for step in result["arithmetic"]
    ]


def _cell_url(draw: Draw, question_key: str, one: str, other: str) -> str:
    """One address for both ways round: it says of nobody who said which."""
    first, second = sorted((one, other))
    return reverse("agreement:cell", args=[draw.wave.project.uuid, draw.uuid, question_key, first, second])
