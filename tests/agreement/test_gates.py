"""What a gate says, that it remembers, and what it lets go."""

from datetime import timedelta

import pytest

from agreement import gates, runs
from agreement.enums import GateOutcome
from agreement.models import GateDecision
from annotations.models import Draw, Wave
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import GuidelineVersion, Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)

GOOD = [("praise", "praise")] * 30 + [("complaint", "complaint")] * 30 + [("praise", "complaint")] * 2
POOR = [("praise", "praise")] * 6 + [("complaint", "complaint")] * 6 + [("praise", "complaint")] * 8


@pytest.fixture
def judged(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership):
    """Close a draw with these ratings and rules, and let its gate decide."""

    def judge(said, *, closing: str = "complete", reason: str = "", minimum_n: int = 1, **rule) -> GateDecision:
        draw = rows.draw(
            version,
            [{anna: a, ben: b} for a, b in said],
            by=lead,
            closing=closing,
            reason=reason,
            minimum_n=minimum_n,
            rules={"intent": rule},
        )
        runs.compute(draw, at=LATER)
        return gates.newest(draw)

    return judge


def test_no_threshold_lets_go_with_its_reason(judged) -> None:
    decision = judged(POOR)

    assert (decision.outcome, decision.reason) == (GateOutcome.PASS, "No threshold is set.")


def test_pass_on_the_lower_bound(judged) -> None:
    decision = judged(GOOD, threshold=0.7)

    assert decision.outcome == GateOutcome.PASS
    assert decision.reason.startswith("“What is the intent?”: the lower bound of Cohen's kappa is .")


def test_lower_bound_holds_where_the_estimate_passes(judged) -> None:
    """.57 with a wide interval: the same figure, two declared rules."""
    careful, plain = judged(POOR, threshold=0.2), judged(POOR, threshold=0.2, threshold_on="estimate")

    assert (careful.outcome, plain.outcome) == (GateOutcome.HOLD, GateOutcome.PASS)


def test_too_few_items_are_not_enough_data(judged) -> None:
    decision = judged(GOOD, threshold=0.7, minimum_n=63)

    assert (decision.outcome, decision.reason) == (
        GateOutcome.NOT_ENOUGH,
        "“What is the intent?”: measured on 62 items, and the protocol asks for 63.",
    )


def test_undefined_figure_holds(judged) -> None:
    decision = judged([("praise", "praise")] * 5, threshold=0.1)

    assert decision.outcome == GateOutcome.HOLD
    assert decision.reason.startswith("“What is the intent?”: Cohen's kappa is undefined. Only one label was used")


def test_early_closing_holds_whatever_the_figure_is(judged) -> None:
    decision = judged(GOOD, threshold=0.1, closing="early", reason="The label set changes.")

    assert (decision.outcome, decision.reason) == (
        GateOutcome.HOLD,
        "The draw was closed early: The label set changes.",
    )


def test_threshold_per_class_names_the_label(judged) -> None:
    said = GOOD + [("question", "praise")] * 15 + [("question", "question")] * 15 + [("praise", "question")] * 15

    decision = judged(said, class_threshold=0.8, threshold_on="estimate")

    about = [(each["about"], each["name"], each["outcome"]) for each in decision.details]
    assert about == [
        ("“What is the intent?”, complaint", "complaint", "pass"),
        ("“What is the intent?”, praise", "praise", "hold"),
        ("“What is the intent?”, question", "question", "hold"),
    ]


def test_threshold_per_class_leaves_rare_labels_out(judged) -> None:
    decision = judged([*GOOD, ("question", "praise")], class_threshold=0.1, threshold_on="estimate")

    assert [(each["name"], each["outcome"]) for each in decision.details] == [
        ("complaint", "pass"),
        ("praise", "pass"),
        ("question", "none"),
    ]
    assert decision.details[-1]["sentence"] == (
        "“What is the intent?”, question: too few uses (1): a label is judged by itself once one rater, or half of "
        "all uses, reaches 20."
    )
    assert decision.outcome == GateOutcome.PASS


