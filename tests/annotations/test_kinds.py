"""DESIGN §3 "Serving": with cover held, the end of a wave looks like the rest of it, also for the slower of two.

The decision is the product's own (`kinds.to_try`). 200 runs drive it over a table of counts; a few whole runs through
`serving` show that the two give the same kinds, turn by turn.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import mean

import pytest

from annotations import kinds, releasing
from annotations.enums import SlotState
from annotations.models import Assignment, Slot, Wave, WaveItem
from projects.models import Membership
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
FAST, SLOW = 0, 1
SPEEDS = [(2.0, 1.0), (5.0, 1.0)]
RUNS, LAST = 200, 40
pytestmark = pytest.mark.one_database


@dataclass
class Counts:
    """A wave of two people as numbers alone: overlap items that nobody rated, and those that only one of them did."""

    items: int
    share_percent: int
    unrated: int = 0
    rated_by: list[int] = field(default_factory=lambda: [0, 0])
    told_empty: list[bool] = field(default_factory=lambda: [False, False])
    seated: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.unrated = self.items * self.share_percent // 100
        self.overlap_left = self.overlap_all = 2 * self.unrated
        self.single_left = self.single_all = self.items - self.unrated

    def turn(self, who: int, rng: random.Random) -> bool | None:
        """The kind that `who` gets and rates (True is overlap), or None if there is nothing for them now."""
        if self.told_empty[who]:
            return None
        other = 1 - who
        takes = self.unrated + self.rated_by[other] > 0
        for overlap in kinds.to_try(self, takes_overlap=takes, released=False, rng=rng):
            if overlap:
                self._rate_overlap(who, other, rng)
                return True
            if self.single_left:
                assert takes or kinds.has_more_than_cover(self) or not self.overlap_left
                self.single_left -= 1
                return False
        self.told_empty[who] = self.overlap_left > 0
        return None

    def _rate_overlap(self, who: int, other: int, rng: random.Random) -> None:
        self.overlap_left -= 1
        if self.rated_by[other]:
            self.rated_by[other] -= 1
            rng.choice([other])  # serving chooses among the pairs that share least: here there is one
        else:
            self.unrated -= 1
            self.rated_by[who] += 1


def turns(speeds: tuple[float, float], rng: random.Random, turn) -> Iterator[tuple[int, bool]]:
    """(who, kind) of each rating, in turns as often as the speeds say, until neither gets anything."""
    idle: set[int] = set()
    while len(idle) < 2:
        (who,) = rng.choices([FAST, SLOW], weights=speeds)
        kind = turn(who)
        if kind is None:
            idle.add(who)
        else:
            idle.clear()
            yield who, kind


@pytest.mark.parametrize("speeds", SPEEDS)
def test_the_slower_one_s_last_items_hold_the_share_of_the_whole(speeds):
    """Without cover their last items are overlap to 80 % and more."""
    last, whole = [], []
    for seed in range(RUNS):
        rng, wave = random.Random(seed), Counts(1_000, 10)
        given = list(turns(speeds, rng, lambda who, wave=wave, rng=rng: wave.turn(who, rng)))
        slow = [kind for who, kind in given if who == SLOW]
        last.append(mean(slow[-LAST:]))
        whole.append(mean(kind for _who, kind in given))
        assert (wave.overlap_left, wave.single_left) == (0, 0)

    assert mean(whole) == pytest.approx(200 / 1_100)
    assert abs(mean(last) - mean(whole)) < 0.03


@pytest.mark.parametrize("speeds", SPEEDS)
def test_without_cover_the_end_would_tell(speeds, monkeypatch: pytest.MonkeyPatch):
    """Else the test above would say nothing."""
    monkeypatch.setattr(kinds, "has_more_than_cover", lambda left: True)
    last = []
    for seed in range(20):
        rng, wave = random.Random(seed), Counts(1_000, 10)
        given = turns(speeds, rng, lambda who, wave=wave, rng=rng: wave.turn(who, rng))
        last.append(mean([kind for who, kind in given if who == SLOW][-LAST:]))

    assert mean(last) > 0.7


class Checked(Team):
    """A team whose every serving is compared with what the tables said just before it."""

    def kind_for(self, member: Membership, wave: Wave) -> bool | None:
        wave.refresh_from_db()
        met = Assignment.objects.filter(member=member, state="submitted").values("item")
        lacking = WaveItem.objects.filter(wave=wave, draw__isnull=False).exclude(item__in=met)
        takes = any(row.rated < row.needed for row in lacking)
        left = {
            overlap: Slot.objects.filter(wave=wave, draw__isnull=not overlap).exclude(state=SlotState.RATED).count()
            for overlap in (True, False)
        }
        before = len(self.served)
        self.turn(member)
        if len(self.served) == before:
            return None
        overlap = self.served[-1][1].slot.kind == "measured"
        may_be_single = left[False] * wave.overlap_all > left[True] * wave.single_all or not left[True]
        assert overlap or takes or may_be_single, "what can only be a single was served"
        return overlap


def same_kinds(lead: Membership, pair: list[Membership], speeds: tuple[float, float], seed: int, items: int) -> None:
    factories.items(lead.project, items, prefix=f"run {seed} {speeds}")
    wave = releasing.open_wave(lead.project, by=lead, at=AT, share_percent=Decimal(10))
    counts = Counts(items, 10)
    of_counts = random.Random(seed)
    expected = list(turns(speeds, of_counts, lambda who: counts.turn(who, of_counts)))

    team = Checked(pair, seed=seed)
    served = list(turns(speeds, team.rng, lambda who: team.kind_for(pair[who], wave)))

    assert served == expected
    assert len(served) == items + items // 10


@pytest.mark.parametrize("speeds", SPEEDS)
def test_serving_gives_the_same_kinds_as_the_counts(project, lead, anna, ben, speeds):
    same_kinds(lead, [anna, ben], speeds, seed=1, items=60)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("speeds", SPEEDS)
def test_serving_gives_the_same_kinds_as_the_counts_at_full_size(project, lead, anna, ben, speeds, seed):
    same_kinds(lead, [anna, ben], speeds, seed=seed, items=1_000)
