"""Every value of the reference, asked of `summarise` by its name, to the tolerance of its case."""

import warnings
from functools import cache
from typing import Any

import pytest

from agreement.coefficients import summarise
from tests.agreement.coefficients.known_answers import cases, near, ratings_of

VALUES = [(case, name) for case, content in cases().items() for name in content["expected"]]


@cache
def statistics(case_id: str) -> dict[str, Any]:
    case = cases()[case_id]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return summarise(
            ratings_of(case),
            case["scale"],
            seed=1,
            interval=False,
            weights=case.get("disagreement_weights"),
            expert=case.get("expert"),
        )["statistics"]


def row_name(row: dict[str, Any]) -> str:
    if "pair" in row:
        return "-".join(row["pair"])
    return str(row["rater"] if "rater" in row else row["label"])


def test_reference_has_all_values() -> None:
    assert (len(cases()), len(VALUES)) == (62, 1220)


@pytest.mark.parametrize(("case_id", "name"), VALUES, ids=[f"{case}-{name}" for case, name in VALUES])
def test_value_is_the_known_one(case_id: str, name: str) -> None:
    expected = cases()[case_id]["expected"][name]
    got = statistics(case_id)[name]
    if isinstance(got, list):
        wrong = {
            row_name(row): row.get("value")
            for row in got
            if not near(row.get("value"), expected["value"][row_name(row)], expected["tol"])
        }
        assert (len(got), wrong) == (len(expected["value"]), {})
    elif expected["value"] is None:
        assert got["undefined"] == expected["undefined"]
    else:
        assert near(got["value"], expected["value"], expected["tol"]), got
