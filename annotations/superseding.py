"""Correcting and erasing items. An item is a snapshot: a correction makes a successor (DESIGN §2.1, §2.2)."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotations.enums import SlotKind, SlotState
from annotations.models import Slot, Wave, WaveItem
from annotations.retrying import retrying
from projects import access
from projects.enums import Action, Standing
from projects.errors import DomainError, Invalid
from projects.folding import content_hash, folded_hash
from projects.models import Item, Membership
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
    for row in WaveItem.objects.filter(item=item):
        unrated = list(Slot.objects.unrated().filter(wave_item=row))
        if not unrated:
            continue
        cancelled = Slot.objects.unrated().filter(pk__in=[slot.pk for slot in unrated])
        gone = cancelled.update(state=SlotState.CANCELLED, claimed_by=None, lease_ends=None)
        WaveItem.objects.filter(pk=row.pk).update(needed=F("rated"))
        counter = "overlap_left" if unrated[0].kind == SlotKind.MEASURED else "single_left"
        Wave.objects.filter(pk=row.wave_id, **{f"{counter}__gte": gone}).update(**{counter: F(counter) - gone})


@transaction.atomic
def erase(item: Item, *, by: Membership, at: datetime) -> None:
    """Redact the text of `item` on request. Its hash, its ratings and its decisions stay; it is not served again."""
    access.require(by, Action.SETTINGS)
    Item.objects.filter(pk=item.pk).update(
        content=dict.fromkeys(item.content, ERASED), metadata={}, standing=Standing.SUPERSEDED
    )
    _stop_asking(item)
    item.refresh_from_db()
