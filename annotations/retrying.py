"""Run a transaction again where the database, not the data, said no: a deadlock, a lost race for a unique row."""

import functools
import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import IntegrityError, OperationalError, connection, transaction

P = ParamSpec("P")
T = TypeVar("T")
ATTEMPTS = 6
FIRST_PAUSE = 0.01  # seconds; each further one is twice as long, 0.3 s in all


class LostRace(Exception):
    """Somebody else was first: look again."""


def retrying(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` in a transaction of its own, up to six times.

    Inside another transaction it runs once, as part of that one: the outermost caller retries.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if connection.in_atomic_block:
            with transaction.atomic():
                return function(*args, **kwargs)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except (LostRace, IntegrityError, OperationalError) as error:
                if attempt == ATTEMPTS or not _may_retry(error):
                    raise
            # Whoever was first is still at it, and not all who lost shall come back at once.
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable")

    return run


def _may_retry(error: Exception) -> bool:
    """Deadlocks and serialisation failures on PostgreSQL, a busy database on SQLite, and lost races for a row."""
    if isinstance(error, LostRace | IntegrityError):
        return True
    state = getattr(error.__cause__, "sqlstate", None)
    return state in {"40001", "40P01", "55P03"} or "locked" in str(error)
