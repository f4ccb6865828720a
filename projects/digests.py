"""The mail that sums up what is new: one to a person and day at most, none without news, and none twice.

Beat's sweep writes a row of `Digest` with its job for whoever is due: once it is morning (`CONCORD_DIGEST_HOUR`) in
their zone, and no row of that day is there yet. The row is unique by person and day. Whoever sends it first writes down
that it is begun, and that is committed before the mail server is spoken to: a worker that is killed in between has sent
it or not, and nobody sends it again. What it would have said is not marked as mailed, so that the next one says it.

While a digest is not begun, because the mail server is away, say, its person gets no other; when it is begun at last,
it is the one of that day.
"""

import logging
import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage, get_connection
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects import access, jobs, mailing, notices, zones
from projects.enums import JobKind, JobState, MailPace
from projects.errors import DomainError
from projects.models import Digest, Job, Notice, User
from projects.notices import MAIL, Told

logger = logging.getLogger(__name__)

SALT = "projects.digests"
AT_ONCE = 200  # people of one sweep
RETRY = timedelta(hours=1)
PACES = {MailPace.DAILY: timedelta(days=1), MailPace.WEEKLY: timedelta(days=7)}


# -- who is due --------------------------------------------------------------------------------------------------------


def sweep(*, at: datetime) -> int:
    """Write the digests that are due; how many. Without a mail server there is none."""
    if not mailing.sends():
        return 0
    begun = 0
    for user in _with_news():
        if begun < AT_ONCE and _is_due(user, user.last_day, at):
            begun += _begin(user, at)
    return begun + _again(at)


def _with_news() -> list[Any]:
    """Who wants mail, has something unread that was in none yet, and waits for no digest; with the day of their last.
    Two queries, whatever the number of people: it is asked with every sweep."""
    fresh = Notice.objects.filter(
        access.live("member__project"), over=False, read_at=None, mailed_at=None, member__active=True
    )
    kinds: dict[int, set[str]] = {}
    for user, kind in fresh.exclude(member__user=None).values_list("member__user", "kind").distinct().order_by():
        kinds.setdefault(user, set()).add(kind)
    asked = Digest.objects.filter(user=OuterRef("pk"))
    last = asked.order_by("-day").values("day")[:1]
    people = User.objects.filter(pk__in=kinds, is_active=True).exclude(email="").exclude(mail_pace=MailPace.NEVER)
    wanted = people.exclude(Exists(asked.filter(begun_at=None))).annotate(last_day=Subquery(last)).order_by("pk")
    return [user for user in wanted if kinds[user.pk] - set(notices.off(user, MAIL))]


def zone_of(user: User) -> zoneinfo.ZoneInfo:
    """The zone in which `user` reads times."""
    return zones.find(user.time_zone) or zoneinfo.ZoneInfo(settings.TIME_ZONE)


def _is_due(user: User, last: date | None, at: datetime) -> bool:
    local = at.astimezone(zone_of(user))
    if local.hour < settings.DIGEST_HOUR:
        return False
    return last is None or local.date() - last >= PACES[MailPace(user.mail_pace)]


def _news(user: User) -> QuerySet[Notice]:
    """What `user` has neither read nor had in a mail, and did not switch off for it."""
    return notices.standing(user, MAIL).filter(read_at=None, mailed_at=None)


def _begin(user: User, at: datetime) -> bool:
    """Of two sweeps at once one writes the row and its job."""
    day = at.astimezone(zone_of(user)).date()
    try:
        with transaction.atomic():
            made = Digest.objects.create(user=user, day=day, asked_at=at)
            jobs.create(None, JobKind.DIGEST, params={"digest": made.pk}, at=at)
    except IntegrityError:
        return False
    return True


def _again(at: datetime) -> int:
    """Ask once more for those of which nothing was sent for an hour: the mail server was away. Not for those whose job
    still waits for its turn."""
    asked = Digest.objects.filter(begun_at=None, asked_at__lte=at - RETRY)
    late = list(asked.order_by("pk").values_list("pk", flat=True))
    if not late:
        return 0
    unfinished = Job.objects.filter(kind=JobKind.DIGEST, state__in=[JobState.WAITING, JobState.RUNNING])
    queued = set(unfinished.values_list("params__digest", flat=True))
    return sum(_ask_again(pk, at) for pk in [pk for pk in late if pk not in queued][:AT_ONCE])


@transaction.atomic
def _ask_again(pk: int, at: datetime) -> bool:
    if not Digest.objects.filter(pk=pk, begun_at=None, asked_at__lte=at - RETRY).update(asked_at=at):
        return False
    jobs.create(None, JobKind.DIGEST, params={"digest": pk}, at=at)
    return True


