"""Waves and their draws: opening, closing, and what is left over (DESIGN §2.3, §2.9, §3).

Lock order everywhere in `annotations`: assignment, slot, membership, annotation, wave item, pair, draw; the wave row
last, since every submit writes it.
"""

import hashlib
import heapq
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import conflicts, eligibility, sampling
from annotations.enums import AssignmentState, Closing, DrawState, SlotKind, SlotState, WaveState
from annotations.models import Annotation, Assignment, Draw, Look, Seat, Slot, Wave, WaveItem
from annotations.retrying import retrying
from annotations.sampling import Candidate, Tally
from projects import access, bulk, guidelines, jobs
from projects.enums import Role
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Membership, Project

CHUNK = 1_000  # items whose slots are written in one transaction
# What a rule of a protocol may set for a gate (see `agreement.protocol`).
THRESHOLDS = ("threshold", "class_threshold", "stratum_threshold")
RANK_BITS = 50  # random ranks sort before the clock: microseconds have passed 2**50 since 2005


class TooFewFresh(DomainError):
    """Not enough fresh items for the wave; `ledger` says why the others are not eligible."""

    code = "too_few_fresh"

    def __init__(self, message: str, *, found: int, needed: int, ledger: eligibility.Ledger) -> None:
        super().__init__(message)
        self.found, self.needed, self.ledger = found, needed, ledger

    def details(self) -> dict[str, object]:
        return {"found": self.found, "needed": self.needed, "not_eligible": self.ledger.counts}


def clock_key(at: datetime) -> int:
    """The queue key of a slot that opens or comes back at `at`: microseconds, behind every random rank."""
    return int(at.timestamp() * 1_000_000)


# -- opening -----------------------------------------------------------------------------------------------------------


def open_wave(
    project: Project,
    *,
    by: Membership,
    at: datetime,
    size: int | None = None,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
) -> Wave:
    """Release `size` fresh items (all of them when None) as a wave, draw its overlap and serve it.

    The draw freezes the project's protocol, with this share and these ratings per item. Membership is by
    HMAC(seed, item uuid) inside strata, with a seed made here. Raises TooFewFresh with the ledger, Invalid for a share
    or a number of ratings out of range, DomainError without a published guideline or while a wave is being opened.
    """
    wave = plan_wave(
        project,
        by=by,
        at=at,
        size=size,
        share_percent=share_percent,
        ratings_per_item=ratings_per_item,
        pilot=pilot,
    )
    fill_wave(wave)
    return wave


@transaction.atomic
def plan_wave(
    project: Project,
    *,
    by: Membership,
    at: datetime,
    size: int | None = None,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
) -> Wave:
    """The first, short half of `open_wave`: decide which items and which overlap, in state `opening`."""
    project = Project.objects.select_for_update().get(pk=project.pk)  # one opening at a time
    version = _version_to_open(project)
    protocol = _frozen_protocol(project, version, share_percent, ratings_per_item)
    population = _population(project, protocol["strata_field"], size)
    wave = _make_wave(project, version, protocol, size=len(population), pilot=pilot, by=by, at=at)
    _make_draw(wave, protocol, population, at=at)
    return wave


def _version_to_open(project: Project) -> GuidelineVersion:
    version = guidelines.newest(project)
    if version is None:
        raise DomainError(
            _("“%(project)s” has no published guideline: publish the first version, then open a wave.")
            % {"project": project.name},
            code="no_guideline",
        )
    opening = project.waves.filter(state=WaveState.OPENING).first()
    if opening is not None:
        raise DomainError(
            _("Wave %(number)s is still being opened: wait until it is, then open the next one.")
            % {"number": opening.number},
            code="wave_opening",
        )
    return version


