"""The intervals of a summary: of the whole table, of each class and of each pair, from as few draws as they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agreement.coefficients import bootstrap, intervals, light, pairwise
from agreement.coefficients.bootstrap import LEVEL, REPLICATES, Draw, Draws, Interval
from agreement.coefficients.estimate import Estimate
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic

# What is a share of items where each of them has two ratings.
SHARES = ("percent_agreement", "percent_agreement_pooled_pairs", "expert_percent_agreement")
# Replicates x patterns x sums of one statistic: beyond this (some seconds) an interval by rater is not resampled.
MOST_PRODUCTS = 10**11


@dataclass(frozen=True)
class Plan:
    """How intervals are made: none at all, or with this seed, number of replicates and level."""

    seed: int
    replicates: int = REPLICATES
    level: float = LEVEL
    wanted: bool = True


def table_intervals(
    ratings: Ratings,
    statistics: Mapping[str, Statistic],
    answers: Mapping[str, Estimate],
    plan: Plan,
    draws: Draws | None = None,
) -> dict[str, Interval]:
    """The interval of each statistic of the whole table; those that need the same draws share them."""
    if not plan.wanted:
        return {}
    draws = draws or Draws(ratings, seed=plan.seed, replicates=plan.replicates)
    spans: dict[str, Interval] = {}
    disputed = ratings.comparable().n_disputed
    groups: dict[tuple[bool, str], list[str]] = {}
    for key, statistic in statistics.items():
        answer = answers[key]
        share = share_interval(key, ratings, answer, plan)
        if share is not None:
            spans[key] = share
        elif answer.value is not None:
            small = bootstrap.too_small(answer.n, disputed, answer.value)
            method = bootstrap.SMOOTHED if small else bootstrap.BOOTSTRAP
            groups.setdefault((statistic.by_rater, method), []).append(key)
    for (by_rater, method), keys in groups.items():
        chosen = {key: statistics[key] for key in keys}
        draw = draws.draw(method, by_rater=by_rater)
        spans |= _drawn(draw, len(draws.table(by_rater=by_rater).weights), chosen, answers, method, plan)
    return spans


def share_interval(key: str, ratings: Ratings, answer: Estimate, plan: Plan) -> Interval | None:
    """Wilson's interval of percent agreement where every item has two ratings, so that it agrees or does not; None
    for all else. An item with more ratings may agree in part, and then the items are resampled."""
    paired = ratings.keep(ratings.sizes >= 2)
    if key not in SHARES or answer.value is None or not (paired.sizes == 2).all():
        return None
    return intervals.wilson(answer.n - paired.n_disputed, answer.n, plan.level)


def _drawn(
    draw: Draw,
    n_patterns: int,
    statistics: Mapping[str, Statistic],
    answers: Mapping[str, Estimate],
    method: str,
    plan: Plan,
) -> dict[str, Interval]:
    keys = [key for key, each in statistics.items() if not each.by_rater or _is_feasible(each, n_patterns, plan)]
    if not keys:
        return {}
    drawn = draw.values([statistics[key] for key in keys])
    spans = {}
    for key, values in zip(keys, drawn, strict=True):
        span = bootstrap.percentile(
            values[:, 0], level=plan.level, method=method, seed=plan.seed, holding=answers[key].value
        )
        if span is not None:
            spans[key] = span
    return spans


def _is_feasible(statistic: Statistic, n_patterns: int, plan: Plan) -> bool:
    return plan.replicates * n_patterns * statistic.n_sums <= MOST_PRODUCTS


def class_intervals(
    ratings: Ratings, statistic: Statistic, answers: Sequence[Estimate], plan: Plan, draws: Draws
) -> list[Interval | None]:
    """The interval of each class; few disagreements about a class make its own interval a smoothed one."""
    spans: list[Interval | None] = [None] * len(answers)
    if not plan.wanted or not ratings.n_paired:
        return spans
    table = draws.table(by_rater=statistic.by_rater)
    counts, sizes = table.comparable().counts(), table.comparable().sizes
    mixed = table.comparable().weights @ ((counts > 0) & (counts < sizes[:, None]))
    methods = {}
    for place, answer in enumerate(answers):
        if answer.value is not None:
            small = bootstrap.too_small(answer.n, float(mixed[place]), answer.value)
            methods[place] = bootstrap.SMOOTHED if small else bootstrap.BOOTSTRAP
    for method in sorted(set(methods.values())):
        (values,) = draws.draw(method, by_rater=statistic.by_rater).values([statistic])
        for place in (place for place, chosen in methods.items() if chosen == method):
            spans[place] = bootstrap.percentile(
                values[:, place], level=plan.level, method=method, seed=plan.seed, holding=answers[place].value
            )
    return spans


def pair_intervals(
    ratings: Ratings,
    statistics: Mapping[str, Statistic],
    answers: Mapping[str, Sequence[Estimate]],
    plan: Plan,
    draws: Draws,
) -> Mapping[str, Sequence[Interval | None]]:
    """The intervals of the pairs; pairs that share no item with each other are all in one draw of the items."""
    columns, pairs = list(ratings.pairs), list(ratings.pairs.values())
    if not plan.wanted:
        return {key: [None] * len(pairs) for key in statistics}
    several = {key: light.of_pairs(each, columns, average=False) for key, each in statistics.items()}
    apart = bool((ratings.sizes <= 2).all())

    def together() -> Mapping[str, FloatArray]:
        values = draws.draw(bootstrap.BOOTSTRAP, by_rater=True).values(list(several.values()))
        return dict(zip(several, values, strict=True))

    feasible = all(_is_feasible(each, len(ratings.weights), plan) for each in several.values())
    return pairwise.intervals(
        pairs,
        statistics,
        answers,
        seed=plan.seed,
        replicates=plan.replicates,
        level=plan.level,
        together=together if apart and feasible else None,
    )
