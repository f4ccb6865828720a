"""Waiting for SQLite's one writer in Python, where it holds nothing that another thread needs.

SQLite's own wait keeps the connection's mutex. Python's garbage collector may run in the thread that has the write
lock, and clear a cursor that another thread left behind: it then waits for that thread's mutex, which waits for the
write lock. Each such meeting lasts until the timeout, and under load makes the next one.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

WAIT_SECONDS = 20
PAUSE_SECONDS = (0.002, 0.02)  # at random, so that nobody who waits is always the last


def wait_for_writer(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Run a statement again as long as the database is locked: it has done nothing yet. Raises after 20 s."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return execute(sql, params, many, context)
        except OperationalError as error:
            if "database is locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(*PAUSE_SECONDS))


def on_connect(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    if connection.vendor == "sqlite" and wait_for_writer not in connection.execute_wrappers:
        connection.execute_wrappers.append(wait_for_writer)
