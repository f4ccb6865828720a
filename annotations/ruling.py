"""What becomes of the conflicts of a draw that has just closed: decided by the rule of its protocol, given to one more
rater, or left to a lead (DESIGN §5 "Rules instead of a lead").

A third rating counts once its rater can no longer correct it, as a measured one does. `settle` looks after what waits;
it may be repeated, and of two who decide at once one does. Locks: slot, annotation, case, wave.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotations import conflicts, rules, tiebreaks
from annotations.enums import CaseState, ResolutionRule, SlotState, ThirdOutcome
from annotations.models import Annotation, Case, Draw, Resolution, Slot, ThirdRating, Wave
from annotations.retrying import retrying
from projects import access
from projects.enums import Standing
from projects.models import Item, Label, Membership
from projects.task_types import Json

CHUNK = 500


@dataclass(frozen=True)
class _Asked:
    """A question of a draw that a rule decides."""

    rule: ResolutionRule
    task_type: str
    labels: Sequence[Label]


@dataclass(frozen=True)
class _Rated:
    """A case with the ratings of its item on its question."""

    case: Case
    asked: _Asked
    values: Sequence[Json]
    with_third: bool = False


def open_cases(draw: Draw, *, at: datetime) -> int:
    """Open a case for every conflict of a closed draw, and let the rules decide what they can; how many are new.

    In the caller's transaction, which closes the draw. May be repeated: what a rule has looked at stays as it is.
    """
    new = conflicts.open_cases(draw, at=at)
    asked = _asked(draw)
    if not asked:
        return new
    rows = Case.objects.open().filter(draw=draw, question_key__in=asked, third__isnull=True, resolutions__isnull=True)
    rows = rows.order_by("pk")
    thirds, last = _Thirds(draw, at), 0
    while chunk := list(rows.filter(pk__gt=last)[:CHUNK]):
        last = chunk[-1].pk
        rated: list[_Rated] = []
        wanting: list[_Rated] = []
        for case, values in _measured(chunk):
            one = _Rated(case, asked[case.question_key], values)
            (wanting if rules.wants_another(one.asked.rule, values) else rated).append(one)
        _decide(rated, at)
        thirds.ask([one.case for one in wanting])
    thirds.serve()
    return new


def _asked(draw: Draw) -> dict[str, _Asked]:
    """The questions of a draw that a rule decides, by key."""
    found: dict[str, _Asked] = {}
    if not rules.any_rule(draw.protocol):
        return found
    for question in draw.wave.version.questions.prefetch_related("labels"):
        rule = rules.effective(draw.protocol, question.key, question.task_type)
        if rule != ResolutionRule.LEAD:
            found[question.key] = _Asked(rule, question.task_type, list(question.labels.all()))
    return found


def _measured(cases: Sequence[Case]) -> Iterable[tuple[Case, list[Json]]]:
    """Each case with the measured ratings on its question; what was left out is none."""
    wave_items = {case.wave_item_id for case in cases}
    rows = Annotation.objects.filter(wave_item__in=wave_items, draw__isnull=False, slot__isnull=False).order_by("pk")
    answers: dict[int, list[Mapping[str, Json]]] = {}
    for wave_item, given in rows.values_list("wave_item", "answers"):
        answers.setdefault(wave_item, []).append(given)
    for case in cases:
        given = (one.get(case.question_key) for one in answers.get(case.wave_item_id, ()))
        yield case, [value for value in given if value is not None]


def _decide(rated: Iterable[_Rated], at: datetime) -> list[int]:
    """Write what the rules decide of these cases, which the caller holds; the ids of those that they cannot."""
    made, tied = [], []
    for one in rated:
        verdict = rules.decide(one.asked.rule, one.values, one.asked.task_type, one.asked.labels)
        if verdict is None:
            tied.append(one.case.pk)
            continue
        words = rules.reckoning(verdict, one.values, one.asked.task_type, one.asked.labels, with_third=one.with_third)
        made.append(
            Resolution(
                case=one.case,
                kind=verdict.kind,
                value=verdict.value,
                rule=one.asked.rule,
                tally=rules.tally(one.values),
                rationale=words,
                at=at,
            )
        )
    decided = Case.objects.filter(pk__in=[resolution.case_id for resolution in made])
    decided.update(state=CaseState.DECIDED, decided_at=at)
    Resolution.objects.bulk_create(made)
    return tied


class _Thirds:
    """Asking for the third ratings of a draw that is just closing."""

    def __init__(self, draw: Draw, at: datetime) -> None:
        self.draw, self.at = draw, at
        self.wave: Wave | None = None
        self.raters: list[int] | None = None

    def ask(self, cases: Sequence[Case]) -> None:
        """Ask for one rating of each item; the cases of those that nobody may rate are a lead's at once."""
        if not cases:
            return
        if self.raters is None:
            self.raters = tiebreaks.raters(self.draw.wave)
        items = {case.item_id for case in cases}
        gone = set(Item.objects.filter(pk__in=items).exclude(standing=Standing.CURRENT).values_list("pk", flat=True))
        if not tiebreaks.is_current(self.draw.wave):
            gone = items
        barred = tiebreaks.met_by_all(items - gone, self.raters, self.draw.wave.major)
        slots = self._slots(items - gone - barred)
        rows = []
        for case in cases:
            outcome = ThirdOutcome.ENDED if case.item_id in gone else ThirdOutcome.NOBODY
            slot = slots.get(case.item_id)
            left = {} if slot else {"outcome": outcome, "ended_at": self.at}
            rows.append(ThirdRating(case=case, slot_id=slot, asked_at=self.at, **left))
        ThirdRating.objects.bulk_create(rows)
        waiting = [row.case_id for row in rows if row.slot_id]
        Case.objects.filter(pk__in=waiting).update(state=CaseState.WAITING)

    def _slots(self, items: Collection[int]) -> dict[int, int]:
        if not items:
            return {}
        self.wave = self.wave or tiebreaks.open_wave(self.draw, at=self.at)
        return tiebreaks.ask(self.wave, items)

    def serve(self) -> None:
        if self.wave is not None:
            tiebreaks.serve(self.wave)


