"""Who shares items with whom: the raters of a run on a circle, and whether they hang together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import people

# The picture of who shares items: a circle with its numbers outside. With more edges their counts would hide it.
SIZE, RADIUS, OUTSIDE = 320, 118, 146
COUNTED_EDGES, WIDEST = 10, 9.0
# With more raters than these each is named once, and others speak of them by number.
NAMED = 8


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

    @property
    def title(self) -> str:
        """Number and name; a pseudonym is its number already."""
        return self.name if self.name == people.pseudonym(self.number) else f"{self.number} {self.name}"


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


def coverage(result: Mapping[str, Any], names: Mapping[str, str]) -> Coverage | None:
    """Who shares items with whom, of three raters or more."""
    raters = sorted(result["raters"], key=lambda rater: people.in_order(names.get(rater, rater)))
    if len(raters) < 3:
        return None
    shared = {frozenset(pair["raters"]): int(pair["n"]) for pair in result["pairs"] if pair["n"]}
    nodes = [_node(place, raters, names, shared) for place in range(len(raters))]
    at = dict(zip(raters, nodes, strict=True))
    most = max(shared.values(), default=1)
    ends = {pair: sorted(pair, key=raters.index) for pair in shared}
    edges = [_edge(at[ends[pair][0]], at[ends[pair][1]], n, most) for pair, n in shared.items()]
    sentence = _hanging(_groups(raters, shared), names)
    return Coverage(SIZE, nodes, edges, len(edges) <= COUNTED_EDGES, sentence)


def _node(place: int, raters: Sequence[str], names: Mapping[str, str], shared: Mapping[frozenset[str], int]) -> Node:
    angle = 2 * pi * place / len(raters) - pi / 2
    middle, rater = SIZE / 2, raters[place]
    found = []
    for at, other in enumerate(raters):
        n = shared.get(frozenset((rater, other)), 0) if other != rater else 0
        if n:
            found.append((f"{at + 1}" if len(raters) > NAMED else names.get(other, other), n))
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


def _groups(raters: Sequence[str], shared: Mapping[frozenset[str], int]) -> list[list[str]]:
    """The raters by whom they reach through shared items, the largest group first."""
    left, groups = list(raters), []
    while left:
        group, waiting = [], [left[0]]
        while waiting:
            rater = waiting.pop()
            if rater in left:
                left.remove(rater)
                group.append(rater)
                waiting += [other for other in left if frozenset((rater, other)) in shared]
        groups.append(sorted(group, key=raters.index))
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
