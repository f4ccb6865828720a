"""A Redis of one test's own, on a free port, to be killed in the middle."""

import shutil
import socket
import subprocess
from pathlib import Path

from tests.stack import free_port, wait_for


class OwnRedis:
    """`program` is redis-server; nothing is written to disk but in `folder`."""

    def __init__(self, program: str, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        wait_for(self.answers, 20, "redis-server did not start")

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def program() -> str | None:
    return shutil.which("redis-server")
