"""How fast the agreement kernel is, as ratios within one run: `python -m tests.benchmarks.agreement_speed`.

Beside ours stand one `numpy.bincount` pass over the codes, the value alone from scikit-learn and statsmodels, and
their bootstrap by resampling items. That one is extrapolated: one resample and one value, times the replicates.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from agreement.coefficients import Ratings, bootstrap
from agreement.coefficients.cohen import cohen_se, cohen_statistic
from agreement.coefficients.distances import nominal
from agreement.coefficients.krippendorff import alpha_se, alpha_statistic
from agreement.coefficients.statistic import off_diagonal

Codes = npt.NDArray[np.int8]
REPLICATES = 1000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
# Values that take seconds are timed once; the rest keep the best of several runs.
LONG_SECONDS = 1.0


def codes_of(n_items: int, n_raters: int, n_labels: int) -> Codes:
    """(n_raters, n_items) codes of raters who agree on about seven items in ten."""
    rng = np.random.default_rng(n_items + n_raters + n_labels)
    truth = rng.integers(n_labels, size=n_items)
    rows = [np.where(rng.random(n_items) < 0.85, truth, rng.integers(n_labels, size=n_items)) for _ in range(n_raters)]
    return np.array(rows, dtype=np.int8)


def seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if best > LONG_SECONDS:
            break
    return best


def kappa_with_interval(codes: Codes, n_labels: int) -> None:
    ratings = Ratings.from_codes(codes, list(range(n_labels)))
    cohen_se(ratings)
    bootstrap.interval(ratings, cohen_statistic(off_diagonal(n_labels)), seed=1, replicates=REPLICATES)


def alpha_with_interval(codes: Codes, n_labels: int) -> None:
    ratings = Ratings.from_codes(codes, list(range(n_labels)))
    alpha_se(ratings)
    statistic = alpha_statistic(nominal(ratings), n_labels)
    bootstrap.interval(ratings, statistic, seed=1, replicates=REPLICATES)


def one_pass(codes: Codes, n_labels: int) -> None:
    keys = codes[0].astype(np.int64)
    for column in codes[1:]:
        keys = keys * n_labels + column
    np.bincount(keys)


def scikit_learn(codes: Codes, n_labels: int) -> float:
    return float(cohen_kappa_score(codes[0], codes[1], labels=list(range(n_labels))))


def statsmodels(codes: Codes, n_labels: int) -> float:
    return float(fleiss_kappa(aggregate_raters(codes.T, n_cat=n_labels)[0]))


def naive_replicate(codes: Codes, n_labels: int, value: Callable[[Codes, int], float]) -> None:
    chosen = np.random.default_rng(1).integers(codes.shape[1], size=codes.shape[1])
    value(codes[:, chosen], n_labels)


def peak_megabytes(n_items: int) -> float:
    """Memory that alpha with its interval takes at the largest setting, beside the codes."""
    codes = codes_of(n_items, 5, 20)
    tracemalloc.start()
    alpha_with_interval(codes, 20)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def report(n_items: int, n_raters: int, n_labels: int) -> str:
    codes = codes_of(n_items, n_raters, n_labels)
    alpha = seconds(lambda: alpha_with_interval(codes, n_labels))
    kappa = seconds(lambda: kappa_with_interval(codes, n_labels)) if n_raters == 2 else None
    ours = kappa or alpha
    # A key per item is no fair yardstick where five raters give more keys than items.
    dense = n_labels**n_raters <= 1 << 20
    counted = seconds(lambda: one_pass(codes, n_labels)) if dense else None
    peer, value = ("scikit-learn", scikit_learn) if n_raters == 2 else ("statsmodels", statsmodels)
    alone = seconds(lambda: value(codes, n_labels))
    naive = REPLICATES * seconds(lambda: naive_replicate(codes, n_labels, value))
    parts = [f"N={n_items:<9,} R={n_raters} K={n_labels:<3}"]
    parts.append(f"kappa {kappa * 1e3:9.1f} ms" if kappa else "kappa         –   ")
    parts.append(f"alpha {alpha * 1e3:9.1f} ms")
    parts.append(f"{ours / counted:7.1f}x one bincount pass" if counted else "      –  one bincount pass")
    parts.append(f"{peer} value alone {alone / ours:8.3g}x ours")
    parts.append(f"its bootstrap {naive / ours:9,.0f}x ours (extrapolated)")
    return "  ".join(parts)


def main() -> None:
    print(f"Value, standard error and {REPLICATES} replicates, from codes; best of five runs.")
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    for n_items in sizes:
        for n_raters in (2, 5):
            for n_labels in (2, 5, 20):
                print(report(n_items, n_raters, n_labels), flush=True)
    for n_items in sizes:
        print(f"N={n_items:<9,} R=5 K=20 takes {peak_megabytes(n_items):.0f} MB beside the codes.")


if __name__ == "__main__":
    main()
