"""Closed draws of a million ratings, by one INSERT for each table: copies of the rows that one rated item has."""

from collections.abc import Mapping

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from annotations.models import Annotation, Assignment, Draw, Slot, WaveItem
from projects.models import Item
from tests import factories
from tests.agreement import rows

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
            cursor.execute("SET LOCAL session_replication_role = replica")


def kept(ratings: int, *, raters: int = 2, strata: int = 0) -> Draw:
    """The draw of an earlier time, built now where there is none."""
    name = f"{ratings} ratings by {raters}" + (f" in {strata} strata" if strata else "")
    found = Draw.objects.filter(wave__project__name=name).first()
    if found is None:
        found = build(name, ratings, raters=raters, strata=strata)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")  # as autovacuum would have done by then
    return found


@transaction.atomic
def build(name: str, ratings: int, *, raters: int, strata: int) -> Draw:
    """A closed draw of `ratings` ratings by `raters` people who take turns in pairs."""
    project = factories.project(name)
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
    draw.refresh_from_db()
    return draw
