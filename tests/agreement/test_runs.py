"""When figures are computed, what a run keeps, and that equal inputs are computed once."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement import runs
from agreement.coefficients import bootstrap
from agreement.models import GateDecision, Run, Watch
from annotations.models import Annotation, Draw
from projects.models import GuidelineVersion, Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)

AGREED = ["praise"] * 6 + ["complaint"] * 5
SAID = [(label, label) for label in AGREED] + [("praise", "complaint"), ("complaint", "praise"), ("praise", "question")]


@pytest.fixture
def closed(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    return rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete")


@pytest.fixture
def opened(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    return rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, size=20)


def result_of(draw: Draw, key: str = "intent", at=LATER) -> dict:
    return next(run.result for run in runs.compute(draw, at=at) if run.question_key == key)


def headline(result: dict) -> dict:
    return result["statistics"][result["headline"]["key"]]


# -- when -------------------------------------------------------------------------------------------------------------


def test_stale_waits_until_ratings_have_settled(version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead)
    runs.compute(draw, at=LATER)
    soon, settled = LATER + timedelta(seconds=62), LATER + timedelta(seconds=70)
    rows.rate(draw, draw.wave_items.get(), factories.member(version.project, "cara"), "praise", at=soon)

    assert ([*runs.stale(soon)], [*runs.stale(settled)]) == ([], [draw])


def test_stale_open_draw_at_most_once_a_minute(opened: Draw) -> None:
    runs.compute(opened, at=LATER)
    Annotation.objects.filter(draw=opened).update(measured_at=LATER)

    assert [bool(runs.stale(LATER + timedelta(seconds=s))) for s in (30, 59, 61)] == [False, False, True]


def test_stale_is_quiet_when_nothing_changed(opened: Draw) -> None:
    runs.compute(opened, at=LATER)

    assert runs.stale(LATER + timedelta(hours=1)) == []


def test_stale_with_another_engine(opened: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.compute(opened, at=LATER)

    monkeypatch.setattr(runs, "ENGINE_VERSION", "99")

    assert runs.stale(LATER + timedelta(minutes=2)) == [opened]


def test_closing_draw_is_computed_at_once_and_then_no_longer_asked(opened: Draw) -> None:
    runs.compute(opened, at=LATER)
    Draw.objects.filter(pk=opened.pk).update(state="closed", closing="short", closed_at=LATER)
    just_after = LATER + timedelta(seconds=1)

    first, second = runs.sweep(at=just_after), runs.sweep(at=just_after + timedelta(hours=1))

    assert (first, second, Watch.objects.get().final) == ([opened], [], True)


def test_abandoned_draw_is_not_computed(closed: Draw) -> None:
    Draw.objects.update(state="abandoned")

    assert (runs.stale(LATER), runs.is_stale(closed, at=LATER)) == ([], False)


def test_failing_draw_does_not_stop_the_others(closed: Draw, version, lead, anna, ben, caplog) -> None:
    other = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead, closing="complete")
    Draw.objects.filter(pk=closed.pk).update(protocol={"ratings_per_item": "two"})

    done = runs.sweep(at=LATER)

    assert (done, "could not be computed" in caplog.text) == ([other], True)
    assert [runs.stale(LATER + timedelta(seconds=s)) for s in (5, 61)] == [[], [closed]]


def test_is_stale_does_not_wait_for_the_minute(opened: Draw) -> None:
    runs.compute(opened, at=LATER)
    before = runs.is_stale(opened, at=LATER)
    Annotation.objects.filter(draw=opened).update(measured_at=LATER)

    assert (before, runs.is_stale(opened, at=LATER + timedelta(seconds=6))) == (False, True)


# -- once -------------------------------------------------------------------------------------------------------------


def test_equal_inputs_are_computed_once(opened: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runs.compute(opened, at=LATER)
    monkeypatch.delattr(bootstrap, "resample")  # a second computation would need it

    again = runs.compute(opened, at=LATER + timedelta(minutes=5))

    assert ([run.pk for run in first], Run.objects.count()) == ([run.pk for run in again], 1)


def test_correction_taken_back_makes_its_run_the_newest_again(opened: Draw) -> None:
    def say(value: str, minutes: int) -> int:
        Annotation.objects.filter(pk=opened.annotations.first().pk).update(answers={"intent": value})
        runs.compute(opened, at=LATER + timedelta(minutes=minutes))
        return runs.newest(opened, "intent").pk

    found = [say("praise", 0), say("question", 2), say("praise", 4)]

    assert (found[0] == found[2], found[0] == found[1], Run.objects.count()) == (True, False, 2)


def test_gate_decides_once(closed: Draw) -> None:
    runs.compute(closed, at=LATER)
    runs.compute(closed, at=LATER)

    assert GateDecision.objects.count() == 1


def test_open_draw_gets_no_gate_decision(opened: Draw) -> None:
    runs.compute(opened, at=LATER)

    assert GateDecision.objects.count() == 0


def test_compute_costs_the_same_queries_for_more_items(version, lead, anna, ben) -> None:
    def queries(items: int) -> int:
        draw = rows.draw(version, [{anna: "praise", ben: "complaint"}] * items, by=lead)
        with CaptureQueriesContext(connection) as captured:
            runs.compute(draw, at=LATER)
        return len(captured)

    assert queries(2) == queries(40)


def test_sweep_with_nothing_new_asks_for_the_stamps_only(opened: Draw, closed: Draw, django_assert_num_queries) -> None:
    for draw in (opened, closed):
        runs.compute(draw, at=LATER)

    with django_assert_num_queries(1):
        runs.sweep(at=LATER + timedelta(hours=1))


def test_compute_costs_the_same_queries_for_more_draws_before(version, lead, anna, ben) -> None:
    """A closed draw is compared with the MAJOR before and pooled with its siblings, all read at once."""

    def queries() -> int:
        draw = rows.draw(second, [{anna: "praise", ben: "complaint"}] * 2, by=lead, closing="complete")
        with CaptureQueriesContext(connection) as captured:
            runs.compute(draw, at=LATER)
        return len(captured)

    rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead, closing="complete")
    second = factories.version(version.project, 2, 0)
    queries()
    with_one_sibling = queries()
    queries()

    assert queries() == with_one_sibling


def test_interim_runs_are_let_go_but_for_the_newest(opened: Draw) -> None:
    answers = ["praise", "question", "complaint"]
    ratings = list(opened.annotations.all()[:4])
    for minutes in range(6):
        rating = ratings[minutes // 2]
        Annotation.objects.filter(pk=rating.pk).update(answers={"intent": answers[minutes % 3]})
        runs.compute(opened, at=LATER + timedelta(minutes=2 * minutes))

    kept = Run.objects.order_by("created_at").values_list("created_at", flat=True)

    assert list(kept) == [LATER + timedelta(minutes=minutes) for minutes in (6, 8, 10)]


def test_final_run_is_kept_beside_the_last_interim_ones(opened: Draw) -> None:
    runs.compute(opened, at=LATER)
    Draw.objects.filter(pk=opened.pk).update(state="closed", closing="short", closed_at=LATER)
    runs.compute(opened, at=LATER + timedelta(minutes=1))
    runs.prune(opened)

    assert [run.interim for run in Run.objects.order_by("pk")] == [True, False]


# -- what is kept -----------------------------------------------------------------------------------------------------


def test_two_raters_nominal_is_cohens_kappa(closed: Draw) -> None:
    result = result_of(closed)

    # By hand: 11 of 14 agree; margins 8, 6, 0 and 7, 6, 1.
    expected = (8 * 7 + 6 * 6) / 14**2
    assert result["headline"]["key"] == "cohen_kappa"
    assert headline(result)["value"] == pytest.approx((11 / 14 - expected) / (1 - expected), abs=1e-12)
    assert (headline(result)["observed"], headline(result)["expected"]) == pytest.approx((11 / 14, expected))


def test_table_is_by_rater_and_coincidences_are_not(closed: Draw) -> None:
    result = result_of(closed)

    assert (result["table"], result["coincidences"]) == (
        [[5, 1, 0], [1, 6, 1], [0, 0, 0]],
        [[5, 2, 0], [2, 6, 1], [0, 1, 0]],
    )


def test_interval_is_the_same_again(closed: Draw) -> None:
    first = headline(result_of(closed))
    Run.objects.all().delete()

    assert headline(result_of(closed))["interval"] == first["interval"]


def test_open_and_closed_draw_count_differently(version, lead, anna, ben) -> None:
    """Open: complete items only. Closed: every item with two ratings, and the coverage is told."""
    cara = factories.member(version.project, "cara")
    said = [
        {anna: "praise", ben: "praise", cara: "praise"},
        {anna: "praise", ben: "complaint"},
        {anna: "complaint"},
    ]
    draw = rows.draw(version, said, by=lead, needed=3, size=5)
    interim = result_of(draw)
    Draw.objects.filter(pk=draw.pk).update(state="closed", closing="short", closed_at=NOW)
    final = result_of(draw)

    assert (interim["n"], interim["coverage"]["items_by_ratings"]) == (1, {"3": 1})
    assert (final["n"], final["coverage"]) == (
        2,
        {"drawn": 5, "rated": 3, "unrated": 2, "items_by_ratings": {"1": 1, "2": 1, "3": 1}},
    )


def test_rotating_pairs_with_perfect_agreement_give_one(version, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    pairs = [(anna, ben), (ben, cara), (cara, anna)] * 4
    said = [{a: label, b: label} for a, b in pairs for label in ("praise", "complaint")]

    result = result_of(rows.draw(version, said, by=lead, closing="complete"))

    assert (result["headline"]["key"], headline(result)["value"]) == ("krippendorff_alpha_nominal", 1.0)
    assert [(pair["n"], pair["statistics"]["cohen_kappa"]["value"]) for pair in result["pairs"]] == [(8, 1.0)] * 3


def test_third_rating_does_not_move_the_figure(closed: Draw, version) -> None:
    before = headline(result_of(closed))
    row = closed.wave_items.last()
    rows.rate(closed, row, factories.member(version.project, "cara"), "praise", measured=False)

    assert headline(result_of(closed)) == before


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([], "no_pairs"),
        ([("praise", None), ("complaint", None)], "no_pairs"),
        ([("praise", "praise")] * 4, "no_variation"),
    ],
    ids=["empty overlap", "one rater only", "one class only"],
)
def test_poor_data_is_undefined_with_a_reason(version, lead, anna, ben, said, reason) -> None:
    given = [{m: v for m, v in zip((anna, ben), pair, strict=True) if v} for pair in said]

    result = result_of(rows.draw(version, given, by=lead, size=4, closing="short"))

    assert headline(result)["undefined"] == reason
    assert "value" not in headline(result)


def test_ordinal_question_has_weighted_kappas_and_alphas(version, lead, anna, ben) -> None:
    factories.question(version, "step", ("1", "2", "3"), task_type="ordinal", values=[1, 2, 3])
    said = [("1", "1"), ("1", "2"), ("2", "2"), ("3", "3"), ("3", "2"), ("1", "3")]
    draw = rows.draw(version, [{anna: {"step": a}, ben: {"step": b}} for a, b in said], by=lead, closing="complete")

    result = result_of(draw, "step")

    wanted = {f"weighted_kappa_{w}" for w in ("linear", "quadratic")}
    wanted |= {f"krippendorff_alpha_{d}" for d in ("nominal", "ordinal", "interval")}
    assert (result["headline"]["key"], wanted - set(result["statistics"])) == ("weighted_kappa_linear", set())


def test_named_coefficient_is_the_headline(version, lead, anna, ben) -> None:
    rules = {"intent": {"coefficient": "gwet_ac1"}}
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete", rules=rules)

    assert result_of(draw)["headline"]["key"] == "gwet_ac1"


def test_cohens_kappa_is_refused_for_rotating_raters(version, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "praise"}, {ben: "complaint", cara: "complaint"}]
    rules = {"intent": {"coefficient": "cohen_kappa"}}

    chosen = result_of(rows.draw(version, said, by=lead, closing="complete", rules=rules))["headline"]

    assert (chosen["key"], chosen["named"]) == ("krippendorff_alpha_nominal", "cohen_kappa")
    assert chosen["refused"].startswith("3 raters would be pooled by position")


def test_strata_have_figures_of_their_own(version, lead, anna, ben) -> None:
    said = [{anna: a, ben: b} for a, b in SAID]
    strata = ["web" if i % 2 else "shop" for i in range(len(said))]

    result = result_of(rows.draw(version, said, by=lead, closing="complete", strata=strata, strata_field="source"))

    assert [(stratum["stratum"], stratum["n"]) for stratum in result["strata"]] == [("shop", 7), ("web", 7)]


def test_skips_are_counted_by_rater_and_reason(closed: Draw, version, anna) -> None:
    slot = closed.slots.first()
    cara = factories.member(version.project, "cara")
    slot.assignments.model.objects.create(
        slot=slot,
        wave_item=slot.wave_item,
        item=slot.item,
        member=cara,
        major=1,
        version=version,
        state="skipped",
        skip_reason="guideline",
        served_at=NOW,
    )

    assert result_of(closed)["skips"] == [{"rater": str(cara.uuid), "reason": "guideline", "n": 1}]


def test_ratings_per_minor_are_told(closed: Draw, version) -> None:
    minor = factories.version(version.project, 1, 1)
    Annotation.objects.filter(pk=closed.annotations.first().pk).update(version=minor)

    assert result_of(closed)["versions"] == [{"version": "1.0", "ratings": 27}, {"version": "1.1", "ratings": 1}]


def test_value_that_is_no_label_is_told_and_left_out(closed: Draw) -> None:
    Annotation.objects.filter(pk=closed.annotations.first().pk).update(answers={"intent": "threat"})

    result = result_of(closed)

    assert (result["unknown"], result["n"]) == ([{"value": '"threat"', "ratings": 1}], len(SAID) - 1)


def test_difference_to_the_major_before(version, lead, anna, ben) -> None:
    before = rows.draw(version, [{anna: a, ben: b} for a, b in SAID * 10], by=lead, closing="complete")
    second = factories.version(version.project, 2, 0)
    said = [{anna: label, ben: label} for label in AGREED * 12] + [{anna: "praise", ben: "complaint"}] * 8
    after = rows.draw(second, said, by=lead, closing="complete")

    old, new = headline(result_of(before)), result_of(after)
    found = new["difference"]

    assert (found["draw"], found["version"], found["key"]) == (str(before.uuid), "1.0", "cohen_kappa")
    assert found["value"] == pytest.approx(headline(new)["value"] - old["value"], abs=1e-12)
    assert found["interval"][0] < found["value"] < found["interval"][1]


def test_draws_of_one_major_and_protocol_pool(version, lead, anna, ben) -> None:
    said = [{anna: a, ben: b} for a, b in SAID]
    rows.draw(version, said, by=lead, closing="complete")
    second = rows.draw(version, said, by=lead, closing="complete")

    result = result_of(second)

    assert (result["pooled"]["waves"], result["pooled"]["n"]) == ([1, 2], 2 * len(SAID))
    assert result["pooled"]["value"] == pytest.approx(headline(result)["value"], abs=1e-12)


def test_draws_with_another_protocol_stand_side_by_side(version, lead, anna, ben) -> None:
    said = [{anna: a, ben: b} for a, b in SAID]
    rows.draw(version, said, by=lead, closing="complete", minimum_n=7)
    second = rows.draw(version, said, by=lead, closing="complete")

    assert result_of(second)["pooled"] is None


def test_result_survives_json_without_nan(closed: Draw) -> None:
    runs.compute(closed, at=LATER)

    def numbers(value):
        if isinstance(value, dict):
            return [n for each in value.values() for n in numbers(each)]
        if isinstance(value, list):
            return [n for each in value for n in numbers(each)]
        return [value] if isinstance(value, float) else []

    assert all(number == number and abs(number) != float("inf") for number in numbers(Run.objects.get().result))
