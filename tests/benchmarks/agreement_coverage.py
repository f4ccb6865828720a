"""How often 95 % intervals hold the true value: `python -m tests.benchmarks.agreement_coverage [samples]`.

Two raters with equal margins and a known kappa, in the settings of METHODS' table (section 3): 36 with 20, 50 and 100
items, and the rows with 300. The interval is `bootstrap.interval`, the one that the product shows, with the plain
bootstrap beside it. Equal tables are drawn once, as in the product, where the same table and seed give the same
interval. Samples without a defined value are left out, and their share is said. 10,000 samples a setting unless said
otherwise; it fails where a setting is below 90 % or the mean below 93 %. Where CONCORD_BENCH names a folder, what each
setting came to is kept there for as long as the engine is the same, and a run that was stopped goes on.

Then three raters and nominal alpha in the same settings, by the common-correlation model. For these the literature has
no such table, so what the intervals do is printed, and nothing is asked of it.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from agreement.coefficients import ENGINE_VERSION, Ratings, bootstrap
from agreement.coefficients.cohen import cohen_statistic
from agreement.coefficients.distances import nominal
from agreement.coefficients.krippendorff import alpha_statistic
from agreement.coefficients.statistic import off_diagonal
from agreement.planning import common_correlation

SHARES = ((0.5, 0.5), (0.1, 0.9), (0.4, 0.35, 0.25), (0.05, 0.15, 0.8))
KAPPAS = (0.4, 0.7, 0.9)
ITEMS = (20, 50, 100, 300)
REPLICATES = 1000
# The plain bootstrap, and three raters, are there to compare with: fewer samples tell enough.
COMPARED = 1000
WANTED_EACH, WANTED_MEAN = 0.90, 0.93


@dataclass(frozen=True)
class Setting:
    """Raters who use the labels with these shares and agree with this kappa."""

    shares: tuple[float, ...]
    kappa: float
    n_items: int
    n_raters: int = 2

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


def samples_of(setting: Setting, samples: int) -> Iterator[tuple[Ratings, int]]:
    """Distinct tables of ratings, and how many samples show each."""
    shares, k, n = np.array(setting.shares), len(setting.shares), setting.n_items
    rng = np.random.default_rng([n, round(100 * setting.kappa), k, round(100 * shares[0])])
    if setting.n_raters == 2:
        cells = common_correlation(setting.kappa, shares).ravel()
        drawn, times = np.unique(rng.multinomial(n, cells, size=samples), axis=0, return_counts=True)
        for table, number in zip(drawn, times, strict=True):
            yield Ratings.from_table(table.reshape(k, k), range(k)), int(number)
        return
    for _ in range(samples):
        common = rng.choice(k, size=n, p=shares)
        own = rng.choice(k, size=(setting.n_raters, n), p=shares)
        yield Ratings.from_codes(np.where(rng.random(n) < setting.kappa, common, own), range(k)), 1


def coverage(setting: Setting, samples: int, method: str | None = None) -> Coverage:
    """What the intervals of `samples` samples do; `method` is chosen by the product unless given."""
    kappa, apart = setting.kappa, off_diagonal(len(setting.shares))
    found = []
    for seed, (ratings, times) in enumerate(samples_of(setting, samples)):
        two = setting.n_raters == 2
        statistic = cohen_statistic(apart) if two else alpha_statistic(nominal(ratings), len(apart))
        each = bootstrap.interval(ratings, statistic, seed=seed, replicates=REPLICATES, method=method)
        if each is not None:
            found.append((each, times))
    defined = sum(times for _, times in found)
    weights = np.array([times for _, times in found]) / defined
    held = np.array([each.low <= kappa <= each.high for each, _ in found])
    widths = np.array([each.high - each.low for each, _ in found])
    smoothed = np.array([each.method == bootstrap.SMOOTHED for each, _ in found])
    shown = (float(weights @ values) for values in (held, widths, smoothed))
    return Coverage(*shown, undefined=1.0 - defined / samples)


def measured(setting: Setting, samples: int) -> tuple[Coverage, Coverage]:
    """The interval shown, and the plain bootstrap; from an earlier run of the same engine if there was one."""
    note = note_of(setting, samples)
    if note and note.exists():
        shown, plain = (Coverage(**each) for each in json.loads(note.read_text()))
        return shown, plain
    shown, plain = coverage(setting, samples), coverage(setting, min(samples, COMPARED), bootstrap.BOOTSTRAP)
    if note:
        note.parent.mkdir(parents=True, exist_ok=True)
        part = note.with_suffix(".part")
        part.write_text(json.dumps([asdict(shown), asdict(plain)]))
        part.rename(note)
    return shown, plain


def note_of(setting: Setting, samples: int) -> Path | None:
    """Where the coverage of a setting is kept; None where nothing is."""
    folder = os.environ.get("CONCORD_BENCH")
    key = f"{setting} {samples} {REPLICATES} {COMPARED} {ENGINE_VERSION}"
    return Path(folder) / "coverage" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json" if folder else None


def line(setting: Setting, shown: Coverage, plain: Coverage, *, wanted: bool) -> str:
    mark = "" if not wanted or shown.held >= WANTED_EACH else f"  BELOW {100 * WANTED_EACH:.0f} %"
    text = f"{setting.name} shown {100 * shown.held:5.1f} / {shown.width:.2f}, {100 * shown.smoothed:3.0f} % smoothed"
    text += f"   bootstrap {100 * plain.held:5.1f} / {plain.width:.2f}{mark}"
    return text + (f"  ({100 * shown.undefined:.1f} % without a value)" if shown.undefined else "")


def run(settings: list[Setting], samples: int, *, wanted: bool) -> list[float]:
    """Measure and print every setting; the coverages of the interval that is shown."""
    shown = []
    with ProcessPoolExecutor() as pool:
        for setting, (own, plain) in zip(
            settings, pool.map(measured, settings, [samples] * len(settings)), strict=True
        ):
            shown.append(own.held)
            print(line(setting, own, plain, wanted=wanted), flush=True)
    return shown


def main() -> int:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"Coverage % / mean width of 95 % intervals, {samples:,} samples a setting, {REPLICATES:,} replicates each")
    shown = run([Setting(*each) for each in product(SHARES, KAPPAS, ITEMS)], samples, wanted=True)
    mean, missed = float(np.mean(shown)), sum(held < WANTED_EACH for held in shown)
    print(
        f"{len(shown)} settings: mean {100 * mean:.1f} % ({100 * WANTED_MEAN:.0f} wanted), lowest"
        f" {100 * min(shown):.1f} % ({100 * WANTED_EACH:.0f} wanted), {missed} below it."
    )
    fewer = min(samples, COMPARED)
    print(f"\nThree raters, Krippendorff's alpha, {fewer:,} samples a setting; nothing is asked of these")
    several = run([Setting(*each, n_raters=3) for each in product(SHARES, KAPPAS, ITEMS[:3])], fewer, wanted=False)
    print(f"{len(several)} settings: mean {100 * np.mean(several):.1f} %, lowest {100 * min(several):.1f} %.")
    return 0 if not missed and mean >= WANTED_MEAN else 1


if __name__ == "__main__":
    sys.exit(main())
