"""Sums of items with spans: their own kernel against the one text by text, and what resampling keeps."""

import random

import numpy as np
import pytest

from agreement.coefficients import spans
from agreement.coefficients.span_estimates import FEW_REPEATS
from agreement.coefficients.span_table import Item, SpanTable
from agreement.coefficients.spans import Document, Span
from tests.agreement.coefficients.known_answers import near

LABELS = ("A", "B")


def marked(rng: random.Random) -> tuple[Span, ...]:
    cuts = sorted(rng.sample(range(20), 6))
    return tuple(Span(a, b, rng.choice(LABELS)) for a, b in zip(cuts[::2], cuts[1::2], strict=True))


def documents(n: int) -> list[Document]:
    rng = random.Random(n)
    return [Document(20, marked(rng), marked(rng) if rng.random() < 0.6 else ()) for _ in range(n)]


def table(found: list[Document], strata: int = 1) -> SpanTable:
    """One token a character, so that units of both kernels are the same."""
    made = SpanTable(LABELS)
    for place, each in enumerate(found):
        made.add(Item([(i, i + 1) for i in range(each.length)], {0: each.first, 1: each.second}), place % strata)
    return made


def test_figures_are_those_of_the_documents_one_by_one() -> None:
    found = documents(25)
    figures = table(found).figures()
    values = {key: figures.estimate(measure).value for key, measure in figures.whole().items()}

    assert near(values["exact_f1"], spans.exact_f1(found).value)
    assert near(values["boundary_f1"], spans.exact_f1(found, labels=False).value)
    assert near(values["overlap_f1"], spans.overlap_f1(found).value)
    assert near(values["label_agreement"], spans.label_agreement(found).value)
    assert near(values["token_f1"], spans.unit_f1(found, LABELS).value)


def test_order_of_items_and_of_raters_changes_nothing() -> None:
    found = documents(15)
    turned = [Document(each.length, each.second, each.first) for each in reversed(found)]

    first, second = (table(each).figures() for each in (found, turned))

    for key, measure in first.whole().items():
        assert near(first.estimate(measure).value, second.estimate(second.whole()[key]).value)
    assert table(found).ordered() == table(found[::-1]).ordered()


@pytest.mark.parametrize("repeats", [1, 3 * FEW_REPEATS], ids=["drawn item by item", "drawn row by row"])
def test_resampling_keeps_the_items_of_each_stratum(repeats: int) -> None:
    figures = table(documents(8) * repeats, strata=2).figures()

    drawn = figures.draw(np.random.default_rng(1), 200)

    for stratum in (0, 1):
        assert (drawn[:, figures.strata == stratum].sum(axis=1) == 4 * repeats).all()
    assert np.allclose(drawn.mean(axis=0), figures.weights, rtol=0.4)