def test_label_that_one_rater_never_uses_does_not_escape_its_gate(judged) -> None:
    """60 against 0 uses: kappa of the label is 0, which is what a threshold for each label is for."""
    decision = judged(
        [("praise", "praise")] * 30 + [("complaint", "praise")] * 60, class_threshold=0.4, threshold_on="estimate"
    )

    found = {each["name"]: (each["outcome"], each["value"]) for each in decision.details}
    assert (found["complaint"], decision.outcome) == (("hold", 0.0), GateOutcome.HOLD)


@pytest.mark.parametrize(
    ("counts", "often"),
    [([60, 0], 60), ([19, 19], 19), ([8, 8, 8, 8, 8], 20), ([30, 1, 1], 30), ([38], 19), ([], 0)],
)
def test_label_counts_by_the_rater_who_used_it_most_or_half_of_all(counts, often) -> None:
    uses = [[count] for count in counts]
    result = {"statistics": {"per_class_kappa": [{}]}, "uses": uses, "labels": [{"key": "praise"}]}

    assert [each[2] for each in gates._labels(result)] == [often]


def test_smallest_count_of_a_label_is_the_protocols(judged) -> None:
    """Anna used "praise" 14 times and "complaint" six, Ben six and 14."""
    fourteen, fifteen = (judged(POOR, class_threshold=0.1, minimum_uses=uses) for uses in (14, 15))

    judged_labels = [
        [each["name"] for each in found.details if each["outcome"] != "none"] for found in (fourteen, fifteen)
    ]
    assert judged_labels == [["complaint", "praise"], []]


def test_stratum_that_misses_its_threshold_holds(version, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}, {anna: "complaint", ben: "complaint"}] * 10
    said += [{anna: "praise", ben: "complaint"}, {anna: "complaint", ben: "complaint"}] * 10
    draw = rows.draw(
        version,
        said,
        by=lead,
        closing="complete",
        strata=["mail"] * 20 + ["chat"] * 20,
        strata_field="source",
        rules={"intent": {"threshold": -1, "stratum_threshold": 0.5}},
    )
    runs.compute(draw, at=LATER)

    decision = gates.newest(draw)
    found = [(each["part"], each["name"], each["outcome"]) for each in decision.details]
    assert found == [("whole", "", "pass"), ("stratum", "chat", "hold"), ("stratum", "mail", "pass")]
    assert (decision.outcome, decision.reason.startswith("“What is the intent?”, chat: the lower bound of")) == (
        GateOutcome.HOLD,
        True,
    )


def test_small_stratum_is_not_enough_data(version, lead, anna, ben) -> None:
    said = [{anna: "praise", ben: "praise"}, {anna: "complaint", ben: "complaint"}] * 10
    rule = {"stratum_threshold": 0.1}
    strata = ["mail"] * 19 + ["chat"]
    draw = rows.draw(
        version, said, by=lead, closing="complete", strata=strata, strata_field="source", rules={"intent": rule}
    )
    runs.compute(draw, at=LATER)

    assert gates.newest(draw).outcome == GateOutcome.NOT_ENOUGH


def test_question_without_a_threshold_says_so(version, lead, anna, ben) -> None:
    factories.question(version, "tone", ("calm", "angry"))
    said = [{anna: {"intent": a, "tone": "calm"}, ben: {"intent": b, "tone": "angry"}} for a, b in GOOD]
    draw = rows.draw(version, said, by=lead, closing="complete", rules={"intent": {"threshold": 0.7}})
    runs.compute(draw, at=LATER)

    decision = gates.newest(draw)
    assert decision.outcome == GateOutcome.PASS
    assert [(each["question"], each["part"], each["outcome"]) for each in decision.details] == [
        ("intent", "whole", "pass"),
        ("tone", "none", "none"),
    ]
    assert decision.details[1]["sentence"] == (
        "“What is the tone?”: no threshold is set for this question, so it holds nothing back."
    )


