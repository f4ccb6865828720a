"""What the figures of a table should be read with: each a key, its numbers, and a sentence.

The sentences are templates of SENTENCES, so that a page can translate them and fill in the numbers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from agreement.coefficients import COEFFICIENTS, bootstrap, classes, cohen, headline, krippendorff, light
from agreement.coefficients.coefficient import MULTILABEL, ORDERED, Coefficient
from agreement.coefficients.distances import linear
from agreement.coefficients.ratings import Label, Ratings

MINIMUM_N = 20
# The prevalence trap: high agreement with a low coefficient.
HIGH_AGREEMENT, LOW_VALUE = 0.85, 0.45
NOTABLE_PREVALENCE, NOTABLE_BIAS = 0.5, 0.1
# Where all labels but the commonest are rarer than this in sum, and two ratings are one of them on fewer items than
# this, the percentile interval covers 56 to 90 % instead of 95 (kappa .3 and .6, 125 to 3000 items, simulated).
RARE_SHARE, FEW_TOGETHER = 0.05, 5
# A pair or rater this much below the median of the others is far from the rest.
FAR = 0.2
# Merging two classes is mentioned where it raises the headline by this much.
GAIN = 0.05
# Pairs of labels tried, the most confused first: all of them would be a search for the largest figure.
MOST_MERGERS = 5

SENTENCES: Mapping[str, str] = {
    "no_pairs": "No item has two ratings, so there is nothing to compare.",
    "single_ratings": "Items with one rating only: %(n)s. They are counted and left out.",
    "small_n": "Items with two ratings or more: %(n)s, fewer than the %(minimum)s asked for.",
    "no_variation": "No class variation: only “%(label)s” was used. Chance-corrected coefficients are undefined, and"
    " AC1 and Brennan-Prediger are 1 by definition.",
    "one_category": "“%(label)s” is the only label there is, so agreement says nothing: every chance-corrected"
    " coefficient is undefined.",
    "prevalence_index": "The two labels are used unevenly: the prevalence index is %(value).2f, which pulls kappa"
    " down.",
    "bias_index": "The raters use the two labels at different rates: the bias index is %(value).2f.",
    "kappa_max": "With these marginals kappa can be at most %(value).2f.",
    "unused_class": "Nobody used “%(label)s”.",
    "one_sided_class": "Only %(rater)s used “%(label)s” (uses: %(uses)s), so its agreement is 0.",
    "prevalence_trap": "The raters agree on %(observed).0f %% of the items and yet the coefficient is %(value).2f:"
    " “%(label)s” makes up %(share).0f %% of the ratings, so agreement by chance is high. Look at the agreement on the"
    " rare classes.",
    "prevalence_trap_named": "The raters agree on %(observed).0f %% of the items and yet %(title)s is %(value).2f:"
    " “%(label)s” makes up %(share).0f %% of the ratings, so agreement by chance is high. Look at the agreement on the"
    " rare classes.",
    "prevalence_trap_pairs": "%(observed).0f %% of the pairs of ratings agree and yet %(title)s is %(value).2f:"
    " “%(label)s” makes up %(share).0f %% of the ratings, so agreement by chance is high. Look at the agreement on the"
    " rare classes.",
    "rare_label": "“%(label)s” makes up %(share).1f %% of the ratings, and the items on which two raters both said it"
    " are only %(both)s of %(n)s, so the interval of %(title)s may be too narrow.",
    "rare_label_smoothed": "“%(label)s” makes up %(share).1f %% of the ratings, and the items on which two raters both"
    " said it are only %(both)s of %(n)s, so the interval of %(title)s may be too narrow: the smoothed bootstrap gives"
    " %(low).2f to %(high).2f.",
    "far_pair": "%(first)s and %(second)s agree less than the other pairs: kappa %(value).2f on %(n)s items, against a"
    " median of %(median).2f.",
    "far_pair_ordered": "%(first)s and %(second)s agree less than the other pairs: kappa with linear weights"
    " %(value).2f on %(n)s items, against a median of %(median).2f.",
    "far_rater": "%(rater)s agrees less with the others than they do among each other: mean kappa %(value).2f over"
    " %(pairs)s pairs with %(n)s shared items, against %(others).2f without them.",
    "far_rater_ordered": "%(rater)s agrees less with the others than they do among each other: mean kappa with linear"
    " weights %(value).2f over %(pairs)s pairs with %(n)s shared items, against %(others).2f without them.",
    "merge": "If “%(first)s” and “%(second)s” were one class, the coefficient would be %(merged).2f instead of"
    " %(value).2f.",
    "merge_ordered": "If the neighbours “%(first)s” and “%(second)s” were one class, the coefficient without weights"
    " would be %(merged).2f instead of %(value).2f.",
    "merge_headline": "If “%(first)s” and “%(second)s” were one class, %(title)s would be %(merged).2f instead of"
    " %(value).2f.",
    "merge_headline_ordered": "If the neighbours “%(first)s” and “%(second)s” were one class, %(title)s would be"
    " %(merged).2f instead of %(value).2f.",
}
# Of results made before the sentence named its coefficient.
EARLIER = ("prevalence_trap", "merge", "merge_ordered")


@dataclass(frozen=True)
class Diagnostic:
    """One thing to know. `numbers` fill the template of the key in SENTENCES."""

    key: str
    numbers: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        return SENTENCES[self.key] % self.numbers


def diagnose(
    ratings: Ratings,
    level: str,
    *,
    minimum_n: int = MINIMUM_N,
    coefficient: Coefficient | None = None,
    merging: bool = True,
    seed: int | None = None,
) -> list[Diagnostic]:
    """Everything worth knowing about these ratings, in a fixed order.

    No pair or rater is named on fewer than `minimum_n` shared items, and none where columns are not people.

    Parameters
    ----------
    coefficient : the headline, where it is another one than the design calls for
    merging : whether the headline has a meaning once two labels are one; with declared weights it has none
    seed : of the smoothed interval that is named beside one of rare labels; none is named without it
    """
    found = list(_amount(ratings, minimum_n))
    if not ratings.n_paired:
        return found
    if level == MULTILABEL:
        return found
    found += _classes(ratings)
    found += _margins(ratings)
    found += _trap(ratings)
    coefficient = coefficient or _headline(ratings, level)
    found += _rare(ratings, coefficient, seed)
    found += _far(ratings, minimum_n, ordered=level in ORDERED)
    if merging:
        found += _merges(ratings, coefficient, ordered=level in ORDERED)
    return found


def _headline(ratings: Ratings, level: str) -> Coefficient:
    """The coefficient that the design calls for."""
    return COEFFICIENTS[str(headline.choose(headline.design_of(ratings, level, weights="linear")).key)]


def _amount(ratings: Ratings, minimum_n: int) -> Iterator[Diagnostic]:
    n, single = ratings.n_paired, ratings.n_rated - ratings.n_paired
    if not n:
        yield Diagnostic("no_pairs", {})
    if single:
        yield Diagnostic("single_ratings", {"n": round(single)})
    if 0 < n < minimum_n:
        yield Diagnostic("small_n", {"n": round(n), "minimum": minimum_n})


def _classes(ratings: Ratings) -> Iterator[Diagnostic]:
    uses = classes.uses_by_rater(ratings)
    totals = uses.sum(axis=0)
    if (totals > 0).sum() == 1:
        key = "no_variation" if ratings.n_labels > 1 else "one_category"
        yield Diagnostic(key, {"label": ratings.labels[int(totals.argmax())]})
    for place, label in enumerate(ratings.labels):
        users = uses[:, place] > 0
        if not users.any():
            yield Diagnostic("unused_class", {"label": label})
        elif users.sum() == 1 and not ratings.exchangeable and uses.shape[0] > 1:
            rater = int(users.argmax())
            numbers = {"label": label, "rater": ratings.raters[rater], "uses": round(float(totals[place]))}
            if classes.specific_agreement(ratings)[place].value == 0:
                yield Diagnostic("one_sided_class", numbers)


def _margins(ratings: Ratings) -> Iterator[Diagnostic]:
    if ratings.n_raters != 2 or ratings.exchangeable:
        return
    if ratings.n_labels == 2:
        prevalence = cohen.prevalence_index(ratings).value
        if prevalence is not None and abs(prevalence) >= NOTABLE_PREVALENCE:
            yield Diagnostic("prevalence_index", {"value": prevalence})
        bias = cohen.bias_index(ratings).value
        if bias is not None and abs(bias) >= NOTABLE_BIAS:
            yield Diagnostic("bias_index", {"value": bias})
    largest = cohen.kappa_max(ratings).value
    if largest is not None and largest < 1:
        yield Diagnostic("kappa_max", {"value": largest})


def _trap(ratings: Ratings) -> Iterator[Diagnostic]:
    two = ratings.n_raters == 2 and not ratings.exchangeable
    answer = cohen.cohen(ratings) if two else krippendorff.alpha(ratings)
    if answer.value is None or answer.observed is None:
        return
    if answer.observed < HIGH_AGREEMENT or answer.value > LOW_VALUE:
        return
    used = ratings.comparable().used()
    place = int(used.argmax())
    yield Diagnostic(
        "prevalence_trap_named" if two else "prevalence_trap_pairs",
        {
            "title": COEFFICIENTS["cohen_kappa" if two else "krippendorff_alpha_nominal"].title,
            "observed": 100 * answer.observed,
            "value": answer.value,
            "label": ratings.labels[place],
            "share": 100 * float(used[place] / used.sum()),
        },
    )


def _rare(ratings: Ratings, coefficient: Coefficient, seed: int | None) -> Iterator[Diagnostic]:
    """Labels so rare that the headline's percentile interval does not cover; the smoothed one does."""
    items, answer = coefficient.items(ratings).comparable(), coefficient.function(ratings)
    # The share of agreement leans on no rare label.
    if answer.value is None or coefficient.key.endswith("percent_agreement"):
        return
    if bootstrap.too_small(answer.n, items.n_disputed, answer.value):
        return
    used = items.used()
    shares = used / used.sum()
    common = int(shares.argmax())
    if 1 - shares[common] >= RARE_SHARE:
        return
    together = items.weights @ (items.counts() >= 2)
    rare = [place for place in np.flatnonzero(used) if place != common and together[place] < FEW_TOGETHER]
    ends = _smoothed_ends(items, coefficient, seed) if rare and seed is not None else {}
    for place in rare:
        numbers = {
            "label": ratings.labels[place],
            "share": 100 * float(shares[place]),
            "both": round(float(together[place])),
            "n": round(answer.n),
            "title": coefficient.title,
        }
        yield Diagnostic("rare_label_smoothed" if ends else "rare_label", numbers | ends)


