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
