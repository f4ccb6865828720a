"""How fast the agreement kernel is, as ratios within one run: `python -m tests.benchmarks.agreement_speed [N …]`.

Ours is the value, its standard error and the interval of 1,000 replicates, from arrays of codes. Beside it stand one
`numpy.bincount` pass over the same codes (in the narrowest type, the fastest there is), and scikit-learn and
statsmodels: their value alone, and their bootstrap by resampling items. That bootstrap is extrapolated: one resample
and one value, times the replicates. For five raters scikit-learn's value is the mean of the ten pairs' kappas.

It fails where something that is wanted at a million items is missed.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

from agreement.coefficients import Ratings, bootstrap
from agreement.coefficients.cohen import cohen_se, cohen_statistic
from agreement.coefficients.distances import nominal
from agreement.coefficients.fleiss import fleiss_se, fleiss_statistic
from agreement.coefficients.krippendorff import alpha_se, alpha_statistic
from agreement.coefficients.statistic import off_diagonal

Codes = npt.NDArray[np.int8]
Work = Callable[[Codes, int], object]
REPLICATES = 1000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
RATERS, LABELS = (2, 5), (2, 5, 20)
# What is wanted, all of it at this many items.
LARGE = 1_000_000
COUNTED = "one bincount pass"
PASSES, TIMES_SCIKIT_LEARN, FIVE_RATERS_MS, MEGABYTES = 4.0, 1000.0, 100.0, 200.0
# The best of so many runs, or of those that fit into so many seconds.
RUNS, ENOUGH_SECONDS = 25, 1.0
# A key per item is no fair yardstick where the raters give more keys than this.
MOST_KEYS = 1 << 20


@dataclass(frozen=True)
class Setting:
    n_items: int
    n_raters: int
    n_labels: int

    def __str__(self) -> str:
        return f"N={self.n_items:<9,} R={self.n_raters} K={self.n_labels:<2}"

    def codes(self) -> Codes:
        """(n_raters, n_items) codes of raters who agree on about seven items in ten."""
        rng = np.random.default_rng(self.n_items + self.n_raters + self.n_labels)
        n, k = self.n_items, self.n_labels
        truth = rng.integers(k, size=n)
        rows = [np.where(rng.random(n) < 0.85, truth, rng.integers(k, size=n)) for _ in range(self.n_raters)]
        return np.array(rows, dtype=np.int8)


def seconds(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each, in turns, so that a busy machine slows all alike; what takes long is timed less often."""
    best, spent = dict.fromkeys(works, float("inf")), dict.fromkeys(works, 0.0)
    for _ in range(RUNS):
        for name in [name for name in works if spent[name] < ENOUGH_SECONDS]:
            start = time.perf_counter()
            works[name]()
            took = time.perf_counter() - start
            best[name], spent[name] = min(best[name], took), spent[name] + took
    return best


# -- ours --------------------------------------------------------------------------------------------------------------


def kappa(codes: Codes, n_labels: int) -> None:
    """Cohen's kappa of two raters, Fleiss' of more."""
    ratings, apart = Ratings.from_codes(codes, list(range(n_labels))), off_diagonal(n_labels)
    statistic = cohen_statistic(apart) if len(codes) == 2 else fleiss_statistic(apart)
    (cohen_se if len(codes) == 2 else fleiss_se)(ratings)
    bootstrap.interval(ratings, statistic, seed=1, replicates=REPLICATES)


def alpha(codes: Codes, n_labels: int) -> None:
    ratings = Ratings.from_codes(codes, list(range(n_labels)))
    alpha_se(ratings)
    bootstrap.interval(ratings, alpha_statistic(nominal(ratings), n_labels), seed=1, replicates=REPLICATES)


OURS: Mapping[str, Work] = {"kappa": kappa, "alpha": alpha}


# -- beside it ---------------------------------------------------------------------------------------------------------


def one_pass(codes: Codes, n_labels: int) -> None:
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if n_labels ** len(codes) <= np.iinfo(kind).max)
    keys = codes[0].astype(kind)
    for column in codes[1:]:
        keys = keys * kind(n_labels) + column.astype(kind)
    np.bincount(keys)


def scikit_learn(codes: Codes, n_labels: int) -> float:
    labels = list(range(n_labels))
    return float(np.mean([cohen_kappa_score(a, b, labels=labels) for a, b in combinations(codes, 2)]))


