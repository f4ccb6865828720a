"""What a member may take from a wave, and taking it (DESIGN §3 "Serving").

First the kind is drawn (`kinds`), then the item. Two statements look, whatever comes of it: one at the waves with the
first slot of each queue, one at the pairs. Every look in them is by index, and cursors make what a person has passed by
once cost nothing the next time.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import BooleanField, Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotations import kinds, repeats
from annotations.enums import AssignmentState, WaveKind
from annotations.models import Assignment, Draw, Look, Pair, Seat, Slot, Wave, WaveItem
from annotations.prepared import Prepared
from annotations.retrying import LostRace
from annotations.slots import Ending, clock_key, lease_end, reap
from projects.models import GuidelineVersion, Membership

MET = [AssignmentState.SUBMITTED, AssignmentState.SKIPPED]
PASSED_ALL = 2**62
# A cursor stays this far behind the clock: a slot that another transaction is just opening must not be passed by.
CURSOR_LAG = timedelta(minutes=1)
CURSOR_STEP = int(CURSOR_LAG.total_seconds() * 1_000_000)
TAKEABLE_STEP = 400  # rows of a wave; that many a look may pass by before its cursor moves


@dataclass
class Place:
    """How a member stands in a wave just now: the first item or slot of each kind that they could take, if any."""

    wave: Wave
    seat: Seat | None
    takeable: int | None
    first_key: int | None
    single_key: int | None
    is_measured: bool
    team: int

    @property
    def left(self) -> int:
        return self.wave.overlap_left + self.wave.single_left


@dataclass(frozen=True)
class Standing:
    """How a member stands in the waves of a project that are not finished, in their order.

    `newest`: the newest published version, by whose MAJOR a wave is served; `held`: the assignment they hold.
    """

    newest: UUID | None
    held: int | None
    places: list[Place]


@dataclass(frozen=True)
class Claimed:
    """What a member got: a slot, and their assignment to it."""

    assignment: UUID
    content: dict[str, Any]
    draft: dict[str, Any] | None


def standing(member: Membership) -> Standing:
    """Where `member` stands, in one query."""
    rows = _STANDING.rows(member.project_id, member.pk)
    if not rows:
        mine = Assignment.objects.filter(member=member, state=AssignmentState.OPEN)
        return Standing(None, mine.values_list("pk", flat=True).first(), [])
    newest, held = rows[0][:2]
    return Standing(newest, held, [_place(*row[2:]) for row in rows])


def _place(
    takeable: int | None, first: int | None, single: int | None, is_measured: bool, team: int, *fields: Any
) -> Place:
    wave, seat = fields[: len(_WAVE)], fields[len(_WAVE) :]
    return Place(
        wave=Wave.from_db(connection.alias, _WAVE, wave),
        seat=Seat.from_db(connection.alias, _SEAT, seat) if seat[0] is not None else None,
        takeable=takeable,
        first_key=first,
        single_key=single,
        is_measured=is_measured,
        team=team,
    )


_WAVE = [field.attname for field in Wave._meta.concrete_fields]
_SEAT = [field.attname for field in Seat._meta.concrete_fields]


def _standing(project: int, member: int) -> QuerySet[Any, Any]:
    published = GuidelineVersion.objects.published().filter(project=OuterRef("project")).newest_first()
    held = Assignment.objects.filter(member=member, state=AssignmentState.OPEN)
    seats = Seat.objects.filter(wave=OuterRef("pk")).order_by().values("wave")
    met = _met(member, major=OuterRef(OuterRef("major")))
    left = WaveItem.objects.filter(
        wave=OuterRef("pk"), draw__isnull=False, pk__gte=OuterRef("mine__takeable_cursor"), rated__lt=F("needed")
    )
    queues = Slot.objects.open().filter(~met, wave=OuterRef("pk")).order_by("key").values("key")
    # Samples too, but for spot checks, which have a page of their own.
    waves: QuerySet[Any] = Wave.unseen.unfinished().filter(project=project).exclude(kind=WaveKind.SPOTCHECK)
    waves = waves.order_by("number")
    placed: QuerySet[Any] = waves.annotate(mine=FilteredRelation("seats", condition=Q(seats__member=member))).annotate(
        newest=Subquery(published.values("uuid")[:1]),
        in_hand=Subquery(held.values("pk")[:1]),
        takeable=Subquery(left.filter(~met).order_by("pk").values("pk")[:1]),
        first_key=Subquery(queues.filter(queue=Slot.FIRST, key__gt=OuterRef("mine__first_cursor"))[:1]),
        single_key=Subquery(queues.filter(queue=Slot.SINGLES, key__gt=OuterRef("mine__single_cursor"))[:1]),
        is_measured=Exists(Draw.objects.open().filter(wave=OuterRef("pk"))),
        team=Coalesce(Subquery(seats.annotate(seated=Count("pk")).values("seated")), Value(0)),
    )
    looks = ("newest", "in_hand", "takeable", "first_key", "single_key", "is_measured", "team")
    return placed.values_list(*looks, *_WAVE, *(f"mine__{name}" for name in _SEAT))


_STANDING = Prepared(_standing, 2)


def _met(member: int, *, major: Any) -> Q:
    """Whether the member has met the row's item. Asked by index for each row: of NOT EXISTS a planner may make a look
    at all that the member ever met."""
    meetings = Assignment.objects.filter(item=OuterRef("item"), member=member, major=major, state__in=MET)
    return Q(Coalesce(Subquery(meetings.values(met=Value(True))[:1]), Value(False), output_field=BooleanField()))


def claim(
    place: Place, member: Membership, newest: GuidelineVersion, *, at: datetime, rng: random.Random, ending: Ending
) -> Claimed | None:
    """Take an item of the wave for `member`, or None after noting that they were told so."""
    if place.seat is None:
        _sit_down(place.wave, member)
        place = _again(place, member, ending)
    seat, wave = _seat(place), place.wave
    if seat.told_empty_at is not None and wave.cover_released_at is None and place.is_measured:
        return None
    slot = _look(place, at, rng, ending)
    while slot is None and reap(wave, at=at, ending=ending):
        place = _again(place, member, ending)  # a slot that came free may have taken a rating that waited for it
        slot = _look(place, at, rng, ending)
    if slot is not None:
        return _assign(slot, member, wave, newest, at)
    hides_something = place.wave.overlap_left and wave.single_all and seat.gave_up_at is None
    if hides_something and wave.cover_released_at is None:
        # From here on only overlap could come: whoever got an item now would know what it is.
        Seat.objects.filter(pk=seat.pk).update(told_empty_at=at)
    return None


def _seat(place: Place) -> Seat:
    if place.seat is None:
        raise AssertionError("unreachable")
    return place.seat


def _again(place: Place, member: Membership, ending: Ending) -> Place:
    found = next((one for one in standing(member).places if one.wave.pk == place.wave.pk), None)
    if found is None:
        raise LostRace  # it is just being ended
    discount(found.wave, ending)
    return found


def discount(wave: Wave, ending: Ending) -> None:
    """Count what this transaction has rated and will write at its end."""
    wave.overlap_left = max(0, wave.overlap_left - ending.overlap_rated(wave))
    wave.single_left = max(0, wave.single_left - ending.single_rated(wave))


def _sit_down(wave: Wave, member: Membership) -> None:
    """A seat in the wave; with it come the member's pair rows with everybody seated before."""
    # One newcomer at a time: two who do not see each other's seats would never get each other's later ratings.
    Wave.unseen.select_for_update(of=("self",)).get(pk=wave.pk)
    looked = Look.objects.filter(draw__wave=wave, member=member).values_list("at", flat=True).first()
    Seat.objects.get_or_create(wave=wave, member=member, defaults={"gave_up_at": looked})
    others = list(Seat.objects.filter(wave=wave).exclude(member=member).values_list("member_id", flat=True))
    Pair.objects.bulk_create(
        [Pair(wave=wave, member=member, other_id=other) for other in others]
        + [Pair(wave=wave, member_id=other, other=member) for other in others],
        ignore_conflicts=True,
    )


