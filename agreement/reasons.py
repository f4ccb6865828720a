"""Why a coefficient is the headline, what the others beside it are, and how diagnostics and arithmetic are written."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from agreement.charts import number
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients import headline as headlines
from agreement.coefficients.coefficient import ORDERED
from agreement.coefficients.diagnostics import SENTENCES
from annotations.models import Draw

# Where a sentence of a diagnostic has a coefficient, and where a number has a zero that is not written.
COEFFICIENT_IN, ZERO_BEFORE_POINT = re.compile(r"%\((\w+)\)\.2f"), re.compile(r"(?<![\d.])0(?=\.\d)")
UNORDERED = (*headlines.UNORDERED, "expert_kappa_pooled")


def of(result: Mapping[str, Any]) -> list[str]:
    """Why this coefficient is the headline, and what it leaves out of an ordered scale."""
    said, headline = _reasons(result["headline"]), result["headline"]
    if result.get("level") in ORDERED and headline["key"] in UNORDERED:
        said.append(_("The labels are ordered, and this counts a near miss as much as a far one."))
    return said


def beside(result: Mapping[str, Any], draw: Draw, keys: Sequence[str]) -> list[str]:
    """What the other coefficients, `keys`, are beside the headline, and which of them know no order of the labels."""
    headline = result["headline"]
    if draw.is_imported:
        said = [_("Each is named as what it is, and none of these takes the place of the headline.")]
    elif headline["named"] == headline["key"]:
        said = [
            _(
                "Each is named as what it is. The headline was declared before the first rating, so none of these "
                "takes its place."
            )
        ]
    else:
        said = [
            _(
                "Each is named as what it is. The headline was chosen by the rule declared before the first rating, so "
                "none of these takes its place."
            )
        ]
    titles = [_(COEFFICIENTS[key].title) for key in keys if key in UNORDERED and key in COEFFICIENTS]
    if result.get("level") in ORDERED and titles:
        about = {"titles": ", ".join(titles)}
        said.append(_("The labels are ordered, and these count a near miss as much as a far one: %(titles)s.") % about)
    return said


def _reasons(headline: Mapping[str, Any]) -> list[str]:
    if headline["named"] == headline["key"]:
        return [_("%(title)s, because the protocol names it.") % {"title": _(headline["title"])}]
    said = [_("%(title)s: %(reason)s") % {"title": _(headline["title"]), "reason": _(headline["reason"])}]
    if headline["named"]:
        named = COEFFICIENTS[headline["named"]].title if headline["named"] in COEFFICIENTS else headline["named"]
        why = _(headline["refused"]) if headline["refused"] else _("Its conditions do not hold for these ratings.")
        said.append(_("The protocol names %(title)s, which is not given. %(why)s") % {"title": _(named), "why": why})
    return said


def diagnostic(key: str, numbers: Mapping[str, Any]) -> str:
    """A diagnostic in words, with its coefficients written as everywhere on the page."""
    text = _(SENTENCES[key])
    written = {name: number(numbers[name]) for name in COEFFICIENT_IN.findall(text)}
    return COEFFICIENT_IN.sub(r"%(\1)s", text) % {**numbers, **written}


def bare(text: str) -> str:
    """Numbers of the arithmetic as coefficients are written: no zero before the point, and a true minus."""
    return ZERO_BEFORE_POINT.sub("", text.replace("-", "−") if text.startswith("-") else text)
