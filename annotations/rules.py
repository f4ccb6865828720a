"""What decides a conflict instead of a lead: the rules of a protocol, and their arithmetic (DESIGN §5).

A rule holds for a draw, and for each of its questions as far as its answers can be counted (a majority) or put in
order (a median); what it does not fit goes to a lead.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotations.conflicts import canonical
from annotations.enums import ResolutionKind, ResolutionRule
from projects.models import Label
from projects.task_types import TASK_TYPES, Json, in_order

THIRDS = (ResolutionRule.THIRD_MAJORITY, ResolutionRule.THIRD_MEDIAN)
MEDIANS = (ResolutionRule.MEDIAN, ResolutionRule.THIRD_MEDIAN)
# The levels of the questions whose answers are the same or not: marks in a text and words of one's own hardly ever are.
COUNTED = ("nominal", "ordinal", "multilabel")
ORDERED = ("ordinal",)


def fits(rule: ResolutionRule, level: str) -> bool:
    """Whether `rule` can decide a question of this level."""
    if rule == ResolutionRule.LEAD:
        return True
    return level in (ORDERED if rule in MEDIANS else COUNTED)


def any_rule(protocol: Mapping[str, Any]) -> bool:
    """Whether the protocol names a rule at all, for the draw or for a question."""
    named = [protocol, *protocol.get("questions", {}).values()]
    return any(one.get("resolution_rule") not in (None, "", ResolutionRule.LEAD) for one in named)


def said(protocol: Mapping[str, Any], key: str) -> ResolutionRule:
    """What the protocol says of a question: its own rule, else the one of the draw."""
    own = protocol.get("questions", {}).get(key, {}).get("resolution_rule")
    return ResolutionRule(own or protocol.get("resolution_rule") or ResolutionRule.LEAD)


def effective(protocol: Mapping[str, Any], key: str, task_type: str) -> ResolutionRule:
    """The rule that decides a question: what the protocol says, or a lead where that does not fit."""
    rule = said(protocol, key)
    return rule if fits(rule, TASK_TYPES[task_type].level) else ResolutionRule.LEAD


# -- the arithmetic ----------------------------------------------------------------------------------------------------

Tally = list[tuple[Json, int]]


def tally(values: Sequence[Json]) -> Tally:
    """Each value with how often it was given, the most frequent first, then by the value: never by who came first."""
    counts = Counter(canonical(value) for value in values)
    of = {canonical(value): value for value in values}
    return [(of[key], n) for key, n in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]


def majority(values: Sequence[Json]) -> Json:
    """The value that more than half of `values` are; None where there is none."""
    counts = tally(values)
    return counts[0][0] if counts and 2 * counts[0][1] > len(values) else None


def wants_another(rule: ResolutionRule, values: Sequence[Json]) -> bool:
    """Whether one rating more can settle what these leave open: a majority where a half says the same, and of an even
    number the one in the middle."""
    if rule not in THIRDS or not values:
        return False
    if rule in MEDIANS:
        return len(values) % 2 == 0
    return majority(values) is None and 2 * (tally(values)[0][1] + 1) > len(values) + 1


@dataclass(frozen=True)
class Verdict:
    """What a rule decides."""

    value: Json
    kind: ResolutionKind


def decide(rule: ResolutionRule, values: Sequence[Json], task_type: str, labels: Sequence[Label]) -> Verdict | None:
    """What `rule` makes of the ratings of an item; None where it leaves the case to a lead, or wants another rating."""
    if rule == ResolutionRule.LEAD or len(values) < 2 or wants_another(rule, values):
        return None
    if rule in MEDIANS:
        return Verdict(TASK_TYPES[task_type].middle(values, labels), ResolutionKind.MEDIAN)
    found = majority(values)
    return None if found is None else Verdict(found, ResolutionKind.MAJORITY)


# -- in words ----------------------------------------------------------------------------------------------------------


def reckoning(
    verdict: Verdict, values: Sequence[Json], task_type: str, labels: Sequence[Label], *, with_third: bool
) -> str:
    """The arithmetic of a decision: "2 of 3 said “complaint”, 1 “praise”." """

    def name(value: Json) -> str:
        return TASK_TYPES[task_type].describe(value, labels)

    said = _middle(verdict, values, labels, name) if verdict.kind == ResolutionKind.MEDIAN else _most(values, name)
    return f"{said} {_('One of them is a third rating, asked for after the measurement.')}" if with_third else said


def _most(values: Sequence[Json], name: Callable[[Json], str]) -> str:
    (most, times), *others = tally(values)
    rest = ", ".join(_("%(n)s “%(label)s”") % {"n": n, "label": name(value)} for value, n in others)
    about = {"n": times, "all": len(values), "label": name(most), "others": rest}
    return (_("%(n)s of %(all)s said “%(label)s”, %(others)s.") if others else _("All said “%(label)s”.")) % about


def _middle(verdict: Verdict, values: Sequence[Json], labels: Sequence[Label], name: Callable[[Json], str]) -> str:
    places: dict[Json, int] = {label.key: place for place, label in enumerate(in_order(labels))}
    ordered = sorted(values, key=lambda value: (places.get(value, len(places)), str(value)))
    about = {"n": len(values), "all": ", ".join(name(value) for value in ordered), "label": name(verdict.value)}
    if len(values) % 2:
        return _("In order: %(all)s. The middle one of %(n)s is “%(label)s”.") % about
    return _("In order: %(all)s. Of the two in the middle, “%(label)s” is the lower.") % about
