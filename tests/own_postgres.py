"""A PostgreSQL of one test's own, on a free port, to be stopped in the middle."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg

from tests.stack import free_port, wait_for

USER = "postgres"


class OwnPostgres:
    """`programs` is the folder of initdb and postgres, which refuse to run as root: then they run as `postgres`."""

    def __init__(self, programs: Path) -> None:
        self.programs, self.port = programs, free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="concord-postgres-"))
        self.url = f"postgres://{USER}@127.0.0.1:{self.port}/postgres"
        self.as_user = {"user": USER, "group": USER} if os.getuid() == 0 else {}
        if self.as_user:
            shutil.chown(self.folder, USER, USER)
        made = [programs / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **self.as_user)
        self.start()

    def start(self) -> None:
        words = ["-D", self.folder / "data", "-p", str(self.port), "-h", "127.0.0.1", "-k", self.folder]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", *words], stdout=log, stderr=log, cwd=self.folder, **self.as_user
            )
        wait_for(self.answers, 60, "PostgreSQL did not start")

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """At once, as when the power goes: what was committed has to be there afterwards."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)

    def remove(self) -> None:
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def programs() -> Path | None:
    """The folder of initdb and postgres, the newest where there are several."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return folders[-1].parent if folders else None
