"""Spot checks: a random share of a wave's singles goes to a lead who does not annotate it (DESIGN §3).

The lead labels blind and then sees what stands there; what differs is `corrected` in gold, and nothing of it is ever
measured. Only labels whose time of correction is over are checked: before that they are still the annotator's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import labelling, releasing, samples, sampling, slots
from annotations.conflicts import canonical
from annotations.enums import AssignmentState, SlotState, WaveKind, WaveState
from annotations.models import Annotation, Assignment, Revision, Seat, Slot, Wave, WaveItem
from annotations.retrying import LostRace, retrying
from annotations.sampling import Candidate
from annotations.slots import Ending
from projects import access, guidelines, reading
from projects.enums import Action, Role, Standing
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Membership
from projects.reading import QuestionReading
from projects.task_types import Json


def eligible(wave: Wave) -> QuerySet[WaveItem]:
    """The singles of `wave` that no spot check has taken yet, rated or still to be rated."""
    taken = WaveItem.objects.filter(wave__sample__of=wave, item=OuterRef("item"))
    rows = WaveItem.objects.filter(wave=wave, draw__isnull=True, item__standing=Standing.CURRENT)
    return rows.filter(~Exists(taken))


@transaction.atomic
def open_check(wave: Wave, *, share_percent: Decimal, by: Membership, at: datetime) -> Wave:
    """Draw `share_percent` of the wave's singles for a lead to check. Raises Invalid, DomainError."""
    _project, newest = samples.lock(wave.project, by=by)
    if not share_percent.is_finite() or not 0 < share_percent <= 100:
        raise Invalid(_("A share of %(share)s %%: expected more than 0, and at most 100.") % {"share": share_percent})
    if wave.is_imported or wave.state not in (WaveState.OPEN, WaveState.CLOSED):
        raise DomainError(_("This wave has no labels of its own that could be checked."), code="not_checkable")
    if wave.major != newest.major:
        raise DomainError(
            _(
                "Guideline %(number)s has replaced the one that this wave was labelled under: say what becomes of its "
                "labels under “Old labels”."
            )
            % {"number": newest.number},
            code="older_major",
        )
    population = {
        Candidate(uuid, "", digest): item
        for item, uuid, digest in eligible(wave).values_list("item", "item__uuid", "item__content_hash")
    }
    n = sampling.overlap_size(share_percent, len(population), 0)
    if not n:
        raise DomainError(
            _("%(share)s %% of %(n)s singles comes to none: take a larger share, or wait for a larger wave.")
            % {"share": share_percent.normalize(), "n": len(population)},
            code="nothing_to_check",
        )
    choices = {"share_percent": str(share_percent)}
    drawn = samples.draw(
        WaveKind.SPOTCHECK, population, {"": n}, version=newest, choices=choices, by=by, at=at, of=wave
    )
    rows = [
        WaveItem(wave=drawn.wave, item_id=pk, needed=1) for one, pk in population.items() if one.uuid in drawn.chosen
    ]
    WaveItem.objects.bulk_create(rows)
    releasing.fill_wave(drawn.wave)
    return drawn.wave


# -- checking ----------------------------------------------------------------------------------------------------------


def refusal(sample: Wave, member: Membership) -> str:
    """Why `member` may not check this wave; empty where they may."""
    of = sample.sample.of
    if not access.allows(member, Action.ADJUDICATE):
        return _("A lead checks these labels.")
    if Assignment.objects.filter(member=member, wave_item__wave=of).exists():
        return _("You have labelled in %(wave)s yourself: another lead checks it.") % {"wave": of}
    return ""


@dataclass(frozen=True)
class Check:
    """What a lead has in front of them: an item, and not what was said of it."""

    slot: Slot
    version: GuidelineVersion
    left: int


