"""How fast a JSONL file becomes items: `CONCORD_BENCH=FOLDER python -m tests.benchmarks.importing [SIZE …] [again]`.

From the upload to the batch that can be drawn from: read, check, stage, look for repeats, copy. Rows per second of the
whole, seconds of each part with the processor time of this process and of the database server, and peak memory, which
must not grow with the file. What was measured before is printed as it was, unless `again` is given.
"""

import resource
from typing import Any

from tests.benchmarks import kept


def run(size: int, _step: str) -> None:
    kept.ready(fresh=True)
    from django.core.files.base import File

    from projects import importing, jobs

    project = kept.project(size)
    found: dict[str, Any] = {"rows": size}
    with kept.clocked(found, "upload"), kept.rows_file(size).open("rb") as stream:
        job = importing.start(project, upload=File(stream, name="rows.jsonl"), by=None)
    with kept.clocked(found, "check"):
        job = jobs.work_now(job)
    made = importing.confirm(job, by=None)
    with kept.clocked(found, "copy"):
        made = jobs.work_now(made)
    if made.state != "done":
        raise SystemExit(f"The import ended as {made.state}: {made.message}")
    found["imported"] = made.result["imported"]
    found["written"] = resource.getrusage(resource.RUSAGE_SELF).ru_oublock * 512 / kept.MEGABYTE
    kept.finish(found)


def main() -> None:
    asked = kept.arguments(run)
    if asked is None:
        return
    sizes, again = asked
    print(f"Import of JSONL. {kept.machine()}")
    print(
        f"{'rows':>10} {'rows/s':>8} {'per cpu s':>9} {'upload':>7} {'check (cpu, server)':>25} {'copy':>25} {'MB':>6}"
    )
    for size in sizes:
        found = result(size, again=again)
        parts = [found[name] for name in ("upload", "check", "copy")]
        whole, busy = (sum(part[key] for part in parts) for key in ("seconds", "cpu"))
        print(
            f"{size:10,} {size / whole:8,.0f} {size / busy:9,.0f} {found['upload']['seconds']:7.1f} "
            f"{kept.part(found['check'])} {kept.part(found['copy'])} {found['peak']:6.0f}",
            flush=True,
        )


def result(size: int, *, again: bool = False) -> dict[str, Any]:
    """What an import of `size` rows came to; done now if it has not been."""
    kept.rows_file(size)
    return kept.measured("tests.benchmarks.importing", size, "import", again=again)


if __name__ == "__main__":
    main()
