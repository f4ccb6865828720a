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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agreement import charts
from agreement.enums import GateOutcome
from agreement.models import GateDecision, Run
from agreement.protocol import ESTIMATE, Protocol, QuestionRule
from annotations import draws
from annotations.enums import Closing
from annotations.models import Draw, Wave
from projects import access, activities
from projects.enums import Action
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project, Question

# The worst of several findings is the outcome.
SEVERITY = (GateOutcome.HOLD, GateOutcome.NOT_ENOUGH, GateOutcome.PASS)
# A finding that judges nothing: no threshold is set, or there is too little to judge a label by itself.
NONE = "none"
WHOLE, LABEL, STRATUM = "whole", "label", "stratum"


@dataclass(frozen=True)
class Finding:
    """What one threshold says, or that there is none. See the module for the fields."""

    outcome: str
    question: str
    about: str
    sentence: str
    part: str = NONE
    name: str = ""
    title: str = ""
    on: str = ""
    value: float | None = None
    threshold: float | None = None
    n: float = 0
    minimum: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"outcome": str(self.outcome)}


@dataclass(frozen=True)
class Judged:
    """One figure that a threshold is for: of the whole question, of a label or of a stratum."""

    rule: QuestionRule
    about: str
    part: str
    name: str
    title: str
    entry: Mapping[str, Any]
    threshold: float
    minimum: int


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
    asked = list(questions)
    protocol = Protocol.from_json(draw.protocol, asked)
    by_question = {run.question_key: run for run in runs}
    found = [
        finding
        for question in asked
        for finding in findings(
            protocol.questions[question.key],
            by_question[question.key].result,
            text=question.text,
            minimum_n=protocol.minimum_n,
        )
    ]
    outcome, reason = _judge(draw, found)
    decision = GateDecision.objects.create(
        draw=draw, outcome=outcome, reason=reason, details=[finding.as_json() for finding in found], at=at
    )
    _record("gate_decided", draw, by=None, at=at, outcome=outcome.value)
    if outcome == GateOutcome.PASS:
        draws.release(draw.wave)
    return decision


def findings(rule: QuestionRule, result: Mapping[str, Any], *, text: str, minimum_n: int) -> list[Finding]:
    """What the thresholds of one question say about its figures; that there is none, where there is none."""
    if not rule.has_threshold:
        sentence = _("%(about)s: no threshold is set for this question, so it holds nothing back.")
        return [Finding(NONE, rule.key, text, sentence % {"about": _quoted(text)})]
    found = [_finding(judged) for judged in _judged(rule, result, text, minimum_n)]
    if rule.stratum_threshold is not None and not _strata(result):
        sentence = _("%(about)s: the draw has no strata, so the threshold for each of them holds nothing back.")
        found.append(Finding(NONE, rule.key, text, sentence % {"about": _quoted(text)}, STRATUM))
    return found + [_unjudged(rule, *label, text=text) for label in _rare_labels(rule, result)]


def holds_a_wave(draw: Draw) -> bool:
    """Whether a waiver of a closed draw would let anything go: a wave that is held, or else the next one to open.

    Once later draws are closed and nothing is held, the hold of an old draw is history.
    """
    wave = draw.wave
    later = Wave.objects.filter(project=wave.project_id, number__gt=wave.number)
    later = later.exclude(panel__split__panels__wave=wave)  # opened together: none of them comes after another
    if later.filter(major=wave.major, held=True).exists():
        return True
    return not Draw.objects.closed().filter(wave__in=later).exists()


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
    _record("gate_waived", draw, by=by, at=at, reason=decision.reason)
    return decision


def _record(kind: str, draw: Draw, *, by: Membership | None, at: datetime, **facts: Any) -> None:
    wave = draw.wave
    activities.record(kind, wave.project_id, by=by, subject=draw.uuid, at=at, number=wave.number, **facts)


def _judge(draw: Draw, found: list[Finding]) -> tuple[GateOutcome, str]:
    if draw.closing == Closing.EARLY:
        return GateOutcome.HOLD, _("The draw was closed early: %(reason)s") % {"reason": draw.reason}
    outcomes = {finding.outcome for finding in found} - {NONE}
    if not outcomes:
        # Nothing is held back. Pages say that nothing was judged, and why (see `gate_pages.outcome`).
        return GateOutcome.PASS, _("No threshold is set.")
    outcome = next(outcome for outcome in SEVERITY if outcome in outcomes)
    return outcome, " ".join(finding.sentence for finding in found if finding.outcome == outcome)


