"""What a protocol says. `projects` stores the defaults and a draw its frozen copy, both as plain data; here it gets
its meaning, is filled in where a question is newer than the data, and is refused where it makes no sense.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from agreement.coefficients import COEFFICIENTS, Coefficient
from agreement.coefficients.classes import MINIMUM_USES
from agreement.coefficients.coefficient import NOMINAL, ORDINAL, TWO
from agreement.coefficients.headline import TEXT
from annotations import rules, strata
from annotations.draws import THRESHOLDS
from annotations.enums import ResolutionRule
from projects import access, activities, guidelines
from projects.enums import Action
from projects.errors import Invalid
from projects.models import Membership, Project, Question, protocol_defaults
from projects.task_types import TASK_TYPES

AUTO = "auto"
LOW, ESTIMATE = "low", "estimate"
WEIGHTS = ("linear", "quadratic")
RESOLUTION_RULES = tuple(ResolutionRule.values)

# Smallest and largest value of each number, both allowed.
RANGES: dict[str, tuple[int, int]] = {
    "ratings_per_item": (2, 10),
    "window_submits": (0, 1000),
    "window_minutes": (0, 7 * 24 * 60),
    "lease_minutes": (1, 24 * 60),
    "minimum_n": (1, 1_000_000),
    "practice_pass_percent": (0, 100),
}
WORDS = ("strata_field", "resolution_rule", "decide_together", "expert")


@dataclass(frozen=True)
class QuestionRule:
    """How one question is measured: the named coefficient, its weights, and what its gate and its conflicts ask.

    `minimum_uses` is how often a label has to be used, and on how many items a stratum has to be measured, before it is
    judged by itself. `resolution_rule` decides its conflicts; empty: what the protocol says for all questions.
    """

    key: str
    level: str
    coefficient: str = AUTO
    weights: str | None = None
    conflict_gap: float = 0.0
    threshold: float | None = None
    threshold_on: str = LOW
    class_threshold: float | None = None
    stratum_threshold: float | None = None
    minimum_uses: int = MINIMUM_USES
    resolution_rule: str = ""

    @property
    def has_threshold(self) -> bool:
        return any(getattr(self, name) is not None for name in THRESHOLDS)


@dataclass(frozen=True)
class Protocol:
    share_percent: Decimal
    ratings_per_item: int
    strata_field: str
    window_submits: int
    window_minutes: int
    lease_minutes: int
    minimum_n: int
    resolution_rule: str
    practice_pass_percent: int = 0
    decide_together: bool = False
    expert: str = ""
    questions: dict[str, QuestionRule] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], questions: Iterable[Question]) -> "Protocol":
        """Read stored data. What is missing, or was stored before a question was there, gets its default."""
        known = {**protocol_defaults(), **data}
        stored: Mapping[str, Mapping[str, Any]] = known["questions"]
        return cls(
            share_percent=Decimal(str(known["share_percent"])),
            strata_field=str(known["strata_field"]),
            resolution_rule=str(known["resolution_rule"]),
            decide_together=known.get("decide_together") is True,
            expert=str(known.get("expert") or ""),
            questions={question.key: _rule(question, stored.get(question.key, {})) for question in questions},
            **{name: int(known[name]) for name in RANGES},
        )

    def to_json(self, keep: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Plain data as it is stored; questions of `keep` that no version asks any more stay."""
        rules = {key: {k: v for k, v in asdict(rule).items() if k not in ("key", "level")} for key, rule in self._rules}
        kept = dict((keep or {}).get("questions", {}))
        return {
            **(keep or {}),
            **{name: getattr(self, name) for name in (*RANGES, *WORDS)},
            "share_percent": format(self.share_percent.normalize(), "f"),
            "questions": {**kept, **rules},
        }

    @property
    def _rules(self) -> Iterable[tuple[str, QuestionRule]]:
        return self.questions.items()

    def problems(
        self, strata_fields: Iterable[str] | None = None, raters: Iterable[str] | None = None
    ) -> list[tuple[str, str]]:
        """(field, sentence) for all that makes no sense; a field of a question is `key.field`.

        `raters` are the ids of those who may be the expert.
        """
        found = [*_number_problems(self)]
        if not self.share_percent.is_finite() or not 0 <= self.share_percent <= 100:
            found.append(("share_percent", _out_of_range(_("The share"), self.share_percent, "0", "100 %")))
        elif self.share_percent != round(self.share_percent, 3):
            sentence = _("The share is %(value)s %%: at most three decimals.") % {"value": self.share_percent}
            found.append(("share_percent", sentence))
        if strata_fields is not None and self.strata_field and self.strata_field not in strata_fields:
            sentence = _("No imported item has a metadata field “%(name)s”.") % {"name": self.strata_field}
            found.append(("strata_field", sentence))
        if raters is not None and self.expert and self.expert not in raters:
            found.append(
                ("expert", _("The expert is nobody who labels in this project: choose one of its annotators."))
            )
        found += _resolution_problems(self)
        for rule in self.questions.values():
            found += [(f"{rule.key}.{name}", text) for name, text in _rule_problems(rule, self.ratings_per_item)]
            if rule.stratum_threshold is not None and not self.strata_field:
                sentence = _("There is a threshold for each stratum, and nothing that the draw is split by: choose it.")
                found.append((f"{rule.key}.stratum_threshold", sentence))
        return found


