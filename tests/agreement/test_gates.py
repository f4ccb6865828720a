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


def test_no_threshold_is_a_pass_with_its_reason(judged) -> None:
    decision = judged(POOR)

    assert (decision.outcome, decision.reason) == (GateOutcome.PASS, "No threshold is set.")


def test_pass_on_the_lower_bound(judged) -> None:
    decision = judged(GOOD, threshold=0.7)

    assert decision.outcome == GateOutcome.PASS
    assert decision.reason.startswith("intent: the lower bound of Cohen's kappa is .")


def test_lower_bound_holds_where_the_estimate_passes(judged) -> None:
    """.57 with a wide interval: the same figure, two declared rules."""
    careful, plain = judged(POOR, threshold=0.2), judged(POOR, threshold=0.2, threshold_on="estimate")

    assert (careful.outcome, plain.outcome) == (GateOutcome.HOLD, GateOutcome.PASS)


def test_too_few_items_are_not_enough_data(judged) -> None:
    decision = judged(GOOD, threshold=0.7, minimum_n=63)

    assert (decision.outcome, decision.reason) == (
        GateOutcome.NOT_ENOUGH,
        "intent: measured on 62 items, and the protocol asks for 63.",
    )


def test_undefined_figure_holds(judged) -> None:
    decision = judged([("praise", "praise")] * 5, threshold=0.1)

    assert decision.outcome == GateOutcome.HOLD
    assert decision.reason.startswith("intent: Cohen's kappa is undefined. Only one label was used")


def test_early_closing_holds_whatever_the_figure_is(judged) -> None:
    decision = judged(GOOD, threshold=0.1, closing="early", reason="The label set changes.")

    assert (decision.outcome, decision.reason) == (
        GateOutcome.HOLD,
        "The draw was closed early: The label set changes.",
    )


def test_threshold_per_class_names_the_label(judged) -> None:
    said = GOOD + [("question", "praise")] * 15 + [("question", "question")] * 15 + [("praise", "question")] * 15

    decision = judged(said, class_threshold=0.8, threshold_on="estimate")

    about = [(each["about"], each["outcome"]) for each in decision.details]
    assert about == [("intent, complaint", "pass"), ("intent, praise", "hold"), ("intent, question", "hold")]


def test_threshold_per_class_leaves_rare_labels_out(judged) -> None:
    decision = judged([*GOOD, ("question", "praise")], class_threshold=0.1, threshold_on="estimate")

    assert [each["about"] for each in decision.details] == ["intent, complaint", "intent, praise"]


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
