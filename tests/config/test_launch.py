"""The launcher as a whole, on a free port and in a folder of its own: what `make run` starts and how it ends."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.own_redis import OwnRedis
from tests.stack import ROOT, Stack, Visitor, free_port, wait_for

pytestmark = [pytest.mark.one_database, pytest.mark.slow, pytest.mark.timeout(180)]


class Launched:
    """A launcher in a process of its own, and what it has said so far."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.port = free_port()
        self.log = folder / "log"
        clean = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}
        clean |= {"CONCORD_VAR": str(folder / "var"), "PORT": str(self.port), "CONCORD_DEMO": "no"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.launch"],
                cwd=ROOT,
                env={**clean, "CONCORD_SWEEP_SECONDS": "1", **env},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def ready(self) -> bool:
        assert self.process.poll() is None, self.said()
        return "Concord is ready: " in self.said()

    def children(self) -> dict[str, int]:
        """The process numbers of web, worker and beat."""
        mine = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in mine}
        words = {"gunicorn": "web", "\0worker\0": "worker", "\0beat\0": "beat"}
        return {part: pid for pid, line in lines.items() for word, part in words.items() if word in line}

    def family(self) -> list[int]:
        """Every process that works in this launcher's folder, the children's children too."""
        mark = f"CONCORD_VAR={self.log.parent}/var".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it ended while we looked
        return found


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    if not Path("/proc/self/task").is_dir():
        pytest.skip("needs /proc, to see whose child a process is")
    running = Launched(tmp_path)
    yield running
    running.process.kill()
    running.process.wait()
    for pid in running.family():
        os.kill(pid, signal.SIGKILL)


def test_ctrl_c_ends_all_that_was_started(launched: Launched) -> None:
    wait_for(launched.ready)
    connection = http.client.HTTPConnection("127.0.0.1", launched.port, timeout=10)
    connection.request("GET", "/login/")
    answer = connection.getresponse()
    page = answer.read().decode()
    started = sorted(launched.children())

    launched.process.send_signal(signal.SIGINT)
    code = launched.process.wait(timeout=30)

    assert (answer.status, "<form" in page, started) == (200, True, ["beat", "web", "worker"])
    assert (code, launched.family()) == (0, [])
    assert "Traceback" not in launched.said()


def test_a_worker_that_dies_is_started_again_and_the_web_server_ends_all(launched: Launched) -> None:
    wait_for(launched.ready)
    wait_for(lambda: "worker" in launched.children())
    first = launched.children()

    os.kill(first["worker"], signal.SIGKILL)
    wait_for(lambda: launched.children().get("worker", first["worker"]) != first["worker"])
    second = launched.children()
    os.kill(second["web"], signal.SIGKILL)
    code = launched.process.wait(timeout=30)

    assert (second["web"], second["beat"]) == (first["web"], first["beat"])
    assert "The worker has ended (code -9): starting it again in 2 s." in launched.said()
    assert "The web server has ended (code -9): ending worker and beat too." in launched.said()
    assert (code, launched.family()) == (1, [])


def test_sigterm_ends_it_like_ctrl_c_and_data_is_kept(launched: Launched) -> None:
    wait_for(launched.ready)

    launched.process.terminate()
    code = launched.process.wait(timeout=30)

    database = launched.log.parent / "var" / "concord.sqlite3"
    assert (code, launched.family(), database.stat().st_size > 0) == (0, [], True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a program that its parent was killed")
def test_what_a_killed_launcher_started_ends_too_and_it_can_be_started_again(
    launched: Launched, tmp_path: Path
) -> None:
    wait_for(launched.ready)
    started = sorted(launched.children())

    launched.process.kill()
    launched.process.wait()
    wait_for(lambda: launched.family() == [], 60, "what was started goes on")

    again = Launched(tmp_path, PORT=str(launched.port))
    wait_for(again.ready)
    again.process.send_signal(signal.SIGINT)
    assert (started, again.process.wait(timeout=30)) == (["beat", "web", "worker"], 0)


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        (
            {"DATABASE_URL": "postgres://me:secret@127.0.0.1:1/db"},
            "DATABASE_URL=postgres://me:***@127.0.0.1:1/db cannot be used (",
        ),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "REDIS_URL=redis://127.0.0.1:1/0 does not answer ("),
        ({"PORT": "none"}, "PORT=none: expected a whole number, 1 to 65535."),
    ],
)
def test_what_is_not_there_is_one_sentence(tmp_path: Path, env: dict[str, str], sentence: str) -> None:
    launched = Launched(tmp_path, **env)

    code = launched.process.wait(timeout=60)

    lines = launched.said().splitlines()
    assert (code, len(lines), sentence in lines[0]) == (1, 1, True), lines


PREPARE_A_WAVE = """
from django.utils import timezone
from annotations import releasing
from tests import factories

project = factories.project()
factories.version(project)
lead, anna = factories.member(project, "lea", "lead"), factories.member(project, "anna")
factories.items(project, 3)
releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
print(project.uuid)
"""
HELD = """
from annotations.models import Assignment
print(Assignment.objects.get(state="open").uuid)
"""
SAVED = """
from annotations.models import Annotation
print(Annotation.objects.count())
"""


@pytest.mark.redis
def test_a_submit_is_saved_and_the_next_item_served_while_redis_is_gone(tmp_path: Path, own_redis: OwnRedis) -> None:
    with Stack(tmp_path, REDIS_URL=own_redis.url) as stack:
        project = stack.shell(PREPARE_A_WAVE)
        anna = Visitor(stack.url)
        anna.log_in("anna", "correct horse battery")
        anna.get(f"/p/{project}/label/")
        held = stack.shell(HELD)

        own_redis.kill()
        status, page = anna.post(f"/p/{project}/label/{held}/", {"answer-intent": "praise"}, htmx=True)

        assert (status, 'data-kind="task"' in page, held in page) == (200, True, False)
        assert (stack.shell(SAVED), stack.shell(HELD) != held) == ("1", True)
