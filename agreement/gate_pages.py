"""A gate as pages show it: what it said and of what, in the words of the questions and labels, and its memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from agreement import charts
from agreement.enums import GateOutcome
from agreement.models import GateDecision
from agreement.protocol import ESTIMATE
from annotations.models import Draw
from projects.models import Question

WHOLE, LABEL, STRATUM = "whole", "label", "stratum"
NONE = "none"
# The worst of several findings is what a question has.
SEVERITY = (GateOutcome.HOLD, GateOutcome.NOT_ENOUGH, GateOutcome.PASS)


@dataclass(frozen=True)
class Said:
    """What one threshold said. `name` is the key or name of the label, or the stratum; empty for the whole draw."""

    question: str
    part: str
    name: str
    about: str
    outcome: str
    words: str
    sentence: str
    full: str
    value: float | None = None
    threshold: float | None = None
    on: str = ""
    n: float = 0
    minimum: int = 0

    @property
    def numbers(self) -> str:
        """What was measured and what was asked for, as a cell of a table has it; empty where nothing was judged."""
        if self.threshold is None:
            return ""
        about = {
            "value": _("undefined") if self.value is None else charts.number(self.value),
            "threshold": charts.number(self.threshold),
        }
        if self.outcome == GateOutcome.NOT_ENOUGH:
            said = _("%(n)s items, %(minimum)s asked for") % {"n": f"{self.n:g}", "minimum": self.minimum}
        elif self.on == ESTIMATE:
            said = _("estimate %(value)s, threshold %(threshold)s") % about
        else:
            said = _("lower bound %(value)s, threshold %(threshold)s") % about
        return said if self.part == WHOLE else f"{self.about}: {said}"


@dataclass(frozen=True)
class Logged:
    at: datetime
    outcome: str
    by: str
    reason: str


@dataclass(frozen=True)
class Gate:
    """The gate of a draw. `held` says that it keeps the next wave back; `log` is every decision, the oldest first."""

    outcome: str
    reason: str
    held: bool
    waived: bool
    said: tuple[Said, ...] = ()
    deciding: tuple[Said, ...] = ()
    log: tuple[Logged, ...] = ()

    @property
    def waiver(self) -> Logged | None:
        """Who let the next wave go on all the same, when and why; None where nobody did."""
        return self.log[-1] if self.waived and self.log else None

    @property
    def waiver_words(self) -> str:
        """The waiver in one sentence, or nothing: it stands with every figure of the draw."""
        if self.waiver is None:
            return ""
        when = date_format(timezone.localtime(self.waiver.at), "j F Y, H:i")
        about = {"name": self.waiver.by, "when": when, "reason": self.waiver.reason}
        return _("The gate was waived by %(name)s on %(when)s: %(reason)s") % about

    def of_question(self, question: Question) -> "OfQuestion":
        mine = [said for said in self.said if said.question == question.key]
        return OfQuestion(
            whole=[said for said in mine if said.part == WHOLE],
            labels={said.name: said for said in mine if said.part == LABEL},
            strata={said.name: said for said in mine if said.part == STRATUM},
            decided=bool(self.log),
            elsewhere=any(said not in mine for said in self.deciding),
            gate=self,
        )


@dataclass(frozen=True)
class OfQuestion:
    """What the gate of a draw said about one question. Labels are found by key or by name.

    `elsewhere` says that other questions of the draw had a say in what the gate decided.
    """

    whole: list[Said]
    labels: dict[str, Said]
    strata: dict[str, Said]
    decided: bool
    elsewhere: bool = False
    gate: Gate | None = None

    @property
    def all(self) -> list[Said]:
        return [*self.whole, *self.labels.values(), *self.strata.values()]

    @property
    def outcome(self) -> str:
        """What the thresholds of this question say; that it has none, or that nothing of it could be judged."""
        if not self.decided:
            return self.gate.outcome if self.gate else ""
        outcomes = {said.outcome for said in self.all}
        worst = next((outcome for outcome in SEVERITY if outcome in outcomes), None)
        if worst is None:
            return _("not judged") if self.all else _("no threshold")
        return str(worst.label)

    @property
    def brief(self) -> str:
        """The outcome with the numbers that made it so, and that the gate of the draw was waived or held otherwise."""
        outcomes = {said.outcome for said in self.all}
        worst = next((outcome for outcome in SEVERITY if outcome in outcomes), None)
        numbers = [said.numbers for said in self.all if said.outcome == worst and said.numbers]
        said = f"{self.outcome}: {'; '.join(numbers)}" if numbers else self.outcome
        if self.gate is None or not self.decided:
            return said
        if self.gate.waived:
            return _("%(said)s; waived") % {"said": said}
        if self.gate.held and not self.gate.deciding:
            return _("%(said)s; the draw is held: %(reason)s") % {"said": said, "reason": self.gate.reason}
        return said

    @property
    def words(self) -> str:
        """One line: what the thresholds of this question said, or that there is none."""
        if not self.decided:
            return ""
        parts = [said.sentence for said in self.whole]
        for found, one, several in (
            (self.labels, _("label below its threshold: %(names)s."), _("labels below their threshold: %(names)s.")),
            (self.strata, _("part below its threshold: %(names)s."), _("parts below their threshold: %(names)s.")),
        ):
            held = [said.about for said in found.values() if said.outcome == GateOutcome.HOLD]
            if held:
                parts.append((one if len(held) == 1 else several) % {"names": ", ".join(held)})
        if not parts and not self.labels and not self.strata:
            return _("No threshold is set for this question.")
        return " ".join(part[:1].upper() + part[1:] for part in parts)


def of(draw: Draw, decisions: Iterable[GateDecision], questions: Iterable[Question]) -> Gate:
    """The gate of `draw` from all its decisions, the oldest first; before it has decided there is not enough data."""
    log, asked = list(decisions), list(questions)
    if draw.is_imported:
        return Gate(_("none"), _("Imported ratings have no gate."), held=False, waived=False)
    if not log:
        why = _("The draw is open.") if draw.is_open else _("The figures are being computed.")
        return Gate(str(GateOutcome.NOT_ENOUGH.label), why, held=False, waived=False)
    last = log[-1]
    return Gate(
        outcome=outcome(last),
        reason=reason(last, asked),
        held=last.outcome in (GateOutcome.HOLD, GateOutcome.NOT_ENOUGH),
        waived=last.outcome == GateOutcome.WAIVED,
        said=tuple(_said(finding, asked) for finding in last.details),
        deciding=tuple(_said(finding, asked) for finding in last.details if finding["sentence"] in last.reason),
        log=tuple(_logged(decision, asked) for decision in log),
    )


def outcome(decision: GateDecision) -> str:
    """What a gate decided, in a word. It lets go where nothing was judged, and that is no pass: nothing was tested."""
    if judged_nothing(decision):
        return _("not judged") if _has_threshold(decision) else _("no threshold")
    return str(GateOutcome(decision.outcome).label)


def judged_nothing(decision: GateDecision) -> bool:
    """Whether it let go because no threshold was set, or none could be judged: no pass of anything."""
    found = decision.details
    return decision.outcome == GateOutcome.PASS and all(finding["outcome"] == NONE for finding in found)


def _has_threshold(decision: GateDecision) -> bool:
    """Whether what was not judged had a threshold: a label with too few uses, strata that the draw does not have."""
    return any(finding.get("part") in (LABEL, STRATUM) for finding in decision.details)


def reason(decision: GateDecision, questions: Iterable[Question]) -> str:
    """Why it decided so; older decisions have the keys of the questions, which become their texts here."""
    if decision.by:
        return _("Waived by %(name)s: %(reason)s") % {"name": decision.by.name, "reason": decision.reason}
    if judged_nothing(decision):
        if _has_threshold(decision):
            return _("Not judged: no label or part that has a threshold was used often enough.")
        return _("Not judged: no threshold is set, so nothing is held back.")
    text: str = decision.reason
    asked = list(questions)
    for finding in decision.details:
        text = text.replace(finding["sentence"], _said(finding, asked).full)
    return text


def _logged(decision: GateDecision, questions: list[Question]) -> Logged:
    by = decision.by.name if decision.by else ""
    said = decision.reason if decision.by else reason(decision, questions)
    return Logged(decision.at, outcome(decision), by, said)


def _said(finding: Mapping[str, Any], questions: list[Question]) -> Said:
    """A finding as it was stored; older ones name question and label in `about` alone."""
    about, sentence = str(finding["about"]), str(finding["sentence"])
    bare = sentence.removeprefix(f"{about}: ")
    bare = bare[:1].upper() + bare[1:]
    said = str(finding["outcome"])
    # Who is judged by nothing is a label with too few uses, or a question without a threshold.
    words = str(GateOutcome(said).label) if said in GateOutcome.values else _("too few uses")
    if "question" in finding:
        key, part, name = str(finding["question"]), str(finding["part"]), str(finding.get("name", ""))
        shown = _label_name(key, name, questions) if part == LABEL else name or _("without a value")
        numbers: dict[str, Any] = {each: finding[each] for each in ("value", "threshold", "on", "n") if each in finding}
        minimum = finding.get("minimum", 0)
        return Said(key, part, name, shown, said, words, bare, sentence, **numbers, minimum=minimum)
    for question in questions:
        known = {"question": question.text, "sentence": bare}
        if about == question.key:
            full = _("“%(question)s”: %(sentence)s") % known
            return Said(question.key, WHOLE, "", "", said, words, bare, full)
        if about.startswith(f"{question.key}, "):
            name = about.removeprefix(f"{question.key}, ")
            full = _("“%(question)s”, %(about)s: %(sentence)s") % {**known, "about": name}
            return Said(question.key, LABEL, name, name, said, words, bare, full)
    return Said(about, WHOLE, "", "", said, words, bare, sentence)


def _label_name(key: str, name: str, questions: list[Question]) -> str:
    for question in questions:
        if question.key == key:
            return next((label.name for label in question.labels.all() if label.key == name), name)
    return name
