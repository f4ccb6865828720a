"""The figures of a question whose answers are labels: one of them, or a set of them. See `figures` for the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement import matrices, merging, set_figures
from agreement.coefficients import COEFFICIENTS, REASONS, Coefficient, expert, headline, population, summarise
from agreement.coefficients.arithmetic import UNFOLDED
from agreement.coefficients.bootstrap import Interval
from agreement.coefficients.coefficient import MULTILABEL, SINGLE
from agreement.coefficients.comparing import draws as difference_of
from agreement.coefficients.diagnostics import Diagnostic, diagnose
from agreement.coefficients.headline import Design
from agreement.coefficients.ratings import MISSING, FloatArray, Ratings
from agreement.coefficients.summary import one
from agreement.coefficients.table_intervals import Plan
from agreement.matrices import Matrix
from agreement.protocol import AUTO, Protocol
from annotations.models import Draw

# What an entry of the strata is by, where it is not by a value of the draw's field.
ROLE = "role"
PAIR_COEFFICIENTS = ("cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Others:
    """The newest closed draw of the MAJOR before, and the ones that pool with this one, with their ratings."""

    earlier: Draw | None
    before: Matrix | None
    siblings: tuple[tuple[Draw, Matrix], ...] = ()


def of(draw: Draw, matrix: Matrix, protocol: Protocol, *, seed: int, others: Others) -> Entry:
    """All that follows from the ratings of one question."""
    ratings, level = matrix.ratings, matrix.level
    labels = [label.key for label in matrix.labels]
    column = expert_column(protocol, ratings)
    found = summarise(ratings, level, seed=seed, expert=column, set_classes=labels)
    statistics = found["statistics"]
    known = coefficients(protocol, ratings, level)
    chosen = _headline(protocol, matrix, known, statistics)
    coefficient = known[chosen["key"]]
    statistics.setdefault(coefficient.key, entry_of(coefficient, ratings, seed))
    found = (_of_sets if level == MULTILABEL else _of_labels)(found, matrix, protocol, coefficient, seed)
    statistics = found["statistics"]
    found["titles"] |= {key: each.title for key, each in known.items() if key in statistics and key not in COEFFICIENTS}
    diagnostics = diagnose(ratings, level, minimum_n=protocol.minimum_n, coefficient=coefficient, seed=seed)
    found |= {
        "headline": chosen,
        "disagreements": round(ratings.n_disputed),
        "pairs": _pairs(matrix, statistics, seed),
        "strata": _strata(matrix, coefficient, seed),
        "weighting": _weighting(matrix, coefficient, statistics),
        "arithmetic": arithmetic(coefficient.key, ratings, column),
        "diagnostics": [
            {"key": each.key, "numbers": dict(each.numbers)} for each in diagnostics + _unused(found, matrix)
        ],
        "difference": _difference(others, matrix, coefficient, seed),
        "pooled": _pooled(others, draw, matrix, coefficient, seed),
    }
    return _without_raters(found) if ratings.exchangeable else found


def _of_sets(found: Entry, matrix: Matrix, protocol: Protocol, coefficient: Coefficient, seed: int) -> Entry:
    """A summary of sets with its tables by label, and each label with the expert."""
    found = set_figures.named(found, matrix.ratings, matrix.labels)
    if protocol.expert and not matrix.ratings.exchangeable:
        labels = [label.key for label in matrix.labels]
        with_expert = set_figures.with_expert(matrix.ratings, labels, protocol.expert, seed)
        found["statistics"] |= with_expert
        found["titles"] |= {key: set_figures.TITLES[key] for key in with_expert}
    return found


def _of_labels(found: Entry, matrix: Matrix, protocol: Protocol, coefficient: Coefficient, seed: int) -> Entry:
    """A summary of single labels with their pairs, and what two of them would be as one."""
    pairs = pair_counts(matrix.ratings)
    merged = _merged(matrix, coefficient, pairs, seed, found["statistics"][coefficient.key])
    return {**found, "coincidences": plain(pairs), "per_label": [], "titles": {}, "merged": merged}


def expert_column(protocol: Protocol, ratings: Ratings) -> int | None:
    """The column of the protocol's expert, None where nobody is named or they rated nothing."""
    named = protocol.expert in ratings.raters and not ratings.exchangeable
    return ratings.raters.index(protocol.expert) if named else None


