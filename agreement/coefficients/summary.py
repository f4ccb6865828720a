"""All statistics that apply to a table of ratings, by name and ready for JSON.

The names are those of the reference: `cohen_kappa`, `cohen_kappa_se`, `per_class_kappa`, … A statistic of the whole
table is a dictionary with its value, n, interval and method, or {"undefined": reason}; what is per class, pair or
rater is a list of such dictionaries with "label", "pair" or "rater", so that the labels 1, "1" and true stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import agreement.coefficients as registry
from agreement.coefficients import (
    bootstrap,
    classes,
    cohen,
    distances,
    fleiss,
    influence,
    intervals,
    multilabel,
    pairwise,
    population,
    scott,
)
from agreement.coefficients import (
    expert as experts,
)
from agreement.coefficients.bootstrap import LEVEL, REPLICATES, Draws, Interval
from agreement.coefficients.coefficient import LEVELS, MULTILABEL, Coefficient
from agreement.coefficients.estimate import Estimate
from agreement.coefficients.ratings import FloatArray, Label, Ratings
from agreement.coefficients.statistic import Statistic
from agreement.coefficients.table_intervals import (
    Plan,
    class_intervals,
    pair_intervals,
    share_interval,
    table_intervals,
)

# Each rater with the expert: the kappas of two raters under these names.
PER_RATER = {
    "cohen_kappa": "expert_kappa_per_rater",
    "weighted_kappa_linear": "expert_weighted_kappa_linear_per_rater",
    "weighted_kappa_quadratic": "expert_weighted_kappa_quadratic_per_rater",
}
# Sums of a statistic with a standard error: its gradient takes their square.
MOST_SUMS = 1000
NO_INTERVAL = "There are too many patterns of raters and labels to resample this one in reasonable time."


def summarise(
    ratings: Ratings,
    level: str,
    *,
    seed: int,
    replicates: int = REPLICATES,
    interval: bool = True,
    confidence: float = LEVEL,
    weights: Sequence[Sequence[float]] | FloatArray | None = None,
    expert: int | None = None,
    set_classes: Sequence[Label] = (),
) -> dict[str, Any]:
    """Every statistic that applies, as plain data.

    Parameters
    ----------
    level : nominal, ordinal, interval, ratio or multilabel
    interval : whether to resample at all; `confidence` is the level of the intervals
    weights : a declared matrix of disagreement weights in label order, for weighted_kappa_custom
    expert : the expert's column
    set_classes : the classes of multi-label ratings in declared order (all that occur, where not given)

    Returns
    -------
    dict : labels, raters, n_items (all of them), level, seed, statistics, and uses and table of the labels

    Raises
    ------
    ValueError : an unknown level, or arguments that the level or the ratings cannot carry
    """
    check_level(ratings, level)
    plan = Plan(seed, replicates, confidence, interval)
    draws = bootstrap.Draws(ratings, seed=seed, replicates=replicates)
    statistics = _counts(ratings)
    statistics.update(_whole(ratings, level, weights, plan, draws))
    if level == MULTILABEL:
        statistics.update(_of_sets(ratings, set_classes or _all_classes(ratings), plan))
    else:
        statistics.update(_margins(ratings))
        statistics.update(_per_class(ratings, plan, draws))
        statistics.update(_per_pair(ratings, level, weights, plan, draws))
        if expert is not None:
            statistics.update(_against(ratings, level, expert, plan))
    answer = {
        "labels": [as_json(label) for label in ratings.labels],
        "raters": list(ratings.raters),
        "n_items": _number(float(ratings.weights.sum())),
        "level": level,
        "seed": seed,
        "engine": registry.ENGINE_VERSION,
        "uses": [[_number(float(uses)) for uses in row] for row in classes.uses_by_rater(ratings)],
        "statistics": statistics,
    }
    if ratings.n_raters == 2 and not ratings.exchangeable:
        answer["table"] = [[_number(float(count)) for count in row] for row in ratings.table()]
    return answer


def check_level(ratings: Ratings, level: str) -> None:
    """Refuse a level of measurement that the labels cannot carry."""
    if level not in LEVELS:
        raise ValueError(f"{level!r} is no level of measurement: expected one of {', '.join(LEVELS)}.")
    if level in ("interval", "ratio") and ratings.values is None:
        raise ValueError(f"The scale {level!r} needs a number for every label.")
    if level == "ratio" and ratings.values and min(ratings.values) < 0:
        raise ValueError(f"A ratio scale has no values below 0, and {min(ratings.values):g} is one.")
    sets = [isinstance(label, frozenset) for label in ratings.labels]
    if level == MULTILABEL and not all(sets):
        raise ValueError("Multi-label ratings need labels that are sets.")
    if level != MULTILABEL and any(sets):
        raise ValueError(f"Labels that are sets are multi-label ratings, not {level}.")


def applicable(ratings: Ratings, level: str, weights: Any = None) -> list[Coefficient]:
    """The coefficients of a whole table that have a meaning here, in the order of the registry."""
    found = [each for each in registry.COEFFICIENTS.values() if each.applies(ratings, level)]
    if weights is not None and level != MULTILABEL:
        declared = distances.custom(weights, ratings.n_labels)
        title = "Weighted kappa (declared weights)"
        custom = registry.weighted_kappa("weighted_kappa_custom", title, lambda _: declared)
        found += [custom] if custom.applies(ratings, level) else []
    return found


def as_json(label: Label) -> Any:
    """A label as JSON has it: a set becomes a list."""
    return sorted(label, key=repr) if isinstance(label, frozenset) else label


def entry(answer: Estimate, interval: Interval | None = None, error: float | None = None) -> dict[str, Any]:
    """An estimate as plain data; beside a bootstrap interval the large-sample one on Fisher's z scale."""
    if answer.value is None:
        return {"undefined": answer.undefined, "sentence": answer.sentence, "n": _number(answer.n)}
    plain: dict[str, Any] = {"value": answer.value, "n": _number(answer.n)}
    if answer.observed is not None:
        plain["observed"] = answer.observed
    if answer.expected is not None:
        plain["expected"] = answer.expected
    if error is not None and np.isfinite(error):
        plain["se"] = error
    if interval is not None:
        plain |= {"interval": [interval.low, interval.high], "method": interval.method, "level": interval.level}
        if interval.replicates:
            plain |= {"replicates": interval.replicates, "undefined_share": interval.undefined_share}
        # Where the smoothed interval has to stand in, a large-sample one does not cover.
        if interval.method == bootstrap.BOOTSTRAP and "se" in plain:
            beside = intervals.fisher_z(answer.value, plain["se"], interval.level)
            plain |= {"large_sample": [beside.low, beside.high]} if beside else {}
    plain |= {key: value for key, value in answer.details.items() if key != "sentence"}
    return plain


