"""What a page shows of sets, spans, an expert, an enriched draw and merged labels: from plain results, no database."""

from typing import Any
from uuid import UUID

import pytest
from django.template.loader import render_to_string

from agreement import confusions, methods, people, reasons, report
from agreement.models import Run
from annotations.models import Draw, Wave
from projects.models import GuidelineVersion, Project
from tests.agreement import rows, tables
from tests.agreement.tables import ANNA, BEN, CARA
from tests.factories import NOW

NAMES = {str(ANNA.uuid): "Anna", str(BEN.uuid): "Ben", str(CARA.uuid): "Cara"}
TEXT = "The list is fast, the map is slow."


def page(result: dict[str, Any], *, by_rater: bool = True, unnamed: UUID | None = None) -> report.Report:
    """The page of a result; of the draw `unnamed` as one reads it who is told no names."""
    wave = Wave(number=1, major=1, size=99, version=GuidelineVersion(major=1, minor=0), project=Project(name="A"))
    draw = Draw(uuid=unnamed or tables.DRAW, wave=wave, state="closed", size=result["drawn"], protocol=rows.protocol())
    run = Run(draw=draw, question_key="intent", result=result, engine="9", digest="0" * 64, created_at=NOW)
    names = people.pseudonyms(draw, result["raters"]) if unnamed else NAMES
    return report.of(run, draw, names, by_rater=by_rater)


SETS = [
    ((["list"], ["list"]), "", 12),
    ((["map"], ["list"]), "", 4),
    (([], ["map"]), "", 3),
    ((["map"], ["map"]), "", 9),
]


def span(start: int, end: int, label: str) -> dict[str, Any]:
    return {"field": "text", "start": start, "end": end, "label": label}


SPANS = [
    (([span(0, 16, "praise")], [span(0, 16, "praise")], TEXT), "", 1),
    (([span(18, 34, "fault")], [span(18, 33, "fault")], TEXT), "", 1),
    (([span(18, 34, "fault")], [span(18, 34, "praise")], TEXT), "", 1),
]
LABELS = ("complaint", "praise", "question")
SAID = [
    (("complaint", "complaint"), "mail", 30),
    (("praise", "praise"), "chat", 20),
    (("complaint", "praise"), "mail", 9),
    (("praise", "question"), "chat", 2),
]


def test_sets_have_a_table_of_labels_with_the_most_disputed_first() -> None:
    shown = page(tables.result("multilabel", ["list", "map"], SETS))

    assert [(row.label, row.both, row.one, row.neither) for row in shown.per_label] == [
        ("Map", 9, 7, 12),
        ("List", 12, 4, 12),
    ]
    assert [(row.label, row.disputed) for row in shown.classes.rows] == [("Map", 7), ("List", 4)]
    assert (shown.classes.title, shown.merges, shown.expert) == ("kappa of the label", [], None)


def test_sets_say_what_a_cell_of_their_table_counts() -> None:
    named = page(tables.result("multilabel", ["list", "map"], SETS)).heat
    folded = page(tables.result("multilabel", ["list", "map"], SETS), by_rater=False).heat

    assert named.caption.startswith("On the diagonal both people gave the label")
    assert named.caption.endswith("Down: Anna; across: Ben.")
    assert ("Anna" in folded.caption, folded.folded) == (False, True)


def test_sets_have_their_own_statistics_beside() -> None:
    titles = [each.title for each in page(tables.result("multilabel", ["list", "map"], SETS)).beside]

    assert len(titles) == len(set(titles))
    assert any("Jaccard" in title for title in titles)
    assert not any("_" in title for title in titles)


def test_spans_say_what_they_are_counted_on() -> None:
    shown = page(tables.result("spans", ["praise", "fault"], SPANS))

    assert shown.units.startswith("Alpha compares 30 tokens, ")
    assert [(row.label, row.neither) for row in shown.per_label] == [("Fault", None), ("Praise", None)]
    assert any("tokenisation" in sentence for sentence in shown.cannot_tell)
    assert shown.against_rest is None


def test_merged_labels_show_what_a_higher_figure_costs() -> None:
    first = page(tables.result("nominal", LABELS, SAID)).merges[0]

    assert (first.labels, first.confused, first.percent) == ("Complaint / Praise", 9, "82")
    assert first.before.value == page(tables.result("nominal", LABELS, SAID)).figure.value
    assert first.merged.value or first.merged.why


def test_enriched_draw_has_both_readings_side_by_side() -> None:
    sizes = {"mail": (100, 39), "chat": (5000, 22)}
    shown = page(tables.result("nominal", LABELS, SAID, sizes=sizes))

    assert shown.weighting is not None
    assert (shown.weighting.as_drawn.value, bool(shown.weighting.weighted.value)) == (shown.figure.value, True)
    assert shown.weighting.weighted.value != shown.weighting.as_drawn.value
    assert {row["stratum"] for row in shown.weighting.strata} == {"mail", "chat"}


