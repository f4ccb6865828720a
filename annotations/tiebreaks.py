"""Tie-breaks: one further rating of a conflict, by somebody who labels here and has not met the item (DESIGN §5).

They are the slots of a wave of their own kind, one for each draw and under its wave's number. It is served, counted and
cancelled as all others are and has no draw, so that nothing of it is ever measured. Who can see what was said of a
conflict gives no third rating.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations import giving, terms
from annotations.enums import AssignmentState, SlotKind, WaveKind, WaveState
from annotations.models import Assignment, Draw, Given, Slot, Wave, WaveItem
from projects import bulk, guidelines
from projects.models import Membership, Project

RANK_BITS = 50  # as of every other wave: random ranks sort before the clock
MET = [AssignmentState.SUBMITTED, AssignmentState.SKIPPED]


def raters(wave: Wave) -> list[int]:
    """The ids of the members who may give a third rating in `wave`, or in the one that is measured: nobody under a
    guideline that was replaced."""
    if not is_current(wave):
        return []
    found = _annotators(wave.project)
    if wave.is_given:
        named = set(giving.standing(wave).values_list("member", flat=True))
        found = [member for member in found if member.pk in named]
    return [member.pk for member in found]


def is_current(wave: Wave) -> bool:
    """Whether the guideline that `wave` is rated under still holds."""
    newest = guidelines.newest(wave.project)
    return newest is not None and newest.major == wave.major


def _annotators(project: Project) -> list[Membership]:
    rows = project.memberships.annotators().filter(user__isnull=False, user__is_active=True)
    return [member for member in rows if not giving.may_know(member)]


def met_by_all(items: Collection[int], raters: Sequence[int], major: int) -> set[int]:
    """Those of `items` that every one of `raters` has met under this MAJOR."""
    if not raters:
        return set(items)
    rows = Assignment.objects.filter(item__in=items, member__in=raters, major=major, state__in=MET)
    counts = rows.values_list("item").annotate(n=Count("member", distinct=True)).order_by()
    return {item for item, n in counts if n == len(raters)}


def without_rater(slots: QuerySet[Slot], raters: Sequence[int], major: int) -> QuerySet[Slot]:
    """Those of `slots` whose items every one of `raters` has met, as `met_by_all`; read by the database."""
    if not raters:
        return slots
    met = Assignment.objects.filter(item=OuterRef("item"), member__in=raters, major=major, state__in=MET)
    counted = met.order_by().values("item").annotate(n=Count("member", distinct=True)).values("n")
    n = Coalesce(Subquery(counted), 0, output_field=IntegerField())
    return slots.annotate(met_by=n).filter(met_by__gte=len(raters))


# -- opening -----------------------------------------------------------------------------------------------------------


def open_wave(draw: Draw, *, at: datetime) -> Wave:
    """The wave of the third ratings of `draw`, in the caller's transaction; made as the first of them is asked for."""
    measured = draw.wave
    wave, made = Wave.unseen.get_or_create(
        project=measured.project,
        kind=WaveKind.TIEBREAK,
        number=measured.number,
        defaults={
            "version": measured.version,
            "major": measured.major,
            "state": WaveState.OPEN,
            "share_percent": 0,
            "ratings_per_item": 1,
            "is_given": measured.is_given,
            "opened_at": at,
            "opened_by": measured.opened_by,
            **terms.of_major(measured.project, measured.major),
        },
    )
    if made and measured.is_given:
        given = giving.standing(measured).values_list("member", "by")
        Given.objects.bulk_create(Given(wave=wave, member_id=member, by_id=by, at=at) for member, by in given)
    return wave


def ask(wave: Wave, items: Iterable[int]) -> dict[int, int]:
    """Ask for one rating of each of `items` in `wave`, once; item -> its slot."""
    wanted = set(items)
    known = dict(Slot.objects.filter(wave=wave, item__in=wanted).values_list("item", "pk"))
    asked = sorted(wanted - set(known))
    bulk.insert(
        WaveItem,
        ("wave", "item", "draw", "stratum", "probability", "needed", "rated"),
        ((wave.pk, item, None, "", 1.0, 1, 0) for item in asked),
    )
    rows = dict(WaveItem.objects.filter(wave=wave, item__in=asked).values_list("item", "pk"))
    kind, state = SlotKind.TIEBREAK.value, "open"
    bulk.insert(
        Slot,
        ("wave", "wave_item", "item", "draw", "kind", "number", "state", "queue", "key"),
        (
            (wave.pk, rows[item], item, None, kind, 1, state, Slot.SINGLES, secrets.randbits(RANK_BITS))
            for item in asked
        ),
    )
    return known | dict(Slot.objects.filter(wave=wave, item__in=asked).values_list("item", "pk"))


def serve(wave: Wave) -> None:
    """Count what `wave` asks for, once all of it is asked."""
    n = Slot.objects.unrated().filter(wave=wave).count()
    Wave.unseen.filter(pk=wave.pk).update(size=n, single_left=n, single_all=n)