def _counts(ratings: Ratings) -> dict[str, Any]:
    counts = {"n_items_2plus": ratings.n_paired, "n_items_rated": ratings.n_rated}
    if ratings.n_raters == 2 and not ratings.exchangeable:
        counts = {"n_pairs": ratings.n_paired} | counts
    return {key: {"value": _number(value), "n": _number(value)} for key, value in counts.items()}


def _whole(ratings: Ratings, level: str, weights: Any, plan: Plan, draws: Draws) -> dict[str, Any]:
    found = applicable(ratings, level, weights)
    answers = {each.key: each.function(ratings) for each in found}
    makers = {each.key: each.statistic(ratings) for each in found if answers[each.key].value is not None}
    spans = table_intervals(ratings, makers, answers, plan, draws)
    statistics: dict[str, Any] = {}
    for each in found:
        error = each.standard_error(ratings) if each.standard_error else None
        spread = error.value if error else engine_error(makers.get(each.key), ratings)
        statistics[each.key] = entry(answers[each.key], spans.get(each.key), spread)
        if plan.wanted and each.key in makers and each.key not in spans:
            statistics[each.key]["no_interval"] = NO_INTERVAL
        if error is not None:
            statistics[f"{each.key}_se"] = entry(error)
        if each.null_error is not None:
            statistics[f"{each.key}_se0"] = entry(each.null_error(ratings))
        if ratings.populations is not None:
            statistics[each.key]["weighted"] = _weighted(ratings, each, plan)
    return statistics


def engine_error(statistic: Statistic | None, ratings: Ratings) -> float | None:
    """The standard error of a coefficient that names none of its own; not where its gradient would take too long."""
    if statistic is None or statistic.n_sums > MOST_SUMS:
        return None
    return float(influence.standard_errors(statistic, ratings)[0])


def _weighted(ratings: Ratings, coefficient: Coefficient, plan: Plan) -> dict[str, Any]:
    statistic = coefficient.statistic(ratings)
    answer = population.estimate(ratings, statistic)
    if answer.value is None:
        return entry(answer)
    span = None
    if plan.wanted:
        span = bootstrap.interval(
            ratings, statistic, seed=plan.seed, replicates=plan.replicates, level=plan.level, weighted=True
        )
    return entry(answer, span, population.standard_error(ratings, statistic).value)


def _margins(ratings: Ratings) -> dict[str, Any]:
    if ratings.n_raters != 2 or ratings.exchangeable:
        return {}
    answers = {
        "pe_cohen": cohen.expected_agreement(ratings),
        "pe_pi": scott.expected_agreement(ratings),
        "kappa_max": cohen.kappa_max(ratings),
    }
    if ratings.n_labels == 2:
        answers |= {"prevalence_index": cohen.prevalence_index(ratings), "bias_index": cohen.bias_index(ratings)}
    return {key: entry(answer) for key, answer in answers.items()}