def statsmodels(codes: Codes, n_labels: int) -> float:
    if len(codes) == 2:
        return float(cohens_kappa(to_table(codes.T, n_labels)[0]).kappa)
    return float(fleiss_kappa(aggregate_raters(codes.T, n_cat=n_labels)[0]))


PEERS: Mapping[str, Work] = {"scikit-learn": scikit_learn, "statsmodels": statsmodels}


def replicate(codes: Codes, n_labels: int, value: Work) -> None:
    """One replicate of the bootstrap that resamples items, as one would write it around a library."""
    chosen = np.random.default_rng(1).integers(codes.shape[1], size=codes.shape[1])
    value(codes[:, chosen], n_labels)


# -- the report --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds of everything in one setting; `counted` is None where a bincount is no yardstick."""

    ours: Mapping[str, float]
    counted: float | None
    alone: Mapping[str, float]
    resampled: Mapping[str, float]


def measure(setting: Setting) -> Times:
    codes, k = setting.codes(), setting.n_labels
    counted = {COUNTED: one_pass} if k**setting.n_raters <= MOST_KEYS else {}
    fast = seconds({name: partial(work, codes, k) for name, work in {**OURS, **counted}.items()})
    alone = seconds({name: partial(work, codes, k) for name, work in PEERS.items()})
    once = seconds({name: partial(replicate, codes, k, work) for name, work in PEERS.items()})
    resampled = {name: REPLICATES * each for name, each in once.items()}
    return Times({name: fast[name] for name in OURS}, fast.get(COUNTED), alone, resampled)


def lines(setting: Setting, times: Times) -> Iterator[str]:
    shown = "  ".join(f"{name} {1e3 * each:8.1f} ms" for name, each in times.ours.items())
    passes = f"{times.ours['kappa'] / times.counted:6.1f}x {COUNTED}" if times.counted else ""
    yield f"{setting}  {shown}  {passes}".rstrip()
    for peer in PEERS:
        ratios = ", ".join(
            f"{times.alone[peer] / own:8.3g}x / {times.resampled[peer] / own:9,.0f}x ours of {name}"
            for name, own in times.ours.items()
        )
        yield f"    {peer:<12} value alone / bootstrap (extrapolated): {ratios}"


def missed(setting: Setting, times: Times) -> Iterator[str]:
    """What is wanted of the setting and not reached."""
    if setting.n_items != LARGE or setting.n_labels > 5:
        return
    own = times.ours["kappa"]
    if setting.n_raters == 2:
        if times.counted is not None and own > PASSES * times.counted:
            yield f"{setting}: kappa takes {own / times.counted:.1f} passes, {PASSES:g} wanted"
        if times.resampled["scikit-learn"] < TIMES_SCIKIT_LEARN * own:
            yield f"{setting}: kappa is not {TIMES_SCIKIT_LEARN:,.0f} times faster than scikit-learn's bootstrap"
    else:
        for name, each in times.ours.items():
            if 1e3 * each > FIVE_RATERS_MS:
                yield f"{setting}: {name} takes {1e3 * each:.0f} ms, {FIVE_RATERS_MS:g} wanted"


def peak_megabytes(setting: Setting) -> float:
    """Memory that alpha with its interval takes beside the codes."""
    codes = setting.codes()
    tracemalloc.start()
    alpha(codes, setting.n_labels)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def main() -> int:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print(f"Value, standard error and interval of {REPLICATES:,} replicates from codes; best of {RUNS} runs.")
    not_reached = []
    for setting in (Setting(n, r, k) for n in sizes for r in RATERS for k in LABELS):
        times = measure(setting)
        print(*lines(setting, times), sep="\n", flush=True)
        not_reached += missed(setting, times)
    for raters, labels in ((2, 5), (5, 5), (5, 20)):
        peaks = [peak_megabytes(Setting(n, raters, labels)) for n in sizes]
        shown = ", ".join(f"{peak:.0f} MB at {n:,}" for n, peak in zip(sizes, peaks, strict=True))
        print(f"Memory of alpha beside the codes, R={raters} K={labels}: {shown}", flush=True)
        not_reached += [
            f"R={raters} K={labels}: {each:.0f} MB, {MEGABYTES:g} wanted" for each in peaks if each > MEGABYTES
        ]
    print("\n".join(f"MISSED: {each}" for each in not_reached) or "Everything that is wanted is reached.")
    return 1 if not_reached else 0


if __name__ == "__main__":
    sys.exit(main())
