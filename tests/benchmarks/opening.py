"""What opening a wave of all items costs: `CONCORD_BENCH=FOLDER python -m tests.benchmarks.opening [SIZE …] [again]`.

In the project that `tests.benchmarks.importing` filled (which this does first where it is missing): count what is
fresh, decide the draw, fill the wave with its slots. Overlap is 10 %.
"""

from decimal import Decimal
from typing import Any

from tests.benchmarks import importing, kept


def run(size: int, _step: str) -> None:
    kept.ready()
    from django.utils import timezone

    from annotations import eligibility, releasing
    from tests import factories

    project = kept.project(size)
    empty(project)
    if not project.versions.exists():
        factories.version(project)
    lead = project.memberships.filter(is_lead=True).first() or factories.member(project, f"lea{size}", "lead")
    found: dict[str, Any] = {"items": project.items.count()}
    with kept.clocked(found, "count"):
        eligibility.eligible(project).count()
    with kept.clocked(found, "plan"):
        wave = releasing.plan_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(10))
    found["peak of plan"] = kept.peak_megabytes()
    with kept.clocked(found, "fill"):
        releasing.fill_wave(wave)
    assert wave.state == "open"
    kept.finish(found)


def empty(project: Any) -> None:
    """Take back what an earlier run has opened."""
    from annotations import models

    for model, path in (
        (models.Revision, "annotation__item__project"),
        (models.Annotation, "item__project"),
        (models.Assignment, "item__project"),
        (models.Slot, "wave__project"),
        (models.WaveItem, "wave__project"),
        (models.Draw, "wave__project"),
        (models.Wave, "project"),
    ):
        rows = model.objects.filter(**{path: project})
        rows._raw_delete(rows.db)  # past Django's collector, which would load every row


def main() -> None:
    asked = kept.arguments(run)
    if asked is None:
        return
    sizes, again = asked
    print(f"Opening a wave of all items. {kept.machine()}")
    print(f"{'items':>10} {'count fresh':>25} {'plan (cpu, server)':>25} {'MB':>6} {'fill':>25} {'MB':>6}")
    for size in sizes:
        importing.result(size)
        found = kept.measured("tests.benchmarks.opening", size, "open", again=again)
        print(
            f"{found['items']:10,} {kept.part(found['count'])} {kept.part(found['plan'])} {found['peak of plan']:6.0f} "
            f"{kept.part(found['fill'])} {found['peak']:6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
