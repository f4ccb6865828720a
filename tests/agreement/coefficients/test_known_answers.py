"""Every value of the reference, asked of `summarise` by its name, to the tolerance of its case."""

from typing import Any

import pytest

from tests.agreement.coefficients.known_answers import cases, near, summary_of


def row_name(row: dict[str, Any]) -> str:
    if "pair" in row:
        return "-".join(row["pair"])
    return str(row["rater"] if "rater" in row else row["label"])


def wrong(statistics: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """The statistics that are not the known ones."""
    found = {}
    for name, known in expected.items():
        got = statistics.get(name, {})
        if isinstance(got, list):
            values = {row_name(row): row.get("value") for row in got}
            right = set(values) == set(known["value"]) and all(
                near(values[key], known["value"][key], known["tol"]) for key in values
            )
            right = right and all(("undefined" in row) == ("value" not in row) for row in got)
        elif known["value"] is None:
            right = got.get("undefined") == known["undefined"] and "value" not in got
        else:
            right = near(got.get("value"), known["value"], known["tol"])
        if not right:
            found[name] = got
    return found


def test_reference_has_all_values() -> None:
    assert (len(cases()), sum(len(case["expected"]) for case in cases().values())) == (62, 1220)


@pytest.mark.parametrize("case_id", cases())
def test_every_value_is_the_known_one(case_id: str) -> None:
    assert wrong(summary_of(case_id)["statistics"], cases()[case_id]["expected"]) == {}


def test_a_wrong_value_a_wrong_reason_and_a_missing_row_are_found() -> None:
    expected = cases()["expert_baseline"]["expected"]
    statistics = dict(summary_of("expert_baseline")["statistics"])
    statistics["gwet_ac1"] = {"value": expected["gwet_ac1"]["value"] + 1e-6}
    statistics["expert_kappa_pooled"] = {"undefined": "no_pairs"}
    statistics["expert_kappa_per_rater"] = statistics["expert_kappa_per_rater"][1:]
    del statistics["conger_kappa"]

    assert list(wrong(statistics, expected)) == [
        "gwet_ac1",
        "conger_kappa",
        "expert_kappa_pooled",
        "expert_kappa_per_rater",
    ]
