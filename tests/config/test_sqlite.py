"""Waiting for SQLite's one writer holds nothing that the writer itself may need."""

import gc
import threading
import time

import pytest
from django.db import connection, transaction

from projects.models import User

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.one_database,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="about SQLite"),
]


def test_a_writer_that_collects_what_a_waiting_thread_left_behind_is_not_held_up():
    left: list[object] = []
    ready, locked = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def wait_for_the_writer() -> None:
        try:
            connection.ensure_connection()
            left.append(connection.connection.execute("SELECT 1 UNION SELECT 2"))  # not read to its end
            ready.set()
            locked.wait(30)
            User.objects.create(username="waits")
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=wait_for_the_writer)
    thread.start()
    ready.wait(30)
    started = time.monotonic()
    with transaction.atomic():
        User.objects.create(username="writes")
        locked.set()
        time.sleep(0.5)  # by now it waits
        cycle: list[object] = [left.pop()]
        cycle.append(cycle)
        del cycle
        gc.collect()
        took = time.monotonic() - started
    thread.join()

    assert raised == []
    assert took < 5
    assert User.objects.count() == 2