@retrying
def next_check(sample: Wave, *, by: Membership, at: datetime) -> Check | None:
    """The item that `by` checks next: the one they hold, else a new one; None where nothing is ready now.

    Raises DomainError for who may not. Whoever annotates too gets no measured item of the checked wave from now on:
    they have seen which items are singles.
    """
    _require(sample, by)
    if Role.ANNOTATOR in access.roles(by):
        seat, _made = Seat.objects.get_or_create(wave=sample.sample.of, member=by)
        Seat.objects.filter(pk=seat.pk, gave_up_at__isnull=True).update(gave_up_at=at)
    ready = _ready(sample, by, at)
    mine = Q(state=SlotState.CLAIMED, claimed_by=by)
    slot = ready.filter(mine).first() or ready.select_for_update(skip_locked=True, of=("self",)).first()
    if slot is None:
        return None
    claimed = Slot.objects.filter(_free(by, at), pk=slot.pk)
    if (
        claimed.update(state=SlotState.CLAIMED, claimed_by=by, lease_ends=at + timedelta(minutes=sample.lease_minutes))
        != 1
    ):
        raise LostRace
    return Check(slot, version_of(sample), ready.count())


def _require(sample: Wave, by: Membership) -> None:
    why_not = refusal(sample, by)
    if why_not:
        raise DomainError(why_not, code="not_yours_to_check", status=403)
    if sample.state == WaveState.CLOSED:
        raise DomainError(_("This spot check has ended: nothing more of it is asked."), code="sample_ended")


def _free(by: Membership, at: datetime) -> Q:
    free = Q(state=SlotState.OPEN) | Q(state=SlotState.CLAIMED, claimed_by=by)
    return free | Q(state=SlotState.CLAIMED, lease_ends__lt=at)


def _ready(sample: Wave, by: Membership, at: datetime) -> QuerySet[Slot]:
    """What `by` may check now: labelled, no longer the annotator's to correct, and not met by `by` before."""
    rated = Annotation.objects.filter(
        item=OuterRef("item"), wave_item__wave=sample.sample.of, slot__isnull=False, window_ends__lte=at
    )
    met = Assignment.objects.filter(item=OuterRef("item"), member=by, major=sample.major)
    slots = Slot.objects.filter(_free(by, at), Exists(rated), ~Exists(met), wave=sample)
    return slots.select_related("item", "wave_item").order_by("key")


def ready(sample: Wave, *, by: Membership, at: datetime) -> int:
    """How many labels `by` could check now."""
    return 0 if sample.state == WaveState.CLOSED or refusal(sample, by) else _ready(sample, by, at).count()


def version_of(sample: Wave) -> GuidelineVersion:
    newest = guidelines.newest(sample.project)
    return newest if newest is not None and newest.major == sample.major else sample.version


@retrying
def check(
    sample: Wave, item: UUID, *, answers: dict[str, Any], by: Membership, at: datetime, comment: str = ""
) -> Annotation:
    """Save what the lead says of an item that they hold. Raises Http404, BadAnswers, DomainError where it is gone."""
    _require(sample, by)
    slot = Slot.objects.filter(wave=sample, item__uuid=item).select_related("item", "wave_item__wave").first()
    if slot is None:
        raise Http404(_("There is no such item in this spot check."))
    before = Annotation.objects.filter(slot=slot, member=by).first()
    if before is not None:
        return before
    version = version_of(sample)
    cleaned = labelling.clean_answers(version, answers, slot.item.content)
    taken = Slot.objects.filter(_free(by, at), pk=slot.pk)
    if taken.update(state=SlotState.RATED, claimed_by=None, lease_ends=None) != 1:
        raise DomainError(_("Somebody else has checked this item meanwhile: go on with the next."), code="gone")
    saved = _write(slot, version, cleaned, comment.strip(), by=by, at=at)
    slot.wave = sample
    ending = Ending()
    slots.count_rating(slot, rater=by.pk, opened=False, at=at, ending=ending)
    ending.write()
    return saved


