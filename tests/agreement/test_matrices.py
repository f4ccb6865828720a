"""Rows to rating patterns."""

import logging
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement import matrices, patterns
from agreement.coefficients import COEFFICIENTS
from annotations.models import Annotation, Draw, WaveItem
from projects.models import GuidelineVersion, Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def matrix_of(draw: Draw, key: str = "intent", at=NOW) -> matrices.Matrix:
    question = next(question for question in matrices.questions(draw) if question.key == key)
    return matrices.of(draw, question, by=matrices.raters(draw), at=at)


def counted(draw: Draw, at=NOW) -> dict[tuple[str | None, ...], float]:
    """Pattern of labels -> items."""
    ratings = matrix_of(draw, at=at).ratings
    named = [tuple(None if code < 0 else ratings.labels[code] for code in row) for row in ratings.codes]
    return dict(zip(named, ratings.weights.tolist(), strict=True))


def value(draw: Draw, key: str) -> float | None:
    return COEFFICIENTS[key].function(matrix_of(draw).ratings).value


def test_of_counts_equal_patterns(version: GuidelineVersion, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}] * 3 + [{anna: "praise", ben: "complaint"}] * 2

    draw = rows.draw(version, said, by=lead, closing="complete")

    assert counted(draw) == {("praise", "praise"): 3.0, ("praise", "complaint"): 2.0}


def test_of_names_raters_and_labels(version: GuidelineVersion, lead, anna, ben) -> None:
    matrix = matrix_of(rows.draw(version, [{ben: "praise", anna: "praise"}], by=lead, closing="complete"))

    assert (matrix.ratings.raters, matrix.ratings.labels) == (
        (str(anna.uuid), str(ben.uuid)),
        ("complaint", "praise", "question"),
    )


def test_rotating_pairs_are_matched_by_member(version: GuidelineVersion, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    pairs = [(anna, ben), (ben, cara), (cara, anna)]
    said = [
        {first: label, second: label} for first, second in pairs * 3 for label in ("praise", "complaint", "question")
    ]

    draw = rows.draw(version, said, by=lead, closing="complete")

    keys = ["krippendorff_alpha_nominal", "mean_pairwise_cohen_kappa", "pooled_pairwise_cohen_kappa"]
    assert [value(draw, key) for key in keys] == [1.0, 1.0, 1.0]


def test_order_of_submitting_changes_nothing(version: GuidelineVersion, lead, anna, ben) -> None:
    """One asks first on every other item: by position the figure would be another one."""
    answers = [("praise", "complaint"), ("praise", "praise"), ("complaint", "complaint"), ("question", "praise")]
    straight = [{anna: a, ben: b} for a, b in answers]
    turned = [{anna: a, ben: b} if i % 2 else {ben: b, anna: a} for i, (a, b) in enumerate(answers)]

    first = rows.draw(version, straight, by=lead, closing="complete")
    second = rows.draw(version, turned, by=lead, closing="complete")

    assert counted(first) == counted(second)


def test_surplus_is_not_measured(version: GuidelineVersion, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    draw = rows.draw(version, [{anna: "praise", ben: "complaint"}], by=lead, closing="complete")
    before = counted(draw)

    rows.rate(draw, draw.wave_items.get(), cara, "praise", measured=False)

    assert counted(draw) == before


def test_open_draw_has_complete_items_only(version: GuidelineVersion, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}, {anna: "complaint"}]

    draw = rows.draw(version, said, by=lead)

    assert counted(draw) == {("praise", "praise"): 1.0}


def test_open_draw_waits_for_windows(version: GuidelineVersion, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise"}, {anna: "praise"}], by=lead)
    later = NOW + timedelta(minutes=30)
    rows.rate(draw, draw.wave_items.first(), ben, "praise", window_ends=later)
    rows.rate(draw, draw.wave_items.last(), ben, "complaint", window_ends=NOW)

    assert (counted(draw), counted(draw, at=later)) == (
        {("praise", "complaint"): 1.0},
        {("praise", "complaint"): 1.0, ("praise", "praise"): 1.0},
    )


def test_closed_draw_keeps_single_ratings(version: GuidelineVersion, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}, {anna: "complaint"}]

    draw = rows.draw(version, said, by=lead, size=5, closing="short")

    assert counted(draw) == {("praise", "praise"): 1.0, ("complaint", None): 1.0}


def test_third_rating_does_not_move_a_pair(version: GuidelineVersion, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "complaint"}, {anna: "praise", ben: "praise"}, {anna: "complaint", ben: "complaint"}]
    draw = rows.draw(version, said, by=lead, closing="complete")
    before = value(draw, "cohen_kappa")
    rows.rate(draw, draw.wave_items.first(), cara, "praise", measured=False)

    assert value(draw, "cohen_kappa") == before


