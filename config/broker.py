"""The file-system broker, whose messages appear whole or not at all.

kombu writes a message into the file that readers look for. A worker that looked at that moment took an empty file,
could not read it, and ended. Here the message is written beside it and renamed once it is complete.
"""

import json
import os
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import JSONEncoder


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Add a message to `queue`. Raises ChannelError where the folder cannot be written."""
        folder = Path(self.data_folder_out)
        name = f"{round(monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        part = folder / f".{name}.part"
        try:
            part.write_bytes(json.dumps(payload, cls=JSONEncoder).encode())
            os.replace(part, folder / name)
        except OSError as error:
            raise ChannelError(f"The message cannot be written to {folder}: {error}") from error


class Transport(filesystem.Transport):
    Channel = Channel


def install() -> None:
    """Have `filesystem://` mean this transport."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
