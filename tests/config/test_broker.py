"""The file-system broker: a message is there whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError

from config import broker
from config.celery import app


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    (tmp_path / "queue").mkdir()
    queue = str(tmp_path / "queue")
    folders = {"data_folder_in": queue, "data_folder_out": queue, "control_folder": str(tmp_path / "control")}
    return Connection("filesystem://localhost", transport_options=folders)


def test_a_message_is_complete_before_anybody_can_find_it(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[list[Path], Any]] = []
    rename = os.replace

    def watched(part: Path, name: Path) -> None:
        found.append((list((tmp_path / "queue").glob("*.msg")), json.loads(part.read_text())["headers"]))
        rename(part, name)

    monkeypatch.setattr(os, "replace", watched)
    with connection, connection.SimpleQueue("work") as queue:
        queue.put({"draw": 7}, headers={"task": "compute"})
        message = queue.get(timeout=5)
        message.ack()

    assert [(before, headers["task"]) for before, headers in found] == [([], "compute")]
    assert (message.payload, list((tmp_path / "queue").glob("*.msg")), list((tmp_path / "queue").glob(".*.part"))) == (
        {"draw": 7},
        [],
        [],
    )


def test_the_worker_uses_this_broker() -> None:
    assert app.connection_for_write("filesystem://localhost").get_transport_cls() is broker.Transport


def test_a_folder_that_is_gone_is_an_error_of_the_broker(connection: Connection, tmp_path: Path) -> None:
    with connection:
        queue = connection.SimpleQueue("other")  # kombu keeps what is bound for the process
        (tmp_path / "queue").rename(tmp_path / "elsewhere")
        with pytest.raises(ChannelError, match="cannot be written"):
            queue.put({"draw": 7})
