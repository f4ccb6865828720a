"""The figures of a question whose answers are spans. See `figures` for the result.

Exact F1, F1 of the borders alone, and of spans that overlap; agreement on the label where borders match; and on tokens
alpha and F1. Alpha on tokens depends on how many lie outside every span, so it never stands alone, and it names its
tokenisation. Intervals resample items. Where the protocol names an expert, F1 of all others with the expert, and of
each.
"""

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext_noop

from agreement.coefficients import bootstrap, headline
from agreement.coefficients.diagnostics import Diagnostic
from agreement.coefficients.headline import Design
from agreement.coefficients.ratings import FloatArray
from agreement.coefficients.span_arithmetic import unfold
from agreement.coefficients.span_estimates import DISPUTED, EXACT, INSIDE, SPANS, UNITS, Measure, Resampled, SpanFigures
from agreement.coefficients.span_table import THRESHOLD, SpanTable
from agreement.coefficients.summary import entry
from agreement.label_figures import Others, nothing_to_compare, plain, span_of, weighting
from agreement.markings import Markings
from agreement.matrices import Matrix
from agreement.protocol import Protocol
from annotations.models import Draw

ALPHA = "krippendorff_alpha_nominal"
SOURCE = "Krippendorff 2011, Computing Krippendorff's alpha-reliability; on tokens"
TITLES = {
    ALPHA: gettext_noop("Krippendorff's alpha on tokens"),
    "exact_f1": gettext_noop("F1 of spans with the same borders and label"),
    "boundary_f1": gettext_noop("F1 of spans with the same borders, whatever the label"),
    "label_agreement": gettext_noop("Agreement on the label of spans with the same borders"),
    "overlap_f1": gettext_noop("F1 of spans that overlap by more than half, whatever the label"),
    "token_f1": gettext_noop("F1 of tokens inside spans, with their label"),
}
PAIR_FIGURES = (ALPHA, "exact_f1", "overlap_f1")
# With the expert: the names of these figures begin so.
WITH_EXPERT, PER_RATER = "expert_", "_per_rater"
EXPERT_TITLES = {
    "exact_f1": gettext_noop("F1 with the expert of spans with the same borders and label"),
    "overlap_f1": gettext_noop("F1 with the expert of spans that overlap by more than half, whatever the label"),
    "token_f1": gettext_noop("F1 with the expert of tokens inside spans, with their label"),
}
NO_EXPERT = gettext_noop("The expert has rated none of these items.")
UNIT_TITLE = gettext_noop(
    "A token is a run of letters, digits and underscores, a character of a script without spaces, or a single sign."
)
Entry = dict[str, Any]


def of(draw: Draw, matrix: Matrix, protocol: Protocol, *, seed: int, others: Others) -> Entry:
    """All that follows from what was marked."""
    spans = markings_of(matrix)
    figures = spans.whole.figures()
    statistics = _statistics(figures, seed) | _with_expert(matrix, protocol, seed)
    keys = [label.key for label in matrix.labels]
    table = _table(spans.whole, keys)
    result = {
        "raters": [] if matrix.ratings.exchangeable else list(matrix.ratings.raters),
        "n_items": round(float(matrix.ratings.weights.sum())),
        "seed": seed,
        "statistics": statistics,
        "titles": {key: title for key, title in _titles().items() if key in statistics},
        "headline": _headline(protocol),
        "uses": _uses(spans.whole, keys, matrix),
        "coincidences": plain(_folded(table)),
        "per_label": _per_label(figures, keys),
        "disagreements": round(figures.total(DISPUTED)),
        "pairs": _pairs(matrix, seed),
        "strata": [
            {"stratum": name, "n": round(part.n), **alpha(part, seed)}
            for name, part in ((name, spans.whole.figures(place)) for place, name in enumerate(matrix.strata))
        ],
        "weighting": _weighting(matrix, figures, statistics[ALPHA]),
        "units": {
            "tokenisation": spans.tokenisation,
            "title": UNIT_TITLE,
            "total": round(figures.total(UNITS)),
            "inside": round(figures.total(INSIDE)),
            "threshold": THRESHOLD,
        },
        "merged": [],
        "arithmetic": [
            {"symbol": step.symbol, "formula": step.formula, "numbers": step.numbers, "value": step.value}
            for step in unfold(figures)
        ],
        "diagnostics": [{"key": each.key, "numbers": dict(each.numbers)} for each in _diagnostics(matrix, protocol)],
        "difference": _difference(others, figures, seed),
        "pooled": _pooled(others, draw, matrix, seed),
    }
    if matrix.ratings.exchangeable:
        return result | {"anonymous": True}
    return result | ({"table": plain(table)} if matrix.ratings.n_raters == 2 else {})


