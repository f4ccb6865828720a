"""A project's log as it may be read: filtered, newest first, by keyset; and as a file.

Who may still rate the overlap of an open draw reads nothing that tells of it: neither that its cover was released, nor
who looked at it or gave up their part, nor that something was asked about an item of its wave (DESIGN §2.4, §3).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from annotations import draws
from projects import access, activities
from projects.models import Activity, Membership
from projects.task_types import Json

PAGE = 50
SYSTEM = "system"  # as a person in a filter
FIELDS = ("at", "by", "kind", "what", "reason")


def of(member: Membership) -> QuerySet[Activity]:
    """The acts of the member's project that `member` may read."""
    hidden = draws.hidden_from(member).values("wave__uuid")
    rows = Activity.objects.filter(Q(until_closed=None) | ~Q(until_closed__in=hidden), project=member.project_id)
    return rows.select_related("by__user", "about__user").order_by("-pk")


@dataclass(frozen=True)
class Filters:
    """Which acts. `kind`: a kind or a topic; `by`: a person, or SYSTEM; the days are the viewer's."""

    kind: str = ""
    by: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def read(cls, data: Mapping[str, str], *, since: date | None = None, until: date | None = None) -> "Filters":
        """From an address, with its days read by a form. Http404 where it names what cannot be."""
        kind, by = data.get("kind", ""), data.get("by", "")
        if kind and kind not in activities.KINDS and kind not in activities.TOPICS:
            raise Http404(_("There is no such kind of act."))
        try:
            by = by if by in ("", SYSTEM) else str(UUID(by))
        except ValueError as error:
            raise Http404(_("There is no such person in this project.")) from error
        return cls(kind, by, since, until)

    def query(self) -> str:
        """As the part of an address behind the question mark."""
        return urlencode(self.named())

    def named(self) -> dict[str, Any]:
        """Those that are chosen, by their name."""
        named = {"kind": self.kind, "by": self.by, "since": self.since, "until": self.until}
        return {name: value for name, value in named.items() if value}

    @property
    def topic(self) -> str:
        """The topic that is chosen, by itself or by one of its kinds."""
        return activities.KINDS[self.kind].topic if self.kind in activities.KINDS else self.kind

    def narrow(self, rows: QuerySet[Activity]) -> QuerySet[Activity]:
        if self.kind:
            rows = rows.filter(kind=self.kind) if self.kind in activities.KINDS else rows.filter(topic=self.kind)
        if self.by:
            rows = rows.filter(by=None) if self.by == SYSTEM else rows.filter(by__uuid=self.by)
        if self.since:
            rows = rows.filter(at__gte=_midnight(self.since))
        if self.until:
            rows = rows.filter(at__lt=_midnight(self.until + timedelta(days=1)))
        return rows


def misfit(day: date) -> str:
    """Why the log has no such day, as a sentence; empty where it has."""
    # A midnight at the very ends of the calendar cannot be said in every time zone.
    if 1900 <= day.year <= 9000:
        return ""
    return _("%(day)s is no day of this log: expected a year such as 2026.") % {"day": day}


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


@dataclass(frozen=True)
class Line:
    """What the page shows of an act, or of several in a row that read the same: `times`, from `since` to `at`.

    `who` is empty where the system did it; `url` is that of a single act.
    """

    at: datetime
    since: datetime
    who: str
    what: str
    url: str
    times: int = 1


@dataclass(frozen=True)
class Choice:
    """One value of a filter, as a link."""

    title: str | Promise
    query: str
    current: bool


@dataclass(frozen=True)
class Log:
    """A page of the log with its filters; `more`: the address of the next one."""

    filters: Filters
    lines: list[Line]
    more: str
    topics: list[Choice]
    kinds: list[Choice]
    people: list[Choice]

    @property
    def query(self) -> str:
        return self.filters.query()


def log(member: Membership, filters: Filters, *, before: int | None = None) -> Log:
    """What `member` reads: two queries, whatever the number of rows."""
    rows = filters.narrow(of(member))
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: PAGE + 1])
    more = ""
    if len(found) > PAGE:
        more = urlencode(filters.named() | {"before": found[PAGE - 1].pk})
    return Log(
        filters=filters,
        lines=_lines(found[:PAGE], member),
        more=more,
        topics=_topics(filters),
        kinds=_kinds(filters),
        people=_people(member, filters),
    )


def _lines(rows: list[Activity], member: Membership) -> list[Line]:
    """A lead who decides fifty conflicts makes one line, not fifty."""
    lines: list[Line] = []
    allowed = access.actions(member)
    for row in rows:
        who, what = row.by.name if row.by else "", activities.said(row)
        last = lines[-1] if lines else None
        if last is not None and (last.who, last.what) == (who, what):
            lines[-1] = replace(last, since=row.at, url="", times=last.times + 1)
        else:
            lines.append(Line(row.at, row.at, who, what, activities.url(row, member, allowed)))
    return lines


def _topics(filters: Filters) -> list[Choice]:
    chosen = [("", _("Everything")), *activities.TOPICS.items()]
    return [Choice(title, replace(filters, kind=key).query(), key == filters.topic) for key, title in chosen]


def _kinds(filters: Filters) -> list[Choice]:
    """The kinds of the chosen topic."""
    found = [kind for kind in activities.KINDS.values() if filters.topic == kind.topic]
    return [Choice(kind.title, replace(filters, kind=kind.key).query(), kind.key == filters.kind) for kind in found]


def _people(member: Membership, filters: Filters) -> list[Choice]:
    """Everybody of whom the log has something that `member` may read, by name; then the system."""
    theirs = of(member).filter(by=OuterRef("pk")).order_by()
    people = member.project.memberships.filter(Exists(theirs)).select_related("user")
    named = sorted(((person.name, str(person.uuid)) for person in people), key=lambda pair: pair[0].casefold())
    chosen = [(_("Everybody"), ""), *named, (_("the system"), SYSTEM)]
    return [Choice(title, replace(filters, by=key).query(), key == filters.by) for title, key in chosen]


def file_rows(member: Membership, filters: Filters) -> Iterator[dict[str, Json]]:
    """The same as rows of a file, the oldest first. Times are in UTC, so that files can be put together."""
    for row in filters.narrow(of(member)).order_by("pk").iterator(chunk_size=2000):
        yield entry(row)


def entry(row: Activity) -> dict[str, Json]:
    """An act as a program reads it."""
    return {
        "at": row.at.isoformat(),
        "by": row.by.name if row.by else None,
        "kind": row.kind,
        "what": activities.said(row),
        "reason": row.facts.get("reason") or None,
    }
