"""What a frozen protocol says, in sentences for a report and for a methods paragraph."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import matrices
from agreement import protocol as protocols
from agreement.charts import number
from agreement.coefficients import COEFFICIENTS
from agreement.protocol import AUTO, LOW, Protocol, QuestionRule
from annotations import rules
from annotations.enums import ResolutionRule
from annotations.models import Draw
from projects.models import Question


def sentences(draw: Draw, questions: Iterable[Question]) -> list[str]:
    """The protocol of a draw: how it was drawn, what counts, and what was declared of each question."""
    asked = list(questions)
    protocol = Protocol.from_json(draw.protocol, asked)
    if draw.is_imported:
        said = _("Imported ratings: coefficient, thresholds and what decides conflicts were chosen after the data.")
        if not rules.any_rule(draw.protocol):
            said = _("Imported ratings: coefficient and thresholds were chosen after the data.")
        return [said, *_rules(protocol, asked)]
    expert = [_("One of the raters is named as the expert: agreement with them is told as such.")]
    named = expert if protocol.expert else []
    return [_drawing(draw, protocol), _counting(protocol), *named, *_rules(protocol, asked)]


def _drawing(draw: Draw, protocol: Protocol) -> str:
    about = {
        "share": f"{protocol.share_percent.normalize():f}",
        "drawn": draw.size,
        "population": draw.population_size,
        "ratings": protocol.ratings_per_item,
        "field": protocol.strata_field,
    }
    said = ngettext(
        "A share of %(share)s %% was drawn at random by the system, unknown to the raters: %(drawn)s of %(population)s "
        "item, rated by %(ratings)s different people each.",
        "A share of %(share)s %% was drawn at random by the system, unknown to the raters: %(drawn)s of %(population)s "
        "items, rated by %(ratings)s different people each.",
        draw.population_size,
    )
    if protocol.strata_field:
        said = f"{said} {_('It was drawn in strata by “%(field)s”.')}"
    return " ".join([said % about, *_unequal(draw)])


def _unequal(draw: Draw) -> Iterable[str]:
    """How an enriched draw departed from its share."""
    if minimum := draw.protocol.get("strata_minimum"):
        yield _("At least %(n)s items of each stratum were drawn, as far as the overlap went.") % {"n": minimum}
    for name, rule in (draw.protocol.get("enriched") or {}).items():
        if "factor" in rule:
            yield _("“%(name)s” was over-sampled: %(factor)s times the share.") % {
                "name": name,
                "factor": rule["factor"],
            }
        else:
            yield _("“%(name)s” was drawn with a share of its own, %(share)s %%.") % {
                "name": name,
                "share": rule["share_percent"],
            }


def _counting(protocol: Protocol) -> str:
    if not protocol.window_submits and not protocol.window_minutes:
        window = _("The first answer counts.")
    else:
        window = _(
            "The answer counts that stood when its rater had gone on %(submits)s items, or after %(minutes)s minutes, "
            "whichever came first."
        ) % {"submits": protocol.window_submits, "minutes": protocol.window_minutes}
    minimum = ngettext(
        "With fewer than %(n)s measured item the gate does not judge.",
        "With fewer than %(n)s measured items the gate does not judge.",
        protocol.minimum_n,
    )
    return f"{window} {minimum % {'n': protocol.minimum_n}}"


def _rules(protocol: Protocol, questions: Iterable[Question]) -> list[str]:
    return [_rule(question, protocol.questions[question.key], protocol) for question in questions]


def _rule(question: Question, rule: QuestionRule, protocol: Protocol) -> str:
    if not matrices.is_measured(question):
        return _("“%(question)s”: free text, without a coefficient.") % {"question": question.text}
    said = [coefficient(rule)]
    on = _("lower bound of its interval") if rule.threshold_on == LOW else _("estimate")
    thresholds = {
        _("threshold %(value)s on the %(on)s"): rule.threshold,
        _("per label %(value)s"): rule.class_threshold,
        _("per stratum %(value)s"): rule.stratum_threshold,
    }
    told = [text % {"value": number(value), "on": on} for text, value in thresholds.items() if value is not None]
    said.append(", ".join(told) or _("no threshold"))
    if rule.conflict_gap:
        said.append(_("a conflict from a gap of more than %(gap)s of the scale") % {"gap": number(rule.conflict_gap)})
    decides = protocols.rule_of(protocol, rule)
    if decides != ResolutionRule.LEAD:
        said.append(_("conflicts decided by %(rule)s, else by a lead") % {"rule": decides.label})
    return _("“%(question)s”: %(rest)s.") % {"question": question.text, "rest": "; ".join(said)}


def coefficient(rule: QuestionRule) -> str:
    """How the coefficient of a question was settled."""
    if rule.coefficient == AUTO:
        return _("the coefficient that its scale and the number of raters call for")
    named = COEFFICIENTS.get(rule.coefficient)
    return _("%(title)s, named beforehand") % {"title": _(named.title) if named else rule.coefficient}
