"""Whether background work is being done: the worker leaves a sign of life, the pages' banner reads it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.models import Heartbeat

WORKER = "worker"


def beat(at: datetime | None = None, *, note: str = "", name: str = WORKER) -> None:
    """Leave the sign of life; the sweep calls it each time it ran."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": at or timezone.now(), "note": note[:300]})


def silent_for(at: datetime | None = None) -> timedelta | None:
    """How long ago the worker was last seen; None when it never was."""
    last = Heartbeat.objects.filter(name=WORKER).values_list("at", flat=True).first()
    return None if last is None else (at or timezone.now()) - last


def sentence(at: datetime | None = None) -> str:
    """The banner's sentence, or nothing while the worker is seen often enough."""
    silence = silent_for(at)
    if silence is None:
        return _("The background worker has not run yet: figures, imports and exports wait for it. Labels are saved.")
    if silence < timedelta(seconds=max(60, settings.SWEEP_SECONDS * 12)):
        return ""
    minutes = int(silence.total_seconds() // 60)
    return ngettext(
        "Figures may be %(minutes)d minute old and imports wait: the worker is not running. Labels are saved.",
        "Figures may be %(minutes)d minutes old and imports wait: the worker is not running. Labels are saved.",
        minutes,
    ) % {"minutes": minutes}
