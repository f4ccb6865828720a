"""Dull builders of waves, draws and measured ratings, straight as rows: what is measured is the test's own business."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from annotations.models import Annotation, Assignment, Draw, Slot, Wave, WaveItem
from projects.models import GuidelineVersion, Item, Membership, protocol_defaults
from tests import factories
from tests.factories import NOW

# What one item got: who said what, per question, or as the answer to the question "intent".
Said = Mapping[Membership, str | Mapping[str, Any]]


def protocol(**changes: Any) -> dict[str, Any]:
    return {**protocol_defaults(), "window_submits": 0, "window_minutes": 0, "minimum_n": 1, **changes}


def draw(
    version: GuidelineVersion,
    said: Sequence[Said] = (),
    *,
    by: Membership,
    items: Sequence[Item] | None = None,
    needed: int = 2,
    size: int | None = None,
    at: datetime = NOW,
    closing: str = "",
    reason: str = "",
    strata: Sequence[str] = (),
    singles: int = 0,
    rules: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Draw:
    """A wave whose overlap has `said` as its measured ratings, one mapping per item; closed where `closing` is given.

    Windows end at `at`. `size` makes the overlap larger than what is rated; `rules` are the protocol's questions.
    """
    project = version.project
    number = project.waves.count() + 1
    size = len(said) if size is None else size
    items = items or factories.items(project, size + singles, prefix=f"wave {number} item")
    frozen = protocol(ratings_per_item=needed, questions=dict(rules or {}), **changes)
    wave = Wave.objects.create(
        project=project,
        number=number,
        version=version,
        major=version.major,
        state="closed" if closing else "open",
        share_percent=100,
        ratings_per_item=needed,
        size=len(items),
        window_submits=0,
        window_minutes=0,
        lease_minutes=30,
        opened_at=at - timedelta(hours=2),
        opened_by=by,
    )
    made = Draw.objects.create(
        wave=wave,
        protocol=frozen,
        seed=bytes(32),
        salt=bytes(32),
        commitment="0" * 64,
        population=b"",
        population_size=len(items),
        size=size,
        opened_at=at - timedelta(hours=2),
        state="closed" if closing else "open",
        closing=closing,
        closed_at=at if closing else None,
        reason=reason,
    )
    for place, item in enumerate(items):
        overlap = place < size
        row = WaveItem.objects.create(
            wave=wave,
            item=item,
            draw=made if overlap else None,
            stratum=strata[place] if strata else "",
            needed=needed if overlap else 1,
        )
        if overlap and place < len(said):
            for member, answer in said[place].items():
                rate(made, row, member, answer, at=at)
    return made


def rate(
    made: Draw,
    row: WaveItem,
    member: Membership,
    answer: str | Mapping[str, Any],
    *,
    at: datetime = NOW,
    window_ends: datetime | None = None,
    measured: bool = True,
) -> Annotation:
    """One measured rating, or a surplus one (without a slot)."""
    answers = {"intent": answer} if isinstance(answer, str) else dict(answer)
    number = row.slots.count() + 1
    slot = Slot.objects.create(
        wave=made.wave,
        wave_item=row,
        item=row.item,
        draw=made,
        kind="measured",
        number=number,
        state="rated",
        queue=0,
        key=number,
    )
    assignment = Assignment.objects.create(
        slot=slot,
        wave_item=row,
        item=row.item,
        member=member,
        major=made.wave.major,
        version=made.wave.version,
        state="submitted",
        served_at=at,
        ended_at=at,
    )
    member.submits += 1
    member.save(update_fields=["submits"])
    if measured:
        row.rated = min(row.needed, row.rated + 1)
        row.save(update_fields=["rated"])
    return Annotation.objects.create(
        assignment=assignment,
        slot=slot if measured else None,
        wave_item=row,
        item=row.item,
        draw=made,
        member=member,
        version=made.wave.version,
        major=made.wave.major,
        seq=member.submits,
        answers=answers,
        latest=answers,
        submitted_at=at,
        measured_at=at,
        window_ends=window_ends or at,
    )
