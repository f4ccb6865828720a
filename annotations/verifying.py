"""Replaying a closed draw from its record, so that nobody can be suspected of having picked (DESIGN §2.3)."""

from collections import Counter
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations import sampling
from annotations.models import Draw, WaveItem
from projects.errors import DomainError


@dataclass(frozen=True)
class Verification:
    """Whether a closed draw is what its record says."""

    same: bool
    sentence: str


def verify(draw: Draw) -> Verification:
    """Replay a closed draw from its record: commitment, population, seed, strata, sample."""
    if draw.is_open:
        raise DomainError(_("This draw is open: seed and population are shown when it closes."), code="draw_open")
    if draw.is_imported:
        return Verification(False, _("Imported: the system drew nothing here, so there is nothing to replay."))
    seed, salt = bytes(draw.seed), bytes(draw.salt)
    population = sampling.unpack_population(bytes(draw.population))
    if not sampling.verify(draw.commitment, salt, seed, sampling.population_digest(population)):
        return Verification(False, _("The commitment does not match seed and population."))
    rows = dict(
        WaveItem.objects.filter(wave=draw.wave).values_list("item__uuid", "draw")  # uuid -> draw or None
    )
    stored = {uuid for uuid, its_draw in rows.items() if its_draw is not None}
    counts = Counter(c.stratum for c in population if c.uuid in stored)
    replayed = sampling.choose(population, seed, counts)
    for candidate in sorted(population):
        if candidate.uuid not in rows:
            said = _("Item %(uuid)s was drawn from but is not in the wave.") % {"uuid": candidate.uuid}
            return Verification(False, said)
        if (candidate.uuid in stored) != (candidate.uuid in replayed):
            return Verification(False, _("Item %(uuid)s: record and replay differ.") % {"uuid": candidate.uuid})
    return Verification(True, _("Same set: %(n)s of %(size)s items.") % {"n": len(stored), "size": len(population)})
