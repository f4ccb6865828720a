"""Submitting, skipping and correcting labels. A label is committed before the next item is shown (DESIGN §2.12)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Func, QuerySet, TextField, Value
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import repeats, slots
from annotations.enums import AssignmentState, DrawState, SkipReason, SlotKind, SlotState
from annotations.models import Annotation, Assignment, Draw, Revision, Seat, Slot, Wave
from annotations.retrying import LostRace, retrying
from annotations.slots import Ending
from projects import keys, reading
from projects.asking import no_answer
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Membership
from projects.reading import QuestionReading
from projects.task_types import AnswerError

# What was answered, or how to read it once it is known what was asked.
Answers = dict[str, Any] | Callable[[tuple[QuestionReading, ...]], dict[str, Any]]
COMMENT_LIMIT = 5_000
LONGEST_SECONDS = 3_600.0


@dataclass(frozen=True)
class Saved:
    """What the annotator is told: saved. Whether it counts is not theirs to know before the draw has closed.

    `repeated`: it was saved before, and nothing changed; `differs`: what was sent now is not what was saved then.
    """

    annotation: UUID
    repeated: bool
    differs: bool = False


class BadAnswers(Invalid):
    """One or more answers cannot be used; `by_question` says which and why."""

    code = "bad_answers"

    def __init__(self, by_question: dict[str, str]) -> None:
        super().__init__(" ".join(by_question.values()))
        self.by_question = by_question

    def details(self) -> dict[str, object]:
        return {"fields": self.by_question}


def clean_answers(version: GuidelineVersion, answers: dict[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical answers to the questions of `version` about an item with this content.

    Raises BadAnswers naming each question that is wrong.
    """
    questions = reading.questions(version)
    unknown = sorted(set(answers) - {question.key for question in questions})
    strange = _("“%(key)s” is no question of guideline %(version)s.")
    problems = {key: strange % {"key": key, "version": version} for key in unknown}
    cleaned: dict[str, Any] = {}
    for question in questions:
        raw = answers.get(question.key)
        if question.kind.is_blank(raw):
            if question.required:
                problems[question.key] = no_answer(question)
            continue
        try:
            cleaned[question.key] = question.kind.clean(raw, question.labels, content)
        except AnswerError as error:
            problems[question.key] = _("“%(question)s”: %(problem)s") % {"question": question.text, "problem": error}
    if problems:
        raise BadAnswers(problems)
    if not cleaned:
        raise BadAnswers({"": _("No question was answered: answer one, or skip the item.")})
    return cleaned


def questions_of(member: Membership, assignment: UUID) -> tuple[QuestionReading, ...]:
    """What the form of one of the member's assignments asks. Http404 for somebody else's."""
    row = Assignment.objects.select_related("version").filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    return reading.questions(row.version)


@retrying
def submit(
    member: Membership,
    assignment: UUID,
    *,
    answers: Answers,
    at: datetime,
    comment: str = "",
    seconds: float | None = None,
) -> Saved:
    """Save what `member` answered. A repeated submit of the same form changes nothing.

    Counted if the slot, or another one of this item, is still theirs, is unclaimed, or its holder's lease has ended;
    else kept as surplus. Raises Http404 for somebody else's assignment, BadAnswers.
    """
    ending = Ending()
    saved = save(member, assignment, answers=answers, at=at, comment=comment, seconds=seconds, ending=ending)
    ending.write()
    return saved


def save(
    member: Membership,
    assignment: UUID,
    *,
    answers: Answers,
    at: datetime,
    comment: str,
    seconds: float | None,
    ending: Ending,
) -> Saved:
    """`submit` in the caller's transaction, which writes `ending` last."""
    row = _assignment(member, assignment)
    given = answers(reading.questions(row.version)) if callable(answers) else answers
    if row.state == AssignmentState.SUBMITTED:
        return Saved(row.annotation.uuid, repeated=True, differs=_differs(row, given, comment))
    cleaned = clean_answers(row.version, given, row.item.content)
    said = _comment_by(member, comment)
    slot, opened = _take_slot(row, member, at)
    row.member = member
    annotation = _annotate(row, cleaned, said, slot=slot, seconds=_seconds(seconds, row, at), at=at)
    Assignment.objects.filter(pk=row.pk).update(state=AssignmentState.SUBMITTED, ended_at=at, draft=None)
    if slot is not None:
        slots.count_rating(slot, rater=member.pk, opened=opened, at=at, ending=ending)
    return Saved(annotation.uuid, repeated=False)


def _differs(row: Assignment, answers: dict[str, Any], comment: str) -> bool:
    """Whether a repeated submit says something else than the first one did: then a second tab has been at work."""
    first = row.annotation.revisions.get(number=1)
    try:
        return (clean_answers(row.version, answers, row.item.content), comment.strip()) != (
            first.answers,
            first.comment,
        )
    except BadAnswers:
        return True


