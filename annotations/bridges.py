"""Bridges: a random sample of old items is rated again under a new MAJOR, to see what became of each label (DESIGN §3).

It says what a change of the guideline did to the labels, not how far people agree: old and new label were given under
other rules, and often by other people. Its ratings are no final labels and are never measured.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import gold, releasing, samples
from annotations.enums import SAMPLES, WaveKind, WaveState
from annotations.models import Annotation, Sample, Wave, WaveItem
from annotations.sampling import Candidate
from projects.enums import Standing
from projects.errors import DomainError, Invalid
from projects.models import Example, GuidelineVersion, Item, Membership, Project

MOST = 5_000
CHUNK = 500


def eligible(project: Project, version: GuidelineVersion) -> QuerySet[Item]:
    """The items that were rated under an earlier MAJOR only, are in no wave now, and are no example of the new one."""
    rated = Annotation.objects.filter(item=OuterRef("pk"), slot__isnull=False).exclude(
        wave_item__wave__kind__in=SAMPLES
    )
    met = WaveItem.objects.filter(item=OuterRef("pk"))
    unfinished = met.filter(wave__state__in=[WaveState.OPENING, WaveState.OPEN])
    bridged = met.filter(wave__kind=WaveKind.BRIDGE, wave__major=version.major or 0)
    shown = Example.objects.filter(version__project=project, folded_hash=OuterRef("folded_hash"))
    return Item.objects.filter(project=project, standing=Standing.CURRENT).filter(
        Exists(rated.filter(major__lt=version.major or 0)),
        ~Exists(rated.filter(major__gte=version.major or 0)),
        ~Exists(unfinished),
        ~Exists(bridged),
        ~Exists(shown),
    )


@transaction.atomic
def open_bridge(project: Project, *, size: int, by: Membership, at: datetime) -> Wave:
    """Draw `size` old items to be rated once more under the newest MAJOR. Raises Invalid, DomainError."""
    project, version = samples.lock(project, by=by)
    if not 1 <= size <= MOST:
        raise Invalid(_("A bridge of %(size)s items: expected 1 to %(most)s.") % {"size": size, "most": MOST})
    rows = eligible(project, version).values_list("pk", "uuid", "content_hash")
    population = {Candidate(uuid, "", digest): pk for pk, uuid, digest in rows}
    if len(population) < size:
        raise DomainError(_too_few(len(population), size, version), code="too_few_old")
    drawn = samples.draw(WaveKind.BRIDGE, population, {"": size}, version=version, choices={"size": size}, by=by, at=at)
    items = list(Item.objects.filter(uuid__in=drawn.chosen).select_related("superseded_by").order_by("pk"))
    places = sorted(items, key=lambda item: drawn.place(item.uuid))
    WaveItem.objects.bulk_create([WaveItem(wave=drawn.wave, item=item, needed=1) for item in places])
    Sample.objects.filter(pk=drawn.sample.pk).update(before=before(items))
    releasing.fill_wave(drawn.wave)
    return drawn.wave


def _too_few(found: int, size: int, version: GuidelineVersion) -> str:
    if not found:
        return _(
            "No item was rated under a MAJOR before %(number)s alone: a bridge needs old labels to set the new ones "
            "against."
        ) % {"number": version.number}
    return ngettext(
        "Only %(n)s old item is left, and this bridge needs %(size)s: make it smaller.",
        "Only %(n)s old items are left, and this bridge needs %(size)s: make it smaller.",
        found,
    ) % {"n": found, "size": size}


def before(items: list[Item]) -> dict[str, Any]:
    """Item -> question -> its final label as it was given and the version of that: what the new one is set against.

    Kept with the sample, since a final label may be mapped or given again while the bridge is open.
    """
    found: dict[str, Any] = {}
    for start in range(0, len(items), CHUNK):
        for one in gold.of_items(items[start : start + CHUNK]):
            given = one.value if one.mapped_from is None else one.mapped_from
            if given is not None:
                about = found.setdefault(str(one.item.uuid), {})
                about[one.question_key] = {"value": given, "version": one.given_under}
    return found


def given(wave: Wave) -> Iterable[Annotation]:
    """What was said of the items of a bridge so far."""
    rows = Annotation.objects.filter(wave_item__wave=wave, slot__isnull=False)
    return rows.select_related("item").order_by("pk")


def by_the_same(wave: Wave) -> set[int]:
    """The items of a bridge whose new rating is by somebody who gave an old one too."""
    earlier = Annotation.objects.filter(
        item=OuterRef("item"), member=OuterRef("member"), major__lt=wave.major, slot__isnull=False
    )
    rows = Annotation.objects.filter(Exists(earlier), wave_item__wave=wave, slot__isnull=False)
    return set(rows.values_list("item", flat=True))
