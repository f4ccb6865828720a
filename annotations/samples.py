"""Samples of what was rated before, drawn by the server: opening one, ending it, and the proof of its draw.

A sample is a wave of its own kind: its slots are served, counted and cancelled as all others are, and it has no draw,
so that nothing of it is ever measured as agreement between raters.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import draws, sampling, terms
from annotations.enums import WaveKind, WaveState
from annotations.models import Draw, Repeat, Sample, Wave, WaveItem
from annotations.sampling import Candidate
from projects import access, activities, guidelines
from projects.enums import Action
from projects.errors import DomainError
from projects.models import GuidelineVersion, Membership, Project


@dataclass(frozen=True)
class Drawn:
    """A sample that was just drawn, and the uuids that it holds."""

    sample: Sample
    chosen: set[UUID]

    @property
    def wave(self) -> Wave:
        return self.sample.wave

    def place(self, uuid: UUID) -> int:
        """The place of a drawn one in the random order of serving."""
        order = sampling.order_key(bytes(self.sample.seed), uuid)
        return order >> (sampling.ORDER_KEY_BITS - 50)  # random ranks sort before the clock


def lock(project: Project, *, by: Membership) -> tuple[Project, GuidelineVersion]:
    """One opening at a time, by whoever runs the waves, under a published guideline; inside a transaction."""
    access.require(by, Action.RUN_WAVES)
    row = Project.objects.select_for_update().get(pk=project.pk)
    version = guidelines.newest(row)
    if version is None:
        raise DomainError(
            _("“%(project)s” has no published guideline, so nothing was rated yet: publish the first version.")
            % {"project": row.name},
            code="no_guideline",
        )
    return row, version


def draw(
    kind: WaveKind,
    population: Mapping[Candidate, Any],
    counts: Mapping[str, int],
    *,
    version: GuidelineVersion,
    choices: Mapping[str, Any],
    by: Membership,
    at: datetime,
    of: Wave | None = None,
) -> Drawn:
    """Make the seed, draw `counts` of each stratum of `population`, and write the wave and its sample; `lock` first."""
    seed, salt = secrets.token_bytes(32), secrets.token_bytes(32)
    chosen = sampling.choose(population, seed, counts)
    wave = _wave(kind, version, size=len(chosen), by=by, at=at)
    facts: dict[str, Any] = {"what": kind.value, "number": wave.number, "size": wave.size}
    activities.record("sample_opened", wave.project_id, by=by, subject=wave.uuid, at=at, **facts)
    sample = Sample.objects.create(
        wave=wave,
        of=of,
        choices=dict(choices) | {"counts": dict(counts)},
        seed=seed,
        salt=salt,
        commitment=sampling.commitment(salt, seed, sampling.population_digest(population)),
        population=sampling.pack_population(population),
        population_size=len(population),
        size=len(chosen),
    )
    return Drawn(sample, chosen)


def _wave(kind: WaveKind, version: GuidelineVersion, *, size: int, by: Membership, at: datetime) -> Wave:
    project = version.project
    number = Wave.unseen.filter(project=project, kind=kind).aggregate(last=Max("number"))["last"] or 0
    return Wave.objects.create(
        project=project,
        number=number + 1,
        version=version,
        major=version.major or 0,
        kind=kind,
        share_percent=0,
        ratings_per_item=1,
        size=size,
        **terms.of_major(project, version.major or 0),
        opened_at=at,
        opened_by=by,
    )


# -- looking at them ---------------------------------------------------------------------------------------------------


def of_project(project: Project) -> QuerySet[Wave]:
    """The samples of `project`, newest first, without the lists that they were drawn from.

    Third ratings are none: all conflicts of a draw get one, and the page of its wave says how far they are.
    """
    drawn = Wave.samples.filter(project=project).exclude(kind=WaveKind.TIEBREAK)
    rows = drawn.select_related("project", "version", "opened_by__user", "sample__of", "sample__ended_by__user")
    return rows.defer("sample__population", "sample__before").order_by("-pk")


def find(member: Membership, uuid: UUID) -> Wave:
    """A sample of the member's project; Http404."""
    wave = of_project(member.project).filter(uuid=uuid).first()
    if wave is None:
        raise Http404(_("There is no such sample in this project."))
    return wave


def may_see_figures(wave: Wave, member: Membership) -> bool:
    """Who still has repeats to give, or may be served a bridge, sees no figure of it before it has ended; and who may
    still rate the overlap of a wave learns nothing of what was said of its singles."""
    if wave.kind == WaveKind.SPOTCHECK:
        measured = Draw.objects.filter(wave=wave.sample.of).select_related("wave").defer("population").first()
        return measured is None or draws.may_see_figures(measured, member)
    if wave.state == WaveState.CLOSED:
        return True
    if wave.kind == WaveKind.REPEAT:
        return not Repeat.objects.filter(slot__wave=wave, member=member).exists()
    return wave.kind != WaveKind.BRIDGE or not access.allows(member, Action.LABEL)


def end(wave: Wave, *, by: Membership, at: datetime) -> None:
    """Ask for nothing more of a sample; what was given stays. DomainError where it has ended already."""
    access.require(by, Action.RUN_WAVES)
    if wave.state == WaveState.CLOSED:
        raise DomainError(_("This sample has ended already: nothing more of it is asked."), code="sample_ended")
    draws.close_wave(wave, by=by, at=at, reason="")
    Sample.objects.filter(wave=wave).update(ended_by=by)


# -- the proof ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proof:
    """Whether the record of a sample gives the sample again."""

    same: bool
    sentence: str


def verify(wave: Wave) -> Proof:
    """Draw again from the record and compare with the rows that were stored."""
    sample = Sample.objects.get(wave=wave)
    population = sampling.unpack_population(bytes(sample.population))
    digest = sampling.population_digest(population)
    if not sampling.verify(sample.commitment, bytes(sample.salt), bytes(sample.seed), digest):
        return Proof(False, _("Seed and population are not those that the commitment was made for."))
    drawn = sampling.choose(population, bytes(sample.seed), sample.choices["counts"])
    if wave.kind == WaveKind.REPEAT:
        stored = set(Repeat.objects.filter(slot__wave=wave).values_list("first__uuid", flat=True))
    else:
        stored = set(WaveItem.objects.filter(wave=wave).values_list("item__uuid", flat=True))
    if drawn != stored:
        odd = sorted(drawn ^ stored, key=str)[0]
        return Proof(False, _("Not the same set: %(uuid)s is in one and not in the other.") % {"uuid": odd})
    return Proof(True, _("The same set, drawn again from this record."))
