"""Numbers, pictures and sentences as the pages show them."""

import dataclasses
from datetime import timedelta

import pytest

from agreement import charts, report, runs, sentences
from agreement.charts import Reading
from agreement.models import Run
from annotations import conflicts
from projects.models import Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

LATER = NOW + timedelta(seconds=10)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.6123, ".61"),
        (1.0, "1.00"),
        (0.0, ".00"),
        (-0.05, "−.05"),
        (-1.25, "−1.25"),
        (0.998, ".998"),
        (0.99996, ".99996"),
        (-0.001, ".00"),
        (0.005, ".01"),
    ],
)
def test_number(value, text) -> None:
    assert charts.number(value) == text


def test_chart_breaks_at_a_major_only() -> None:
    readings = [Reading("wave 1", "1.x", 0.5), Reading("wave 2", "1.x", 0.6), Reading("wave 3", "2.x", 0.7)]

    chart = charts.versions(readings)

    xs = [mark.x for mark in chart.marks]
    assert (len(chart.breaks), [text for _, text in chart.groups]) == (1, ["1.x", "2.x"])
    assert xs[1] < chart.breaks[0] < xs[2]


def test_chart_axis_reaches_below_zero_where_a_value_does() -> None:
    chart = charts.versions([Reading("wave 1", "1.x", -0.1, low=-0.35, high=0.2)])

    assert [text for _, text in chart.ticks] == ["1.00", ".80", ".60", ".40", ".20", ".00", "−.20", "−.40"]
    assert all(0 <= y <= chart.base for y in (chart.marks[0].y, chart.marks[0].low_y, chart.marks[0].high_y))


def test_chart_keeps_its_ticks_few_however_low_a_value_is() -> None:
    chart = charts.versions([Reading("wave 1", "1.x", -4.0)])

    assert len(chart.ticks) <= 9


def test_chart_of_undefined_figures_has_no_point() -> None:
    chart = charts.versions([Reading("wave 1", "1.x", None, threshold=0.7)])

    assert ([mark.y for mark in chart.marks], len(chart.thresholds)) == ([None], 1)


def test_chart_of_nothing() -> None:
    assert charts.versions([]) is None


def test_rows_of_a_forest_plot_share_one_axis() -> None:
    axis, (low, none, high) = charts.forest([(0.2, 0.1, 0.3), (None, None, None), (0.9, 0.8, 1.0)], 0.5)

    assert none is None
    assert [text for _x, text in axis.ticks] == [".00", ".20", ".40", ".60", ".80", "1.00"]
    assert (axis.ticks[1][0], axis.ticks[5][0]) == (low.x, high.high_x)
    assert low.low_x < low.x < low.high_x < axis.reference < high.low_x < high.x < high.high_x < 100


def test_axis_of_a_forest_plot_holds_the_lowest_end_of_an_interval() -> None:
    axis, (span,) = charts.forest([(0.1, -0.35, 0.4)])

    assert (axis.ticks[0][1], 0 < axis.ticks[0][0] < span.low_x) == ("−.40", True)


def test_forest_plot_of_nothing_has_an_axis_from_0_to_1() -> None:
    axis, spans = charts.forest([])

    assert (axis.ticks[0][1], axis.ticks[-1][1], spans) == (".00", "1.00", [])


def test_chart_with_many_draws_is_wider_than_a_phone_and_never_squeezed() -> None:
    chart = charts.versions([Reading(f"wave {n}", "1.x", 0.5) for n in range(12)])

    assert chart.least_width == 12 * charts.MARK_WIDTH
    assert [mark.x for mark in chart.marks[:2]] == pytest.approx([100 / 24, 300 / 24], abs=0.01)


@pytest.mark.parametrize(("count", "tint"), [(0, 0), (1, 1), (50, 2), (100, 5)])
def test_heat(count, tint) -> None:
    assert charts.heat(count, 100) == tint


# -- of a run ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(version, lead, anna, ben) -> Run:
    said = [("praise", "praise")] * 6 + [("complaint", "complaint")] * 5 + [("praise", "complaint")] * 3
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in said], by=lead, closing="complete")
    return runs.compute(draw, at=LATER)[0]


def page_of(run: Run, *, by_rater: bool = True) -> report.Report:
    names = {str(member.uuid): member.name for member in Membership.objects.all()} if by_rater else {}
    return report.of(run, run.draw, names, by_rater=by_rater)


def changed(run: Run, **result) -> Run:
    run.result = {**run.result, **result}
    return run


@pytest.mark.django_db
def test_sentence_has_value_interval_n_and_people(run) -> None:
    entry = report.entry_of(run)
    entry |= {"value": 0.611, "interval": [0.524, 0.689], "n": 212}

    assert sentences.sentence(run) == "Cohen's kappa .61, 95 % between .52 and .69, on 212 items rated by 2 people."


@pytest.mark.django_db
def test_sentence_without_an_interval(run) -> None:
    report.entry_of(run).pop("interval")

    assert sentences.sentence(run) == "Cohen's kappa .59, on 14 items rated by 2 people."