def test_expert_is_named_and_every_other_rater_stands_beside_them() -> None:
    said = [((a, b, a if n % 2 else b), "", n) for (a, b), _stratum, n in SAID]
    shown = page(tables.result("nominal", LABELS, said, expert=str(BEN.uuid)))

    assert shown.expert is not None
    assert shown.expert.sentence.startswith("Ben is the expert of this draw and rated 61 items of it.")
    assert [(each.title, [row.title for row in each.rows]) for each in shown.expert.lists] == [
        ("Cohen's kappa of each rater with the expert", ["Anna", "Cara"])
    ]
    assert not any("expert" in each.title for each in shown.beside)


def test_expert_is_a_number_to_those_who_may_still_decide() -> None:
    said = [((a, b, a if n % 2 else b), "", n) for (a, b), _stratum, n in SAID]
    shown = page(tables.result("nominal", LABELS, said, expert=str(BEN.uuid)), by_rater=False)

    assert shown.expert is not None
    assert not [name for name in ("Anna", "Ben", "Cara") if name in repr(shown)]


@pytest.mark.parametrize("part", ["weighting", "merged", "expert", "units", "per_label", "titles", "level"])
def test_older_result_without_a_part_still_shows(part) -> None:
    result = tables.result("nominal", LABELS, SAID)
    result.pop(part, None)

    shown = page(result)

    assert shown.sentence.startswith("Cohen's kappa .")
    assert [row.label for row in shown.classes.rows] == ["Praise", "Complaint", "Question"]


def test_cells_lead_to_one_address_both_ways_round() -> None:
    shown = page(tables.result("nominal", LABELS, SAID)).heat
    urls = {cell.url for _label, cells, _total in shown.rows for cell in cells if isinstance(cell, confusions.Cell)}

    assert sorted(url.rsplit("/cell/")[1] for url in urls if url) == [
        "complaint/complaint/",
        "complaint/praise/",
        "praise/praise/",
        "praise/question/",
    ]


def test_people_of_one_role_stand_apart_from_the_strata() -> None:
    result = tables.result("nominal", LABELS, SAID, sizes={"mail": (39, 39), "chat": (22, 22)})
    entry = {"n": 12, "value": 0.5, "interval": [0.2, 0.7]}
    result["strata"].append({"stratum": "lead", "by": "role", "raters": list(NAMES), "key": "cohen_kappa", **entry})

    shown = page(result)

    assert [row.figure.title for row in shown.strata.rows] == ["mail", "chat"]
    assert [(row.figure.title, row.figure.value) for row in shown.roles.rows] == [("Lead", ".50")]


RATED = [(("bad", "bad"), "", 20), (("fair", "good"), "", 12), (("good", "good"), "", 20), (("fair", "bad"), "", 9)]
NEAR_MISS = "a near miss as much as a far one"


def of_scale(task_type: str = "ordinal", **rule: Any) -> report.Report:
    return page(tables.result(task_type, ["bad", "fair", "good"], RATED, values=[1, 2, 3], rule=rule))


def test_ordered_scale_says_which_of_the_others_know_no_order() -> None:
    ordered, unordered = of_scale(weights="linear"), of_scale("nominal")

    (said,) = [sentence for sentence in ordered.beside_said if NEAR_MISS in sentence]
    assert said.endswith(": " + ", ".join(each.title for each in ordered.beside if each.title in said) + ".")
    assert ["Cohen's kappa" in said, "Gwet's AC1" in said, "Weighted" in said] == [True, True, False]
    assert NEAR_MISS not in " ".join([*ordered.reasons, *unordered.reasons, *unordered.beside_said])


def test_headline_that_knows_no_order_says_so_beside_itself() -> None:
    shown = of_scale(coefficient="cohen_kappa")

    assert shown.reasons[-1] == f"The labels are ordered, and this counts {NEAR_MISS}."
    assert shown.beside_said[0].startswith("Each is named as what it is. The headline was declared")


def test_headline_by_the_rule_was_not_declared_itself() -> None:
    said = of_scale("nominal").beside_said[0]

    assert ("the rule declared before the first rating" in said, "headline was declared" in said) == (True, False)


def test_smoothed_intervals_are_marked_in_their_rows_and_told_in_the_method() -> None:
    large = [
        (("complaint", "complaint"), "mail", 90),
        (("praise", "praise"), "mail", 80),
        (("complaint", "praise"), "mail", 20),
    ]
    small = [(("complaint", "complaint"), "chat", 8), (("praise", "complaint"), "chat", 4)]
    result = tables.result("nominal", LABELS, [*large, *small], sizes={"chat": (12, 12), "mail": (190, 190)})

    shown = page(result)

    assert {row.figure.title: row.figure.smoothed for row in shown.strata.rows} == {"chat": True, "mail": False}
    assert (shown.figure.smoothed, shown.strata.smoothed, shown.pairs.smoothed) == (False, True, False)
    assert any("An interval marked “smoothed” in the tables" in sentence for sentence in shown.method)
    said = render_to_string("agreement/_strata.html", {"strata": shown.strata, "prefix": "", "part": "strata"})
    assert (said.count(">smoothed</small>"), said.count("Smoothed: a bootstrap")) == (1, 1)