def test_optional_answer_is_missing_for_its_question_only(version: GuidelineVersion, lead, anna, ben) -> None:
    factories.question(version, "tone", ("calm", "angry"), required=False)
    both, one = {"intent": "praise", "tone": "calm"}, {"intent": "praise"}

    draw = rows.draw(version, [{anna: both, ben: one}, {anna: one, ben: one}], by=lead, closing="complete")

    tone = matrix_of(draw, "tone").ratings
    assert (counted(draw), tone.codes.tolist(), tone.weights.tolist()) == (
        {("praise", "praise"): 2.0},
        [[0, -1]],
        [1.0],
    )


def test_label_keys_that_look_like_numbers_stay_words(version: GuidelineVersion, lead, anna, ben) -> None:
    factories.question(version, "step", ("1", "2", "true"), task_type="ordinal")
    said = [{anna: {"step": "1"}, ben: {"step": "true"}}]

    ratings = matrix_of(rows.draw(version, said, by=lead, closing="complete"), "step").ratings

    assert ratings.codes.tolist() == [[0, 2]]


def test_unknown_value_is_logged_and_counted(version: GuidelineVersion, lead, anna, ben, caplog) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "threat"}, {anna: "praise", ben: "praise"}], by=lead)
    row = Annotation.objects.filter(draw=draw).last()
    row.answers = {"intent": 1}
    row.save()

    with caplog.at_level(logging.ERROR):
        found = matrix_of(draw).unknown

    assert found == (('"threat"', 1), ("1", 1))
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_strata_come_along(version: GuidelineVersion, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}, {anna: "praise", ben: "praise"}, {anna: "praise", ben: "complaint"}]

    draw = rows.draw(version, said, by=lead, closing="complete", strata=["web", "shop", "web"], strata_field="source")
    matrix = matrix_of(draw)

    assert (matrix.strata, matrix.in_stratum(0).weights.tolist(), matrix.in_stratum(1).weights.sum()) == (
        ("shop", "web"),
        [1.0],
        2.0,
    )


def test_strata_drawn_at_unequal_rates_carry_their_population(version: GuidelineVersion, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}] * 10
    strata = ["rare"] * 10 + ["common"] * 40

    draw = rows.draw(version, said, by=lead, closing="complete", strata=strata, singles=40, strata_field="source")

    assert matrix_of(draw).ratings.populations == (40.0, 10.0)