# -- looking -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slot:
    """A slot just taken."""

    pk: int
    wave_item: int
    item: int
    content: dict[str, Any]


def _look(place: Place, at: datetime, rng: random.Random, ending: Ending) -> _Slot | None:
    pairs = _pairs(place, ending)
    _move_cursors(place, pairs, at, ending)
    for overlap in _kinds(place, rng):
        slot = (
            _claim_overlap(place, pairs, at, rng) if overlap else _claim_in(place, Slot.SINGLES, place.single_key, at)
        )
        if slot is not None:
            return slot
    return None


def _kinds(place: Place, rng: random.Random) -> list[bool]:
    """The kinds to try, in order; True is overlap."""
    wave = place.wave
    takes_overlap = _seat(place).gave_up_at is None and wave.overlap_left > 0 and place.takeable is not None
    return kinds.to_try(wave, takes_overlap=takes_overlap, released=wave.cover_released_at is not None, rng=rng)


@dataclass
class _Pair:
    """Two members of the wave, and the first slot of the other one's queue that this one could take."""

    pk: int
    other: int
    shared: int
    cursor: int
    first_key: int | None


def _pairs(place: Place, ending: Ending) -> list[_Pair]:
    """The member's pairs, in the order of what they share."""
    wave, member = place.wave, _seat(place).member_id
    pairs = [_Pair(*row) for row in _PAIRS.rows(wave.pk, member, wave.major)]
    for _wave, _rater, others in (one for one in ending.shared if one[:2] == (wave.pk, member)):
        for pair in pairs:
            pair.shared += pair.other in others
    return pairs


