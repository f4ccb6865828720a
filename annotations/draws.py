"""Draws and their waves after the opening: closing, what is left over, cover, gates (DESIGN §2.9, §3).

Lock order everywhere in `annotations`: assignment, slot, membership, annotation, wave item, pair, draw; the wave row
last, since every submit writes it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotations import giving, ruling
from annotations.enums import AssignmentState, Closing, DrawState, SlotState, WaveState
from annotations.models import Annotation, Assignment, Draw, Look, Seat, Slot, Wave, WaveItem
from annotations.retrying import retrying
from projects import access, activities
from projects.enums import Role
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project

# What a rule of a protocol may set for a gate (see `agreement.protocol`).
THRESHOLDS = ("threshold", "class_threshold", "stratum_threshold")


def has_threshold(protocol: dict[str, Any]) -> bool:
    """Whether the protocol sets a threshold on any question, so that its gate can hold."""
    questions: dict[str, dict[str, Any]] = protocol.get("questions", {})
    return any(settings.get(name) is not None for settings in questions.values() for name in THRESHOLDS)


# -- closing -----------------------------------------------------------------------------------------------------------


def close_due(*, at: datetime) -> list[Draw]:
    """Close every open draw whose slots are all rated and whose windows have all ended; finish waves that are done."""
    due = (
        Draw.objects.open()
        .filter(access.live("wave__project"), wave__state=WaveState.OPEN)
        .exclude(Exists(Slot.objects.unrated().filter(draw=OuterRef("pk"))))
        .exclude(Exists(Annotation.objects.filter(draw=OuterRef("pk"), window_ends__gt=at)))
    )
    closed = [draw for draw in due if _close(draw, closing=Closing.COMPLETE, reason="", by=None, at=at)]
    finish_waves(at=at)
    return closed


def finish_waves(*, at: datetime) -> None:
    """Close open waves that have nothing left to rate and no open draw."""
    finished = (
        Wave.unseen.open()
        .filter(access.live("project"))
        .exclude(Exists(Slot.objects.unrated().filter(wave=OuterRef("pk"))))
        .exclude(Exists(Draw.objects.open().filter(wave=OuterRef("pk"))))
    )
    for wave in list(finished):
        _finish(wave, finished, at=at)


@transaction.atomic
def _finish(wave: Wave, finished: QuerySet[Wave], *, at: datetime) -> None:
    """Close one of those that are `finished`. Of two sweeps at once one does it."""
    if not finished.filter(pk=wave.pk).update(state=WaveState.CLOSED, closed_at=at):
        return
    if wave.is_sample:
        _record("sample_ended", wave, by=None, at=at, what=wave.kind)
    else:
        _record("wave_finished", wave, by=None, at=at)


def close(draw: Draw, *, closing: Closing, reason: str = "", by: Membership, at: datetime) -> Draw:
    """A lead closes a draw: `complete` where all is rated and only windows are open, `short` where nobody present may
    fill what is left, else `early`, with a reason.

    Ends all windows, cancels the open measured slots (what still comes in is kept as surplus) and opens the cases.
    """
    if Wave.objects.filter(pk=draw.wave_id, state=WaveState.OPENING).exists():
        raise DomainError(_("This wave is still being opened: wait until it is, or end it."), code="wave_opening")
    if closing == Closing.COMPLETE and not all_rated(draw):
        raise DomainError(
            _("Ratings are still missing: close the draw short or early, or wait for them."), code="not_complete"
        )
    if closing == Closing.SHORT:
        left = leftovers(draw, at=at)
        if not left.slots:
            raise DomainError(
                _("Every measured rating is given: end the correction time instead, or wait until it has passed."),
                code="all_rated",
            )
        if left.fillable:
            names = ", ".join(sorted(member.name for member in left.fillable))
            raise DomainError(
                _("%(names)s can still give some of the %(slots)s ratings left: wait, or close early with a reason.")
                % {"slots": left.slots, "names": names},
                code="not_short",
            )
    if closing == Closing.EARLY:
        _need(reason)
    if not _close(draw, closing=closing, reason=reason.strip(), by=by, at=at):
        raise DomainError(_("This draw is already closed."), code="draw_closed")
    finish_waves(at=at)
    draw.refresh_from_db()
    return draw


def all_rated(draw: Draw) -> bool:
    """Whether every measured rating of the draw is given, so that only windows can still be open."""
    return not Slot.objects.unrated().filter(draw=draw).exists()


def _need(reason: str) -> None:
    if not reason.strip():
        raise Invalid(_("Closing early needs a reason: it is printed with every figure of this draw."))


@retrying
def _close(draw: Draw, *, closing: Closing, reason: str, by: Membership | None, at: datetime) -> bool:
    """Of two callers at once one closes. A submit that is under way either counts or is kept as surplus.

    A correction takes its annotation, then the draw: it is either in before the draw closes, or no longer measured.
    """
    if not Draw.objects.open().filter(pk=draw.pk).exists():
        return False
    _cancel(Slot.objects.unrated().filter(draw=draw))
    Annotation.objects.filter(draw=draw, window_ends__gt=at).update(window_ends=at)
    won = Draw.objects.filter(pk=draw.pk, state=DrawState.OPEN).update(
        state=DrawState.CLOSED, closing=closing, closed_at=at, closed_by=by, reason=reason
    )
    if not won:
        return False
    draw.refresh_from_db()
    ruling.open_cases(draw, at=at)
    _record("draw_closed", draw.wave, by=by, at=at, closing=closing, reason=reason)
    Wave.objects.filter(pk=draw.wave_id).update(overlap_left=0)
    return True


def _record(kind: str, wave: Wave, *, by: Membership | None, at: datetime, **facts: Any) -> None:
    activities.record(kind, wave.project_id, by=by, subject=wave.uuid, at=at, number=wave.number, **facts)


def _cancel(unrated: QuerySet[Slot]) -> None:
    """Ask for none of these any more. Locked by id, since a submit takes a slot and then the one that follows it."""
    list(unrated.order_by("pk").select_for_update().values_list("pk", flat=True))
    unrated.update(state=SlotState.CANCELLED, claimed_by=None, lease_ends=None)


@retrying
def close_wave(wave: Wave, *, by: Membership, at: datetime, reason: str) -> None:
    """End a wave and its singles unrated; its draw as complete where all of it is rated, else early, with a reason.

    What was unrated is fresh again.
    """
    ended = {"state": WaveState.CLOSED, "closed_at": at, "single_left": 0, "overlap_left": 0}
    ended_open = wave.state == WaveState.OPEN
    # Who still fills it sees this and stops. (Of an open wave the row comes last.)
    ended_now = Wave.unseen.filter(pk=wave.pk, state=WaveState.OPENING).update(**ended)
    draw = Draw.objects.open().filter(wave=wave).first()
    complete = draw is not None and bool(draw.size) and ended_open and all_rated(draw)
    _cancel(Slot.objects.unrated().filter(wave=wave))
    if draw is not None:
        if not complete:
            _need(reason)
        closing = Closing.COMPLETE if complete else Closing.EARLY
        _close(draw, closing=closing, reason=reason.strip(), by=by, at=at)
    ended_now += Wave.unseen.filter(pk=wave.pk).exclude(state=WaveState.CLOSED).update(**ended)
    if ended_now and wave.is_sample:
        _record("sample_ended", wave, by=by, at=at, what=wave.kind)
    elif ended_now:
        _record("wave_closed", wave, by=by, at=at, reason=reason.strip())
    wave.refresh_from_db()


# -- what is left, cover, gates, leads who annotate --------------------------------------------------------------------


@dataclass(frozen=True)
class Leftovers:
    """What an open draw waits for: `slots` ratings, `held` of them in work; who may still give one, who may not."""

    slots: int
    held: int
    fillable: list[Membership]
    barred: list[Membership]
    items: list[WaveItem]


def leftovers(draw: Draw, *, at: datetime, limit: int = 50) -> Leftovers:
    """The unrated measured slots of `draw`, and which active annotators may still fill one of them."""
    without = giving.barred(draw.wave)
    unrated = Slot.objects.unrated().filter(draw=draw)
    lacking = WaveItem.objects.filter(draw=draw, rated__lt=F("needed"))
    fillable: list[Membership] = []
    barred: list[Membership] = []
    seats = {seat.member_id: seat for seat in Seat.objects.filter(wave=draw.wave)}
    for member in draw.wave.project.memberships.annotators().select_related("user"):
        met = Assignment.objects.filter(
            item=OuterRef("item"),
            member=member,
            major=draw.wave.major,
            state__in=[AssignmentState.SUBMITTED, AssignmentState.SKIPPED],
        )
        if member.pk in without or not lacking.filter(~Exists(met)).exists():
            continue
        seat = seats.get(member.pk)
        is_barred = seat is not None and (
            seat.gave_up_at is not None or (seat.told_empty_at is not None and draw.wave.cover_released_at is None)
        )
        (barred if is_barred else fillable).append(member)
    return Leftovers(
        slots=unrated.count(),
        held=unrated.filter(state=SlotState.CLAIMED, lease_ends__gt=at).count(),
        fillable=fillable,
        barred=barred,
        items=list(lacking.select_related("item").order_by("pk")[:limit]),
    )


@transaction.atomic
def release_cover(wave: Wave, *, by: Membership, at: datetime) -> None:
    """Serve the rest of `wave` to anybody. From the next measured rating on, raters could have known; it is printed."""
    won = Wave.objects.filter(pk=wave.pk, state=WaveState.OPEN, cover_released_at__isnull=True).update(
        cover_released_at=at, cover_released_by=by
    )
    if not won:
        raise DomainError(_("The cover of this wave is already released, or the wave is closed."), code="no_cover")
    draw = Draw.objects.open().filter(wave=wave).first()
    if draw is not None:
        rated = Annotation.objects.filter(draw=draw, slot__isnull=False).count()
        Draw.objects.filter(pk=draw.pk).update(known_from=rated + 1)
    _record("cover_released", wave, by=by, at=at, until_closed=wave.uuid)
    wave.refresh_from_db()


def is_cleared(wave: Wave) -> bool:
    """Whether the gate of `wave` lets the next wave go, and those of the panels that were opened with it do, too."""
    if not wave.gate_cleared:
        return False
    others = Wave.objects.filter(panel__split__panels__wave=wave, draw__isnull=False, gate_cleared=False)
    return not others.exclude(draw__state=DrawState.ABANDONED).exists()


@transaction.atomic
def release(wave: Wave, *, by: Membership | None = None) -> None:
    """The gate of `wave` lets the waves that wait for it go, up to the next one with a gate (see `agreement.gates`)."""
    Project.objects.select_for_update(no_key=True).get(pk=wave.project_id)  # a wave that is just opened sees it, too
    Wave.objects.filter(pk=wave.pk).update(gate_cleared=True)
    wave.refresh_from_db()
    if not is_cleared(wave):
        return  # another panel of the same release holds: the last of them lets go
    later = Wave.objects.filter(project=wave.project_id, major=wave.major, number__gt=wave.number).order_by("number")
    stopped, together = False, None
    for following in later.select_related("panel"):
        split = following.panel.split_id if hasattr(following, "panel") else None
        if stopped and (split is None or split != together):
            break  # panels that were opened together go together
        Wave.objects.filter(pk=following.pk, held=True).update(held=False)
        draw = Draw.objects.filter(wave=following).exclude(state=DrawState.ABANDONED).first()
        if draw is not None and has_threshold(draw.protocol) and not following.gate_cleared:
            stopped, together = True, split
    wave.refresh_from_db()


@retrying
def give_up(draw: Draw, *, by: Membership, at: datetime) -> None:
    """`by` takes no further measured slot of `draw`, and may see its figures from now on. Ratings given stay.

    They stay as they are: the windows of what `by` labelled in this wave end, and the item in hand goes back.
    """
    giving.lapse(draw.wave, by, at=at)
    given = Annotation.objects.filter(member=by, wave_item__in=WaveItem.objects.filter(wave=draw.wave))
    given.filter(window_ends__gt=at).update(window_ends=at)
    seat, _created = Seat.objects.get_or_create(wave=draw.wave, member=by)
    if seat.gave_up_at is None and Seat.objects.filter(pk=seat.pk, gave_up_at__isnull=True).update(gave_up_at=at):
        _record("overlap_given_up", draw.wave, by=by, at=at, until_closed=draw.wave.uuid)


def may_see_figures(draw: Draw, member: Membership) -> bool:
    """Nobody who may still rate the overlap of an open draw sees its figures (DESIGN §3)."""
    if not draw.is_open or Role.ANNOTATOR not in access.roles(member):
        return True
    return Seat.objects.filter(wave=draw.wave_id, member=member, gave_up_at__isnull=False).exists()


def visible(found: Iterable[Draw], member: Membership) -> set[int]:
    """Those of some draws whose figures `member` may see: `may_see_figures` of all of them, in one query at most."""
    keys = {draw.pk for draw in found}
    return keys - set(hidden_from(member).filter(pk__in=keys).values_list("pk", flat=True))


def hidden_from(member: Membership) -> QuerySet[Draw]:
    """The open draws whose figures `member` may not see: `may_see_figures` as a condition."""
    if Role.ANNOTATOR not in access.roles(member):
        return Draw.objects.none()
    gave_up = Seat.objects.filter(wave=OuterRef("wave"), member=member, gave_up_at__isnull=False)
    return Draw.objects.open().filter(~Exists(gave_up), wave__project=member.project_id)


def look(draw: Draw, *, by: Membership, at: datetime) -> None:
    """Log that `by` saw the interim figure of an open draw; only the first time is kept.

    Should they annotate later on, they have given up its overlap by this.
    """
    if draw.is_open:
        _row, first = Look.objects.get_or_create(draw=draw, member=by, defaults={"at": at})
        if first:
            _record("looked", draw.wave, by=by, at=at, until_closed=draw.wave.uuid)
        Seat.objects.filter(wave=draw.wave_id, member=by, gave_up_at__isnull=True).update(gave_up_at=at)


def draw_of(wave: Wave) -> Draw:
    """The draw of `wave`; DomainError where its share was 0 %."""
    draw = Draw.objects.filter(wave=wave).select_related("wave__project").first()
    if draw is None:
        raise DomainError(
            _("Wave %(number)s is not measured: its share is 0 %%.") % {"number": wave.number}, code="no_draw"
        )
    return draw