def _frozen_protocol(
    project: Project, version: GuidelineVersion, share_percent: Decimal | None, ratings_per_item: int | None
) -> dict[str, Any]:
    """The project's defaults with what was chosen for this wave, as plain data."""
    protocol = dict(project.protocol)
    protocol.pop("practice_pass_percent", None)  # no part of a measurement, and it may change while a draw is open
    if share_percent is not None:
        protocol["share_percent"] = str(share_percent)
    if ratings_per_item is not None:
        protocol["ratings_per_item"] = ratings_per_item
    share, ratings = Decimal(str(protocol["share_percent"])), int(protocol["ratings_per_item"])
    if not share.is_finite() or not 0 <= share <= 100 or share != round(share, 3):  # the column keeps three decimals
        raise Invalid(_("A share of %(share)s %%: expected 0 to 100, with at most three decimals.") % {"share": share})
    if not 2 <= ratings <= 10:
        raise Invalid(_("%(ratings)s ratings per item: expected 2 to 10.") % {"ratings": ratings})
    protocol["version"] = version.number
    protocol["task_types"] = dict(version.questions.values_list("key", "task_type"))
    return protocol


def _population(project: Project, strata_field: str, size: int | None) -> dict[Candidate, int]:
    """`size` fresh items at random, or all, and their keys; TooFewFresh with its numbers where there are too few."""
    fresh = eligibility.eligible(project)
    candidates: dict[Candidate, int] = {}
    if strata_field:
        for pk, uuid, digest, metadata in fresh.values_list("pk", "uuid", "content_hash", "metadata").iterator():
            candidates[Candidate(uuid, str(metadata.get(strata_field, "")), digest)] = pk
    else:
        for pk, uuid, digest in fresh.values_list("pk", "uuid", "content_hash").iterator():
            candidates[Candidate(uuid, "", digest)] = pk
    if size is not None and size < 1:
        raise Invalid(_("A wave of %(size)s items: expected 1 or more.") % {"size": size})
    if len(candidates) < (size or 1):
        raise _too_few(project, found=len(candidates), needed=size or 1)
    if size is None or size == len(candidates):
        return candidates
    lot = secrets.token_bytes(32)
    taken = heapq.nsmallest(size, candidates, key=lambda candidate: sampling.rank(lot, candidate.uuid))
    return {candidate: candidates[candidate] for candidate in taken}


def _too_few(project: Project, *, found: int, needed: int) -> TooFewFresh:
    found_words = ngettext("Only %(n)s fresh item is left", "Only %(n)s fresh items are left", found) % {"n": found}
    if not found:
        found_words = _("No fresh item is left")
    ledger = eligibility.ledger(project)
    return TooFewFresh(
        _("%(found)s and this wave needs %(needed)s: import %(more)s more, or make the wave smaller. %(ledger)s")
        % {"found": found_words, "needed": needed, "more": needed - found, "ledger": ledger.sentence},
        found=found,
        needed=needed,
        ledger=ledger,
    )


def _make_wave(
    project: Project,
    version: GuidelineVersion,
    protocol: dict[str, Any],
    *,
    size: int,
    pilot: bool,
    by: Membership,
    at: datetime,
) -> Wave:
    number = (project.waves.aggregate(last=Max("number"))["last"] or 0) + 1
    return Wave.objects.create(
        project=project,
        number=number,
        version=version,
        major=version.major or 0,
        held=is_held(project, version, int(protocol["ratings_per_item"])),
        pilot=pilot,
        share_percent=Decimal(str(protocol["share_percent"])),
        ratings_per_item=int(protocol["ratings_per_item"]),
        size=size,
        window_submits=int(protocol["window_submits"]),
        window_minutes=int(protocol["window_minutes"]),
        lease_minutes=int(protocol["lease_minutes"]),
        opened_at=at,
        opened_by=by,
    )


def is_held(project: Project, version: GuidelineVersion, ratings_per_item: int) -> bool:
    """A wave waits for the gate of the one before it under the same MAJOR, unless it asks for more ratings per item.

    Imported ratings have no gate: they neither hold a wave nor let one go.
    """
    before = (
        project.waves.filter(major=version.major or 0, draw__isnull=False, is_imported=False)
        .exclude(draw__state=DrawState.ABANDONED)
        .select_related("draw")
        .last()
    )
    if before is None or before.gate_cleared or ratings_per_item > before.ratings_per_item:
        return False
    return has_threshold(before.draw.protocol)


