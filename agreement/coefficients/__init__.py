"""Coefficients of agreement, from tables of rating patterns; numpy only.

    ratings = Ratings.from_pairs(["a", "b", "a"], ["a", "b", "b"], labels=["a", "b"])
    COEFFICIENTS["cohen_kappa"].function(ratings)   # -> Estimate: a value, or undefined and why
    summarise(ratings, level="nominal", seed=1)     # -> everything that applies, ready for JSON

A new coefficient is a module with a function and a `Statistic`, and an entry in COEFFICIENTS.
"""

from __future__ import annotations

from collections.abc import Callable

from agreement.coefficients import (
    brennan_prediger,
    cohen,
    conger,
    distances,
    fleiss,
    gwet,
    krippendorff,
    light,
    percent,
    scott,
)
from agreement.coefficients.coefficient import (
    ANY,
    LEVELS,
    MULTILABEL,
    ORDERED,
    SEVERAL,
    SINGLE,
    TWO,
    Coefficient,
)
from agreement.coefficients.estimate import REASONS, Estimate
from agreement.coefficients.ratings import MISSING, Ratings
from agreement.coefficients.statistic import off_diagonal
from agreement.coefficients.summary import summarise

__all__ = ["COEFFICIENTS", "LEVELS", "MISSING", "REASONS", "Coefficient", "Estimate", "Ratings", "summarise"]

# Part of the digest of a computation: raised whenever a figure would come out differently.
ENGINE_VERSION = "5"


def weighted_kappa(key: str, title: str, make: Callable[[Ratings], distances.Distance]) -> Coefficient:
    """Weighted kappa with the distance that `make` gives for ratings; also for a declared matrix."""
    return Coefficient(
        key=key,
        title=title,
        function=lambda ratings: cohen.cohen(ratings, make(ratings)),
        statistic=lambda ratings: cohen.cohen_statistic(distances.fixed_matrix(make(ratings), ratings.n_labels)),
        levels=SINGLE if key == "weighted_kappa_custom" else ORDERED,
        raters=TWO,
        source="Cohen 1968, doi:10.1037/h0026256",
        standard_error=lambda ratings: cohen.cohen_se(ratings, make(ratings)),
        null_error=lambda ratings: cohen.cohen_se0(ratings, make(ratings)),
        named_raters=True,
    )


def _alpha(kind: str, title: str, levels: tuple[str, ...]) -> Coefficient:
    make = distances.DISTANCES[kind].make
    return Coefficient(
        key=f"krippendorff_alpha_{kind}",
        title=f"Krippendorff's alpha ({title})",
        function=lambda ratings: krippendorff.alpha(ratings, make(ratings)),
        statistic=lambda ratings: krippendorff.alpha_statistic(make(ratings), ratings.n_labels),
        levels=levels,
        raters=ANY,
        source="Krippendorff 2011, Computing Krippendorff's alpha-reliability",
        standard_error=lambda ratings: krippendorff.alpha_se(ratings, make(ratings)),
        needs_values=kind in ("interval", "ratio"),
        needs_positive=kind == "ratio",
    )


def _gwet(key: str, title: str, kind: str) -> Coefficient:
    make = distances.DISTANCES[kind].make
    return Coefficient(
        key=key,
        title=title,
        function=lambda ratings: gwet.gwet(ratings, make(ratings)),
        statistic=lambda ratings: gwet.gwet_statistic(distances.normalised(make(ratings), ratings.n_labels)),
        levels=SINGLE if kind == "nominal" else ORDERED,
        raters=ANY,
        source="Gwet 2008, doi:10.1348/000711006X126600; Gwet 2014",
        standard_error=lambda ratings: gwet.gwet_se(ratings, make(ratings)),
    )


def _brennan_prediger(key: str, title: str, kind: str) -> Coefficient:
    make = distances.DISTANCES[kind].make
    return Coefficient(
        key=key,
        title=title,
        function=lambda ratings: brennan_prediger.brennan_prediger(ratings, make(ratings)),
        statistic=lambda ratings: brennan_prediger.brennan_prediger_statistic(
            distances.normalised(make(ratings), ratings.n_labels)
        ),
        levels=SINGLE if kind == "nominal" else ORDERED,
        raters=ANY,
        source="Brennan & Prediger 1981, doi:10.1177/001316448104100307",
        standard_error=lambda ratings: brennan_prediger.brennan_prediger_se(ratings, make(ratings)),
    )


