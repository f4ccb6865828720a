"""Opening a wave: what it would mean, and one from many items as a job."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import eligibility, panels, releasing, rules, strata
from annotations.enums import WaveState
from annotations.models import Split, Wave
from annotations.panels import Declared
from annotations.sampling import Plan
from projects import guidelines, jobs
from projects.enums import JobKind, JobState
from projects.errors import DomainError, Invalid
from projects.models import GuidelineVersion, Item, Job, Membership, Project

AT_ONCE = 5_000  # fresh items: a second or two of a request; more is left to the worker


def open_wave(
    project: Project,
    *,
    by: Membership,
    at: datetime,
    size: int | None = None,
    share_percent: Decimal | None = None,
    ratings_per_item: int | None = None,
    pilot: bool = False,
    **choices: Any,
) -> Wave:
    """`releasing.open_wave`; from many items it is drawn and filled by the worker, and comes back in state `opening`.

    What can be refused at once is; the worker refuses the rest, and its job says why.
    """
    choices |= {"share_percent": share_percent, "ratings_per_item": ratings_per_item, "pilot": pilot}
    if not _are_many(project):
        return releasing.open_wave(project, by=by, at=at, size=size, **choices)
    with transaction.atomic():
        wave, protocol = releasing.announce_wave(project, by=by, at=at, **choices)
        releasing.refuse_size(project, size)
        enqueue(wave, by=by, at=at, protocol=protocol, size=size)
    return wave


def open_panels(
    project: Project, declared: Sequence[Declared], *, by: Membership, at: datetime, size: int | None, **choices: Any
) -> list[Wave]:
    """`panels.open_waves`; of many items the waves come back in state `opening`, for the worker to draw and fill."""
    if not _are_many(project):
        return panels.open_waves(project, declared, by=by, at=at, size=size, **choices)
    with transaction.atomic():
        split, protocol = panels.announce(project, declared, by=by, at=at, **choices)
        releasing.refuse_size(project, size)
        found = panels.waves_of(split)
        for wave in found:  # each is filled by a job of its own; the first of them draws for all
            enqueue(wave, by=by, at=at, protocol=protocol, size=size, split=str(split.uuid))
    return found


def _are_many(project: Project) -> bool:
    """Whether so many items are fresh that a look at all of them is too long for a request."""
    return len(eligibility.eligible(project).values_list("pk")[: AT_ONCE + 1]) > AT_ONCE


def run(job: Job) -> None:
    """Draw and fill the wave of a job. What is drawn stays drawn and what is filled filled, so that it may start again,
    also in another worker while this one is still at it."""
    wave = Wave.unseen.select_related("project").get(project=job.project_id, uuid=job.params["wave"])
    if protocol := job.params.get("protocol"):
        _draw(wave, protocol, job.params)

    def beat(done: int) -> None:
        jobs.hold(job)
        jobs.progress(job, done, wave.size)

    releasing.fill_wave(wave, beat=beat)


def _draw(wave: Wave, protocol: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Draw the wave, and the panels that were announced with it; where that cannot be, they are called off together."""
    split = Split.objects.filter(uuid=params["split"]).first() if params.get("split") else None
    try:
        if split is None:
            releasing.draw_wave(wave, protocol, size=params["size"])
        else:
            panels.draw(split, protocol, size=params["size"])
            panels.refuse_undrawn(split)
    except DomainError:
        for one in [wave] if split is None else panels.waves_of(split):
            releasing.call_off(one, at=timezone.now())
        raise
    wave.refresh_from_db()


def job_of(wave: Wave) -> Job | None:
    """The job that opens `wave`, where there is one."""
    found = wave.project.jobs.filter(kind=JobKind.OPEN_WAVE, params__wave=str(wave.uuid))
    return found.select_related("project").order_by("-pk").first()


@transaction.atomic
def resume(wave: Wave, *, by: Membership, at: datetime) -> None:
    """Go on with an opening that was cut off: a job that failed, or a server that was stopped in the middle."""
    row = Wave.unseen.select_for_update().select_related("project").get(pk=wave.pk)
    job = job_of(row)
    if row.state != WaveState.OPENING or (job is not None and job.is_unfinished):
        raise DomainError(_("This wave is open already, or is just being opened."), code="not_stuck")
    if job is not None and job.state in (JobState.FAILED, JobState.CANCELLED):
        jobs.again(job)
    else:
        enqueue(row, by=by, at=at)


def enqueue(wave: Wave, *, by: Membership, at: datetime, **params: Any) -> None:
    jobs.create(wave.project, JobKind.OPEN_WAVE, params={"wave": str(wave.uuid), **params}, by=by, at=at)


