"""Repeats: the same person rates the same item twice inside one MAJOR, without being told (DESIGN §3).

They are served among other work, not before days and items have passed since the first rating, and only to the person
who gave that one: `round` in the assignment's constraint is the named exception to "nobody meets an item twice".
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotations import samples
from annotations.enums import SlotKind, SlotState, WaveKind, WaveState
from annotations.models import Annotation, Assignment, Repeat, Slot, Wave, WaveItem
from annotations.retrying import LostRace
from annotations.sampling import Candidate
from projects.enums import Standing
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project

MOST_EACH, MOST_ITEMS, MOST_DAYS = 1_000, 10_000, 365
# Queues of one person alone are below those of `Slot`: no look at the singles finds them.
OWN = -2


@dataclass(frozen=True)
class Choices:
    """How many items each person rates again, and how many items and days have to lie between."""

    each: int
    items_between: int
    days_between: int

    def check(self) -> None:
        for name, found, least, most in (
            (_("Items for each person"), self.each, 1, MOST_EACH),
            (_("Items between"), self.items_between, 0, MOST_ITEMS),
            (_("Days between"), self.days_between, 0, MOST_DAYS),
        ):
            if not least <= found <= most:
                raise Invalid(
                    _("%(name)s: %(found)s, expected %(least)s to %(most)s.")
                    % {"name": name, "found": found, "least": least, "most": most}
                )
        if not self.items_between and not self.days_between:
            raise Invalid(
                _("With no item and no day between, people would answer from memory: set at least one of the two.")
            )


def eligible(project: Project, major: int) -> QuerySet[Annotation]:
    """The ratings that may be asked for again: counted ones, of present annotators, of items that still stand."""
    asked = Repeat.objects.filter(
        first=OuterRef("pk"), slot__state__in=[SlotState.OPEN, SlotState.CLAIMED, SlotState.WAITING]
    )
    return Annotation.objects.filter(
        ~Exists(asked),
        item__project=project,
        item__standing=Standing.CURRENT,
        major=major,
        seq__isnull=False,
        slot__kind__in=[SlotKind.MEASURED, SlotKind.SINGLE],
        member__in=project.memberships.annotators(),
    )


def available(project: Project, major: int) -> dict[int, int]:
    """Member -> how many of their ratings may be asked for again."""
    return dict(Counter(eligible(project, major).values_list("member", flat=True)))


@transaction.atomic
def open_repeat(project: Project, choices: Choices, *, by: Membership, at: datetime) -> Wave:
    """Draw from each annotator's own ratings those that they rate again. Raises Invalid, DomainError."""
    choices.check()
    project, version = samples.lock(project, by=by)
    rows = list(eligible(project, version.major or 0).select_related("member", "item").order_by("pk"))
    population = {Candidate(row.uuid, str(row.member.uuid), row.item.content_hash): row for row in rows}
    if not population:
        raise DomainError(
            _("Nobody who is still here has rated an item under guideline %(number)s: a repeat needs ratings first.")
            % {"number": version.number},
            code="nothing_rated",
        )
    sizes = Counter(candidate.stratum for candidate in population)
    drawn = samples.draw(
        WaveKind.REPEAT,
        population,
        {stratum: min(size, choices.each) for stratum, size in sizes.items()},
        version=version,
        choices={
            "each": choices.each,
            "items_between": choices.items_between,
            "days_between": choices.days_between,
        },
        by=by,
        at=at,
    )
    _write(drawn, [row for row in rows if row.uuid in drawn.chosen], choices)
    return drawn.wave


