"""Panels: items released at once to several groups of people, each group with a wave of its own (DESIGN §3 "By hand").

A lead says who is in which panel. Which items a panel gets is drawn by the system, with a seed of its own, and so is
each panel's overlap. All waves have one protocol, so that their closed draws pool, and the share is cumulative, so that
its total stays exact. Serving knows nothing of panels: each of their waves is given to named people.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import releasing, sampling
from annotations.enums import WaveState
from annotations.models import Given, Panel, Split, Wave, WaveItem
from annotations.sampling import Candidate
from projects import activities
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project

FEWEST, MOST = 2, 8
MOST_WEIGHT = 1_000


@dataclass(frozen=True)
class Declared:
    """A panel as a lead declares it: who is in it, and its part of the items beside the others' weights."""

    members: Sequence[Membership]
    weight: int = 1


# -- opening -----------------------------------------------------------------------------------------------------------


def open_waves(
    project: Project, panels: Sequence[Declared], *, by: Membership, at: datetime, size: int | None, **choices: Any
) -> list[Wave]:
    """Split `size` fresh items (all when None) among `panels`, and serve each its part, all of it or nothing.

    Raises what `releasing.open_wave` raises, and Invalid for panels that are none.
    """
    with transaction.atomic():
        split, protocol = announce(project, panels, by=by, at=at, **choices)
        draw(split, protocol, size=size)
    found = waves_of(split)
    for wave in found:
        releasing.fill_wave(wave)
    return found


@transaction.atomic
def announce(
    project: Project,
    panels: Sequence[Declared],
    *,
    by: Membership,
    at: datetime,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
    **choices: Any,
) -> tuple[Split, dict[str, Any]]:
    """A wave for each panel, in state `opening`, given to its people, without items yet; and their one protocol."""
    project = Project.objects.select_for_update().get(pk=project.pk)  # one opening at a time
    version = releasing.version_to_open(project)
    protocol = releasing.frozen_protocol(project, version, share_percent, ratings_per_item, choices)
    refuse(project, panels, protocol)
    split = Split.objects.create(
        project=project, seed=secrets.token_bytes(32), salt=secrets.token_bytes(32), at=at, by=by
    )
    for number, declared in enumerate(panels, start=1):
        wave = releasing.make_wave(project, version, protocol, pilot=pilot, by=by, at=at)
        Wave.objects.filter(pk=wave.pk).update(is_given=True)
        Given.objects.bulk_create(Given(wave=wave, member=one, by=by, at=at) for one in declared.members)
        facts: dict[str, Any] = {"number": wave.number, "people": len(declared.members)}
        activities.record("wave_given", project, by=by, subject=wave.uuid, at=at, **facts)
        uuids = sorted(str(one.uuid) for one in declared.members)
        Panel.objects.create(split=split, wave=wave, number=number, weight=declared.weight, members=uuids)
    return split, protocol


@transaction.atomic
def draw(split: Split, protocol: dict[str, Any], *, size: int | None) -> None:
    """Decide which panel has which items and which are their overlap, at once and once: a split that is drawn, or one
    of whose waves was ended, stays as it is."""
    project = Project.objects.select_for_update().get(pk=split.project_id)
    panels = list(split.panels.select_related("wave__project"))
    waiting = Wave.objects.select_for_update(of=("self",)).filter(panel__split=split, state=WaveState.OPENING, size=0)
    if len(list(waiting.values_list("pk", flat=True))) != len(panels):
        return
    population = releasing.population_of(project, protocol["strata_field"], size)
    refuse_size(panels, len(population))
    weights = [panel.weight for panel in panels]
    # Strata are the draws' business: the split is by item alone, and its record, too.
    _commit(split, [candidate._replace(stratum="") for candidate in population], weights)
    parts = sampling.split(population, bytes(split.seed), weights)
    for panel, part in zip(panels, parts, strict=True):
        releasing.draw_from(panel.wave, protocol, {candidate: population[candidate] for candidate in part})


