"""Databases that the benchmarks of scale build once and keep: one for each size, so that none slows another down.

They lie in the folder that CONCORD_BENCH names (SQLite), or as NAME_SIZE beside the database of DATABASE_URL. Each
measurement runs in a process of its own, whose peak memory is therefore its own; what it found is kept beside the
database, and a benchmark that was stopped goes on after the last one that came to its end.
"""

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

SIZES = (100_000, 1_000_000)
ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1024 * 1024
TEXT = (
    "the app crashed again after last update and now battery drains faster than before although support answered "
    "quickly price went up while sync works fine on my old phone but photos are gone please fix login screen asks "
    "twice for password every morning thank you team great work love dark mode how do I export data to another device"
)
WORDS = TEXT.split()


def folder() -> Path:
    """Where everything is kept."""
    found = os.environ.get("CONCORD_BENCH")
    if not found:
        sys.exit("CONCORD_BENCH is not set: expected the folder in which the benchmark may keep its projects (5 GB).")
    return Path(found).absolute()


@contextmanager
def somewhere(apart: str, sizes: Iterable[int]) -> Iterator[None]:
    """In the folder of CONCORD_BENCH; where none is named, in one that is thrown away, and its databases with it."""
    if os.environ.get("CONCORD_BENCH"):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="concord-bench-") as made:
        os.environ["CONCORD_BENCH"] = made
        try:
            yield
        finally:
            if os.environ.get("DATABASE_URL"):
                for size in sizes:
                    _drop_database(environment(size, apart)["DATABASE_URL"])
            del os.environ["CONCORD_BENCH"]


def environment(size: int, apart: str = "") -> dict[str, str]:
    """What a process needs to work in the database of `size`; `apart` names those that hold something else."""
    kept = folder() / f"{apart}{size}"
    kept.mkdir(parents=True, exist_ok=True)
    own = {
        "CONCORD_VAR": str(kept),
        "CONCORD_SECRET_KEY": "only-for-benchmarks-" + "x" * 50,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CONCORD_LOG_LEVEL": "ERROR",
    }
    if url := os.environ.get("DATABASE_URL"):
        parts = urlsplit(url)
        own["DATABASE_URL"] = urlunsplit(parts._replace(path=f"{parts.path}_{apart}{size}"))
    return {**os.environ, **own}


def measured(module: str, size: int, step: str, *, again: bool = False, apart: str = "") -> dict[str, Any]:
    """What `python -m MODULE SIZE STEP` printed as its last line; from an earlier run if there was one."""
    own = environment(size, apart)
    vendor = "postgresql" if os.environ.get("DATABASE_URL") else "sqlite"
    note = Path(own["CONCORD_VAR"]) / f"{module.rsplit('.', 1)[-1]}-{step}-{vendor}.json"
    if again or not note.exists():
        command = [sys.executable, "-m", module, str(size), step]
        ran = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{ran.stdout}{ran.stderr}")
        note.write_text(ran.stdout.splitlines()[-1])
    found: dict[str, Any] = json.loads(note.read_text())
    return found


def ready(*, fresh: bool = False) -> None:
    """In the process of a measurement: the database of its environment, migrated, and Django set up.

    `fresh`: what was there is dropped.
    """
    import django

    _create_database(fresh=fresh)
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _drop_database(url: str) -> None:
    import psycopg
    from psycopg import sql

    parts = urlsplit(url)
    with psycopg.connect(urlunsplit(parts._replace(path="/postgres")), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(parts.path.lstrip("/"))))


def _create_database(*, fresh: bool) -> None:
    url = os.environ.get("DATABASE_URL")
    if not url:
        if fresh:
            for file in Path(os.environ["CONCORD_VAR"]).glob("concord.sqlite3*"):
                file.unlink()
        return
    if fresh:
        _drop_database(url)
    import psycopg
    from psycopg import sql

    parts = urlsplit(url)
    name = parts.path.lstrip("/")
    with psycopg.connect(urlunsplit(parts._replace(path="/postgres")), autocommit=True) as server:
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


@contextmanager
def clocked(into: dict[str, Any], name: str) -> Iterator[None]:
    """Note seconds passed, of processor time, and of the database server's processor time where it can be seen."""
    wall, own, server = time.perf_counter(), time.process_time(), _server_seconds()
    yield
    into[name] = {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - own,
        "server": _server_seconds() - server,
    }


def _server_seconds() -> float:
    """Processor time of this connection's server process; 0 for SQLite, or a server on another machine."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        pid = cursor.execute("SELECT pg_backend_pid()").fetchone()[0]
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def part(measure: dict[str, float]) -> str:
    """Seconds, and of processor time here and in the database server, in 25 columns."""
    return f"{measure['seconds']:9.1f} ({measure['cpu']:5.1f}, {measure['server']:5.1f})"


def project(size: int) -> Any:
    """The project of this database."""
    from projects.models import Project

    return Project.objects.get_or_create(name=f"{size:,} items", defaults={"shown_fields": []})[0]


def peak_megabytes() -> float:
    """The most memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def finish(found: dict[str, Any]) -> None:
    """Print what was measured, for the process that waits for it."""
    print(json.dumps({**found, "peak": peak_megabytes()}))


def machine() -> str:
    with open("/proc/loadavg") as load:
        busy = load.read().split()[0]
    database = "PostgreSQL" if os.environ.get("DATABASE_URL") else "SQLite"
    return f"{database}; Python {platform.python_version()}, {os.cpu_count()} cores, load {busy}"


def rows_file(size: int) -> Path:
    """JSONL of `size` rows as a team would import: a text of some 110 characters, an id, two fields of metadata.

    One row in 200 says what an earlier one says, one in 200 does but for case.
    """
    path = folder() / f"rows-{size}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = random.Random(size)
        part = path.with_suffix(".part")
        with part.open("w") as stream:
            texts: list[str] = []
            for number in range(size):
                text = " ".join(rng.choices(WORDS, k=20))
                if len(texts) < 1000:
                    texts.append(text)
                elif number % 200 == 0:
                    text = rng.choice(texts)
                elif number % 200 == 100:
                    text = rng.choice(texts).upper()
                row = {"id": f"r{number}", "text": text, "source": rng.choice(WORDS[:4]), "stars": rng.randint(1, 5)}
                stream.write(json.dumps(row) + "\n")
        part.rename(path)
    return path


def arguments(run: Callable[[int, str], None], default: Sequence[int] = SIZES) -> tuple[list[int], bool] | None:
    """Sizes and whether to measure again; None in the process of one measurement, which `run` has then done."""
    given = sys.argv[1:]
    if len(given) == 2 and given[0].isdigit() and not given[1].isdigit() and given[1] != "again":
        run(int(given[0]), given[1])
        return None
    sizes = [int(size.replace(",", "").replace("_", "")) for size in given if size != "again"]
    return sizes or list(default), "again" in given
