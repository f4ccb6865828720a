"""Releasing items as a wave: which are in it, which of them are its overlap, and their slots (DESIGN §2.3, §3)."""

import heapq
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import draws, eligibility, sampling, strata
from annotations.enums import DrawState, SlotKind, SlotState, WaveKind, WaveState
from annotations.models import Draw, Slot, Wave, WaveItem
from annotations.sampling import Candidate
from projects import activities, bulk, guidelines, jobs
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Membership, Project

MOST_ITEMS = 2**31  # of a project; what is asked for may be any number
CHUNK = 1_000  # items whose slots are written in one transaction
RANK_BITS = 50  # random ranks sort before the clock: microseconds have passed 2**50 since 2005


class TooFewFresh(DomainError):
    """Not enough fresh items for the wave; `ledger` says why the others are not eligible."""

    code = "too_few_fresh"

    def __init__(self, message: str, *, found: int, needed: int, ledger: eligibility.Ledger) -> None:
        super().__init__(message)
        self.found, self.needed, self.ledger = found, needed, ledger

    def details(self) -> dict[str, object]:
        return {"found": self.found, "needed": self.needed, "not_eligible": self.ledger.counts}


def open_wave(
    project: Project,
    *,
    by: Membership,
    at: datetime,
    size: int | None = None,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
    **choices: Any,
) -> Wave:
    """Release `size` fresh items (all of them when None) as a wave, draw its overlap and serve it.

    The draw freezes the project's protocol, with this share and these ratings per item, and with what `choices` say of
    its strata (see `strata.declare`). Membership is by HMAC(seed, item uuid) inside strata, with a seed made here.
    Raises TooFewFresh with the ledger, Invalid for choices that make no sense, DomainError without a published
    guideline or while a wave is being opened.
    """
    wave = plan_wave(
        project,
        by=by,
        at=at,
        size=size,
        share_percent=share_percent,
        ratings_per_item=ratings_per_item,
        pilot=pilot,
        **choices,
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
    **choices: Any,
) -> Wave:
    """The first half of `open_wave`: decide which items and which overlap, in state `opening`."""
    wave, protocol = announce_wave(
        project,
        by=by,
        at=at,
        share_percent=share_percent,
        ratings_per_item=ratings_per_item,
        pilot=pilot,
        **choices,
    )
    draw_wave(wave, protocol, size=size)
    return wave


@transaction.atomic
def announce_wave(
    project: Project,
    *,
    by: Membership,
    at: datetime,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
    **choices: Any,
) -> tuple[Wave, dict[str, Any]]:
    """A wave in state `opening` that has no items yet, and the protocol of its draw: frozen from here on."""
    project = Project.objects.select_for_update().get(pk=project.pk)  # one opening at a time
    version = version_to_open(project)
    protocol = frozen_protocol(project, version, share_percent, ratings_per_item, choices)
    return make_wave(project, version, protocol, pilot=pilot, by=by, at=at), protocol


@transaction.atomic
def draw_wave(wave: Wave, protocol: dict[str, Any], *, size: int | None) -> None:
    """Decide which items an announced wave has and which are its overlap, at once and once: one that is drawn or was
    ended stays as it is. Raises what `open_wave` raises."""
    project = Project.objects.select_for_update().get(pk=wave.project_id)
    if not Wave.objects.select_for_update().filter(pk=wave.pk, state=WaveState.OPENING, size=0).exists():
        return
    draw_from(wave, protocol, population_of(project, protocol["strata_field"], size))


def draw_from(wave: Wave, protocol: dict[str, Any], population: Mapping[Candidate, int]) -> None:
    """Release these items, by their keys, as an announced wave, and draw its overlap; in the caller's transaction."""
    wave.size = len(population)
    wave.save(update_fields=["size"])
    _make_draw(wave, protocol, population, at=wave.opened_at)
    if wave.size >= CHUNK:
        bulk.refresh_statistics(WaveItem)  # its rows are read in chunks next


