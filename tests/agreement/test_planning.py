"""Sample sizes against the published ones."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agreement import plan_words, planning
from tests.agreement.coefficients.known_answers import extras, near

PLANS = extras("planning")["cases"]
TOLERANCE = extras("planning")["tol"]


def by_method(start: str) -> list[dict[str, Any]]:
    return [case for case in PLANS if case["method"].startswith(start)]


@pytest.mark.parametrize("case", by_method("donner_eliasziw"), ids=str)
def test_two_kappas_of_two_labels(case: dict[str, Any]) -> None:
    p = case["prevalence"]
    size = planning.to_tell_apart(case["kappa0"], case["kappa1"], [p, 1 - p], power=case["power"], alpha=case["alpha"])
    assert near(size.exact, case["n_exact"], TOLERANCE)
    assert size.items == case["n"]


@pytest.mark.parametrize("case", by_method("kappaSize"), ids=str)
def test_two_kappas_of_more_labels_or_raters(case: dict[str, Any]) -> None:
    p = case.get("props") or [case["prevalence"], 1 - case["prevalence"]]
    raters = int(case["method"].split()[-2]) if case["method"].endswith("raters") else 2
    size = planning.to_tell_apart(case["kappa0"], case["kappa1"], p, raters=raters)
    assert near(size.exact, case["n_exact"], TOLERANCE)
    assert size.items == case["n"]


@pytest.mark.parametrize("case", [case for case in by_method("flack") if "infeasible" not in case], ids=str)
def test_two_kappas_with_margins(case: dict[str, Any]) -> None:
    about = (case["kappa0"], case["kappa1"], (case["margin1"], case["margin2"]))
    one_sided = planning.to_tell_apart_with_margins(*about)
    two_sided = planning.to_tell_apart_with_margins(*about, power=0.9, two_sided=True)
    assert (one_sided.items, two_sided.items) == (
        case["one_sided_alpha_05_power_80"],
        case["two_sided_alpha_05_power_90"],
    )


@pytest.mark.parametrize("case", [case for case in by_method("flack") if "infeasible" in case], ids=str)
def test_margins_that_cannot_reach_the_kappa_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(planning.Refused) as refused:
        planning.to_tell_apart_with_margins(case["kappa0"], case["kappa1"], (case["margin1"], case["margin2"]))

    assert refused.value.code == "above_kappa_max"
    assert plan_words.refusal(refused.value).startswith("kappa 0.8 exceeds 0.7368, ")


@pytest.mark.parametrize("case", by_method("precision_wald"), ids=str)
def test_width(case: dict[str, Any]) -> None:
    p = np.array([case["prevalence_both"], 1 - case["prevalence_both"]])
    assert near(planning.unit_deviation(planning.common_correlation(case["kappa"], p)), case["tau"], 1e-9)
    assert planning.for_width(case["kappa"], case["half_width_95"], p.tolist()).items == case["n"]


@pytest.mark.parametrize("case", by_method("donner_rotondi"), ids=str)
def test_limits(case: dict[str, Any]) -> None:
    size = planning.for_limits(case["kappa0"], case["kappaL"], case["kappaU"], case["prevalence"])
    assert size.items == case["n"]


def test_rare_labels_are_said_as_expected_count() -> None:
    assert planning.for_width(0.8, 0.1, [0.1, 0.9]).rarest == pytest.approx(40.1)


def test_more_raters_make_a_majority_more_reliable() -> None:
    assert [round(planning.with_raters(0.4, raters), 2) for raters in (1, 2, 3)] == [0.4, 0.57, 0.67]
    assert [round(planning.with_raters(0.9, raters), 2) for raters in (2, 3)] == [0.95, 0.96]


def test_noncentrality_is_the_known_one() -> None:
    assert round(planning.noncentrality(0.8, 0.05), 3) == 7.849


def test_share_suffices() -> None:
    assert planning.share_percent(139, 1000) == 13.9
    assert planning.share_percent(1, 3000) == 0.1
    assert planning.share_percent(50, 50) == 100.0


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (lambda: planning.share_percent(60, 50), "needs 60 items, and the batch has 50: 10 are missing"),
        (lambda: planning.for_width(1.0, 0.1, [0.5, 0.5]), "kappa must be 0 or more and below 1"),
        (lambda: planning.for_width(0.6, 0.0, [0.5, 0.5]), "half-width must be above 0"),
        (lambda: planning.for_width(0.6, 0.1, [0.5, 0.6]), "must add up to 1"),
        (lambda: planning.for_width(0.6, 0.1, [1.0]), "Two label shares or more"),
        (lambda: planning.for_width(0.6, 0.1, [1.0, 0.0]), "must be above 0"),
        (lambda: planning.to_tell_apart(0.6, 0.6, [0.5, 0.5]), "cannot be told apart"),
        (lambda: planning.to_tell_apart(0.6, 0.8, [0.5, 0.5], raters=1), "two raters or more"),
        (lambda: planning.to_tell_apart(0.6, 0.8, [0.5, 0.5], power=1.0), "The power must lie between 0 and 1"),
        (lambda: planning.to_tell_apart(0.6, 0.8, [0.5, 0.5], power=0.04), "no more than the error"),
        (lambda: planning.for_limits(0.4, 0.5, None, 0.3), "on either side of kappa"),
        (lambda: planning.with_raters(-0.5, 3), "cannot all agree as badly"),
    ],
)
def test_infeasible_plans_are_refused(plan: Any, sentence: str) -> None:
    with pytest.raises(planning.Refused) as refused:
        plan()

    assert sentence in plan_words.refusal(refused.value)


def test_every_refusal_has_a_sentence_in_the_reader_s_language() -> None:
    """The pure module names what is wrong; what it says of it can be translated."""
    source = Path(planning.__file__).read_text(encoding="utf-8")
    codes = set(re.findall(r'Refused\("(\w+)"', source))
    codes |= {f"{name}_range" for name in re.findall(r'_check_probability\("(\w+)"', source)}

    assert codes == set(plan_words.REFUSALS)
