"""A report as text: what `manage.py agreement` prints for people. All figures stand in the answer that it is given."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import sentences
from agreement.charts import number
from agreement.codebooks import names
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.expert_sets import EXACT_SET, PER_LABEL
from agreement.sentences import Entry

# METHODS of the reference, section 11: below this a pair is told by its count alone.
PAIR_MINIMUM = 20
MOST_PAIRS, MOST_COLUMNS, MOST_NAMES = 30, 12, 8

Lines = Iterator[str]


def report(answer: Mapping[str, Any], name: str) -> str:
    """The whole report on the file `name`."""
    parts = [_opening(answer, name), _headline(answer), _beside(answer), _classes(answer), _table(answer)]
    parts += [_expert(answer), _expert_sets(answer), _pairs(answer), _to_know(answer), _cannot_tell(answer)]
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def aligned(rows: Sequence[Sequence[str]], *, indent: int = 2) -> list[str]:
    """Rows in columns under a head: the first to the left, the others to the right, and none that is empty."""
    filled = [any(column[1:]) for column in zip(*rows, strict=True)]
    rows = [[cell for cell, keep in zip(row, filled, strict=True) if keep] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [" " * indent + "  ".join(_padded(row, widths)).rstrip() for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blank = " " * (width - _width(cell))
        yield blank + cell if place else cell + blank


def _width(text: str) -> int:
    """Columns of a terminal: signs of East Asian scripts take two, combining ones none."""
    return sum((unicodedata.east_asian_width(c) in "WF") + (not unicodedata.combining(c)) for c in text)


def _opening(answer: Mapping[str, Any], name: str) -> Lines:
    raters, labels = answer["raters"], answer["labels"]
    n = len(raters)
    people, places = ngettext("%(n)s rater", "%(n)s raters", n), ngettext("%(n)s place", "%(n)s places of ratings", n)
    about = {
        "name": name,
        "items": sentences.items(answer["n_items"]),
        "raters": (places if answer["exchangeable"] else people) % {"n": n},
        "names": _listed(raters),
        "labels": ngettext("%(n)s label", "%(n)s labels", len(labels)) % {"n": len(labels)},
        "label_names": _listed(names(labels)),
        "scale": answer["scale"],
    }
    yield _("%(name)s: %(items)s, %(raters)s (%(names)s), %(labels)s (%(label_names)s), scale %(scale)s.") % about


def _headline(answer: Mapping[str, Any]) -> Lines:
    chosen, statistics = answer["headline"], answer["statistics"]
    entry = statistics[chosen["key"]]
    yield _sentence(chosen["title"], entry)
    yield _("Why this one: %(reason)s") % {"reason": _(chosen["reason"])}
    if "value" in entry:
        said = sentences.observed(entry, statistics)
        if said:
            yield said
    yield from _method(entry, answer["seed"])


def _sentence(title: str, entry: Entry) -> str:
    about = {
        "title": _(title),
        "between": sentences.between(entry),
        "items": sentences.items(entry["n"]),
        "why": _(entry.get("sentence", "")),
    }
    if "value" not in entry:
        return _("%(title)s is undefined: %(why)s") % about
    about["value"] = number(entry["value"])
    if about["between"]:
        return _("%(title)s %(value)s, %(between)s, on %(items)s.") % about
    return _("%(title)s %(value)s, on %(items)s.") % about


def _method(entry: Entry, seed: int) -> Lines:
    about = {"replicates": entry.get("replicates", 0), "seed": seed}
    if entry.get("method") == "bootstrap":
        yield _("Interval: percentile bootstrap over items, %(replicates)s replicates, seed %(seed)s.") % about
    elif entry.get("method") == "smoothed":
        text = _(
            "Interval: smoothed bootstrap, which stands in below 100 items, below 5 disagreements and at a value of 1;"
            " %(replicates)s replicates, seed %(seed)s."
        )
        yield text % about
    if "large_sample" in entry:
        low, high = map(number, entry["large_sample"])
        yield _("Large-sample interval (Fisher's z): %(low)s – %(high)s.") % {"low": low, "high": high}
    if entry.get("undefined_share"):
        share = f"{100 * entry['undefined_share']:.1f}"
        yield _("%(share)s %% of the replicates were undefined and are left out.") % {"share": share}


def _beside(answer: Mapping[str, Any]) -> Lines:
    keys = [key for key in answer["headline"]["beside"] if key in answer["statistics"]]
    if not keys:
        return
    yield _("Beside it")
    rows = [[_(COEFFICIENTS[key].title), *_figure(answer["statistics"][key])] for key in keys]
    yield from aligned([_head(_("coefficient")), *rows])
    for reason in sorted({answer["statistics"][key].get("sentence", "") for key in keys} - {""}):
        yield "  " + _("undefined: %(why)s") % {"why": _(reason)}


def _head(first: str) -> list[str]:
    return [first, _("value"), _("interval"), _("n")]


def _figure(entry: Entry) -> list[str]:
    """Value, interval and n as cells."""
    if "value" not in entry:
        return [_("undefined"), "", f"{entry['n']:g}"]
    low_high = " – ".join(number(end) for end in entry.get("interval", ()))
    return [number(entry["value"]), low_high, _whole(entry["n"])]


def _whole(n: float) -> str:
    return str(int(n)) if n == int(n) else f"{n:g}"


def _classes(answer: Mapping[str, Any]) -> Lines:
    statistics = answer["statistics"]
    titles = {
        "per_class_kappa": _("kappa against the rest"),
        "per_class_alpha": _("alpha against the rest"),
        "per_label_cohen_kappa": _("kappa"),
        "per_label_krippendorff_alpha_nominal": _("alpha"),
    }
    key = next(key for key in titles if key in statistics)
    against, specific = statistics[key], statistics["specific_agreement"]
    if not against:
        return
    yield _("By label")
    rows = [[_("label"), *_use_heads(answer), _("specific agreement"), titles[key], _("interval")]]
    for place, (label, one, other) in enumerate(zip(names(answer["labels"]), specific, against, strict=True)):
        value, low_high, _n = _figure(other)
        rows.append([label, *_uses(answer, place), _figure(one)[0], value, low_high])
    yield from aligned(rows)


def _use_heads(answer: Mapping[str, Any]) -> list[str]:
    if answer["scale"] == "multilabel":
        return []
    if len(answer["raters"]) > MOST_NAMES:
        return [_("uses")]
    return [str(rater) for rater in answer["raters"]]


def _uses(answer: Mapping[str, Any], place: int) -> list[str]:
    if answer["scale"] == "multilabel":
        return []
    found = [uses[place] for uses in answer["uses"]]
    return [_whole(n) for n in ([sum(found)] if len(found) > MOST_NAMES else found)]


def _table(answer: Mapping[str, Any]) -> Lines:
    table, labels = answer.get("table"), names(answer["labels"])
    if table is None or answer["scale"] == "multilabel" or len(labels) > MOST_COLUMNS:
        return
    down, across = answer["raters"]
    yield _("%(down)s down, %(across)s across") % {"down": down, "across": across}
    rows = [["", *labels], *([label, *map(_whole, row)] for label, row in zip(labels, table, strict=True))]
    yield from aligned(rows)


def _expert(answer: Mapping[str, Any]) -> Lines:
    name = f"{answer['headline']['key'].removesuffix('_pooled')}_per_rater"
    if name not in answer["statistics"]:
        return
    yield _("With the expert %(name)s") % {"name": answer["expert"]}
    rows = [[each["rater"], *_pair_figure(each)] for each in answer["statistics"][name]]
    kappa = COEFFICIENTS.get(
        "cohen_kappa" if name == "expert_kappa_per_rater" else f"weighted_kappa_{answer['weights']}"
    )
    title = _(kappa.title) if kappa else _("weighted kappa")
    yield from aligned([[_("rater"), title, _("interval"), _("n")], *rows])


def _expert_sets(answer: Mapping[str, Any]) -> Lines:
    """Each label of an answer that is a set of them, and the whole set."""
    if PER_LABEL not in answer["statistics"]:
        return
    rows, exact = answer["statistics"][PER_LABEL], answer["statistics"][EXACT_SET]
    yield _("With the expert %(name)s") % {"name": answer["expert"]}
    yield "  " + _sentence(_("Exact-set agreement"), exact)
    called = zip(names(answer["labels"]), rows, strict=True)
    yield from aligned(
        [[_("label"), _("kappa"), _("interval"), _("n")], *([name, *_figure(row)] for name, row in called)]
    )


def _pairs(answer: Mapping[str, Any]) -> Lines:
    statistics = answer["statistics"]
    weighted = f"pairwise_weighted_kappa_{answer['weights']}" if answer["weights"] else ""
    key = weighted if weighted in statistics else "pairwise_cohen_kappa"
    found = [each for each in statistics.get(key, ()) if each["n"]]
    if not found:
        return
    title = COEFFICIENTS.get(key.removeprefix("pairwise_"))
    yield _("Pairs of raters")
    shown = sorted(found, key=_lowest_first)[:MOST_PAIRS] if len(found) > MOST_PAIRS else found
    rows = [[" – ".join(each["pair"]), *_pair_figure(each)] for each in shown]
    yield from aligned([[_("pair"), _(title.title) if title else _("weighted kappa"), _("interval"), _("n")], *rows])
    if len(shown) < len(found):
        about = {"shown": len(shown), "all": len(found)}
        yield "  " + _("The lowest %(shown)s of %(all)s pairs; --json has them all.") % about


def _lowest_first(entry: Entry) -> tuple[bool, float]:
    few = entry["n"] < PAIR_MINIMUM or "value" not in entry
    return few, entry.get("value", 0.0)


def _pair_figure(entry: Entry) -> list[str]:
    if entry["n"] < PAIR_MINIMUM:
        return [_("too few"), "", _whole(entry["n"])]
    return _figure(entry)


def _to_know(answer: Mapping[str, Any]) -> Lines:
    said = [*answer["notes"], *(each["sentence"] for each in answer["diagnostics"])]
    if said:
        yield _("To know")
        yield from (f"  - {each}" for each in said)


def _cannot_tell(answer: Mapping[str, Any]) -> Lines:
    yield _("What it cannot tell")
    yield "  - " + _("Whether the labels are right: people can agree on a mistake.")
    yield "  - " + _("How the people would agree on other items, or with another guideline.")
    yield "  - " + _("Whether this is good enough: that depends on what the labels are for.")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMES])}, … {more} {_('more')}"
