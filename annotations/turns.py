"""From which wave the next item comes: waves in their order, and samples of earlier items mixed in among them.

A repeat is served only where other work is, since alone it would be known for what it is; a bridge also by itself.
A sample comes with the probability that its ratings are of all that are left, so that it is spread over the work.
"""

import random
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from annotations import giving
from annotations.enums import WaveKind, WaveState
from annotations.models import Wave
from projects.models import Membership

NUMBERED = (WaveKind.FRESH, WaveKind.RELABEL)


class Place(Protocol):
    """How somebody stands in a wave; see `claims.Place`."""

    wave: Wave

    @property
    def left(self) -> int: ...


P = TypeVar("P", bound=Place)


def in_order(places: Iterable[P], rng: random.Random) -> Sequence[P]:
    """Those that may be served, in the order in which to look for an item."""
    served = [place for place in places if _is_served(place.wave)]
    main = [place for place in served if place.wave.kind in NUMBERED]
    aside = [place for place in served if place.wave.kind not in NUMBERED]
    if not main:
        main = [place for place in aside if place.wave.kind != WaveKind.REPEAT]
        aside = [place for place in aside if place.wave.kind == WaveKind.REPEAT]
    if not main or not aside:
        return main
    rng.shuffle(aside)
    left, beside = sum(place.left for place in main), sum(place.left for place in aside)
    return [*aside, *main] if rng.random() * (left + beside) < beside else [*main, *aside]


def host_among(places: Iterable[P], place: P) -> P:
    """Where the counts and terms on the page of an item come from: of a sample, from the wave that it comes among."""
    if not place.wave.is_sample:
        return place
    others = [other for other in places if _is_served(other.wave) and other.wave.kind != WaveKind.REPEAT]
    return min(others, key=lambda other: other.wave.kind not in NUMBERED, default=place)


def host(wave: Wave, member: Membership, *, at: datetime) -> Wave:
    """`host_among` for an item that `member` has in hand already: of the waves that they are served of."""
    if not wave.is_sample:
        return wave
    rows = Wave.unseen.open().filter(project=wave.project_id, major=wave.major, held=False)
    rows = rows.exclude(kind__in=[WaveKind.REPEAT, WaveKind.SPOTCHECK]).order_by("number")
    others = [other for other in rows if not giving.obstacle(other, member, at=at)]
    return min(others, key=lambda other: other.kind not in NUMBERED, default=wave)


def _is_served(wave: Wave) -> bool:
    return wave.state == WaveState.OPEN and not wave.held
