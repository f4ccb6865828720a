"""What somebody labelled by day, and how long it took them. It is shown to nobody else.

The time is that which the page measured with each label: seconds in view, without those in which nobody moved. For a
label that was sent without the page it is the time since the item was served, an hour at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import Membership

DAYS = 30
SHORTEST = 60.0  # seconds; on less than a minute's work there is no pace


@dataclass(frozen=True)
class Spell:
    """Labels and the time at them. `an_hour` is empty where too little time was measured to tell."""

    labels: int
    seconds: float

    @property
    def an_hour(self) -> int | None:
        return None if self.seconds < SHORTEST else round(3_600 * self.labels / self.seconds)

    @property
    def time(self) -> str:
        """In hours and minutes, as people say it."""
        hours, minutes = divmod(round(self.seconds / 60), 60)
        named = {"hours": hours, "minutes": minutes}
        return _("%(hours)s h %(minutes)s min") % named if hours else _("%(minutes)s min") % named


@dataclass(frozen=True)
class Day:
    date: date
    spell: Spell


@dataclass(frozen=True)
class Pace:
    """The days of the last `DAYS` on which somebody labelled, the newest first, and all of them together."""

    days: Sequence[Day]
    together: Spell


def of(member: Membership, *, at: datetime) -> Pace:
    """The pace of `member` until `at`, by day in the time zone in which pages are shown. One query."""
    first = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    rows = (
        member.annotations.filter(seq__isnull=False, submitted_at__gte=first)
        .annotate(day=TruncDate("submitted_at", tzinfo=timezone.get_current_timezone()))
        .values("day")
        .annotate(labels=Count("pk"), time=Sum("seconds"))
        .order_by("-day")
    )
    days = [Day(row["day"], Spell(row["labels"], row["time"] or 0.0)) for row in rows]
    together = Spell(sum(one.spell.labels for one in days), sum(one.spell.seconds for one in days))
    return Pace(days, together)
