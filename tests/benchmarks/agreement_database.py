"""A whole recomputation against its bare grouped query: `python -m tests.benchmarks.agreement_database [RATINGS …]`.

A closed draw of two ratings an item, in a database of the benchmark's own (SQLite, or the server in DATABASE_URL). The
bare query is the one that counts the rating patterns, fetched and thrown away. Wanted: the whole within 1.5 times of
it, and memory that does not grow with the number of ratings.
"""

import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.test_settings")

import django

django.setup()

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model
from django.test.utils import CaptureQueriesContext, setup_databases, teardown_databases

from agreement import matrices, runs
from agreement.models import GateDecision, Run, Watch
from annotations.models import Annotation, Assignment, Draw, Slot, WaveItem
from projects.models import Item
from tests import factories
from tests.agreement import rows

RATINGS = (10_000, 100_000, 1_000_000)
WANTED = 1.5
FIRST = 10_000_000  # ids of the rows that are made here, far from those of the factories
UUID = {"sqlite": "lower(hex(randomblob(16)))", "postgresql": "gen_random_uuid()"}
ANSWERS = {"sqlite": "{}", "postgresql": "({})::jsonb"}


def clone(template: Model, n: int, columns: Mapping[str, str]) -> None:
    """`n` copies of a row, numbered `i` from 0; `columns` are the expressions of those that differ, "n" being `i`."""
    meta = template._meta
    names = [field.column for field in meta.concrete_fields]
    chosen = ", ".join(columns.get(name, f't."{name}"') for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    numbers = (
        f"WITH RECURSIVE numbers(n) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < {n - 1})"
    )
    made = f"SELECT {chosen} FROM numbers, {meta.db_table} t WHERE t.id = {template.pk}"
    with connection.cursor() as cursor:
        trust(cursor)
        # PostgreSQL and SQLite both take the table expression in front of the INSERT.
        cursor.execute(f"{numbers} INSERT INTO {meta.db_table} ({quoted}) {made}")


def trust(cursor: CursorWrapper) -> None:
    """Rows are copies of good ones: where the server allows it, foreign keys are not looked up a million times."""
    if connection.vendor == "postgresql":
        cursor.execute("SELECT usesuper FROM pg_user WHERE usename = current_user")
        if cursor.fetchone()[0]:
            cursor.execute("SET session_replication_role = replica")


def build(ratings: int, *, raters: int = 2, strata: int = 0) -> Draw:
    """A closed draw of `ratings` ratings by `raters` people who take turns in pairs."""
    project = factories.project(f"{ratings} ratings by {raters}")
    version = factories.version(project)
    lead = factories.member(project, "lea", "lead")
    team = [factories.member(project, f"rater{place}") for place in range(raters)]
    draw = rows.draw(
        version,
        [{team[0]: "praise", team[1]: "praise"}],
        by=lead,
        closing="complete",
        strata=["stratum 0"] if strata else (),
        strata_field="source" if strata else "",
    )
    n, new, start = ratings // 2, UUID[connection.vendor], FIRST * (1 + project.pk)
    item, row = Item.objects.get(project=project), draw.wave_items.get()
    clone(item, n, {"id": f"{start} + n", "uuid": new, "external_id": "'item ' || n", "number": "n + 2"})
    changed = {"id": f"{start} + n", "item_id": f"{start} + n"}
    clone(row, n, changed | ({"stratum": f"'stratum ' || (n % {strata})"} if strata else {}))
    members = "CASE {} " + " ".join(f"WHEN {place} THEN {member.pk}" for place, member in enumerate(team)) + " END"
    turn = f"n % {raters}", f"(n + 1 + (n / {raters}) % {raters - 1}) % {raters}"
    said = "n % 89 % 3", "(n % 89 + (CASE WHEN n % 97 < 15 THEN 1 ELSE 0 END)) % 3"
    labels = "'{{\"intent\": \"' || CASE {} WHEN 0 THEN 'praise' WHEN 1 THEN 'complaint' ELSE 'question' END || '\"}}'"
    # Items are rated in another order than they are stored in, as in a wave.
    rated = f"{start} + n * 7919 % {n}"
    for place, slot in enumerate(Slot.objects.filter(draw=draw).order_by("number")):
        common = {"id": f"{start} + {place * n} + n", "item_id": rated, "wave_item_id": rated}
        member = {"member_id": members.format(turn[place])}
        own = {"slot_id": common["id"], "assignment_id": common["id"], "uuid": new}
        answers = ANSWERS[connection.vendor].format(labels.format(said[place]))
        clone(slot, n, common)
        clone(Assignment.objects.get(slot=slot), n, common | member | own)
        more = {"answers": answers, "latest": answers, "seq": f"2 * n + {place + 2}"}
        clone(Annotation.objects.get(slot=slot), n, common | member | own | more)
    WaveItem.objects.filter(draw=draw).update(rated=2)
    Draw.objects.filter(pk=draw.pk).update(size=n + 1, population_size=n + 1)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE")  # as autovacuum would have done by then
    draw.refresh_from_db()
    return draw


def seconds(*works: Callable[[], object], times: int = 3) -> list[float]:
    """The best of several times of each, in turns, so that a busy machine slows all of them alike."""
    best = [float("inf")] * len(works)
    for _ in range(times):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def pattern_query(draw: Draw) -> Callable[[], object]:
    """The statement that counts the patterns, as it is sent."""
    question, raters = matrices.questions(draw)[0], matrices.raters(draw)
    with CaptureQueriesContext(connection) as captured:
        matrices.of(draw, question, by=raters, at=factories.NOW)
    sql = max((each["sql"] for each in captured.captured_queries), key=len)

    def fetch() -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            cursor.fetchall()

    return fetch


def recomputation(draw: Draw) -> Callable[[], object]:
    def compute() -> None:
        for model in (Run, Watch, GateDecision):
            model.objects.filter(draw=draw).delete()
        runs.compute(draw, at=factories.NOW)

    return compute


def peak_megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def report(draw: Draw, ratings: int, about: str) -> str:
    compute = recomputation(draw)
    bare, whole = seconds(pattern_query(draw), compute)
    peak = peak_megabytes(compute)
    mark = "" if ratings < 1_000_000 or whole <= WANTED * bare else f"  above the {WANTED}x wanted"
    return (
        f"{connection.vendor:<10} {ratings:9,} ratings, {about:<22} bare query {bare:6.2f} s   whole {whole:6.2f} s"
        f"   {whole / bare:5.2f}x   {peak:4.0f} MB in Python{mark}"
    )


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or RATINGS
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        for ratings in sizes:
            print(report(build(ratings), ratings, "two raters"), flush=True)
        print(report(build(sizes[-1], strata=4), sizes[-1], "two raters, four strata"), flush=True)
        print(report(build(sizes[-1], raters=20), sizes[-1], "20 raters in turns"), flush=True)
    finally:
        teardown_databases(databases, verbosity=0)


if __name__ == "__main__":
    main()