def markings_of(matrix: Matrix) -> Markings:
    """What was marked; only asked of a question whose answers are spans."""
    if matrix.spans is None:
        raise ValueError(f"The answers to {matrix.question.key!r} are no spans.")
    return matrix.spans


def of_measures(figures: SpanFigures, measures: Mapping[Hashable, Measure], seed: int) -> dict[Hashable, Entry]:
    """Figures as entries, all from the same resampled items, and weighted to the population where that is known."""
    if not figures.n:
        return {key: nothing_to_compare() for key in measures}
    drawn = Resampled(figures, seed)
    found = {key: entry(figures.estimate(each), figures.interval(each, drawn)) for key, each in measures.items()}
    if figures.populations is None:
        return found
    weighted = Resampled(figures, seed, weighted=True)
    for key, each in measures.items():
        # Where a stratum is empty the estimate is undefined, and so there is no interval.
        found[key]["weighted"] = entry(figures.estimate(each, weighted=True), figures.interval(each, weighted))
    return found


def alpha(figures: SpanFigures, seed: int) -> Entry:
    """The headline of some items."""
    return of_measures(figures, {ALPHA: figures.whole()[ALPHA]}, seed)[ALPHA]


def _statistics(figures: SpanFigures, seed: int) -> Entry:
    measures: dict[Hashable, Measure] = dict(figures.whole().items())
    lists = figures.by_label()
    for key, of_labels in lists.items():
        measures |= {(key, label): each for label, each in zip(figures.labels, of_labels, strict=True)}
    made = of_measures(figures, measures, seed)
    found: Entry = {"n_items_2plus": {"value": round(figures.n), "n": round(figures.n)}}
    found |= {key: made[key] for key in figures.whole()}
    return found | {key: [{"label": label, **made[key, label]} for label in figures.labels] for key in lists}


def _titles() -> dict[str, str]:
    """What the figures are called, with those of an expert."""
    of_expert = {f"{WITH_EXPERT}{key}{end}": title for key, title in EXPERT_TITLES.items() for end in ("", PER_RATER)}
    return TITLES | of_expert


def _with_expert(matrix: Matrix, protocol: Protocol, seed: int) -> Entry:
    """F1 of all others with the expert, their pairs with the expert's marks stacked, and of each of them."""
    spans, ratings = markings_of(matrix), matrix.ratings
    if not protocol.expert or ratings.exchangeable:
        return {}
    if spans.expert is None or spans.against is None or not spans.against.rows:
        nothing = {"undefined": "no_pairs", "sentence": NO_EXPERT, "n": 0}
        return {f"{WITH_EXPERT}{key}": dict(nothing) for key in EXPERT_TITLES}
    found: Entry = {f"{WITH_EXPERT}{key}": one for key, one in _f1(spans.against.figures(), seed).items()}
    for other in range(ratings.n_raters):
        table = spans.pair(*sorted((other, spans.expert)))
        if other == spans.expert or table is None or not table.rows:
            continue
        for key, one in _f1(table.figures(), seed).items():
            row = {"rater": ratings.raters[other], **one}
            found.setdefault(f"{WITH_EXPERT}{key}{PER_RATER}", []).append(row)
    return found


def _f1(figures: SpanFigures, seed: int) -> dict[str, Entry]:
    """The figures that an expert's marks are compared by."""
    measures = figures.whole()
    made = of_measures(figures, {key: measures[key] for key in EXPERT_TITLES}, seed)
    return {str(key): one for key, one in made.items()}


def _headline(protocol: Protocol) -> Entry:
    choice = headline.choose(Design(headline.SPANS, max(2, protocol.ratings_per_item)))
    return {
        "key": ALPHA,
        "title": TITLES[ALPHA],
        "source": SOURCE,
        "reason": choice.reason,
        "named": None,
        "refused": None,
        "beside": [key for key in TITLES if key != ALPHA],
    }


def _table(table: SpanTable, keys: Sequence[str]) -> FloatArray:
    counts = np.zeros((len(keys), len(keys)))
    for (first, second), n in table.table.items():
        counts[first, second] = n
    return counts


def _folded(table: FloatArray) -> FloatArray:
    """Both ways round, without who said which."""
    folded = table + table.T
    np.fill_diagonal(folded, np.diagonal(table))
    return np.asarray(folded)


def _uses(table: SpanTable, keys: Sequence[str], matrix: Matrix) -> list[list[int]]:
    by_rater = [[table.uses[rater, key] for key in keys] for rater in range(matrix.ratings.n_raters)]
    if matrix.ratings.exchangeable:
        return [[sum(column) for column in zip(*by_rater, strict=True)]]
    return by_rater


