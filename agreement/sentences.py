"""What is said about a run in words: the figure, its reason, what it was made from, and what it cannot say."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.charts import number, signed
from agreement.coefficients.bootstrap import SMOOTHED
from agreement.models import Run
from annotations import imported
from annotations.enums import Closing
from annotations.models import Draw

Entry = Mapping[str, Any]


def between(entry: Entry) -> str:
    """The interval in words, or nothing."""
    if not entry.get("interval"):
        return ""
    low, high = entry["interval"]
    level = f"{100 * entry.get('level', 0.95):g}"
    return _("%(level)s %% between %(low)s and %(high)s") % {"level": level, "low": number(low), "high": number(high)}


def interval(entry: Entry) -> str:
    """The interval as a cell of a table has it; its level stands above."""
    if not entry.get("interval"):
        return ""
    low, high = entry["interval"]
    return _("%(low)s to %(high)s") % {"low": number(low), "high": number(high)}


def is_smoothed(entry: Entry) -> bool:
    """Whether the interval is the one for few items, few disagreements or a value of 1."""
    return entry.get("method") == SMOOTHED


def _has_smoothed(found: Any) -> bool:
    """Whether an entry anywhere in `found` has a smoothed interval."""
    if isinstance(found, Mapping):
        return is_smoothed(found) or any(_has_smoothed(each) for each in found.values())
    return isinstance(found, list) and any(_has_smoothed(each) for each in found)


def units(result: Mapping[str, Any]) -> str:
    """What spans are compared on, where they are."""
    found = result.get("units")
    if not found:
        return ""
    about = {
        "total": found["total"],
        "inside": found["inside"],
        "threshold": number(found["threshold"]) if found.get("threshold") is not None else "",
    }
    said = _("Alpha compares %(total)s tokens, %(inside)s of them inside a span of somebody.")
    if about["threshold"]:
        said = (
            f"{said} {_('Two spans overlap when they share more than %(threshold)s of what the two cover together.')}"
        )
    return f"{said % about} {_(found['title'])}"


def items(n: float) -> str:
    return ngettext("%(n)s item", "%(n)s items", int(n)) % {"n": f"{n:g}" if n != int(n) else int(n)}


def sentence(run: Run) -> str:
    """The figure as one sentence, as it is said on every page."""
    result = run.result
    headline, entry = result["headline"], result["statistics"][result["headline"]["key"]]
    rated = sum(any(row) for row in result["uses"])
    about = {
        "title": _(headline["title"]),
        "value": number(entry["value"]) if "value" in entry else "",
        "between": between(entry),
        "why": _(entry.get("sentence", "")),
        "people": _("with anonymous ratings")
        if result.get("anonymous")
        else ngettext("rated by %(n)s person", "rated by %(n)s people", rated) % {"n": rated},
        "items": items(entry["n"]),
    }
    if "value" not in entry:
        said = _("%(title)s is undefined: %(why)s") % about
    elif about["between"]:
        said = _("%(title)s %(value)s, %(between)s, on %(items)s %(people)s.") % about
    else:
        said = _("%(title)s %(value)s, on %(items)s %(people)s.") % about
    return f"{interim(run)}: {said}" if run.interim else said


def interim(run: Run) -> str:
    return _("Interim, %(n)s of %(drawn)s") % {"n": run.n, "drawn": run.drawn}


def comparisons(run: Run) -> list[str]:
    """The difference to the version before, and the pooled figure, as sentences."""
    said = []
    found = run.result.get("difference")
    if found:
        about = {
            "new": run.draw.wave.version.number,
            "old": found["version"],
            "title": _(found["title"]),
            "value": signed(found["value"]),
            "between": between(found),
        }
        said.append(
            _("%(new)s minus %(old)s: %(value)s, %(between)s; %(title)s.") % about
            if about["between"]
            else _("%(new)s minus %(old)s: %(value)s; %(title)s.") % about
        )
    pooled = run.result.get("pooled")
    if pooled and "value" in pooled:
        about = {
            "waves": ", ".join(str(wave) for wave in pooled["waves"]),
            "title": _(pooled["title"]),
            "value": number(pooled["value"]),
            "between": between(pooled),
            "items": items(pooled["n"]),
        }
        said.append(_("Waves %(waves)s together: %(title)s %(value)s, %(between)s, on %(items)s.") % about)
    return said


def notes(draw: Draw, looks: Sequence[str] = ()) -> list[str]:
    """What is printed with every figure of a draw: how it closed, and what raters or leads knew."""
    said = [mark] if (mark := imported.mark(draw)) else []
    if draw.is_anonymous:
        said.append(_("The ratings are anonymous: there is no figure by pair or rater."))
    when = date_format(draw.closed_at, "j M Y") if draw.closed_at else ""
    about = {"when": when, "reason": draw.reason, "by": draw.closed_by.name if draw.closed_by else ""}
    if draw.closing == Closing.EARLY:
        said.append(_("Closed early on %(when)s by %(by)s: %(reason)s") % about)
        if looks:
            about["names"] = ", ".join(looks)
            said.append(_("The interim figure had been seen by %(names)s.") % about)
    elif draw.closing == Closing.SHORT:
        said.append(_("Closed short on %(when)s: some ratings were left that nobody present could give.") % about)
    elif draw.closing == Closing.COMPLETE:
        by_hand = _("Closed on %(when)s by %(by)s, complete.")
        said.append((by_hand if draw.closed_by else _("Closed on %(when)s by itself, complete.")) % about)
    if draw.raters_knew:
        said.append(_("Raters knew: every item of the wave was overlap."))
    elif draw.known_from:
        about["n"] = str(draw.known_from)
        said.append(_("From rating %(n)s on raters could have known what is measured: the cover was released.") % about)
    return said


def run_notes(result: Mapping[str, Any]) -> list[str]:
    said = []
    coverage, versions = result["coverage"], result["versions"]
    if not result["interim"] and result["n"] < coverage["drawn"]:
        about = {"n": result["n"], "drawn": coverage["drawn"]}
        said.append(_("%(n)s of the %(drawn)s items drawn have two ratings or more.") % about)
    if len(versions) > 1:
        listed = ", ".join(f"{each['version']}: {each['ratings']}" for each in versions)
        said.append(_("Ratings by the version that the rater saw: %(list)s.") % {"list": listed})
    for each in result["unknown"]:
        said.append(
            _("%(n)s ratings have the value %(value)s, which is no label of this version. They are left out.")
            % {"n": each["ratings"], "value": each["value"]}
        )
    return said


def observed(entry: Entry, statistics: Mapping[str, Any]) -> str:
    """Observed and expected agreement behind the headline."""
    percent = statistics.get("percent_agreement", {})
    if "exact_f1" in statistics and "observed" in entry:
        return _("Observed agreement of tokens %(observed)s, expected by chance %(expected)s.") % {
            "observed": number(entry["observed"]),
            "expected": number(entry["expected"]),
        }
    if "observed" in entry and "expected" in entry:
        return _("Observed agreement %(observed)s, expected by chance %(expected)s.") % {
            "observed": number(entry["observed"]),
            "expected": number(entry["expected"]),
        }
    if "observed_disagreement" in entry:
        seen, chance = entry["observed_disagreement"], entry["expected_disagreement"]
        about = {
            "observed": number(seen),
            "expected": number(chance),
            "share": number(seen / chance) if chance else "",
            "po": number(percent["value"]) if "value" in percent else "–",
        }
        if chance > 1:
            # Squared ranks and values have a unit of their own, in which nobody thinks: the share says it.
            return _("Observed disagreement is %(share)s of what chance would give; percent agreement %(po)s.") % about
        return (
            _("Observed disagreement %(observed)s, expected by chance %(expected)s; percent agreement %(po)s.") % about
        )
    return _("Percent agreement %(po)s.") % {"po": number(percent["value"])} if "value" in percent else ""


def cannot_tell(result: Mapping[str, Any], draw: Draw) -> list[str]:
    said = [
        _("Whether the labels are right: people can agree on a mistake."),
        _("How the people would agree on other items, with another guideline, or without having read this one."),
        _("Whether this is good enough: that depends on what the labels are for, not on a word for a number."),
    ]
    if result.get("expert") and result["headline"]["key"].startswith("expert_"):
        said.append(_("Whether the expert is right: who differs from them is not wrong by that."))
    if result.get("level") == "multilabel":
        said.append(_("Which labels are hard: one figure for whole sets hides that. The table of labels tells it."))
    if result.get("level") == "spans":
        said.append(_("How it would compare with spans counted on other units: another tokenisation, another figure."))
    if result.get("weighting"):
        said.append(_("Which of its two readings is wanted: as drawn, or as the population would give it."))
    if result["n"] < 100:
        said.append(
            _("Small differences: on %(items)s the interval is wide, and the figure for a rare label wider still.")
            % {"items": items(result["n"])}
        )
    if len(result["raters"]) > 2:
        said.append(_("Who is right where two people differ; a pair with few shared items may be far off by chance."))
    if draw.size < draw.wave.size:
        said.append(_("Anything about a single item outside the overlap: that one has one rating."))
    return said


def method(run: Run, draw: Draw, entry: Entry) -> list[str]:
    result = run.result
    said = []
    pseudo = _("one pseudo-item spread over all cells")
    if result.get("level") == "spans":
        said.append(_("Items are drawn anew, so that the spans of one text stay together."))
        pseudo = _("one pseudo-item: alike, with other labels, and with nothing in common, a third of it each")
    about = {"seed": result["seed"], "replicates": entry.get("replicates", 0), "pseudo": pseudo}
    if entry.get("method") == "bootstrap":
        text = _("Interval: percentile bootstrap over items, %(replicates)s replicates, seed %(seed)s.")
        said.append(text % about)
    elif is_smoothed(entry):
        text = _(
            "Interval: smoothed bootstrap (%(pseudo)s, a Dirichlet draw), %(replicates)s replicates, seed %(seed)s. It "
            "stands in for the percentile bootstrap where there are fewer than 100 items, fewer than 5 disagreements, "
            "or a value of 1."
        )
        said.append(text % about)
    parts = [result.get(part) for part in ("statistics", "pairs", "strata", "merged", "weighting")]
    if not is_smoothed(entry) and _has_smoothed(parts):
        text = _(
            "An interval marked “smoothed” in the tables is of a smoothed bootstrap (%(pseudo)s, a Dirichlet draw): "
            "that part has fewer than 100 items, fewer than 5 disagreements, or a value of 1."
        )
        said.append(text % about)
    share = result["statistics"].get("percent_agreement", {})
    if share.get("method") == "wilson":
        said.append(_("Interval of percent agreement: Wilson’s, as each item has two ratings and agrees or does not."))
    elif share.get("interval") and any(int(size) > 2 for size in result["coverage"]["items_by_ratings"]):
        said.append(
            _("Interval of percent agreement: of items drawn anew, as those with more ratings than two agree in part.")
        )
    if entry.get("undefined_share"):
        share = f"{100 * entry['undefined_share']:.1f}"
        said.append(_("%(share)s %% of the replicates were undefined and are left out.") % {"share": share})
    where = {
        "version": draw.wave.version.number,
        "wave": draw.wave.number,
        "drawn": result["drawn"],
        "ratings": result["ratings_per_item"],
        "engine": run.engine,
        "source": result["headline"]["source"],
        "at": date_format(run.created_at, "j M Y, H:i"),
        "digest": run.digest[:12],
        "draw": str(draw.uuid),
    }
    said.append(_("Source of the coefficient: %(source)s.") % where)
    made_of = (
        _("Guideline %(version)s, wave %(wave)s; %(drawn)s items with two imported ratings or more.")
        if draw.is_imported
        else _("Guideline %(version)s, wave %(wave)s; %(drawn)s items drawn, %(ratings)s ratings each.")
    )
    computed = _("Computed %(at)s by engine %(engine)s from inputs %(digest)s; draw %(draw)s.")
    said.append(f"{made_of} {computed}" % where)
    return said