def entry_of(coefficient: Coefficient, ratings: Ratings, seed: int) -> Entry:
    """One coefficient of some ratings, with its interval."""
    if not ratings.n_paired:
        return nothing_to_compare()
    return one(ratings, coefficient, Plan(seed))


def nothing_to_compare() -> Entry:
    """The entry of a coefficient that no pair of ratings is there for."""
    return {"undefined": "no_pairs", "sentence": REASONS["no_pairs"], "n": 0}


def pair_counts(ratings: Ratings) -> FloatArray:
    """(n_labels, n_labels) unordered pairs of ratings of an item, symmetric, without who said which."""
    counts, weights = ratings.counts(), ratings.weights
    pairs = (counts * weights[:, None]).T @ counts
    same = weights @ (counts * (counts - 1)) / 2
    np.fill_diagonal(pairs, same)
    return np.asarray(pairs)


def plain(table: FloatArray) -> list[list[int]]:
    """A table of counts as plain data."""
    return [[round(float(count)) for count in row] for row in table]


def _without_raters(result: Mapping[str, Any]) -> Entry:
    """Uses of the labels in all, and no rater: columns are places of ratings."""
    uses = [sum(column) for column in zip(*result["uses"], strict=True)]
    return {**result, "raters": [], "uses": [uses], "anonymous": True}


def coefficients(protocol: Protocol, ratings: Ratings, level: str) -> dict[str, Coefficient]:
    """Every coefficient that may be asked for, by key; agreement with the expert where the protocol names one."""
    with_expert = protocol.expert and level in SINGLE and not ratings.exchangeable
    return COEFFICIENTS | (expert.coefficients(protocol.expert, level) if with_expert else {})


def _headline(
    protocol: Protocol, matrix: Matrix, known: Mapping[str, Coefficient], statistics: Mapping[str, Any]
) -> Entry:
    """The coefficient that the protocol names, or the one that its scale and raters call for, and why."""
    rule, ratings = protocol.questions[matrix.question.key], matrix.ratings
    # Two people who rate every item are complete by design; a pair that is missing at the end is left out of kappa.
    n_raters = max(ratings.n_raters, 2 if protocol.ratings_per_item == 2 else 3)
    complete = n_raters == protocol.ratings_per_item == 2
    design = Design(
        rule.level,
        n_raters,
        complete,
        expert="expert_kappa_pooled" in known,
        weights=rule.weights or "linear",
        exchangeable=ratings.exchangeable,
    )
    choice = headline.choose(design)
    key, reason, named, refused = choice.key or "percent_agreement", choice.reason, False, None
    if rule.coefficient != AUTO:
        refused = headline.refusal(rule.coefficient, design, named=True)
        named = refused is None and (rule.coefficient in statistics or not ratings.n_paired)
        key = rule.coefficient if named else key
    beside = [each for each in choice.beside if each != key]
    return {
        "key": key,
        "title": known[key].title,
        "source": known[key].source,
        "reason": "" if named else reason,
        "named": rule.coefficient if rule.coefficient != AUTO else None,
        "refused": refused,
        "beside": [*beside, choice.key] if key != choice.key else beside,
    }


def _merged(matrix: Matrix, coefficient: Coefficient, pairs: FloatArray, seed: int, before: Entry) -> list[Entry]:
    def as_it_would_be(changed: Ratings) -> Entry | None:
        # Numbers of two labels that are one are nobody's to make up.
        return None if coefficient.needs_values else entry_of(coefficient, changed, seed)

    found = merging.merged(matrix.ratings, matrix.level, pairs, as_it_would_be, before)
    return [{**each, "key": coefficient.key, "title": coefficient.title} for each in found]


