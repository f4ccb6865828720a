"""All ratings of a project as rows of a file, in the order of serving: each revision, each question, each skip."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Max, Q, TextField
from django.db.models.functions import Cast

from annotations.enums import SAMPLES, AssignmentState, WaveKind, WaveState
from annotations.models import Assignment, Draw, Wave, WaveItem
from projects import bulk
from projects.models import Project
from projects.task_types import Json

CHUNK = 2_500
FIELDS = (
    "item",
    "item_id",
    "question",
    "rater",
    "rater_id",
    "value",
    "skip_reason",
    "skip_note",
    "measured",
    "newest",
    "revision",
    "version",
    "wave",
    "sample",
    "kind",
    "served_at",
    "submitted_at",
    "revised_at",
    "seconds",
    "comment",
)


def of_project(project: Project, hidden: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """A row for each revision and question, and for each skip and question, in the order of serving.

    Nothing of what is served after the start is in it: a sample that is opened meanwhile is not among the hidden ones.
    """
    newest = Assignment.objects.aggregate(newest=Max("pk"))["newest"] or 0
    ended = (
        Assignment.objects.filter(bulk.checked("item__project", project.pk), pk__lte=newest)
        .filter(state__in=[AssignmentState.SUBMITTED, AssignmentState.SKIPPED])
        .exclude(wave_item__wave__in=[draw.wave_id for draw in hidden])
        .exclude(wave_item__wave__state=WaveState.IMPORTING)
        .exclude(_of_hidden_samples(project, hidden))
        .order_by("pk")
    )
    names = _Names(project)
    done, last = 0, 0
    while chunk := list(ended.filter(pk__gt=last).values_list("pk", flat=True)[:CHUNK]):
        # As tuples: a million objects of seven models would cost more than all the rest.
        rows = ended.filter(pk__gt=last, pk__lte=chunk[-1]).order_by("pk", "annotation__revisions__number")
        for _pk, revisions in groupby(map(_Rated._make, rows.values_list(*_RATED)), itemgetter(0)):
            done += 1
            for row in _rows_of(list(revisions), names):
                yield done, row
        last = chunk[-1]


def _of_hidden_samples(project: Project, hidden: Sequence[Draw]) -> Q:
    """What is rated again: nothing of it before the sample has ended, nor of items of a wave that is left out.

    A spot check and a third rating are made by nobody who can ask for this file before.
    """
    seen = (WaveKind.SPOTCHECK, WaveKind.TIEBREAK)
    unfinished = Wave.samples.unfinished().filter(project=project).exclude(kind__in=seen)
    found = Q(wave_item__wave__in=list(unfinished.values_list("pk", flat=True)))
    if hidden:
        left_out = WaveItem.objects.filter(wave__in=[draw.wave_id for draw in hidden]).values("item")
        found |= Q(wave_item__wave__kind__in=SAMPLES, item__in=left_out)
    return found


class _Rated(NamedTuple):
    """A revision of what an assignment became; of one that was skipped there is one row without a revision."""

    pk: int
    state: str
    item: UUID
    item_id: str
    member: int
    version: int
    wave: int
    kind: str
    served_at: str
    ended_at: str | None
    skip_reason: str
    skip_note: str
    slot: int | None
    draw: int | None
    submitted_at: str | None
    seconds: float
    revisions_count: int
    number: int
    answers: dict[str, Json]
    comment: str
    revision_version: int
    revised_at: str | None
    in_window: bool


def _text(moment: str) -> Cast:
    """A time as the database writes it, in UTC: reading four of them for every rating would cost half of the time."""
    return Cast(moment, TextField())


_RATED = (
    *("pk", "state", "item__uuid", "item__external_id", "member", "version", "wave_item__wave", "slot__kind"),
    *(_text("served_at"), _text("ended_at"), "skip_reason", "skip_note", "annotation__slot", "annotation__draw"),
    *(_text("annotation__submitted_at"), "annotation__seconds", "annotation__revisions_count"),
    *("annotation__revisions__number", "annotation__revisions__answers", "annotation__revisions__comment"),
    *("annotation__revisions__version", _text("annotation__revisions__at"), "annotation__revisions__in_window"),
)


class _Known(dict[int, Any]):
    """Rows of a table by their keys: read at once, and again where a rating names one that was made since."""

    def __init__(self, read: Callable[[], dict[int, Any]]) -> None:
        super().__init__(read())
        self._read = read

    def __missing__(self, key: int) -> Any:
        found = self._read()
        self.update(found)
        return found[key]


class _Names:
    """What the members, versions and waves of a project are called. They are few beside its ratings."""

    def __init__(self, project: Project) -> None:
        members = project.memberships.select_related("user")
        versions = project.versions.defer("text").prefetch_related("questions")
        waves = Wave.unseen.filter(project=project)
        self.members = _Known(lambda: {one.pk: (one.name, str(one.uuid)) for one in members.all()})
        self.versions = _Known(
            lambda: {one.pk: (one.number, [asked.key for asked in one.questions.all()]) for one in versions.all()}
        )
        self.waves = _Known(lambda: {wave.pk: wave for wave in waves.all()})


def _rows_of(revisions: Sequence[_Rated], names: _Names) -> Iterator[dict[str, Json]]:
    first = revisions[0]
    rater, rater_id = names.members[first.member]
    (number, keys), wave = names.versions[first.version], names.waves[first.wave]
    common: dict[str, Json] = {
        "item": str(first.item),
        "item_id": first.item_id,
        "rater": rater,
        "rater_id": rater_id,
        "version": number,
        "wave": None if wave.is_sample else wave.number,
        "sample": str(wave) if wave.is_sample else None,
        "kind": first.kind,
        "served_at": _time(first.served_at),
    }
    if first.state == AssignmentState.SKIPPED:
        skipped: dict[str, Json] = {
            "skip_reason": first.skip_reason,
            "skip_note": first.skip_note,
            "measured": False,
        }
        for key in keys:
            yield {**common, "question": key, **skipped, "submitted_at": _time(first.ended_at)}
        return
    measured = _measured_revision(revisions)
    for revision in revisions:
        said: dict[str, Json] = {
            "measured": revision.number == measured,
            "newest": revision.number == revision.revisions_count,
            "revision": revision.number,
            "version": names.versions[revision.revision_version][0],
            "submitted_at": _time(revision.submitted_at),
            "revised_at": _time(revision.revised_at),
            "seconds": round(revision.seconds, 3),
            "comment": revision.comment,
        }
        for key in keys:
            yield {**common, **said, "question": key, "value": revision.answers.get(key)}


def _measured_revision(revisions: Sequence[_Rated]) -> int | None:
    """The number of the revision that is measured: the last within its window; None where nothing is."""
    if revisions[0].slot is None or revisions[0].draw is None:
        return None
    return max((revision.number for revision in revisions if revision.in_window), default=None)


def _time(at: str | None) -> str | None:
    """As `datetime.isoformat` has it: the databases leave out the T, PostgreSQL zeros at the end of a second's part,
    SQLite the zone."""
    if at is None:
        return None
    second, point, part = at.removesuffix("+00").partition(".")
    return f"{second[:10]}T{second[11:]}{point}{part:0<6}+00:00" if point else f"{second[:10]}T{second[11:]}+00:00"