def _assignment(member: Membership, assignment: UUID) -> Assignment:
    """The member's assignment and its slot, both locked."""
    row = (
        Assignment.objects.select_for_update(of=("self", "slot"))
        .select_related("slot", "item", "wave_item__wave", "version")
        .defer("version__text", "version__label_mapping")
        .filter(uuid=assignment, member=member)
        .first()
    )
    if row is None:
        # PostgreSQL drops a row from a join if another tab gave it another slot or version while this one waited.
        if Assignment.objects.filter(uuid=assignment, member=member).exists():
            raise LostRace
        raise Http404(_("There is no such item among yours."))
    return row


def _take_slot(row: Assignment, member: Membership, at: datetime) -> tuple[Slot | None, bool]:
    """The slot that this rating fills, taken, and whether that opened the one behind it.

    None where there is none: the rating is kept as surplus.
    """
    if row.state != AssignmentState.OPEN and row.slot.draw_id is not None and _gave_up(row, member):
        return None, False
    if _is_free(row.slot, member, at):
        return row.slot, slots.take(row.slot, rater=member.pk, at=at)
    if row.slot.kind == SlotKind.REPEAT:  # the other slots of the item are other people's
        return None, False
    # Late. The item may ask for another rating, and this person cannot meet it again to give that. All its slots are
    # locked, so that a rating that just opens the next one either sees this one as surplus, or is seen here.
    others = Slot.objects.filter(wave_item=row.wave_item_id, kind=row.slot.kind).order_by("number")
    for slot in list(others.select_for_update(of=("self",))):
        if _is_free(slot, member, at):
            return slot, slots.take(slot, rater=member.pk, at=at)
    return None, False


def _is_free(slot: Slot, member: Membership, at: datetime) -> bool:
    """Whether a slot, which the caller has locked, takes a rating of `member`."""
    if slot.state == SlotState.CLAIMED and slot.lease_ends is not None:
        return slot.claimed_by_id == member.pk or slot.lease_ends < at
    return slot.state == SlotState.OPEN


def _gave_up(row: Assignment, member: Membership) -> bool:
    return Seat.objects.filter(wave=row.wave_item.wave_id, member=member, gave_up_at__isnull=False).exists()


def _annotate(
    row: Assignment, answers: dict[str, Any], comment: str, *, slot: Slot | None, seconds: float, at: datetime
) -> Annotation:
    """Write annotation and first revision, number it, and end the window of the one W submits before."""
    member, wave = row.member, row.wave_item.wave
    seq = _next_number(member)
    has_window = wave.window_submits > 0 and wave.window_minutes > 0
    annotation = Annotation.objects.create(
        assignment=row,
        slot=slot,
        wave_item_id=row.wave_item_id,
        item_id=row.item_id,
        draw_id=slot.draw_id if slot else None,
        member=member,
        version=row.version,
        major=row.major,
        seq=seq,
        answers=answers,
        latest=answers,
        comment=comment,
        submitted_at=at,
        measured_at=at,
        window_ends=at + timedelta(minutes=wave.window_minutes) if has_window else at,
        seconds=seconds,
    )
    Revision.objects.create(
        annotation=annotation,
        number=1,
        answers=answers,
        comment=comment,
        version=row.version,
        by=member,
        at=at,
        in_window=True,
    )
    _end_windows(member, wave, seq, at)
    return annotation


def _end_windows(member: Membership, wave: Wave, seq: int, at: datetime) -> None:
    """Submit `seq` ends the window of the one W before it, W being what the protocol of that one's wave says."""
    distances = Wave.unseen.filter(project=wave.project_id).values_list(Value(seq) - F("window_submits"))
    ended = Annotation.objects.filter(
        member=member, seq__in=distances, wave_item__wave__window_submits=Value(seq) - F("seq")
    )
    Annotation.objects.filter(pk__in=ended.values("pk"), window_ends__gt=at).update(window_ends=at)


def _next_number(member: Membership) -> int:
    """Count one more first submit of `member` and return which one it is."""
    mine = Membership.objects.filter(pk=member.pk)
    if not mine.filter(submits=member.submits).update(submits=member.submits + 1):  # what we read is old by now
        mine.update(submits=F("submits") + 1)
        member.refresh_from_db(fields=["submits"])
    else:
        member.submits += 1
    return member.submits


@retrying
def skip(member: Membership, assignment: UUID, *, reason: str, at: datetime, note: str = "") -> None:
    """Leave an item to somebody else, with a reason. It is remembered: it does not come again under this MAJOR."""
    if reason not in SkipReason.values:
        raise Invalid(
            _("“%(reason)s” is no reason to skip: expected one of %(known)s.")
            % {"reason": reason, "known": ", ".join(SkipReason.values)}
        )
    row = _assignment(member, assignment)
    if row.state == AssignmentState.SUBMITTED:
        raise DomainError(_("You have labelled this item already; you can correct it in “My work”."), code="submitted")
    if row.state == AssignmentState.SKIPPED:
        return
    Assignment.objects.filter(pk=row.pk).update(
        state=AssignmentState.SKIPPED, ended_at=at, skip_reason=reason, skip_note=_comment(note), draft=None
    )
    if row.slot.state == SlotState.CLAIMED and row.slot.claimed_by_id == member.pk:
        if row.slot.kind == SlotKind.REPEAT:  # nobody else may give it
            repeats.let_go(row.slot)
            return
        ending = Ending()
        slots.give_back(row.slot, at=at, ending=ending)
        ending.write()


