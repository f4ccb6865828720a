"""What an annotator waits for: `CONCORD_BENCH=FOLDER python -m tests.benchmarks.serving [SIZE …]`.

A label is saved and the next item comes back: over HTTP, through gunicorn as it is run for a team. Three questions,
each with its target: does it cost the same at every size (asked of all servers in turns, so that they meet the same
load of the machine); how many statements is it, all counted; how many a second do eight annotators get. The projects
are built once, by `importing` and by opening a wave of all items, and kept (see `kept`).
"""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from tests.benchmarks import importing, kept
from tests.benchmarks.annotators import Annotator, Tally, Unexpected, percentile
from tests.stack import free_port

SIZES = (10_000, 100_000, 1_000_000)
OF_EIGHT = 100_000
CYCLES = 400  # of one annotator at each size; the first tenth warms up
EIGHT, SECONDS = 8, 20
MOST_STATEMENTS, MOST_RATIO, LEAST_CYCLES = 22, 1.25, 60


def run(size: int, step: str) -> None:
    kept.ready()
    {"ready": _ready, "team": _team, "statements": _statements, "violations": _violations}[step](size)


def _ready(_size: int) -> None:
    """Bring what was kept up to date: the tables, and the files that pages need."""
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)
    kept.finish({})


def _team(size: int) -> None:
    """Open the wave, and log the team in."""
    from tests.benchmarks import teams

    project = kept.project(size)
    teams.open_wave(project)
    people = teams.members(project, EIGHT, f"a{size}-")
    sessions = [teams.session_of(member.user) for member in people]
    kept.finish({"project": str(project.uuid), "sessions": sessions})


def _statements(size: int) -> None:
    """How many statements a cycle takes, also of somebody who is far ahead of all others."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, setup_test_environment
    from django.urls import reverse

    from annotations.models import Assignment
    from tests.benchmarks import teams

    setup_test_environment()
    project = kept.project(size)
    member = teams.members(project, EIGHT, f"a{size}-")[0]
    client = Client(headers={"HX-Request": "true"})
    client.force_login(member.user)
    client.get(reverse("annotations:label", args=[project.uuid]))
    taken = []
    for _ in range(40):
        held = Assignment.objects.get(member=member, state="open")
        with CaptureQueriesContext(connection) as queries:
            client.post(
                reverse("annotations:label-submit", args=[project.uuid, held.uuid]), {"answer-intent": "praise"}
            )
        taken.append(len(queries))
    # Before the first statement of a request PostgreSQL is asked for a sign of life, which Django does not list.
    asked = 1 if connection.vendor == "postgresql" and connection.settings_dict["CONN_HEALTH_CHECKS"] else 0
    kept.finish({"usual": sorted(taken)[len(taken) // 2] + asked, "most": max(taken[3:]) + asked})


def _violations(size: int) -> None:
    from tests.benchmarks import teams

    kept.finish({"found": teams.violations(kept.project(size), sys.stdin.read().split())})


@contextlib.contextmanager
def serving(size: int) -> Iterator[str]:
    """The product's web server on the database of `size`; its address."""
    kept.measured(__spec__.name, size, "ready", again=True)
    port = free_port()
    env = kept.environment(size) | {"PORT": str(port)}
    command = [sys.executable, "-m", "gunicorn", "--config=python:config.gunicorn", "config.wsgi"]
    with subprocess.Popen(command, cwd=kept.ROOT, env=env) as server:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def annotator(url: str, team: dict[str, Any], number: int) -> Annotator:
    """One of the team with the item they hold before them, as soon as the server answers."""
    who = Annotator(url, team["project"], seed=number, session=team["sessions"][number])
    deadline = time.monotonic() + 60
    while True:
        try:
            if not who.look():
                sys.exit("The wave has nothing left: remove the folder's databases, or name a new folder.")
            return who
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            who.connection = None
            time.sleep(0.2)


