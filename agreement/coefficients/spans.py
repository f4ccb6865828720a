"""Agreement on spans in texts: F1 on spans, overlap, and label figures on declared units.

Where "not a span" cannot be counted, kappa tends to F1 (Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733), which is
symmetric: either rater may be the reference. Counts are pooled over documents, never averaged over them, and an
interval resamples documents. Kappa on units depends on how many lie outside every span: never show it alone, nor
compare it across tokenisations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.coefficients.bootstrap import BOOTSTRAP, LEVEL, REPLICATES, Interval, percentile
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import MISSING, FloatArray, IntArray, Label, Ratings, identity

OUTSIDE = None


@dataclass(frozen=True)
class Span:
    """Units start (included) to end (left out) of a document, with a label."""

    start: int
    end: int
    label: Label

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"A span from {self.start} to {self.end} holds no unit.")


@dataclass(frozen=True)
class Document:
    """What two raters marked in one text of `length` units."""

    length: int
    first: tuple[Span, ...]
    second: tuple[Span, ...]

    def __post_init__(self) -> None:
        for span in (*self.first, *self.second):
            if span.end > self.length:
                raise ValueError(f"A span ends at {span.end}, after the {self.length} units of its document.")


def exact_f1(documents: Sequence[Document], *, labels: bool = True) -> Estimate:
    """F1 of spans with the same boundaries, and the same label unless `labels` is False."""
    return _f1(_counts(documents, lambda document: exact_matches(document, labels=labels)))


def overlap_f1(documents: Sequence[Document], *, threshold: float = 0.5) -> Estimate:
    """F1 of spans that overlap by more than `threshold` (intersection over union), one to one, whatever their label."""
    _check_threshold(threshold)
    return _f1(_counts(documents, lambda document: float(len(overlaps(document, threshold)))))


def mean_overlap(documents: Sequence[Document], *, matched_only: bool = False) -> Estimate:
    """Mean intersection over union of the matched spans; unmatched ones count 0 unless `matched_only`."""
    found = [overlaps(document, 0.0) for document in documents]
    total, matched = float(sum(sum(each) for each in found)), sum(len(each) for each in found)
    if matched_only:
        return Estimate(total / matched, n=matched) if matched else undefined("no_pairs")
    spans = sum(len(document.first) + len(document.second) for document in documents)
    return Estimate(2 * total / spans, n=len(documents)) if spans else undefined("no_pairs")


def label_agreement(documents: Sequence[Document]) -> Estimate:
    """Share of the spans with the same boundaries that have the same label too."""
    boundaries = sum(exact_matches(document, labels=False) for document in documents)
    if not boundaries:
        return undefined("no_pairs", n=len(documents))
    return Estimate(sum(exact_matches(document, labels=True) for document in documents) / boundaries, n=boundaries)


def unit_f1(documents: Sequence[Document], labels: Sequence[Label]) -> Estimate:
    """F1 of units inside spans, with their label: beside kappa on units, since it does not count what is outside."""
    table = unit_ratings(documents, labels).table()
    inside = float(table[1:, :].sum() + table[:, 1:].sum())
    n = float(len(documents))
    return Estimate(2 * float(np.trace(table[1:, 1:])) / inside, n=n) if inside else undefined("no_pairs", n=n)


def unit_ratings(documents: Sequence[Document], labels: Sequence[Label]) -> Ratings:
    """Both raters' label of every unit, OUTSIDE first: for kappa and alpha on units. Spans must not overlap."""
    place = {identity(label): code + 1 for code, label in enumerate(labels)}
    first = [_units(document.length, document.first, place) for document in documents]
    second = [_units(document.length, document.second, place) for document in documents]
    empty = np.empty(0, dtype=np.int64)
    columns = [np.concatenate([empty, *first]), np.concatenate([empty, *second])]
    return Ratings.from_codes(columns, [OUTSIDE, *labels])


def f1_interval(
    documents: Sequence[Document],
    matches: Callable[[Document], float],
    *,
    seed: int,
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Interval | None:
    """Percentile bootstrap of an F1 over documents, since the spans of one document are not independent."""
    counts = _counts(documents, matches)
    if _f1(counts).value is None:
        return None
    n = len(counts)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=replicates)
    matched, spans = (weights @ counts).T
    values = np.divide(2 * matched, spans, out=np.full(replicates, np.nan), where=spans > 0)
    return percentile(values, level=level, method=BOOTSTRAP, seed=seed)


def exact_matches(document: Document, *, labels: bool) -> float:
    """Spans that both raters marked; a boundary marked twice by a rater counts as often as both have it."""
    remaining = [_key(span, labels) for span in document.second]
    matched = 0
    for span in document.first:
        if _key(span, labels) in remaining:
            remaining.remove(_key(span, labels))
            matched += 1
    return float(matched)


def overlaps(document: Document, threshold: float) -> list[float]:
    """Intersection over union of spans matched one to one, the largest first, each above `threshold`."""
    pairs = [
        (_intersection_over_union(first, second), i, j)
        for i, first in enumerate(document.first)
        for j, second in enumerate(document.second)
    ]
    taken_first: set[int] = set()
    taken_second: set[int] = set()
    matched = []
    for share, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if share > threshold and i not in taken_first and j not in taken_second:
            taken_first.add(i)
            taken_second.add(j)
            matched.append(share)
    return matched


def _counts(documents: Sequence[Document], matches: Callable[[Document], float]) -> FloatArray:
    """(n_documents, 2) matched spans and spans of both raters."""
    rows = [(matches(document), len(document.first) + len(document.second)) for document in documents]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 2)


def _f1(counts: FloatArray) -> Estimate:
    matched, spans = counts.sum(axis=0)
    n = float(len(counts))
    return Estimate(float(2 * matched / spans), n=n) if spans else undefined("no_pairs", n=n)


def _key(span: Span, labels: bool) -> tuple[object, ...]:
    return (span.start, span.end, identity(span.label) if labels else None)


def _intersection_over_union(first: Span, second: Span) -> float:
    shared = min(first.end, second.end) - max(first.start, second.start)
    if shared <= 0:
        return 0.0
    return shared / (first.end - first.start + second.end - second.start - shared)


def _units(length: int, spans: Sequence[Span], place: dict[Hashable, int]) -> IntArray:
    units = np.zeros(length, dtype=np.int64)
    for span in spans:
        code = place.get(identity(span.label), MISSING)
        if code == MISSING:
            raise ValueError(f"Label {span.label!r} of a span is not among the declared labels.")
        if units[span.start : span.end].any():
            raise ValueError(f"The span from {span.start} to {span.end} overlaps another of the same rater.")
        units[span.start : span.end] = code
    return units


def _check_threshold(threshold: float) -> None:
    if not 0 <= threshold < 1:
        raise ValueError(f"An overlap threshold is 0 or more and below 1, not {threshold:g}.")
