"""How often 95 % intervals hold the true kappa: `python -m tests.benchmarks.agreement_coverage [samples]`.

Two raters with equal margins and a known kappa, in the settings of METHODS' table (section 3): 36 with 20, 50 and 100
items, and the rows with 300. The interval is `bootstrap.interval`, the one that the product shows, with the plain
bootstrap beside it. Equal tables are drawn once, as in the product, where the same table and seed give the same
interval. Samples without a defined kappa are left out, and their share is said. 10,000 samples a setting unless said
otherwise; it fails where a setting is below 90 % or the mean below 93 %.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from agreement.coefficients import Ratings, bootstrap
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.statistic import off_diagonal
from agreement.planning import common_correlation

SHARES = ((0.5, 0.5), (0.1, 0.9), (0.4, 0.35, 0.25), (0.05, 0.15, 0.8))
KAPPAS = (0.4, 0.7, 0.9)
ITEMS = (20, 50, 100, 300)
REPLICATES = 1000
# The plain bootstrap is there to compare with: fewer samples tell enough.
COMPARED = 1000
WANTED_EACH, WANTED_MEAN = 0.90, 0.93


@dataclass(frozen=True)
class Setting:
    """Two raters who use the labels with these shares and agree with this kappa."""

    shares: tuple[float, ...]
    kappa: float
    n_items: int

    @property
    def name(self) -> str:
        shares = "/".join(f"{share:g}" for share in self.shares)
        return f"{shares:<14} kappa {self.kappa:g}  n {self.n_items:<4}"


@dataclass(frozen=True)
class Coverage:
    """Share of the intervals that hold kappa, their mean width, how many are smoothed, and samples without one."""

    held: float
    width: float
    smoothed: float
    undefined: float


def coverage(setting: Setting, samples: int, method: str | None = None) -> Coverage:
    """What the intervals of `samples` tables do; `method` is chosen by the product unless given."""
    kappa, k = setting.kappa, len(setting.shares)
    rng = np.random.default_rng([setting.n_items, round(100 * kappa), k, round(100 * setting.shares[0])])
    cells = common_correlation(kappa, np.array(setting.shares))
    drawn = rng.multinomial(setting.n_items, cells.ravel(), size=samples)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    found = [_interval(table.reshape(k, k), seed, method) for seed, table in enumerate(tables)]
    defined = [(each, n) for each, n in zip(found, times, strict=True) if each is not None]
    weights = np.array([n for _, n in defined]) / sum(n for _, n in defined)
    held = np.array([each.low <= kappa <= each.high for each, _ in defined])
    widths = np.array([each.high - each.low for each, _ in defined])
    smoothed = np.array([each.method == bootstrap.SMOOTHED for each, _ in defined])
    left_out = 1.0 - sum(n for _, n in defined) / samples
    return Coverage(float(weights @ held), float(weights @ widths), float(weights @ smoothed), float(left_out))


def _interval(
    table: np.ndarray[tuple[int, int], np.dtype[np.int64]], seed: int, method: str | None
) -> bootstrap.Interval | None:
    ratings = Ratings.from_table(table, range(len(table)))
    statistic = cohen_statistic(off_diagonal(len(table)))
    return bootstrap.interval(ratings, statistic, seed=seed, replicates=REPLICATES, method=method)


def measured(setting: Setting, samples: int) -> tuple[Coverage, Coverage]:
    """The interval shown, and the plain bootstrap."""
    return coverage(setting, samples), coverage(setting, min(samples, COMPARED), bootstrap.BOOTSTRAP)


def line(setting: Setting, shown: Coverage, plain: Coverage) -> str:
    mark = "" if shown.held >= WANTED_EACH else f"  BELOW {100 * WANTED_EACH:.0f} %"
    text = f"{setting.name} shown {100 * shown.held:5.1f} / {shown.width:.2f}, {100 * shown.smoothed:3.0f} % smoothed"
    text += f"   bootstrap {100 * plain.held:5.1f} / {plain.width:.2f}{mark}"
    return text + (f"  ({100 * shown.undefined:.1f} % without a kappa)" if shown.undefined else "")


def main() -> int:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    settings = [Setting(*each) for each in product(SHARES, KAPPAS, ITEMS)]
    print(f"Coverage % / mean width of 95 % intervals, {samples:,} samples a setting, {REPLICATES:,} replicates each")
    shown = []
    with ProcessPoolExecutor() as pool:
        for setting, (own, plain) in zip(
            settings, pool.map(measured, settings, [samples] * len(settings)), strict=True
        ):
            shown.append(own.held)
            print(line(setting, own, plain), flush=True)
    mean, missed = float(np.mean(shown)), sum(held < WANTED_EACH for held in shown)
    print(
        f"{len(shown)} settings: mean {100 * mean:.1f} % ({100 * WANTED_MEAN:.0f} wanted), lowest"
        f" {100 * min(shown):.1f} % ({100 * WANTED_EACH:.0f} wanted), {missed} below it."
    )
    return 0 if not missed and mean >= WANTED_MEAN else 1


if __name__ == "__main__":
    sys.exit(main())
