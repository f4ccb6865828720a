"""Publishing a guideline version, and seeing that annotators read what changed before their next item."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from annotations import draws, eligibility, label_counts, practice
from annotations.enums import DrawState, SlotState
from annotations.models import Acknowledgement, Annotation, Slot, Wave, WaveItem
from annotations.retrying import retrying
from projects import access, guidelines, label_plans
from projects.differences import Differences
from projects.enums import Action
from projects.errors import DomainError, NotAllowed
from projects.label_plans import Retired
from projects.models import GuidelineVersion, Membership, Project


class NewerVersion(DomainError):
    """A newer version came out while the member was reading."""

    code = "newer_version"


@retrying
def publish(
    draft: GuidelineVersion,
    *,
    change: str,
    reason: str,
    by: Membership,
    at: datetime,
    seen: str | None = None,
) -> GuidelineVersion:
    """Publish the draft. A new MAJOR ends the waves of the old one, their draws early; all of it or nothing.

    `seen`: the digest of the draft that the publisher read; refused if it changed since.
    """
    access.require(by, Action.PUBLISH)
    # The lock that opening a wave takes: no wave of the old MAJOR slips in between.
    Project.objects.select_for_update(no_key=True).get(pk=draft.project_id)
    version = guidelines.publish(draft, change=change, reason=reason, by=by, at=at, seen=seen)
    for wave in ending(version.project, version.major):
        draws.close_wave(
            wave, by=by, at=at, reason=_("guideline %(number)s was published") % {"number": version.number}
        )
    return version


def ending(project: Project, major: int | None = None) -> list[Wave]:
    """The unfinished waves, and samples, that the new MAJOR `major` ends: under an older one; without it, all."""
    waves = Wave.unseen.unfinished().filter(project=project).select_related("version")
    return list(waves if major is None else waves.exclude(major=major))


# -- what publishing means, for the page that asks whether to ----------------------------------------------------------


@dataclass(frozen=True)
class EndingWave:
    """A wave that a new MAJOR ends: how far its measurement has come, and how many items become fresh again."""

    wave: Wave
    rated: int
    measured: int
    unrated: int


@dataclass(frozen=True)
class Outlook:
    """What publishing as material ends, what there is to go on with, and who has to read the new version."""

    waves: list[EndingWave]
    samples: list[Wave]
    fresh: int
    ledger: eligibility.Ledger
    readers: int

    @property
    def fresh_afterwards(self) -> int:
        return self.fresh + sum(one.unrated for one in self.waves)


def outlook(draft: GuidelineVersion) -> Outlook:
    """What publishing `draft` as material would mean for the work in the project."""
    project = draft.project
    ledger = eligibility.ledger(project)
    unfinished = ending(project) if draft.based_on else []
    return Outlook(
        waves=[_ending_wave(wave) for wave in unfinished if not wave.is_sample],
        samples=[wave for wave in unfinished if wave.is_sample],
        fresh=ledger.fresh,
        ledger=ledger,
        readers=len(access.members_who_may(project, Action.LABEL)),
    )


@dataclass(frozen=True)
class OldLabel:
    """A label that the draft retires, and the labels on single items that this leaves as they are or maps."""

    retired: Retired
    singles: int
    ratings: int


def old_labels(draft: GuidelineVersion) -> list[OldLabel]:
    """What becomes of the labels that the draft retires; a query or two for each question that loses one."""
    found = label_plans.retired(draft)
    counts = {key: label_counts.of_question(draft.project, key) for key in {one.question.key for one in found}}
    return [
        OldLabel(one, of.singles(one.label.key), of.ratings(one.label.key))
        for one in found
        if (of := counts[one.question.key])
    ]


def _ending_wave(wave: Wave) -> EndingWave:
    slots = Slot.objects.filter(wave=wave, draw__isnull=False, draw__state=DrawState.OPEN)
    untouched = WaveItem.objects.filter(wave=wave).filter(~Exists(Annotation.objects.filter(item=OuterRef("item"))))
    return EndingWave(
        wave=wave,
        rated=slots.filter(state=SlotState.RATED).count(),
        measured=slots.count(),
        unrated=untouched.count(),
    )


# -- reading it --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class News:
    """What a member has to read. `since`: the version they read last; without one the whole guideline is new."""

    version: GuidelineVersion
    since: GuidelineVersion | None
    differences: Differences


def must_acknowledge(member: Membership) -> GuidelineVersion | None:
    """The version that `member` has to read before the next item, if there is one."""
    newest = guidelines.newest(member.project)
    return None if newest is None or newest.pk == member.acknowledged_id else newest


def whats_new(member: Membership) -> News | None:
    """What changed since the version that `member` read last; None where they have read the newest."""
    version = must_acknowledge(member)
    if version is None:
        return None
    since = member.acknowledged
    return News(version, since, guidelines.differences(since, version))


def read_before(member: Membership, version: GuidelineVersion) -> GuidelineVersion | None:
    """The version that `member` read last before `version`, so that they can look once more at what changed."""
    earlier = Q(version__major__lt=version.major) | Q(version__major=version.major, version__minor__lt=version.minor)
    rows = Acknowledgement.objects.filter(earlier, member=member).select_related("version")
    newest = rows.order_by("-version__major", "-version__minor").first()
    return newest.version if newest else None


@transaction.atomic
def acknowledge(member: Membership, version: GuidelineVersion, *, at: datetime) -> None:
    """`member` has read `version`. May be repeated. Raises DomainError if a newer one was published meanwhile."""
    if version.project_id != member.project_id or version.is_draft:
        raise NotAllowed(_("This guideline is not one that you can be asked to read."))
    newest = guidelines.newest(member.project)
    if newest is not None and newest.pk != version.pk:
        raise NewerVersion(
            _("Guideline %(number)s was published meanwhile: read what changed in it.") % {"number": newest.number}
        )
    Acknowledgement.objects.get_or_create(member=member, version=version, defaults={"at": at})
    Membership.objects.filter(pk=member.pk).update(acknowledged=version)
    member.acknowledged = version


@dataclass(frozen=True)
class Readers:
    """Which active annotators have read a version, and which have not."""

    have: list[Membership]
    have_not: list[Membership]


def readers(version: GuidelineVersion) -> Readers:
    """Who has read `version` or a newer one, for a lead."""
    people = list(version.project.memberships.annotators().select_related("user").order_by("alias", "pk"))
    have = set(
        Acknowledgement.objects.filter(version=version, member__in=people).values_list("member_id", flat=True)
    ) | {person.pk for person in people if person.acknowledged_id == version.pk}
    return Readers([p for p in people if p.pk in have], [p for p in people if p.pk not in have])


@dataclass(frozen=True)
class ReadingRow:
    """An annotator and a version: when they read it, and how their practice went, where there is one."""

    member: Membership
    has_read: bool
    at: datetime | None
    standing: practice.Standing | None


def reading_rows(version: GuidelineVersion) -> list[ReadingRow]:
    """Every active annotator: who has not read `version` first, then by name."""
    found = readers(version)
    people = [*found.have_not, *found.have]
    times = dict(Acknowledgement.objects.filter(version=version, member__in=people).values_list("member_id", "at"))
    standings = practice.standings(version, people)
    have = {member.pk for member in found.have}
    return [ReadingRow(member, member.pk in have, times.get(member.pk), standings.get(member.pk)) for member in people]
