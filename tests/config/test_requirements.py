import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def pins(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+) \\$", (ROOT / lock).read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert re.findall(r"(?im)^.*(?:[a-z]+://|file:/|^\s*--(?!hash=)|\s@\s).*$", text) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_the_hashes_of_its_files(lock: str) -> None:
    blocks = re.split(r"(?m)^(?=[a-z0-9][a-z0-9._-]*==)", (ROOT / lock).read_text())[1:]

    assert [b.splitlines()[0] for b in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", b)] == []


def test_packages_with_compiled_parts_are_locked_for_every_platform() -> None:
    text = (ROOT / "requirements.lock").read_text()
    compiled = ("numpy", "psycopg-binary", "nh3", "ijson")

    hashes = {name: re.search(rf"(?m)^{name}==(?:.*\\\n)+", text)[0].count("sha256:") for name in compiled}  # type: ignore[index]
    assert {name: count >= 20 for name, count in hashes.items()} == dict.fromkeys(compiled, True)


def test_the_test_tools_come_on_top_of_the_same_versions() -> None:
    run, dev = (pins(lock) for lock in LOCKS)

    assert {name: dev.get(name) for name in run} == run


def test_everything_that_the_project_asks_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [re.split(r"[\[<>=]", line)[0].lower() for line in project["dependencies"]]

    assert [name for name in asked if name not in pins("requirements.lock")] == []


def test_test_tools_are_not_part_of_what_runs() -> None:
    assert {"pytest", "mypy", "playwright", "pip-tools"} & pins("requirements.lock").keys() == set()
