"""A team at work: `python -m tests.benchmarks.load URL [annotators=200] [seconds=120] [think=3] [items=20000]`.

So many simulated annotators label by the pages of the server at URL, which runs on this machine: each logs in, reads
the item, thinks for some `think` seconds (at random, at most four times that), answers, sometimes skips, and gets the
next one. To be run with the environment of that server (DATABASE_URL, CONCORD_VAR): a project of its own is made for
them first, and at the end the invariants are checked in the database. Ends with an error if anything was violated.
"""

import os
import sys
import threading
import time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

from django.db import connection

from tests import factories
from tests.benchmarks import kept, teams
from tests.benchmarks.annotators import Annotator, Tally, Unexpected, loopback, percentile

DEFAULTS = {"annotators": 200, "seconds": 120, "think": 3.0, "items": 20_000}
MOST = {"annotators": 1_000, "seconds": 3_600, "think": 600.0, "items": 1_000_000}
SKIPS = 0.02


def options() -> tuple[str, dict[str, float]]:
    """The address, and the numbers by name; SystemExit for what is none, or too much."""
    words = sys.argv[1:]
    if not words:
        raise SystemExit(__doc__)
    chosen = dict(DEFAULTS)
    for word in words[1:]:
        name, _sign, value = word.partition("=")
        try:
            chosen[name] = type(DEFAULTS[name])(value)
        except (KeyError, ValueError) as error:
            raise SystemExit(f"{word}: expected one of {', '.join(DEFAULTS)} with a number.") from error
        if not 0 < chosen[name] <= MOST[name]:
            raise SystemExit(f"{word}: expected more than 0 and at most {MOST[name]:,}.")
    loopback(words[0])
    return words[0], chosen


class Team:
    """All of them in threads; those who have logged in wait for the others."""

    def __init__(self, url: str, project: str, names: list[str], *, seconds: float, think: float) -> None:
        self.url, self.project, self.names = url, project, names
        self.seconds, self.think = seconds, think
        self.tally, self.lock = Tally(), threading.Lock()
        self.ready = threading.Barrier(len(names) + 1)

    def run(self) -> float:
        """Until the time is over; the seconds that all of them were at work."""
        threads = [threading.Thread(target=self._work, args=(n, name)) for n, name in enumerate(self.names)]
        for thread in threads:
            thread.start()
        self.ready.wait()
        start = time.monotonic()
        for thread in threads:
            thread.join()
        return time.monotonic() - start

    def _work(self, number: int, name: str) -> None:
        who = Annotator(self.url, self.project, seed=number)
        try:
            try:
                who.log_in(name, teams.PASSWORD)
            finally:
                self.ready.wait()
            deadline = time.monotonic() + self.seconds
            self._pause(who)
            who.look()
            while time.monotonic() < deadline:
                self._pause(who)
                if who.has_item:
                    who.label(skips=SKIPS)
                else:
                    who.tally.empty += 1
                    who.look()
        except (OSError, Unexpected) as error:
            who.tally.errors[f"{type(error).__name__}: {error}"] += 1
        with self.lock:
            self.tally.add(who.tally)

    def _pause(self, who: Annotator) -> None:
        time.sleep(min(who.rng.expovariate(1 / self.think), 4 * self.think))


def build(annotators: int, items: int) -> tuple[object, list[str]]:
    project = factories.project(f"Load of {time.strftime('%Y-%m-%d %H:%M:%S')}")
    for part in range(-(-items // 1000)):
        factories.items(project, min(1000, items - 1000 * part), prefix=f"part {part} item")
    team = teams.members(project, annotators, "load-")
    teams.open_wave(project, share_percent=20)
    return project, [member.user.username for member in team]


def main() -> None:
    url, chosen = options()
    annotators, seconds = int(chosen["annotators"]), chosen["seconds"]
    project, names = build(annotators, int(chosen["items"]))
    connection.close()
    print(
        f"{annotators} annotators, {seconds:.0f} s, {chosen['think']:g} s between labels. {kept.machine()}", flush=True
    )
    team = Team(url, str(project.uuid), names, seconds=seconds, think=chosen["think"])
    took = team.run()
    found = team.tally
    done = len(found.milliseconds)
    print(
        f"{done:,} answers in {took:.0f} s, {done / took:.1f}/s; {len(found.saved):,} labels, {found.skipped:,} skips"
    )
    shares = ((0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (1, "longest"))
    print("milliseconds: " + ", ".join(f"{name} {percentile(found.milliseconds, share):.0f}" for share, name in shares))
    for error, times in found.errors.most_common():
        print(f"error, {times} times: {error}")
    wrong = teams.violations(project, found.saved)
    for sentence in wrong:
        print(f"violation: {sentence}")
    if found.errors or wrong or not done:
        sys.exit("Not as it has to be.")
    print("No error, and nothing is violated.")


if __name__ == "__main__":
    main()