def _per_class(ratings: Ratings, plan: Plan, draws: Draws) -> dict[str, Any]:
    k = ratings.n_labels
    lists = {"specific_agreement": (classes.specific_agreement(ratings), classes.specific_statistic(k))}
    if ratings.n_raters == 2 and not ratings.exchangeable:
        lists["per_class_kappa"] = (classes.per_class_kappa(ratings), classes.per_class_statistic(k))
    else:
        lists["per_class_alpha"] = (classes.per_class_alpha(ratings), classes.per_class_alpha_statistic(k))
        if fleiss.equal_sizes(ratings):
            answers = classes.worded(fleiss.fleiss_per_category(ratings), ratings.used())
            lists["fleiss_per_category"] = (answers, fleiss.per_category_statistic(k))
    statistics: dict[str, Any] = {}
    for key, (answers, statistic) in lists.items():
        errors = influence.standard_errors(statistic, ratings) if ratings.n_paired else [None] * k
        spans = class_intervals(ratings, statistic, answers, plan, draws)
        rows = zip(ratings.labels, answers, spans, errors, strict=True)
        statistics[key] = [{"label": as_json(label), **entry(*rest)} for label, *rest in rows]
        if key == "per_class_kappa":
            rows_se = zip(ratings.labels, classes.per_class_kappa_se(ratings), strict=True)
            statistics["per_class_kappa_se"] = [{"label": as_json(label), **entry(each)} for label, each in rows_se]
    return statistics


def _per_pair(ratings: Ratings, level: str, weights: Any, plan: Plan, draws: Draws) -> dict[str, Any]:
    if ratings.n_raters <= 2 or ratings.exchangeable:
        return {}
    pairs = list(ratings.pairs.values())
    kappas = [each for each in applicable(pairs[0], level, weights) if each.key.startswith(("cohen_", "weighted_"))]
    made = {each.key: each.statistic(pairs[0]) for each in kappas}
    answers = {key: pairwise.estimates(pairs, statistic) for key, statistic in made.items()}
    spans = pair_intervals(ratings, made, answers, plan, draws)
    statistics: dict[str, Any] = {}
    for key, statistic in made.items():
        rows = zip(pairs, answers[key], spans[key], pairwise.standard_errors(pairs, statistic), strict=True)
        statistics[f"pairwise_{key}"] = [
            {"pair": list(pair.raters), **entry(answer, span, error)} for pair, answer, span, error in rows
        ]
    return statistics


def _against(ratings: Ratings, level: str, expert: int, plan: Plan) -> dict[str, Any]:
    """Every rating by others with the expert's: all of them stacked, and those of each rater."""
    experts.check_expert(ratings, expert)
    statistics: dict[str, Any] = {}
    for coefficient in experts.coefficients(ratings.raters[expert], level).values():
        statistics[coefficient.key] = one(ratings, coefficient, plan)
    for key, name in PER_RATER.items():
        kappa = registry.COEFFICIENTS[key]
        if level in kappa.levels:
            pairs = {other: ratings.pair(other, expert) for other in range(ratings.n_raters) if other != expert}
            statistics[name] = [
                {"rater": ratings.raters[other], **one(pair, kappa, plan)} for other, pair in pairs.items()
            ]
    return statistics


def one(ratings: Ratings, coefficient: Coefficient, plan: Plan) -> dict[str, Any]:
    """One coefficient with its interval and standard error, and weighted to the population where that is known."""
    answer, items = coefficient.function(ratings), coefficient.items(ratings)
    if answer.value is None:
        return entry(answer)
    statistic = coefficient.statistic(items)
    span = None
    if plan.wanted:
        span = share_interval(coefficient.key, items, answer, plan) or bootstrap.interval(
            items, statistic, seed=plan.seed, replicates=plan.replicates, level=plan.level
        )
    error = coefficient.standard_error(ratings) if coefficient.standard_error else None
    found = entry(answer, span, error.value if error else None)
    if ratings.populations is not None:
        found["weighted"] = _weighted(items, coefficient, plan)
    return found


def _of_sets(ratings: Ratings, names: Sequence[Label], plan: Plan) -> dict[str, Any]:
    """One row of binary figures per class, and their mean, which is never shown without the list."""
    rows: dict[str, list[dict[str, Any]]] = {}
    key = "cohen_kappa" if ratings.n_raters == 2 and not ratings.exchangeable else "krippendorff_alpha_nominal"
    coefficient = registry.COEFFICIENTS[key]
    for name in names:
        binary = multilabel.of_class(ratings, name)
        (answer,) = classes.worded([coefficient.function(binary)], binary.used()[:1])
        spans = table_intervals(binary, {key: coefficient.statistic(binary)}, {key: answer}, plan)
        error = coefficient.standard_error(binary).value if coefficient.standard_error else None
        rows.setdefault(f"per_label_{key}", []).append({"label": name, **entry(answer, spans.get(key), error)})
        specific = classes.specific_agreement(binary)[0]
        rows.setdefault("specific_agreement", []).append({"label": name, **entry(specific)})
    statistics: dict[str, Any] = dict(rows)
    if ratings.n_raters == 2 and not ratings.exchangeable:
        statistics["macro_mean_kappa"] = entry(multilabel.macro_mean_kappa(ratings, names))
    return statistics


def _all_classes(ratings: Ratings) -> list[Label]:
    members = {member for label in ratings.labels if isinstance(label, frozenset) for member in label}
    return sorted(members, key=repr)


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value
