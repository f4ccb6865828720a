import pytest

from agreement.coefficients import intervals
from tests.agreement.coefficients.known_answers import extras, near

WILSON = [(case["agree"], case["n"], *case["low_high"]) for case in extras("percent_agreement_wilson_95")["cases"]]


@pytest.mark.parametrize(("agree", "n", "low", "high"), WILSON)
def test_wilson_interval_is_the_known_one(agree: int, n: int, low: float, high: float) -> None:
    interval = intervals.wilson(agree, n)
    assert near(interval.low, low)
    assert near(interval.high, high)


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a share"):
        intervals.wilson(6, 5)


def test_fisher_interval_stays_below_one() -> None:
    interval = intervals.fisher_z(0.9, 0.08)
    assert interval is not None
    assert 0.5 < interval.low < 0.9 < interval.high < 1


def test_fisher_interval_says_nothing_at_one() -> None:
    assert intervals.fisher_z(1.0, 0.0) is None


# Newcombe 1998, table II, method 10.
@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_interval_is_the_published_one(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    interval = intervals.newcombe(first, second)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_newcombes_interval_turns_with_the_sides() -> None:
    one, other = intervals.newcombe((7, 30), (2, 25)), intervals.newcombe((2, 25), (7, 30))
    assert near(one.low, -other.high)
    assert near(one.high, -other.low)
