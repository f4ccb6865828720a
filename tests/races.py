"""Two callers at once, in threads, for tests of races on PostgreSQL."""

from collections.abc import Callable
from threading import Barrier, Thread

from django.db import connection

from projects.errors import DomainError


def together(*acts: Callable[[], object]) -> None:
    """Run `acts` at the same time, each on its own connection; a refusal is an answer, anything else fails."""
    start, failures = Barrier(len(acts)), []

    def run(act: Callable[[], object]) -> None:
        try:
            start.wait(10)
            act()
        except DomainError:
            pass
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
