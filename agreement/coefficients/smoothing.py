"""The smoothed draw: one pseudo-item, spread over all cells, joins the items before cell shares are drawn.

For two raters the shares come from Dirichlet(n_ij + 1/K^2). A sample without any disagreement has a bootstrap that
never leaves 1; this one does, and it covers where the bootstrap, BCa and large-sample intervals fail (METHODS of the
reference, section 3).

For more raters, or ratings missing, the pseudo-item is designed like the items: it is shared out over the sets of
raters that items have, in proportion to their items, and within one over all K^m ways to label it. Several strata
share one pseudo-item in proportion to their items. Where there are more cells than MAX_CELLS (two raters: more than 64
labels), SAMPLED_CELLS of them are drawn at random instead: all but a few would have next to no mass in any draw, and
the time would grow with the square of the labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agreement.coefficients.ratings import MISSING, FloatArray, IntArray, Ratings

MAX_CELLS = 4096
SAMPLED_CELLS = 1024


def with_pseudo_item(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """The pattern table with the pseudo-item added; its weights are the parameters of the Dirichlet distribution."""
    paired = ratings.keep(ratings.sizes >= 2)
    if not len(paired.weights):
        return ratings
    strata = np.zeros(len(paired.weights), dtype=np.int64) if paired.strata is None else paired.strata
    total = paired.weights.sum()
    codes: list[IntArray] = [ratings.codes.astype(np.int64)]
    weights, numbers = [ratings.weights], [ratings.strata]
    for stratum in np.unique(strata):
        within = strata == stratum
        share = paired.weights[within].sum() / total
        cells, masses = _cells(paired.codes[within], paired.weights[within], ratings.n_labels, rng)
        codes.append(cells)
        weights.append(masses * share)
        numbers.append(np.full(len(cells), stratum))
    return replace(
        ratings,
        codes=np.concatenate(codes),
        weights=np.concatenate(weights),
        strata=None if ratings.strata is None else np.concatenate([part for part in numbers if part is not None]),
    ).merged()


def _cells(
    codes: IntArray, weights: FloatArray, n_labels: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Cells of one pseudo-item and the mass of each, 1 in all."""
    present = codes != MISSING
    designs, inverse = np.unique(present, axis=0, return_inverse=True)
    shares = np.bincount(inverse.ravel(), weights=weights) / weights.sum()
    sizes = designs.sum(axis=1)
    counts = [n_labels ** int(size) for size in sizes]
    if sum(counts) > MAX_CELLS:
        return _sampled(designs, shares, n_labels, rng)
    parts = []
    for design, count in zip(designs, counts, strict=True):
        part = np.full((count, len(design)), MISSING, dtype=np.int64)
        part[:, design] = np.stack(np.unravel_index(np.arange(count), [n_labels] * int(design.sum())), axis=1)
        parts.append(part)
    masses = [np.full(count, share / count) for share, count in zip(shares, counts, strict=True)]
    return np.concatenate(parts), np.concatenate(masses)


def _sampled(
    designs: IntArray, shares: FloatArray, n_labels: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    chosen = designs[rng.choice(len(designs), size=SAMPLED_CELLS, p=shares)]
    labels = rng.integers(n_labels, size=chosen.shape)
    return np.where(chosen, labels, MISSING), np.full(SAMPLED_CELLS, 1.0 / SAMPLED_CELLS)
