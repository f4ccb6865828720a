"""What a run keeps of spans beside their figures: what is behind a coefficient, its interval, and the expert."""

import random
from typing import Any

import numpy as np
import pytest

from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.bootstrap import BOOTSTRAP, SMOOTHED, percentile
from agreement.coefficients.ratings import Ratings
from agreement.coefficients.span_estimates import SpanFigures
from agreement.coefficients.span_table import Item, SpanTable
from agreement.coefficients.spans import Span
from tests.agreement import tables
from tests.agreement.tables import ANNA, BEN, CARA, headline

TOKENS = 20


def marked(*spans: tuple[int, int, str]) -> list[dict[str, Any]]:
    """Token spans as they are stored: in characters."""
    return [{"field": "text", "start": 2 * a, "end": 2 * b - 1, "label": label} for a, b, label in spans]


def item(*answers: list[dict[str, Any]] | None, tokens: int = 10) -> tables.Pattern:
    return (*answers, " ".join("w" * tokens)), "", 1


def result(*items: tables.Pattern, labels: tuple[str, ...] = ("A", "B"), **changes: Any) -> dict[str, Any]:
    return tables.result("spans", list(labels), items, **changes)


ONE, OTHER = marked((0, 2, "A"), (4, 6, "B")), marked((0, 2, "A"), (5, 8, "B"))


def test_alpha_on_tokens_stands_with_observed_and_expected_agreement() -> None:
    entry = headline(result(item(ONE, OTHER), item(ONE, ONE)))

    one, other = list("AA--BB----"), list("AA---BBB--")
    known = COEFFICIENTS["krippendorff_alpha_nominal"].function(
        Ratings.from_matrix([one + one, other + one], ["-", "A", "B"])
    )
    assert entry["value"] == pytest.approx(known.value)
    assert (entry["observed"], entry["expected"]) == (pytest.approx(known.observed), pytest.approx(known.expected))
    assert entry["observed_disagreement"] == pytest.approx(1 - known.observed)


def test_share_has_no_agreement_by_chance() -> None:
    entry = result(item(ONE, OTHER))["statistics"]["exact_f1"]

    assert (entry["value"], entry["observed"], "expected" in entry) == (0.5, 0.5, False)


def test_arithmetic_of_spans_ends_in_their_figures() -> None:
    found = result(item(ONE, OTHER), item(ONE, ONE))
    steps = {step["symbol"]: step for step in found["arithmetic"]}

    assert list(steps) == ["D_o", "D_e", "alpha", "exact F1", "overlap F1"]
    assert steps["D_o"]["numbers"] == "6 / 40"
    assert steps["alpha"]["value"] == pytest.approx(headline(found)["value"])
    assert (steps["exact F1"]["numbers"], steps["exact F1"]["value"]) == ("2·3 / 8", 0.75)
    assert steps["overlap F1"]["value"] == found["statistics"]["overlap_f1"]["value"]


def test_arithmetic_of_nothing_marked_is_undefined_too() -> None:
    found = result(item([], []))

    values = [step["value"] for step in found["arithmetic"]]
    assert values == [0.0, 0.0, None, None, None]


# -- the interval ---------------------------------------------------------------------------------------------------


def test_few_items_have_the_smoothed_interval_and_many_the_bootstrap() -> None:
    few = result(*[item(ONE, OTHER), item(ONE, ONE)] * 20)
    many = result(*[item(ONE, OTHER), item(ONE, ONE)] * 60)

    assert [headline(found)["method"] for found in (few, many)] == [SMOOTHED, BOOTSTRAP]
    assert few["statistics"]["exact_f1"]["method"] == SMOOTHED


def test_few_disagreements_have_the_smoothed_interval_by_label_too() -> None:
    """Of label A all is agreed on, of B half of it is disputed."""
    found = result(*[item(ONE, OTHER), item(ONE, ONE)] * 60)
    methods = {row["label"]: row["method"] for row in found["statistics"]["per_class_alpha"]}

    assert methods == {"A": SMOOTHED, "B": BOOTSTRAP}


def test_interval_of_perfect_agreement_holds_it_and_is_no_certainty() -> None:
    found = result(*[item(ONE, ONE)] * 30)

    for key in ("krippendorff_alpha_nominal", "exact_f1", "label_agreement", "overlap_f1"):
        entry = found["statistics"][key]
        assert (entry["value"], entry["interval"][1], entry["method"]) == (1.0, 1.0, SMOOTHED)
        assert 0.5 < entry["interval"][0] < 1


def test_interval_of_no_match_at_all_leaves_room_above() -> None:
    apart = result(*[item(marked((0, 2, "A")), marked((5, 7, "A")))] * 30)["statistics"]["exact_f1"]

    assert (apart["value"], apart["interval"][0]) == (0.0, 0.0)
    assert 0 < apart["interval"][1] < 0.3


def test_strata_share_one_pseudo_item_and_keep_their_numbers() -> None:
    table = SpanTable(("A",))
    for place in range(30):
        own = (Span(0, 3, "A"),)
        table.add(Item([(0, 1), (2, 3), (4, 5)], {0: own, 1: own if place % 3 else ()}), place % 2)
    figures = table.figures()

    smoothed = figures.with_pseudo_item()
    drawn = smoothed.smoothed_draw(np.random.default_rng(1), 50, figures)

    assert smoothed.weights.sum() == pytest.approx(figures.n + 1)
    for stratum in (0, 1):
        assert drawn[:, smoothed.strata == stratum].sum(axis=1) == pytest.approx(15)