def has_threshold(protocol: dict[str, Any]) -> bool:
    """Whether the protocol sets a threshold on any question, so that its gate can hold."""
    questions: dict[str, dict[str, Any]] = protocol.get("questions", {})
    return any(settings.get(name) is not None for settings in questions.values() for name in THRESHOLDS)


def _make_draw(wave: Wave, protocol: dict[str, Any], population: dict[Candidate, int], *, at: datetime) -> None:
    """Make seed, salt and commitment, choose the overlap and write the waves' rows for it."""
    seed, salt = secrets.token_bytes(32), secrets.token_bytes(32)
    history = _history(wave)
    released = sum(tally.released for tally in history.values()) + len(population)
    drawn = sum(tally.drawn for tally in history.values())
    n = min(len(population), sampling.overlap_size(wave.share_percent, released, drawn))
    available = Counter(candidate.stratum for candidate in population)
    counts = sampling.allocate(n, wave.share_percent, available, history)
    chosen = sampling.choose(population, seed, counts)
    draw = None
    if wave.share_percent > 0:
        draw = Draw.objects.create(
            wave=wave,
            protocol=protocol,
            seed=seed,
            salt=salt,
            commitment=sampling.commitment(salt, seed, sampling.population_digest(population)),
            population=sampling.pack_population(population),
            population_size=len(population),
            size=n,
            opened_at=at,
            raters_knew=bool(n) and n == len(population),
        )
    order = hmac.digest(seed, b"serving", "sha256")
    bulk.insert(
        WaveItem,
        ("wave", "item", "draw", "stratum", "probability", "needed", "rated"),
        (
            (
                wave.pk,
                population[candidate],
                draw.pk if draw and candidate.uuid in chosen else None,
                candidate.stratum,
                counts[candidate.stratum] / available[candidate.stratum],
                wave.ratings_per_item if candidate.uuid in chosen else 1,
                0,
            )
            for candidate in sorted(population, key=lambda candidate: sampling.order_key(order, candidate.uuid))
        ),
    )


def _history(wave: Wave) -> dict[str, Tally]:
    """Items released and drawn before, by stratum, with this share under this MAJOR."""
    rows = (
        WaveItem.objects.filter(
            wave__project=wave.project, wave__major=wave.major, wave__share_percent=wave.share_percent
        )
        .exclude(wave=wave)
        .values("stratum")
        .annotate(released=Count("pk"), drawn=Count("draw"))
        .order_by()
    )
    return {row["stratum"]: Tally(row["released"], row["drawn"]) for row in rows}


def fill_wave(wave: Wave, *, beat: Callable[[int], None] | None = None) -> None:
    """The second, long half of `open_wave`: the slots, in chunks, then serve. May be repeated after a crash.

    `beat(done)` is called inside each chunk's transaction: what it raises undoes the chunk and ends the work.
    """
    # A chunk has all its slots or none, in the order of its rows: the last row that has some says where to go on.
    last = Slot.objects.filter(wave=wave).aggregate(last=Max("wave_item"))["last"] or 0
    done = WaveItem.objects.filter(wave=wave, pk__lte=last).count()
    while True:
        with transaction.atomic():
            # The row is locked for the chunk: who ends the wave or corrects an item meanwhile comes before or after.
            if not Wave.objects.select_for_update().filter(pk=wave.pk, state=WaveState.OPENING).exists():
                break
            rows = WaveItem.objects.filter(wave=wave, pk__gt=last).order_by("pk")
            part = list(rows.values_list("pk", "item", "draw", "needed", "item__uuid")[:CHUNK])
            if not part:
                _serve(wave)
                break
            bulk.insert(Slot, _SLOT_FIELDS, (slot for row in part for slot in _slots_of(wave, *row)))
            last, done = part[-1][0], done + len(part)
            if beat is not None:
                beat(done)
        jobs.give_way()
    wave.refresh_from_db()


