import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from projects import locks

pytestmark = pytest.mark.one_database


@pytest.fixture(autouse=True)
def var(tmp_path: Path, settings: Any) -> None:
    settings.VAR = tmp_path


def test_one_at_a_time() -> None:
    with locks.held("figures") as first, locks.held("figures") as second, locks.held("jobs") as other:
        assert (first, second, other) == (True, False, True)

    with locks.held("figures") as again:
        assert again


def test_as_many_as_there_are_places() -> None:
    with locks.held("jobs", places=2) as a, locks.held("jobs", places=2) as b, locks.held("jobs", places=2) as c:
        assert (a, b, c) == (True, True, False)


def test_an_error_inside_lets_go() -> None:
    with pytest.raises(RuntimeError), locks.held("figures"):
        raise RuntimeError

    with locks.held("figures") as mine:
        assert mine


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    code = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    (tmp_path / "locks").mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "locks" / "figures-0")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout
    holder.stdout.readline()

    with locks.held("figures") as while_it_lives:
        pass
    holder.kill()
    holder.communicate()
    with locks.held("figures") as afterwards:
        pass

    assert (while_it_lives, afterwards) == (False, True)
