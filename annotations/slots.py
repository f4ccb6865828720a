"""What follows from a rated slot, and slots that come back.

Both kinds of item run the same statements: an overlap item only finds more rows by them.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, Case, Exists, F, IntegerField, OuterRef, Q, Value, When

from annotations.enums import SlotKind, SlotState
from annotations.models import Annotation, Pair, Seat, Slot, Wave, WaveItem

REAP_AT_MOST = 20
# Stands where a list of people is empty, so that the statement is the same: nobody has this id.
NOBODY = 0


def clock_key(at: datetime) -> int:
    """The queue key of a slot that opens or comes back at `at`: microseconds, behind every random rank."""
    return int(at.timestamp() * 1_000_000)


@dataclass
class Ending:
    """What a transaction writes last, in the order in which everybody locks it: pairs, then waves.

    Every submit of a wave writes its row; whoever wrote it early would have all others wait for the rest.
    """

    shared: list[tuple[int, int, list[int]]] = field(default_factory=list)  # wave, rater, who rated the item before
    moved: dict[int, int] = field(default_factory=dict)  # pair -> its new cursor
    rated: Counter[tuple[int, bool]] = field(default_factory=Counter)  # (wave, overlap) -> ratings given

    def write(self) -> None:
        for number, (wave, rater, others) in enumerate(self.shared):
            self._write_pairs(wave, rater, others, self.moved if number == 0 else {})
        if self.moved and not self.shared:
            Pair.objects.filter(pk__in=self.moved).update(cursor=_cursor(self.moved))
        for (wave, overlap), ratings in sorted(self.rated.items()):
            counter = "overlap_left" if overlap else "single_left"
            left = Case(When(**{f"{counter}__gt": ratings}, then=F(counter) - ratings), default=Value(0))
            Wave.unseen.filter(pk=wave, **{f"{counter}__gt": 0}).update(**{counter: left})

    def _write_pairs(self, wave: int, rater: int, others: list[int], moved: dict[int, int]) -> None:
        """One more shared item between `rater` and each of `others`; the cursors on the way."""
        both = Q(member=rater, other__in=others or [NOBODY]) | Q(member__in=others or [NOBODY], other=rater)
        sharing = Q(both, wave=wave)
        if not moved:
            Pair.objects.filter(sharing).update(shared=F("shared") + 1)
            return
        more = Case(When(sharing, then=F("shared") + 1), default=F("shared"), output_field=IntegerField())
        Pair.objects.filter(sharing | Q(pk__in=moved)).update(shared=more, cursor=_cursor(moved))

    def overlap_rated(self, wave: Wave) -> int:
        return self.rated[wave.pk, True]

    def single_rated(self, wave: Wave) -> int:
        return self.rated[wave.pk, False]


def _cursor(moved: dict[int, int]) -> Any:
    steps = [When(pk=pair, then=Value(reached)) for pair, reached in moved.items()]
    return Case(*steps, default=F("cursor"), output_field=BigIntegerField())


def take(slot: Slot, *, rater: int, at: datetime) -> bool:
    """Mark `slot`, which the caller has locked and found free, as rated, and open the one behind it, if one waits.

    Whether one did.
    """
    behind = Q(wave_item=slot.wave_item_id, number=slot.number + 1, state=SlotState.WAITING)
    this = When(pk=slot.pk, then=Value(SlotState.RATED.value))
    first_rater = rater if slot.queue == Slot.FIRST else slot.queue
    changed = Slot.objects.filter(Q(pk=slot.pk) | behind).update(
        state=Case(this, default=Value(SlotState.OPEN.value)),
        queue=Case(When(pk=slot.pk, then=F("queue")), default=Value(first_rater), output_field=BigIntegerField()),
        key=Case(When(pk=slot.pk, then=F("key")), default=Value(clock_key(at)), output_field=BigIntegerField()),
        claimed_by=None,
        lease_ends=None,
    )
    return changed > 1


def count_rating(slot: Slot, *, rater: int, opened: bool, at: datetime, ending: Ending) -> None:
    """What follows from a rating that fills `slot`: the item's count, shared pairs, and the wave's counter at the end.

    `opened`: the slot behind it came open just now; a rating that waits as surplus for the item fills it.
    """
    WaveItem.objects.filter(pk=slot.wave_item_id).update(rated=F("rated") + 1)
    given = list(Annotation.objects.filter(wave_item=slot.wave_item_id).values_list("member_id", "slot_id"))
    others = [member for member, counted in given if counted is not None and member != rater]
    ending.shared.append((slot.wave_id, rater, others))
    ending.rated[slot.wave_id, slot.draw_id is not None] += 1
    if opened and any(counted is None for _member, counted in given):
        following = Slot.objects.get(wave_item=slot.wave_item_id, number=slot.number + 1)
        take_surplus(following, at=at, ending=ending)


def give_back(slot: Slot, *, at: datetime, ending: Ending) -> None:
    """Open a claimed slot again, at the end of its queue; surplus that waits for the item is taken first."""
    Slot.objects.filter(pk=slot.pk, state=SlotState.CLAIMED).update(
        state=SlotState.OPEN, claimed_by=None, lease_ends=None, key=clock_key(at)
    )
    slot.refresh_from_db()
    take_surplus(slot, at=at, ending=ending)


def take_surplus(slot: Slot, *, at: datetime, ending: Ending) -> Annotation | None:
    """Fill an open slot, which the caller has locked, with a late rating of the same item, if there is one."""
    if slot.state != SlotState.OPEN or slot.kind == SlotKind.REPEAT:  # that one is no other person's to give
        return None
    counted = Annotation.objects.filter(wave_item=OuterRef("wave_item"), member=OuterRef("member"), slot__isnull=False)
    gave_up = Seat.objects.filter(
        wave=slot.wave_id, member=OuterRef("member"), gave_up_at__lte=OuterRef("submitted_at")
    )
    surplus = (
        Annotation.objects.filter(wave_item=slot.wave_item_id, slot__isnull=True, major=slot.wave.major)
        .filter(~Exists(counted), ~Exists(gave_up))
        .order_by("submitted_at", "pk")
        .select_for_update(of=("self",))
        .first()
    )
    if surplus is None:
        return None
    opened = take(slot, rater=surplus.member_id, at=at)
    Annotation.objects.filter(pk=surplus.pk).update(slot=slot, draw=slot.draw_id)
    count_rating(slot, rater=surplus.member_id, opened=opened, at=at, ending=ending)
    return surplus


def reap(wave: Wave, *, at: datetime, ending: Ending) -> bool:
    """Give back slots whose lease has ended; whoever finds nothing else does it, nothing has to run for it."""
    ended = Slot.objects.filter(wave=wave, state=SlotState.CLAIMED, lease_ends__lt=at).order_by("lease_ends")
    slots = list(ended.select_for_update(skip_locked=True, of=("self",))[:REAP_AT_MOST])
    for slot in slots:
        give_back(slot, at=at, ending=ending)
    return bool(slots)


def lease_end(wave: Wave, at: datetime) -> datetime:
    return at + timedelta(minutes=wave.lease_minutes)
