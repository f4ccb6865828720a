"""Which item comes next for whom (DESIGN §3 "Serving").

First the kind is drawn (`kinds`), then the item. Every look is one indexed query, and cursors make what a person has
passed by once cost nothing the next time.
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import kinds, practice
from annotations.draws import clock_key
from annotations.enums import AssignmentState, SlotState, WaveState
from annotations.models import Annotation, Assignment, Draw, Look, Pair, Seat, Slot, Wave, WaveItem
from annotations.retrying import LostRace, retrying
from projects import guidelines
from projects.models import GuidelineVersion, Membership

MET = [AssignmentState.SUBMITTED, AssignmentState.SKIPPED]
PASSED_ALL = 2**62
# A cursor stays this far behind the clock: a slot that another transaction is just opening must not be passed by.
CURSOR_LAG = timedelta(minutes=1)
REAP_AT_MOST = 20


@dataclass(frozen=True)
class Task:
    """All that an annotator's page gets to know of an item. It has no field that could tell overlap or colleagues."""

    assignment: UUID
    content: dict[str, Any]
    version: GuidelineVersion
    draft: dict[str, Any] | None
    served_at: datetime
    done: int
    about_left: int
    window_submits: int
    window_minutes: int


@dataclass(frozen=True)
class Nothing:
    """Why there is no item, in words that are true for every item alike."""

    code: str
    sentence: str


def next_task(member: Membership, *, at: datetime, rng: random.Random | None = None) -> Task | Nothing:
    """The item `member` is to label now: the one they hold, else a new one with a lease, else why there is none.

    May be repeated: as long as the lease lasts the same item comes again. `rng` is for tests; the default is the
    system's source of randomness.
    """
    try:
        return _next_task(member, at=at, rng=rng or random.SystemRandom())
    except LostRace:
        # What is left is locked, by others who take it or by a draw that is just closing. This person was not told
        # that nothing is left: they may ask again.
        return _with_others()


def shown_again(member: Membership, assignment: UUID) -> Task:
    """The task of one of the member's own assignments, for a form that comes back with errors. Claims nothing."""
    rows = Assignment.objects.select_related("item", "wave_item__wave", "version")
    row = rows.filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    return _task(row, member)


@retrying
def _next_task(member: Membership, *, at: datetime, rng: random.Random) -> Task | Nothing:
    newest = guidelines.newest(member.project)
    if newest is None:
        return Nothing("no_guideline", _("The guideline of this project is not published yet."))
    if member.acknowledged_id != newest.pk:
        return Nothing("acknowledge", _("There is a new guideline: read what changed, then go on."))
    if practice.owed(member, newest):
        return Nothing("practice", _("The new guideline has examples to practise on: go through them, then go on."))
    held = _held(member, newest, at)
    if held is not None:
        return _task(held, member)
    waves = list(Wave.objects.unfinished().filter(project=member.project_id, major=newest.major or 0))
    for wave in waves:
        if wave.state == WaveState.OPEN and not wave.held:
            assignment = _from_wave(wave, member, newest, at, rng)
            if assignment is not None:
                return _task(assignment, member)
    return _why_nothing(waves)


# -- what is held ------------------------------------------------------------------------------------------------------


def _held(member: Membership, newest: GuidelineVersion, at: datetime) -> Assignment | None:
    """The open assignment of `member`, its lease renewed; None, and the assignment lapsed, if somebody else took it."""
    assignment = (
        Assignment.objects.filter(member=member, state=AssignmentState.OPEN)
        .select_related("item", "wave_item__wave", "version", "slot")
        .first()
    )
    if assignment is None:
        return None
    wave = assignment.wave_item.wave
    mine = Q(state=SlotState.CLAIMED, claimed_by=member) | Q(state=SlotState.OPEN)
    kept = (
        not wave.held
        and wave.major == newest.major
        and Slot.objects.filter(mine, pk=assignment.slot_id).update(
            state=SlotState.CLAIMED, claimed_by=member, lease_ends=at + timedelta(minutes=wave.lease_minutes)
        )
    )
    if not kept:
        mine_still = Slot.objects.filter(pk=assignment.slot_id, state=SlotState.CLAIMED, claimed_by=member)
        for slot in mine_still.select_for_update(of=("self",)):
            give_back(slot, at=at)
        Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.OPEN).update(state=AssignmentState.LAPSED)
        return None
    if assignment.version_id != newest.pk:  # a MINOR came out meanwhile: the rating names the version that is shown
        Assignment.objects.filter(pk=assignment.pk).update(version=newest)
        assignment.version = newest
    return assignment


