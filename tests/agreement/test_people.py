"""Names, numbers in their place, and what is kept back from those who may still decide."""

import json
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from agreement import people

DRAW = SimpleNamespace(uuid=UUID(int=7))
ANNA, BEN, CARA = (str(UUID(int=n)) for n in (1, 2, 3))


def pair(one: str, other: str, n: int) -> dict:
    return {"raters": [one, other], "n": n, "table": [[n, 0], [0, 0]], "statistics": {"cohen_kappa": {"n": n}}}


def result() -> dict:
    return {
        "raters": [ANNA, BEN, CARA],
        "uses": [[4, 1], [2, 3], [0, 5]],
        "table": [[4, 0], [0, 1]],
        "labels": [{"key": "praise"}, {"key": "complaint"}],
        "pairs": [pair(ANNA, BEN, 4), pair(ANNA, CARA, 2), pair(BEN, CARA, 1)],
        "per_label": [{"label": "praise", "both": 3, "one": 1, "table": [[3, 1], [0, 2]]}],
        "skips": [{"rater": BEN, "reason": "other", "n": 1}],
        "diagnostics": [{"key": "one_sided_class", "numbers": {"label": "praise", "rater": ANNA, "uses": 3}}],
        "statistics": {"pairwise_cohen_kappa": [{"pair": [ANNA, BEN], "value": 0.5, "n": 4}]},
    }


def test_pseudonyms_are_lasting_and_differ_by_draw() -> None:
    raters = [str(UUID(int=n)) for n in range(12)]
    here, again = people.pseudonyms(DRAW, raters), people.pseudonyms(DRAW, reversed(raters))
    elsewhere = people.pseudonyms(SimpleNamespace(uuid=UUID(int=8)), raters)

    assert (here, sorted(here.values())) == (again, sorted(f"Rater {n}" for n in range(1, 13)))
    assert here != elsewhere


def test_kept_back_result_names_nobody_anywhere() -> None:
    text = json.dumps(people.kept_back(result(), DRAW))

    assert [rater in text for rater in (ANNA, BEN, CARA)] == [False, False, False]


def test_kept_back_result_says_of_nobody_which_label_they_use() -> None:
    kept = people.kept_back(result(), DRAW)

    assert ("table" in kept, [set(row) for row in kept["pairs"]]) == (False, [{"raters", "n", "statistics"}] * 3)
    assert (kept["uses"], set(kept["per_label"][0])) == ([[6, 9]], {"label", "both", "one"})


def test_kept_back_result_does_not_stand_in_the_order_of_the_members() -> None:
    kept = people.kept_back(result(), DRAW)

    assert kept["raters"] == ["Rater 1", "Rater 2", "Rater 3"]
    assert [sorted(row["raters"]) for row in kept["pairs"]] == [
        ["Rater 1", "Rater 2"],
        ["Rater 1", "Rater 3"],
        ["Rater 2", "Rater 3"],
    ]


def test_kept_back_result_keeps_its_figures() -> None:
    kept, named = people.kept_back(result(), DRAW), people.pseudonyms(DRAW, [ANNA, BEN, CARA])
    sizes = {frozenset(row["raters"]): row["n"] for row in kept["pairs"]}

    assert sizes[frozenset((named[ANNA], named[BEN]))] == 4
    assert kept["statistics"]["pairwise_cohen_kappa"][0]["value"] == 0.5


def renamed(*raters: str, **more: Any) -> dict[str, Any]:
    """The result under numbers that run against the order of the members."""
    numbers = {rater: f"Rater {place}" for place, rater in enumerate(reversed(raters), start=1)}
    return people.renamed({**result(), **more}, numbers)


def test_unnamed_result_stands_in_the_order_of_the_numbers() -> None:
    shown = renamed(ANNA, BEN, CARA)

    assert (shown["raters"], shown["uses"]) == (["Rater 1", "Rater 2", "Rater 3"], [[0, 5], [2, 3], [4, 1]])
    assert [(row["raters"], row["n"]) for row in shown["pairs"]] == [
        (["Rater 1", "Rater 2"], 1),
        (["Rater 1", "Rater 3"], 2),
        (["Rater 2", "Rater 3"], 4),
    ]


def test_tables_of_two_unnamed_raters_are_turned_with_them() -> None:
    table, turned = [[4, 1], [0, 2]], [[4, 0], [1, 2]]
    two = {"raters": [ANNA, BEN], "uses": [[5, 2], [4, 3]], "table": table, "per_label": [{"table": table}]}
    shown = renamed(ANNA, BEN, **two, pairs=[{**pair(ANNA, BEN, 7), "table": table}])

    assert (shown["table"], shown["per_label"][0]["table"], shown["uses"]) == (turned, turned, [[4, 3], [5, 2]])
    assert (shown["pairs"][0]["raters"], shown["pairs"][0]["table"]) == (["Rater 1", "Rater 2"], turned)


def test_unnamed_result_does_not_tell_first_from_second() -> None:
    found = [
        {"key": "bias_index", "numbers": {"value": 0.3}},
        {"key": "far_pair", "numbers": {"first": ANNA, "second": BEN, "value": 0.1}},
    ]
    steps = [{"symbol": "p_e", "formula": "sum of row total · column total / n²", "numbers": "5·4", "value": 0.4}]
    index = {"bias_index": {"value": 0.3, "interval": [0.1, 0.4], "n": 7}}
    two = {"raters": [ANNA, BEN], "uses": [[5, 2], [4, 3]], "statistics": index}
    shown = renamed(ANNA, BEN, **two, diagnostics=found, arithmetic=steps)

    assert [each["numbers"] for each in shown["diagnostics"]] == [
        {"value": -0.3},
        {"first": "Rater 1", "second": "Rater 2", "value": 0.1},
    ]
    assert (shown["arithmetic"][0]["numbers"], shown["arithmetic"][0]["value"]) == ("", 0.4)
    assert shown["statistics"]["bias_index"] == {"value": -0.3, "interval": [-0.4, -0.1], "n": 7}
