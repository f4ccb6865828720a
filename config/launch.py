"""`python -m config.launch`: prepares, then runs web, worker and beat together until Ctrl-C. What `make run` calls."""

import ctypes
import http.client
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from types import FrameType

from django.conf import settings

from config import readiness

STOP_SECONDS = 15
READY_SECONDS = 60
STEADY_SECONDS = 60
LONGEST_PAUSE_SECONDS = 60
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
CELERY = [sys.executable, "-m", "celery", "--app=config", "--quiet"]
COMMANDS = {
    "web": [sys.executable, "-m", "gunicorn", "--config=python:config.gunicorn", "config.wsgi"],
    # The three are for many workers that watch each other; here each would only be traffic.
    "worker": [*CELERY, "worker", "--without-mingle", "--without-gossip", "--without-heartbeat"],
    "beat": [*CELERY, "beat"],
}


def say(sentence: str) -> None:
    print(sentence, flush=True)  # noqa: T201


def _end_with(launcher: int) -> None:
    """In a program that is just starting: the kernel ends it in good order should its launcher be killed.

    Elsewhere than on Linux the three go on without a launcher that was killed, and the next one names their port.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != launcher:  # it was killed before the kernel was told
        os._exit(1)


@dataclass
class Part:
    """One of the three programs, and how it has fared."""

    name: str
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    start_at: float = 0
    pause: float = 1

    def start(self, now: float) -> None:
        # A process group of its own: Ctrl-C reaches the launcher alone, which ends the three in their order.
        end_with_us = partial(_end_with, os.getpid()) if sys.platform == "linux" else None
        self.process = subprocess.Popen(COMMANDS[self.name], process_group=0, preexec_fn=end_with_us)
        self.started = now

    def ended(self) -> int | None:
        return None if self.process is None else self.process.poll()

    def schedule_again(self, now: float) -> None:
        """After a pause that doubles with every quick end, and starts small again after a steady minute."""
        self.kill_all()
        self.pause = 1 if now - self.started > STEADY_SECONDS else min(self.pause * 2, LONGEST_PAUSE_SECONDS)
        self.process, self.start_at = None, now + self.pause

    def tell(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def kill_all(self) -> None:
        """The program and whatever it started, also where the program itself has ended."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return  # nobody of the group is left: what was wanted
            self.process.wait()


class Launcher:
    """Starts the parts, starts worker and beat again if they end, and ends all with the web server or a signal."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.stops = 0

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1

    def watch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)

    def run(self, once_ready: str) -> int:
        """Until a signal (0) or the end of the web server (1)."""
        deadline = time.monotonic() + READY_SECONDS
        waiting = True
        try:
            while not self.stops:
                if not self.look_after(time.monotonic()):
                    return 1
                if waiting and answers():
                    waiting = False
                    say(once_ready)
                elif waiting and time.monotonic() > deadline:
                    say(f"The web server has not answered within {READY_SECONDS} s: ending.")
                    return 1
                time.sleep(0.2)
            say("\nStopping: what is in hand is finished first. Ctrl-C again stops at once.")
            return 0
        finally:
            self.stop()

    def look_after(self, now: float) -> bool:
        """Start what is to be started; False once the web server has ended."""
        for part in self.parts:
            code = part.ended()
            if code is not None and part.name == "web":
                say(f"The web server has ended (code {code}): ending worker and beat too.")
                return False
            if code is not None:
                part.schedule_again(now)
                say(f"The {part.name} has ended (code {code}): starting it again in {part.pause:.0f} s.")
            if part.process is None and now >= part.start_at:
                part.start(now)
        return True

    def stop(self) -> None:
        stops, deadline = self.stops, time.monotonic() + STOP_SECONDS
        for part in self.parts:
            part.tell(signal.SIGTERM)
        while any(part.process is not None and part.ended() is None for part in self.parts):
            if self.stops > stops + 1 or time.monotonic() > deadline:
                say("Stopping at once: a job that was in hand goes on with the next start.")
                break
            time.sleep(0.1)
        for part in self.parts:
            part.kill_all()


def answers() -> bool:
    """Whether the web server gives any answer at all."""
    connection = http.client.HTTPConnection("127.0.0.1", settings.PORT, timeout=5)
    try:
        connection.request("GET", "/login/")
        return connection.getresponse().status < 600
    except (OSError, http.client.HTTPException):
        return False  # not yet; the launcher asks again and has a deadline
    finally:
        connection.close()


def prepare() -> str | None:
    """What `manage.py prepare` has to say at the end, or None where it could not do its work (and has said why)."""
    done = subprocess.run([sys.executable, "manage.py", "prepare"], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def main() -> int:
    os.chdir(settings.BASE_DIR)
    try:
        readiness.folders()
        held = readiness.alone()
        readiness.port()
    except readiness.NotReady as error:
        sys.stderr.write(f"Concord cannot start: {error}\n")
        return 1
    with held:
        said = prepare()
        if said is None:
            return 1
        say("Starting web, worker and beat")
        launcher = Launcher([Part("web"), Part("worker"), Part("beat")])
        launcher.watch_signals()
        address = f"Concord is ready: http://127.0.0.1:{settings.PORT}/"
        return launcher.run("\n".join(["", address, *([said] if said else []), "Ctrl-C stops it; data is kept.", ""]))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # while it prepares; once the three run, the launcher has handlers of its own
        sys.exit(130)