# -- a new one ---------------------------------------------------------------------------------------------------------


def _from_wave(
    wave: Wave, member: Membership, newest: GuidelineVersion, at: datetime, rng: random.Random
) -> Assignment | None:
    """Claim an item of `wave` for `member`, or None after noting that they were told so."""
    seat = _seat(wave, member)
    if seat.told_empty_at is not None and wave.cover_released_at is None and _is_measured(wave):
        return None
    slot = _look(wave, seat, at, rng)
    while slot is None and _reap(wave, at):
        wave.refresh_from_db()  # a slot that came free may have taken a rating that waited for it
        slot = _look(wave, seat, at, rng)
    if slot is not None:
        return _assign(slot, member, newest, at)
    hides_something = wave.overlap_left and wave.single_all and seat.gave_up_at is None
    if hides_something and wave.cover_released_at is None:
        # From here on only overlap could come: whoever got an item now would know what it is.
        Seat.objects.filter(pk=seat.pk).update(told_empty_at=at)
    return None


def _is_measured(wave: Wave) -> bool:
    """Whether there is something to hide: once the draw has closed, cover covers nothing."""
    return Draw.objects.open().filter(wave=wave).exists()


def _look(wave: Wave, seat: Seat, at: datetime, rng: random.Random) -> Slot | None:
    for overlap in _kinds(wave, seat, rng):
        slot = _claim_overlap(wave, seat, at, rng) if overlap else _claim_single(wave, seat, at)
        if slot is not None:
            return slot
    return None


def _kinds(wave: Wave, seat: Seat, rng: random.Random) -> list[bool]:
    """The kinds to try, in order; True is overlap."""
    takes_overlap = seat.gave_up_at is None and wave.overlap_left > 0 and _can_take_overlap(wave, seat)
    return kinds.to_try(wave, takes_overlap=takes_overlap, released=wave.cover_released_at is not None, rng=rng)


def _can_take_overlap(wave: Wave, seat: Seat) -> bool:
    """Whether an overlap item is left that still needs ratings and that this member has not met.

    Both conditions are for good once they fail for an item, so the cursor only moves on.
    """
    left = (
        WaveItem.objects.filter(wave=wave, draw__isnull=False, pk__gte=seat.takeable_cursor, rated__lt=F("needed"))
        .filter(~Exists(_met(wave, seat, item=OuterRef("item"))))
        .order_by("pk")
        .values_list("pk", flat=True)
        .first()
    )
    reached = PASSED_ALL if left is None else left
    if reached != seat.takeable_cursor:
        seat.takeable_cursor = reached
        Seat.objects.filter(pk=seat.pk).update(takeable_cursor=reached)
    return left is not None


def _claim_overlap(wave: Wave, seat: Seat, at: datetime, rng: random.Random) -> Slot | None:
    """A later rating before a first one; of the later ones, those of the rater with whom least is shared."""
    waiting = _open(wave, seat, queue=OuterRef("other"), after=OuterRef("cursor")).values("key")[:1]
    pairs = list(
        Pair.objects.filter(wave=wave, member=seat.member_id)
        .annotate(first_key=Subquery(waiting))
        .order_by("shared", "pk")
    )
    found = [pair for pair in pairs if pair.first_key is not None]
    _pass_by([pair for pair in pairs if pair.first_key is None], at)
    if found:
        least = min(pair.shared for pair in found)
        pair = rng.choice([pair for pair in found if pair.shared == least])
        slot = _claim(_open(wave, seat, queue=pair.other_id, after=pair.cursor), wave, seat, at)
        if slot is None:
            raise LostRace
        reached = min(pair.first_key - 1, clock_key(at - CURSOR_LAG))
        if reached > pair.cursor:
            Pair.objects.filter(pk=pair.pk).update(cursor=reached)
        return slot
    return _claim_in_order(wave, seat, Slot.FIRST, "first_cursor", at)