def one_at_each(urls: dict[int, str], teams: dict[int, dict[str, Any]]) -> dict[int, list[float]]:
    """The milliseconds of every cycle of one annotator at each size, taken in turns."""
    people = {size: annotator(urls[size], teams[size], 0) for size in urls}
    for _ in range(CYCLES):
        for who in people.values():
            who.label()
    return {size: who.tally.milliseconds[CYCLES // 10 :] for size, who in people.items()}


def eight(url: str, team: dict[str, Any]) -> Tally:
    """Eight annotators who do not think, for some seconds."""
    people = [annotator(url, team, number) for number in range(EIGHT)]
    deadline = time.monotonic() + SECONDS

    def work(who: Annotator) -> None:
        try:
            while who.has_item and time.monotonic() < deadline:
                who.label()
        except (OSError, Unexpected) as error:
            who.tally.errors[str(error)] += 1

    threads = [threading.Thread(target=work, args=[who]) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally = Tally()
    for who in people:
        tally.add(who.tally)
    return tally


def verdict(said: str, reached: bool) -> bool:
    print(f"{'reached' if reached else 'MISSED':>8}  {said}", flush=True)
    return reached


def main() -> None:
    asked = kept.arguments(run, SIZES)
    if asked is None:
        return
    sizes, _again = asked
    print(f"A label and the next item over HTTP. {kept.machine()}", flush=True)
    teams: dict[int, dict[str, Any]] = {}
    for size in sorted({*sizes, OF_EIGHT}):
        importing.result(size)
        teams[size] = kept.measured(__spec__.name, size, "team")
    reached = []

    print(f"\n{'items':>10} {'p50 ms':>8} {'p95 ms':>8} {'statements':>11} {'at most':>8}")
    with contextlib.ExitStack() as stack:
        times = one_at_each({size: stack.enter_context(serving(size)) for size in sizes}, teams)
    counts = {size: kept.measured(__spec__.name, size, "statements", again=True) for size in sizes}
    for size in sizes:
        p50, p95 = percentile(times[size], 0.5), percentile(times[size], 0.95)
        print(f"{size:10,} {p50:8.1f} {p95:8.1f} {counts[size]['usual']:11} {counts[size]['most']:8}", flush=True)
    least, most = min(sizes), max(sizes)
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        ratio = percentile(times[most], share) / percentile(times[least], share)
        said = f"{name} at {most:,} items is {ratio:.2f} times that at {least:,} (at most {MOST_RATIO})"
        reached.append(verdict(said, ratio <= MOST_RATIO))
    worst = max(count["most"] for count in counts.values())
    same = len({count["usual"] for count in counts.values()}) == 1
    said = f"{worst} statements at most (of {MOST_STATEMENTS}), {'the same' if same else 'NOT the same'} at every size"
    reached.append(verdict(said, same and worst <= MOST_STATEMENTS))

    with serving(OF_EIGHT) as url:
        tally = eight(url, teams[OF_EIGHT])
    rate = len(tally.milliseconds) / SECONDS
    wrong = violations(OF_EIGHT, tally.saved)
    said = (
        f"{rate:.0f} cycles a second for {EIGHT} annotators at {OF_EIGHT:,} items (at least {LEAST_CYCLES}); "
        f"p50 {percentile(tally.milliseconds, 0.5):.0f} ms, p95 {percentile(tally.milliseconds, 0.95):.0f} ms; "
        f"{sum(tally.errors.values())} errors, {len(wrong)} violations"
    )
    reached.append(verdict(said, rate >= LEAST_CYCLES and not tally.errors and not wrong))
    for sentence in [*tally.errors, *wrong]:
        print(f"          {sentence}")
    sys.exit(0 if all(reached) else "A target was missed.")


def violations(size: int, saved: list[str]) -> list[str]:
    command = [sys.executable, "-m", __spec__.name, str(size), "violations"]
    ran = subprocess.run(
        command,
        cwd=kept.ROOT,
        env=kept.environment(size),
        input=" ".join(saved),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(ran.stdout.splitlines()[-1])["found"]
    return found


if __name__ == "__main__":
    main()
