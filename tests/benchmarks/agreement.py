"""`make bench-agreement`: the agreement benchmarks one after another, and by name what was left out.

How fast the kernel is; a whole recomputation against its query, on SQLite and on the PostgreSQL of TEST_DATABASE_URL or
of this machine; how often the intervals hold the truth (the longest: minutes). Fails where one of them does.
"""

import os
import subprocess
import sys
from collections.abc import Mapping

from tests.run import HERE, POSTGRES, ROOT, postgres_missing


def benchmark(title: str, module: str, env: Mapping[str, str]) -> bool:
    """One benchmark in a process of its own; whether it reached what is wanted."""
    print(f"\n=== {title}", flush=True)
    command = [sys.executable, "-m", f"tests.benchmarks.{module}"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=False).returncode == 0


def main() -> int:
    postgres_url = os.environ.get("TEST_DATABASE_URL") or POSTGRES
    reached = [
        benchmark("Speed of the kernel", "agreement_speed", HERE),
        benchmark("A whole recomputation on SQLite", "agreement_database", HERE),
    ]
    missing = postgres_missing(postgres_url)
    if missing:
        print(f"\n=== Left out: a whole recomputation on PostgreSQL: no {missing}", flush=True)
    else:
        server = {**HERE, "DATABASE_URL": postgres_url}
        reached.append(benchmark("A whole recomputation on PostgreSQL", "agreement_database", server))
    reached.append(benchmark("Coverage of the intervals", "agreement_coverage", HERE))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
