"""`config/environment.sh`, with programs called python that are made for the test."""

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).resolve().parents[2]
TOO_OLD = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Python 3.9.18' && exit 0\nexit 1\n"
NEW = """#!/bin/sh
case "$*" in
    *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    *"-m pip"*)
        echo "$*" >>pip-calls
        echo "Collecting amqp==1"
        [ ! -e broken ] || { echo "no such hash" >&2; exit 1; }
        ;;
    --version) echo "Python 3.12.1" ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "config" / "environment.sh", tmp_path / "config")
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (tmp_path / lock).write_text("amqp==1\n")
    for tool in ("sh", "dirname", "awk", "grep", "cmp", "cp", "rm", "tail", "cat", "mkdir"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    return tmp_path


def python(clone: Path, name: str, text: str) -> None:
    (clone / "bin" / name).write_text(text)
    (clone / "bin" / name).chmod(0o755)


def run(clone: Path, kind: str = "run", **env: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", "config/environment.sh", kind]
    return subprocess.run(
        command, cwd=clone, env={"PATH": f"{clone}/bin", **env}, capture_output=True, text=True, timeout=30, check=False
    )


def test_a_python_too_old_is_one_sentence(clone: Path) -> None:
    python(clone, "python3", TOO_OLD)

    done = run(clone)

    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "Concord cannot start: it needs Python 3.11 or newer and found Python 3.9.18; "
        "install a newer one, or name one: make run PYTHON=/path/to/python3.\n",
    )


def test_a_newer_python_beside_an_old_one_is_found(clone: Path) -> None:
    python(clone, "python3", TOO_OLD)
    python(clone, "python3.12", NEW)

    done = run(clone)

    assert (done.returncode, done.stderr, done.stdout.splitlines()) == (
        0,
        "",
        [
            "Making the environment .venv with Python 3.12.1",
            "Installing the packages of requirements.lock",
            "  1 of 1 packages",
        ],
    )


def test_packages_are_installed_with_hashes_and_only_when_the_lock_changes(clone: Path) -> None:
    python(clone, "python3.12", NEW)

    run(clone)
    second = run(clone)
    (clone / "requirements.lock").write_text("amqp==2\n")
    third = run(clone)

    calls = (clone / "pip-calls").read_text().splitlines()
    assert (second.stdout, third.stdout.splitlines()[0], len(calls), "--require-hashes" in calls[0]) == (
        "",
        "Installing the packages of requirements.lock",
        2,
        True,
    )


def test_the_test_tools_answer_for_what_runs(clone: Path) -> None:
    python(clone, "python3.12", NEW)

    run(clone, "dev")
    after = run(clone, "run")

    assert (after.returncode, after.stdout) == (0, "")


def test_a_failed_installation_says_why_and_is_tried_again(clone: Path) -> None:
    python(clone, "python3.12", NEW)
    (clone / "broken").touch()

    failed = run(clone)
    (clone / "broken").unlink()
    again = run(clone)

    assert (failed.returncode, failed.stderr.splitlines()[0], again.returncode) == (1, "no such hash", 0)


def test_a_python_named_by_hand_is_checked(clone: Path) -> None:
    python(clone, "mine", TOO_OLD)

    done = run(clone, PYTHON="mine")

    assert (done.returncode, done.stderr) == (
        1,
        "Concord cannot start: PYTHON=mine: expected Python 3.11 or newer.\n",
    )
