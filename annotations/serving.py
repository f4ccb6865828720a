"""Which item comes next for whom (DESIGN §3 "Serving"): the one in hand, else one from the first wave that has one.

What a member may take from a wave is said in `claims`.
"""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import claims, giving, practice, slots, turns
from annotations.claims import Claimed, Place
from annotations.enums import AssignmentState, SlotState, WaveKind, WaveState
from annotations.models import Assignment, Seat, Slot, Wave
from annotations.retrying import LostRace, retrying
from annotations.slots import Ending
from projects import guidelines
from projects.models import GuidelineVersion, Membership, in_order


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
        return _next_task(member, at=at, rng=rng)
    except LostRace:
        # What is left is locked, by others who take it or by a draw that is just closing. This person was not told
        # that nothing is left: they may ask again.
        return _with_others()


def shown_again(member: Membership, assignment: UUID, *, at: datetime) -> Task:
    """The task of one of the member's own assignments, for a form that comes back with errors. Claims nothing."""
    rows = Assignment.objects.select_related("item", "wave_item__wave", "version")
    row = rows.filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    return _task_of(row, member, at)


@retrying
def _next_task(member: Membership, *, at: datetime, rng: random.Random | None) -> Task | Nothing:
    ending = Ending()
    found = find(member, at=at, rng=rng, ending=ending)
    ending.write()
    return found


def find(member: Membership, *, at: datetime, rng: random.Random | None = None, ending: Ending) -> Task | Nothing:
    """`next_task` in the caller's transaction, which writes `ending` last. Raises LostRace where others are at it."""
    stands = claims.standing(member)
    newest = guidelines.kept(stands.newest) if stands.newest else guidelines.newest(member.project)
    if newest is None:
        return Nothing("no_guideline", _("The guideline of this project is not published yet."))
    if member.acknowledged_id != newest.pk:
        return Nothing("acknowledge", _("There is a new guideline: read what changed, then go on."))
    if practice.owed(member, newest):
        return Nothing("practice", _("The new guideline has examples to practise on: go through them, then go on."))
    if stands.held is not None:
        held = _held(stands.held, member, newest, at, ending)
        if held is not None:
            return _task_of(held, member, at)
        stands = claims.standing(member)
    places = [place for place in stands.places if place.wave.major == (newest.major or 0)]
    dice, obstacles = rng or random.SystemRandom(), []
    theirs = []
    for place in places:
        if place.wave.state == WaveState.OPEN and not place.wave.held:
            hindered = giving.obstacle(place.wave, member, at=at)
            if not hindered:
                theirs.append(place)
            if not place.wave.is_sample:
                obstacles.append(hindered)
    order = turns.in_order(theirs, dice)
    for place in theirs:  # all of them: a sample's page counts in the wave that it comes among
        claims.discount(place.wave, ending)
    for place in order:
        if place.wave.kind == WaveKind.REPEAT:
            claimed = claims.claim_repeat(place.wave, member, newest, at=at)
        else:
            claimed = claims.claim(place, member, newest, at=at, rng=dice, ending=ending)
        if claimed is not None:
            return _task(claimed, turns.host_among(theirs, place), member, newest, at)
    if not_theirs := giving.why_nothing(obstacles):
        return Nothing("given", not_theirs)
    return _why_nothing([place.wave for place in places if not place.wave.is_sample])


# -- what is held ------------------------------------------------------------------------------------------------------


def _held(pk: int, member: Membership, newest: GuidelineVersion, at: datetime, ending: Ending) -> Assignment | None:
    """The open assignment of `member`, its lease renewed; None, and the assignment lapsed, if somebody else took it."""
    assignment = (
        Assignment.objects.filter(pk=pk, state=AssignmentState.OPEN)
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
            state=SlotState.CLAIMED, claimed_by=member, lease_ends=slots.lease_end(wave, at)
        )
    )
    if not kept:
        mine_still = Slot.objects.filter(pk=assignment.slot_id, state=SlotState.CLAIMED, claimed_by=member)
        for slot in mine_still.select_for_update(of=("self",)):
            slots.give_back(slot, at=at, ending=ending)
        Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.OPEN).update(state=AssignmentState.LAPSED)
        return None
    if assignment.version_id != newest.pk:  # a MINOR came out meanwhile: the rating names the version that is shown
        Assignment.objects.filter(pk=assignment.pk).update(version=newest)
        assignment.version = newest
    return assignment


# -- words -------------------------------------------------------------------------------------------------------------


def _about(wave: Wave, team: int) -> int:
    """How many items are left for each: in tens, so that it tells nothing of what a submit did; 1 is a few, also where
    less than ten are left in all."""
    most = wave.overlap_left + wave.single_left
    each = most / max(1, team)
    return 1 if each < 1 or most < 10 else max(10, round(each / 10) * 10)


def _task(claimed: Claimed, place: Place, member: Membership, newest: GuidelineVersion, at: datetime) -> Task:
    wave = place.wave
    return Task(
        assignment=claimed.assignment,
        content=dict(in_order(claimed.content, member.project.shown_fields)),
        version=newest,
        draft=claimed.draft,
        served_at=at,
        done=member.submits,
        about_left=_about(wave, place.team + (place.seat is None)),
        window_submits=wave.window_submits,
        window_minutes=wave.window_minutes,
    )


def _task_of(assignment: Assignment, member: Membership, at: datetime) -> Task:
    wave = turns.host(assignment.wave_item.wave, member, at=at)  # an item of a sample looks as all the others do
    return Task(
        assignment=assignment.uuid,
        content=dict(assignment.item.shown(member.project.shown_fields)),
        version=assignment.version,
        draft=assignment.draft,
        served_at=assignment.served_at,
        done=member.submits,
        about_left=_about(wave, Seat.objects.filter(wave=wave).exclude(member=member).count() + 1),
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
