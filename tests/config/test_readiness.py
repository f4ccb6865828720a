import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config import readiness


@pytest.fixture
def var(tmp_path: Path, settings: Any) -> Path:
    settings.VAR = tmp_path / "var"
    return tmp_path / "var"


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def said(check: object) -> str:
    with pytest.raises(readiness.NotReady) as caught:
        check()  # type: ignore[operator]
    return str(caught.value)


@pytest.mark.one_database
def test_folders_are_made(var: Path) -> None:
    readiness.folders()

    made = sorted(str(path.relative_to(var)) for path in var.rglob("*"))
    assert made == ["broker", "broker/control", "broker/queue", "files", "locks", "static"]


@pytest.mark.one_database
def test_a_broker_folder_that_cannot_be_written_is_named(var: Path) -> None:
    (var / "broker").mkdir(parents=True)
    (var / "broker" / "queue").touch()  # root may write anywhere, but not below a file

    assert said(readiness.folders) == (
        f"{var}/broker/queue cannot be written to (File exists): make it a folder of this user's, "
        "or name another place in CONCORD_VAR."
    )


@pytest.mark.one_database
def test_two_launchers_do_not_share_a_folder(var: Path, settings: Any) -> None:
    settings.PORT = 8123
    readiness.folders()

    with readiness.alone():
        refusal = said(readiness.alone)
    with readiness.alone() as again:
        assert again.readable()

    assert refusal.startswith(f"Concord already runs from {var} (process ")
    assert refusal.endswith(", port 8123): use that one, or stop it with Ctrl-C first.")


@pytest.mark.one_database
def test_a_port_in_use_is_named(taken_port: int, settings: Any) -> None:
    settings.PORT = taken_port

    assert said(readiness.port) == (
        f"Port {taken_port} is in use by another program: stop it, or choose another, for example make run PORT=8001."
    )


@pytest.mark.one_database
def test_a_free_port_is_fine(taken_port: int, settings: Any) -> None:
    with socket.socket() as once:
        once.bind(("127.0.0.1", 0))
        settings.PORT = once.getsockname()[1]

    readiness.port()


@pytest.mark.django_db
def test_the_database_of_the_suite_is_ready() -> None:
    readiness.database()


@pytest.mark.one_database
def test_a_redis_that_does_not_answer_is_named_without_its_password(settings: Any) -> None:
    with socket.socket() as once:  # bound and not listening: nobody can be behind it
        once.bind(("127.0.0.1", 0))
        port = once.getsockname()[1]
        settings.REDIS_URL = f"redis://:secret@127.0.0.1:{port}/0"

        assert said(readiness.broker) == (
            f"REDIS_URL=redis://:***@127.0.0.1:{port}/0 does not answer (Error 111 connecting to 127.0.0.1:{port}. "
            "Connection refused.): start that Redis, correct the address, or leave REDIS_URL unset to use the "
            "file-system broker."
        )