def _pass_by(fruitless: list[Pair], at: datetime) -> None:
    """What was met in these queues is not looked at again; at most once a minute, since it costs a statement."""
    behind = [pair.pk for pair in fruitless if pair.cursor < clock_key(at - 2 * CURSOR_LAG)]
    if behind:
        Pair.objects.filter(pk__in=behind).update(cursor=clock_key(at - CURSOR_LAG))


def _claim_single(wave: Wave, seat: Seat, at: datetime) -> Slot | None:
    return _claim_in_order(wave, seat, Slot.SINGLES, "single_cursor", at)


def _claim_in_order(wave: Wave, seat: Seat, queue: int, cursor: str, at: datetime) -> Slot | None:
    """The first open slot of a queue that is in random order. What this member skipped comes back at its end, so only
    a look that finds nothing has passed anything by, and moves the cursor."""
    slots = _open(wave, seat, queue=queue, after=getattr(seat, cursor))
    slot = _claim(slots, wave, seat, at)
    if slot is None:
        if slots.exists():  # others are just taking them, and may yet fail to
            raise LostRace
        Seat.objects.filter(pk=seat.pk).update(**{cursor: clock_key(at - CURSOR_LAG)})
    return slot


def _open(wave: Wave, seat: Seat, *, queue: Any, after: Any) -> QuerySet[Slot]:
    """The open slots of a queue that this member has not met, in order."""
    return (
        Slot.objects.open()
        .filter(wave=wave, queue=queue, key__gt=after)
        .filter(~Exists(_met(wave, seat, item=OuterRef("item"))))
        .order_by("key")
    )


def _met(wave: Wave, seat: Seat, *, item: Any) -> QuerySet[Assignment]:
    return Assignment.objects.filter(item=item, member=seat.member_id, major=wave.major, state__in=MET)


def _claim(slots: QuerySet[Slot], wave: Wave, seat: Seat, at: datetime) -> Slot | None:
    """Take the first of `slots` that nobody else is taking. Of two callers at once each gets another one."""
    slot = slots.select_related("item", "wave_item").select_for_update(skip_locked=True, of=("self",)).first()
    if slot is None:
        return None
    lease_ends = at + timedelta(minutes=wave.lease_minutes)
    claimed = Slot.objects.open().filter(pk=slot.pk)
    if claimed.update(state=SlotState.CLAIMED, claimed_by=seat.member_id, lease_ends=lease_ends) != 1:
        raise LostRace
    slot.wave = wave
    return slot


def _assign(slot: Slot, member: Membership, newest: GuidelineVersion, at: datetime) -> Assignment:
    """The assignment of `slot`, new, or the lapsed one of an earlier claim of the same item with its draft."""
    wave = slot.wave
    slot.wave_item.wave = wave
    meeting = {"item_id": slot.item_id, "member": member, "major": wave.major, "round": 0}
    unmet = [AssignmentState.OPEN, AssignmentState.LAPSED]
    shown = {
        "slot": slot,
        "wave_item_id": slot.wave_item_id,
        "version": newest,
        "state": AssignmentState.OPEN,
        "served_at": at,
    }
    if Assignment.objects.filter(**meeting, state__in=unmet).update(**shown):
        row = Assignment.objects.get(**meeting)
    else:
        row = Assignment.objects.create(**meeting, **shown)
    row.item, row.wave_item, row.version = slot.item, slot.wave_item, newest
    return row


def _seat(wave: Wave, member: Membership) -> Seat:
    """The member's seat in the wave; with the first look come their pair rows with everybody seated before."""
    seat = Seat.objects.filter(wave=wave, member=member).first()
    if seat is None:
        # One newcomer at a time: two who do not see each other's seats would never get each other's later ratings.
        Wave.objects.select_for_update(of=("self",)).get(pk=wave.pk)
        looked = Look.objects.filter(draw__wave=wave, member=member).values_list("at", flat=True).first()
        seat, _created = Seat.objects.get_or_create(wave=wave, member=member, defaults={"gave_up_at": looked})
        others = list(Seat.objects.filter(wave=wave).exclude(member=member).values_list("member_id", flat=True))
        Pair.objects.bulk_create(
            [Pair(wave=wave, member=member, other_id=other) for other in others]
            + [Pair(wave=wave, member_id=other, other=member) for other in others],
            ignore_conflicts=True,
        )
    return seat


# -- slots that come back ----------------------------------------------------------------------------------------------


