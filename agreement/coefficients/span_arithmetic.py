"""Show the arithmetic of figures on spans: alpha on tokens and F1 of spans, from the sums over items."""

from __future__ import annotations

from agreement.coefficients.arithmetic import Step, short, summed
from agreement.coefficients.span_estimates import EXACT, OVERLAP, SPANS, WITHIN, SpanFigures


def unfold(figures: SpanFigures) -> list[Step]:
    """The steps to alpha on tokens, then the two F1 that stand beside it; empty where no item has two ratings.

    A token of an item with m ratings has m values, each the set of the labels that touch it; outside every span that
    is the empty set, whose count comes first.
    """
    if not figures.n:
        return []
    return [*_alpha(figures), *_f1(figures)]


def _alpha(figures: SpanFigures) -> list[Step]:
    counts = figures.values_of_tokens()
    n, unlike = float(sum(counts)), figures.total(WITHIN)
    if not n:
        return []
    observed = unlike / n
    matched = [f"{short(count)}·{short(count - 1)}" for count in counts if count]
    expected = 1.0 - sum(count * (count - 1.0) for count in counts) / (n * (n - 1.0)) if n > 1 else 0.0
    varies = sum(count > 0 for count in counts) > 1
    return [
        Step("D_o", "answers on a token paired with another one / answers", f"{short(unlike)} / {short(n)}", observed),
        Step(
            "D_e",
            "1 − sum of n_k (n_k − 1) / (n (n − 1))",
            f"1 − ({summed(matched)}) / ({short(n)}·{short(n - 1)})",
            expected if varies else 0.0,
        ),
        Step(
            "alpha",
            "1 − D_o / D_e",
            f"1 − {short(observed)} / {short(expected if varies else 0.0)}",
            1.0 - observed / expected if varies else None,
        ),
    ]


def _f1(figures: SpanFigures) -> list[Step]:
    spans = figures.total(SPANS)
    steps = []
    for symbol, key in (("exact F1", EXACT), ("overlap F1", OVERLAP)):
        matched = figures.total(key)
        value = 2.0 * matched / spans if spans else None
        numbers = f"2·{short(matched)} / {short(spans)}"
        steps.append(Step(symbol, "2 · spans that match / spans of the two, of all pairs", numbers, value))
    return steps
