"""Celery's beat for one steady task: no file of its own, a sign of life, and no heap of sweeps that nobody collects."""

import logging
import time
from pathlib import Path
from typing import Any

from celery import beat
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from projects import health

logger = logging.getLogger(__name__)
WAITING_AT_MOST = 20
SIGN_EVERY_SECONDS = 20


class Scheduler(beat.Scheduler):  # type: ignore[misc]  # Celery has no annotations
    """Keeps its schedule in memory: the sweep looks for whatever is due, so nothing is lost by a restart."""

    signed_at: float | None = None
    refused = False

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sign()
        if waiting() >= WAITING_AT_MOST:
            logger.warning("%s sweeps wait and no worker takes them: none is added.", WAITING_AT_MOST)
            return
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except beat.SchedulingError as error:
            if not self.refused:  # said once, not every few seconds
                logger.error("%s It is tried again every %s s.", error, settings.SWEEP_SECONDS)
            self.refused = True
        else:
            if self.refused:
                logger.warning("The broker takes sweeps again.")
            self.refused = False

    def sign(self) -> None:
        """Leave the sign of life that the pages' banner reads; a database that is away is said, and tried again."""
        if self.signed_at is not None and time.monotonic() - self.signed_at < SIGN_EVERY_SECONDS:
            return
        close_old_connections()
        try:
            health.beat(timezone.now(), name=health.CLOCK)
            self.signed_at = time.monotonic()
        except DatabaseError as error:
            logger.error("Beat cannot write its sign of life: %s", error)


def waiting() -> int:
    """How many messages lie in the file-system broker's folder (Redis expires its own)."""
    if settings.REDIS_URL:
        return 0
    return sum(1 for _ in Path(settings.BROKER / "queue").glob("*.msg"))