@retrying
def correct(member: Membership, annotation: UUID, *, answers: dict[str, Any], at: datetime, comment: str = "") -> Saved:
    """A new revision of one's own annotation. Within the window it becomes the measured rating, afterwards it is a
    layer on top; either way it is saved. The same answers again change nothing."""
    row = (
        Annotation.objects.select_for_update(of=("self",))
        .select_related("version", "item")
        .filter(uuid=annotation, member=member, seq__isnull=False)
        .first()
    )
    if row is None:
        raise Http404(_("There is no such label among yours."))
    cleaned, comment = clean_answers(row.version, answers, row.item.content), _comment_by(member, comment)
    if cleaned == row.latest and comment == row.comment:
        return Saved(row.uuid, repeated=True)
    number = row.revisions_count + 1
    Annotation.objects.filter(pk=row.pk).update(latest=cleaned, comment=comment, revisions_count=number)
    in_time = Annotation.objects.filter(pk=row.pk, window_ends__gt=at)
    within = _still_measures(row) and in_time.update(answers=cleaned, measured_at=at)
    Revision.objects.create(
        annotation=row,
        number=number,
        answers=cleaned,
        comment=comment,
        version=row.version,
        by=member,
        at=at,
        in_window=bool(within),
    )
    return Saved(row.uuid, repeated=False)


def _still_measures(row: Annotation) -> bool:
    """False once the draw of `row` has closed, whenever this request set out. Holds its closing off until the end."""
    draw = Draw.objects.select_for_update(no_key=True).filter(pk=row.draw_id or 0)
    return draw.values_list("state", flat=True).first() in (None, DrawState.OPEN)


def save_draft(member: Membership, assignment: UUID, *, draft: dict[str, Any], at: datetime) -> bool:
    """Keep what was typed so far; False if the item was submitted or skipped meanwhile.

    A sign of life too: a lease ends after minutes of silence, and who types is not silent.
    """
    row = Assignment.objects.select_related("wave_item__wave").filter(uuid=assignment, member=member).first()
    if row is None:
        raise Http404(_("There is no such item among yours."))
    unfinished = Assignment.objects.filter(pk=row.pk, state__in=[AssignmentState.OPEN, AssignmentState.LAPSED])
    kept = unfinished.update(draft=draft) == 1
    if kept:
        lease_ends = at + timedelta(minutes=row.wave_item.wave.lease_minutes)
        held = Slot.objects.filter(pk=row.slot_id, state=SlotState.CLAIMED, claimed_by=member)
        held.update(lease_ends=lease_ends)
    return kept


def history(member: Membership, *, question: str = "", value: str = "") -> QuerySet[Annotation]:
    """What `member` has labelled, newest first; only where the newest answer to `question` is the label `value`.

    What was imported in their name they did not label here.
    """
    rows = member.annotations.filter(seq__isnull=False).select_related("item", "version").order_by("-seq")
    if question and not (keys.KEY.fullmatch(question) and "\x00" not in value):
        return rows.none()
    if question:
        rows = rows.annotate(chosen=AnswerTo(question)).filter(chosen=value)
    return rows


class AnswerTo(Func):
    """The newest answer to a question as text. A key such as "1" is a name here, where Django's own would count."""

    output_field = TextField()

    def __init__(self, question: str) -> None:
        super().__init__(F("latest"), Value(question, output_field=TextField()))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        column, key = self.get_source_expressions()
        path = Value(f'$."{key.value}"', output_field=TextField())
        found = self.copy()
        found.set_source_expressions([column, path])
        return found.as_sql(compiler, connection, function="JSON_EXTRACT", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)", arg_joiner=" ->> ", **context)


def skipped(member: Membership) -> QuerySet[Assignment]:
    """What `member` has skipped and not labelled since, newest first."""
    rows = member.assignments.filter(state=AssignmentState.SKIPPED)
    return rows.select_related("item", "version").order_by("-pk")


def _comment_by(member: Membership, comment: str) -> str:
    """What stands beside the answers. Raises BadAnswers where the project asks for a comment and there is none."""
    said = _comment(comment)
    if member.project.comment_required and not said:
        raise BadAnswers({"": _("Write a comment: this project asks for one with every label.")})
    return said


def _comment(text: str) -> str:
    text = text.strip()
    if len(text) > COMMENT_LIMIT:
        raise Invalid(
            _("The comment has %(found)s characters: at most %(limit)s are kept, so shorten it.")
            % {"found": len(text), "limit": COMMENT_LIMIT}
        )
    if "\x00" in text:
        raise Invalid(_("The comment contains a NUL character, which cannot be stored: remove it."))
    return text


def _seconds(told: float | None, row: Assignment, at: datetime) -> float:
    """Time on task: what the page measured, else the time since it was served; never more than an hour."""
    elapsed = max(0.0, (at - row.served_at).total_seconds())
    wanted = elapsed if told is None or not 0 <= told <= elapsed + 60 else told
    return min(wanted, LONGEST_SECONDS)
