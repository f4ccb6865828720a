from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import DatabaseError, connection

from agreement import tasks
from config.beat import WAITING_AT_MOST, Scheduler
from projects.models import Heartbeat

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queue(tmp_path: Path, settings: Any) -> Path:
    settings.REDIS_URL, settings.BROKER = "", tmp_path
    (tmp_path / "queue").mkdir()
    return tmp_path / "queue"


@pytest.fixture
def sent() -> list[str]:
    return []


@pytest.fixture
def scheduler(queue: Path, sent: list[str], monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """A beat whose messages go into a list: what a broker does with them is not asked here."""
    app = current_app._get_current_object()
    monkeypatch.setattr(app, "send_task", lambda name, *args, **kwargs: sent.append(name))
    monkeypatch.setattr(
        type(tasks.sweep._get_current_object()), "apply_async", lambda self, *a, **k: sent.append(self.name)
    )
    return Scheduler(app)


def test_the_sweep_is_all_that_is_scheduled(scheduler: Scheduler) -> None:
    assert [(e.name, e.task) for e in scheduler.schedule.values()] == [("sweep", "agreement.sweep")]


def test_a_due_sweep_is_sent_and_the_beat_is_seen(scheduler: Scheduler, sent: list[str]) -> None:
    scheduler.apply_entry(scheduler.schedule["sweep"])

    assert (sent, Heartbeat.objects.filter(name="beat").count()) == (["agreement.sweep"], 1)


def test_sweeps_that_nobody_collects_do_not_pile_up(
    scheduler: Scheduler, sent: list[str], queue: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(WAITING_AT_MOST):
        (queue / f"{number}.celery.msg").touch()

    scheduler.apply_entry(scheduler.schedule["sweep"])

    said = [r.getMessage() for r in caplog.records]
    assert (sent, said) == ([], ["20 sweeps wait and no worker takes them: none is added."])


def test_a_database_that_is_away_does_not_stop_the_beat(scheduler: Scheduler, sent: list[str]) -> None:
    def broken(execute: Any, sql: str, params: Any, many: bool, context: Any) -> None:
        raise DatabaseError("it is away")

    with connection.execute_wrapper(broken):
        scheduler.apply_entry(scheduler.schedule["sweep"])
    scheduler.apply_entry(scheduler.schedule["sweep"])

    assert (sent, Heartbeat.objects.filter(name="beat").count()) == (["agreement.sweep"] * 2, 1)


def test_a_broker_that_is_away_is_said_once_and_its_return_too(
    queue: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = current_app._get_current_object()
    answers: list[Any] = [OSError("refused"), OSError("refused"), None]

    def send(self: object, *args: Any, **kwargs: Any) -> None:
        if error := answers.pop(0):
            raise error

    monkeypatch.setattr(type(tasks.sweep._get_current_object()), "apply_async", send)
    scheduler = Scheduler(app)
    for _ in range(3):
        scheduler.apply_entry(scheduler.schedule["sweep"])

    assert [r.getMessage() for r in caplog.records] == [
        "Couldn't apply scheduled task sweep: refused It is tried again every 5 s.",
        "The broker takes sweeps again.",
    ]
