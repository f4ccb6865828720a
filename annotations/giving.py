"""Giving a wave to named people by hand, and how many items one person may take of it (DESIGN §3 "By hand").

The overlap is still drawn by the system, and nobody learns from this what is in it: people are named for a whole wave,
and a limit counts every item alike.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations.enums import AssignmentState, SlotState, WaveKind, WaveState
from annotations.models import Annotation, Assignment, Given, Slot, Wave
from annotations.retrying import retrying
from projects import access, activities
from projects.enums import Action
from projects.errors import DomainError, Invalid
from projects.models import Membership

NOT_GIVEN, ENOUGH, ENOUGH_TODAY = "not_given", "enough", "enough_today"


# -- who may take an item ----------------------------------------------------------------------------------------------


def obstacle(wave: Wave, member: Membership, *, at: datetime) -> str:
    """Why `member` is served nothing of `wave`; empty where they may be. Asks nothing of a wave without conditions."""
    if wave.kind == WaveKind.TIEBREAK and may_know(member):
        return NOT_GIVEN
    if wave.is_given and not standing(wave).filter(member=member).exists():
        return NOT_GIVEN
    if not wave.limit_per_person and not wave.limit_per_day:
        return ""
    mine = Annotation.objects.filter(member=member, wave_item__wave=wave, submitted_at__gte=wave.opened_at)
    if wave.limit_per_person and _reaches(mine, wave.limit_per_person):
        return ENOUGH
    midnight = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    if wave.limit_per_day and _reaches(mine.filter(submitted_at__gte=midnight), wave.limit_per_day):
        return ENOUGH_TODAY
    return ""


def may_know(member: Membership) -> bool:
    """Whether `member` can see what was said of a conflict: then they are no third rater of it."""
    return access.allows(member, Action.ADJUDICATE) or access.allows(member, Action.SEE_AGREEMENT)


def why_nothing(obstacles: Iterable[str]) -> str:
    """What somebody reads who is served nothing, because of these; empty where that is not the reason."""
    found = list(obstacles)
    if not found or not all(found):
        return ""
    if ENOUGH_TODAY in found:
        return _("You have labelled as many items today as one person may. Tomorrow there may be more.")
    if ENOUGH in found:
        return _("You have labelled as many of these items as one person may. Thank you.")
    return _("The items that are released at the moment are given to others.")


def _reaches(rows: QuerySet[Annotation], limit: int) -> bool:
    """Counts no further than the limit."""
    return rows.order_by()[:limit].count() >= limit


def standing(wave: Wave) -> QuerySet[Given]:
    """To whom `wave` is given now."""
    return Given.objects.filter(wave=wave, taken_back_at__isnull=True)


def people(wave: Wave) -> list[Membership]:
    """Those to whom `wave` is given and who are still here."""
    named = wave.project.memberships.annotators().filter(pk__in=standing(wave).values("member")).select_related("user")
    return sorted(named, key=lambda member: member.name)


def too_few(wave: Wave, named: Collection[Membership]) -> str:
    """In words, where people have left and too few remain to rate an overlap item; empty where there are enough."""
    draw = getattr(wave, "draw", None)
    if draw is None or not draw.is_open or not draw.size or len(named) >= wave.ratings_per_item:
        return ""
    still = ngettext("%(n)s of them is still here", "%(n)s of them are still here", len(named)) % {"n": len(named)}
    return _(
        "%(still)s, and every overlap item needs %(ratings)s: what is left waits. Name others, or close short."
    ) % {
        "still": still,
        "ratings": wave.ratings_per_item,
    }


def barred(wave: Wave) -> set[int]:
    """The ids of the active annotators who will be served nothing more of `wave`, whatever day it is."""
    annotators = wave.project.memberships.annotators()
    found: set[int] = set()
    if wave.is_given:
        given = standing(wave).filter(member=OuterRef("pk"))
        found |= set(annotators.filter(~Exists(given)).values_list("pk", flat=True))
    if wave.limit_per_person:
        for member in annotators:
            mine = Annotation.objects.filter(member=member, wave_item__wave=wave)
            if _reaches(mine, wave.limit_per_person):
                found.add(member.pk)
    return found


# -- giving and taking back --------------------------------------------------------------------------------------------


@retrying
def give(
    wave: Wave,
    *,
    members: Collection[Membership],
    by: Membership,
    at: datetime,
    due_on: date | None = None,
    limit_per_person: int | None = None,
    limit_per_day: int | None = None,
) -> None:
    """From now on only `members` are served of `wave`; nobody named: everybody is again. May be repeated.

    Who is no longer named has the item in hand taken back; what they have given stays. Raises Invalid for fewer people
    than the ratings per item, or for limits below 1, DomainError where the wave is over.
    """
    if wave.is_imported or wave.state == WaveState.CLOSED:
        raise DomainError(_("This wave is closed: there is nothing left to give."), code="wave_closed")
    _check(wave, members, limit_per_person, limit_per_day)
    chosen = {member.pk for member in members}
    before = set(standing(wave).values_list("member", flat=True))
    gone = standing(wave).exclude(member__in=chosen)
    losing = wave.project.memberships.annotators().exclude(pk__in=chosen) if chosen else Membership.objects.none()
    for member in losing:
        lapse(wave, member, at=at)
    gone.update(taken_back_at=at, taken_back_by=by)
    Given.objects.bulk_create(Given(wave=wave, member_id=pk, by=by, at=at) for pk in sorted(chosen - before))
    settings = {"due_on": due_on, "limit_per_person": limit_per_person, "limit_per_day": limit_per_day}
    Wave.objects.filter(pk=wave.pk).update(is_given=bool(chosen), **settings)
    wave.refresh_from_db()
    facts: dict[str, Any] = {"number": wave.number, "people": len(chosen)}
    activities.record("wave_given", wave.project_id, by=by, subject=wave.uuid, at=at, **facts)


def lapse(wave: Wave, member: Membership, *, at: datetime) -> None:
    """The item of `wave` that `member` has in hand goes back to the others; a draft survives."""
    held = Assignment.objects.filter(member=member, wave_item__wave=wave, state=AssignmentState.OPEN)
    for assignment in held.select_for_update(of=("self",)):
        mine = Slot.objects.filter(pk=assignment.slot_id, state=SlotState.CLAIMED, claimed_by=member)
        mine.update(lease_ends=at)
        Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.LAPSED)


def _check(wave: Wave, members: Collection[Membership], per_person: int | None, per_day: int | None) -> None:
    known = set(wave.project.memberships.annotators().values_list("pk", flat=True))
    strange = [member.name for member in members if member.pk not in known]
    if strange:
        raise Invalid(_("%(names)s does not label in this project.") % {"names": ", ".join(strange)})
    draw = getattr(wave, "draw", None)
    if members and draw is not None and draw.is_open and draw.size and len(members) < wave.ratings_per_item:
        people = ngettext("%(n)s person is named", "%(n)s people are named", len(members)) % {"n": len(members)}
        raise Invalid(
            _("%(people)s, and every overlap item of this wave needs %(ratings)s: name more, or nobody for everybody.")
            % {"people": people, "ratings": wave.ratings_per_item}
        )
    for limit in (per_person, per_day):
        if limit is not None and limit < 1:
            raise Invalid(_("A limit of %(n)s items: expected 1 or more, or nothing for no limit.") % {"n": limit})


# -- what it means for each --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """About how many labels are left for a person in all open waves, as things are and with what is chosen."""

    member: Membership
    chosen: bool
    now: int
    after: int


def loads(wave: Wave, *, chosen: Collection[UUID], limit_per_person: int | None = None) -> list[Load]:
    """The load of each annotator of the project; what is left of a wave is divided among those who may take it."""
    people = sorted(wave.project.memberships.annotators().select_related("user"), key=lambda one: one.name)
    open_waves = list(wave.project.waves.filter(state=WaveState.OPEN))
    named = _named(open_waves)
    now, after = dict.fromkeys((one.pk for one in people), 0.0), dict.fromkeys((one.pk for one in people), 0.0)
    for one in open_waves:
        takers = [person.pk for person in people if not one.is_given or person.pk in named.get(one.pk, ())]
        _divide(one, takers, one.limit_per_person, now)
        if one.pk == wave.pk:
            takers = [person.pk for person in people if not chosen or person.uuid in chosen]
            _divide(one, takers, limit_per_person, after)
        else:
            _divide(one, takers, one.limit_per_person, after)
    return [Load(one, not chosen or one.uuid in chosen, round(now[one.pk]), round(after[one.pk])) for one in people]


def _divide(wave: Wave, takers: Sequence[int], limit: int | None, into: dict[int, float]) -> None:
    each = (wave.overlap_left + wave.single_left) / max(1, len(takers))
    for pk in takers:
        into[pk] += min(each, limit) if limit else each


def _named(waves: Iterable[Wave]) -> Mapping[int, set[int]]:
    found: dict[int, set[int]] = {}
    rows = Given.objects.filter(wave__in=[wave.pk for wave in waves], taken_back_at__isnull=True)
    for wave, member in rows.values_list("wave", "member"):
        found.setdefault(wave, set()).add(member)
    return found


def shortfall(wave: Wave, people: int, limit_per_person: int | None) -> str:
    """In words, where a limit does not let so many people give all that is left."""
    left = wave.overlap_left + wave.single_left
    if not limit_per_person or people * limit_per_person >= left:
        return ""
    return _("At most %(limit)s each, %(people)s people can give %(can)s of the %(left)s labels that are left.") % {
        "limit": limit_per_person,
        "people": people,
        "can": people * limit_per_person,
        "left": left,
    }
