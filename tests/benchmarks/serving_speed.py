"""How long an annotator waits for the next item: `python -m tests.benchmarks.serving_speed [ITEMS …]`.

Two people label 300 items of a wave, in turns, in a database of the benchmark's own (SQLite with `synchronous=FULL`, or
the server in DATABASE_URL). Serving is meant to cost the same whatever the project's size, so the rows should agree.
"""

import os
import sys
import time
from datetime import timedelta
from decimal import Decimal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.test_settings")

import django

django.setup()

from django.db import connection
from django.test.utils import setup_databases, teardown_databases

from annotations import labelling, releasing, serving
from tests import factories

SIZES = (1_000, 10_000, 100_000)
LABELLED = 300


def measure(size: int) -> tuple[float, list[float], list[float]]:
    """Seconds to open a wave of `size` items; milliseconds of every `next_task` and every `submit`."""
    project = factories.project(f"{size} items")
    factories.version(project)
    lead = factories.member(project, "lea", "lead")
    team = [factories.member(project, name) for name in ("anna", "ben")]
    for part in range(size // 1000):
        factories.items(project, 1000, prefix=f"part {part} item")
    start = time.perf_counter()
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(10))
    opened = time.perf_counter() - start
    served, saved = [], []
    for turn in range(LABELLED):
        member, at = team[turn % 2], factories.NOW + timedelta(seconds=10 * turn)
        start = time.perf_counter()
        task = serving.next_task(member, at=at)
        served.append(1000 * (time.perf_counter() - start))
        assert isinstance(task, serving.Task)
        start = time.perf_counter()
        labelling.submit(member, task.assignment, answers={"intent": "praise"}, at=at)
        saved.append(1000 * (time.perf_counter() - start))
    return opened, served, saved


def row(times: list[float]) -> str:
    ranked = sorted(times)
    return f"{ranked[len(ranked) // 2]:8.1f} {ranked[int(len(ranked) * 0.95)]:8.1f}"


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        print(f"{connection.vendor}; milliseconds, median and 95 %, of {LABELLED} labels in a wave")
        print(f"{'items':>9} {'wave opens':>11} {'next item':>17} {'submit':>17}")
        for size in sizes:
            opened, served, saved = measure(size)
            print(f"{size:9,} {opened:9.1f} s {row(served)} {row(saved)}", flush=True)
    finally:
        teardown_databases(databases, verbosity=0)


if __name__ == "__main__":
    main()