def call_off(wave: Wave, *, at: datetime) -> None:
    """End an announced wave that could not be drawn."""
    announced = Wave.objects.filter(pk=wave.pk, state=WaveState.OPENING, size=0)
    announced.update(state=WaveState.CLOSED, closed_at=at)


def refuse_size(project: Project, size: int | None) -> None:
    """Raise Invalid for a size that is none, TooFewFresh where fewer items are fresh: without a look at all of them."""
    if size is None:
        return
    _check(size)
    found = eligibility.eligible(project).values("pk")[: min(size, MOST_ITEMS)].count()
    if found < size:
        raise _too_few(project, found=found, needed=size)


def _check(size: int | None) -> None:
    if size is not None and size < 1:
        raise Invalid(_("A wave of %(size)s items: expected 1 or more.") % {"size": size})


def version_to_open(project: Project) -> GuidelineVersion:
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


def frozen_protocol(
    project: Project,
    version: GuidelineVersion,
    share_percent: Decimal | None,
    ratings_per_item: int | None,
    choices: Mapping[str, Any],
) -> dict[str, Any]:
    """The project's defaults with what was chosen for this wave, as plain data. Raises Invalid."""
    protocol = dict(project.protocol)
    for name in ("practice_pass_percent", "decide_together"):
        protocol.pop(name, None)  # no part of a measurement, and it may change while a draw is open
    if share_percent is not None:
        protocol["share_percent"] = str(share_percent)
    if ratings_per_item is not None:
        protocol["ratings_per_item"] = ratings_per_item
    share, ratings = Decimal(str(protocol["share_percent"])), int(protocol["ratings_per_item"])
    if not share.is_finite() or not 0 <= share <= 100 or share != round(share, 3):  # the column keeps three decimals
        raise Invalid(_("A share of %(share)s %%: expected 0 to 100, with at most three decimals.") % {"share": share})
    if not 2 <= ratings <= 10:
        raise Invalid(_("%(ratings)s ratings per item: expected 2 to 10.") % {"ratings": ratings})
    strata.declare(protocol, project, choices)
    if choices.get("expert") is not None:
        protocol["expert"] = _expert(project, str(choices["expert"]))
    protocol["version"] = version.number
    protocol["task_types"] = dict(version.questions.values_list("key", "task_type"))
    return protocol


def _expert(project: Project, uuid: str) -> str:
    """The member whom the others are compared with, by uuid; nobody where it is empty."""
    if uuid and uuid not in {str(one) for one in project.memberships.annotators().values_list("uuid", flat=True)}:
        raise Invalid(_("The expert is nobody who labels in this project: choose one of its annotators."))
    return uuid


def population_of(project: Project, strata_field: str, size: int | None) -> dict[Candidate, int]:
    """`size` fresh items at random, or all, and their keys; TooFewFresh with its numbers where there are too few."""
    fresh = eligibility.eligible(project)
    candidates: dict[Candidate, int] = {}
    if strata_field:
        for pk, uuid, digest, metadata in fresh.values_list("pk", "uuid", "content_hash", "metadata").iterator():
            candidates[Candidate(uuid, strata.stratum_of(metadata, strata_field), digest)] = pk
    else:
        for pk, uuid, digest in fresh.values_list("pk", "uuid", "content_hash").iterator():
            candidates[Candidate(uuid, "", digest)] = pk
    _check(size)
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


def make_wave(
    project: Project,
    version: GuidelineVersion,
    protocol: dict[str, Any],
    *,
    pilot: bool,
    by: Membership,
    at: datetime,
) -> Wave:
    """The row of a wave that is just being opened, with the terms of this protocol."""
    number = (project.waves.aggregate(last=Max("number"))["last"] or 0) + 1
    wave = Wave.objects.create(
        project=project,
        number=number,
        version=version,
        major=version.major or 0,
        held=is_held(project, version, int(protocol["ratings_per_item"])),
        pilot=pilot,
        share_percent=Decimal(str(protocol["share_percent"])),
        ratings_per_item=int(protocol["ratings_per_item"]),
        window_submits=int(protocol["window_submits"]),
        window_minutes=int(protocol["window_minutes"]),
        lease_minutes=int(protocol["lease_minutes"]),
        opened_at=at,
        opened_by=by,
    )
    record_opened(wave)
    return wave