def has_overlap_for(place: Place, member: Membership) -> bool:
    """Whether a slot of the overlap is open that `member` could take just now. A look only: it claims nothing."""
    if not place.wave.overlap_left or place.takeable is None:
        return False
    rows = _PAIRS.rows(place.wave.pk, member.pk, place.wave.major)
    return place.first_key is not None or any(_Pair(*row).first_key is not None for row in rows)


def _with_first_keys(wave: int, member: int, major: int) -> QuerySet[Any, Any]:
    waiting = _open(wave, member, major, queue=OuterRef("other"), after=OuterRef("cursor")).values("key")[:1]
    pairs: QuerySet[Any] = Pair.objects.filter(wave=wave, member=member).annotate(first_key=Subquery(waiting))
    return pairs.order_by("shared", "pk").values_list("pk", "other", "shared", "cursor", "first_key")


def _move_cursors(place: Place, pairs: Sequence[_Pair], at: datetime, ending: Ending) -> None:
    """What this look has passed by the next one does not look at again. Written now and then: it costs a statement."""
    seat, lagging = _seat(place), clock_key(at - CURSOR_LAG)
    moved: dict[str, int] = {}
    takeable = PASSED_ALL if place.takeable is None else place.takeable
    if takeable - seat.takeable_cursor > TAKEABLE_STEP:
        moved["takeable_cursor"] = takeable
    # Queues in random order: what the member skipped comes back at their end, so only a look that finds nothing has
    # passed anything by.
    for name, key in (("first_cursor", place.first_key), ("single_cursor", place.single_key)):
        if key is None and lagging - getattr(seat, name) > CURSOR_STEP:
            moved[name] = lagging
    if moved:
        Seat.objects.filter(pk=seat.pk).update(**moved)
    for pair in pairs:
        reached = lagging if pair.first_key is None else min(pair.first_key - 1, lagging)
        if reached - pair.cursor > CURSOR_STEP:
            ending.moved[pair.pk] = reached


def _claim_overlap(place: Place, pairs: Sequence[_Pair], at: datetime, rng: random.Random) -> _Slot | None:
    """A later rating before a first one; of the later ones, those of the rater with whom least is shared."""
    found = [pair for pair in pairs if pair.first_key is not None]
    if not found:
        return _claim_in(place, Slot.FIRST, place.first_key, at)
    least = min(pair.shared for pair in found)
    pair = rng.choice([pair for pair in found if pair.shared == least])
    return _claim_in(place, pair.other, pair.first_key, at)