def _serve(wave: Wave) -> None:
    """Count what the wave asks for, without items that were corrected while it was being filled, and open it."""
    overlap = Q(draw__isnull=False)
    asked = WaveItem.objects.filter(wave=wave).aggregate(
        overlap=Sum("needed", filter=overlap, default=0), single=Sum("needed", filter=~overlap, default=0)
    )
    Wave.objects.filter(pk=wave.pk).update(
        state=WaveState.OPEN,
        overlap_left=asked["overlap"],
        overlap_all=asked["overlap"],
        single_left=asked["single"],
        single_all=asked["single"],
    )


_SLOT_FIELDS = ("wave", "wave_item", "item", "draw", "kind", "number", "state", "queue", "key")


def _slots_of(
    wave: Wave, wave_item: int, item: int, draw: int | None, needed: int, uuid: UUID
) -> Iterator[tuple[object, ...]]:
    """The first rating is open, at its random place; each later one waits for the one before it."""
    place = hashlib.sha256(f"{wave.uuid}/{uuid}".encode()).digest()
    rank = int.from_bytes(place[:8]) >> (64 - RANK_BITS)
    kind, queue = (SlotKind.MEASURED, Slot.FIRST) if draw else (SlotKind.SINGLE, Slot.SINGLES)
    for number in range(1, needed + 1):
        state = SlotState.OPEN if number == 1 else SlotState.WAITING
        yield wave.pk, wave_item, item, draw, kind.value, number, state.value, queue, rank


# -- closing -----------------------------------------------------------------------------------------------------------


def close_due(*, at: datetime) -> list[Draw]:
    """Close every open draw whose slots are all rated and whose windows have all ended; finish waves that are done."""
    due = (
        Draw.objects.open()
        .filter(wave__state=WaveState.OPEN)
        .exclude(Exists(Slot.objects.unrated().filter(draw=OuterRef("pk"))))
        .exclude(Exists(Annotation.objects.filter(draw=OuterRef("pk"), window_ends__gt=at)))
    )
    closed = [draw for draw in due if _close(draw, closing=Closing.COMPLETE, reason="", by=None, at=at)]
    finish_waves(at=at)
    return closed


def finish_waves(*, at: datetime) -> None:
    """Close open waves that have nothing left to rate and no open draw."""
    (
        Wave.objects.open()
        .exclude(Exists(Slot.objects.unrated().filter(wave=OuterRef("pk"))))
        .exclude(Exists(Draw.objects.open().filter(wave=OuterRef("pk"))))
        .update(state=WaveState.CLOSED, closed_at=at)
    )


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
    conflicts.open_cases(draw, at=at)
    Wave.objects.filter(pk=draw.wave_id).update(overlap_left=0)
    return True


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
    Wave.objects.filter(pk=wave.pk, state=WaveState.OPENING).update(**ended)
    draw = Draw.objects.open().filter(wave=wave).first()
    complete = draw is not None and bool(draw.size) and ended_open and all_rated(draw)
    _cancel(Slot.objects.unrated().filter(wave=wave))
    if draw is not None:
        if not complete:
            _need(reason)
        closing = Closing.COMPLETE if complete else Closing.EARLY
        _close(draw, closing=closing, reason=reason.strip(), by=by, at=at)
    Wave.objects.filter(pk=wave.pk).exclude(state=WaveState.CLOSED).update(**ended)
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
        if not lacking.filter(~Exists(met)).exists():
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
    wave.refresh_from_db()


@transaction.atomic
def release(wave: Wave, *, by: Membership | None = None) -> None:
    """The gate of `wave` lets the waves that wait for it go, up to the next one with a gate (see `agreement.gates`)."""
    Project.objects.select_for_update(no_key=True).get(pk=wave.project_id)  # a wave that is just opened sees it, too
    Wave.objects.filter(pk=wave.pk).update(gate_cleared=True)
    later = Wave.objects.filter(project=wave.project_id, major=wave.major, number__gt=wave.number).order_by("number")
    for following in later:
        Wave.objects.filter(pk=following.pk, held=True).update(held=False)
        draw = Draw.objects.filter(wave=following).exclude(state=DrawState.ABANDONED).first()
        if draw is not None and has_threshold(draw.protocol) and not following.gate_cleared:
            break
    wave.refresh_from_db()


