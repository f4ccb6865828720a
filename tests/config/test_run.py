"""`python -m tests.run`: what it leaves out it names, and in CI that is a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.one_database, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
NOWHERE = {"TEST_DATABASE_URL": "postgres://postgres@127.0.0.1:1/test", "TEST_REDIS_URL": "redis://127.0.0.1:1/0"}


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "tests.run", *arguments],
        cwd=ROOT,
        env={**kept, **NOWHERE, **env},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def left_out(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.partition(" (")[0] for line in done.stdout.splitlines() if line.startswith("Left out: the invariants")]


NAMED = [
    "Left out: the invariants on PostgreSQL and Redis: no PostgreSQL at postgres://postgres@127.0.0.1:1/test",
    "Left out: the invariants on PostgreSQL and Redis: no Redis at redis://127.0.0.1:1/0",
]


def test_what_is_left_out_is_named() -> None:
    done = run("all", "tests/config/test_env.py", "-k", "password", PATH="/usr/bin-without-browser")

    assert left_out(done) == NAMED
    assert "Left out: the pages in a browser: no Chromium." in done.stdout
    assert "4 passed" in done.stdout
    assert done.returncode == 0


def test_in_ci_a_missing_service_is_a_failure() -> None:
    done = run("services", CI="true")

    assert (done.returncode, left_out(done)) == (1, NAMED)


def test_a_failing_test_fails_the_command() -> None:
    done = run("all", "tests/config/test_env.py", "-k", "no such test", PATH="/usr/bin-without-browser")

    assert done.returncode == 1
