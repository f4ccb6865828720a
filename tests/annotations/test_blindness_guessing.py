"""DESIGN §2.4: who writes down all that the server sends cannot tell overlap from single, while cover exists.

Onlookers label whole waves over HTTP. A classifier gets everything that they were sent (bodies, headers, cookies, ids,
numbers, lengths, dates, the order in which items came) for half of the items, with the truth, and guesses the rest.
"""

import logging
import random
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotations import draws, kinds, releasing
from annotations.models import Annotation, Slot, Wave
from projects.models import Membership
from tests import factories
from tests.annotations.onlooker import Leak, Onlooker, p_value, work

logger = logging.getLogger(__name__)
SPEEDS = ([2.0, 1.0], [5.0, 1.0])  # the faster first
P = 0.01
SEEDS, ITEMS, AT_MOST = 40, 2_000, 3
FASTER, SLOWER = 0, 1


class Dice:
    """All chance of the server from one seed: its dice, the draw's seed, the ids."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng = random.Random(0)
        monkeypatch.setattr(random, "SystemRandom", lambda: self.rng)
        monkeypatch.setattr(releasing.secrets, "token_bytes", lambda count: self.rng.randbytes(count))
        monkeypatch.setattr(uuid.os, "urandom", lambda count: self.rng.randbytes(count))


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch) -> Dice:
    return Dice(monkeypatch)


def onlookers(seed: int, items: int, client_of: Callable[[Membership], Client]) -> tuple[list[Onlooker], Wave]:
    """Two annotators before a wave of a project of their own."""
    Membership.objects.update(active=False)  # those before them are out of sight
    project = factories.project(f"Project {seed}")
    factories.version(project)
    lead = factories.member(project, "lea", "lead")
    pair = [factories.member(project, name) for name in ("anna", "ben")]
    factories.items(project, items)
    wave = releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(10 if items >= 500 else 20))
    return [Onlooker(client_of(member), member, random.Random(seed)) for member in pair], wave


def finish(pair: list[Onlooker], seed: int) -> None:
    for _turn in work(pair, SPEEDS[seed % 2], random.Random(seed)):
        pass
    for onlooker in pair:
        onlooker.end()


def guess(found: Iterable[Onlooker], *, seed: int, first: int | None = None) -> float:
    """How likely chance alone would guess as well, from the `first` items of each onlooker or from all."""
    rows, truth, groups = [], [], []
    for onlooker in found:
        rows += onlooker.rows()[:first]
        truth += onlooker.overlap()[:first]
        groups += [onlooker.member.pk] * len(onlooker.met)
    return p_value(rows, truth, groups[: len(rows)], seed=seed)


def test_nobody_can_tell_overlap_from_single(db, dice: Dice, client_of):
    found = []
    for seed in range(3):
        dice.rng.seed(seed)
        pair, _wave = onlookers(seed, 60, client_of)
        finish(pair, seed)
        found += pair

    assert guess(found, seed=1) > P
    assert guess(found[SLOWER::2], seed=1) > P


@pytest.mark.stress
@pytest.mark.timeout(4 * 3600)
def test_over_many_waves_neither_the_faster_nor_the_slower_can_tell(db, dice: Dice, client_of):
    """Speeds 5:1 and 2:1 in turn, from the first item to the last."""
    chances: dict[int, list[float]] = {FASTER: [], SLOWER: []}
    for seed in range(SEEDS):
        dice.rng.seed(seed)
        with transaction.atomic():
            pair, _wave = onlookers(seed, ITEMS, client_of)
            finish(pair, seed)
            for place, found in chances.items():
                found.append(guess([pair[place]], seed=seed))
            transaction.set_rollback(True)  # each wave in an empty table
        logger.warning("wave %s, speeds %s: p = %s", seed, SPEEDS[seed % 2], [found[-1] for found in chances.values()])

    assert {place: sum(p < P for p in found) <= AT_MOST for place, found in chances.items()} == {
        FASTER: True,
        SLOWER: True,
    }, chances


@pytest.mark.stress
@pytest.mark.timeout(1800)
def test_once_cover_is_released_it_can_be_told_and_the_figure_says_from_which_rating_on(db, dice: Dice, client_of):
    dice.rng.seed(1)
    pair, wave = onlookers(1, 600, client_of)
    slower, before, measured = pair[SLOWER], 0, 0
    for _turn in work(pair, SPEEDS[1], random.Random(1)):
        if pair[FASTER].idle and not before:
            before = len(slower.met)
            measured = Annotation.objects.filter(draw=wave.draw, slot__isnull=False).count()
            draws.release_cover(wave, by=wave.opened_by, at=timezone.now())
    for onlooker in pair:
        onlooker.end()

    wave.draw.refresh_from_db()
    assert wave.draw.known_from == measured + 1
    assert guess([slower], seed=1, first=before) > P
    assert guess([slower], seed=1) < P


def kind_of(key: str) -> str:
    return str(Slot.objects.get(assignments__uuid=key).kind)


def header(step: str, key: str, response: HttpResponse) -> None:
    """One answer in five says nothing of use."""
    says = kind_of(key) if int(key[:2], 16) % 5 else "measured"
    response["X-Trace"] = "a" if says == "single" else "b"


def one_byte(step: str, key: str, response: HttpResponse) -> None:
    if step == "shown" and kind_of(key) != "single":
        response.content += b" "


@pytest.mark.parametrize("leak", [header, one_byte])
def test_a_leak_is_found(db, dice: Dice, client_of, leak: Leak):
    dice.rng.seed(1)
    pair, _wave = onlookers(1, 60, client_of)
    for onlooker in pair:
        onlooker.leak = leak
    finish(pair, 1)

    assert guess(pair, seed=1) < P


def test_an_order_by_kind_is_found(db, dice: Dice, client_of, monkeypatch: pytest.MonkeyPatch):
    dice.rng.seed(1)
    pair, _wave = onlookers(1, 60, client_of)
    monkeypatch.setattr(kinds, "to_try", lambda left, **about: [True, False])
    finish(pair, 1)

    assert guess(pair, seed=1) < P
