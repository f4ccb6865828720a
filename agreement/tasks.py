"""What the worker does. The sweep looks for whatever is due, so a task that is lost or late is made good by the next.

A task takes ids, loads, calls one function, and may run twice.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import KombuError, OperationalError

from agreement import runs
from annotations import draws, ruling
from annotations.models import Draw
from projects import deleting, digests, health, jobs, locks, notices

logger = logging.getLogger(__name__)


@shared_task(name="agreement.sweep")
def sweep() -> None:
    """Close what is due, compute what is stale, see what people are to be told, then take up waiting jobs. A part that
    another sweep is at is skipped.

    Jobs come last and leave one process free: while a long import runs, draws still close and figures are computed.
    """
    _attempt("sign of life", health.beat)
    with locks.held("figures") as mine:
        if mine:
            _attempt("closing of draws", draws.close_due)
            _attempt("third ratings", ruling.settle)
            _attempt("figures", runs.sweep)
    with locks.held("notices") as mine:
        if mine:
            _attempt("notices", notices.sweep)
            _attempt("mail of notices", digests.sweep)
    with locks.held("jobs", places=settings.WORKER_PROCESSES - 1) as mine:
        if mine:
            _attempt("deletions that are due", deleting.start_due)
            _attempt("jobs", jobs.run_waiting)


def _attempt(what: str, part: Callable[..., object]) -> None:
    at: datetime = timezone.now()
    try:
        part(at=at)
    except Exception:
        # The boundary: one part that fails must not keep the others from being done, and the next sweep tries again.
        logger.exception("The sweep's part “%s” failed", what)


@shared_task(name="agreement.recompute")
def recompute(draw_id: int) -> None:
    """Compute one draw now, because somebody looks at its page."""
    at = timezone.now()
    draw = Draw.objects.filter(pk=draw_id).first()
    if draw is not None and runs.is_stale(draw, at=at):
        runs.compute(draw, at=at)


def ask_recompute(draw_id: int) -> None:
    """Ask for a computation once the transaction commits. A broker that is away costs a moment and never the page."""
    transaction.on_commit(partial(_send_recompute, draw_id))


def _send_recompute(draw_id: int) -> None:
    try:
        recompute.apply_async((draw_id,), retry=False, expires=60)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("The broker does not take the wish to compute draw %s (%s): the sweep does it.", draw_id, error)
