"""`make test`: every test that this machine allows, and by name what was left out. In CI nothing may be left out.

Three runs of pytest: on SQLite; on PostgreSQL and Redis what could differ there; in Chromium. The services are looked
for at TEST_DATABASE_URL and TEST_REDIS_URL, or on this machine. `python -m tests.run browser` runs one part.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psycopg
import redis

ROOT = Path(__file__).resolve().parent.parent
POSTGRES = "postgres://postgres@127.0.0.1:5432/test"
REDIS = "redis://127.0.0.1:6379/9"  # a number of its own: the tests' messages meet nobody else's
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HERE = {"DATABASE_URL": "", "REDIS_URL": "", "CONCORD_TEAM": ""}
NO_TESTS = 5  # pytest's code for "nothing was selected"


def postgres_missing(url: str) -> str:
    """Why there is no PostgreSQL for the tests; empty where there is one."""
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"PostgreSQL at {url} ({' '.join(str(error).split())[:120]})"
    return ""


def redis_missing(url: str) -> str:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        return f"Redis at {url} ({error})"
    return ""


def program_missing(*names: str) -> str:
    return "" if any(map(shutil.which, names)) else f"the program {names[0]}"


def pytest(title: str, *arguments: str, env: Mapping[str, str]) -> bool:
    """One run of pytest, with its closing lines; whether it passed."""
    print(f"\n=== {title}", flush=True)
    command = [sys.executable, "-m", "pytest", *arguments, *sys.argv[2:]]
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=False).returncode
    if code == NO_TESTS:
        print(f"=== {title}: no test was selected", flush=True)
    return code == 0


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else "all"
    postgres_url = os.environ.get("TEST_DATABASE_URL") or POSTGRES
    redis_url = os.environ.get("TEST_REDIS_URL") or REDIS
    services = {"DATABASE_URL": postgres_url, "REDIS_URL": redis_url, "CONCORD_TEAM": ""}
    # One more than there are cores of a small machine: many of these tests wait for programs that they started.
    # By file in Chromium: the tests of one share a running product.
    three, not_here = ("-n", "3"), "not browser and not stress and not postgres"
    passed, left_out = [], []

    if wanted == "all":
        passed.append(pytest("SQLite and the file-system broker", *three, "-m", not_here, env=HERE))
        left_out += [f"what needs {program}" for program in [program_missing("redis-server")] if program]
    if wanted in ("all", "services"):
        missing = [why for why in (postgres_missing(postgres_url), redis_missing(redis_url)) if why]
        if missing:
            left_out += [f"the invariants on PostgreSQL and Redis: no {why}" for why in missing]
        else:
            chosen = "not one_database and not browser and not stress"
            passed.append(pytest("PostgreSQL and Redis", *three, "-m", chosen, env=services))
    if wanted in ("all", "browser"):
        if program_missing(*BROWSERS):
            left_out.append("the pages in a browser: no Chromium")
        else:
            reachable = not (postgres_missing(postgres_url) or redis_missing(redis_url))
            own = {"BROWSER_DATABASE_URL": postgres_url, "BROWSER_REDIS_URL": redis_url} if reachable else {}
            passed.append(pytest("Chromium", *three, "--dist", "loadfile", "-m", "browser", env=HERE | own))
    if wanted == "stress":
        passed.append(pytest("Stress on SQLite", "-m", "stress", env=HERE))
        if missing := postgres_missing(postgres_url):
            left_out.append(f"stress on PostgreSQL: no {missing}")
        else:
            passed.append(pytest("Stress on PostgreSQL", "-m", "stress and not one_database", env=services))

    print(flush=True)
    for what in left_out:
        print(f"Left out: {what}.")
    if not (ROOT.parent / "shared" / "data").is_dir():
        print("Left out: the real ratings, which are not part of the repository.")
    complete = not left_out or os.environ.get("CI", "").lower() != "true"
    if not complete:
        print("In CI nothing may be left out: this is a failure.")
    return 0 if passed and all(passed) and complete else 1


if __name__ == "__main__":
    sys.exit(main())