def _unused(found: Mapping[str, Any], matrix: Matrix) -> list[Diagnostic]:
    """The labels that are in no set; `diagnose` tells of single labels."""
    if matrix.level != MULTILABEL or not matrix.ratings.n_paired:
        return []
    uses = zip(matrix.labels, zip(*found["uses"], strict=True), strict=True)
    return [Diagnostic("unused_class", {"label": label.key}) for label, counts in uses if not any(counts)]


def _pairs(matrix: Matrix, statistics: Mapping[str, Any], seed: int) -> list[Entry]:
    """Each pair of raters that shares items: its table by rater, and its figures on the items both rated."""
    found: list[Entry] = []
    ratings, sets = matrix.ratings, matrix.level == MULTILABEL
    if ratings.exchangeable:
        return found
    for place, pair in enumerate(ratings.pairs.values()):
        if not pair.n_paired:
            continue
        table = set_figures.chosen_instead(pair, matrix.labels) if sets else pair.table()
        figures = set_figures.of_pair(pair, seed) if sets else _kappas(statistics, ratings.n_raters, place)
        found.append(
            {"raters": list(pair.raters), "n": round(pair.n_paired), "table": plain(table), "statistics": figures}
        )
    return found


def _kappas(statistics: Mapping[str, Any], n_raters: int, place: int) -> Entry:
    """The kappas of one pair, which `summarise` has made already."""
    return {
        key: statistics[key] if n_raters == 2 else statistics[f"pairwise_{key}"][place]
        for key in PAIR_COEFFICIENTS
        if key in statistics or f"pairwise_{key}" in statistics
    }


def _strata(matrix: Matrix, coefficient: Coefficient, seed: int) -> list[Entry]:
    """The headline of each stratum of the draw, then of the people of each role among themselves."""
    parts = [(name, matrix.in_stratum(place)) for place, name in enumerate(matrix.strata)]
    found = [{"stratum": name, "n": round(part.n_paired), **entry_of(coefficient, part, seed)} for name, part in parts]
    for role, columns in matrix.by_role().items():
        part = matrix.ratings.select(columns)
        # Among themselves: the expert, if there is one, may be of another role.
        own = _takes(COEFFICIENTS.get(coefficient.key, _alpha(matrix.level)), matrix.level, part)
        people = [part.raters[place] for place in range(part.n_raters)]
        about = {"stratum": role, "by": ROLE, "raters": people, "key": own.key, "n": round(part.n_paired)}
        found.append(about | entry_of(own, part, seed))
    return found


def _weighting(matrix: Matrix, coefficient: Coefficient, statistics: Mapping[str, Any]) -> Entry | None:
    """The headline as drawn and weighted to the population, where strata were drawn at unequal rates."""
    ratings = matrix.ratings
    if ratings.populations is None:
        return None
    as_drawn = {key: value for key, value in statistics[coefficient.key].items() if key != "weighted"}
    weighted = statistics[coefficient.key].get("weighted", nothing_to_compare())
    items = coefficient.items(ratings)
    sizes = population.stratum_sizes(items)
    return weighting(matrix, coefficient.key, coefficient.title, as_drawn, weighted, sizes)


def weighting(
    matrix: Matrix, key: str, title: str, as_drawn: Entry, weighted: Entry, complete: Sequence[float] | FloatArray
) -> Entry:
    """Both entries under their own names; a stratum that nothing stands for is named."""
    ratings = matrix.ratings
    drawn = [float(ratings.weights[ratings.strata == place].sum()) for place in range(len(matrix.strata))]
    empty = [name for name, n in zip(matrix.strata, complete, strict=True) if not n]
    if empty and "value" not in weighted:
        weighted = {**weighted, "stratum": empty[0]}
    rows = zip(matrix.strata, ratings.populations or (), drawn, complete, strict=True)
    strata = [
        {"stratum": name, "population": round(held), "rated": round(n), "complete": round(float(done))}
        for name, held, n, done in rows
    ]
    return {"key": key, "title": title, "as_drawn": as_drawn, "weighted": weighted, "strata": strata}


