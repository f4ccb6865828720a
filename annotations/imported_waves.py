"""Ratings made elsewhere as a wave of this project: items, raters, slots, answers, and the cases of their conflicts.

Made in chunks, each whole or not at all, in a wave (state `importing`) that nobody sees; `made` in the job's params
says how far it is, so that whoever takes the job up goes on after the last chunk. At the end the wave is shown in one
transaction. It is closed from the beginning: no seed, no window, no gate, and its items are never fresh.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.utils.translation import gettext as _

from annotations import imported_ratings, imported_rows, ruling
from annotations.draws import THRESHOLDS
from annotations.enums import DrawState, WaveState
from annotations.imported_ratings import Making
from annotations.models import Annotation, Assignment, Draw, Revision, Slot, Wave, WaveItem
from annotations.rating_layouts import Layout
from projects import activities, importing, jobs, staging
from projects.errors import DomainError
from projects.models import Batch, GuidelineVersion, Item, Job, Membership, Project

REMOVED_AT_ONCE = 50  # items
# Numbers are given when a wave is shown; until then it has one that no other wave will ever have.
UNNUMBERED = 1_000_000_000


def run(job: Job) -> None:
    """The runner of RATINGS_IMPORT. Goes on where an earlier run ended."""
    preview = Job.objects.select_related("project").get(uuid=job.params["preview"], project=job.project)
    if not is_shown(job):
        making = _begin(job, preview)
        imported_ratings.copy(making, preview)
        _show(making)
    made = job.params["made"]
    job.result = {name: made[name] for name in ("wave", "batch", "items", "overlap", "ratings", "cases", "met")}
    imported_rows.clear(preview)
    importing.drop_file(preview)


def is_shown(made: Job) -> bool:
    """Whether the wave of an import can be seen; from then on it stays."""
    return bool(made.params.get("made", {}).get("shown"))


# -- beginning ---------------------------------------------------------------------------------------------------------


def _begin(job: Job, preview: Job) -> Making:
    """The hidden wave, its draw and its batch; made by the first run and found by the others."""
    layout = Layout.of(preview.params["layout"])
    with transaction.atomic():
        jobs.hold(job)
        project = Project.objects.select_for_update().get(jobs=preview)
        version = GuidelineVersion.objects.get(uuid=preview.params["version"], project=project)
        if "made" not in job.params:
            job.params["made"] = _make_wave(job, preview, layout, project, version)
            job.save(update_fields=["params"])
    made = job.params["made"]
    wave = Wave.unseen.select_related("version", "project").get(uuid=made["wave"], project=project)
    batch = Batch.objects.filter(uuid=made["batch"], project=project).first() if made["batch"] else None
    draw = Draw.unseen.get(wave=wave)
    return Making(job, layout, project, wave, draw, batch, imported_rows.questions(version))


def _make_wave(job: Job, preview: Job, layout: Layout, project: Project, version: GuidelineVersion) -> dict[str, Any]:
    if job.created_by is None:
        raise DomainError(_("Whoever asked for this import is no longer in the project: confirm it once more."))
    wave = Wave.unseen.create(
        project=project,
        number=UNNUMBERED + job.pk,
        version=version,
        major=version.major or 0,
        state=WaveState.IMPORTING,
        is_imported=True,
        share_percent=Decimal(0),
        ratings_per_item=1,
        window_submits=0,
        window_minutes=0,
        lease_minutes=0,
        opened_at=job.created_at,
        opened_by=job.created_by,
    )
    Draw.unseen.create(
        wave=wave,
        protocol=_protocol(project, version, layout, job.params.get("resolution_rule") or ""),
        seed=b"",
        salt=b"",
        population=b"",
        population_size=0,
        size=0,
        state=DrawState.IMPORTING,
        opened_at=job.created_at,
    )
    batch = _make_batch(job, preview, layout, project) if layout.shown else None
    return {
        "wave": str(wave.uuid),
        "batch": str(batch.uuid) if batch else "",
        "after": 0,
        "met": 0,
        "created": [],
    }


def _make_batch(job: Job, preview: Job, layout: Layout, project: Project) -> Batch:
    return Batch.objects.create(
        project=project,
        name=preview.params["name"],
        format=preview.params["format"],
        shown_fields=list(layout.shown),
        id_field=layout.id_field,
        metadata_fields=list(layout.metadata),
        ready=False,
        created_by=job.created_by,
        created_at=job.created_at,
    )


def _protocol(project: Project, version: GuidelineVersion, layout: Layout, rule: str) -> dict[str, Any]:
    """The project's terms without what needs a measurement that was planned; it says that it was chosen afterwards."""
    unset: dict[str, Any] = dict.fromkeys(THRESHOLDS)
    chosen = {"resolution_rule": rule} if rule else {}
    if rule:
        unset["resolution_rule"] = ""  # what was chosen for this wave holds for all its questions
    asked = {key: {**rule, **unset} for key, rule in project.protocol.get("questions", {}).items()}
    strata_field = project.protocol.get("strata_field", "")
    return {
        **project.protocol,
        **chosen,
        "share_percent": "0",
        "window_submits": 0,
        "window_minutes": 0,
        "questions": asked,
        "expert": "",  # whoever is named there rated none of these
        "strata_field": strata_field if strata_field in layout.metadata else "",
        "version": version.number,
        "task_types": dict(version.questions.values_list("key", "task_type")),
        "imported": True,
        "anonymous": layout.anonymous,
        "chosen": "after the data",
    }


