"""Which kind of item somebody gets next (DESIGN §3 "Serving").

R and S are the ratings still open on overlap items and on singles, R0 and S0 the same when the wave opened. Whoever can
still take an overlap item gets one with probability R / (R + S), else a single; whoever cannot gets a single only while
S·R0 > S0·R: the rest is cover for the others.
"""

import random
from typing import Protocol


class Counters(Protocol):
    """R, S, R0 and S0, as a wave has them."""

    overlap_left: int
    single_left: int
    overlap_all: int
    single_all: int


def to_try(left: Counters, *, takes_overlap: bool, released: bool, rng: random.Random) -> list[bool]:
    """The kinds to try, in order; True is overlap.

    `takes_overlap`: whether an overlap item is left that this person may rate. `released`: the cover is served to all.
    """
    if takes_overlap:
        first = rng.random() * (left.overlap_left + left.single_left) < left.overlap_left
        return [first, not first]
    if released or not left.overlap_left or has_more_than_cover(left):
        return [False]
    return []


def has_more_than_cover(left: Counters) -> bool:
    """S·R0 > S0·R: more singles are left than hide the overlap that is left."""
    return left.single_left * left.overlap_all > left.single_all * left.overlap_left