def _reap(wave: Wave, at: datetime) -> bool:
    """Give back slots whose lease has ended; whoever finds nothing else does it, nothing has to run for it."""
    ended = Slot.objects.filter(wave=wave, state=SlotState.CLAIMED, lease_ends__lt=at).order_by("lease_ends")
    slots = list(ended.select_for_update(skip_locked=True, of=("self",))[:REAP_AT_MOST])
    for slot in slots:
        give_back(slot, at=at)
    return bool(slots)


def give_back(slot: Slot, *, at: datetime) -> None:
    """Open a claimed slot again, at the end of its queue; surplus that waits for the item is taken first."""
    Slot.objects.filter(pk=slot.pk, state=SlotState.CLAIMED).update(
        state=SlotState.OPEN, claimed_by=None, lease_ends=None, key=clock_key(at)
    )
    slot.refresh_from_db()
    take_surplus(slot, at=at)


def take_surplus(slot: Slot, *, at: datetime) -> Annotation | None:
    """Fill an open slot with a rating that came in late for the same item, if there is one; returns it."""
    if slot.state != SlotState.OPEN:
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
    if Slot.objects.open().filter(pk=slot.pk).update(state=SlotState.RATED) != 1:
        return None
    Annotation.objects.filter(pk=surplus.pk).update(slot=slot, draw=slot.draw_id)
    count_rating(slot, rater=surplus.member_id, at=at)
    return surplus


def count_rating(slot: Slot, *, rater: int, at: datetime) -> None:
    """What follows from a rated slot: the next one opens, pairs share one more item, and the wave's counter last."""
    WaveItem.objects.filter(pk=slot.wave_item_id).update(rated=F("rated") + 1)
    if slot.draw_id is not None:
        first_rater = rater if slot.queue == Slot.FIRST else slot.queue
        opened = Slot.objects.filter(wave_item=slot.wave_item_id, number=slot.number + 1, state=SlotState.WAITING)
        if opened.update(state=SlotState.OPEN, queue=first_rater, key=clock_key(at)):
            following = Slot.objects.get(wave_item=slot.wave_item_id, number=slot.number + 1)
            take_surplus(following, at=at)
        _share(slot, rater)
    counter = "single_left" if slot.draw_id is None else "overlap_left"
    Wave.objects.filter(pk=slot.wave_id, **{f"{counter}__gt": 0}).update(**{counter: F(counter) - 1})


def _share(slot: Slot, rater: int) -> None:
    """One more shared item between `rater` and everybody who rated the item before."""
    others = list(
        Annotation.objects.filter(wave_item=slot.wave_item_id, slot__isnull=False)
        .exclude(member=rater)
        .values_list("member_id", flat=True)
    )
    if others:
        both = Q(member=rater, other__in=others) | Q(member__in=others, other=rater)
        Pair.objects.filter(both, wave=slot.wave_id).update(shared=F("shared") + 1)


# -- words -------------------------------------------------------------------------------------------------------------


def _about(each: float, *, most: int) -> int:
    """In tens, so that it tells nothing of what a submit did; 1 is a few, also where less than ten are left in all."""
    return 1 if each < 1 or most < 10 else max(10, round(each / 10) * 10)


def _task(assignment: Assignment, member: Membership) -> Task:
    wave = assignment.wave_item.wave
    team = max(1, Seat.objects.filter(wave=wave).count())
    each = (wave.overlap_left + wave.single_left) / team
    return Task(
        assignment=assignment.uuid,
        content=dict(assignment.item.shown(member.project.shown_fields)),
        version=assignment.version,
        draft=assignment.draft,
        served_at=assignment.served_at,
        done=member.submits,
        about_left=_about(each, most=wave.overlap_left + wave.single_left),
        window_submits=wave.window_submits,
        window_minutes=wave.window_minutes,
    )


def _why_nothing(waves: list[Wave]) -> Nothing:
    if not waves:
        return Nothing("no_wave", _("All done: no items are released for labelling at the moment."))
    if all(wave.held or wave.state == WaveState.OPENING for wave in waves):
        return Nothing("held", _("The next items are not released yet: a lead looks at the results so far first."))
    return _with_others()


def _with_others() -> Nothing:
    return Nothing(
        "others", _("Nothing is left for you at the moment. If something comes back from the others, it appears here.")
    )
