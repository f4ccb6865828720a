"""Pairs, persons beside the others, and who shares items with whom."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from agreement import rater_graph, rater_rows

LONG = "Zacharias-Maximilian Freiherr von und zu Hohenlohe-Langenburg"


def pair(one: str, other: str, n: int, same: int, **entry: Any) -> dict[str, Any]:
    kappa = {"value": 0.5, "n": n, "interval": [0.2, 0.8], **entry}
    return {"raters": [one, other], "n": n, "table": [[same, n - same], [0, 0]], "statistics": {"cohen_kappa": kappa}}


def result(*pairs: dict[str, Any], raters: str = "abc", **changes: Any) -> dict[str, Any]:
    labels = [{"key": "praise", "name": "Praise"}, {"key": "threat", "name": "Threat"}]
    return {
        "raters": list(raters),
        "labels": labels,
        "pairs": list(pairs),
        "headline": {"key": "krippendorff_alpha_nominal"},
        "minimum_n": 50,
        "ratings_per_item": 2,
        **changes,
    }


NAMES = {"a": "Anna", "b": "Ben", "c": LONG}


def test_pair_on_few_items_has_counts_and_no_figure() -> None:
    pairs = rater_rows.pairs(result(pair("a", "b", 20, 15), pair("a", "c", 19, 17)), NAMES, by_rater=True)

    assert [(row.n, row.few, row.figures[0].span is None) for row in pairs.rows] == [
        (20, "", False),
        (19, "too few for a figure; the same: 17 of 19", True),
    ]


def test_pair_on_few_items_shows_no_value() -> None:
    pairs = rater_rows.pairs(result(pair("a", "b", 19, 17)), NAMES, by_rater=True)

    said = render_to_string("agreement/_pair_rows.html", {"rows": pairs.rows, "axis": None})

    assert ("the same: 17 of 19" in said, ".50" in said, ".20 to .80" in said) == (True, False, False)


def test_sets_on_few_items_have_no_count_of_the_same() -> None:
    pairs = rater_rows.pairs(result(pair("a", "b", 19, 17), per_label=[{"label": "praise"}]), NAMES, by_rater=True)

    assert pairs.rows[0].few == "too few for a figure"


def test_pair_tables_are_kept_back() -> None:
    pairs = rater_rows.pairs(result(pair("a", "b", 40, 30)), NAMES, by_rater=False)

    assert pairs.rows[0].table is None


def test_person_beside_the_others_counts_every_shared_rating_once() -> None:
    found = rater_rows.raters(result(pair("a", "b", 40, 30), pair("a", "c", 20, 15), pair("b", "c", 5, 1)), NAMES)

    assert [(row.name, row.n, row.agreed) for row in found.rows] == [
        ("Anna", 60, 45),
        ("Ben", 45, 31),
        (LONG, 25, 16),
    ]


def test_person_below_the_minimum_has_counts_and_no_figure() -> None:
    found = rater_rows.raters(result(pair("a", "b", 40, 30), pair("a", "c", 20, 15)), NAMES)

    # Wilson's interval of 45 of 60 is .63 to .84.
    assert [row.figure and (row.figure.value, row.figure.interval) for row in found.rows] == [
        (".75", ".63 to .84"),
        None,
        None,
    ]


def test_person_whose_shared_ratings_are_not_items_is_told_why_there_is_no_interval() -> None:
    pairs = pair("a", "b", 60, 30), pair("a", "c", 60, 30)
    three, two = (rater_rows.raters(result(*pairs, ratings_per_item=n), NAMES).rows[0].figure for n in (3, 2))

    assert (three.value, three.interval, three.note) == (".50", "", "no interval: an item counts in several pairs")
    assert (bool(two.interval), two.note) == (True, "")


@pytest.mark.parametrize("changes", [{"raters": "ab"}, {"per_label": [{"label": "praise"}]}], ids=["two", "sets"])
def test_persons_are_left_out_where_they_would_say_nothing(changes) -> None:
    assert rater_rows.raters(result(pair("a", "b", 60, 30), **changes), NAMES) is None


def test_agreement_of_persons_needs_no_table_by_rater() -> None:
    kept = pair("a", "b", 60, 30, observed=0.5)
    del kept["table"]

    found = rater_rows.raters(result(kept), NAMES)

    assert [(row.n, row.agreed) for row in found.rows] == [(60, 30), (60, 30), (0, 0)]


def test_coverage_of_raters_that_hang_together() -> None:
    graph = rater_graph.coverage(result(pair("a", "b", 40, 30), pair("b", "c", 10, 5)), NAMES)

    assert graph.sentence.startswith("All 3 raters hang together")
    assert [(node.number, node.items, node.shares) for node in graph.nodes] == [
        (1, 40, [("Ben", 40)]),
        (2, 50, [("Anna", 40), (LONG, 10)]),
        (3, 10, [("Ben", 10)]),
    ]
    assert [(edge.n, edge.width) for edge in graph.edges] == [(40, 9.0), (10, 3.0)]


def test_coverage_names_the_groups_that_share_nothing() -> None:
    graph = rater_graph.coverage(result(pair("a", "b", 4, 4), raters="abc"), NAMES)

    assert f"2 groups that share no item: Anna, Ben; {LONG}." in graph.sentence


def test_coverage_of_many_raters_counts_in_the_table_only_and_stays_in_the_picture() -> None:
    people = "abcdefghijklmn"
    pairs = [pair(one, other, 3, 1) for one in people for other in people if one < other]

    graph = rater_graph.coverage(result(*pairs, raters=people), {})

    assert (len(graph.edges), graph.counted, len(graph.nodes[0].shares)) == (91, False, 13)
    assert all(0 < node.label_x < graph.size and 0 < node.label_y < graph.size for node in graph.nodes)


def test_ordered_scale_draws_the_kappa_with_the_protocols_weights() -> None:
    made = pair("a", "b", 40, 30)
    made["statistics"] |= {f"weighted_kappa_{each}": {"value": 0.6, "n": 40} for each in ("linear", "quadratic")}

    pairs = rater_rows.pairs(result(made), NAMES, by_rater=True, weights="quadratic")

    assert pairs.titles == ["Weighted kappa (quadratic weights)", "Cohen's kappa", "Weighted kappa (linear weights)"]
    assert [figure.span is None for figure in pairs.rows[0].figures] == [False, True, True]


def test_many_pairs_fold_those_with_few_items() -> None:
    people = "abcdef"
    found = [pair(one, other, 25 if one == "a" else 3, 2) for one in people for other in people if one < other]

    pairs = rater_rows.pairs(result(*found, raters=people), {}, by_rater=True)

    assert (len(pairs.rows), [row.n for row in pairs.shown], len(pairs.folded)) == (15, [25] * 5, 10)


def test_rater_10_stands_after_rater_2() -> None:
    numbers = {name: f"Rater {place}" for name, place in (("a", 10), ("b", 2), ("c", 1))}

    graph = rater_graph.coverage(result(pair("a", "b", 4, 4), pair("b", "c", 4, 4)), numbers)

    assert [node.title for node in graph.nodes] == ["Rater 1", "Rater 2", "3 Rater 10"]
