"""What an imported wave consists of, made of the rows of a file chunk by chunk: items, raters, slots and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from annotations import imported_items, imported_rows, rating_layouts, rating_values
from annotations.enums import AssignmentState, SlotKind, SlotState
from annotations.imported_items import Group, Known
from annotations.models import Annotation, Assignment, Draw, Revision, Slot, Wave, WaveItem
from annotations.rating_layouts import Layout
from projects import jobs
from projects.errors import DomainError
from projects.models import Batch, Item, Job, Membership, Project, Question
from projects.task_types import TASK_TYPES, AnswerError, Json


@dataclass
class Making:
    """What the chunks of one import share."""

    job: Job
    layout: Layout
    project: Project
    wave: Wave
    draw: Draw
    batch: Batch | None
    questions: dict[str, Question]
    members: dict[str, Membership] = field(default_factory=dict)
    known: dict[tuple[str, str], Json] = field(default_factory=dict)

    @property
    def at(self) -> datetime:
        return self.job.created_at

    def answers(self, raws: Mapping[str, Json], row: int) -> dict[str, Json]:
        """The answers as labels; what the person who imports left out is missing."""
        found: dict[str, Json] = {}
        for key, raw in raws.items():
            place = key, rating_values.token(raw)
            if place not in self.known:
                self.known[place] = self._read(key, raw, row)
            if self.known[place] is not None:
                found[key] = self.known[place]
        return found

    def _read(self, key: str, raw: Json, row: int) -> Json:
        mapped = [self.job.params["values"][key][rating_values.token(part)] for part in rating_values.parts(raw)]
        kept: list[Json] = [label for label in mapped if label is not None]
        if not kept and mapped:
            return None
        question = self.questions[key]
        try:
            cleaned = kept if rating_layouts.takes_sets(question) else kept[0]
            return TASK_TYPES[question.task_type].clean(cleaned, list(question.labels.all()))
        except AnswerError as error:
            raise DomainError(
                _("Row %(row)d: the rating of “%(key)s” cannot be taken. %(why)s")
                % {"row": row, "key": key, "why": error}
            ) from error

    def rater(self, name: str) -> Membership:
        """The member who stands for a rater or a place; made when first met, without an account and never active."""
        if name not in self.members:
            self.members[name] = _member(self.job, self.project, name)
        return self.members[name]


def _member(job: Job, project: Project, name: str) -> Membership:
    """The member whom the person who imports named, one that an earlier import made, or a new one."""
    named = job.params["raters"].get(name)
    if named:
        return Membership.objects.get(project=project, uuid=named)
    earlier = Membership.objects.filter(project=project, user=None, submits=0, active=False, alias=name)
    found = earlier.order_by("pk").first()
    if found is None:
        found = Membership.objects.create(project=project, alias=name, active=False, joined_at=job.created_at)
        job.params["made"]["created"].append(found.pk)
    return found


def copy(making: Making, preview: Job) -> None:
    made, total = making.job.params["made"], preview.result["items"]
    done = WaveItem.objects.filter(wave=making.wave).count()
    size = imported_rows.chunk_size(making.layout)
    for chunk in imported_rows.groups(preview, size=size, after=made["after"]):
        with transaction.atomic():
            jobs.hold(making.job)
            # Whoever opens a wave locks the project too: no item gets into both.
            Project.objects.select_for_update().get(pk=making.project.pk)
            done += _copy_chunk(making, chunk)
            made["after"] = chunk[-1].head.number
            making.job.save(update_fields=["params"])
        jobs.progress(making.job, done, total)
        jobs.give_way()


@dataclass
class Rated:
    """An item of the file with what was said about it, label by label."""

    group: Group
    ratings: list[tuple[Membership, dict[str, Json], str]]
    item: int = 0


def _copy_chunk(making: Making, chunk: Sequence[Group]) -> int:
    """Items, slots and answers of a chunk; how many items it added."""
    rated = [Rated(group, ratings) for group in chunk if (ratings := _ratings(making, group))]
    found = _items(making, rated)
    making.job.params["made"]["met"] += len(rated) - len(found)
    wave_items = WaveItem.objects.bulk_create(_wave_item(making, one) for one in found)
    rows = [
        (wave_item, number, *rating)
        for wave_item, one in zip(wave_items, found, strict=True)
        for number, rating in enumerate(one.ratings, start=1)
    ]
    slots = Slot.objects.bulk_create(_slot(making, wave_item, number) for wave_item, number, *_rest in rows)
    assignments = Assignment.objects.bulk_create(
        _assignment(making, slot, member)
        for slot, (_wave_item, _number, member, *_rest) in zip(slots, rows, strict=True)
    )
    annotations = Annotation.objects.bulk_create(
        _annotation(making, assignment, answers, comment)
        for assignment, (*_who, answers, comment) in zip(assignments, rows, strict=True)
    )
    Revision.objects.bulk_create(_revision(annotation) for annotation in annotations)
    return len(found)


def _ratings(making: Making, group: Group) -> list[tuple[Membership, dict[str, Json], str]]:
    kept: list[tuple[Membership, dict[str, Json], str]] = []
    for row in group.rows:
        for rater, raws, comment in row.ratings:
            answers = making.answers(raws, row.number)
            if answers:
                # A place is nobody: the first rating of every item stands in the first place, whoever gave it.
                name = f"rating {len(kept) + 1}" if rater is None else rater
                kept.append((making.rater(name), answers, comment))
    return kept


def _items(making: Making, rated: Sequence[Rated]) -> list[Rated]:
    """Those whose item the project has or gets; what came between since the preview is left out."""
    known = imported_items.known_items(making.project, [one.group.head for one in rated])
    fresh: dict[UUID, Rated] = {}
    rows = []
    for one in rated:
        head = one.group.head
        there = known.get(head.external_id or head.content_hash)
        if there is not None:
            one.item = there.pk if _takes(there, one.group) else 0
        elif making.batch is not None and head.content is not None:
            uuid = uuid4()
            fresh[uuid] = one
            rows.append(_item(making, making.batch, one.group, uuid))
    # An id that another import brings in at this moment makes its row no error, and no item.
    Item.objects.bulk_create(rows, ignore_conflicts=True)
    for uuid, pk in Item.objects.filter(uuid__in=list(fresh)).values_list("uuid", "pk"):
        fresh[uuid].item = pk
    return [one for one in rated if one.item]


def _takes(there: Known, group: Group) -> bool:
    return there.problem is None and (group.head.content is None or group.head.content_hash == there.content_hash)


def _item(making: Making, batch: Batch, group: Group, uuid: UUID) -> Item:
    head = group.head
    return Item(
        uuid=uuid,
        project=making.project,
        batch=batch,
        number=head.number,
        external_id=head.external_id,
        content=head.content,
        metadata=head.metadata,
        content_hash=head.content_hash,
        folded_hash=head.folded_hash,
        created_at=making.at,
    )


def _wave_item(making: Making, one: Rated) -> WaveItem:
    strata_field = making.draw.protocol["strata_field"]
    return WaveItem(
        wave=making.wave,
        item_id=one.item,
        draw=making.draw if len(one.ratings) > 1 else None,
        stratum=str(one.group.head.metadata.get(strata_field, ""))[:200] if strata_field else "",
        needed=len(one.ratings),
        rated=len(one.ratings),
    )


def _slot(making: Making, wave_item: WaveItem, number: int) -> Slot:
    return Slot(
        wave=making.wave,
        wave_item=wave_item,
        item_id=wave_item.item_id,
        draw_id=wave_item.draw_id,
        kind=SlotKind.IMPORTED,
        number=number,
        state=SlotState.RATED,
        queue=Slot.SINGLES,
        key=0,
    )


def _assignment(making: Making, slot: Slot, member: Membership) -> Assignment:
    return Assignment(
        slot=slot,
        wave_item_id=slot.wave_item_id,
        item_id=slot.item_id,
        member=member,
        major=making.wave.major,
        version=making.wave.version,
        state=AssignmentState.SUBMITTED,
        served_at=making.at,
        ended_at=making.at,
    )


def _annotation(making: Making, assignment: Assignment, answers: dict[str, Json], comment: str) -> Annotation:
    # By their keys: two objects that hold each other would stay in memory until the collector comes.
    return Annotation(
        assignment_id=assignment.pk,
        slot_id=assignment.slot_id,
        wave_item_id=assignment.wave_item_id,
        item_id=assignment.item_id,
        draw_id=assignment.slot.draw_id,
        member=assignment.member,
        version=making.wave.version,
        major=making.wave.major,
        seq=None,
        answers=answers,
        latest=answers,
        comment=comment,
        submitted_at=making.at,
        measured_at=making.at,
        window_ends=making.at,
    )


def _revision(annotation: Annotation) -> Revision:
    return Revision(
        annotation=annotation,
        number=1,
        answers=annotation.answers,
        comment=annotation.comment,
        version=annotation.version,
        by=annotation.member,
        at=annotation.submitted_at,
        in_window=True,
    )
