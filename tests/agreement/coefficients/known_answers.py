"""The known answers: the reference files as Ratings, and how near a figure has to come."""

import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agreement.coefficients import Ratings, summarise

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "tests" / "reference"


@cache
def load(name: str) -> Any:
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


@cache
def cases() -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in load("agreement_cases.json")}


def extras(part: str) -> Any:
    return load("agreement_extras.json")[part]


def ratings_of(case: dict[str, Any]) -> Ratings:
    about = {"values": case.get("label_values"), "exchangeable": bool(case.get("exchangeable_raters"))}
    if case["kind"] == "table":
        return Ratings.from_table(case["table"], case["labels"], **about)
    if case["kind"] == "pairs":
        return Ratings.from_pairs(case["a"], case["b"], case["labels"], **about)
    return Ratings.from_matrix(case["matrix"], case["labels"], **about)


@cache
def summary_of(case_id: str) -> dict[str, Any]:
    """What `summarise` says of a case, with intervals of few replicates; made once, never changed, no warning given."""
    case = cases()[case_id]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return summarise(
            ratings_of(case),
            case["scale"],
            seed=1,
            replicates=20,
            weights=case.get("disagreement_weights"),
            expert=case.get("expert"),
        )


def near(got: float | None, value: float | None, tolerance: float = 1e-9) -> bool:
    """Both undefined, or |got - value| <= tolerance * max(1, |value|)."""
    if got is None or value is None:
        return got is value
    return abs(got - value) <= tolerance * max(1.0, abs(value))


def real_rows(name: str) -> list[dict[str, Any]]:
    """Real ratings, which are no part of the repository; without them the test is left out and says so."""
    folder = Path(os.environ.get("CONCORD_SHARED_DATA", ROOT.parent / "shared" / "data"))
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is missing: put the real ratings beside the repository or set CONCORD_SHARED_DATA")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
