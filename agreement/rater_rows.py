"""The people of a run: each pair on what both rated, each person beside the others, and who shares items with whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import charts, worded
from agreement.charts import Axis
from agreement.coefficients import COEFFICIENTS, intervals
from agreement.sentences import Entry
from agreement.worded import Figure

# METHODS of the reference, section 11: below this a pair's kappa is not drawn.
PAIR_MINIMUM = 20
# With more pairs than these the ones with few items are folded away.
LISTED = 12
# The picture of who shares items: a circle with its numbers outside. With more edges their counts would hide it.
SIZE, RADIUS, OUTSIDE = 320, 118, 146
COUNTED_EDGES, WIDEST = 10, 9.0
# With more raters than these each is named once, and others speak of them by number.
NAMED = 8


@dataclass(frozen=True)
class PairRow:
    names: str
    n: int
    figures: list[Figure]
    table: list[tuple[str, list[int]]] | None


@dataclass(frozen=True)
class Pairs:
    titles: list[str]
    rows: list[PairRow]
    axis: Axis
    minimum: int = PAIR_MINIMUM

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


@dataclass(frozen=True)
class Node:
    """A rater on the circle; `shares` says with whom, the most first."""

    number: int
    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    items: int
    shares: list[tuple[str, int]]


@dataclass(frozen=True)
class Edge:
    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    x: float
    y: float
    n: int


@dataclass(frozen=True)
class Coverage:
    """Who shares items with whom: a picture, its table, and whether all hang together."""

    size: int
    nodes: list[Node]
    edges: list[Edge]
    counted: bool
    sentence: str

    @property
    def by_number(self) -> bool:
        return len(self.nodes) > NAMED


def pairs(result: Mapping[str, Any], names: Mapping[str, str], *, by_rater: bool) -> Pairs:
    """Each pair that shares items. Its kappa is in the table from one item on, and in the picture from PAIR_MINIMUM."""
    found = result["pairs"]
    first: list[Entry] = [next(iter(pair["statistics"].values()), {"n": pair["n"]}) for pair in found]
    large = [worded.ends(entry) if entry["n"] >= PAIR_MINIMUM else (None, None, None) for entry in first]
    axis, spans = charts.forest(large)
    labels = [label["name"] for label in result["labels"]]
    rows = []
    for pair, span in zip(found, spans, strict=True):
        figures = [
            worded.of(title_of(result, key), entry, span=None if place else span)
            for place, (key, entry) in enumerate(pair["statistics"].items())
        ]
        tables = by_rater and pair.get("table") and len(pair["table"]) == len(labels)
        table = list(zip(labels, pair["table"], strict=True)) if tables else None
        one, other = (names.get(rater, rater) for rater in pair["raters"])
        rows.append(PairRow(_("%(one)s and %(other)s") % {"one": one, "other": other}, pair["n"], figures, table))
    keys = list(found[0]["statistics"]) if found else []
    return Pairs([title_of(result, key) for key in keys], rows, axis)


def title_of(result: Mapping[str, Any], key: str) -> str:
    """What a statistic is called: as the result says, else as the registry."""
    named = (result.get("titles") or {}).get(key)
    return _(named or (COEFFICIENTS[key].title if key in COEFFICIENTS else key))


def raters(result: Mapping[str, Any], names: Mapping[str, str]) -> Raters | None:
    """Each of three or more beside the others: how many of the ratings they share say the same.

    Counts of shared ratings; the interval (Wilson's) is given where an item has two ratings, so that shared ratings
    are items and each is counted once.
    """
    agreed = _agreed(result)
    if len(result["raters"]) < 3 or agreed is None:
        return None
    minimum = int(result["minimum_n"])
    entries: list[Entry] = []
    for rater in result["raters"]:
        n, same = agreed.get(rater, (0, 0))
        entries.append(_share(same, n, single=result["ratings_per_item"] == 2) if n and n >= minimum else {"n": n})
    axis, spans = charts.forest([worded.ends(entry) for entry in entries])
    rows = []
    for rater, entry, span in zip(result["raters"], entries, spans, strict=True):
        name = names.get(rater, rater)
        shown = worded.of(name, entry, span=span) if "value" in entry else None
        rows.append(RaterRow(name, int(entry["n"]), int(agreed.get(rater, (0, 0))[1]), shown))
    return Raters(rows, axis, minimum)


def _share(same: int, n: int, *, single: bool) -> Entry:
    entry: dict[str, Any] = {"n": n, "value": same / n}
    if single:
        span = intervals.wilson(same, n)
        entry |= {"interval": [span.low, span.high], "level": span.level}
    return entry


def coverage(result: Mapping[str, Any], names: Mapping[str, str]) -> Coverage | None:
    """Who shares items with whom, of three raters or more."""
    people = list(result["raters"])
    if len(people) < 3:
        return None
    shared = {frozenset(pair["raters"]): int(pair["n"]) for pair in result["pairs"] if pair["n"]}
    nodes = [_node(place, people, names, shared) for place in range(len(people))]
    at = dict(zip(people, nodes, strict=True))
    most = max(shared.values(), default=1)
    ends = {pair: sorted(pair, key=people.index) for pair in shared}
    edges = [_edge(at[ends[pair][0]], at[ends[pair][1]], n, most) for pair, n in shared.items()]
    sentence = _hanging(_groups(people, shared), names)
    return Coverage(SIZE, nodes, edges, len(edges) <= COUNTED_EDGES, sentence)


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


def _node(place: int, people: Sequence[str], names: Mapping[str, str], shared: Mapping[frozenset[str], int]) -> Node:
    angle = 2 * pi * place / len(people) - pi / 2
    middle, rater = SIZE / 2, people[place]
    found = []
    for at, other in enumerate(people):
        n = shared.get(frozenset((rater, other)), 0) if other != rater else 0
        if n:
            found.append((f"{at + 1}" if len(people) > NAMED else names.get(other, other), n))
    return Node(
        place + 1,
        names.get(rater, rater),
        round(middle + RADIUS * cos(angle), 1),
        round(middle + RADIUS * sin(angle), 1),
        round(middle + OUTSIDE * cos(angle), 1),
        round(middle + OUTSIDE * sin(angle), 1),
        sum(n for _name, n in found),
        sorted(found, key=lambda each: -each[1]),
    )


def _edge(one: Node, other: Node, n: int, most: int) -> Edge:
    # A third of the way along, so that counts of edges that cross in the middle do not lie on each other.
    x, y = one.x + (other.x - one.x) * 0.36, one.y + (other.y - one.y) * 0.36
    return Edge(one.x, one.y, other.x, other.y, round(1 + (WIDEST - 1) * n / most, 1), round(x, 1), round(y, 1), n)


def _groups(people: Sequence[str], shared: Mapping[frozenset[str], int]) -> list[list[str]]:
    """The raters by whom they reach through shared items, the largest group first."""
    left, groups = list(people), []
    while left:
        group, waiting = [], [left[0]]
        while waiting:
            rater = waiting.pop()
            if rater in left:
                left.remove(rater)
                group.append(rater)
                waiting += [other for other in left if frozenset((rater, other)) in shared]
        groups.append(sorted(group, key=people.index))
    return sorted(groups, key=lambda group: -len(group))


def _hanging(groups: Sequence[Sequence[str]], names: Mapping[str, str]) -> str:
    if len(groups) == 1:
        return ngettext(
            "All %(n)s rater hangs together.",
            "All %(n)s raters hang together: from each of them the others are reached over shared items.",
            len(groups[0]),
        ) % {"n": len(groups[0])}
    listed = "; ".join(", ".join(names.get(rater, rater) for rater in group) for group in groups)
    return _(
        "The raters fall apart into %(n)s groups that share no item: %(groups)s. Nothing here compares one group with "
        "another."
    ) % {"n": len(groups), "groups": listed}