def _smoothed_ends(items: Ratings, coefficient: Coefficient, seed: int | None) -> dict[str, float]:
    span = bootstrap.interval(items, coefficient.statistic(items), seed=seed or 0, method=bootstrap.SMOOTHED)
    return {"low": span.low, "high": span.high} if span else {}


def _far(ratings: Ratings, minimum_n: int, *, ordered: bool) -> Iterator[Diagnostic]:
    """Pairs and raters far from the rest; on an ordered scale a near miss does not make them so."""
    if ratings.exchangeable or ratings.n_raters < 3:
        return
    distance, suffix = (linear(ratings), "_ordered") if ordered else (None, "")
    kappas = {
        pair: (answer.value, answer.n)
        for pair, answer in light.pairwise_cohen_kappa(ratings, distance).items()
        if answer.value is not None and answer.n >= minimum_n
    }
    named = ratings.raters
    for (first, second), (value, n) in kappas.items():
        others = [each for pair, (each, _) in kappas.items() if pair != (first, second)]
        if len(others) >= 2 and value < median(others) - FAR:
            numbers = {"first": named[first], "second": named[second], "value": value, "n": round(n)}
            yield Diagnostic(f"far_pair{suffix}", {**numbers, "median": median(others)})
    for rater in range(ratings.n_raters):
        mine = [answer for pair, answer in kappas.items() if rater in pair]
        rest = [value for pair, (value, _) in kappas.items() if rater not in pair]
        if len(mine) < 2 or not rest:
            continue
        own, without = sum(value for value, _ in mine) / len(mine), sum(rest) / len(rest)
        if own < without - FAR:
            numbers = {"rater": named[rater], "value": own, "pairs": len(mine), "n": round(sum(n for _, n in mine))}
            yield Diagnostic(f"far_rater{suffix}", {**numbers, "others": without})