@retrying
def give_up(draw: Draw, *, by: Membership, at: datetime) -> None:
    """`by` takes no further measured slot of `draw`, and may see its figures from now on. Ratings given stay.

    They stay as they are: the windows of what `by` labelled in this wave end, and the item in hand goes back.
    """
    held = Assignment.objects.filter(member=by, wave_item__wave=draw.wave, state=AssignmentState.OPEN)
    for assignment in held.select_for_update(of=("self",)):
        mine = Slot.objects.filter(pk=assignment.slot_id, state=SlotState.CLAIMED, claimed_by=by)
        mine.update(lease_ends=at)
        Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.LAPSED)
    given = Annotation.objects.filter(member=by, wave_item__in=WaveItem.objects.filter(wave=draw.wave))
    given.filter(window_ends__gt=at).update(window_ends=at)
    seat, _created = Seat.objects.get_or_create(wave=draw.wave, member=by)
    if seat.gave_up_at is None:
        Seat.objects.filter(pk=seat.pk, gave_up_at__isnull=True).update(gave_up_at=at)


def may_see_figures(draw: Draw, member: Membership) -> bool:
    """Nobody who may still rate the overlap of an open draw sees its figures (DESIGN §3)."""
    if not draw.is_open or Role.ANNOTATOR not in access.roles(member):
        return True
    return Seat.objects.filter(wave=draw.wave_id, member=member, gave_up_at__isnull=False).exists()


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
        Look.objects.get_or_create(draw=draw, member=by, defaults={"at": at})
        Seat.objects.filter(wave=draw.wave_id, member=by, gave_up_at__isnull=True).update(gave_up_at=at)


@dataclass(frozen=True)
class Verification:
    """Whether a closed draw is what its record says."""

    same: bool
    sentence: str


def verify(draw: Draw) -> Verification:
    """Replay a closed draw from its record: commitment, population, seed, strata, sample."""
    if draw.is_open:
        raise DomainError(_("This draw is open: seed and population are shown when it closes."), code="draw_open")
    if draw.is_imported:
        return Verification(False, _("Imported: the system drew nothing here, so there is nothing to replay."))
    seed, salt = bytes(draw.seed), bytes(draw.salt)
    population = sampling.unpack_population(bytes(draw.population))
    if not sampling.verify(draw.commitment, salt, seed, sampling.population_digest(population)):
        return Verification(False, _("The commitment does not match seed and population."))
    rows = dict(
        WaveItem.objects.filter(wave=draw.wave).values_list("item__uuid", "draw")  # uuid -> draw or None
    )
    stored = {uuid for uuid, its_draw in rows.items() if its_draw is not None}
    counts = Counter(c.stratum for c in population if c.uuid in stored)
    replayed = sampling.choose(population, seed, counts)
    for candidate in sorted(population):
        if candidate.uuid not in rows:
            said = _("Item %(uuid)s was drawn from but is not in the wave.") % {"uuid": candidate.uuid}
            return Verification(False, said)
        if (candidate.uuid in stored) != (candidate.uuid in replayed):
            return Verification(False, _("Item %(uuid)s: record and replay differ.") % {"uuid": candidate.uuid})
    return Verification(True, _("Same set: %(n)s of %(size)s items.") % {"n": len(stored), "size": len(population)})


def draw_of(wave: Wave) -> Draw:
    """The draw of `wave`; DomainError where its share was 0 %."""
    draw = Draw.objects.filter(wave=wave).select_related("wave__project").first()
    if draw is None:
        raise DomainError(
            _("Wave %(number)s is not measured: its share is 0 %%.") % {"number": wave.number}, code="no_draw"
        )
    return draw
