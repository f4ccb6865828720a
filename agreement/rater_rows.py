"""The people of a run: each pair on what both rated, and each person beside all others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agreement import charts, people, worded
from agreement.charts import Axis
from agreement.coefficients import COEFFICIENTS, intervals
from agreement.sentences import Entry
from agreement.worded import Figure

# METHODS of the reference, section 11: below this a pair has counts and no kappa.
PAIR_MINIMUM = 20
# Where the headline has no weights, no pair's kappa has them in the picture.
UNWEIGHTED = ("cohen_kappa", "krippendorff_alpha_nominal", "fleiss_kappa", "expert_kappa_pooled")
# With more pairs than these the ones with few items are folded away.
LISTED = 12


@dataclass(frozen=True)
class PairRow:
    """Two people on the items that both rated. `few` says that these are too few for the figures, and the counts."""

    names: str
    n: int
    figures: list[Figure]
    table: list[tuple[str, list[int]]] | None
    few: str = ""

    @property
    def others(self) -> list[Figure]:
        return self.figures[1:]


@dataclass(frozen=True)
class Pairs:
    titles: list[str]
    rows: list[PairRow]
    axis: Axis
    minimum: int = PAIR_MINIMUM

    @property
    def others(self) -> list[str]:
        return self.titles[1:]

    @property
    def smoothed(self) -> bool:
        """Whether an interval that is shown, of the first statistic, is a smoothed one."""
        return worded.has_smoothed(row.figures[0] for row in self.rows if not row.few)

    @property
    def shown(self) -> list[PairRow]:
        """All of a few pairs; of many those with enough items."""
        return self.rows if len(self.rows) <= LISTED else [row for row in self.rows if row.n >= self.minimum]

    @property
    def folded(self) -> list[PairRow]:
        """The others, which are a click away."""
        return [] if len(self.rows) <= LISTED else [row for row in self.rows if row.n < self.minimum]

    @property
    def has_tables(self) -> bool:
        return any(row.table for row in self.rows)

    @property
    def columns(self) -> int:
        """How many stand before the picture."""
        return 3 + len(self.titles)


@dataclass(frozen=True)
class RaterRow:
    """One person's percent agreement with all others. `figure` is None below the protocol's minimum."""

    name: str
    n: int
    agreed: int
    figure: Figure | None


@dataclass(frozen=True)
class Raters:
    rows: list[RaterRow]
    axis: Axis
    minimum: int


def pairs(result: Mapping[str, Any], names: Mapping[str, str], *, by_rater: bool, weights: str | None = None) -> Pairs:
    """Each pair that shares items. It has figures from PAIR_MINIMUM items on, and counts below.

    First stands the statistic that is drawn: the headline, or the kappa with the protocol's `weights`, where there is.
    """
    found = sorted(result["pairs"], key=lambda pair: [people.in_order(name) for name in _names(pair, names)])
    keys = _in_order(result, weights)
    first: list[Entry] = [pair["statistics"].get(keys[0]) or {"n": pair["n"]} for pair in found] if keys else []
    large = [
        worded.ends(entry) if min(entry["n"], pair["n"]) >= PAIR_MINIMUM else (None, None, None)
        for entry, pair in zip(first, found, strict=False)
    ]
    axis, spans = charts.forest(large)
    labels = [label["name"] for label in result["labels"]]
    rows = []
    for pair, span in zip(found if keys else [], spans, strict=True):
        figures = [
            worded.of(title_of(result, key), pair["statistics"][key], span=None if place else span)
            for place, key in enumerate(keys)
        ]
        tables = by_rater and pair.get("table") and len(pair["table"]) == len(labels)
        table = list(zip(labels, pair["table"], strict=True)) if tables else None
        one, other = (names.get(rater, rater) for rater in pair["raters"]) if table else _names(pair, names)
        both = _("%(one)s and %(other)s") % {"one": one, "other": other}
        rows.append(PairRow(both, pair["n"], figures, table, _few(result, pair)))
    return Pairs([title_of(result, key) for key in keys], rows, axis)


def _few(result: Mapping[str, Any], pair: Mapping[str, Any]) -> str:
    """Why a pair has no figure, with its counts; nothing where it has one."""
    if pair["n"] >= PAIR_MINIMUM:
        return ""
    same = None if result.get("per_label") else _same(pair)
    if same is None:
        return _("too few for a figure")
    return _("too few for a figure; the same: %(same)s of %(n)s") % {"same": same, "n": pair["n"]}


def _names(pair: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    return sorted((names.get(rater, rater) for rater in pair["raters"]), key=people.in_order)


def drawn_first(result: Mapping[str, Any]) -> str:
    """The statistic of pairs that stands first; empty where no pair has one."""
    return next(iter(_in_order(result, None)), "")


def _in_order(result: Mapping[str, Any], weights: str | None) -> list[str]:
    """The statistics of pairs, with the one in front that says the same as the headline."""
    keys = list(result["pairs"][0]["statistics"]) if result["pairs"] else []
    wanted = [result["headline"]["key"], f"weighted_kappa_{weights}" if weights else ""]
    front = next((key for key in wanted if key in keys), None)
    return [front, *(key for key in keys if key != front)] if front else keys


def title_of(result: Mapping[str, Any], key: str) -> str:
    """What a statistic is called: as the result says, else as the registry."""
    named = (result.get("titles") or {}).get(key)
    return _(named or (COEFFICIENTS[key].title if key in COEFFICIENTS else key))


def raters(result: Mapping[str, Any], names: Mapping[str, str]) -> Raters | None:
    """Each of three or more beside the others: how many of the ratings they share say the same.

    Counts of shared ratings; the interval (Wilson's) is given where an item has two ratings, so that shared ratings
    are items and each is counted once; else the note of the figure says that there is none.
    """
    agreed = _agreed(result)
    if len(result["raters"]) < 3 or agreed is None:
        return None
    minimum = int(result["minimum_n"])
    entries: list[Entry] = []
    in_order = sorted(result["raters"], key=lambda rater: people.in_order(names.get(rater, rater)))
    for rater in in_order:
        n, same = agreed.get(rater, (0, 0))
        entries.append(_share(same, n, single=result["ratings_per_item"] == 2) if n and n >= minimum else {"n": n})
    axis, spans = charts.forest([worded.ends(entry) for entry in entries])
    rows = []
    for rater, entry, span in zip(in_order, entries, spans, strict=True):
        name = names.get(rater, rater)
        why = "" if entry.get("interval") else _("no interval: an item counts in several pairs")
        shown = worded.of(name, entry, note=why, span=span) if "value" in entry else None
        rows.append(RaterRow(name, int(entry["n"]), int(agreed.get(rater, (0, 0))[1]), shown))
    return Raters(rows, axis, minimum)


def _share(same: int, n: int, *, single: bool) -> Entry:
    entry: dict[str, Any] = {"n": n, "value": same / n}
    if single:
        span = intervals.wilson(same, n)
        entry |= {"interval": [span.low, span.high], "level": span.level}
    return entry


def _agreed(result: Mapping[str, Any]) -> dict[str, tuple[int, int]] | None:
    """Rater -> (ratings shared with others, those that say the same), from the tables or the agreement of the pairs."""
    found: dict[str, tuple[int, int]] = {}
    if result.get("per_label"):
        return None  # the tables of sets and spans count labels, not answers
    for pair in result["pairs"]:
        same = _same(pair)
        if same is None:
            return None
        for rater in pair["raters"]:
            n, before = found.get(rater, (0, 0))
            found[rater] = (n + int(pair["n"]), before + same)
    return found


def _same(pair: Mapping[str, Any]) -> int | None:
    table = pair.get("table")
    if table:
        return int(sum(table[place][place] for place in range(len(table))))
    observed = pair["statistics"].get("cohen_kappa", {}).get("observed")
    return None if observed is None else round(float(observed) * int(pair["n"]))
