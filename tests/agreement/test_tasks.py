"""The worker's tasks, and the one wish that a page sends: what a dead broker may cost it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agreement import tasks
from agreement.models import Run, Watch
from annotations.models import Draw
from projects import jobs, locks
from projects.enums import JobKind, JobState
from projects.errors import DomainError
from projects.models import GuidelineVersion, Heartbeat, Job, Membership, Notice, Project
from tests.agreement import rows
from tests.own_redis import OwnRedis

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def var(tmp_path: Path, settings: Any) -> Path:
    settings.VAR = tmp_path
    return tmp_path


@pytest.fixture
def job(project: Project) -> Job:
    """A waiting job that its runner refuses: what is asked here is only whether it was taken up."""
    return jobs.create(project, JobKind.EXPORT)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    def runner(job: Job) -> None:
        raise DomainError("there is nothing to export")

    monkeypatch.setitem(jobs.RUNNERS, JobKind.EXPORT.value, runner)


@pytest.fixture
def due(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    """An open draw of which every slot is rated and every window has ended."""
    said = [{anna: "praise", ben: "praise"}, {anna: "praise", ben: "complaint"}]
    return rows.draw(version, said, by=lead, at=timezone.now() - timedelta(hours=1))


def test_sweep_closes_computes_runs_jobs_and_is_seen(due: Draw, job: Job, refusing: None) -> None:
    before = timezone.now()

    tasks.sweep()

    due.refresh_from_db()
    job.refresh_from_db()
    assert (due.state, Watch.objects.get(draw=due).final, job.state) == ("closed", True, JobState.FAILED)
    assert Heartbeat.objects.get(name="worker").at >= before


def test_sweep_part_that_fails_is_logged_and_stops_no_other(
    due: Draw, job: Job, refusing: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*, at: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(tasks.draws, "close_due", broken)

    tasks.sweep()

    job.refresh_from_db()
    assert (job.state, Run.objects.filter(draw=due).exists()) == (JobState.FAILED, True)
    assert [r.getMessage() for r in caplog.records] == ["The sweep's part “closing of draws” failed"]


def test_sweep_leaves_figures_to_the_sweep_that_is_at_them(due: Draw, job: Job, refusing: None) -> None:
    with locks.held("figures") as mine:
        tasks.sweep()

    due.refresh_from_db()
    job.refresh_from_db()
    assert (mine, due.state, job.state) == (True, "open", JobState.FAILED)


def test_sweep_sees_what_people_are_to_be_told_and_mails_it(
    due: Draw, anna: Membership, settings: Any, mailoutbox: list[Any]
) -> None:
    settings.EMAIL_URL, settings.DIGEST_HOUR = "smtp://mail.example.org", 0

    tasks.sweep()

    waiting = Notice.objects.filter(kind="conflicts").values_list("member__alias", flat=True)
    assert list(waiting) == ["lea"]
    assert [(message.to, "conflict of wave 1 waits" in message.body) for message in mailoutbox] == [
        (["lea@example.org"], True)
    ]


def test_sweep_leaves_notices_to_the_sweep_that_is_at_them(due: Draw) -> None:
    with locks.held("notices"):
        tasks.sweep()

    assert Notice.objects.count() == 0


def test_sweep_keeps_one_process_free_of_jobs(due: Draw, job: Job, refusing: None, settings: Any) -> None:
    settings.WORKER_PROCESSES = 3

    with locks.held("jobs", places=2), locks.held("jobs", places=2):
        tasks.sweep()

    due.refresh_from_db()
    job.refresh_from_db()
    assert (due.state, job.state) == ("closed", JobState.WAITING)


def test_recompute_of_a_draw_that_is_gone_does_nothing(db: None) -> None:
    tasks.recompute(0)

    assert Run.objects.count() == 0


def test_recompute_twice_makes_one_run(due: Draw) -> None:
    tasks.recompute(due.pk)
    tasks.recompute(due.pk)

    assert Run.objects.filter(draw=due).count() == 1


# -- a broker that is away --------------------------------------------------------------------------------------------

ASKER = """
import sys, time, django
django.setup()
from agreement import tasks
for _ in sys.stdin:
    start = time.monotonic()
    tasks.ask_recompute(7)
    print(time.monotonic() - start, flush=True)
"""


class Asker:
    """A process of its own that asks for a computation once for every line it is sent."""

    def __init__(self, folder: Path, **env: str) -> None:
        folder.mkdir(exist_ok=True)
        settings = {"DJANGO_SETTINGS_MODULE": "config.settings", "CONCORD_VAR": str(folder), "DATABASE_URL": ""}
        self.process = subprocess.Popen(
            [sys.executable, "-c", ASKER],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self) -> float:
        """How many seconds the asking took."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, self.end()
        return float(answer)

    def end(self) -> str:
        """What was logged."""
        return self.process.communicate(timeout=30)[1]


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Callable[..., Asker]]:
    started = []

    def start(**env: str) -> Asker:
        started.append(Asker(tmp_path / "asker", **env))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.mark.redis
@pytest.mark.one_database
def test_ask_recompute_survives_a_redis_that_goes_away(own_redis: OwnRedis, asker: Callable[..., Asker]) -> None:
    asking = asker(REDIS_URL=own_redis.url)
    asking.ask()

    own_redis.kill()
    seconds = [asking.ask(), asking.ask()]

    said = asking.end()
    assert max(seconds) < 1.5
    assert said.count("The broker does not take the wish to compute draw 7") == 2
    assert "Traceback" not in said


@pytest.mark.one_database
def test_ask_recompute_survives_a_broker_folder_that_cannot_be_written(
    tmp_path: Path, asker: Callable[..., Asker]
) -> None:
    (tmp_path / "asker").mkdir()
    (tmp_path / "asker" / "broker").touch()  # root may write anywhere, but not below a file
    asking = asker(REDIS_URL="")

    seconds = asking.ask()

    said = asking.end()
    assert seconds < 1.5
    assert said.count("The broker does not take the wish to compute draw 7") == 1
    assert "Traceback" not in said


@pytest.mark.one_database
def test_ask_recompute_leaves_one_message_with_the_file_system_broker(
    tmp_path: Path, asker: Callable[..., Asker]
) -> None:
    for name in ("queue", "control"):
        (tmp_path / "asker" / "broker" / name).mkdir(parents=True)
    asking = asker(REDIS_URL="")

    asking.ask()

    assert (asking.end(), len(list((tmp_path / "asker" / "broker" / "queue").iterdir()))) == ("", 1)


@pytest.mark.django_db
def test_ask_recompute_waits_for_the_commit(
    settings: Any, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        tasks.ask_recompute(7)

    assert len(callbacks) == 1