def refuse_undrawn(split: Split) -> None:
    """Raise DomainError for a split that `draw` left as it was because a wave of it was ended before."""
    split.refresh_from_db(fields=["commitment"])
    if not split.commitment:
        raise DomainError(
            _(
                "The items were not split among these panels, because a wave of theirs was ended or called off before: "
                "nothing is released to any of them. Open the panels again."
            ),
            code="not_drawn",
        )


def _commit(split: Split, population: Sequence[Candidate], weights: Sequence[int]) -> None:
    digest = sampling.record_digest(sampling.population_digest(population), {"weights": list(weights)})
    split.commitment = sampling.commitment(bytes(split.salt), bytes(split.seed), digest)
    split.population = sampling.pack_population(population)
    split.population_size = len(population)
    split.save(update_fields=["commitment", "population", "population_size"])


def waves_of(split: Split) -> list[Wave]:
    """The waves of a split, panel by panel."""
    return list(Wave.objects.filter(panel__split=split).order_by("panel__number"))


def of_wave(wave: Wave) -> Panel | None:
    """The panel that a wave is for, if it is for one."""
    return Panel.objects.select_related("split").filter(wave=wave).first()


def beside(panel: Panel) -> list[Panel]:
    """All panels of the same split, with their waves."""
    return list(panel.split.panels.select_related("wave"))


# -- what is refused ---------------------------------------------------------------------------------------------------


def refuse(project: Project, panels: Sequence[Declared], protocol: Mapping[str, Any]) -> None:
    """Raise Invalid, with the panel and its numbers, for panels that cannot be opened under this protocol."""
    if not FEWEST <= len(panels) <= MOST:
        raise Invalid(
            ngettext(
                "%(n)s panel is declared: expected %(fewest)s to %(most)s, or none for everybody.",
                "%(n)s panels are declared: expected %(fewest)s to %(most)s, or none for everybody.",
                len(panels),
            )
            % {"n": len(panels), "fewest": FEWEST, "most": MOST}
        )
    if protocol.get("expert"):
        raise Invalid(
            _(
                "An expert is compared with those who rate the same items, which only the expert’s own panel would: "
                "open panels without an expert, or one wave with one."
            )
        )
    _refuse_people(project, panels)
    measured = Decimal(str(protocol["share_percent"])) > 0
    needed = int(protocol["ratings_per_item"]) if measured else 1
    for number, panel in enumerate(panels, start=1):
        _refuse_panel(letter(number), panel, needed)


def _refuse_people(project: Project, panels: Sequence[Declared]) -> None:
    known = set(project.memberships.annotators().values_list("pk", flat=True))
    seen: set[int] = set()
    for member in (one for panel in panels for one in panel.members):
        if member.pk not in known:
            raise Invalid(_("%(names)s does not label in this project.") % {"names": member.name})
        if member.pk in seen:
            raise Invalid(_("%(name)s is named twice: one person is in one panel.") % {"name": member.name})
        seen.add(member.pk)


def _refuse_panel(name: str, panel: Declared, needed: int) -> None:
    if not 1 <= panel.weight <= MOST_WEIGHT:
        raise Invalid(
            _("Panel %(name)s has weight %(weight)s: expected 1 to %(most)s.")
            % {"name": name, "weight": panel.weight, "most": MOST_WEIGHT}
        )
    if len(panel.members) < needed:
        people = ngettext("%(n)s person", "%(n)s people", len(panel.members)) % {"n": len(panel.members)}
        raise Invalid(
            _("Panel %(name)s has %(people)s, and every overlap item needs %(needed)s: put others into it.")
            % {"name": name, "people": people, "needed": needed}
        )


def refuse_size(panels: Sequence[Panel] | Sequence[Declared], items: int) -> None:
    """Raise Invalid where a panel would get no item."""
    sizes = sampling.split_sizes(items, [panel.weight for panel in panels])
    if min(sizes) < 1:
        raise Invalid(
            ngettext(
                "%(items)s item for %(panels)s panels of these weights leaves none for panel %(name)s: release more.",
                "%(items)s items for %(panels)s panels of these weights leave none for panel %(name)s: release more.",
                items,
            )
            % {"items": items, "panels": len(panels), "name": letter(sizes.index(min(sizes)) + 1)}
        )


