"""Gates: what the thresholds of a protocol say about a closed draw, and what that does to the waves after it.

A decision is a row that is never changed; the newest one holds. Thresholds were declared before the first rating, so
nothing here chooses: while the draw is open the answer is "not enough data". There is one decision for a draw, which
holds where any question or part of one does. Its `details` are findings, one for each threshold and one for each
question without any:

  outcome    pass, hold, not_enough; or "none": there is no threshold, or too few ratings to judge this label by itself
  question   its key;  about  its text, with the label's or stratum's name: what people read
  part       "whole", "label", "stratum" or "none";  name  the key of the label, the stratum, else ""
  title on value threshold n minimum            `on` is "low" or "estimate"; value None where undefined
  sentence   all that in words
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agreement import charts
from agreement.coefficients.classes import MINIMUM_USES
from agreement.enums import GateOutcome
from agreement.models import GateDecision, Run
from agreement.protocol import ESTIMATE, Protocol, QuestionRule
from annotations import draws
from annotations.enums import Closing
from annotations.models import Draw
from projects import access
from projects.enums import Action
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project, Question

# The worst of several findings is the outcome.
SEVERITY = (GateOutcome.HOLD, GateOutcome.NOT_ENOUGH, GateOutcome.PASS)


@dataclass(frozen=True)
class Finding:
    """What one threshold says. `about` is the question, or the question and a label."""

    outcome: GateOutcome
    about: str
    sentence: str

    def as_json(self) -> dict[str, str]:
        return {"outcome": str(self.outcome), "about": self.about, "sentence": self.sentence}


def newest(draw: Draw) -> GateDecision | None:
    """The decision that holds, or None while the draw is open and its gate says "not enough data"."""
    return draw.gate_decisions.select_related("by__user").order_by("-at", "-pk").first()


def decisions(project: Project) -> QuerySet[GateDecision]:
    """Every decision of every gate of `project`."""
    return GateDecision.objects.filter(draw__wave__project=project).select_related("draw", "by__user")


@transaction.atomic
def decide(draw: Draw, runs: Iterable[Run], *, questions: Iterable[Question], at: datetime) -> GateDecision:
    """Judge a closed draw by its final runs and log it; a pass lets the waves after it go."""
    if draw.is_open:
        raise ValueError("the gate of an open draw says not enough data")
    protocol = Protocol.from_json(draw.protocol, questions)
    by_question = {run.question_key: run for run in runs}
    found = [
        finding
        for rule in protocol.questions.values()
        for finding in findings(rule, by_question[rule.key].result, minimum_n=protocol.minimum_n)
    ]
    outcome, reason = _judge(draw, found)
    decision = GateDecision.objects.create(
        draw=draw, outcome=outcome, reason=reason, details=[finding.as_json() for finding in found], at=at
    )
    if outcome == GateOutcome.PASS:
        draws.release(draw.wave)
    return decision


def findings(rule: QuestionRule, result: Mapping[str, Any], *, minimum_n: int) -> list[Finding]:
    """What the thresholds of one question say about its figures."""
    found = []
    if rule.threshold is not None:
        headline = result["headline"]
        entry = result["statistics"][headline["key"]]
        found.append(_finding(rule.key, headline["title"], entry, rule.threshold, rule, minimum_n))
    if rule.class_threshold is not None:
        found += _class_findings(rule, result, rule.class_threshold)
    return found


@transaction.atomic
def waive(draw: Draw, *, reason: str, by: Membership, at: datetime) -> GateDecision:
    """Let the next waves go although the gate holds; the reason and the name stand with every figure of the draw."""
    access.require(by, Action.WAIVE_GATE)
    if not reason.strip():
        raise Invalid(_("Waiving a gate needs a reason: it is printed with every figure of this draw."))
    if draw.is_open:
        raise DomainError(
            _("This draw is open, so its gate has nothing to hold yet: close it first."), code="draw_open"
        )
    if draw.is_imported:
        raise DomainError(_("Imported ratings have no gate: there is nothing to waive."), code="nothing_held")
    Draw.objects.select_for_update().get(pk=draw.pk)  # of two waivers at once the second sees the first
    standing = newest(draw)
    if standing is None:
        raise DomainError(_("The figures of this draw are still being computed: wait a moment."), code="not_decided")
    if standing.outcome in (GateOutcome.PASS, GateOutcome.WAIVED):
        raise DomainError(_("This gate holds nothing back: there is nothing to waive."), code="nothing_held")
    decision = GateDecision.objects.create(
        draw=draw, outcome=GateOutcome.WAIVED, reason=reason.strip(), details=standing.details, by=by, at=at
    )
    draws.release(draw.wave, by=by)
    return decision


def _judge(draw: Draw, found: list[Finding]) -> tuple[GateOutcome, str]:
    if draw.closing == Closing.EARLY:
        return GateOutcome.HOLD, _("The draw was closed early: %(reason)s") % {"reason": draw.reason}
    if not found:
        return GateOutcome.PASS, _("No threshold is set.")
    outcome = next(outcome for outcome in SEVERITY if any(finding.outcome == outcome for finding in found))
    return outcome, " ".join(finding.sentence for finding in found if finding.outcome == outcome)


def _class_findings(rule: QuestionRule, result: Mapping[str, Any], threshold: float) -> list[Finding]:
    """With many labels some lower bound fails by chance, so a label needs a number of uses (METHODS, section 7)."""
    statistics, uses = result["statistics"], result["uses"]
    entries = statistics.get("per_class_kappa") or statistics["per_class_alpha"]
    found = []
    for place, (label, entry) in enumerate(zip(result["labels"], entries, strict=True)):
        # Of two raters each has to have used it so often, of several all together twice as often.
        counts = [row[place] for row in uses]
        often = min(counts, default=0) if len(counts) == 2 else sum(counts) / 2
        if often >= MINIMUM_USES:
            about = f"{rule.key}, {label['name']}"
            found.append(_finding(about, _("agreement on this label against the rest"), entry, threshold, rule, 0))
    return found


def _finding(
    about: str, title: str, entry: Mapping[str, Any], threshold: float, rule: QuestionRule, minimum_n: int
) -> Finding:
    words: dict[str, object] = {
        "about": about,
        "title": title,
        "threshold": charts.number(threshold),
        "n": entry["n"],
        "minimum": minimum_n,
        "why": entry.get("sentence", ""),
    }
    if entry["n"] < minimum_n:
        sentence = _("%(about)s: measured on %(n)s items, and the protocol asks for %(minimum)s.")
        return Finding(GateOutcome.NOT_ENOUGH, about, sentence % words)
    measured = entry.get("value") if rule.threshold_on == ESTIMATE else entry.get("interval", [None])[0]
    if measured is None:
        sentence = _("%(about)s: %(title)s is undefined. %(why)s")
        return Finding(GateOutcome.HOLD, about, (sentence % words).strip())
    words["value"] = charts.number(measured)
    if rule.threshold_on == ESTIMATE:
        reached = _("%(about)s: %(title)s is %(value)s and reaches the threshold, %(threshold)s.")
        missed = _("%(about)s: %(title)s is %(value)s, and the threshold is %(threshold)s.")
    else:
        reached = _("%(about)s: the lower bound of %(title)s is %(value)s and reaches the threshold, %(threshold)s.")
        missed = _("%(about)s: the lower bound of %(title)s is %(value)s, and the threshold is %(threshold)s.")
    if measured >= threshold:
        return Finding(GateOutcome.PASS, about, reached % words)
    return Finding(GateOutcome.HOLD, about, missed % words)