def test_finding_has_its_numbers(judged) -> None:
    (found,) = judged(GOOD, threshold=0.7, threshold_on="estimate").details

    assert found["value"] == pytest.approx(0.9355, abs=1e-4)
    assert {key: found[key] for key in ("title", "on", "threshold", "n", "minimum")} == {
        "title": "Cohen's kappa",
        "on": "estimate",
        "threshold": 0.7,
        "n": 62,
        "minimum": 1,
    }


def test_open_draw_has_no_decision(version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead)

    with pytest.raises(ValueError, match="open draw"):
        gates.decide(draw, [], questions=[], at=LATER)


def held_wave(draw: Draw, lead: Membership) -> Wave:
    wave = rows.draw(draw.wave.version, [], by=lead).wave
    Wave.objects.filter(pk=wave.pk).update(held=True)
    return wave


@pytest.mark.parametrize(("said", "still_held"), [(GOOD, False), (POOR, True)], ids=["pass", "hold"])
def test_gate_lets_the_next_wave_go_or_holds_it(version, lead, anna, ben, said, still_held) -> None:
    rules = {"intent": {"threshold": 0.7}}
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in said], by=lead, closing="complete", rules=rules)
    following = held_wave(draw, lead)

    runs.compute(draw, at=LATER)

    following.refresh_from_db()
    draw.wave.refresh_from_db()
    assert (following.held, draw.wave.gate_cleared) == (still_held, not still_held)


def test_waive_lets_go_and_is_remembered(judged, lead) -> None:
    held = judged(POOR, threshold=0.7)
    following = held_wave(held.draw, lead)

    gates.waive(held.draw, reason="The pilot is only for training.", by=lead, at=LATER)

    following.refresh_from_db()
    log = [(d.outcome, d.by, d.reason) for d in GateDecision.objects.order_by("pk")]
    assert log == [(GateOutcome.HOLD, None, held.reason), (GateOutcome.WAIVED, lead, "The pilot is only for training.")]
    assert not following.held


def test_hold_of_an_old_draw_holds_nothing_once_later_waves_are_closed(judged, lead) -> None:
    old = judged(POOR, threshold=0.7).draw
    alone = gates.holds_a_wave(old)
    new = judged(GOOD, threshold=0.7).draw
    after_it = gates.holds_a_wave(old)
    held_wave(new, lead)

    assert (alone, after_it, gates.holds_a_wave(old), gates.holds_a_wave(new)) == (True, False, True, True)


def test_waive_needs_a_reason(judged, lead) -> None:
    held = judged(POOR, threshold=0.7)

    with pytest.raises(Invalid, match="needs a reason"):
        gates.waive(held.draw, reason="  ", by=lead, at=LATER)


def test_waive_needs_the_role(judged, anna) -> None:
    held = judged(POOR, threshold=0.7)

    with pytest.raises(NotAllowed):
        gates.waive(held.draw, reason="Please.", by=anna, at=LATER)


def test_nothing_to_waive_after_a_pass(judged, lead) -> None:
    passed = judged(GOOD, threshold=0.7)

    with pytest.raises(DomainError, match="nothing to waive"):
        gates.waive(passed.draw, reason="Just so.", by=lead, at=LATER)


def test_open_draw_cannot_be_waived(version, lead) -> None:
    with pytest.raises(DomainError, match="close it first"):
        gates.waive(rows.draw(version, [], by=lead), reason="Hurry.", by=lead, at=LATER)


def test_two_questions_are_judged_together(version, lead, anna, ben) -> None:
    factories.question(version, "tone", ("calm", "angry"))
    said = [{anna: {"intent": a, "tone": "calm"}, ben: {"intent": b, "tone": "calm"}} for a, b in GOOD]
    rules = {"intent": {"threshold": 0.7}, "tone": {"threshold": 0.7}}
    draw = rows.draw(version, said, by=lead, closing="complete", rules=rules)

    runs.compute(draw, at=LATER)

    details = gates.newest(draw).details
    assert ([d["outcome"] for d in details], gates.newest(draw).outcome) == (["pass", "hold"], GateOutcome.HOLD)
