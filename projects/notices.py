"""What people are told: each kind is asked anew what holds, so that no notice says what is not, or not yet, true.

A kind finds, for the members of a project, what holds for each just now; `refresh` keeps the rows of `Notice` in step.
What holds no more (the work is done, the label was looked at, the role is gone) is over, and neither shown, counted nor
mailed. Nothing is written where things happen: an answer, say, becomes a notice when those whom it is for may read it,
by the very rule of the page that shows it, and a labelling turn costs nothing. The beat's sweep looks through a project
once a minute; the page of notices looks by itself.

What is switched off is switched off by person, not by project: there is one page of notices and one mail a day for all
of somebody's projects, and a link in that mail has to be able to end it.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from projects import access, navigation
from projects.enums import Action, MailPace, NoticeKind
from projects.models import Membership, Notice, NoticeRound, Project, User

logger = logging.getLogger(__name__)

EVERY = timedelta(minutes=1)
AT_ONCE = 10  # projects of one sweep
KEPT = timedelta(days=30)  # what happened longer ago is no news
SHOWN = 200
PAGE, MAIL = "page", "mail"


@dataclass(frozen=True)
class Found:
    """Something that holds for a member. `at`: since when, where that is known; `seen`: they know it already."""

    member: int
    key: str
    at: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    seen: bool = False


Find = Callable[[Project, Sequence[Membership], datetime], Iterable[Found]]


@dataclass(frozen=True)
class Kind:
    """A kind of notice, for members who may do `action`. `say` makes a sentence of a row's facts.

    `url_name` is a page of the project that takes nothing more.
    """

    key: NoticeKind
    action: Action
    find: Find
    say: Callable[[Mapping[str, Any]], str]
    url_name: str


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Called in `AppConfig.ready`."""
    KINDS[kind.key.value] = kind


# -- keeping them true -------------------------------------------------------------------------------------------------


def sweep(*, at: datetime) -> int:
    """Look through the projects that were not for a minute, some at a time; how many."""
    late = Q(notice_round=None) | Q(notice_round__at__lte=at - EVERY)
    due = Project.objects.filter(late, access.live()).order_by(F("notice_round__at").asc(nulls_first=True), "pk")[
        :AT_ONCE
    ]
    for project in due:
        try:
            refresh(project, at=at)
        except Exception:
            # The boundary: a project that cannot be looked through must not stay first in line and keep the others out.
            logger.exception("The notices of project %s could not be brought in step", project.uuid)
        NoticeRound.objects.update_or_create(project=project, defaults={"at": at})
    return len(due)


def refresh(project: Project, people: Iterable[Membership] | None = None, *, at: datetime) -> None:
    """Bring the notices of `people` (unless given, all active members with an account) in step with what holds.

    In no transaction of its own: looking takes longer than others should wait, and each change stands for itself.
    """
    if people is None:
        people = project.memberships.active().filter(user__isnull=False).select_related("user", "project")
    members = list(people)
    found = {(kind, one.member, one.key): one for kind, one in _found(project, members, at)}
    known = Notice.objects.filter(Q(over=False) | Q(key__in={key for _kind, _member, key in found}), member__in=members)
    rows = {(row.kind, row.member_id, row.key): row for row in known}
    made = [_new(name[0], one, at) for name, one in found.items() if name not in rows]
    if made:
        Notice.objects.bulk_create(made, ignore_conflicts=True)  # the page and the sweep may look at once
    _end([row for name, row in rows.items() if not row.over and name not in found])
    for name, one in found.items():
        if name in rows:
            _bring(rows[name], one, at)


def refresh_for(user: User, *, at: datetime) -> None:
    """Bring the notices of `user` in step, in all their projects but those at rest, where they stay as they are."""
    for member in access.projects_of(user).filter(access.live("project")).select_related("user"):
        refresh(member.project, [member], at=at)


def _found(project: Project, members: Sequence[Membership], at: datetime) -> Iterable[tuple[str, Found]]:
    for kind in KINDS.values():
        allowed = [member for member in members if access.allows(member, kind.action)]
        if allowed:
            yield from ((kind.key.value, one) for one in kind.find(project, allowed, at))


def _new(kind: str, one: Found, at: datetime) -> Notice:
    read_at = at if one.seen else None
    return Notice(member_id=one.member, kind=kind, key=one.key, facts=dict(one.facts), at=one.at or at, read_at=read_at)


def _end(rows: Sequence[Notice]) -> None:
    if rows:
        Notice.objects.filter(pk__in=[row.pk for row in rows]).update(over=True)


def _bring(row: Notice, one: Found, at: datetime) -> None:
    """Bring a known notice in step. What was over and holds again is news again; what is read meanwhile stays read."""
    rows, facts = Notice.objects.filter(pk=row.pk), dict(one.facts)
    if row.over:
        read_at = at if one.seen else None
        rows.filter(over=True).update(over=False, at=one.at or at, read_at=read_at, mailed_at=None, facts=facts)
        return
    if one.seen and row.read_at is None:
        rows.filter(read_at=None).update(read_at=at)
    if row.facts != facts:
        rows.update(facts=facts)


