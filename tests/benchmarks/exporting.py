"""How fast ratings become a file: `CONCORD_BENCH=FOLDER python -m tests.benchmarks.exporting [SIZE …] [again]`.

A wave of SIZE items, each rated once by one of ten people, is written past the application and kept; then the job of an
export makes its file, as CSV and as JSONL. Rows per second and peak memory, which must not grow with the project.
"""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from tests.benchmarks import kept

SECONDS_FOR_100_000, MOST_MEGABYTES = 4, 250
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CHUNK = 20_000


def run(size: int, step: str) -> None:
    kept.ready()
    if step == "rate":
        _rate(size)
        kept.finish({"ratings": size})
        return
    from annotations import exporting
    from projects import jobs

    project = _project(size)
    lead = project.memberships.get(is_lead=True)
    job = exporting.start(project, what="ratings", file_format=step, by=lead)
    found: dict[str, Any] = {}
    with kept.clocked(found, "export"):
        job = jobs.work_now(job)
    if job.state != "done":
        raise SystemExit(f"The export ended as {job.state}: {job.message}")
    kept.finish({**found, "rows": job.result["rows"], "bytes": job.result["size"]})


def _project(size: int) -> Any:
    from projects.models import Project

    return Project.objects.get_or_create(name=f"{size:,} ratings", defaults={"shown_fields": ["text"]})[0]


def _rate(size: int) -> None:
    """Rows of six tables, in chunks that stand by themselves: what is there from a run that was stopped stays."""
    from django.db import connection, transaction

    from annotations.models import Annotation, Assignment, Revision, Slot, Wave, WaveItem
    from projects import bulk
    from projects.models import Batch, Item
    from tests.benchmarks import teams

    project = _project(size)
    version = teams.published(project)
    lead = teams.lead_of(project)
    raters = [member.pk for member in teams.members(project, 10, f"x{size}-")]
    batch = Batch.objects.get_or_create(project=project, name="ratings", format="jsonl", size=size)[0]
    wave = Wave.objects.get_or_create(
        project=project,
        number=1,
        defaults={
            "version": version, "major": 1, "state": "closed", "share_percent": 0, "ratings_per_item": 2, "size": size,
            "window_submits": 10, "window_minutes": 30, "lease_minutes": 30, "opened_at": AT, "opened_by": lead,
        },
    )[0]  # fmt: skip
    uuid = Item._meta.get_field("uuid")

    def stored(value: Any) -> Any:
        return uuid.get_db_prep_value(value, connection)

    moment = connection.ops.adapt_datetimefield_value(AT)
    answers = json.dumps({"intent": "praise"})
    done = Annotation.objects.filter(item__project=project).count()
    while done < size:
        count = min(CHUNK, size - done)
        with transaction.atomic():
            items = [
                Item(
                    project=project,
                    batch=batch,
                    number=done + number,
                    external_id=f"e{done + number}",
                    content={"text": f"{done + number} says something of its own"},
                    content_hash=f"{done + number:064}",
                    folded_hash=f"{done + number:024}",
                )
                for number in range(count)
            ]
            items = Item.objects.bulk_create(items)
            places = WaveItem.objects.bulk_create(WaveItem(wave=wave, item=i, needed=1, rated=1) for i in items)
            slots = Slot.objects.bulk_create(
                Slot(wave=wave, wave_item=p, item_id=p.item_id, kind="single", state="rated", queue=-1, key=p.pk)
                for p in places
            )
            met = Assignment.objects.bulk_create(
                Assignment(
                    slot=s, wave_item_id=s.wave_item_id, item_id=s.item_id, member_id=raters[n % 10], major=1,
                    version=version, state="submitted", served_at=AT, ended_at=AT + timedelta(seconds=9),
                )
                for n, s in enumerate(slots)
            )  # fmt: skip
            bulk.insert(
                Annotation,
                (
                    *("uuid", "assignment", "slot", "wave_item", "item", "member", "version", "major", "seq"),
                    *("answers", "latest", "comment", "revisions_count", "submitted_at", "measured_at"),
                    *("window_ends", "seconds"),
                ),
                (
                    (
                        *(stored(uuid4()), a.pk, a.slot_id, a.wave_item_id, a.item_id, a.member_id, version.pk, 1),
                        *((done + n) // 10 + 1, answers, answers, "", 1, moment, moment, moment, 9.0),
                    )
                    for n, a in enumerate(met)
                ),
            )
            given = Annotation.objects.filter(assignment__in=[met[0].pk]).values_list("pk", flat=True)[0]
            bulk.insert(
                Revision,
                ("annotation", "number", "answers", "comment", "version", "by", "at", "in_window"),
                ((given + n, 1, answers, "", version.pk, a.member_id, moment, True) for n, a in enumerate(met)),
            )
        done += count
    bulk.refresh_statistics(Item, WaveItem, Slot, Assignment, Annotation, Revision)


def main() -> None:
    asked = kept.arguments(run)
    if asked is None:
        return
    sizes, again = asked
    print(f"Export of ratings. {kept.machine()}")
    print(f"{'ratings':>10} {'format':>7} {'rows/s':>8} {'seconds (cpu, server)':>25} {'file MB':>8} {'peak MB':>8}")
    peaks = []
    for size in sizes:
        start = time.monotonic()
        kept.measured(__spec__.name, size, "rate")
        if time.monotonic() - start > 5:
            print(f"           (rated in {time.monotonic() - start:.0f} s)", flush=True)
        for made in ("csv", "jsonl"):
            found = kept.measured(__spec__.name, size, made, again=again)
            peaks.append(found["peak"])
            seconds = found["export"]["seconds"]
            print(
                f"{size:10,} {made:>7} {found['rows'] / seconds:8,.0f} {kept.part(found['export'])} "
                f"{found['bytes'] / kept.MEGABYTE:8.0f} {found['peak']:8.0f}",
                flush=True,
            )
            if size == 100_000:
                said = f"100,000 ratings in {seconds:.1f} s (at most {SECONDS_FOR_100_000})"
                print(f"{'reached' if seconds <= SECONDS_FOR_100_000 else 'MISSED':>10}  {said}")
    said = f"{max(peaks):.0f} MB at most (of {MOST_MEGABYTES}), {max(peaks) / min(peaks):.2f} times the least"
    print(f"{'reached' if max(peaks) <= MOST_MEGABYTES else 'MISSED':>10}  {said}")


if __name__ == "__main__":
    main()