# -- what it would mean ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stratum:
    """What a draw would take of one stratum; `percent` is the probability of each of its items."""

    name: str
    items: int
    overlap: int

    @property
    def percent(self) -> float:
        return 100 * self.overlap / self.items


@dataclass(frozen=True)
class Forecast:
    """What opening a wave would do, in sentences; `warnings` are no obstacle, `obstacle` is one."""

    sentences: list[str]
    warnings: list[str]
    obstacle: str = ""
    strata: Sequence["Stratum"] = ()


def forecast(
    project: Project,
    *,
    size: int | None,
    share_percent: Decimal,
    ratings_per_item: int,
    declared: Sequence[Declared] = (),
    **choices: Any,
) -> Forecast:
    """The wave with these choices, or the waves of these panels, if it were opened now."""
    version = guidelines.newest(project)
    if version is None:
        return Forecast([], [], _("The guideline is not published yet: publish its first version, then open a wave."))
    fresh = eligibility.eligible(project)
    there = fresh.count()
    released = there if size is None else size
    if not released or released > there:
        return Forecast([], [], _too_few(there, released))
    try:
        protocol = releasing.frozen_protocol(project, version, share_percent, ratings_per_item, choices)
        if declared:
            panels.refuse(project, declared, protocol)
            panels.refuse_size(declared, released)
    except Invalid as error:
        return Forecast([], [], error.message)
    available = _available(fresh, str(protocol.get("strata_field") or ""), released, there)
    plan = strata.plan(project, version.major or 0, protocol)
    counts = plan.counts(available)
    overlap = sum(counts.values())
    annotators = sum(len(one.members) for one in declared) or project.memberships.annotators().count()
    held = releasing.is_held(project, version, ratings_per_item)
    sentences = [
        ngettext(
            "%(n)s item is released for labelling under guideline %(version)s.",
            "%(n)s items are released for labelling under guideline %(version)s.",
            released,
        )
        % {"n": released, "version": version.number},
        _overlap_sentence(share_percent, overlap, ratings_per_item, released),
        _ratings_sentence(released - overlap + overlap * ratings_per_item, annotators),
    ]
    sentences += _expert_sentence(project, protocol, overlap, ratings_per_item)
    sentences += panels.sentences(declared, released) if declared else []
    warnings = _warnings(share_percent, overlap, ratings_per_item, annotators, held)
    if overlap and _asks_thirds(protocol, version):
        warnings += _no_third(ratings_per_item, annotators, declared)
    minimum = int(project.protocol["minimum_n"])
    judged = panels.smallest(declared, overlap)
    if 0 < judged < minimum:
        warnings.append(
            _(
                "The gate judges nothing below %(minimum)s measured items, and this overlap has %(overlap)s: it will "
                "say “not enough data”. Release more items, raise the share, or lower the smallest n in the protocol."
            )
            % {"minimum": minimum, "overlap": judged}
        )
    warnings += _strata_warnings(plan, available, counts)
    found = [Stratum(name or _("none given"), available[name], n) for name, n in counts.items()]
    return Forecast(sentences, warnings, strata=found if protocol.get("strata_field") else ())


def _available(fresh: QuerySet[Item], field: str, released: int, there: int) -> dict[str, int]:
    """Fresh items by stratum; of a wave that takes a part of them at random, what it can expect of each."""
    if not field:
        return {"": released}
    by_stratum = Counter(strata.stratum_of(metadata, field) for metadata in fresh.values_list("metadata", flat=True))
    if released == there:
        return dict(by_stratum)
    rest, expected = released, {}
    for place, (name, n) in enumerate(sorted(by_stratum.items(), key=lambda pair: pair[1])):
        last = place == len(by_stratum) - 1
        expected[name] = rest if last else round(released * n / there)
        rest -= expected[name]
    return {name: n for name, n in expected.items() if n}


def _asks_thirds(protocol: Mapping[str, Any], version: GuidelineVersion) -> bool:
    """Whether one more rater is asked about the conflicts of some question."""
    if not rules.any_rule(protocol):
        return False
    questions = version.questions.values_list("key", "task_type")
    return any(rules.effective(protocol, key, task_type) in rules.THIRDS for key, task_type in questions)