def rule_of(protocol: Protocol, question: QuestionRule) -> ResolutionRule:
    """What decides the conflicts of a question: its own rule or the protocol's, a lead where that does not fit."""
    rule = ResolutionRule(question.resolution_rule or protocol.resolution_rule)
    return rule if rules.fits(rule, question.level) else ResolutionRule.LEAD


def of_project(project: Project, questions: Iterable[Question] | None = None) -> Protocol:
    """The project's defaults, for the questions of its newest version."""
    return Protocol.from_json(project.protocol, current_questions(project) if questions is None else questions)


def current_questions(project: Project) -> list[Question]:
    """The questions of the newest published version, else of the draft; none before there is either."""
    version = guidelines.newest(project) or project.versions.order_by("pk").last()
    return list(version.questions.prefetch_related("labels")) if version else []


@transaction.atomic
def save(project: Project, protocol: Protocol, *, by: Membership) -> None:
    """Store the defaults for the draws to come; open and closed draws keep the copy that they froze."""
    access.require(by, Action.SETTINGS)
    problems = protocol.problems(metadata_fields(project), [str(member.uuid) for member in annotators(project)])
    if problems:
        raise Invalid(" ".join(sentence for _name, sentence in problems))
    locked = Project.objects.select_for_update().get(pk=project.pk)
    questions, stored = current_questions(project), locked.protocol
    locked.protocol = protocol.to_json(keep=stored)
    locked.save(update_fields=["protocol"])
    # Both with every default filled in: what was never said before and is said as it was is no change.
    before, after = (Protocol.from_json(data, questions).to_json(keep=data) for data in (stored, locked.protocol))
    if changed := sorted(name for name, value in after.items() if before.get(name) != value):
        activities.record("protocol_changed", project, by=by, fields=changed)
    project.protocol = locked.protocol


def metadata_fields(project: Project) -> list[str]:
    """The metadata fields of the project's batches: what a draw can be split by."""
    return strata.fields_of(project)


def annotators(project: Project) -> list[Membership]:
    """Who labels in the project, and so may be named as its expert."""
    found = project.memberships.annotators().filter(user__isnull=False)
    return list(found.select_related("user").order_by("alias", "pk"))


def offered(level: str, ratings_per_item: int) -> list[Coefficient]:
    """The coefficients that can be the headline of a question with this level and this many ratings per item."""
    return [entry for entry in COEFFICIENTS.values() if _leads(entry, level) and _takes(entry, ratings_per_item)]


def _leads(entry: Coefficient, level: str) -> bool:
    """A headline is corrected for chance, whatever the labels and the data are, and has a standard error."""
    return level in entry.levels and entry.standard_error is not None and entry.equal is not False


def _takes(entry: Coefficient, ratings_per_item: int) -> bool:
    return entry.raters != TWO or ratings_per_item == 2


def _rule(question: Question, stored: Mapping[str, Any]) -> QuestionRule:
    level = TASK_TYPES[question.task_type].level
    tolerated = TASK_TYPES[question.task_type].tolerated
    rule = QuestionRule(question.key, level, weights=WEIGHTS[0] if level == ORDINAL else None, conflict_gap=tolerated)
    names = set(asdict(rule)) - {"key", "level"}
    if level not in (NOMINAL, ORDINAL):
        names.discard("weights")  # the form asked for them once where they have no meaning
    given = {name: value for name, value in stored.items() if name in names and value is not None}
    return replace(rule, **given)


