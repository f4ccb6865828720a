"""Beside a running product: what happens to a crowd while it works, and in the end whether everything adds up."""

import json
import random
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from django.utils import timezone

from agreement import runs
from annotations import draws, publishing, releasing
from annotations.enums import Closing, DrawState, SlotState, WaveState
from annotations.models import Annotation, Assignment, Draw, Slot, WaveItem
from annotations.retrying import retrying
from projects import drafts, guidelines, members
from projects.models import Project
from tests.annotations.test_random_walk import Walk


def disturb(seed: int = 1) -> None:
    """Leases end all the time; at a quarter of the work members go, at half a new MAJOR comes, then one returns."""
    project, rng = Project.objects.get(), random.Random(seed)
    lead = project.memberships.get(alias="lea")
    goal = project.waves.count() and Slot.objects.count()
    raters = list(project.memberships.annotators().order_by("pk"))
    gone = raters[-max(1, len(raters) // 10) :]
    todo = [
        (0.25, lambda: [members.deactivate(one, by=lead) for one in gone]),
        (0.50, lambda: new_major(project)),
        (0.60, lambda: members.reactivate(gone[0], by=lead)),
    ]
    while todo:
        _end_leases(rng)
        if Annotation.objects.count() >= todo[0][0] * goal:
            todo.pop(0)[1]()
        time.sleep(0.3)
    for _ in range(10):
        _end_leases(rng)
        time.sleep(0.3)


@retrying
def _end_leases(rng: random.Random) -> None:
    claimed = list(Slot.objects.filter(state=SlotState.CLAIMED).values_list("pk", flat=True))
    some = rng.sample(claimed, len(claimed) // 8)
    Slot.objects.filter(pk__in=some, state=SlotState.CLAIMED).update(lease_ends=timezone.now() - timedelta(seconds=1))


def new_major(project: Project) -> None:
    """Publish a MAJOR in mid-wave, then release what is fresh under it."""
    lead, at = project.memberships.get(alias="lea"), timezone.now()
    draft = guidelines.draft_of(project, by=lead, at=at)
    drafts.save_text(draft, text=f"{draft.text}\n\nOtherwise.", revision=draft.revision, by=lead)
    publishing.publish(draft, change="material", reason="rules", by=lead, at=at)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(20), ratings_per_item=3)


def let_go() -> None:
    """No lease lasts, and cover is released: what is left now waits for people."""
    at, project = timezone.now(), Project.objects.get()
    Slot.objects.filter(state=SlotState.CLAIMED).update(lease_ends=at - timedelta(seconds=1))
    for wave in project.waves.open().filter(cover_released_at__isnull=True):
        draws.release_cover(wave, by=project.memberships.get(alias="lea"), at=at)


class Reckoning(Walk):
    """The invariants of the random walk, held against what was done over HTTP."""

    def __init__(self, record: Path) -> None:
        self.project = Project.objects.get()
        self.members = list(self.project.memberships.annotators())
        self.people = json.loads(record.read_text(encoding="utf-8"))

    def check_acknowledged(self, *, exactly: bool) -> None:
        """Each once, as it was sent first. `exactly`: and nothing else; without, what was sent and not answered too."""
        stored = {
            str(uuid): answers["intent"]
            for uuid, answers in Annotation.objects.filter(revisions__number=1).values_list(
                "assignment__uuid", "revisions__answers"
            )
        }
        assert len(stored) == Annotation.objects.count()
        known = set()
        for person in self.people:
            for key, value in person["submits"].items():
                sent = [value] if exactly else person["unsure"][key]
                assert stored.get(key) in sent, f"{person['name']}: {key} is {stored.get(key)}, sent was {sent}"
            known |= set(person["submits"]) | (set() if exactly else set(person["unsure"]))
        assert set(stored) <= known
        latest = {str(uuid): answers["intent"] for uuid, answers in Annotation.objects.values_list("uuid", "latest")}
        for person in self.people:
            for key, value in person["corrections"].items():
                assert latest[key] in [value, *person["tried"][key]], f"{person['name']}: the correction of {key}"

    def check_every_item(self) -> None:
        """Exactly its ratings; or its draw or wave was closed before; or what is left waits for named people."""
        met: dict[int, set[int]] = {}
        for item, member in Assignment.objects.filter(state__in=["submitted", "skipped"]).values_list("item", "member"):
            met.setdefault(item, set()).add(member)
        here = {member.pk for member in self.members}
        for row in WaveItem.objects.select_related("wave", "draw"):
            if row.rated == row.needed or row.wave.state == WaveState.CLOSED:
                continue
            closed = row.draw is not None and row.draw.state == DrawState.CLOSED
            if closed and row.draw.closing in (Closing.SHORT, Closing.EARLY):
                continue
            assert here <= met.get(row.item_id, set()), f"item {row.item_id}: {row.rated} of {row.needed}"


def reckon(record: str, *, exactly: bool, complete: bool = True) -> None:
    found = Reckoning(Path(record))
    found.check_acknowledged(exactly=exactly)
    found.check_counters()
    found.check_never_too_many_never_twice()
    found.check_slots()
    if complete:
        found.check_every_item()


def close() -> None:
    """The lead closes what is being measured."""
    for draw in Draw.objects.open():
        lead = draw.wave.project.memberships.get(alias="lea")
        draws.close(draw, closing=Closing.EARLY, reason="the test is over", by=lead, at=timezone.now())


def lacking() -> list[str]:
    """Which closed draws have no final figures, or figures of another number of items than the tables have."""
    found = []
    for draw in Draw.objects.closed():
        run = runs.newest(draw, "intent")
        rated = WaveItem.objects.filter(draw=draw, rated__gte=2).count()
        if run is None or run.interim or run.n != rated:
            found.append(f"{draw.wave}: {run and run.n} of {rated}")
    return found