def test_many_raters_give_the_same_table(version: GuidelineVersion, lead, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [factories.member(version.project, f"rater{i}") for i in range(5)]
    labels = ["complaint", "praise", "question"]
    said = [
        {people[i % 5]: labels[i % 3], people[(i + 1 + i // 5) % 5]: labels[(i // 2) % 3]}
        for i in range(15)
        if (1 + i // 5) % 5
    ]
    draw = rows.draw(version, said, by=lead, size=20)
    by_rater = counted(draw)

    monkeypatch.setattr(patterns, "MOST_COLUMNS", 2)
    by_place = counted(draw)
    monkeypatch.setattr(patterns, "MOST_RATINGS", 1)

    assert (by_place, counted(draw)) == (by_rater, by_rater)


@pytest.mark.parametrize("open_", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("strata", [True, False], ids=["strata", "one stratum"])
def test_every_way_of_counting_gives_the_same_table(version, lead, monkeypatch, open_, strata) -> None:
    people = [factories.member(version.project, f"rater{i}") for i in range(4)]
    labels = ["complaint", "praise", "question"]
    said = [{people[(i + j) % 4]: labels[(i * j) % 3] for j in range(1 + i % 3)} for i in range(24)]
    about = {"strata": ["web", "shop"] * 12, "strata_field": "source"} if strata else {}
    draw = rows.draw(version, said, by=lead, needed=3, closing="" if open_ else "short", **about)

    def table() -> list[object]:
        ratings = matrix_of(draw).ratings
        where = ratings.strata if ratings.strata is not None else [0] * len(ratings.weights)
        return sorted(zip(where, ratings.codes.tolist(), ratings.weights.tolist(), strict=True))

    by_rater = table()
    monkeypatch.setattr(patterns, "MOST_COLUMNS", 2)
    by_place = table()
    monkeypatch.setattr(patterns, "MOST_RATINGS", 1)

    assert (by_place, table()) == (by_rater, by_rater)
    assert sum(weight for *_, weight in by_rater) == (8 if open_ else 24)


def test_one_query_whatever_the_number_of_items(version: GuidelineVersion, lead, anna, ben) -> None:
    def queries(items: int) -> int:
        draw = rows.draw(version, [{anna: "praise", ben: "praise"}] * items, by=lead, closing="complete")
        question, raters = matrices.questions(draw)[0], matrices.raters(draw)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            matrices.of(draw, question, by=raters, at=NOW)
        return len(captured)

    assert (queries(1), queries(30)) == (1, 1)


def test_pooled_matches_people_and_keeps_draws_apart(version: GuidelineVersion, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    first = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead, closing="complete")
    second = rows.draw(version, [{ben: "praise", cara: "complaint"}], by=lead, closing="complete")

    table = matrices.pooled([matrix_of(first), matrix_of(second)])

    place = {name: i for i, name in enumerate(table.raters)}
    found = [[int(row[place[str(m.uuid)]]) for m in (anna, ben, cara)] for row in table.codes]
    assert (found, table.strata.tolist()) == ([[1, 1, -1], [-1, 1, 0]], [0, 1])


def test_measured_leaves_other_draws_out(version: GuidelineVersion, lead, anna: Membership, ben) -> None:
    first = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead, closing="complete")
    rows.draw(version, [{anna: "complaint", ben: "complaint"}], by=lead, closing="complete")

    assert matrices.measured(first).count() == WaveItem.objects.get(draw=first).annotations.count() == 2


@pytest.mark.parametrize(("task_type", "answer"), [("multilabel", ["x"]), ("spans", [])])
def test_answers_that_hold_several_labels_cost_the_same_queries_for_more_items(
    version: GuidelineVersion, lead, anna, ben, task_type, answer
) -> None:
    factories.question(version, "tags", ("x", "y"), task_type=task_type)

    def queries(items: int) -> int:
        said = [{anna: {"tags": answer}, ben: {"tags": answer}}] * items
        draw = rows.draw(version, said, by=lead, closing="complete")
        question = next(each for each in matrices.questions(draw) if each.key == "tags")
        by = matrices.raters(draw)
        with CaptureQueriesContext(connection) as captured:
            assert matrices.of(draw, question, by=by, at=NOW).ratings.n_paired == items
        return len(captured)

    assert [queries(1), queries(3)] == [1, 1]


def test_open_draw_has_the_spans_of_complete_items_only(version: GuidelineVersion, lead, anna, ben) -> None:
    factories.question(version, "tags", ("x", "y"), task_type="spans")
    draw = rows.draw(version, [{anna: {"tags": []}, ben: {"tags": []}}, {anna: {"tags": []}}], by=lead)

    assert matrix_of(draw, "tags").ratings.n_rated == 1