# -- what waits for a third rating -------------------------------------------------------------------------------------


def settle(*, at: datetime) -> None:
    """Decide what has its third rating, and leave to a lead what will not get one any more; in projects that rest,
    nothing."""
    _decide_rated(at)
    _leave_hopeless(at)


def _decide_rated(at: datetime) -> None:
    live = ThirdRating.objects.filter(access.live("case__draw__wave__project"), outcome="")
    due = live.filter(slot__annotation__window_ends__lte=at)
    slots = due.order_by("slot").values_list("slot", flat=True).distinct()
    last = 0
    while chunk := list(slots.filter(slot__gt=last)[:CHUNK]):
        last = chunk[-1]
        _decide_thirds(chunk, at)


@retrying
def _decide_thirds(slots: Sequence[int], at: datetime) -> None:
    """Decide the cases that wait for the ratings of these slots, by them and by the measured ratings together."""
    rows = Annotation.objects.filter(slot__in=slots, window_ends__lte=at).order_by("pk")
    said = {row.slot_id: row.answers for row in rows.select_for_update(of=("self",))}
    cases = _hold(ThirdRating.objects.filter(slot__in=said))
    slot_of = dict(ThirdRating.objects.filter(case__in=cases).values_list("case", "slot"))
    draws = {case.draw_id: case.draw for case in cases}
    asked = {pk: _asked(draw) for pk, draw in draws.items()}
    rated = []
    for case, values in _measured(cases):
        third = said[slot_of[case.pk]].get(case.question_key)
        more = [] if third is None else [third]
        rated.append(_Rated(case, asked[case.draw_id][case.question_key], values + more, with_third=bool(more)))
    tied = _decide(rated, at)
    Case.objects.filter(pk__in=tied).update(state=CaseState.OPEN)
    ended = ThirdRating.objects.filter(case__in=cases)
    ended.filter(case__in=tied).update(outcome=ThirdOutcome.TIE, ended_at=at)
    ended.exclude(case__in=tied).update(outcome=ThirdOutcome.DECIDED, ended_at=at)
    # A correction that set out in time and comes only now finds its time over: it is a layer on top.
    Annotation.objects.filter(slot__in=said).update(window_ends=F("measured_at"))


def _hold(thirds: QuerySet[ThirdRating]) -> list[Case]:
    """The cases of these that still wait, locked: of two who end the wait at once the second finds none."""
    keys = list(thirds.values_list("case", flat=True))
    waiting = Case.objects.waiting().filter(pk__in=keys).order_by("pk").select_for_update(of=("self",))
    return list(waiting.select_related("draw__wave__version").defer("draw__population"))


def _leave_hopeless(at: datetime) -> None:
    """What nobody may rate any more, or is not asked for any more, is a lead's."""
    waiting = ThirdRating.objects.filter(outcome="")
    waves = Wave.unseen.filter(access.live("project"), pk__in=waiting.values("slot__wave"))
    for wave in waves.select_related("project"):
        slots = Slot.objects.filter(wave=wave, pk__in=waiting.values("slot"))
        cancelled = slots.filter(state=SlotState.CANCELLED)
        unratable = tiebreaks.without_rater(slots.unrated(), tiebreaks.raters(wave), wave.major)
        hopeless = ThirdOutcome.NOBODY if tiebreaks.is_current(wave) else ThirdOutcome.ENDED
        for found, outcome in ((cancelled, ThirdOutcome.ENDED), (unratable, hopeless)):
            if keys := list(found.values_list("pk", flat=True)):
                leave(waiting.filter(slot__in=keys), outcome, at=at)


@retrying
def leave(thirds: QuerySet[ThirdRating], outcome: ThirdOutcome, *, at: datetime, by: Membership | None = None) -> int:
    """Let a lead decide the cases of these that still wait; how many. Only somebody, `by`, ends the wait for a rating
    that is in. What nobody waits for any more is not asked for; what still comes in of it is kept as surplus."""
    wanted = list(thirds.filter(outcome="").values_list("pk", "slot"))
    rows = Slot.objects.filter(pk__in=[slot for _pk, slot in wanted]).order_by("pk").select_for_update(of=("self",))
    slots = [slot.pk for slot in rows if by is not None or slot.state != SlotState.RATED]
    cases = _hold(ThirdRating.objects.filter(pk__in=[pk for pk, _slot in wanted], slot__in=slots))
    Case.objects.filter(pk__in=[case.pk for case in cases]).update(state=CaseState.OPEN)
    ThirdRating.objects.filter(case__in=cases).update(outcome=outcome, ended_at=at, ended_by=by)
    needed = ThirdRating.objects.filter(outcome="", slot=OuterRef("pk"))
    idle = Slot.objects.unrated().filter(~Exists(needed), pk__in=slots)
    counts = list(idle.order_by().values_list("wave").annotate(Count("pk")))
    idle.update(state=SlotState.CANCELLED, claimed_by=None, lease_ends=None)
    for wave, gone in counts:
        Wave.unseen.filter(pk=wave, single_left__gte=gone).update(single_left=F("single_left") - gone)
    return len(cases)
