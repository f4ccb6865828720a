"""Settings as a person meets them: in a process of its own, with an environment of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "CONCORD_SECRET_KEY": "k3y" * 20 + "!x?yz", **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("CONCORD_LEASE_MINUTES", "soon", "CONCORD_LEASE_MINUTES=soon: expected a whole number, 1 to 10080."),
        ("PORT", "80000", "PORT=80000: expected a whole number, 1 to 65535."),
        (
            "DATABASE_URL",
            "mysql://host/db",
            "DATABASE_URL=mysql://host/db: expected an address that starts with "
            "postgres:// or postgresql:// or sqlite://.",
        ),
        (
            "DATABASE_URL",
            "postgres://me:secret@host",
            "DATABASE_URL=postgres://me:***@host: expected postgres://user:password@host:5432/name "
            "(it names no database).",
        ),
        (
            "REDIS_URL",
            "127.0.0.1:6379",
            "REDIS_URL=127.0.0.1:6379: expected an address that starts with redis:// or rediss://.",
        ),
        (
            "CONCORD_LOG_LEVEL",
            "loud",
            "CONCORD_LOG_LEVEL=LOUD: expected one of DEBUG, INFO, WARNING, ERROR, CRITICAL.",
        ),
    ],
)
def test_a_wrong_value_is_one_sentence(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    done = manage("check", CONCORD_VAR=str(tmp_path), **{name: value})

    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence + "\n")


def test_a_folder_that_cannot_hold_the_secret_key_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "var").touch()

    done = manage("check", CONCORD_VAR=str(tmp_path / "var"), CONCORD_SECRET_KEY="")

    said = f"CONCORD_VAR={tmp_path}/var: expected a folder that this user may write to (Not a directory).\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_the_laptop_passes_the_check_for_deployment(tmp_path: Path) -> None:
    done = manage("check", "--deploy", "--fail-level=WARNING", CONCORD_VAR=str(tmp_path), CONCORD_SECRET_KEY="")

    assert (done.returncode, done.stderr) == (0, "System check identified no issues (4 silenced).\n") or (
        done.returncode,
        done.stdout,
    ) == (0, "System check identified no issues (4 silenced).\n")


def test_a_team_is_told_everything_that_is_unsafe(tmp_path: Path) -> None:
    done = manage("check", "--deploy", "--tag=security", CONCORD_VAR=str(tmp_path), CONCORD_TEAM="yes")

    found = sorted(re.findall(r"\((\w+\.W\d+)\)", done.stderr + done.stdout))
    assert found == [
        "concord.W001",
        "concord.W002",
        "concord.W003",
        "concord.W005",
        "security.W004",
        "security.W008",
        "security.W012",
        "security.W016",
    ]


def test_a_team_that_has_set_everything_is_told_nothing(tmp_path: Path) -> None:
    done = manage(
        "check",
        "--deploy",
        "--tag=security",
        "--fail-level=WARNING",
        CONCORD_VAR=str(tmp_path),
        CONCORD_TEAM="yes",
        CONCORD_HTTPS="yes",
        DATABASE_URL="postgres://me@host/db",
        REDIS_URL="redis://host/0",
        CONCORD_EMAIL_URL="smtps://me:secret@host",
        CONCORD_URL="https://labels.example.org",
    )

    assert (done.returncode, "no issues" in done.stdout + done.stderr) == (0, True)


def test_a_team_that_sends_mail_is_asked_where_its_links_lead(tmp_path: Path) -> None:
    settings = {"CONCORD_VAR": str(tmp_path), "CONCORD_TEAM": "yes", "CONCORD_EMAIL_URL": "smtps://me@host"}
    origin = {"CONCORD_ORIGINS": "https://labels.example.org"}

    said = [manage("check", "--deploy", "--tag=security", **settings, **more) for more in ({}, origin)]

    assert ["concord.W006" in done.stdout + done.stderr for done in said] == [True, False]


def test_the_readme_lists_every_setting_that_is_read() -> None:
    code = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', code))
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", readme, flags=re.MULTILINE))
    assert listed == read
