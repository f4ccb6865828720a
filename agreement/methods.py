"""A paragraph for a methods section, with the figures filled in: what was done and found, without a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agreement import sentences
from agreement.charts import number
from agreement.reporting import Paper, Sheet
from annotations import imported
from annotations.enums import Closing
from annotations.models import Draw

METHODS = {
    "bootstrap": gettext_noop("percentile bootstrap over items"),
    "smoothed": gettext_noop("smoothed bootstrap over items"),
    "wilson": gettext_noop("Wilson"),
}


def paragraphs(paper: Paper) -> list[str]:
    """One paragraph for each draw, the oldest first, and one on how it was computed."""
    found = [" ".join(_of_draw(draw, paper.of_draw(draw))) for draw in reversed(paper.draws)]
    return [*found, _computed(paper.sheets)] if found else []


def _of_draw(draw: Draw, sheets: Sequence[Sheet]) -> list[str]:
    """Every sentence of a draw's paragraph; what does not apply to it is left out."""
    said = [_drawn(draw, sheets)]
    if not draw.is_imported:
        said += [_strata(draw), _skips(sheets[0].run.result)]
    for sheet in sheets:
        said += [_found(sheet), _gate(sheet), sheet.difference.sentence if sheet.difference else ""]
    return [sentence for sentence in [*said, sheets[0].gate.waiver_words] if sentence]


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
        said = _("Ratings made elsewhere were compared on %(drawn)s items with two ratings or more.") % about
        return f"{said} {imported.mark(draw)}"
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
    return said % {**about, "interval": _interval(entry, result["seed"]), "percent": beside(result)}


def of_interval(entry: Mapping[str, Any]) -> str:
    """How an interval was made, in words; nothing without one."""
    if not entry.get("interval"):
        return ""
    about = {"method": _(METHODS.get(entry.get("method", ""), entry.get("method", ""))), "n": entry.get("replicates")}
    return (_("%(method)s with %(n)s replicates") if about["n"] else "%(method)s") % about


def percent(result: Mapping[str, Any]) -> str:
    """Percent agreement of a draw, or nothing where there is none."""
    entry = result["statistics"].get("percent_agreement", {})
    return f"{100 * entry['value']:.1f} %" if "value" in entry else ""


def _interval(entry: Mapping[str, Any], seed: int) -> str:
    if not entry.get("interval"):
        return ""
    about = {
        "level": f"{100 * entry.get('level', 0.95):g}",
        "interval": sentences.interval(entry),
        "method": of_interval(entry),
    }
    if entry.get("replicates"):
        about["method"] = _("%(method)s, seed %(seed)s") % {**about, "seed": seed}
    return _(" (%(level)s %% confidence interval %(interval)s, %(method)s)") % about


def beside(result: Mapping[str, Any]) -> str:
    """What stands with the headline: percent agreement, or of spans their F1, without which alpha says little."""
    statistics = result["statistics"]
    if "value" in statistics.get("exact_f1", {}):
        about = {key: number(statistics[f"{key}_f1"]["value"]) for key in ("exact", "overlap")}
        return _(", with an exact F1 of %(exact)s and an overlap F1 of %(overlap)s") % about
    value = percent(result)
    if not value or result["headline"]["key"] == "percent_agreement":
        return ""
    return _(", with a percent agreement of %(value)s") % {"value": value}


def _gate(sheet: Sheet) -> str:
    """The threshold that was declared and what it said; that there was none, where there was none."""
    here = sheet.here
    if sheet.draw.is_imported or not here.decided:
        return ""
    if here.outcome == _("no threshold"):
        return _("No threshold was declared for it, so it was not judged.")
    return _("The gate declared beforehand for it said %(brief)s.") % {"brief": here.brief}


def _strata(draw: Draw) -> str:
    field = draw.protocol.get("strata_field", "")
    return _("The draw was made in strata by “%(field)s”.") % {"field": field} if field else ""


def _skips(result: Mapping[str, Any]) -> str:
    """How often a measured item was passed on, of all the times that one was shown."""
    skipped = sum(each["n"] for each in result["skips"])
    shown = skipped + sum(each["ratings"] for each in result["versions"])
    if not shown:
        return ""
    about = {"skipped": skipped, "shown": shown, "rate": f"{100 * skipped / shown:.1f}"}
    return _("%(skipped)s of %(shown)s times that a measured item was shown it was skipped (%(rate)s %%).") % about


def _computed(sheets: Sequence[Sheet]) -> str:
    said = _("Figures were computed with Concord, engine %(engines)s; seeds and inputs are stored with them.")
    return said % {"engines": ", ".join(sorted({sheet.run.engine for sheet in sheets}))}
