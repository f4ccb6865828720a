"""Where the marks of a picture stand. The templates draw them as SVG, so that names are escaped and colours are CSS.

Along the width places are per cent of the picture: it fits a phone and a printed page with letters of one size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

HEIGHT, TOP, BOTTOM = 300, 16, 64
AXIS_WIDTH = 44
# What a reading needs for what is written under it, in px; with more readings than fit, the picture scrolls.
MARK_WIDTH = 84
GAP = 0.5  # between two MAJOR versions, in readings: a break, no line crosses it
MARGIN = 7.0  # per cent left free at both ends of a forest plot, for half a tick label


@dataclass(frozen=True)
class Reading:
    """One figure as a picture needs it: `value` None where it is undefined."""

    name: str
    group: str
    value: float | None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    hollow: bool = False
    text: str = ""
    url: str = ""

    @property
    def shown(self) -> str:
        return "" if self.value is None else number(self.value)


@dataclass(frozen=True)
class Mark:
    """A reading with its place. `low_y` and `high_y` are the ends of its interval."""

    reading: Reading
    x: float
    y: float | None
    low_y: float | None
    high_y: float | None


@dataclass(frozen=True)
class Threshold:
    """A piece of the threshold line, as wide as the draws that declared it."""

    x1: float
    x2: float
    y: float
    text: str


@dataclass(frozen=True)
class Chart:
    """Heights are px from the top, `x` is per cent of the width; `least_width` is what it needs, in px."""

    height: int
    axis_width: int
    least_width: int
    base: float
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    groups: list[tuple[float, str]]
    breaks: list[float]
    thresholds: list[Threshold]

    @property
    def threshold_values(self) -> list[str]:
        return sorted({piece.text for piece in self.thresholds})

    @property
    def has_open(self) -> bool:
        return any(mark.reading.hollow for mark in self.marks)


@dataclass(frozen=True)
class Axis:
    """The one axis that the rows of a forest plot share: ticks and a reference line, in per cent of its width."""

    bottom: float
    ticks: list[tuple[float, str]]
    reference: float | None = None

    def place(self, value: float) -> float:
        share = (min(value, 1.0) - self.bottom) / (1 - self.bottom)
        return round(MARGIN + share * (100 - 2 * MARGIN), 2)


@dataclass(frozen=True)
class Span:
    """A value with its interval on an `Axis`."""

    x: float
    low_x: float
    high_x: float


# value, low, high
Ends = tuple[float | None, float | None, float | None]


def versions(readings: Sequence[Reading]) -> Chart | None:
    """A point with its interval per reading, in order, with a gap where the group (the MAJOR) changes."""
    if not readings:
        return None
    runs = [(group, list(members)) for group, members in groupby(readings, key=lambda reading: reading.group)]
    bottom = _bottom([r.low if r.low is not None else r.value for r in readings] + [r.threshold for r in readings])
    step = 100 / (len(readings) + GAP * (len(runs) - 1))

    def height_of(value: float | None) -> float | None:
        if value is None:
            return None
        return round(TOP + (1 - value) / (1 - bottom) * (HEIGHT - TOP - BOTTOM), 1)

    marks, groups, breaks, thresholds, x = [], [], [], [], 0.0
    for place, (group, members) in enumerate(runs):
        if place:
            breaks.append(round(x + step * GAP / 2, 2))
            x += step * GAP
        groups.append((round(x + step * len(members) / 2, 2), group))
        for reading in members:
            y = height_of(reading.threshold)
            if y is not None and reading.threshold is not None:
                thresholds.append(Threshold(round(x, 2), round(x + step, 2), y, number(reading.threshold)))
            ends = height_of(reading.low), height_of(reading.high)
            marks.append(Mark(reading, round(x + step / 2, 2), height_of(reading.value), *ends))
            x += step
    ticks = [(y, number(value)) for value in _ticks(bottom) if (y := height_of(value)) is not None]
    least = round(MARK_WIDTH * 100 / step)
    return Chart(HEIGHT, AXIS_WIDTH, least, HEIGHT - BOTTOM, marks, ticks, groups, breaks, thresholds)


def forest(figures: Sequence[Ends], reference: float | None = None) -> tuple[Axis, list[Span | None]]:
    """(value, low, high) of rows that stand below each other, on one axis; None where there is no value."""
    bottom = _bottom([*(value for figure in figures for value in figure), reference])
    bare = Axis(bottom, [])
    ticks = [(bare.place(value), number(value)) for value in reversed(_ticks(bottom))]
    axis = Axis(bottom, ticks, None if reference is None else bare.place(reference))
    return axis, [_span(axis, figure) for figure in figures]


def _span(axis: Axis, figure: Ends) -> Span | None:
    value, low, high = figure
    if value is None:
        return None
    ends = (value if low is None else low), (value if high is None else high)
    return Span(axis.place(value), axis.place(ends[0]), axis.place(ends[1]))


def heat(count: float, largest: float) -> int:
    """The tint of a cell, 0 (none) to 5, by its share of the largest."""
    return 0 if count <= 0 or largest <= 0 else max(1, min(5, round(5 * count / largest)))


def number(value: float, digits: int = 2) -> str:
    """A coefficient as it is printed: .61, −.05, 1.00; never rounded up to a perfect one."""
    text = f"{abs(value):.{digits}f}"
    while text.startswith("1") and abs(value) < 1 and digits < 6:
        digits += 1
        text = f"{abs(value):.{digits}f}"
    if text.startswith("0."):
        text = text[1:]
    return f"−{text}" if value < 0 and text.strip(".0") else text


def signed(value: float) -> str:
    """A difference as it is printed, with its sign; none where it rounds to nothing."""
    shown = number(value)
    return f"+{shown}" if value > 0 and shown.strip(".0") else shown


def _bottom(values: Sequence[float | None]) -> float:
    """The lower end of an axis that ends at 1: 0, or the next fifth below the lowest value."""
    lowest = min((value for value in values if value is not None), default=0.0)
    return 0.0 if lowest >= 0 else int(lowest * 5 - 1) / 5


def _ticks(bottom: float) -> list[float]:
    fifths = round((1 - bottom) * 5)
    step = 1 if fifths <= 8 else max(1, fifths // 6)
    return [1 - fifth / 5 for fifth in range(0, fifths + 1, step)]
