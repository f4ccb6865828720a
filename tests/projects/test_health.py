from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection

from projects import health
from tests.factories import NOW

pytestmark = pytest.mark.django_db
STARTED = NOW - timedelta(hours=5)


def seen(*, worker: int | None, clock: int | None) -> list[str]:
    """The banner where worker and beat were last seen so many minutes ago."""
    for name, minutes in ((health.WORKER, worker), (health.CLOCK, clock)):
        if minutes is not None:
            health.beat(NOW - timedelta(minutes=minutes), name=name)
    return health.late(NOW, since=STARTED)


def test_nothing_is_said_while_both_are_seen() -> None:
    assert seen(worker=1, clock=0) == []


def test_a_worker_not_seen_is_said_with_the_minutes() -> None:
    assert seen(worker=12, clock=0) == [
        "Figures may be out of date: the worker has not been seen for 12 minutes. Labels are saved."
    ]


def test_of_a_silent_beat_the_worker_is_not_blamed() -> None:
    assert seen(worker=12, clock=12) == [
        "Figures may be out of date: the scheduler (beat) has not been seen for 12 minutes. Labels are saved."
    ]


def test_what_never_ran_is_said() -> None:
    assert seen(worker=None, clock=0) == [
        "The background worker has not run yet: figures, imports and exports wait for it. Labels are saved."
    ]


def test_a_process_that_has_just_started_gives_them_time() -> None:
    health.beat(NOW - timedelta(hours=14), name=health.CLOCK)

    assert health.late(NOW, since=NOW - timedelta(seconds=30)) == []


def test_a_rare_sweep_is_given_more_time(settings: Any) -> None:
    settings.SWEEP_SECONDS = 600

    assert seen(worker=29, clock=29) == []


def test_banner_is_remembered_for_a_while(settings: Any, django_assert_num_queries: Any) -> None:
    settings.BANNER_SECONDS = -1
    first = health.banner()
    settings.BANNER_SECONDS = 10

    with django_assert_num_queries(0):
        assert health.banner() == first


def test_banner_never_fails_a_page(caplog: pytest.LogCaptureFixture, settings: Any) -> None:
    def broken(execute: Any, sql: str, params: Any, many: bool, context: Any) -> None:
        raise DatabaseError("the server closed the connection")

    settings.BANNER_SECONDS = -1
    before = health.banner()

    with connection.execute_wrapper(broken):
        assert health.banner() == before

    assert [r.getMessage() for r in caplog.records] == [
        "The signs of life cannot be read: the server closed the connection"
    ]