def simulated(rng: np.random.Generator, items: int) -> SpanFigures:
    """Two raters whose texts are alike or not as a whole: spans of one text move together."""
    tokens = [(2 * place, 2 * place + 1) for place in range(TOKENS)]
    table = SpanTable(("A", "B"))
    for _ in range(items):
        likely, sides = rng.beta(7.2, 0.8), ([], [])
        for slot in range(0, TOKENS, 4):
            if rng.random() < 0.3:
                start, label = slot + int(rng.integers(0, 2)), "AB"[int(rng.integers(0, 2))]
                span = Span(2 * start, 2 * start + 3, label)
                sides[0].append(span)
                if rng.random() < likely:
                    sides[1].append(span)
                elif rng.random() < 0.5:
                    sides[1].append(Span(span.start, span.end, "B" if label == "A" else "A"))
        table.add(Item(tokens, {0: tuple(sides[0]), 1: tuple(sides[1])}))
    return table.figures()


def test_smoothed_interval_covers_where_the_bootstrap_does_not() -> None:
    """Of 20 texts with high agreement: 95 % intervals of alpha and of exact F1 in 80 samples."""
    rng = np.random.default_rng(11)
    whole = simulated(rng, 4000)
    held: dict[tuple[str, str], int] = dict.fromkeys(
        [(key, method) for key in ("krippendorff_alpha_nominal", "exact_f1") for method in (BOOTSTRAP, SMOOTHED)], 0
    )
    for seed in range(80):
        figures = simulated(rng, 20)
        drawn = {m: figures.resample(seed=seed, replicates=400, method=m) for m in (BOOTSTRAP, SMOOTHED)}
        for key, method in held:
            measure = figures.whole()[key]
            truth = whole.estimate(whole.whole()[key]).value
            value = figures.estimate(measure).value
            span = percentile(measure.values(drawn[method]), level=0.95, method=method, seed=seed, holding=value)
            held[key, method] += truth is not None and span is not None and span.low <= truth <= span.high

    assert all(held[key, SMOOTHED] >= 72 for key, _ in held)
    assert all(held[key, BOOTSTRAP] < held[key, SMOOTHED] for key, _ in held)


# -- the expert -------------------------------------------------------------------------------------------------------

EXPERT = str(CARA.uuid)


def test_raters_are_compared_with_the_expert_in_all_and_one_by_one() -> None:
    """Anna says what the expert says on both items; Ben rated the first one only and has one of two spans right."""
    found = result(item(ONE, OTHER, ONE), item(OTHER, None, OTHER), expert=EXPERT, needed=3)["statistics"]

    assert found["expert_exact_f1"]["value"] == pytest.approx(2 * (2 + 2 + 1) / (4 + 4 + 4))
    assert found["expert_exact_f1"]["n"] == 2
    assert {row["rater"]: (row["value"], row["n"]) for row in found["expert_exact_f1_per_rater"]} == {
        str(ANNA.uuid): (1.0, 2),
        str(BEN.uuid): (0.5, 1),
    }
    assert found["expert_overlap_f1"]["value"] == pytest.approx(2 * (2 + 2 + 1) / 12)
    assert found["expert_token_f1_per_rater"][0]["value"] == 1.0
    assert found["expert_exact_f1"]["method"] == SMOOTHED


def test_items_that_the_expert_did_not_rate_are_not_compared_with_them() -> None:
    alone = result(item(ONE, OTHER, ONE), expert=EXPERT, needed=3)["statistics"]
    beside = result(item(ONE, OTHER, ONE), item(ONE, OTHER, None), expert=EXPERT, needed=3)["statistics"]

    assert beside["expert_exact_f1"] == alone["expert_exact_f1"]


def test_one_of_two_raters_may_be_the_expert() -> None:
    found = result(item(ONE, OTHER), expert=str(BEN.uuid))["statistics"]

    assert found["expert_exact_f1"]["value"] == found["exact_f1"]["value"] == 0.5
    assert [row["rater"] for row in found["expert_exact_f1_per_rater"]] == [str(ANNA.uuid)]


def test_expert_who_marked_nothing_here_is_undefined_with_the_reason() -> None:
    found = result(item(ONE, OTHER), expert=EXPERT)["statistics"]

    assert found["expert_exact_f1"] == {
        "undefined": "no_pairs",
        "sentence": "The expert has rated none of these items.",
        "n": 0,
    }


def test_order_of_the_items_changes_no_figure_with_the_expert() -> None:
    rng = random.Random(3)
    items = [item(ONE, OTHER, ONE), item(OTHER, None, OTHER), item(ONE, ONE, OTHER), item(None, OTHER, ONE)] * 3
    turned = rng.sample(items, len(items))

    one, other = (result(*each, expert=EXPERT, needed=3)["statistics"] for each in (items, turned))
    assert {k: v for k, v in one.items() if "expert" in k} == {k: v for k, v in other.items() if "expert" in k}