def record_opened(wave: Wave) -> None:
    """Into the project's log: a wave is announced. How many items it has is on its page, once they are drawn."""
    facts: dict[str, Any] = {"number": wave.number, "version": wave.version.number, "share": str(wave.share_percent)}
    by, at = wave.opened_by, wave.opened_at
    activities.record("wave_opened", wave.project_id, by=by, subject=wave.uuid, at=at, **facts)


def is_held(project: Project, version: GuidelineVersion, ratings_per_item: int) -> bool:
    """A wave waits for the gate of the one before it under the same MAJOR, or of all the panels that were opened with
    it, unless it asks for more ratings per item.

    Imported ratings have no gate: they neither hold a wave nor let one go.
    """
    before = (
        project.waves.filter(major=version.major or 0, draw__isnull=False, is_imported=False)
        .exclude(draw__state=DrawState.ABANDONED)
        .select_related("draw")
        .last()
    )
    if before is None or ratings_per_item > before.ratings_per_item:
        return False
    return draws.has_threshold(before.draw.protocol) and not draws.is_cleared(before)


def _make_draw(wave: Wave, protocol: dict[str, Any], population: Mapping[Candidate, int], *, at: datetime) -> None:
    """Make seed, salt and commitment, choose the overlap and write the waves' rows for it."""
    seed, salt = secrets.token_bytes(32), secrets.token_bytes(32)
    plan = strata.plan(wave.project, wave.major, protocol, before=wave.number)
    available = Counter(candidate.stratum for candidate in population)
    counts = plan.counts(available)
    n = sum(counts.values())
    chosen = sampling.choose(population, seed, counts)
    draw = None
    if wave.share_percent > 0:
        draw = Draw.objects.create(
            wave=wave,
            protocol=protocol,
            seed=seed,
            salt=salt,
            plan=plan.to_json(),
            commitment=sampling.commitment(
                salt, seed, sampling.record_digest(sampling.population_digest(population), plan.to_json())
            ),
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
            if not Wave.unseen.select_for_update().filter(pk=wave.pk, state=WaveState.OPENING).exists():
                break
            rows = WaveItem.objects.filter(wave=wave, pk__gt=last).order_by("pk")
            part = list(rows.values_list("pk", "item", "draw", "needed")[:CHUNK])
            if not part:
                _serve(wave)
                if done >= CHUNK:
                    bulk.refresh_statistics(WaveItem, Slot)
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
    Wave.unseen.filter(pk=wave.pk).update(
        state=WaveState.OPEN,
        overlap_left=asked["overlap"],
        overlap_all=asked["overlap"],
        single_left=asked["single"],
        single_all=asked["single"],
    )


_UNMEASURED: dict[str, SlotKind] = {
    WaveKind.FRESH: SlotKind.SINGLE,
    WaveKind.RELABEL: SlotKind.SINGLE,
    WaveKind.BRIDGE: SlotKind.BRIDGE,
    WaveKind.SPOTCHECK: SlotKind.SPOTCHECK,
}
_SLOT_FIELDS = ("wave", "wave_item", "item", "draw", "kind", "number", "state", "queue", "key")


def _slots_of(wave: Wave, wave_item: int, item: int, draw: int | None, needed: int) -> Iterator[tuple[object, ...]]:
    """The first rating is open, at its random place; each later one waits for the one before it."""
    # Chance, not a hash of ids that a lead can look up: what came out of turn would be known as a later rating.
    rank = secrets.randbits(RANK_BITS)
    kind, queue = (SlotKind.MEASURED, Slot.FIRST) if draw else (_UNMEASURED[wave.kind], Slot.SINGLES)
    for number in range(1, needed + 1):
        state = SlotState.OPEN if number == 1 else SlotState.WAITING
        yield wave.pk, wave_item, item, draw, kind.value, number, state.value, queue, rank