@pytest.mark.django_db
def test_heat_by_rater_has_margins(run) -> None:
    heat = page_of(run).heat

    counts = [[cell.count for cell in cells] for _, cells, _ in heat.rows]
    assert (counts, heat.totals, [total for *_, total in heat.rows]) == (
        [[5, 0, 0], [3, 6, 0], [0, 0, 0]],
        [8, 6, 0],
        [5, 9, 0],
    )
    assert (heat.down, heat.across) == ("anna", "ben")


@pytest.mark.django_db
def test_heat_folds_where_who_said_which_is_kept_back(run) -> None:
    page = page_of(run, by_rater=False)

    counts = [[cell and cell.count for cell in cells] for _, cells, _ in page.heat.rows]
    assert (counts, page.heat.down, page.pairs.rows[0].table) == ([[5, None, None], [3, 6, None], [0, 0, 0]], "", None)


@pytest.mark.django_db
def test_labels_are_sorted_by_what_costs_most(run) -> None:
    rows_ = page_of(run).classes.rows

    assert [(row.label, row.uses, row.disputed) for row in rows_] == [
        ("complaint", [5, 8], 3),
        ("praise", [9, 6], 3),
        ("question", [0, 0], 0),
    ]
    assert rows_[2].specific.why.startswith("undefined: ")


@pytest.mark.django_db
def test_diagnostics_name_people_and_labels(run) -> None:
    numbers = {"label": "praise", "rater": run.result["raters"][1], "uses": 3}
    page = page_of(changed(run, diagnostics=[{"key": "one_sided_class", "numbers": numbers}]))

    assert page.diagnostics == ["Only ben used “praise” (uses: 3), so its agreement is 0."]


@pytest.mark.django_db
def test_comparison_of_versions(run) -> None:
    found = {"version": "0.9", "title": "Cohen's kappa", "value": 0.21, "interval": [0.08, 0.34]}

    assert sentences.comparisons(changed(run, difference=found)) == [
        "1.0 minus 0.9: +.21, 95 % between .08 and .34; Cohen's kappa."
    ]


@pytest.mark.django_db
def test_named_coefficient_that_is_refused_is_told(run) -> None:
    chosen = {**run.result["headline"], "named": "fleiss_kappa", "refused": None}

    reasons = page_of(changed(run, headline=chosen)).reasons

    assert reasons == [
        "Cohen's kappa: Two raters rated every item with unordered labels.",
        "The protocol names Fleiss' kappa, which is not given. Its conditions do not hold for these ratings.",
    ]


@pytest.mark.django_db
def test_one_class_only_says_what_is_one_by_definition(version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "praise"}] * 4, by=lead, closing="complete")
    page = page_of(runs.compute(draw, at=LATER)[0])

    notes = {figure.title: figure.note for figure in page.beside if figure.note}
    assert (page.figure.value, page.figure.why[:20]) == ("", "undefined: Only one ")
    assert notes == dict.fromkeys(["Gwet's AC1", "Brennan-Prediger kappa"], "no class variation: 1 by definition")


@pytest.mark.django_db
def test_arithmetic_ends_at_the_value(run) -> None:
    steps = page_of(run).arithmetic

    assert [step["symbol"] for step in steps] == ["p_o", "p_e", "kappa"]
    assert float(steps[-1]["value"]) == pytest.approx(report.entry_of(run)["value"], abs=1e-4)


@pytest.mark.django_db
def test_arithmetic_of_several_raters_ends_at_alpha(version, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "praise", cara: "complaint"}, {anna: "praise", ben: "complaint"}, {anna: "question"}]
    draw = rows.draw(version, [*said, {ben: "question", cara: "question"}], by=lead, needed=3, closing="short")
    run = runs.compute(draw, at=LATER)[0]

    steps = page_of(run).arithmetic

    assert [step["symbol"] for step in steps] == ["D_o", "D_e", "alpha"]
    assert float(steps[-1]["value"]) == pytest.approx(report.entry_of(run)["value"], abs=1e-4)


@pytest.mark.django_db
def test_nothing_of_a_report_is_nan(run) -> None:
    words = repr(dataclasses.asdict(page_of(run))).lower()

    assert ("nan," in words, "nan'" in words, "inf," in words) == (False, False, False)


@pytest.mark.django_db
def test_undecided_names_draw_and_question(run) -> None:
    before = report.undecided([run.draw])
    conflicts.open_cases(run.draw, at=LATER)

    assert (before, report.undecided([run.draw])) == (set(), {(run.draw_id, "intent")})


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.123, "+.12"), (-0.123, "−.12"), (0.001, ".00"), (-0.001, ".00"), (0.0, ".00"), (1.2, "+1.20")],
)
def test_a_difference_has_a_sign_unless_it_rounds_to_nothing(value: float, shown: str) -> None:
    assert charts.signed(value) == shown
