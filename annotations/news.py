"""What `annotations` has to tell: work and conflicts that wait, answers, labels sent back (see `projects.notices`).

Each asks the rule of the page to which it leads, so that it says nothing that the page would not: answers and labels
sent back wait for their draw to close, conflicts are those of closed draws that the reader may decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Max
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import cases, claims, giving, inquiries, sent_back
from annotations.claims import Place
from annotations.enums import WaveState
from annotations.models import Assignment, Inquiry, Slot, Wave
from projects import guidelines, notices
from projects.enums import Action, NoticeKind
from projects.models import Membership, Project
from projects.notices import KEPT, Found, Kind

# -- work --------------------------------------------------------------------------------------------------------------


def work(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """A wave with something left for the member. Samples are not told: they hide among other items.

    While singles hide the overlap of a wave, nothing is said but what its counters say, until the labelling page has
    told the member that nothing is left: a notice that came and went with every slot would tell which slots those are.
    """
    if not Wave.objects.served().filter(project=project).exists():
        return
    newest = guidelines.newest(project)
    for member in people:
        standing = claims.standing(member)
        held = _wave_in_hand(standing.held)
        for place in standing.places:
            wave = place.wave
            served = wave.state == WaveState.OPEN and not wave.held and not wave.is_sample
            if not served or newest is None or wave.major != newest.major:
                continue
            if wave.pk == held or (not giving.obstacle(wave, member, at=at) and _is_left(place, member)):
                due = wave.due_on.isoformat() if wave.due_on else ""
                yield Found(member.pk, wave.uuid.hex, facts={"due": due})


def _wave_in_hand(assignment: int | None) -> int | None:
    if assignment is None:
        return None
    return Assignment.objects.filter(pk=assignment).values_list("wave_item__wave", flat=True).first()


def _is_left(place: Place, member: Membership) -> bool:
    wave, seat = place.wave, place.seat
    if not place.left:
        return False
    gave_up = seat is not None and seat.gave_up_at is not None
    if wave.cover_released_at is None and place.is_measured:
        if seat is not None and seat.told_empty_at is not None:
            return False
        if wave.overlap_left and wave.single_all and not gave_up:
            return True
    if seat is None:
        return Slot.objects.open().filter(wave=wave).exists()
    singles = bool(wave.single_left) and place.single_key is not None
    return singles or (not gave_up and claims.has_overlap_for(place, member))


def _say_work(facts: Mapping[str, Any]) -> str:
    if facts.get("due"):
        day = date_format(date.fromisoformat(facts["due"]), "DATE_FORMAT")
        return _("Items wait to be labelled by you, until %(day)s.") % {"day": day}
    return _("Items wait to be labelled by you.")


# -- conflicts ---------------------------------------------------------------------------------------------------------


def conflicts(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """A closed draw with conflicts that the member may decide."""
    if not cases.of_project(project).open().exists():
        return
    for member in people:
        rows = cases.for_member(member).order_by().values("draw__uuid", "draw__wave__number")
        for row in rows.annotate(n=Count("pk"), newest=Max("opened_at")):
            facts = {"n": row["n"], "wave": row["draw__wave__number"]}
            yield Found(member.pk, row["draw__uuid"].hex, row["newest"], facts)


def _say_conflicts(facts: Mapping[str, Any]) -> str:
    return ngettext(
        "%(n)s conflict of wave %(wave)s waits for a decision.",
        "%(n)s conflicts of wave %(wave)s wait for a decision.",
        facts["n"],
    ) % {"n": facts["n"], "wave": facts["wave"]}


# -- answers, and labels sent back -------------------------------------------------------------------------------------


def answers(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """An answer that the member may read."""
    if not Inquiry.objects.answered().filter(item__project=project).exists():
        return
    for member in people:
        for inquiry, since, heard in inquiries.readable(member, since=at - KEPT):
            yield Found(member.pk, inquiry.hex, since, seen=heard)


def _say_answer(facts: Mapping[str, Any]) -> str:
    return _("A question about an item that you asked about or labelled has an answer.")


def labels_sent_back(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """A label that a lead asks the member to look at again."""
    for row in sent_back.waiting_for(people):
        yield Found(row.annotation.member_id, row.uuid.hex, row.at)


def _say_sent_back(facts: Mapping[str, Any]) -> str:
    return _("You are asked to look at one of your labels again.")


KINDS = (
    Kind(NoticeKind.WORK, Action.LABEL, work, _say_work, "annotations:label"),
    Kind(NoticeKind.CONFLICTS, Action.ADJUDICATE, conflicts, _say_conflicts, "annotations:adjudication"),
    Kind(NoticeKind.ANSWER, Action.LABEL, answers, _say_answer, "annotations:my-answers"),
    Kind(NoticeKind.SENT_BACK, Action.LABEL, labels_sent_back, _say_sent_back, "annotations:my-work"),
)


def register() -> None:
    """Called in `AppConfig.ready`."""
    for kind in KINDS:
        notices.register(kind)
