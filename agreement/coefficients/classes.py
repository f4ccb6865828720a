"""Agreement on each label: specific agreement, and kappa of the label against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agreement.coefficients import influence
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.ratings import Array, FloatArray, IntArray, Ratings, label_counts
from agreement.coefficients.statistic import Statistic, one_hot

# A label that even the rater who used it most used less often has no threshold of its own (METHODS, section 7).
MINIMUM_USES = 20
# Why one label against the rest has no variation, which is another thing than that of all labels.
UNUSED = "Nobody used this label, so there is no agreement on it to measure."
ALWAYS = "Everybody used this label on every item, so agreement by chance would be complete and the coefficient is 0/0."


def per_class_statistic(n_labels: int) -> Statistic:
    """Cohen's kappa of each label's 2 x 2 table; two raters."""
    k = n_labels

    def features(codes: IntArray) -> FloatArray:
        first, second = one_hot(codes[:, 0], k), one_hot(codes[:, 1], k)
        return np.column_stack([first != second, first, 1 - first, second, 1 - second]).astype(np.float64)

    def disagreement(sums: Array) -> tuple[Array, Array]:
        mixed, first, not_first, second, not_second = (sums[..., i * k : (i + 1) * k] for i in range(5))
        n = first + not_first
        return mixed / n, (first / n) * (not_second / n) + (not_first / n) * (second / n)

    return Statistic(features, disagreement, n_sums=5 * k, by_rater=True)


def per_class_kappa(ratings: Ratings) -> list[Estimate]:
    """Cohen's kappa of "this label or not", in declared order; undefined for a label nobody used.

    Cohen's kappa of all labels is their average weighted by the chance disagreements.
    """
    if ratings.n_raters != 2:
        raise ValueError(
            f"Kappa of a label's 2 x 2 table needs two raters, not {ratings.n_raters}: see per_class_alpha."
        )
    return _each(per_class_statistic(ratings.n_labels), ratings)


def per_class_kappa_se(ratings: Ratings) -> list[Estimate]:
    """The standard errors of the per-class kappas from influence values."""
    if ratings.n_raters != 2:
        raise ValueError(f"Kappa of a label's 2 x 2 table needs two raters, not {ratings.n_raters}.")
    return _each_se(per_class_statistic(ratings.n_labels), ratings)


def specific_statistic(n_labels: int) -> Statistic:
    """Of the pairs in which one rating is the label, the share in which both are."""
    k = n_labels

    def features(codes: IntArray) -> FloatArray:
        counts = label_counts(codes, k)
        sizes = counts.sum(axis=1, keepdims=True)
        return np.column_stack([counts * (sizes - counts), counts * (sizes - 1)])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        return sums[..., :k], sums[..., k:]

    return Statistic(features, disagreement, n_sums=2 * k)


def specific_agreement(ratings: Ratings) -> list[Estimate]:
    """Specific agreement of each label (Dice, F1); for several raters sum n (n - 1) / sum n (m - 1) over items.

    References
    ----------
    Dice 1945, doi:10.2307/1932409; Cicchetti & Feinstein 1990, doi:10.1016/0895-4356(90)90159-M
    """
    answers = _each(specific_statistic(ratings.n_labels), ratings)
    return [
        Estimate(answer.value, answer.undefined, n=answer.n, details={**answer.details, "uses": float(uses)})
        for answer, uses in zip(answers, ratings.comparable().used(), strict=True)
    ]


def specific_agreement_se(ratings: Ratings) -> list[Estimate]:
    """The standard errors of specific agreement from influence values."""
    return _each_se(specific_statistic(ratings.n_labels), ratings)


def per_class_alpha_statistic(n_labels: int) -> Statistic:
    """Krippendorff's alpha of each label against the rest: any number of raters, missing ratings."""
    k = n_labels

    def features(codes: IntArray) -> FloatArray:
        counts = label_counts(codes, k)
        sizes = counts.sum(axis=1, keepdims=True)
        counts = counts * (sizes >= 2)
        others = sizes * (sizes >= 2) - counts
        return np.column_stack([2 * counts * others / np.maximum(sizes - 1, 1), counts, others])

    def disagreement(sums: Array) -> tuple[Array, Array]:
        within, mine, others = sums[..., :k], sums[..., k : 2 * k], sums[..., 2 * k :]
        n = mine + others
        return within / n, 2 * mine * others / (n * (n - 1.0))

    return Statistic(features, disagreement, n_sums=3 * k)


def per_class_alpha(ratings: Ratings) -> list[Estimate]:
    """Krippendorff's nominal alpha of "this label or not" for each label: the form for several raters."""
    return _each(per_class_alpha_statistic(ratings.n_labels), ratings)


def uses_by_rater(ratings: Ratings) -> FloatArray:
    """(n_raters, n_labels) how often each rater used each label on the items that are compared."""
    pairs = ratings.comparable()
    pairs = pairs.keep(pairs.sizes >= 2)
    return np.array([pairs.weights @ one_hot(column, ratings.n_labels) for column in pairs.codes.T]).reshape(
        ratings.n_raters, ratings.n_labels
    )


def worded(answers: Sequence[Estimate], uses: FloatArray) -> list[Estimate]:
    """Answers of labels against the rest, where one without variation says whether nobody or everybody used it."""
    return [
        replace(answer, details={**answer.details, "sentence": ALWAYS if used else UNUSED})
        if answer.undefined == "no_variation"
        else answer
        for answer, used in zip(answers, uses, strict=True)
    ]


def _each(statistic: Statistic, ratings: Ratings) -> list[Estimate]:
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return [undefined("no_pairs")] * ratings.n_labels
    return worded(statistic.estimates(pairs, pairs.n_paired), pairs.used())


def _each_se(statistic: Statistic, ratings: Ratings) -> list[Estimate]:
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return [undefined("no_pairs")] * ratings.n_labels
    errors = influence.standard_errors(statistic, pairs)
    answers = [influence.as_estimate(float(error), pairs.n_paired, statistic.reason) for error in errors]
    return worded(answers, pairs.used())
