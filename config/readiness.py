"""What has to be there before Concord starts. Each failure is one sentence: the thing, what was found, what to do."""

import errno
import fcntl
import os
import socket
import tempfile
from io import TextIOWrapper
from pathlib import Path

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from config.env import without_password

FOLDERS = ("", "broker/queue", "broker/control", "files", "locks", "static")


class NotReady(Exception):
    """The sentence is meant for the person who started it."""


def folders() -> None:
    """Make the folders of `var/`, the broker's among them, and try that each can be written to."""
    for name in FOLDERS:
        folder = Path(settings.VAR) / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise NotReady(
                f"{folder} cannot be written to ({error.strerror}): make it a folder of this user's, "
                "or name another place in CONCORD_VAR."
            ) from error


def alone() -> TextIOWrapper:
    """Hold the folder for this launcher while the answer is kept; the system lets go of it however the process ends."""
    file = (Path(settings.VAR) / "locks" / "launcher").open("a+", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        said = file.read().strip() or "another process"
        raise NotReady(
            f"Concord already runs from {settings.VAR} ({said}): use that one, or stop it with Ctrl-C first."
        ) from error
    file.seek(0)
    file.truncate()
    file.write(f"process {os.getpid()}, port {settings.PORT}")
    file.flush()
    return file


def port() -> None:
    """Nobody else listens where the pages are to be served."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gunicorn does: only a listener counts
        try:
            probe.bind(("127.0.0.1", settings.PORT))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                found = f"Port {settings.PORT} is in use by another program: stop it"
            else:
                found = f"Port {settings.PORT} cannot be opened ({error.strerror}): allow it"
            raise NotReady(f"{found}, or choose another, for example make run PORT=8001.") from error


def database() -> None:
    """The database answers, in a release that Django supports."""
    name = f"DATABASE_URL={without_password(settings.DATABASE_URL)}" if settings.DATABASE_URL else "The SQLite database"
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        found = " ".join(str(error).split())[:300]
        raise NotReady(f"{name} cannot be used ({found}): start that database, or correct the address.") from error


def broker() -> None:
    """Redis answers, where REDIS_URL names one."""
    if not settings.REDIS_URL:
        return
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=3) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise NotReady(
            f"REDIS_URL={without_password(settings.REDIS_URL)} does not answer ({error}): start that Redis, correct "
            "the address, or leave REDIS_URL unset to use the file-system broker."
        ) from error
