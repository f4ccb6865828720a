"""How often 95 % intervals hold the true kappa: `python -m tests.benchmarks.agreement_coverage [samples]`.

Two raters with equal margins and a known kappa, in the settings of METHODS' table (section 3) and some more; the
interval is the one that the product would show, with the bootstrap beside it. 10,000 samples a setting unless said
otherwise. At least 90 % are wanted in each setting and 93 % in the mean.
"""

import sys
from itertools import product

import numpy as np

from agreement.coefficients import Ratings, bootstrap
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.ratings import FloatArray
from agreement.coefficients.statistic import off_diagonal
from agreement.planning import common_correlation

SHARES = ((0.5, 0.5), (0.3, 0.7), (0.1, 0.9), (0.4, 0.35, 0.25), (0.05, 0.15, 0.8))
KAPPAS = (0.4, 0.7, 0.9)
ITEMS = (20, 50, 100, 300)
REPLICATES = 500
WANTED_EACH, WANTED_MEAN = 0.90, 0.93


def coverage(shares: FloatArray, kappa: float, n_items: int, samples: int, method: str | None) -> tuple[float, float]:
    """Share of the samples whose interval holds kappa, and the mean width; undefined samples are left out."""
    rng = np.random.default_rng(1000 * n_items + round(100 * kappa))
    cells = common_correlation(kappa, shares)
    statistic = cohen_statistic(off_diagonal(len(shares)))
    labels = list(range(len(shares)))
    held, widths = [], []
    for seed in range(samples):
        table = rng.multinomial(n_items, cells.ravel()).reshape(cells.shape)
        ratings = Ratings.from_table(table, labels)
        interval = bootstrap.interval(ratings, statistic, seed=seed, replicates=REPLICATES, method=method)
        if interval is not None:
            held.append(interval.low <= kappa <= interval.high)
            widths.append(interval.high - interval.low)
    return float(np.mean(held)), float(np.mean(widths))


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"Coverage % / mean width of 95 % intervals, {samples} samples a setting")
    shown = []
    for shares, kappa, n_items in product(SHARES, KAPPAS, ITEMS):
        own, width = coverage(np.array(shares), kappa, n_items, samples, None)
        other, other_width = coverage(np.array(shares), kappa, n_items, min(samples, 1000), bootstrap.BOOTSTRAP)
        shown.append(own)
        mark = "" if own >= WANTED_EACH else "  below the 90 % wanted"
        name = "/".join(f"{share:g}" for share in shares)
        print(
            f"{name:<14} kappa {kappa:g}  n {n_items:<4} shown {100 * own:5.1f} / {width:.2f}"
            f"   bootstrap {100 * other:5.1f} / {other_width:.2f}{mark}",
            flush=True,
        )
    missed = sum(each < WANTED_EACH for each in shown)
    print(f"Mean {100 * np.mean(shown):.1f} % ({100 * WANTED_MEAN:.0f} wanted), {missed} settings below 90 %.")


if __name__ == "__main__":
    main()
