"""Which coefficient is the headline: one table, read from the top, with the reason that the page shows.

And the refusals: figures that would mislead, each with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agreement.coefficients.coefficient import INTERVAL, MULTILABEL, NOMINAL, ORDINAL, RATIO
from agreement.coefficients.fleiss import equal_sizes
from agreement.coefficients.ratings import Ratings

SPANS, TEXT = "spans", "text"


@dataclass(frozen=True)
class Design:
    """How a question was rated. `complete` says that every rater rated every item."""

    level: str
    n_raters: int
    complete: bool = True
    expert: bool = False
    weights: str = "quadratic"
    equal_ratings: bool = True
    exchangeable: bool = False

    @property
    def two(self) -> bool:
        return self.n_raters == 2 and self.complete and not self.exchangeable


@dataclass(frozen=True)
class Choice:
    """The headline and why, and what stands beside it. `key` is None where no coefficient is offered."""

    key: str | None
    reason: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A line of the table."""

    when: Callable[[Design], bool]
    key: str | None
    reason: str


RULES = (
    Rule(
        lambda d: d.level == TEXT,
        None,
        "Free text has no coefficient: ask its rubric as further ordinal questions.",
    ),
    Rule(
        lambda d: d.expert and d.level == ORDINAL and d.weights == "custom",
        "expert_weighted_kappa_custom",
        "One side is an expert, so this is agreement with the expert; the scale is ordered, with the declared weights.",
    ),
    Rule(
        lambda d: d.level == SPANS,
        "krippendorff_alpha_nominal",
        "Spans are compared on declared units, beside exact and overlap F1; never across tokenisations.",
    ),
    Rule(
        lambda d: d.level == MULTILABEL,
        "krippendorff_alpha_masi",
        "An answer is a set of classes, so alpha takes a distance of sets; each class also has a figure of its own.",
    ),
    Rule(
        lambda d: d.expert and d.level != NOMINAL and d.weights == "linear",
        "expert_weighted_kappa_linear",
        "One side is an expert, so this is agreement with the expert; the scale is ordered, with linear weights.",
    ),
    Rule(
        lambda d: d.expert and d.level != NOMINAL,
        "expert_weighted_kappa_quadratic",
        "One side is an expert, so this is agreement with the expert; the scale is ordered, with quadratic weights.",
    ),
    Rule(
        lambda d: d.expert,
        "expert_kappa_pooled",
        "One side is an expert, so the figure is agreement with the expert, not among equals.",
    ),
    Rule(
        lambda d: d.level == NOMINAL and d.two,
        "cohen_kappa",
        "Two raters rated every item with unordered labels.",
    ),
    Rule(
        lambda d: d.level == NOMINAL,
        "krippendorff_alpha_nominal",
        "There are more than two raters, or ratings are missing, which alpha allows for.",
    ),
    Rule(
        lambda d: d.level == ORDINAL and d.two and d.weights == "linear",
        "weighted_kappa_linear",
        "Two raters rated every item on an ordered scale, with linear weights.",
    ),
    Rule(
        lambda d: d.level == ORDINAL and d.two and d.weights == "custom",
        "weighted_kappa_custom",
        "Two raters rated every item on an ordered scale, with the declared matrix of weights.",
    ),
    Rule(
        lambda d: d.level == ORDINAL and d.two,
        "weighted_kappa_quadratic",
        "Two raters rated every item on an ordered scale, with quadratic weights.",
    ),
    Rule(
        lambda d: d.level == ORDINAL,
        "krippendorff_alpha_ordinal",
        "The scale is ordered, and there are more than two raters or ratings are missing.",
    ),
    Rule(
        lambda d: d.level == INTERVAL,
        "krippendorff_alpha_interval",
        "Labels are numbers on an interval scale, so alpha takes the squared difference.",
    ),
    Rule(
        lambda d: d.level == RATIO,
        "krippendorff_alpha_ratio",
        "Labels are numbers with a true zero, so alpha takes the squared relative difference.",
    ),
)

