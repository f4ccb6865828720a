"""All chance of the server from one seed, for tests of what happens most of the time but not always."""

import random
import uuid

import pytest

from annotations import releasing


class Dice:
    """The dice of serving, the draws' seeds, the ids: from `rng`, which a test seeds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng = random.Random(0)
        monkeypatch.setattr(random, "SystemRandom", lambda: self.rng)
        monkeypatch.setattr(releasing.secrets, "token_bytes", lambda count: self.rng.randbytes(count))
        monkeypatch.setattr(uuid.os, "urandom", lambda count: self.rng.randbytes(count))