def _per_label(figures: SpanFigures, keys: Sequence[str]) -> list[Entry]:
    """Pairs of ratings have a span with these borders and this label in both, or in one of the two."""
    found = []
    for key in keys:
        both, spans = figures.total((EXACT, key)), figures.total((SPANS, key))
        found.append({"label": key, "both": round(both), "one": round(spans - 2 * both), "neither": None})
    return found


def _pairs(matrix: Matrix, seed: int) -> list[Entry]:
    found: list[Entry] = []
    ratings, spans = matrix.ratings, markings_of(matrix)
    if ratings.exchangeable:
        return found
    keys = [label.key for label in matrix.labels]
    for first, second in combinations(range(ratings.n_raters), 2):
        table = spans.pair(first, second)
        if table is None or not table.rows:
            continue
        figures = table.figures()
        measures = figures.whole()
        statistics = of_measures(figures, {key: measures[key] for key in PAIR_FIGURES}, seed)
        about = {"raters": [ratings.raters[first], ratings.raters[second]], "n": round(figures.n)}
        found.append(about | {"table": plain(_table(table, keys)), "statistics": statistics})
    return found


def _weighting(matrix: Matrix, figures: SpanFigures, headline: Entry) -> Entry | None:
    if figures.populations is None:
        return None
    as_drawn = {key: value for key, value in headline.items() if key != "weighted"}
    complete = [float(figures.weights[figures.strata == place].sum()) for place in range(len(matrix.strata))]
    weighted = headline.get("weighted", nothing_to_compare())
    return weighting(matrix, ALPHA, TITLES[ALPHA], as_drawn, weighted, complete)


def _diagnostics(matrix: Matrix, protocol: Protocol) -> list[Diagnostic]:
    found, ratings = [], matrix.ratings
    n, single = round(ratings.n_paired), round(ratings.n_rated - ratings.n_paired)
    if not n:
        found.append(Diagnostic("no_pairs", {}))
    if single:
        found.append(Diagnostic("single_ratings", {"n": single}))
    if 0 < n < protocol.minimum_n:
        found.append(Diagnostic("small_n", {"n": n, "minimum": protocol.minimum_n}))
    table = markings_of(matrix).whole
    used = {label for _, label in table.uses}
    return found + [
        Diagnostic("unused_class", {"label": key.key}) for key in matrix.labels if n and key.key not in used
    ]


def _difference(others: Others, figures: SpanFigures, seed: int) -> Entry | None:
    """This draw minus the newest closed one of the MAJOR before, both cut into tokens in the same way."""
    if others.earlier is None or others.before is None:
        return None
    found = apart(figures, markings_of(others.before).whole.figures(), seed)
    if found is None:
        return None
    about = {"draw": str(others.earlier.uuid), "version": others.earlier.wave.version.number}
    return about | {"key": ALPHA, "title": TITLES[ALPHA], **found}


def apart(figures: SpanFigures, other: SpanFigures, seed: int) -> Entry | None:
    """Alpha of some items minus that of other ones, each resampled by itself; None where one is undefined."""
    sides = figures, other
    measures = [side.whole()[ALPHA] for side in sides]
    values = [side.estimate(measure).value for side, measure in zip(sides, measures, strict=True)]
    if values[0] is None or values[1] is None:
        return None
    streams = np.random.SeedSequence(seed).spawn(2)
    methods = [side.method(measure) for side, measure in zip(sides, measures, strict=True)]
    drawn = [
        measure.values(side.resample(seed=stream, method=method))
        for side, measure, stream, method in zip(sides, measures, streams, methods, strict=True)
    ]
    value, method = values[0] - values[1], max(methods)  # smoothed if either is
    found = bootstrap.percentile(drawn[0] - drawn[1], level=bootstrap.LEVEL, method=method, seed=seed, holding=value)
    return {"value": value, "se": None, "p": None, **span_of(found)}


def _pooled(others: Others, draw: Draw, matrix: Matrix, seed: int) -> Entry | None:
    if not others.siblings:
        return None
    parts = [markings_of(part) for _, part in others.siblings] + [markings_of(matrix)]
    figures = together(parts).figures()
    waves = [*(other.wave.number for other, _ in others.siblings), draw.wave.number]
    return {"waves": waves, "key": ALPHA, "title": TITLES[ALPHA], **alpha(figures, seed)}


def together(parts: Sequence[Markings]) -> SpanTable:
    """The items of several draws in one table; draw x stratum are its strata."""
    whole, first = SpanTable(parts[0].labels), 0
    for part in parts:
        for (stratum, sums), n in part.whole.rows.items():
            whole.rows[first + stratum, sums] += n
        first += max(1, len(part.strata))
    return whole
