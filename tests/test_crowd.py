"""Never too many, never twice, never lost, with many HTTP clients at once (DESIGN §2.5, §2.12). On both databases."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.crowd import Crowd, finish
from tests.stack import ROOT, Stack

SHORT = (8, [(60, 2), (60, 3)])
LONG = (50, [(334, 2), (333, 3), (333, 4)])


def run(folder: Path, people: int, waves: list[tuple[int, int]], seconds: float, **env: str) -> None:
    with Stack(folder, CONCORD_SWEEP_SECONDS="5", **env) as stack:
        crowd = Crowd.of(stack, people=people, waves=waves)
        disturbing = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", "from tests import reckoning as r\nr.disturb()"],
            cwd=ROOT,
            env=stack.env | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            stderr=subprocess.PIPE,
            text=True,
        )
        finish(crowd.start(lambda: disturbing.poll() is not None), seconds)
        assert disturbing.returncode == 0, disturbing.communicate()[1]
        assert crowd.problems == []
        stack.shell("from tests import reckoning\nreckoning.let_go()")
        for person in crowd.people:
            person.gone = False
        finish(crowd.start(lambda: True), seconds)

        record = crowd.write(folder / "record.json")
        stack.shell(f"from tests import reckoning\nreckoning.reckon({str(record)!r}, exactly=True)")
        assert crowd.problems == []
        assert crowd.acknowledged > sum(size for size, _ratings in waves)
        assert "Traceback" not in stack.said()


@contextmanager
def own_database(name: str) -> Iterator[str]:
    """A database beside the suite's, for a product of its own; its address."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(parts._replace(path=f"/{name}"))
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.one_database
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_small_crowd_on_sqlite(tmp_path: Path) -> None:
    run(tmp_path, *SHORT, seconds=150)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_small_crowd_on_postgresql(tmp_path: Path) -> None:
    with own_database(f"crowd_{os.getpid()}_s") as url:
        run(tmp_path, *SHORT, seconds=150, DATABASE_URL=url)


@pytest.mark.stress
@pytest.mark.one_database
@pytest.mark.timeout(3600)
def test_fifty_clients_on_sqlite(tmp_path: Path) -> None:
    run(tmp_path, *LONG, seconds=1500)


@pytest.mark.stress
@pytest.mark.postgres
@pytest.mark.timeout(3600)
def test_fifty_clients_on_postgresql(tmp_path: Path) -> None:
    with own_database(f"crowd_{os.getpid()}_l") as url:
        run(tmp_path, *LONG, seconds=1500, DATABASE_URL=url)