def _judged(rule: QuestionRule, result: Mapping[str, Any], text: str, minimum_n: int) -> Iterator[Judged]:
    """Every figure of the question that has a threshold: the headline, each label used often enough, each stratum."""
    chosen = result["headline"]
    if rule.threshold is not None:
        entry = result["statistics"][chosen["key"]]
        yield Judged(rule, _quoted(text), WHOLE, "", _(chosen["title"]), entry, rule.threshold, minimum_n)
    if rule.class_threshold is not None:
        title = _("agreement on this label against the rest")
        for label, entry, often in _labels(result):
            if often >= rule.minimum_uses:
                about = _part(text, label["name"])
                yield Judged(rule, about, LABEL, label["key"], title, entry, rule.class_threshold, 0)
    if rule.stratum_threshold is not None:
        for entry in _strata(result):
            name = entry["stratum"]
            about = _part(text, name or _("without a value"))
            title = _(chosen["title"])
            yield Judged(rule, about, STRATUM, name, title, entry, rule.stratum_threshold, rule.minimum_uses)


def _strata(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The strata that the draw was split by; people of one role are told apart and not judged."""
    return [entry for entry in result["strata"] if "by" not in entry]


def _labels(result: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], float]]:
    """Each label with its figure against the rest, and how often it was used."""
    statistics, uses = result["statistics"], result["uses"]
    entries = statistics.get("per_class_kappa") or statistics["per_class_alpha"]
    for place, (label, entry) in enumerate(zip(result["labels"], entries, strict=True)):
        yield label, entry, _often([row[place] for row in uses])


def _often(counts: list[float]) -> float:
    """How often a label was used, for its smallest count: by the rater who used it most (METHODS, section 7).

    One rater who never uses what another uses often is what a gate is for. Of many raters with few items each, all
    together count too, halved as for two who use it alike; so do ratings that name nobody.
    """
    half = sum(counts) / 2
    return max(half, *counts) if len(counts) > 1 else half


def _rare_labels(rule: QuestionRule, result: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], float]]:
    """With many labels some lower bound fails by chance, so a label needs a number of uses (METHODS, section 7)."""
    if rule.class_threshold is None:
        return []
    return [(label, often) for label, _entry, often in _labels(result) if often < rule.minimum_uses]


def _unjudged(rule: QuestionRule, label: Mapping[str, Any], often: float, *, text: str) -> Finding:
    about = _part(text, label["name"])
    sentence = _(
        "%(about)s: too few uses (%(n)s): a label is judged by itself once one rater, or half of all uses, reaches "
        "%(minimum)s."
    )
    words = {"about": about, "n": f"{often:g}", "minimum": rule.minimum_uses}
    return Finding(NONE, rule.key, about, sentence % words, LABEL, label["key"], n=often, minimum=rule.minimum_uses)


def _finding(judged: Judged) -> Finding:
    entry, rule = judged.entry, judged.rule
    on_estimate = rule.threshold_on == ESTIMATE
    measured = entry.get("value") if on_estimate else (entry.get("interval") or [None])[0]
    outcome, sentence = _verdict(judged, measured, on_estimate=on_estimate)
    words = {
        "about": judged.about,
        "title": judged.title,
        "value": "" if measured is None else charts.number(measured),
        "threshold": charts.number(judged.threshold),
        "n": entry["n"],
        "minimum": judged.minimum,
        "why": _(entry["sentence"]) if "sentence" in entry else "",
    }
    return Finding(
        outcome=outcome,
        question=rule.key,
        about=judged.about,
        sentence=(sentence % words).strip(),
        part=judged.part,
        name=judged.name,
        title=judged.title,
        on=rule.threshold_on,
        value=measured,
        threshold=judged.threshold,
        n=entry["n"],
        minimum=judged.minimum,
    )


def _verdict(judged: Judged, measured: float | None, *, on_estimate: bool) -> tuple[str, str]:
    """The outcome and the template of its sentence. Too few items are told before what they would say."""
    if judged.entry["n"] < judged.minimum:
        return GateOutcome.NOT_ENOUGH, _("%(about)s: measured on %(n)s items, and the protocol asks for %(minimum)s.")
    if measured is None and "value" not in judged.entry:
        return GateOutcome.HOLD, _("%(about)s: %(title)s is undefined. %(why)s")
    if measured is None:
        return GateOutcome.HOLD, _("%(about)s: %(title)s has no interval, and the threshold is for its lower bound.")
    passed = measured >= judged.threshold
    if on_estimate:
        reached = _("%(about)s: %(title)s is %(value)s and reaches the threshold, %(threshold)s.")
        missed = _("%(about)s: %(title)s is %(value)s, and the threshold is %(threshold)s.")
    else:
        reached = _("%(about)s: the lower bound of %(title)s is %(value)s and reaches the threshold, %(threshold)s.")
        missed = _("%(about)s: the lower bound of %(title)s is %(value)s, and the threshold is %(threshold)s.")
    return (GateOutcome.PASS, reached) if passed else (GateOutcome.HOLD, missed)


def _quoted(text: str) -> str:
    """A question in a sentence, shortened where it is long."""
    return _("“%(text)s”") % {"text": text if len(text) <= 80 else f"{text[:79]}…"}


def _part(text: str, name: str) -> str:
    return _("%(question)s, %(part)s") % {"question": _quoted(text), "part": name}