def _number_problems(protocol: Protocol) -> Iterable[tuple[str, str]]:
    names = {
        "ratings_per_item": _("The number of ratings per item"),
        "window_submits": _("The window in submits"),
        "window_minutes": _("The window in minutes"),
        "lease_minutes": _("The lease in minutes"),
        "minimum_n": _("The smallest n of the gate"),
        "practice_pass_percent": _("The pass mark of the practice round"),
    }
    for name, (low, high) in RANGES.items():
        value = getattr(protocol, name)
        if not low <= value <= high:
            yield name, _out_of_range(names[name], value, str(low), str(high))


def _resolution_problems(protocol: Protocol) -> Iterable[tuple[str, str]]:
    """Rules that there are not, that do not fit a question which names them, or that would never decide anything."""
    unknown = _("There is no rule “%(name)s” for deciding conflicts.")
    if protocol.resolution_rule not in RESOLUTION_RULES:
        yield "resolution_rule", unknown % {"name": protocol.resolution_rule}
        return
    for question in protocol.questions.values():
        field, own = f"{question.key}.resolution_rule", question.resolution_rule
        if own not in ("", *RESOLUTION_RULES):
            yield field, unknown % {"name": own}
        elif own and not rules.fits(ResolutionRule(own), question.level):
            yield field, _unfit(question)
        elif own == ResolutionRule.MAJORITY and protocol.ratings_per_item == 2:
            yield field, _never_a_majority()
    if protocol.resolution_rule == ResolutionRule.MAJORITY and protocol.ratings_per_item == 2:
        yield "resolution_rule", _never_a_majority()


def _unfit(question: QuestionRule) -> str:
    if question.level in rules.COUNTED:
        return _("“%(question)s” has no order, so its answers have no median: choose a majority, or a lead.") % {
            "question": question.key
        }
    return _(
        "Two answers to “%(question)s” are hardly ever the same in full, so there is nothing to count: a lead decides."
    ) % {"question": question.key}


def _never_a_majority() -> str:
    return _(
        "With 2 ratings per item no conflict has a majority: ask for 3 or more, or choose a third rating where two "
        "differ."
    )


def _out_of_range(name: str, value: object, low: str, high: str) -> str:
    about = {"name": name, "value": value, "low": low, "high": high}
    return _("%(name)s is %(value)s: expected %(low)s to %(high)s.") % about


def _rule_problems(rule: QuestionRule, ratings_per_item: int) -> Iterable[tuple[str, str]]:
    about = {"question": rule.key, "level": rule.level, "ratings": ratings_per_item, "name": rule.coefficient}
    if rule.coefficient != AUTO:
        entry = COEFFICIENTS.get(rule.coefficient)
        if entry is None:
            yield "coefficient", _("There is no coefficient “%(name)s”.") % about
        elif not _leads(entry, rule.level):
            about["name"] = entry.title
            yield "coefficient", _("%(name)s cannot be the headline of “%(question)s”, which is %(level)s.") % about
        elif not _takes(entry, ratings_per_item):
            about["name"] = entry.title
            yield (
                "coefficient",
                _(
                    "%(name)s compares two raters, and the items of this project get %(ratings)s ratings each: with "
                    "more than two, who stands in which column would decide the figure. Choose one for several raters."
                )
                % about,
            )
    if rule.weights is not None and rule.weights not in WEIGHTS:
        yield "weights", _("There are no weights “%(name)s”: expected linear or quadratic.") % {"name": rule.weights}
    elif rule.weights is not None and rule.level != ORDINAL:
        yield "weights", _("“%(question)s” has no order, so its disagreements have no weights.") % about
    if rule.threshold_on not in (LOW, ESTIMATE):
        sentence = _("The threshold is set on “%(name)s”: expected the lower bound or the estimate.")
        yield "threshold_on", sentence % {"name": rule.threshold_on}
    words_of = _("The threshold"), _("The threshold per class"), _("The threshold per stratum")
    for name, words in zip(THRESHOLDS, words_of, strict=True):
        value = getattr(rule, name)
        if value is not None and not -1 <= value <= 1:
            yield name, _out_of_range(words, value, "-1", "1")
    if rule.minimum_uses < 1:
        yield "minimum_uses", _("The smallest count is %(value)s: expected 1 or more.") % {"value": rule.minimum_uses}
    if not 0 <= rule.conflict_gap < 1 and rule.level != TEXT:
        sentence = _("The gap is %(value)s: expected 0 or more and less than 1, the whole scale.")
        yield "conflict_gap", sentence % {"value": rule.conflict_gap}


def decimal(text: str) -> Decimal | None:
    """A number as people type it, with a point or a comma; None where it is none."""
    try:
        return Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return None
