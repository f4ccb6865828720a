"""`manage.py plan`: the published sample sizes, in words and as JSON, and what is refused. No database."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.agreement.coefficients.known_answers import extras, near

CASES = extras("planning")["cases"]
TOLERANCE = extras("planning")["tol"]


def printed(*options: str) -> str:
    out = StringIO()
    call_command("plan", *options, stdout=out)
    return out.getvalue()


def plan(*options: str) -> dict[str, Any]:
    return json.loads(printed(*options, "--json"))


def of_method(*starts: str) -> list[Any]:
    return [pytest.param(case, id=str(place)) for place, case in enumerate(CASES) if case["method"].startswith(starts)]


def compare_options(case: dict[str, Any]) -> list[str]:
    shares = case.get("props") or [case["prevalence"], 1 - case["prevalence"]]
    options = ["--kappa", str(case["kappa0"]), "--against", str(case["kappa1"]), "--shares", json.dumps(shares)]
    if case["method"].endswith("raters"):
        options += ["--raters", case["method"].split()[-2]]
    return [*options, "--power", str(case.get("power", 0.8)), "--alpha", str(case.get("alpha", 0.05))]


@pytest.mark.parametrize("case", of_method("donner_eliasziw", "kappaSize"))
def test_compare(case: dict[str, Any]) -> None:
    answer = plan("compare", *compare_options(case))

    assert (answer["items"], near(answer["exact"], case["n_exact"], TOLERANCE)) == (case["n"], True)


@pytest.mark.parametrize("case", of_method("flack"))
def test_compare_with_margins(case: dict[str, Any]) -> None:
    options = ["compare", "--kappa", str(case["kappa0"]), "--against", str(case["kappa1"])]
    options += ["--margins", f"{case['margin1']},{case['margin2']}"]
    if "infeasible" in case:
        with pytest.raises(CommandError, match=r"^kappa 0\.8 exceeds 0\.7368, the largest that these margins allow\.$"):
            plan(*options)
        return

    found = plan(*options)["items"], plan(*options, "--two-sided", "--power", ".9")["items"]

    assert found == (case["one_sided_alpha_05_power_80"], case["two_sided_alpha_05_power_90"])


@pytest.mark.parametrize("case", of_method("precision_wald"))
def test_width(case: dict[str, Any]) -> None:
    options = ("--kappa", str(case["kappa"]), "--half-width", str(case["half_width_95"]))

    assert plan("width", *options, "--prevalence", str(case["prevalence_both"]))["items"] == case["n"]


@pytest.mark.parametrize("case", of_method("donner_rotondi"))
def test_limits(case: dict[str, Any]) -> None:
    options = ["--kappa", str(case["kappa0"]), "--lower", str(case["kappaL"]), "--prevalence", str(case["prevalence"])]
    options += ["--upper", str(case["kappaU"])] if case["kappaU"] is not None else []

    assert plan("limits", *options, "--alpha", str(case["alpha"]))["items"] == case["n"]


def test_third_rater() -> None:
    answer = plan("third-rater", "--kappa", ".4")

    assert [(row["raters"], round(row["reliability"], 2)) for row in answer["reliability"]] == [(2, 0.57), (3, 0.67)]


def test_width_in_words() -> None:
    text = printed("width", "--kappa", ".8", "--half-width", ".1", "--prevalence", ".1", "--batch", "5000")

    assert text.splitlines() == [
        "401 items, rated by both of two raters: at kappa .80 the 95 % interval then reaches 0.1 to each side.",
        "About 40 of them carry the rarest label; rare labels, not items, decide what can be told.",
        "That is 8.1 % of a batch of 5000 items.",
        "Method: width of the large-sample interval.",
    ]


def test_compare_in_words() -> None:
    text = printed("compare", "--kappa", ".4", "--against", ".6", "--prevalence", ".3", "--raters", "3")

    assert text.splitlines()[0] == (
        "106 items with 3 ratings each: if kappa is .60, it is then told apart from .40 in 80 of 100 cases, with an"
        " error of 5 %, two-sided."
    )


def test_limits_in_words() -> None:
    two = printed("limits", "--kappa", ".4", "--lower", ".3", "--upper", ".5", "--prevalence", ".3")
    one = printed("limits", "--kappa", ".6", "--lower", ".4", "--prevalence", ".3")

    assert (two.splitlines()[0], one.splitlines()[0]) == (
        "397 items, rated by both of two raters: at kappa .40 the 95 % interval then lies between .30 and .50.",
        "66 items, rated by both of two raters: at kappa .60 the 95 % lower limit is then .40.",
    )


def test_third_rater_in_words() -> None:
    assert printed("third-rater", "--kappa", ".9").splitlines() == [
        "The mean or majority label of 2 raters has a reliability of .95.",
        "The mean or majority label of 3 raters has a reliability of .96.",
        "A rule of thumb (Spearman-Brown), from kappa .90 of two raters.",
    ]


REFUSED = {
    "batch too small": (
        "width --kappa .6 --half-width .1 --prevalence .5 --batch 100",
        "The plan needs 246 items, and the batch has 100: 146 are missing.",
    ),
    "no prevalence": (
        "width --kappa .6 --half-width .1",
        "Say how often the labels are used: --prevalence for two labels, or --shares for all of them.",
    ),
    "both": (
        "compare --kappa .6 --against .4 --prevalence .5 --shares .5,.5",
        "Say how often the labels are used: --prevalence for two labels, or --shares for all of them.",
    ),
    "shares that are no whole": (
        "width --kappa .6 --half-width .1 --shares .5,.4",
        "Label shares must add up to 1, not 0.9.",
    ),
    "prevalence out of range": (
        "limits --kappa .6 --lower .4 --prevalence 1.2",
        "Label shares must be above 0: leave out labels that nobody will use.",
    ),
    "kappa out of range": (
        "width --kappa 1.2 --half-width .1 --prevalence .5",
        "kappa must be 0 or more and below 1, not 1.2.",
    ),
    "no difference": (
        "compare --kappa .5 --against .5 --prevalence .5",
        "Two kappas of 0.5 cannot be told apart: give two different ones.",
    ),
    "power out of range": (
        "compare --kappa .5 --against .6 --prevalence .5 --power 80",
        "The power must lie between 0 and 1, not 80.",
    ),
    "limits on one side": (
        "limits --kappa .6 --lower .7 --prevalence .5",
        "The limits must lie on either side of kappa, between 0 and 1.",
    ),
    "three margins": (
        "compare --kappa .5 --against .6 --margins .1,.2,.3",
        "--margins .1,.2,.3: expected two numbers, one for each rater.",
    ),
    "margins of three raters": (
        "compare --kappa .5 --against .6 --margins .1,.2 --raters 3",
        "--margins is for two raters, not 3.",
    ),
    "too many raters": ("third-rater --kappa .5 --raters 11", "--raters 11: expected 2 to 10 ratings per item."),
    "alpha out of range": (
        "limits --kappa .6 --lower .4 --prevalence .5 --alpha 5",
        "alpha must lie between 0 and 1, not 5.",
    ),
    "a word for a share": (
        "width --kappa .6 --half-width .1 --shares .5,half",
        ".5,half: 'half' at place 2 is no number.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_infeasible_input_is_refused_in_words(name: str) -> None:
    command, sentence = REFUSED[name]

    with pytest.raises(CommandError) as refused:
        plan(*command.split())

    assert str(refused.value) == sentence