# Chance-corrected coefficients that know no order of the labels.
UNORDERED = (
    "cohen_kappa",
    "scott_pi",
    "fleiss_kappa",
    "fleiss_kappa_gwet",
    "fleiss_kappa_flp",
    "conger_kappa",
    "mean_pairwise_cohen_kappa",
    "pooled_pairwise_cohen_kappa",
    "krippendorff_alpha_nominal",
    "gwet_ac1",
    "brennan_prediger",
    "pabak",
)


def choose(design: Design) -> Choice:
    """The first rule that holds.

    Raises
    ------
    ValueError : a level of measurement that no rule knows, or fewer than two raters
    """
    if design.n_raters < 2:
        raise ValueError(f"Agreement needs two raters, and there is {design.n_raters}.")
    for rule in RULES:
        if rule.when(design):
            return Choice(rule.key, rule.reason, _beside(design, rule.key))
    raise ValueError(f"{design.level!r} is no level of measurement with a headline.")


def design_of(ratings: Ratings, level: str, *, expert: bool = False, weights: str = "quadratic") -> Design:
    """The design that ratings show; items nobody rated do not count as missing."""
    rated = ratings.keep(ratings.sizes >= 1)
    complete = bool((rated.sizes == ratings.n_raters).all())
    return Design(level, ratings.n_raters, complete, expert, weights, equal_sizes(ratings), ratings.exchangeable)


def _beside(design: Design, key: str | None) -> tuple[str, ...]:
    if design.level in (TEXT, SPANS):
        return ()
    if design.level == MULTILABEL:
        return ("percent_agreement", "krippendorff_alpha_jaccard", "krippendorff_alpha_nominal")
    keys = ["percent_agreement"]
    if design.n_raters == 2 and not design.exchangeable:
        keys += ["cohen_kappa", "scott_pi"]
    else:
        keys.append("fleiss_kappa" if design.equal_ratings else "fleiss_kappa_gwet")
        keys += [] if design.exchangeable else ["mean_pairwise_cohen_kappa"]
    keys += ["krippendorff_alpha_nominal", "brennan_prediger", "gwet_ac1"]
    if design.level != NOMINAL:
        keys += ["krippendorff_alpha_ordinal", "gwet_ac2_linear", "gwet_ac2_quadratic"]
        if design.n_raters == 2 and not design.exchangeable:
            keys += ["weighted_kappa_linear", "weighted_kappa_quadratic"]
    return tuple(dict.fromkeys(each for each in keys if each != key))


def refusal(
    key: str,
    design: Design,
    *,
    named: bool = False,
    majors: int = 1,
    tokenisations: int = 1,
) -> str | None:
    """Why this coefficient would mislead here, or None.

    `named` says that somebody asked for it by name knowing the scale, as a protocol does; `majors` and
    `tokenisations` are how many guideline versions and tokenisations the ratings come from.
    """
    if majors > 1:
        return f"The ratings are from {majors} MAJOR guideline versions, which are not pooled: take one version."
    if tokenisations > 1:
        return f"The ratings are on {tokenisations} tokenisations, whose units are not comparable: take one."
    if design.level == TEXT:
        return "Free text has no coefficient: ask its rubric as further ordinal questions."
    of_two = key.startswith(("cohen_kappa", "weighted_kappa", "scott_pi", "pabak"))
    if of_two and design.exchangeable:
        return "The columns are rating places, not people, so there are no two raters to compare."
    if of_two and design.n_raters != 2:
        return (
            f"{design.n_raters} raters would be pooled by position as if they were two:"
            " take the pairs' kappas, their mean, or alpha."
        )
    if key in UNORDERED and design.level in (ORDINAL, INTERVAL, RATIO) and not named:
        return (
            "The scale is ordered, and this counts a near miss as much as a far one: name it to have it all the same."
        )
    return None