def _open(wave: int, member: int, major: int, *, queue: Any, after: Any) -> QuerySet[Slot]:
    """The open slots of a queue that the member has not met, in order."""
    slots = Slot.objects.open().filter(wave=wave, queue=queue, key__gt=after)
    return slots.filter(~_met(member, major=major)).order_by("key")


_PAIRS = Prepared(_with_first_keys, 3)


# -- taking ------------------------------------------------------------------------------------------------------------

_CLAIM = """
    UPDATE annotations_slot SET state = 'claimed', claimed_by_id = %s, lease_ends = %s
     WHERE id = ({first}) AND state = 'open'
 RETURNING id, wave_item_id, item_id,
           (SELECT content FROM projects_item WHERE projects_item.id = annotations_slot.item_id)
"""


def _first_free(wave: int, member: int, major: int, queue: int, after: int) -> QuerySet[Any, Any]:
    slots = _open(wave, member, major, queue=queue, after=after).select_for_update(skip_locked=True, of=("self",))
    return slots.values_list("pk")[:1]


_FIRST_FREE = Prepared(_first_free, 5)


def _claim_in(place: Place, queue: int, key: int | None, at: datetime) -> _Slot | None:
    """Take the first slot of a queue, from the one with `key` on, that nobody else is taking. Of two callers at once
    each gets another one; LostRace if others are just taking them all, since they may yet fail to."""
    if key is None:
        return None
    wave, member = place.wave, _seat(place).member_id
    first, params = _FIRST_FREE.sql(wave.pk, member, wave.major, queue, key - 1)
    until = connection.ops.adapt_datetimefield_value(lease_end(wave, at))
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM.format(first=first), [member, until, *params])
        row = cursor.fetchone()
    if row is None:
        raise LostRace
    return _Slot(row[0], row[1], row[2], json.loads(row[3]))


# A lapsed assignment of an earlier claim of the same item comes back with its draft; one that was submitted or skipped
# meanwhile, in another tab, does not.
_ASSIGN = """
    INSERT INTO annotations_assignment AS met (uuid, slot_id, wave_item_id, item_id, member_id, major, round,
                                               version_id, state, served_at, skip_reason, skip_note)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'open', %s, '', '')
        ON CONFLICT (item_id, member_id, major, round)
        DO UPDATE SET slot_id = excluded.slot_id, wave_item_id = excluded.wave_item_id,
                      version_id = excluded.version_id, state = 'open', served_at = excluded.served_at
                WHERE met.state IN ('open', 'lapsed')
 RETURNING uuid, draft
"""


def claim_repeat(wave: Wave, member: Membership, newest: GuidelineVersion, *, at: datetime) -> Claimed | None:
    """The next of the member's own repeats that is due, or None."""
    own = repeats.claim(wave, member, at=at)
    if own is None:
        return None
    slot = _Slot(own.slot_id, own.slot.wave_item_id, own.slot.item_id, own.slot.item.content)
    return _assign(slot, member, wave, newest, at, turn=own.round)


def _assign(
    slot: _Slot, member: Membership, wave: Wave, newest: GuidelineVersion, at: datetime, *, turn: int = 0
) -> Claimed:
    uuid = Assignment._meta.get_field("uuid")
    own = uuid.get_db_prep_value(uuid4(), connection)
    moment = connection.ops.adapt_datetimefield_value(at)
    values = [own, slot.pk, slot.wave_item, slot.item, member.pk, wave.major, turn, newest.pk, moment]
    with connection.cursor() as cursor:
        cursor.execute(_ASSIGN, values)
        row = cursor.fetchone()
    if row is None:
        raise LostRace
    return Claimed(uuid.to_python(row[0]), slot.content, json.loads(row[1]) if row[1] else None)