def test_coefficients_are_written_in_one_way_on_a_page() -> None:
    shown = page(tables.result("nominal", ("complaint", "praise"), [*SAID[:3], (("praise", "complaint"), "mail", 1)]))

    words = " ".join([*shown.diagnostics, shown.agreement, shown.sentence])
    steps = " ".join(f"{step['numbers']} {step['value']}" for step in shown.arithmetic)
    assert ("kappa can be at most ." in words, " 0." in words, " 0." in f" {steps}") == (True, False, False)
    assert (reasons.bare("-0.05"), reasons.bare("1 − 0.5 / 10.25")) == ("−.05", "1 − .5 / 10.25")


def test_unnamed_raters_stand_on_either_side_of_the_table_in_different_draws() -> None:
    result = tables.result("nominal", LABELS, SAID)
    shown = [page(result, unnamed=UUID(int=n)) for n in range(1, 21)]

    assert {(each.heat.down, each.heat.across, *each.raters) for each in shown} == {("Rater 1", "Rater 2") * 2}
    # Anna's nine complaints are Ben's praise: the cell is on either side of the diagonal.
    assert {each.heat.rows[0][1][1].count for each in shown} == {9, 0}
    assert {each.pairs.rows[0].table[0][1][1] for each in shown} == {9, 0}


def test_spans_have_nothing_bare_on_their_page() -> None:
    shown = page(tables.result("spans", ["praise", "fault"], SPANS))

    assert shown.agreement.startswith("Observed agreement of tokens ")
    assert [step["symbol"] for step in shown.arithmetic] == ["D_o", "D_e", "alpha", "exact F1", "overlap F1"]
    assert any("one pseudo-item: alike, with other labels" in sentence for sentence in shown.method)
    assert shown.figure.smoothed


def test_spans_with_an_expert_have_everybody_beside_them() -> None:
    rows = [((*answers[:2], answers[1], answers[-1]), stratum, n) for answers, stratum, n in SPANS]
    shown = page(tables.result("spans", ["praise", "fault"], rows, expert=str(CARA.uuid)))

    assert shown.expert is not None
    assert [figure.title for figure in shown.expert.figures] == [
        "F1 with the expert of spans with the same borders and label",
        "F1 with the expert of spans that overlap by more than half, whatever the label",
        "F1 with the expert of tokens inside spans, with their label",
    ]
    exact = shown.expert.lists[0]
    assert exact.title == "F1 of each rater with the expert, spans with the same borders and label"
    assert [(row.title, row.value) for row in exact.rows][1] == ("Ben", "1.00")
    assert not any("expert" in each.title for each in shown.beside)


def test_sets_with_an_expert_have_the_whole_set_and_the_reason_of_a_label_nobody_used() -> None:
    found = tables.result("multilabel", ["list", "map", "menu"], SETS, expert=str(BEN.uuid))
    shown = page(found)

    assert shown.expert is not None
    assert [(each.title, each.value) for each in shown.expert.figures] == [
        ("Exact-set agreement with the expert (the very same labels)", ".75")
    ]
    by_rater = {each.title: [(row.title, row.value) for row in each.rows] for each in shown.expert.lists}
    assert by_rater["Exact-set agreement of each rater with the expert"] == [("Anna", ".75")]
    unused = shown.expert.lists[0].rows[2]
    assert (unused.title, unused.why.startswith("undefined: Nobody used this label")) == ("Menu", True)


def test_arithmetic_says_why_numbers_are_left_out_for_whom_reads_raters_by_number() -> None:
    result = tables.result("nominal", LABELS, SAID)
    named, unnamed = page(result), page(result, unnamed=UUID(int=7))

    assert named.arithmetic_note == ""
    assert [step["numbers"] for step in unnamed.arithmetic].count("left out") == 1
    assert unnamed.arithmetic_note.startswith("Left out: what sets the totals of the one rater beside")


def test_method_says_how_percent_agreement_has_its_interval() -> None:
    two = page(tables.result("nominal", LABELS, SAID)).method
    said = [((a, b, a if n % 2 else b), "", n) for (a, b), _stratum, n in SAID]
    three = page(tables.result("nominal", LABELS, said)).method

    assert any("Wilson’s, as each item has two ratings" in sentence for sentence in two)
    assert any("of items drawn anew, as those with more ratings than two" in sentence for sentence in three)


def test_label_of_a_set_by_three_people_has_an_alpha_and_is_called_so() -> None:
    rows = [((a, b, a), stratum, n) for (a, b), stratum, n in SETS]

    assert page(tables.result("multilabel", ["list", "map"], rows)).classes.title == "alpha of the label"
    assert page(tables.result("spans", ["praise", "fault"], SPANS)).classes.title == "alpha of the label, on tokens"


def test_methods_paragraph_of_spans_has_their_f1_beside_alpha() -> None:
    said = methods.beside(tables.result("spans", ["praise", "fault"], SPANS))
    nothing = methods.beside(tables.result("spans", ["praise", "fault"], [(([], [], TEXT), "", 1)]))

    assert (said, nothing) == (", with an exact F1 of .33 and an overlap F1 of 1.00", "")