# -- sending -----------------------------------------------------------------------------------------------------------


def send(job: Job) -> None:
    """The runner. It looks once more at what holds: what was done or read meanwhile is not told."""
    at = timezone.now()
    digest = Digest.objects.select_related("user").filter(pk=job.params["digest"], begun_at=None).first()
    if digest is None:
        return  # begun by a worker that did not come to its end: perhaps it is sent
    user = digest.user
    notices.refresh_for(user, at=at)
    news = list(_news(user)[: notices.SHOWN]) if user.is_active and user.mail_pace != MailPace.NEVER else []
    if not news or not mailing.sends():
        digest.delete()  # so that something that comes later today can still be told
        return
    message = compose(user, news)
    message.connection = get_connection()
    with _refused_in_words():
        message.connection.open()  # while nothing is begun: a server that is away is asked again in an hour
    try:
        if not _take(digest, at):
            return
        with _refused_in_words():
            message.send()
    finally:
        message.connection.close()
    with transaction.atomic():
        Digest.objects.filter(pk=digest.pk).update(sent_at=at)
        Notice.objects.filter(pk__in=[row.pk for row in news]).update(mailed_at=at)


@transaction.atomic
def _take(digest: Digest, at: datetime) -> bool:
    """Write down that `digest` is begun, and is the one of this day; false if that day has one, or another took it.

    Locks the person: two jobs may have read the same news, and only one of them is to send it.
    """
    user = User.objects.select_for_update().get(pk=digest.user_id)
    day = at.astimezone(zone_of(user)).date()
    unbegun = Digest.objects.filter(pk=digest.pk, begun_at=None)
    if Digest.objects.filter(user=user, day__gte=day).exclude(pk=digest.pk).exists():
        unbegun.delete()
        return False
    return unbegun.update(begun_at=at, day=day) == 1


@contextmanager
def _refused_in_words() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # smtplib's errors are OSErrors, too
        logger.warning("The mail server does not take a mail of notices: %s", error)
        raise DomainError(_("The mail server did not take the message (%(error)s).") % {"error": error}) from error


@dataclass(frozen=True)
class Part:
    """What is new in one project."""

    name: str
    lines: list[tuple[str, str]]


def compose(user: User, news: list[Notice]) -> EmailMessage:
    """The mail, in the zone of `user`. Nobody says a language of theirs yet, so it is the installation's."""
    with timezone.override(zone_of(user)), translation.override(settings.LANGUAGE_CODE):
        stop = absolute(reverse("projects:notices-off", args=[token_of(user)]))
        facts = {
            "user": user,
            "parts": _parts(news),
            "page": absolute(reverse("projects:notices")),
            "choices": absolute(reverse("projects:notices-settings")),
            "stop": stop,
        }
        subject = ngettext("Concord: %(n)s thing is new", "Concord: %(n)s things are new", len(news))
        return EmailMessage(
            subject % {"n": len(news)},
            render_to_string("projects/notices/digest.txt", facts),
            settings.DEFAULT_FROM_EMAIL,
            [user.email],
            # The button that mail programs show; they send this form to the address by themselves (RFC 8058).
            headers={"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        )


def _parts(news: list[Notice]) -> list[Part]:
    """By project; what is said in the same words several times is said once, with its number."""
    found: dict[int, dict[tuple[str, str], int]] = {}
    names: dict[int, str] = {}
    for row in news:
        told: Told = notices.told(row)
        names[told.project.pk] = " ".join(told.project.name.split())
        lines = found.setdefault(told.project.pk, {})
        lines[told.sentence, told.url] = lines.get((told.sentence, told.url), 0) + 1
    return [
        Part(names[pk], [(_times(sentence, n), absolute(url)) for (sentence, url), n in lines.items()])
        for pk, lines in found.items()
    ]


def _times(sentence: str, n: int) -> str:
    return _("%(sentence)s (%(n)s times)") % {"sentence": sentence, "n": n} if n > 1 else sentence


def absolute(path: str) -> str:
    """An address as it can stand in a mail."""
    return urljoin(settings.SITE_URL, path)


# -- switching it off without a log-in ---------------------------------------------------------------------------------


def token_of(user: User) -> str:
    """What the link at the end of a mail carries: it can end the mails of this person, and nothing else."""
    return signing.Signer(salt=SALT).sign_object(user.pk)


def reader_of(token: str) -> User | None:
    """The account whose mails the link ends; None for a link that was not made here. It does not grow old: nor does
    the wish to end a mail that lies in somebody's folder."""
    try:
        return User.objects.filter(pk=signing.Signer(salt=SALT).unsign_object(token)).first()
    except signing.BadSignature:
        return None
