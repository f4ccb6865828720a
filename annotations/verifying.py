"""Replaying a closed draw from its record, so that nobody can be suspected of having picked (DESIGN §2.3)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _

from annotations import draw_records, panels, sampling, strata
from annotations.draw_records import CHUNK, PanelRecord, Record
from annotations.models import Draw, Panel, WaveItem
from annotations.sampling import Candidate, Plan
from annotations.superseding import ERASED
from projects import folding
from projects.errors import DomainError

PROBABILITY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verification:
    """Whether a closed draw is what its record says; `unproved` says what an older record cannot show."""

    same: bool
    sentence: str
    unproved: tuple[str, ...] = ()


def verify(draw: Draw) -> Verification:
    """Replay a closed draw from the database: commitment, population, contents, plan, strata, sample."""
    if draw.is_open:
        raise DomainError(_("This draw is open: seed and population are shown when it closes."), code="draw_open")
    if draw.is_imported:
        return Verification(False, _("Imported: the system drew nothing here, so there is nothing to replay."))
    # What was released before is in the record since plans are kept; the waves of today have to say the same.
    today = strata.plan(draw.wave.project, draw.wave.major, draw.protocol, before=draw.wave.number)
    record = draw_records.of(draw)
    verdict = replay(record, plan=today)
    if not verdict.same:
        return verdict
    changed, erased = _contents(draw, record.population)
    if changed:
        return Verification(False, _("Item %(uuid)s has another content than when it was drawn.") % {"uuid": changed})
    unproved = verdict.unproved
    if draw.plan is None:
        unproved = (
            _(
                "It was opened before shares and earlier waves were part of the record: the numbers per stratum follow "
                "from the waves as they stand today, to which nobody had committed."
            ),
        )
    if erased:
        said = _("%(n)s items were erased on request since: only their hashes are left.") % {"n": erased}
        unproved = (*unproved, said)
    split = _of_panel(draw)
    if split is not None and not split.same:
        return Verification(False, split.sentence)
    sentence = f"{verdict.sentence} {split.sentence}" if split else verdict.sentence
    return Verification(True, sentence, unproved)


def _of_panel(draw: Draw) -> panels.Proof | None:
    """Whether the items that were drawn from are those that the split gave to this panel; None where there is none."""
    panel = Panel.objects.select_related("split").filter(wave=draw.wave_id).first()
    return panels.verify(panel) if panel else None


def replay(record: Record, *, plan: Plan | None = None) -> Verification:
    """Draw again from a record alone, and say the first difference. `plan`: what the waves before say of the shares."""
    difference = _difference(record, plan)
    if difference:
        return Verification(False, difference)
    drawn = sum(row.drawn for row in record.rows.values())
    unproved: tuple[str, ...] = ()
    if record.plan is None and plan is None:
        unproved = (
            _(
                "It was opened before shares and earlier waves were part of the record: how many of each stratum were "
                "to be drawn is taken from the sample itself, and not proved."
            ),
        )
    sentence = _("Same set: %(n)s of %(size)s items.") % {"n": drawn, "size": len(record.population)}
    return Verification(True, sentence, unproved)


def replay_splits(records: Iterable[Record]) -> list[Verification]:
    """Split again, from their records alone, what several panels got; a split that lacks one of them cannot be."""
    by_split: dict[str, list[tuple[PanelRecord, Record]]] = {}
    for record in records:
        if record.panel is not None:
            by_split.setdefault(record.panel.split, []).append((record.panel, record))
    return [_replay_split(found) for found in by_split.values()]


def _replay_split(found: Sequence[tuple[PanelRecord, Record]]) -> Verification:
    about = found[0][0]
    # The split knows no strata: a panel's population is compared by item and content.
    population = [one._replace(stratum="") for _panel, record in found for one in record.population]
    if len(population) != about.items:
        said = _("The split into panels is not proved: the draws of %(n)s of its %(items)s items are in this file.")
        return Verification(True, "", (said % {"n": len(population), "items": about.items},))
    parts = {panel.number: {one.uuid for one in record.population} for panel, record in found}
    proof = panels.replay(
        population, about.weights, parts, seed=about.seed, salt=about.salt, commitment=about.commitment
    )
    return Verification(proof.same, proof.sentence)


def _difference(record: Record, today: Plan | None) -> str:
    """The first difference of record and replay, in words; empty where there is none."""
    digest = sampling.record_digest(sampling.population_digest(record.population), record.plan)
    if not sampling.verify(record.commitment, record.salt, record.seed, digest):
        return _("The commitment does not match seed and population.")
    by_uuid = {candidate.uuid: candidate for candidate in record.population}
    for uuid in record.rows:
        if uuid not in by_uuid:
            return _("Item %(uuid)s is in the wave and was not drawn from.") % {"uuid": uuid}
    for candidate in sorted(record.population):
        row = record.rows.get(candidate.uuid)
        if row is None:
            return _("Item %(uuid)s was drawn from but is not in the wave.") % {"uuid": candidate.uuid}
        if row.stratum != candidate.stratum:
            said = _("Item %(uuid)s stands in stratum “%(found)s” and was drawn in “%(stratum)s”.")
            return said % {"uuid": candidate.uuid, "found": row.stratum, "stratum": candidate.stratum}
    available = Counter(candidate.stratum for candidate in record.population)
    counts = _counts(record, today, available)
    return counts if isinstance(counts, str) else _of_sample(record, available, counts)


def _counts(record: Record, today: Plan | None, available: Mapping[str, int]) -> dict[str, int] | str:
    """How many of each stratum were to be drawn, or what speaks against it."""
    plan = today if record.plan is None else Plan.from_json(record.plan)
    if plan is None:
        return dict(Counter(row.stratum for row in record.rows.values() if row.drawn))
    declared = replace(
        plan,
        share_percent=Decimal(str(record.protocol["share_percent"])),
        minimum=int(record.protocol.get("strata_minimum") or 0),
        own=strata.own_shares(record.protocol),
    )
    if declared != plan:
        return _("The protocol declares other shares than the draw was made with.")
    if today is not None and dict(today.history) != dict(plan.history):
        return _("The waves before it hold other numbers than the draw was made with.")
    return plan.counts(available)


def _of_sample(record: Record, available: Mapping[str, int], counts: Mapping[str, int]) -> str:
    stored = Counter(row.stratum for row in record.rows.values() if row.drawn)
    for stratum in sorted(available):
        if stored[stratum] != counts.get(stratum, 0):
            said = _("Stratum “%(name)s”: %(found)s items are overlap, and the plan draws %(wanted)s of %(all)s.")
            about = {"name": stratum, "found": stored[stratum], "wanted": counts.get(stratum, 0)}
            return said % (about | {"all": available[stratum]})
    replayed = sampling.choose(record.population, record.seed, counts)
    for candidate in sorted(record.population):
        row = record.rows[candidate.uuid]
        if row.drawn != (candidate.uuid in replayed):
            return _("Item %(uuid)s: record and replay differ.") % {"uuid": candidate.uuid}
        wanted = counts.get(candidate.stratum, 0) / available[candidate.stratum]
        if abs(row.probability - wanted) > PROBABILITY_TOLERANCE:
            said = _("Item %(uuid)s was drawn with probability %(wanted)s, and %(found)s is stored.")
            return said % {"uuid": candidate.uuid, "wanted": wanted, "found": row.probability}
    return ""


def _contents(draw: Draw, population: Iterable[Candidate]) -> tuple[UUID | None, int]:
    """The first item whose content no longer has the hash that was drawn from, and how many were erased."""
    hashes = {candidate.uuid: candidate.content_hash for candidate in population}
    rows = WaveItem.objects.filter(wave=draw.wave).order_by("pk").values_list("item__uuid", "item__content")
    erased = 0
    for uuid, content in rows.iterator(chunk_size=CHUNK):
        if set(content.values()) == {ERASED}:
            erased += 1
        elif folding.content_hash(content) != hashes[uuid]:
            return uuid, erased
    return None, erased
