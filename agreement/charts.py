"""Where the marks of a picture stand. The templates draw them as SVG, so that names are escaped and colours are CSS."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 16, 56
GAP = 28  # between two MAJOR versions: a break, no line crosses it

BAR_WIDTH, BAR_HEIGHT = 240, 20


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
    width: int
    height: int
    left: float
    right: float
    base: float
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    groups: list[tuple[float, str]]
    breaks: list[float]
    thresholds: list[Threshold]


@dataclass(frozen=True)
class Bar:
    """A value with its interval on an axis that several rows share; `zero` is where 0 stands."""

    width: int
    height: int
    middle: float
    zero: float
    x: float
    low_x: float
    high_x: float

    @property
    def end(self) -> int:
        return self.width - 4


def versions(readings: Sequence[Reading]) -> Chart | None:
    """A point with its interval per reading, in order, with a gap where the group (the MAJOR) changes."""
    if not readings:
        return None
    runs = [(group, list(members)) for group, members in groupby(readings, key=lambda reading: reading.group)]
    bottom = _bottom([r.low if r.low is not None else r.value for r in readings] + [r.threshold for r in readings])
    step = (WIDTH - LEFT - RIGHT - GAP * (len(runs) - 1)) / len(readings)

    def height_of(value: float | None) -> float | None:
        if value is None:
            return None
        return round(TOP + (1 - value) / (1 - bottom) * (HEIGHT - TOP - BOTTOM), 1)

    marks, groups, breaks, thresholds, x = [], [], [], [], float(LEFT)
    for place, (group, members) in enumerate(runs):
        if place:
            breaks.append(round(x + GAP / 2, 1))
            x += GAP
        groups.append((round(x + step * len(members) / 2, 1), group))
        for reading in members:
            y = height_of(reading.threshold)
            if y is not None and reading.threshold is not None:
                thresholds.append(Threshold(round(x, 1), round(x + step, 1), y, number(reading.threshold)))
            ends = height_of(reading.low), height_of(reading.high)
            marks.append(Mark(reading, round(x + step / 2, 1), height_of(reading.value), *ends))
            x += step
    ticks = [(y, number(value)) for value in _ticks(bottom) if (y := height_of(value)) is not None]
    return Chart(WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, marks, ticks, groups, breaks, thresholds)


def bars(figures: Sequence[tuple[float | None, float | None, float | None]]) -> list[Bar | None]:
    """(value, low, high) of rows that stand below each other, on one axis; None where there is no value."""
    bottom = _bottom([value for figure in figures for value in figure])

    def place(value: float) -> float:
        return round(4 + (value - bottom) / (1 - bottom) * (BAR_WIDTH - 8), 1)

    return [
        None
        if value is None
        else Bar(
            BAR_WIDTH,
            BAR_HEIGHT,
            BAR_HEIGHT / 2,
            place(0.0),
            place(value),
            place(value if low is None else low),
            place(value if high is None else high),
        )
        for value, low, high in figures
    ]


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


def _bottom(values: Sequence[float | None]) -> float:
    """The lower end of an axis that ends at 1: 0, or the next fifth below the lowest value."""
    lowest = min((value for value in values if value is not None), default=0.0)
    return 0.0 if lowest >= 0 else int(lowest * 5 - 1) / 5


def _ticks(bottom: float) -> list[float]:
    fifths = round((1 - bottom) * 5)
    step = 1 if fifths <= 8 else max(1, fifths // 6)
    return [1 - fifth / 5 for fifth in range(0, fifths + 1, step)]