def _no_third(ratings: int, annotators: int, declared: Sequence[Declared]) -> list[str]:
    """A warning for each group of people that has nobody beside those who rate an overlap item."""
    if not declared:
        said = _(
            "The protocol gives a conflict to one more rater, and nobody is left for that: %(people)s, %(ratings)s "
            "ratings of each overlap item. Every conflict would go to a lead."
        )
        people = ngettext("%(n)s annotator", "%(n)s annotators", annotators) % {"n": annotators}
        return [said % {"people": people, "ratings": ratings}] if 0 < annotators <= ratings else []
    said = _(
        "The protocol gives a conflict to one more rater, and in panel %(name)s nobody is left for that: %(people)s, "
        "%(ratings)s ratings of each overlap item. Every conflict of it would go to a lead."
    )
    sizes = [(panels.letter(number), len(one.members)) for number, one in enumerate(declared, start=1)]
    return [
        said % {"name": name, "people": ngettext("%(n)s person", "%(n)s people", n) % {"n": n}, "ratings": ratings}
        for name, n in sizes
        if n <= ratings
    ]


def _strata_warnings(plan: Plan, available: Mapping[str, int], counts: Mapping[str, int]) -> list[str]:
    found = []
    absent = sorted(name for name in plan.own if name not in available)
    if absent:
        found.append(
            _("No fresh item has %(names)s: nothing of it can be over-sampled.")
            % {"names": ", ".join(f"“{name}”" for name in absent)}
        )
    below = [name for name in counts if counts[name] < min(plan.minimum, available[name])]
    if below:
        found.append(
            _(
                "The overlap is too small for %(minimum)s of each stratum: %(names)s would have fewer. Raise the share "
                "or release more items."
            )
            % {"minimum": plan.minimum, "names": ", ".join(f"“{name or _('none given')}”" for name in below)}
        )
    return found


def _too_few(fresh: int, needed: int) -> str:
    if not fresh:
        return _("No fresh item is left: import items first.")
    return ngettext(
        "Only %(fresh)s fresh item is there, and the wave needs %(needed)s: import more, or make it smaller.",
        "Only %(fresh)s fresh items are there, and the wave needs %(needed)s: import more, or make it smaller.",
        fresh,
    ) % {"fresh": fresh, "needed": needed}


def _overlap_sentence(share_percent: Decimal, overlap: int, ratings: int, released: int) -> str:
    if not share_percent:
        return _("None of them is rated twice: the wave is not measured.")
    if overlap == released:
        return _("All of them are rated by %(ratings)s people each. Raters know that they are measured.") % {
            "ratings": ratings
        }
    return ngettext(
        "The system draws %(n)s of them at random to be rated by %(ratings)s people each: the overlap. Nobody picks "
        "it, and nobody who labels sees it before the draw closes.",
        "The system draws %(n)s of them at random to be rated by %(ratings)s people each: the overlap. Nobody picks "
        "it, and nobody who labels sees it before the draw closes.",
        overlap,
    ) % {"n": overlap, "ratings": ratings}


def _expert_sentence(project: Project, protocol: Mapping[str, Any], overlap: int, ratings: int) -> list[str]:
    """What comes of naming an expert: nobody is made to rate, save where as many are named as there are ratings."""
    named = str(protocol.get("expert") or "")
    expert = project.memberships.annotators().filter(uuid=named).first() if named and overlap else None
    if expert is None:
        return []
    said = _(
        "The others are compared with %(name)s, on what %(name)s rates of the overlap. For all of it, give the wave to "
        "%(ratings)s people, %(name)s among them."
    )
    return [said % {"name": expert.name, "ratings": ratings}]


def _ratings_sentence(labels: int, annotators: int) -> str:
    total = ngettext("That makes %(n)s label", "That makes %(n)s labels", labels) % {"n": labels}
    if not annotators:
        return _("%(total)s.") % {"total": total}
    each = -(-labels // annotators)
    people = ngettext("%(n)s annotator", "%(n)s annotators", annotators) % {"n": annotators}
    return _("%(total)s, about %(each)s each for %(people)s.") % {"total": total, "each": each, "people": people}


def _warnings(share_percent: Decimal, overlap: int, ratings: int, annotators: int, held: bool) -> list[str]:
    found = []
    if not annotators:
        found.append(_("Nobody in the project is an annotator yet: add somebody, or nothing is labelled."))
    elif overlap and annotators < ratings:
        people = ngettext("%(n)s annotator", "%(n)s annotators", annotators) % {"n": annotators}
        found.append(
            _("The project has %(people)s, and every overlap item needs %(ratings)s: the draw waits until others join.")
            % {"people": people, "ratings": ratings}
        )
    if share_percent and not overlap:
        found.append(_("The share of so few items comes to none: nothing of this wave would be measured."))
    if held:
        found.append(
            _("It is held until the gate of the wave before it passes or is waived: nothing of it is served before.")
        )
    return found
