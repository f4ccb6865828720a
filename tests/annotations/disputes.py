"""Draws that were rated and closed, for tests: who says what about which item stands in a table."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from annotations import releasing
from annotations.models import Annotation, Assignment, Case, Draw, Slot, WaveItem
from projects.models import Item, Membership, Project
from tests import factories
from tests.annotations.team import Team

# Item -> what each member says, in the order of the members; None leaves the question out.
Said = Mapping[str, Sequence[Any]]


def rated(
    project: Project,
    members: Sequence[Membership],
    said: Said,
    *,
    key: str = "intent",
    seed: int = 1,
    at: Any = factories.NOW,
    close: bool = True,
    metadata: Sequence[dict[str, Any]] | None = None,
    contents: Sequence[dict[str, str]] = (),
) -> Draw:
    """Import an item for each row of `said`, let `members` rate them all, and let the draw close by itself."""
    made = factories.items(project, len(said), prefix=f"case {project.items.count()}", metadata=metadata)
    for item, name in zip(made, said, strict=True):
        item.external_id = name
    for item, content in zip(made, contents, strict=False):
        item.content = content
    Item.objects.bulk_update(made, ["external_id", "content"])

    def answer(member: Membership, assignment: Assignment) -> dict[str, Any]:
        value = said[assignment.item.external_id][list(members).index(member)]
        return {} if value is None else value if isinstance(value, dict) else {key: value}

    opener = project.memberships.filter(is_lead=True).first() or members[0]
    wave = releasing.open_wave(
        project, by=opener, at=at, share_percent=Decimal(100), ratings_per_item=max(2, len(members))
    )
    team = Team(members, answer, at=at, seed=seed)
    if close:
        team.finish()
    else:
        team.work()
    return Draw.objects.get(wave=wave)


def case_of(name: str, key: str = "intent") -> Case:
    return Case.objects.get(item__external_id=name, question_key=key)


def many(draw: Draw, members: Sequence[Membership], count: int, values: Sequence[Sequence[str]]) -> None:
    """`count` more overlap items of `draw`, rated by `members` as `values` says in turn; rows only, no serving."""
    wave = draw.wave
    made = factories.items(wave.project, count, prefix=f"many-{wave.number}")
    rows = WaveItem.objects.bulk_create(
        [WaveItem(wave=wave, item=item, draw=draw, needed=len(members), rated=len(members)) for item in made],
        batch_size=500,
    )
    for place, member in enumerate(members):
        _rate(draw, rows, member, place, [said[place] for said in values])


def _rate(draw: Draw, rows: Sequence[WaveItem], member: Membership, place: int, values: Sequence[str]) -> None:
    wave = draw.wave
    slots = Slot.objects.bulk_create(
        [
            Slot(
                wave=wave,
                wave_item=row,
                item_id=row.item_id,
                draw=draw,
                kind="measured",
                number=place + 1,
                state="rated",
                queue=0,
                key=row.pk,
            )
            for row in rows
        ],
        batch_size=500,
    )
    assignments = Assignment.objects.bulk_create(
        [
            Assignment(
                slot=slot,
                wave_item_id=slot.wave_item_id,
                item_id=slot.item_id,
                member=member,
                major=wave.major,
                version=wave.version,
                state="submitted",
                served_at=draw.opened_at,
                ended_at=draw.opened_at,
            )
            for slot in slots
        ],
        batch_size=500,
    )
    Annotation.objects.bulk_create(
        [
            Annotation(
                assignment=assignment,
                slot_id=assignment.slot_id,
                wave_item_id=assignment.wave_item_id,
                item_id=assignment.item_id,
                draw=draw,
                member=member,
                version=wave.version,
                major=wave.major,
                seq=1_000_000 * (wave.number) + number,
                answers={"intent": values[number % len(values)]},
                latest={"intent": values[number % len(values)]},
                submitted_at=draw.opened_at,
                measured_at=draw.opened_at,
                window_ends=draw.opened_at,
            )
            for number, assignment in enumerate(assignments)
        ],
        batch_size=500,
    )