def letter(number: int) -> str:
    return Panel(number=number).letter


# -- what it would mean ------------------------------------------------------------------------------------------------


def declared(project: Project, panels: Sequence[tuple[Sequence[UUID], int]]) -> list[Declared]:
    """The panels of these people, by uuid; raises Invalid for somebody who does not label here."""
    known = {one.uuid: one for one in project.memberships.annotators().select_related("user")}
    strange = [str(uuid) for uuids, _weight in panels for uuid in uuids if uuid not in known]
    if strange:
        raise Invalid(_("%(names)s does not label in this project.") % {"names": strange[0]})
    return [Declared([known[uuid] for uuid in uuids], weight) for uuids, weight in panels]


def smallest(panels: Sequence[Declared], overlap: int) -> int:
    """About how much of the overlap falls to the panel with the least of it; all of it where there are no panels."""
    return min(sampling.split_sizes(overlap, [panel.weight for panel in panels])) if panels else overlap


def sentences(panels: Sequence[Declared], items: int) -> list[str]:
    """What each panel would get, in words. Of the overlap it says nothing: how much of it falls to whom is chance."""
    sizes = sampling.split_sizes(items, [panel.weight for panel in panels])
    found = [
        ngettext(
            "Panel %(name)s, %(people)s, gets %(n)s of them as a wave of its own.",
            "Panel %(name)s, %(people)s, gets %(n)s of them as a wave of its own.",
            size,
        )
        % {
            "name": letter(number),
            "people": ", ".join(sorted(one.name for one in panel.members)),
            "n": size,
        }
        for number, (panel, size) in enumerate(zip(panels, sizes, strict=True), start=1)
    ]
    return [
        *found,
        _(
            "Which items a panel gets is drawn at random, and the overlap inside each panel, too. The gate judges each "
            "panel by itself; the figures of their closed draws pool."
        ),
    ]


# -- the proof ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proof:
    """Whether a wave holds what the split gave its panel."""

    same: bool
    sentence: str


def verify(panel: Panel) -> Proof:
    """Split the items again from the record, and compare the panel's part with the rows of its wave."""
    split = panel.split
    weights = list(split.panels.order_by("number").values_list("weight", flat=True))
    population = sampling.unpack_population(bytes(split.population))
    stored = set(WaveItem.objects.filter(wave=panel.wave_id).values_list("item__uuid", flat=True))
    return replay(
        population,
        weights,
        {panel.number: stored},
        seed=bytes(split.seed),
        salt=bytes(split.salt),
        commitment=split.commitment,
    )


def replay(
    population: Sequence[Candidate],
    weights: Sequence[int],
    parts: Mapping[int, set[UUID]],
    *,
    seed: bytes,
    salt: bytes,
    commitment: str,
) -> Proof:
    """Split again from a record alone; `parts` are the items that panels, by number, were found to have."""
    digest = sampling.record_digest(sampling.population_digest(population), {"weights": list(weights)})
    if not sampling.verify(commitment, salt, seed, digest):
        return Proof(False, _("The split into panels: the commitment does not match seed, weights and items."))
    pieces = sampling.split(population, seed, weights)
    for number, stored in sorted(parts.items()):
        odd = sorted(stored ^ {one.uuid for one in pieces[number - 1]}, key=str)
        if odd:
            said = _("The split into panels: item %(uuid)s is in panel %(name)s or in its record, and not in both.")
            return Proof(False, said % {"uuid": odd[0], "name": letter(number)})
    said = _("The split into %(panels)s panels replays, too: %(n)s of %(size)s items.")
    n = sum(len(stored) for stored in parts.values())
    return Proof(True, said % {"panels": len(weights), "n": n, "size": len(population)})
