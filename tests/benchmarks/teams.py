"""A project that can be labelled at once, with a team that is logged in; and whether what came in is as it must be."""

from collections import Counter
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import Count, F
from django.utils import timezone

PASSWORD = "correct horse battery"


def published(project: Any) -> Any:
    """The project's guideline, published, with the digest by which it is kept in memory."""
    from projects import guidelines
    from tests import factories

    version = project.versions.published().newest_first().first() or factories.version(project)
    if not version.digest:
        version.digest = guidelines.digest(version)
        version.save(update_fields=["digest"])
    return version


def members(project: Any, count: int, prefix: str) -> list[Any]:
    """`count` annotators of the project, made if they are not there; all have the same password, hashed once."""
    from projects.models import Membership, User

    version = published(project)
    secret = make_password(PASSWORD)
    names = [f"{prefix}{number}" for number in range(count)]
    known = {user.username: user for user in User.objects.filter(username__in=names)}
    made = User.objects.bulk_create(User(username=name, password=secret) for name in names if name not in known)
    known |= {user.username: user for user in made}
    there = set(project.memberships.filter(user__username__in=names).values_list("user__username", flat=True))
    Membership.objects.bulk_create(
        Membership(project=project, user=known[name], alias=name, is_annotator=True, acknowledged=version)
        for name in names
        if name not in there
    )
    return list(project.memberships.filter(user__username__in=names).select_related("user", "project").order_by("pk"))


def session_of(user: Any) -> str:
    """The key of a session in which `user` is logged in: what a log-in by the page gives, without its waiting."""
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)


def lead_of(project: Any) -> Any:
    from tests import factories

    return project.memberships.filter(is_lead=True).first() or factories.member(project, f"lead{project.pk}", "lead")


def open_wave(project: Any, share_percent: int = 10) -> Any:
    """The project's open wave, opened now with all that is fresh if there is none."""
    from annotations import releasing

    published(project)
    wave = project.waves.filter(state="open").first()
    return wave or releasing.open_wave(
        project, by=lead_of(project), at=timezone.now(), share_percent=Decimal(share_percent)
    )


def violations(project: Any, acknowledged: list[str]) -> list[str]:
    """What is not as DESIGN §2.5 and §2.12 have it: a sentence for each kind, none if all is well."""
    from annotations.models import Annotation, Assignment, Slot, WaveItem

    given = Annotation.objects.filter(item__project=project)
    found: list[str] = []

    def check(what: str, wrong: int) -> None:
        if wrong:
            found.append(f"{what}: {wrong:,}")

    twice = sum(times - 1 for times in Counter(acknowledged).values())
    check("labels acknowledged twice", twice)
    there: set[str] = set()
    for start in range(0, len(acknowledged), 500):
        part = given.filter(assignment__uuid__in=acknowledged[start : start + 500])
        there |= {str(uuid) for uuid in part.values_list("assignment__uuid", flat=True)}
    check("acknowledged labels that are not there", len(set(acknowledged) - there))
    check(
        "items with more ratings than drawn",
        WaveItem.objects.filter(item__project=project, rated__gt=F("needed")).count(),
    )
    met = given.filter(seq__isnull=False).values("item", "member", "major").annotate(times=Count("pk"))
    check("items that somebody rated twice", met.filter(times__gt=1).count())
    counted = given.filter(slot__isnull=False).values("wave_item").annotate(times=Count("pk"))
    check("items whose count is not that of their ratings", counted.exclude(times=F("wave_item__rated")).count())
    check("annotations without their first revision", given.exclude(revisions__number=1).count())
    held = Assignment.objects.filter(item__project=project, state="open").values("member").annotate(n=Count("pk"))
    check("people who hold two items", held.filter(n__gt=1).count())
    for wave in project.waves.filter(state="open"):
        left = Slot.objects.unrated().filter(wave=wave)
        measured = left.filter(draw__isnull=False).count()
        check("overlap slots that the wave's counter does not know", abs(measured - wave.overlap_left))
        check("single slots that the wave's counter does not know", abs(left.count() - measured - wave.single_left))
    return found