def merged_value(ratings: Ratings, first: int, second: int) -> float | None:
    """Kappa of two raters, else nominal alpha, if two labels were one; None where undefined."""
    return _nominal(_as_one(ratings, first, second))


def _as_one(ratings: Ratings, first: int, second: int) -> Ratings:
    kept = [place for place in range(ratings.n_labels) if place != second]
    mapping = [kept.index(first if place == second else place) for place in range(ratings.n_labels)]
    return ratings.recode(mapping, [ratings.labels[place] for place in kept])


def _merges(ratings: Ratings, coefficient: Coefficient, *, ordered: bool) -> Iterator[Diagnostic]:
    """The merger that would help the headline most; on an ordered scale only neighbours can be one class."""
    value = coefficient.function(ratings).value
    # The numbers of two labels that are one are nobody's to make up.
    if value is None or ratings.n_labels < 3 or coefficient.needs_values:
        return
    gains: list[tuple[float, Label, Label]] = []
    for first, second in _confused(ratings, ordered=ordered):
        merged = coefficient.function(_as_one(ratings, first, second)).value
        if merged is not None and merged >= value + GAIN:
            gains.append((merged, ratings.labels[first], ratings.labels[second]))
    # One pair is advice; all of them would be a search for the largest figure.
    for merged, one, other in sorted(gains, key=lambda gain: -gain[0])[:1]:
        numbers = {"first": one, "second": other, "title": coefficient.title, "merged": merged, "value": value}
        yield Diagnostic("merge_headline_ordered" if ordered else "merge_headline", numbers)


def _confused(ratings: Ratings, *, ordered: bool) -> list[tuple[int, int]]:
    """The pairs of labels that stand on one item most often; a merger of others can hardly help."""
    counts = ratings.counts()
    together = (counts * ratings.weights[:, None]).T @ counts
    pairs = [
        (first, second)
        for first, second in combinations(range(ratings.n_labels), 2)
        if together[first, second] and (not ordered or second == first + 1)
    ]
    return sorted(pairs, key=lambda pair: -together[pair])[:MOST_MERGERS]


def _nominal(ratings: Ratings) -> float | None:
    two = ratings.n_raters == 2 and not ratings.exchangeable
    return (cohen.cohen(ratings) if two else krippendorff.alpha(ratings)).value
