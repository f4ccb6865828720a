"""A paragraph for a methods section, with the figures filled in: what was done and found, without a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agreement import sentences
from agreement.charts import number
from agreement.reporting import Paper, Sheet
from annotations.enums import Closing
from annotations.models import Draw

METHODS = {
    "bootstrap": gettext_noop("percentile bootstrap over items"),
    "smoothed": gettext_noop("smoothed bootstrap over items"),
    "wilson": gettext_noop("Wilson"),
}


def paragraphs(paper: Paper) -> list[str]:
    """One paragraph for each draw, the oldest first, and one on how it was computed."""
    found = [
        " ".join([_drawn(draw, paper.of_draw(draw)), *(_found(sheet) for sheet in paper.of_draw(draw))])
        for draw in reversed(paper.draws)
    ]
    return [*found, _computed(paper.sheets)] if found else []


def _drawn(draw: Draw, sheets: Sequence[Sheet]) -> str:
    result = sheets[0].run.result
    about = {
        "version": draw.wave.version.number,
        "drawn": draw.size,
        "population": draw.population_size,
        "ratings": result["ratings_per_item"],
        "raters": sum(any(row) for row in result["uses"]),
        "when": date_format(draw.closed_at, "j F Y") if draw.closed_at else "",
        "reason": draw.reason,
    }
    if draw.is_imported:
        return _("Ratings made elsewhere were compared on %(drawn)s items with two ratings or more.") % about
    said = _(
        "Under guideline %(version)s, %(drawn)s of %(population)s items were drawn at random and rated independently "
        "by %(ratings)s of the %(raters)s annotators each, who did not know which items were measured (completed "
        "%(when)s)."
    )
    if draw.closing == Closing.EARLY:
        said = f"{said} {_('The draw was closed early: %(reason)s')}"
    if draw.raters_knew:
        said = f"{said} {_('All items of the wave were measured, which the annotators could know.')}"
    return said % about


def _found(sheet: Sheet) -> str:
    result = sheet.run.result
    chosen, entry = result["headline"], result["statistics"][result["headline"]["key"]]
    about: dict[str, Any] = {
        "question": sheet.question.text,
        "title": _(chosen["title"]),
        "source": chosen["source"],
        "items": sentences.items(entry["n"]),
        "why": _(entry.get("sentence", "")),
    }
    if "value" not in entry:
        return _("For “%(question)s”, %(title)s [%(source)s] is undefined on %(items)s: %(why)s") % about
    about["value"] = number(entry["value"])
    said = _("For “%(question)s”, %(title)s was %(value)s%(interval)s on %(items)s%(percent)s [%(source)s].")
    return said % {**about, "interval": _interval(entry), "percent": _percent(result)}


def _interval(entry: Mapping[str, Any]) -> str:
    if not entry.get("interval"):
        return ""
    about = {
        "level": f"{100 * entry.get('level', 0.95):g}",
        "interval": sentences.interval(entry),
        "method": _(METHODS.get(entry.get("method", ""), entry.get("method", ""))),
        "replicates": entry.get("replicates"),
    }
    if about["replicates"]:
        said = _(" (%(level)s %% confidence interval %(interval)s, %(method)s with %(replicates)s replicates)")
    else:
        said = _(" (%(level)s %% confidence interval %(interval)s, %(method)s)")
    return said % about


def _percent(result: Mapping[str, Any]) -> str:
    entry = result["statistics"].get("percent_agreement", {})
    if "value" not in entry or result["headline"]["key"] == "percent_agreement":
        return ""
    return _(", with a percent agreement of %(value)s") % {"value": f"{100 * entry['value']:.0f} %"}


def _computed(sheets: Sequence[Sheet]) -> str:
    engines = sorted({sheet.run.engine for sheet in sheets})
    said = _("Figures were computed with Concord, engine %(engines)s; seeds and inputs are stored with them.")
    return said % {"engines": ", ".join(engines)}