def _write(
    slot: Slot, version: GuidelineVersion, answers: dict[str, Any], comment: str, *, by: Membership, at: datetime
) -> Annotation:
    """No number among the lead's own submits: a check is no label of theirs, and moves no window."""
    wave = slot.wave_item.wave
    served = slot.lease_ends - timedelta(minutes=wave.lease_minutes) if slot.lease_ends else at
    meeting = {"item_id": slot.item_id, "member": by, "major": wave.major, "version": version}
    assignment = Assignment.objects.create(
        slot=slot,
        wave_item=slot.wave_item,
        state=AssignmentState.SUBMITTED,
        served_at=min(served, at),
        ended_at=at,
        **meeting,
    )
    said = {"answers": answers, "comment": comment}
    row = Annotation.objects.create(
        assignment=assignment,
        slot=slot,
        wave_item=slot.wave_item,
        latest=answers,
        submitted_at=at,
        measured_at=at,
        window_ends=at,
        seconds=min(max(0.0, (at - served).total_seconds()), labelling.LONGEST_SECONDS),
        **meeting,
        **said,
    )
    Revision.objects.create(annotation=row, number=1, version=version, by=by, at=at, in_window=False, **said)
    return row


# -- what came of it ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """A label and what the lead said of it. `by_question`: question -> (label that stood, the lead's)."""

    check: Annotation
    first: Annotation
    by_question: Mapping[str, tuple[Json, Json]]

    @property
    def corrected(self) -> list[str]:
        """The questions on which the lead says something else."""
        return [key for key, (was, now) in self.by_question.items() if canonical(was) != canonical(now)]


def checked(sample: Wave) -> list[Checked]:
    """Everything that was checked so far, newest first; a fixed number of queries."""
    checks = list(
        Annotation.objects.filter(wave_item__wave=sample, slot__isnull=False)
        .select_related("member__user", "item", "version")
        .order_by("-submitted_at", "-pk")
    )
    rows = (
        Annotation.objects.filter(
            wave_item__wave=sample.sample.of, slot__isnull=False, item__in=[one.item_id for one in checks]
        )
        .select_related("member__user")
        .prefetch_related("revisions")
    )
    firsts = {row.item_id: row for row in rows}
    return [_checked(one, firsts[one.item_id]) for one in checks if one.item_id in firsts]


def _checked(check: Annotation, first: Annotation) -> Checked:
    """Against the label that stood when it was checked: what its annotator changes afterwards moves no rate."""
    stood = [row.answers for row in first.revisions.all() if row.at <= check.submitted_at]
    was = stood[-1] if stood else first.answers
    keys = list(dict.fromkeys([*was, *check.latest]))
    return Checked(check, first, {key: (was.get(key), check.latest.get(key)) for key in keys})


def worded(one: Checked) -> dict[str, Any]:
    """A check as a page shows it: question, label that stood, the lead's, and whether that corrects it."""
    questions = {question.key: question for question in reading.questions(one.check.version)}
    content, differ = one.check.item.content, set(one.corrected)
    return {
        "check": one.check,
        "corrected": bool(differ),
        "answers": [
            (
                questions[key].text,
                _worded(questions[key], was, content),
                _worded(questions[key], now, content),
                key in differ,
            )
            for key, (was, now) in one.by_question.items()
            if key in questions
        ],
    }


def _worded(question: QuestionReading, value: Json, content: Mapping[str, Any]) -> str:
    return "" if value is None else question.kind.describe(value, question.labels, content)


@retrying
def let_stand(sample: Wave, item: UUID, *, by: Membership, at: datetime) -> None:
    """The lead lets the first label stand after all: a revision of the check, which says the same from now on."""
    access.require(by, Action.ADJUDICATE)
    row = (
        Annotation.objects.select_for_update(of=("self",))
        .filter(wave_item__wave=sample, item__uuid=item, member=by, slot__isnull=False)
        .select_related("version")
        .first()
    )
    if row is None:
        raise Http404(_("There is no check of yours of such an item."))
    found = next((one for one in checked(sample) if one.check.pk == row.pk), None)
    if found is None or not found.corrected:
        return
    number = row.revisions_count + 1
    answers = {key: was for key, (was, _now) in found.by_question.items() if was is not None}
    Annotation.objects.filter(pk=row.pk).update(answers=answers, latest=answers, revisions_count=number)
    Revision.objects.create(
        annotation=row,
        number=number,
        answers=answers,
        comment=row.comment,
        version=row.version,
        by=by,
        at=at,
        in_window=False,
    )
