"""Saved means saved (DESIGN §2.12): whatever is killed, stopped or full, on real processes and services of our own.

Annotators go on all the time, and send again what was not answered, as the page does. In the end every label that was
acknowledged is there once, figures come right by themselves, and nobody saw a traceback.
"""

import fcntl
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import own_postgres
from tests.crowd import Crowd, finish, visitor
from tests.own_redis import OwnRedis
from tests.stack import Stack, Visitor, wait_for

pytestmark = [
    pytest.mark.one_database,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prlimit"),
]
AWAY = "The database cannot be reached, or has no room to write"
BANNER = "Figures may be out of date"


@pytest.fixture
def postgres() -> Iterator[own_postgres.OwnPostgres]:
    programs = own_postgres.programs()
    if programs is None:
        pytest.skip("needs the programs initdb and postgres")
    server = own_postgres.OwnPostgres(programs)
    yield server
    server.remove()


@contextmanager
def at_work(stack: Stack, folder: Path, people: int) -> Iterator[Crowd]:
    """A crowd labels while the block does its harm; then everything is held against what it was told."""
    crowd = Crowd.of(stack, people=people, waves=[(1_000, 2)], share=50, patient=True)
    threads = crowd.start(lambda: False)
    try:
        labels_come(crowd)
        yield crowd
        labels_come(crowd)
    finally:
        for person in crowd.people:
            person.gone = True
    finish(threads, 120)
    record = crowd.write(folder / "record.json")
    stack.shell(f"from tests import reckoning\nreckoning.reckon({str(record)!r}, exactly=False, complete=False)")
    assert crowd.problems == []
    stack.shell("from tests import reckoning\nreckoning.close()")
    wait_for(
        lambda: stack.shell("from tests import reckoning\nprint(reckoning.lacking())") == "[]", 120, "no figures came"
    )


def labels_come(crowd: Crowd, more: int = 4) -> None:
    before = crowd.acknowledged
    wait_for(lambda: crowd.acknowledged >= before + more, 120, f"no labels come: {crowd.stack.said()[-2000:]}")


def held(stack: Stack, name: str) -> bool:
    """Whether a worker is at it just now: it holds the lock of that name."""
    with (Path(stack.env["CONCORD_VAR"]) / "locks" / name).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def end(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it went with the one before it


def others(stack: Stack, part: str, than: list[int]) -> Callable[[], bool]:
    return lambda: bool(set(stack.pids(part)) - set(than))


def kill_programs(stack: Stack, crowd: Crowd) -> None:
    """A web process in the middle of submits, the worker in the middle of a sweep, beat."""
    web = stack.pids("gunicorn")
    end(web[1:2])
    wait_for(others(stack, "gunicorn", web), 60, "no web process came again")
    labels_come(crowd)
    worker, beat = stack.pids("worker"), stack.pids("beat")
    deadline = time.monotonic() + 10
    while not held(stack, "figures-0") and time.monotonic() < deadline:
        time.sleep(0.002)
    end(worker)
    end(beat)
    wait_for(others(stack, "worker", worker), 60, "no worker came again")
    wait_for(others(stack, "beat", beat), 60, "no beat came again")
    labels_come(crowd)


def stop_database(crowd: Crowd, postgres: own_postgres.OwnPostgres) -> None:
    postgres.stop()
    status, body = visitor_of(crowd).get(f"/p/{crowd.project}/label/")
    time.sleep(2)
    postgres.start()
    assert (status, AWAY in body) == (503, True), body
    labels_come(crowd)


def visitor_of(crowd: Crowd) -> Visitor:
    return visitor(crowd.stack, crowd.lead)


def kill_all(stack: Stack, crowd: Crowd) -> None:
    """The launcher and the web server with all its processes; then somebody starts it again."""
    end(stack.pids("gunicorn"))
    stack.kill()
    wait_for(lambda: not stack.pids(""), 60, "what was started goes on")
    stack.start()
    labels_come(crowd)


@pytest.mark.redis
@pytest.mark.timeout(600)
def test_whatever_is_killed_or_stopped_no_label_is_lost(
    tmp_path: Path, postgres: own_postgres.OwnPostgres, own_redis: OwnRedis
) -> None:
    services = {"DATABASE_URL": postgres.url, "REDIS_URL": own_redis.url}
    with Stack(tmp_path, **services) as stack, at_work(stack, tmp_path, people=3) as crowd:
        kill_programs(stack, crowd)
        own_redis.kill()
        labels_come(crowd)
        own_redis.start()
        stop_database(crowd, postgres)
        kill_all(stack, crowd)


@pytest.mark.stress
@pytest.mark.redis
@pytest.mark.timeout(3600)
def test_again_and_again_and_the_banner_says_what_is_away(
    tmp_path: Path, postgres: own_postgres.OwnPostgres, own_redis: OwnRedis
) -> None:
    services = {"DATABASE_URL": postgres.url, "REDIS_URL": own_redis.url}
    with Stack(tmp_path, **services) as stack, at_work(stack, tmp_path, people=8) as crowd:
        lead, home = visitor_of(crowd), f"/p/{crowd.project}/waves/"
        for _round in range(3):
            kill_programs(stack, crowd)
            stop_database(crowd, postgres)
            kill_all(stack, crowd)
        own_redis.kill()
        wait_for(lambda: BANNER in lead.get(home)[1], 300, "no banner said that the worker is away")
        labels_come(crowd)
        own_redis.start()
        wait_for(lambda: BANNER not in lead.get(home)[1], 120, "the banner stays")


def limit_files(pids: list[int], size: int) -> None:
    """No file of these processes may grow beyond `size` bytes: to a program it is a disk without room."""
    for pid in pids:
        _soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


@pytest.mark.timeout(600)
def test_a_full_disk_and_a_broker_that_cannot_be_written_lose_no_label(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack, at_work(stack, tmp_path, people=3) as crowd:
        lead, web = visitor_of(crowd), stack.pids("gunicorn")
        lead.get(f"/p/{crowd.project}/guideline/")
        limit_files(web, 1)
        time.sleep(1)
        before = crowd.acknowledged
        status, body = lead.post(f"/p/{crowd.project}/guideline/draft/start/", {})
        time.sleep(2)
        during = crowd.acknowledged
        limit_files(web, resource.RLIM_INFINITY)
        assert (during, status, AWAY in body) == (before, 503, True), body
        labels_come(crowd)

        broker = tmp_path / "var" / "broker"
        broker.rename(tmp_path / "gone")
        broker.touch()  # root may write anywhere, but not below a file
        labels_come(crowd, more=10)
        broker.unlink()
        (tmp_path / "gone").rename(broker)
