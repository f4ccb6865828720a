"""A whole recomputation against its bare grouped query: `python -m tests.benchmarks.agreement_database [RATINGS …]`.

Closed draws of two ratings an item, in databases of the benchmark's own (SQLite, or beside the one of DATABASE_URL):
built once and kept in the folder that CONCORD_BENCH names, thrown away where none is named. The bare query is the one
that counts the rating patterns, fetched and thrown away. It fails where, at a million ratings, the whole takes more
than 1.5 times of it, or where memory grows from the second largest number of ratings to the largest. (Below it rare
patterns are still being met for the first time.) Memory is that of a process that recomputes once; SQLite's page cache,
which is full sooner or later and no larger than the settings say, is kept small for that.
"""

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks import kept

RATINGS = (10_000, 100_000, 1_000_000)
LARGE = 1_000_000
WANTED = 1.5
# Megabytes by which the peak of the largest draw may lie above that of the next one: allocators have their moods.
LEEWAY = 8.0
SMALL_CACHE = 1_000  # KiB
TIMES = 5
MODULE, APART = "tests.benchmarks.agreement_database", "agreement"
# What each step measures: how it is called, and how its draw is built.
SETTINGS: dict[str, tuple[str, dict[str, int]]] = {
    "two": ("two raters", {}),
    "strata": ("two raters, four strata", {"strata": 4}),
    "turns": ("20 raters in turns", {"raters": 20}),
}


def run(size: int, step: str) -> None:
    """In a process of its own: build the draw of a setting where it is missing, or measure it."""
    work, _, setting = step.partition("-")
    kept.ready()
    from tests.benchmarks import rated_draws

    _title, how = SETTINGS[setting]
    found: dict[str, Any] = {}
    if work == "build":
        with kept.clocked(found, "build"):
            rated_draws.kept(size, **how)
    elif work == "memory":
        found |= memory(rated_draws.kept(size, **how))
    else:
        found |= measure(rated_draws.kept(size, **how))
    kept.finish(found)


def measure(draw: Any) -> dict[str, Any]:
    """Seconds of the bare query and of the whole, and how much the whole writes."""
    bare, whole = seconds(pattern_query(draw), recomputation(draw))
    written = sum(len(json.dumps(result)) for result in draw.runs.values_list("result", flat=True))
    return {"bare": bare, "whole": whole, "written": written}


def memory(draw: Any) -> dict[str, float]:
    """Megabytes: the most that the process has had after one recomputation, and what Python takes for another."""
    from django.db import connection

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA cache_size=-{SMALL_CACHE}")
    compute = recomputation(draw)
    compute()
    # Before memory is traced, which takes memory itself.
    process = kept.peak_megabytes()
    return {"process": process, "python": traced_megabytes(compute)}


def pattern_query(draw: Any) -> Callable[[], object]:
    """The statement that counts the patterns, as it is sent."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from agreement import matrices
    from tests import factories

    question, raters = matrices.questions(draw)[0], matrices.raters(draw)
    with CaptureQueriesContext(connection) as captured:
        matrices.of(draw, question, by=raters, at=factories.NOW)
    sql = max((each["sql"] for each in captured.captured_queries), key=len)

    def fetch() -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            cursor.fetchall()

    return fetch


def recomputation(draw: Any) -> Callable[[], object]:
    """All that the sweep does with a draw whose figures nobody has computed yet."""
    from agreement import runs
    from agreement.models import GateDecision, Run, Watch
    from tests import factories

    def compute() -> None:
        for model in (Run, Watch, GateDecision):
            model.objects.filter(draw=draw).delete()
        runs.compute(draw, at=factories.NOW)

    return compute


def seconds(*works: Callable[[], object], times: int = TIMES) -> list[float]:
    """The best of several times of each, in turns, so that a busy machine slows all of them alike."""
    best = [float("inf")] * len(works)
    for _ in range(times):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def traced_megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def missed(title: str, found: dict[int, dict[str, Any]]) -> Iterator[str]:
    """What is wanted of a setting and not reached; `found` by number of ratings."""
    for ratings, each in found.items():
        if ratings >= LARGE and each["whole"] > WANTED * each["bare"]:
            yield f"{title}: the whole takes {each['whole'] / each['bare']:.2f} times its query, {WANTED} wanted"
    if len(found) < 2:
        return
    for name in ("python", "process"):
        *_, before, most = (found[ratings][name] for ratings in sorted(found))
        if most > before + LEEWAY:
            yield f"{title}: memory ({name}) grows from {before:.0f} to {most:.0f} MB"


def line(title: str, ratings: int, each: dict[str, Any]) -> str:
    return (
        f"{ratings:10,} ratings, {title:<24} bare query {each['bare']:6.2f} s   whole {each['whole']:6.2f} s"
        f"   {each['whole'] / each['bare']:5.2f}x   {each['python']:4.0f} MB in Python, {each['process']:4.0f} in all"
        f"   {each['written'] / 1024:5.0f} KB kept"
    )


def main() -> int | None:
    asked = kept.arguments(run, RATINGS)
    if asked is None:
        return None
    sizes, _again = asked
    print(f"A whole recomputation against its query, best of {TIMES}. {kept.machine()}", flush=True)
    not_reached: list[str] = []
    with kept.somewhere(APART, sizes):
        for setting, (title, _how) in SETTINGS.items():
            found = {}
            for size in sizes:
                kept.measured(MODULE, size, f"build-{setting}", again=True, apart=APART)
                found[size] = kept.measured(MODULE, size, f"measure-{setting}", again=True, apart=APART)
                found[size] |= kept.measured(MODULE, size, f"memory-{setting}", again=True, apart=APART)
                print(line(title, size, found[size]), flush=True)
            not_reached += missed(title, found)
    print("\n".join(f"MISSED: {each}" for each in not_reached) or "Everything that is wanted is reached.")
    return 1 if not_reached else 0


if __name__ == "__main__":
    raise SystemExit(main())
