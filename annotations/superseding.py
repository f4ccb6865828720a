"""Correcting and erasing items. An item is a snapshot: a correction makes a successor (DESIGN §2.1, §2.2)."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import F
from django.utils.translation import gettext as _

from annotations.enums import SlotState, WaveState
from annotations.models import Slot, Wave, WaveItem
from annotations.retrying import retrying
from projects import access, activities
from projects.enums import Action, Standing
from projects.errors import DomainError, Invalid
from projects.folding import content_hash, folded_hash
from projects.models import Item, Membership, Project
from projects.task_types import Json

ERASED = "[erased]"


@retrying
def supersede(item: Item, *, content: Mapping[str, Json], by: Membership, at: datetime) -> Item:
    """Correct `item`: a new item takes its place, and nothing more of the old text is asked.

    Ratings of the old text stay with it. The successor is fresh only if nobody rated any text before it. Raises
    Invalid for other fields or an empty or unchanged text, DomainError if the item was superseded meanwhile.
    """
    access.require(by, Action.IMPORT)
    _check(item, content)
    successor = Item.objects.create(
        project_id=item.project_id,
        batch_id=item.batch_id,
        number=item.number,
        content=dict(content),
        metadata=item.metadata,
        content_hash=content_hash(content),
        folded_hash=folded_hash(content),
        created_at=at,
        standing=Standing.SUPERSEDED,  # until the old one has made room for its id
    )
    replaced = Item.objects.filter(pk=item.pk, standing=Standing.CURRENT)
    if not replaced.update(standing=Standing.SUPERSEDED, superseded_by=successor):
        raise DomainError(_("This item was corrected meanwhile: look at the newest text first."), code="superseded")
    # Earlier texts point at the newest one too, so that one look tells whether any of them was rated.
    Item.objects.filter(superseded_by=item.pk).update(superseded_by=successor)
    Item.objects.filter(pk=successor.pk).update(standing=Standing.CURRENT, external_id=item.external_id)
    _stop_asking(item)
    activities.record("item_corrected", item.project_id, by=by, at=at)
    successor.refresh_from_db()
    return successor


def _check(item: Item, content: Mapping[str, Json]) -> None:
    if set(content) != set(item.content):
        raise Invalid(
            _("A correction keeps the fields of the item: expected %(fields)s.")
            % {"fields": ", ".join(sorted(item.content))}
        )
    if not any(str(value).strip() for value in content.values()):
        raise Invalid(_("The corrected item has no text left: write one."))
    if content_hash(content) == item.content_hash:
        raise Invalid(_("Nothing was changed in this item."))


def _stop_asking(item: Item) -> None:
    """Cancel what is still wanted of `item`. Who has it on screen may still send it in: it is kept as surplus."""
    for row in WaveItem.objects.filter(item=item, wave__in=Wave.unseen.unfinished()).select_related("wave"):
        gone = _cancel(row)
        if not gone and row.wave.state == WaveState.OPEN:
            continue
        WaveItem.objects.filter(pk=row.pk).update(needed=F("rated"))
        wave = Wave.unseen.select_for_update().get(pk=row.wave_id)
        gone += _cancel(row)  # those that the opening of the wave has just made
        if wave.state == WaveState.OPEN:  # else they are counted when it opens
            counter = "single_left" if row.draw_id is None else "overlap_left"
            Wave.unseen.filter(pk=wave.pk, **{f"{counter}__gte": gone}).update(**{counter: F(counter) - gone})


def _cancel(row: WaveItem) -> int:
    """How many slots were cancelled. In the order in which a submit takes them."""
    unrated = Slot.objects.unrated().filter(wave_item=row)
    list(unrated.order_by("pk").select_for_update().values_list("pk", flat=True))
    return unrated.update(state=SlotState.CANCELLED, claimed_by=None, lease_ends=None)


@retrying
def erase(item: Item, *, by: Membership, at: datetime) -> None:
    """Redact the text of `item` on request. Its hash, its ratings and its decisions stay; it is not served again."""
    access.require(by, Action.SETTINGS)
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)  # no wave is just being drawn from it
    Item.objects.filter(pk=item.pk).update(
        content=dict.fromkeys(item.content, ERASED), metadata={}, standing=Standing.SUPERSEDED
    )
    _stop_asking(item)
    activities.record("item_erased", item.project_id, by=by, at=at)
    item.refresh_from_db()