COEFFICIENTS: dict[str, Coefficient] = {
    coefficient.key: coefficient
    for coefficient in (
        Coefficient(
            key="percent_agreement",
            title="Percent agreement",
            function=percent.percent_agreement,
            statistic=lambda ratings: percent.percent_statistic(ratings.n_labels),
            levels=LEVELS,
            raters=ANY,
            source="Fleiss 1971, doi:10.1037/h0031619",
        ),
        Coefficient(
            key="percent_agreement_pooled_pairs",
            title="Percent agreement (all pairs of ratings pooled)",
            function=percent.percent_agreement_pooled_pairs,
            statistic=lambda ratings: percent.percent_statistic(ratings.n_labels, pooled=True),
            levels=LEVELS,
            raters=SEVERAL,
            source="Fleiss 1971, doi:10.1037/h0031619",
        ),
        Coefficient(
            key="cohen_kappa",
            title="Cohen's kappa",
            function=cohen.cohen,
            statistic=lambda ratings: cohen.cohen_statistic(off_diagonal(ratings.n_labels)),
            levels=SINGLE,
            raters=TWO,
            source="Cohen 1960, doi:10.1177/001316446002000104",
            standard_error=cohen.cohen_se,
            null_error=cohen.cohen_se0,
            named_raters=True,
        ),
        weighted_kappa("weighted_kappa_linear", "Weighted kappa (linear weights)", distances.linear),
        weighted_kappa("weighted_kappa_quadratic", "Weighted kappa (quadratic weights)", distances.quadratic),
        Coefficient(
            key="scott_pi",
            title="Scott's pi",
            function=scott.scott_pi,
            statistic=lambda ratings: fleiss.fleiss_statistic(off_diagonal(ratings.n_labels)),
            levels=SINGLE,
            raters=TWO,
            source="Scott 1955, doi:10.1086/266577",
            standard_error=scott.scott_se,
        ),
        Coefficient(
            key="fleiss_kappa",
            title="Fleiss' kappa",
            function=fleiss.fleiss_kappa,
            statistic=lambda ratings: fleiss.fleiss_statistic(off_diagonal(ratings.n_labels)),
            levels=SINGLE,
            raters=SEVERAL,
            source="Fleiss 1971, doi:10.1037/h0031619",
            standard_error=fleiss.fleiss_se,
            null_error=fleiss.fleiss_se0,
            equal=True,
        ),
        Coefficient(
            key="fleiss_kappa_gwet",
            title="Fleiss' kappa (Gwet weights for unequal ratings)",
            function=fleiss.fleiss_kappa_gwet,
            statistic=lambda ratings: fleiss.fleiss_statistic(off_diagonal(ratings.n_labels)),
            levels=SINGLE,
            raters=SEVERAL,
            source="Gwet 2014, Handbook of Inter-Rater Reliability",
            standard_error=fleiss.fleiss_se,
            equal=False,
        ),
        Coefficient(
            key="fleiss_kappa_flp",
            title="Fleiss' kappa (Fleiss, Levin & Paik for unequal ratings)",
            function=fleiss.fleiss_kappa_flp,
            statistic=lambda ratings: fleiss.flp_statistic(ratings.n_labels),
            levels=SINGLE,
            raters=SEVERAL,
            source="Fleiss, Levin & Paik 2003, chapter 18",
            equal=False,
        ),
        Coefficient(
            key="conger_kappa",
            title="Conger's kappa",
            function=conger.conger_kappa,
            statistic=lambda ratings: conger.conger_statistic(ratings.n_raters, ratings.n_labels),
            levels=SINGLE,
            raters=SEVERAL,
            source="Conger 1980, doi:10.1037/0033-2909.88.2.322",
            named_raters=True,
        ),
        Coefficient(
            key="mean_pairwise_cohen_kappa",
            title="Light's kappa (mean of the pairs' Cohen's kappas)",
            function=light.mean_pairwise_cohen_kappa,
            statistic=light.mean_statistic,
            levels=SINGLE,
            raters=SEVERAL,
            source="Light 1971, doi:10.1037/h0031643",
            named_raters=True,
        ),
        Coefficient(
            key="pooled_pairwise_cohen_kappa",
            title="Pooled pairwise kappa (pairs weighed by their items)",
            function=light.pooled_pairwise_cohen_kappa,
            statistic=light.pooled_statistic,
            levels=SINGLE,
            raters=SEVERAL,
            source="1 - Do / De, each the mean over pairs of raters weighed by shared items",
            named_raters=True,
        ),
        _alpha("nominal", "nominal", LEVELS),
        _alpha("ordinal", "ordinal", ORDERED),
        _alpha("interval", "interval", ORDERED),
        _alpha("ratio", "ratio", ORDERED),
        _alpha("jaccard", "Jaccard distance of sets", (MULTILABEL,)),
        _alpha("masi", "MASI distance of sets", (MULTILABEL,)),
        _gwet("gwet_ac1", "Gwet's AC1", "nominal"),
        _gwet("gwet_ac2_linear", "Gwet's AC2 (linear weights)", "linear"),
        _gwet("gwet_ac2_quadratic", "Gwet's AC2 (quadratic weights)", "quadratic"),
        _brennan_prediger("brennan_prediger", "Brennan-Prediger kappa", "nominal"),
        _brennan_prediger("brennan_prediger_linear", "Brennan-Prediger kappa (linear weights)", "linear"),
        _brennan_prediger("brennan_prediger_quadratic", "Brennan-Prediger kappa (quadratic weights)", "quadratic"),
        Coefficient(
            key="pabak",
            title="PABAK (prevalence-adjusted bias-adjusted kappa)",
            function=cohen.pabak,
            statistic=lambda ratings: brennan_prediger.brennan_prediger_statistic(off_diagonal(ratings.n_labels)),
            levels=SINGLE,
            raters=TWO,
            source="Byrt, Bishop & Carlin 1993, doi:10.1016/0895-4356(93)90018-V",
            # Of two labels it is Brennan-Prediger's kappa, and so are its error and interval.
            standard_error=brennan_prediger.brennan_prediger_se,
            n_labels=2,
        ),
    )
}
