"""Gates in words: the questions' texts, what is said once, and the memory."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from agreement import gate_pages
from tests.factories import NOW


def question(key: str, text: str, **labels: str) -> Any:
    named = [SimpleNamespace(key=label, name=name) for label, name in labels.items()]
    return SimpleNamespace(key=key, text=text, labels=SimpleNamespace(all=lambda: named))


INTENT = question("intent", "What does the writer want?", threat="Threat")
URGENCY = question("urgency", "How soon?")
ASKED = [INTENT, URGENCY]
DRAW = SimpleNamespace(is_imported=False, is_open=False)
MISSED = "intent: kappa is .57, and the threshold is .70."
OLD = {"outcome": "hold", "about": "intent", "sentence": MISSED}
OLD_LABEL = {"outcome": "hold", "about": "intent, Threat", "sentence": "intent, Threat: kappa is .2."}


def decision(
    *details: dict[str, Any], outcome: str = "hold", reason: str = MISSED, by: str = "", after: int = 0
) -> Any:
    who = SimpleNamespace(name=by) if by else None
    at = NOW + timedelta(minutes=after)
    return SimpleNamespace(outcome=outcome, reason=reason, details=list(details), by=who, at=at)


def finding(question: Any, part: str, name: str, about: str, outcome: str, sentence: str) -> dict[str, Any]:
    return {
        "question": question.key,
        "part": part,
        "name": name,
        "about": about,
        "outcome": outcome,
        "sentence": f"{about}: {sentence}",
    }


def test_reason_has_the_text_of_the_question_for_its_key() -> None:
    gate = gate_pages.of(DRAW, [decision(OLD)], ASKED)

    assert gate.reason == "“What does the writer want?”: Kappa is .57, and the threshold is .70."


def test_question_that_settled_the_gate_alone_says_so_without_its_own_text() -> None:
    here = gate_pages.of(DRAW, [decision(OLD)], ASKED).of_question(INTENT)

    assert (here.words, here.elsewhere) == ("Kappa is .57, and the threshold is .70.", False)


def test_question_without_a_threshold_does_not_repeat_the_gate() -> None:
    here = gate_pages.of(DRAW, [decision(OLD)], ASKED).of_question(URGENCY)

    assert (here.words, here.elsewhere) == ("No threshold is set for this question.", True)


def test_labels_and_strata_have_what_was_said_of_them() -> None:
    details = [
        finding(INTENT, "whole", "", INTENT.text, "pass", "kappa is .8 and reaches .7."),
        finding(INTENT, "label", "threat", f"{INTENT.text}, Threat", "hold", "kappa is .2, below .4."),
        finding(INTENT, "stratum", "mail", f"{INTENT.text}, mail", "not_enough", "measured on 3 items."),
    ]
    here = gate_pages.of(DRAW, [decision(*details, reason=details[1]["sentence"])], ASKED).of_question(INTENT)

    assert here.words == "Kappa is .8 and reaches .7. Label below its threshold: Threat."
    assert (here.labels["threat"].words, here.strata["mail"].words) == ("hold", "not enough data")


def test_label_of_an_older_decision_is_found_by_its_name() -> None:
    here = gate_pages.of(DRAW, [decision(OLD, OLD_LABEL)], ASKED).of_question(INTENT)

    assert (here.labels["Threat"].sentence, here.labels["Threat"].outcome) == ("Kappa is .2.", "hold")


def test_waived_gate_names_who_and_why_and_remembers_the_hold() -> None:
    waiver = decision(OLD, outcome="waived", reason="Only a pilot.", by="lea", after=5)

    gate = gate_pages.of(DRAW, [decision(OLD), waiver], ASKED)

    assert (gate.outcome, gate.reason, gate.held) == ("waived", "Waived by lea: Only a pilot.", False)
    assert [(each.outcome, each.by, each.reason) for each in gate.log] == [
        ("hold", "", "“What does the writer want?”: Kappa is .57, and the threshold is .70."),
        ("waived", "lea", "Only a pilot."),
    ]


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (SimpleNamespace(is_imported=False, is_open=True), "The draw is open."),
        (SimpleNamespace(is_imported=False, is_open=False), "The figures are being computed."),
        (SimpleNamespace(is_imported=True, is_open=False), "Imported ratings have no gate."),
    ],
    ids=["open", "computing", "imported"],
)
def test_gate_without_a_decision(draw, reason) -> None:
    gate = gate_pages.of(draw, [], ASKED)

    assert (gate.reason, gate.held, gate.of_question(INTENT).words) == (reason, False, "")


def test_label_with_too_few_uses_is_told_and_holds_nothing() -> None:
    rare = finding(INTENT, "label", "threat", "“…”, Threat", "none", "used 3 times.")
    here = gate_pages.of(DRAW, [decision(rare, outcome="pass", reason="No threshold is set.")], ASKED)

    assert (here.of_question(INTENT).labels["threat"].words, here.of_question(INTENT).words) == ("too few uses", "")


UNJUDGED = finding(URGENCY, "none", "", "“How soon?”", "none", "no threshold is set for this question.")
RARE = finding(INTENT, "label", "threat", "“…”, Threat", "none", "too few uses.")
PASSED = finding(INTENT, "whole", "", "“What?”", "pass", "kappa reaches it.") | {
    "value": 0.654,
    "threshold": 0.6,
    "on": "low",
}
MISSES = PASSED | {"outcome": "hold", "value": 0.54, "sentence": "“What?”: kappa misses it."}


@pytest.mark.parametrize(
    ("found", "outcome", "reason"),
    [
        (UNJUDGED, "no threshold", "Not judged: no threshold is set, so nothing is held back."),
        (RARE, "not judged", "Not judged: no label or part that has a threshold was used often enough."),
    ],
    ids=["no threshold", "rare label"],
)
def test_gate_that_judged_nothing_is_no_pass(found, outcome, reason) -> None:
    gate = gate_pages.of(DRAW, [decision(found, outcome="pass", reason="No threshold is set.")], ASKED)

    assert (gate.outcome, gate.reason, gate.held, gate.log[0].outcome) == (outcome, reason, False, outcome)


def test_question_without_a_threshold_does_not_pass_with_the_others() -> None:
    gate = gate_pages.of(DRAW, [decision(PASSED, UNJUDGED, outcome="pass", reason=PASSED["sentence"])], ASKED)

    assert [gate.of_question(each).brief for each in ASKED] == [
        "pass: lower bound .65, threshold .60",
        "no threshold",
    ]


@pytest.mark.parametrize(
    ("found", "brief"),
    [
        (MISSES, "hold: lower bound .54, threshold .60"),
        (MISSES | {"on": "estimate"}, "hold: estimate .54, threshold .60"),
        (MISSES | {"value": None}, "hold: lower bound undefined, threshold .60"),
        (MISSES | {"part": "label", "name": "threat"}, "hold: Threat: lower bound .54, threshold .60"),
        (MISSES | {"outcome": "not_enough", "n": 30, "minimum": 50}, "not enough data: 30 items, 50 asked for"),
        (OLD, "hold"),
    ],
)
def test_hold_has_its_value_and_threshold(found, brief) -> None:
    gate = gate_pages.of(DRAW, [decision(found, reason=found["sentence"])], ASKED)

    assert gate.of_question(INTENT).brief == brief


def test_figure_that_passes_in_a_draw_closed_early_says_why_it_is_held() -> None:
    early = "The draw was closed early: The labels change."
    here = gate_pages.of(DRAW, [decision(PASSED, reason=early)], ASKED).of_question(INTENT)

    assert here.brief == f"pass: lower bound .65, threshold .60; the draw is held: {early}"


def test_waiver_keeps_the_numbers_and_has_name_time_and_reason() -> None:
    waiver = decision(MISSES, outcome="waived", reason="Only a pilot.", by="lea", after=5)
    gate = gate_pages.of(DRAW, [decision(MISSES, reason=MISSES["sentence"]), waiver], ASKED)

    assert gate.of_question(INTENT).brief == "hold: lower bound .54, threshold .60; waived"
    assert gate.waiver_words.startswith("The gate was waived by lea on ")
    assert gate.waiver_words.endswith(": Only a pilot.")


def test_reason_that_has_the_text_of_the_question_stays_as_it_is() -> None:
    made = finding(INTENT, "whole", "", "“What does the writer want?”", "hold", "kappa is .2, below .4.")

    gate = gate_pages.of(DRAW, [decision(made, reason=made["sentence"])], ASKED)

    assert gate.reason == "“What does the writer want?”: kappa is .2, below .4."
    assert gate.of_question(INTENT).words == "Kappa is .2, below .4."