def _write(drawn: samples.Drawn, firsts: list[Annotation], choices: Choices) -> None:
    wave = drawn.wave
    needed = Counter(first.item_id for first in firsts)
    WaveItem.objects.bulk_create([WaveItem(wave=wave, item_id=item, needed=n) for item, n in needed.items()])
    row_of = {row.item_id: row for row in WaveItem.objects.filter(wave=wave)}
    numbers: Counter[int] = Counter()
    slots = []
    for first in firsts:
        numbers[first.item_id] += 1
        slots.append(
            Slot(
                wave=wave,
                wave_item=row_of[first.item_id],
                item_id=first.item_id,
                kind=SlotKind.REPEAT,
                number=numbers[first.item_id],
                queue=OWN - first.member_id,
                key=drawn.place(first.uuid),
            )
        )
    Slot.objects.bulk_create(slots)
    slot_of = {(slot.item_id, slot.queue): slot for slot in Slot.objects.filter(wave=wave)}
    before = _rounds([first.pk for first in firsts])
    Repeat.objects.bulk_create(
        [
            Repeat(
                slot=slot_of[first.item_id, OWN - first.member_id],
                member=first.member,
                first=first,
                round=before.get(first.pk, 0) + 1,
                after=first.submitted_at + timedelta(days=choices.days_between),
                after_submits=(first.seq or 0) + choices.items_between,
            )
            for first in firsts
        ]
    )
    Wave.unseen.filter(pk=wave.pk).update(state=WaveState.OPEN, single_left=len(firsts), single_all=len(firsts))
    wave.refresh_from_db()


def _rounds(firsts: list[int]) -> dict[int, int]:
    """Rating -> how often it was asked for again before."""
    rows = Repeat.objects.filter(first__in=firsts).values("first").annotate(last=Max("round")).order_by()
    return {row["first"]: row["last"] for row in rows}


# -- serving -----------------------------------------------------------------------------------------------------------


def claim(wave: Wave, member: Membership, *, at: datetime) -> Repeat | None:
    """The next repeat of `member` that is due, with its slot claimed; None where none is."""
    due = Repeat.objects.filter(
        slot__wave=wave,
        slot__queue=OWN - member.pk,
        slot__state=SlotState.OPEN,
        after__lte=at,
        after_submits__lte=member.submits,
    )
    repeat = due.select_related("slot__item", "slot__wave_item").order_by("slot__key").first()
    if repeat is None:
        return None
    lease_ends = at + timedelta(minutes=wave.lease_minutes)
    claimed = Slot.objects.open().filter(pk=repeat.slot_id)
    if claimed.update(state=SlotState.CLAIMED, claimed_by=member, lease_ends=lease_ends) != 1:
        raise LostRace  # a second tab of the same person, or the sample was just ended
    repeat.slot.wave = wave
    return repeat


def let_go(slot: Slot) -> None:
    """A repeat that was skipped: nobody else may give it, so it is asked no more."""
    Slot.objects.filter(pk=slot.pk).update(state=SlotState.CANCELLED, claimed_by=None, lease_ends=None)
    Wave.unseen.filter(pk=slot.wave_id, single_left__gt=0).update(single_left=F("single_left") - 1)


# -- what came of it ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """How far one person is: drawn, given again, skipped."""

    member: Membership
    drawn: int
    given: int
    skipped: int


def given(wave: Wave) -> QuerySet[Repeat]:
    """The repeats that were rated again, with both ratings."""
    return (
        Repeat.objects.filter(slot__wave=wave, slot__annotation__isnull=False)
        .select_related("first", "slot__annotation", "member__user", "slot__item")
        .order_by("member", "pk")
    )


def standings(wave: Wave) -> list[Progress]:
    """Everybody who was drawn, by name."""
    rows = list(Repeat.objects.filter(slot__wave=wave).select_related("member__user", "slot"))
    drawn = Counter(row.member_id for row in rows)
    rated = Counter(row.member_id for row in rows if row.slot.state == SlotState.RATED)
    skipped = Counter(Assignment.objects.filter(slot__wave=wave, state="skipped").values_list("member", flat=True))
    people = {row.member_id: row.member for row in rows}
    found = [Progress(people[pk], n, rated[pk], skipped[pk]) for pk, n in drawn.items()]
    return sorted(found, key=lambda one: one.member.name)
