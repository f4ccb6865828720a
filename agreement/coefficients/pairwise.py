"""One statistic of many pairs of raters, each on its own table of labels: all of them in a few steps of arithmetic.

A pair has the value and error that it would have alone. Its interval is drawn from the items that the two share; where
every item has two raters, so that pairs share none, one draw of all items is a draw of every pair's, too (of about as
many items as the pair has, where its own would be of exactly as many).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from agreement.coefficients import bootstrap, influence
from agreement.coefficients.bootstrap import BOOTSTRAP, LEVEL, REPLICATES, SMOOTHED, Interval
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import FloatArray, Ratings
from agreement.coefficients.statistic import Statistic

# Cells of the sums of as many pairs as are worked on at once: 4 MB stay near the processor.
BLOCK_CELLS = 1 << 19


def estimates(pairs: Sequence[Ratings], statistic: Statistic) -> list[Estimate]:
    """The estimate of each pair; "no_pairs" where the two share no item."""
    shared = [pair for pair in pairs if len(pair.weights)]
    answers = iter(statistic.each_of(_sums(shared, statistic), [pair.n_paired for pair in shared]))
    return [next(answers) if len(pair.weights) else undefined("no_pairs") for pair in pairs]


def standard_errors(pairs: Sequence[Ratings], statistic: Statistic) -> list[float | None]:
    """The standard error of each pair, None where undefined."""
    shared = [pair for pair in pairs if len(pair.weights)]
    slopes = iter(influence.gradient(statistic, _sums(shared, statistic)))
    errors = [
        float(influence.standard_errors(statistic, pair, next(slopes))[0]) if len(pair.weights) else np.nan
        for pair in pairs
    ]
    return [error if np.isfinite(error) else None for error in errors]


def intervals(
    pairs: Sequence[Ratings],
    statistics: Mapping[str, Statistic],
    answers: Mapping[str, Sequence[Estimate]],
    *,
    seed: int,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    together: Callable[[], Mapping[str, FloatArray]] | None = None,
) -> dict[str, list[Interval | None]]:
    """The interval of each statistic of each pair, None where undefined; one draw serves all statistics of a pair.

    Parameters
    ----------
    answers : by statistic, the `estimates` of the pairs: the method is chosen by them
    together : gives by statistic the values (replicates, n_pairs) from one draw of all items, which then take the
        place of the bootstrap of each pair; smoothed draws are always the pair's own
    """
    spans: dict[str, list[Interval | None]] = {key: [None] * len(pairs) for key in statistics}
    jobs = _jobs(pairs, answers)

    def place_spans(key: str, method: str, places: Sequence[int], values: FloatArray) -> None:
        holding = [answers[key][place].value for place in places]
        found = bootstrap.percentiles(values, level=level, method=method, seed=seed, holding=holding)
        for place, span in zip(places, found, strict=True):
            spans[key][place] = span

    if together is not None and any(method == BOOTSTRAP for _, method in jobs):
        for key, values in together().items():
            places = [place for (place, method), keys in jobs.items() if method == BOOTSTRAP and key in keys]
            place_spans(key, BOOTSTRAP, places, values[:, places].T)
        jobs = {job: keys for job, keys in jobs.items() if job[1] != BOOTSTRAP}
    step = max(1, BLOCK_CELLS // (replicates * max(1, *(each.n_sums for each in statistics.values()))))
    for start in range(0, len(jobs), step):
        drawn: dict[tuple[str, str], list[tuple[int, FloatArray]]] = defaultdict(list)
        for (place, method), keys in list(jobs.items())[start : start + step]:
            wanted = [statistics[key] for key in keys]
            sums = _drawn_sums(pairs[place], wanted, seed=seed, replicates=replicates, method=method)
            for key, each in zip(keys, sums, strict=True):
                drawn[key, method].append((place, each))
        for (key, method), rows in drawn.items():
            values = statistics[key].values(np.stack([each for _, each in rows]))[..., 0]
            place_spans(key, method, [place for place, _ in rows], values)
    return spans


def _jobs(pairs: Sequence[Ratings], answers: Mapping[str, Sequence[Estimate]]) -> dict[tuple[int, str], list[str]]:
    """(pair, method) -> the statistics that need this draw."""
    jobs: dict[tuple[int, str], list[str]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        disputed = pair.n_disputed
        for key, found in answers.items():
            answer = found[place]
            if answer.value is not None:
                small = bootstrap.too_small(answer.n, disputed, answer.value)
                jobs[place, SMOOTHED if small else BOOTSTRAP].append(key)
    return jobs


def _drawn_sums(
    pair: Ratings, statistics: Sequence[Statistic], *, seed: int, replicates: int, method: str
) -> list[FloatArray]:
    """(replicates, n_sums) of each statistic, from the same draws."""
    draw = bootstrap.Draw(pair, seed=seed, replicates=replicates, method=method)
    return [np.concatenate(each) for each in zip(*draw.sums(statistics), strict=True)]


def _sums(pairs: Sequence[Ratings], statistic: Statistic) -> FloatArray:
    """(n_pairs, n_sums)"""
    sums = [statistic.sums(pair.codes, pair.weights) for pair in pairs]
    return np.array(sums).reshape(len(pairs), statistic.n_sums)
