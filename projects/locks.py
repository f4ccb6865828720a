"""One at a time on this machine: files that the system unlocks by itself, however their holder ends.

They save work that would be done twice; nothing relies on them to be right (two machines of a team have two).
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings


@contextmanager
def held(name: str, *, places: int = 1) -> Iterator[bool]:
    """Whether one of the `places` called `name` was free; it is kept until the block ends."""
    folder = Path(settings.VAR) / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    for place in range(places):
        with (folder / f"{name}-{place}").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield True
            return
    yield False