# -- showing -----------------------------------------------------------------------------------------------------------


def _show(making: Making) -> None:
    """Number the wave, close it, open its cases: from here on everything of it can be seen."""
    job, wave, draw = making.job, making.wave, making.draw
    if not WaveItem.objects.filter(wave=wave).exists():
        remove_unfinished(job)
        raise DomainError(_("Nothing was left to import: the project has or gave out all of these items by now."))
    with transaction.atomic():
        jobs.hold(job)
        project = Project.objects.select_for_update().get(pk=wave.project_id)
        rows = WaveItem.objects.filter(wave=wave)
        totals = rows.aggregate(items=Count("pk"), overlap=Count("draw"), most=Max("needed"))
        wave.number = (project.waves.aggregate(last=Max("number"))["last"] or 0) + 1
        wave.size, wave.ratings_per_item, wave.state = totals["items"], totals["most"], WaveState.CLOSED
        wave.closed_at = making.at
        wave.save()
        cases = _close(draw, totals["overlap"], totals["most"], at=making.at)
        _show_items(making, project)
        made = job.params["made"]
        made |= {"shown": True, "items": totals["items"], "overlap": totals["overlap"], "cases": cases}
        made["ratings"] = Annotation.objects.filter(wave_item__wave=wave).count()
        facts = {"number": wave.number, "items": made["items"], "ratings": made["ratings"]}
        activities.record("ratings_imported", project, by=job.created_by, subject=wave.uuid, at=making.at, **facts)
        job.save(update_fields=["params"])


def _close(draw: Draw, overlap: int, most: int, *, at: datetime) -> int:
    """Close the draw and open its cases; how many. Without an item rated twice there is none."""
    if not overlap:
        draw.delete()
        return 0
    draw.size = draw.population_size = overlap
    draw.protocol = {**draw.protocol, "ratings_per_item": most}
    draw.state, draw.closed_at = DrawState.CLOSED, at
    draw.save()
    return ruling.open_cases(draw, at=at)


def _show_items(making: Making, project: Project) -> None:
    batch = making.batch
    if batch is None:
        return
    batch.size = Item.objects.filter(batch=batch).count()
    if not batch.size:  # the project had them all
        batch.delete()
        making.job.params["made"]["batch"] = ""
        return
    batch.ready = True
    batch.save(update_fields=["size", "ready"])
    if not project.shown_fields:
        project.shown_fields = list(making.layout.shown)
        project.save(update_fields=["shown_fields"])


def remove_unfinished(made: Job) -> None:
    """Delete what an import that was never shown has made; nobody has seen it, so nothing points to it."""
    state = made.params.get("made")
    if not state:
        return
    if is_shown(made):
        raise ValueError(f"The wave of job {made.uuid} is in use.")
    wave = Wave.unseen.filter(uuid=state["wave"], state=WaveState.IMPORTING).first()
    if wave is not None:
        _remove_rows(wave)
        Draw.unseen.filter(wave=wave).delete()
        wave.delete()
    batch = Batch.objects.filter(uuid=state["batch"]).first() if state["batch"] else None
    if batch is not None:
        staging.remove_unfinished(batch)
    Membership.objects.filter(pk__in=state["created"], user=None, assignments__isnull=True).delete()
    del made.params["made"]
    made.save(update_fields=["params"])


def _remove_rows(wave: Wave) -> None:
    while pks := list(WaveItem.objects.filter(wave=wave).order_by("pk").values_list("pk", flat=True)[:REMOVED_AT_ONCE]):
        with transaction.atomic():
            Revision.objects.filter(annotation__wave_item__in=pks).delete()
            for table in (Annotation, Assignment, Slot):
                table.objects.filter(wave_item__in=pks).delete()
            WaveItem.objects.filter(pk__in=pks).delete()
