"""Whether background work is being done: worker and beat leave signs of life, the pages' banner reads them."""

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.models import Heartbeat

logger = logging.getLogger(__name__)

WORKER, CLOCK = "worker", "beat"
_remembered: tuple[float, list[str]] = (0, [])
_started_at = timezone.now()


def beat(at: datetime | None = None, *, note: str = "", name: str = WORKER) -> None:
    """Leave the sign of life: the worker with each sweep, the beat (`CLOCK`) by itself."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": at or timezone.now(), "note": note[:300]})


def late(
    at: datetime | None = None, *, since: datetime | None = None, signs: Mapping[str, datetime | None] | None = None
) -> list[str]:
    """The banner's sentences; none while worker and beat are seen often enough.

    `since` (when this process started) gives them time to start beside it, also where their last signs are old. The
    worker is asked by the beat: while that is silent, nothing can be said about the worker, and only the beat is named.
    `signs`: when each was last seen, where that is known already.
    """
    at, since = at or timezone.now(), since or _started_at
    patience = timedelta(seconds=max(120, settings.SWEEP_SECONDS * 3))
    if signs is None:
        signs = dict(Heartbeat.objects.values_list("name", "at"))
    clock, worker = signs.get(CLOCK), signs.get(WORKER)
    if at - max(clock or since, since) > patience:
        return [_clock_sentence(clock, at)]
    if (clock or at) - max(worker or since, since) > patience:
        return [_worker_sentence(worker, at)]
    return []


def banner() -> list[str]:
    """`late` for every page: asked of the database every few seconds, and never the reason that a page fails."""
    global _remembered
    sentences = _remembered[1]
    if _is_due():
        try:
            sentences = late()
        except DatabaseError as error:
            logger.warning("The signs of life cannot be read: %s", error)
        _remembered = (time.monotonic(), sentences)
    return sentences


def asked() -> dict[str, Subquery]:
    """The signs of life as values of another query that a page makes anyway; none while they are remembered."""
    if not _is_due():
        return {}
    rows = {name: Heartbeat.objects.filter(name=name).values("at") for name in (WORKER, CLOCK)}
    return {f"sign_of_{name}": Subquery(seen) for name, seen in rows.items()}


def told(row: Mapping[str, Any]) -> None:
    """What `asked` found."""
    global _remembered
    signs = {name: row[f"sign_of_{name}"] for name in (WORKER, CLOCK) if f"sign_of_{name}" in row}
    if signs:
        _remembered = (time.monotonic(), late(signs=signs))


def _is_due() -> bool:
    asked_at, _sentences = _remembered
    return not asked_at or time.monotonic() - asked_at > settings.BANNER_SECONDS


def _worker_sentence(seen: datetime | None, at: datetime) -> str:
    if seen is None:
        return _("The background worker has not run yet: figures, imports and exports wait for it. Labels are saved.")
    minutes = _minutes(at - seen)
    return ngettext(
        "Figures may be out of date: the worker has not been seen for %(minutes)d minute. Labels are saved.",
        "Figures may be out of date: the worker has not been seen for %(minutes)d minutes. Labels are saved.",
        minutes,
    ) % {"minutes": minutes}


def _clock_sentence(seen: datetime | None, at: datetime) -> str:
    if seen is None:
        return _("The scheduler (beat) has not run yet: figures, imports and exports wait for it. Labels are saved.")
    minutes = _minutes(at - seen)
    return ngettext(
        "Figures may be out of date: the scheduler (beat) has not been seen for %(minutes)d minute. Labels are saved.",
        "Figures may be out of date: the scheduler (beat) has not been seen for %(minutes)d minutes. Labels are saved.",
        minutes,
    ) % {"minutes": minutes}


def _minutes(silence: timedelta) -> int:
    return int(silence.total_seconds() // 60)
