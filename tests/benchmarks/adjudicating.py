"""What the pages of a lead cost with many open conflicts: `python -m tests.benchmarks.adjudicating [SIZE …] [again]`.

For each size (100 and 10,000 unless given) a wave is rated by three people and closed, so that each of its items is an
open conflict, in three strata; every page that a lead works with is asked for over the product's own stack of views
(Django's test client, without a socket). Printed are the milliseconds of processor time (here and in the database's
server; p50), how many times those of the smallest size that is, and the queries of each. `CONCORD_BENCH` keeps the
projects, `DATABASE_URL` names another database than SQLite.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.benchmarks import kept

SIZES = (100, 10_000)
TIMES = 9
VALUES = (
    ("complaint", "praise", "praise"),
    ("complaint", "question", "complaint"),
    ("praise", "question", "question"),
    ("complaint", "praise", "question"),
)
DECISION = {"value": "praise", "rationale": "It says thank you.", "cause": "slip"}
DECIDED = 60


def run(size: int, _step: str) -> None:
    kept.ready(fresh=True)
    from django.conf import settings
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)
    settings.ALLOWED_HOSTS = ["testserver"]
    found = _asked(_conflicts(size))
    kept.finish({"conflicts": size, "pages": found})


def _conflicts(size: int) -> Any:
    """A closed draw of which every item is a conflict, sixty more of them decided; its project."""
    from annotations import adjudication, conflicts, releasing
    from annotations.models import Case, WaveItem
    from tests import factories
    from tests.annotations import disputes

    project = factories.project("Conflicts")
    factories.version(project)
    raters = [factories.member(project, name) for name in ("anna", "ben", "cleo")]
    lead = factories.member(project, "lea", "lead")
    factories.items(project, 1)
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=100, ratings_per_item=3)
    draw = wave.draw
    disputes.many(draw, raters, size + DECIDED, VALUES)
    for place, stratum in enumerate(("app", "mail", "shop")):
        WaveItem.objects.filter(wave=wave, pk__in=_every(wave, 3, place)).update(stratum=stratum)
    type(draw).objects.filter(pk=draw.pk).update(state="closed", closed_at=factories.NOW)
    conflicts.open_cases(type(draw).objects.get(pk=draw.pk), at=factories.NOW)
    for case in Case.objects.order_by("?")[:DECIDED]:
        adjudication.resolve(case, **DECISION, by=lead, at=factories.NOW)
    assert Case.objects.open().count() == size
    return project


def _every(wave: Any, step: int, place: int) -> list[int]:
    return list(wave.wave_items.order_by("pk").values_list("pk", flat=True)[place::step])


def _asked(project: Any) -> dict[str, dict[str, float]]:
    """Page -> milliseconds (p50) and queries."""
    from django.test import Client

    from annotations.models import Case
    from projects.models import User

    client = Client()
    client.force_login(User.objects.get(username="lea"))
    base = f"/p/{project.uuid}/adjudication/"
    pair = "question=intent&pair=complaint%7Cpraise"
    cases = iter(list(Case.objects.open().order_by("pk").select_related("item")[: 8 * TIMES]))

    def page(where: str) -> Callable[[], Any]:
        return lambda: client.get(base + where)

    def decided() -> Any:
        return client.post(f"{base}{next(cases).uuid}/resolve/", DECISION, headers={"HX-Request": "true"})

    asked = {
        "the queue": page(""),
        "one pair of it": page(f"?{pair}"),
        "one stratum of it": page("?stratum=mail"),
        "its second page": page(f"?after={next(cases).uuid}"),
        "what is decided": page("?state=decided"),
        "one for several": page(f"alike/?{pair}"),
        "the next case": page("next/"),
        "a case": lambda: client.get(f"{base}{next(cases).uuid}/"),
        "hold it": lambda: client.post(f"{base}{next(cases).uuid}/claim/", headers={"HX-Request": "true"}),
        "decide it": decided,
        "what they say": page("report/"),
    }
    return {name: _measured(ask) for name, ask in asked.items()}


def _measured(ask: Callable[[], Any]) -> dict[str, float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    ask()
    times = []
    for _ in range(TIMES - 2):
        found: dict[str, Any] = {}
        with kept.clocked(found, "page"):
            answer = ask()
        times.append(1000 * (found["page"]["cpu"] + found["page"]["server"]))
        assert answer.status_code in (200, 302), answer.content[:500]
    with CaptureQueriesContext(connection) as queries:
        ask()
    return {"ms": median(times), "queries": len(queries)}


def main() -> None:
    asked = kept.arguments(run, SIZES)
    if asked is None:
        return
    sizes, again = asked
    with kept.somewhere("conflicts-", sizes):
        found = [
            kept.measured("tests.benchmarks.adjudicating", size, "pages", again=again, apart="conflicts-")
            for size in sizes
        ]
    print(f"Pages of a lead with many open conflicts. {kept.machine()}")
    heads = "".join(f"{one['conflicts']:>10,} open {'times':>7} {'queries':>8}" for one in found)
    print(f"{'':20}{heads}")
    for name, first in found[0]["pages"].items():
        cells = [(one["pages"][name], one["pages"][name]["ms"] / first["ms"]) for one in found]
        print(
            f"{name:20}"
            + "".join(f"{cell['ms']:>12.1f} ms {times:>7.2f} {cell['queries']:>8}" for cell, times in cells)
        )


if __name__ == "__main__":
    main()