# -- reading them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A notice as its reader sees it."""

    uuid: UUID
    project: Project
    sentence: str
    at: datetime
    is_new: bool
    url: str


def standing(user: User, where: str) -> QuerySet[Notice]:
    """What holds for `user` and is not switched off in `where` (PAGE or MAIL), the newest first."""
    rows = Notice.objects.filter(access.live("member__project"), over=False, member__user=user, member__active=True)
    rows = rows.exclude(kind__in=off(user, where)).select_related("member__project", "member__user")
    return rows.order_by("-at", "-pk")


def look(user: User, *, at: datetime) -> list[Told]:
    """The page of `user`, as things are at this moment: the newest first."""
    refresh_for(user, at=at)
    return [told(row) for row in standing(user, PAGE)[:SHOWN]]


def told(row: Notice) -> Told:
    kind = KINDS[row.kind]
    url = navigation.url_of(kind.url_name, row.member)
    return Told(row.uuid, row.member.project, kind.say(row.facts), row.at, row.read_at is None, url)


def read(user: User, uuid: UUID, *, at: datetime) -> str:
    """`user` opens a notice: the address that it leads to. Http404 for somebody else's."""
    rows = Notice.objects.filter(uuid=uuid, member__user=user, member__active=True)
    row = rows.select_related("member__project", "member__user").first()
    if row is None:
        raise Http404(_("There is no such notice of yours."))
    Notice.objects.filter(pk=row.pk, read_at=None).update(read_at=at)
    return told(row).url


def read_all(user: User, shown: Collection[str], *, at: datetime) -> int:
    """`user` has seen the page that showed the notices with these `uuid`s; how many of them were new."""
    seen = [pk for pk, uuid in unread(user).values_list("pk", "uuid") if str(uuid) in shown]
    return Notice.objects.filter(pk__in=seen, read_at=None).update(read_at=at)


def unread(user: User) -> QuerySet[Notice]:
    """What is new to `user`, to be counted in the frame."""
    rows = Notice.objects.filter(
        access.live("member__project"), member__user=user, member__active=True, over=False, read_at=None
    )
    return rows.exclude(kind__in=off(user, PAGE))


def _unread_of(member: Membership) -> QuerySet[Notice]:
    return unread(member.user) if member.user else Notice.objects.none()


navigation.beside(navigation.NOTICES, _unread_of)


# -- switching off -----------------------------------------------------------------------------------------------------


def off(user: User, where: str) -> list[str]:
    """The kinds that `user` has switched off in `where`."""
    return [kind for kind in user.notices_off.get(where, []) if kind in NoticeKind.values]


def offered(user: User) -> list[tuple[str, str | Promise]]:
    """The kinds that can reach `user` by any of their roles: key and name."""
    allowed = set().union(*(access.actions(member) for member in access.projects_of(user)))
    found = [KINDS[key] for key in NoticeKind.values if key in KINDS]
    return [(kind.key.value, kind.key.label) for kind in found if kind.action in allowed]


def choose(user: User, *, page: Iterable[str], mail: Iterable[str], pace: str) -> None:
    """Say what `user` is told where. Kinds that cannot reach them now stay as they are."""
    kinds, wanted = [key for key, _name in offered(user)], {PAGE: set(page), MAIL: set(mail)}
    before = {where: off(user, where) for where in wanted}
    user.notices_off = {
        where: [kind for kind in NoticeKind.values if (kind not in chosen if kind in kinds else kind in before[where])]
        for where, chosen in wanted.items()
    }
    user.mail_pace = MailPace(pace)
    user.save(update_fields=["notices_off", "mail_pace"])


def stop_mail(user: User) -> None:
    """No mail about what is new from now on. May be repeated."""
    User.objects.filter(pk=user.pk).update(mail_pace=MailPace.NEVER)
    user.mail_pace = MailPace.NEVER


# -- the guideline -----------------------------------------------------------------------------------------------------


def _published(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """The newest version, for everybody who was there when it came out, but for who published it."""
    newest = project.versions.published().newest_first().defer("text").first()
    if newest is None or newest.published_at is None or newest.published_at < at - KEPT:
        return
    facts = {"number": newest.number, "material": newest.minor == 0 and (newest.major or 0) > 1}
    for member in people:
        if member.pk != newest.published_by_id and member.joined_at <= newest.published_at:
            seen = member.acknowledged_id == newest.pk
            yield Found(member.pk, newest.uuid.hex, newest.published_at, facts, seen)


def _say_published(facts: Mapping[str, Any]) -> str:
    if facts["material"]:
        said = _("Guideline %(number)s was published. It changes what is labelled: read what is new before you go on.")
    else:
        said = _("Guideline %(number)s was published.")
    return said % facts


register(Kind(NoticeKind.GUIDELINE, Action.VIEW, _published, _say_published, "projects:guideline"))