def arithmetic(key: str, ratings: Ratings, column: int | None) -> list[Entry]:
    """The steps from the table to the headline, where it can be unfolded."""
    table = None
    if not ratings.n_paired:
        return []
    if key.startswith("expert_") and column is not None:
        key = "cohen_kappa" if key == "expert_kappa_pooled" else key.removeprefix("expert_")
        table = _stacked(ratings, column)
    elif ratings.n_raters == 2:
        table = ratings.table()
    elif key.startswith("krippendorff_alpha"):
        table = _coincidences(ratings) / 2
    if table is None or key not in UNFOLDED or not table.sum():
        return []
    steps = UNFOLDED[key](table, ratings)
    return [{"symbol": s.symbol, "formula": s.formula, "numbers": s.numbers, "value": s.value} for s in steps]


def _stacked(ratings: Ratings, column: int) -> FloatArray:
    """(n_labels, n_labels) every rating by another, down, with the expert's, across."""
    table = np.zeros((ratings.n_labels, ratings.n_labels))
    theirs = ratings.codes[:, column]
    for other in range(ratings.n_raters):
        mine = ratings.codes[:, other]
        both = (mine != MISSING) & (theirs != MISSING) & (other != column)
        np.add.at(table, (mine[both], theirs[both]), ratings.weights[both])
    return table


def _coincidences(ratings: Ratings) -> FloatArray:
    """Krippendorff's coincidence matrix: an item with m ratings enters with 1 / (m - 1)."""
    pairs = ratings.keep(ratings.sizes >= 2)
    counts, weights = pairs.counts(), pairs.weights / (pairs.sizes - 1)
    matrix = (counts * weights[:, None]).T @ counts
    np.fill_diagonal(matrix, weights @ (counts * (counts - 1)))
    return np.asarray(matrix)


def _takes(coefficient: Coefficient, level: str, *sides: Ratings) -> Coefficient:
    """The coefficient, or where it does not take all of these ratings (two raters, several) the alpha that does."""
    if all(coefficient.applies(side, level) for side in sides):
        return coefficient
    return _alpha(level)


def _alpha(level: str) -> Coefficient:
    """The alpha that takes any ratings of a level."""
    return COEFFICIENTS["krippendorff_alpha_masi" if level == MULTILABEL else f"krippendorff_alpha_{level}"]


def _difference(others: Others, matrix: Matrix, coefficient: Coefficient, seed: int) -> Entry | None:
    """This draw minus the newest closed one of the MAJOR before: each is resampled by itself and subtracted."""
    earlier, before = others.earlier, others.before
    if earlier is None or before is None:
        return None
    coefficient = _takes(coefficient, matrix.level, matrix.ratings, before.ratings)
    found = apart(coefficient, matrix.ratings, before.ratings, seed)
    if found is None:
        return None
    about = {"draw": str(earlier.uuid), "version": earlier.wave.version.number}
    return about | {"key": coefficient.key, "title": coefficient.title, **found}


def apart(coefficient: Coefficient, ratings: Ratings, other: Ratings, seed: int) -> Entry | None:
    """A coefficient of some items minus that of other ones; None where one of them is undefined."""
    sides = coefficient.items(ratings), coefficient.items(other)
    if not all(side.n_paired for side in sides):
        return None
    found = difference_of(*sides, (coefficient.statistic(sides[0]), coefficient.statistic(sides[1])), seed=seed)
    if found is None:
        return None
    return {"value": found.value, "se": found.standard_error, "p": found.p, **span_of(found.interval)}


def _pooled(others: Others, draw: Draw, matrix: Matrix, coefficient: Coefficient, seed: int) -> Entry | None:
    if not others.siblings:
        return None
    ratings = matrices.pooled([*(part for _, part in others.siblings), matrix])
    coefficient = _takes(coefficient, matrix.level, ratings)
    waves = [*(other.wave.number for other, _ in others.siblings), draw.wave.number]
    return {
        "waves": waves,
        "key": coefficient.key,
        "title": coefficient.title,
        **entry_of(coefficient, ratings, seed),
    }


def span_of(found: Interval | None) -> Entry:
    """An interval as plain data."""
    if found is None:
        return {}
    return {"interval": [found.low, found.high], "method": found.method, "level": found.level}
