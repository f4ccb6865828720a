"""A wave as leads see it: how far it is, what it waits for, what its closed draw proves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Q
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations import draws
from annotations.enums import SlotState, WaveState
from annotations.models import Annotation, Draw, Seat, Slot, Wave
from annotations.sheets import first_words
from projects import access
from projects.enums import Role
from projects.models import Membership

ITEM_WORDS = 90


@dataclass(frozen=True)
class Progress:
    """Labels given of those that the wave asks for; by kind only for who may see the draw's figures."""

    given: int
    wanted: int
    overlap: tuple[int, int] | None = None
    single: tuple[int, int] | None = None

    @property
    def percent(self) -> int:
        return 100 * self.given // self.wanted if self.wanted else 100


@dataclass(frozen=True)
class Row:
    """A line of the list. `together`: the numbers of the waves that were opened with it, one for each panel."""

    wave: Wave
    draw: Draw | None
    progress: Progress | None
    together: tuple[int, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """What an open draw still waits for, in a sentence; `short`: nobody present may give it, so it may close short."""

    sentence: str
    short: bool = False
    cover: bool = False
    items: tuple[str, ...] = ()


def rows(member: Membership) -> list[Row]:
    """The project's waves, the newest first."""
    found = member.project.waves.select_related("version", "draw__closed_by", "panel").defer("draw__population")
    rows = list(found.order_by("-number"))
    by_split: dict[int, list[int]] = {}
    for wave in reversed(rows):
        if hasattr(wave, "panel"):
            by_split.setdefault(wave.panel.split_id, []).append(wave.number)
    return [
        Row(
            wave,
            draw_of(wave),
            progress(wave),
            tuple(n for n in by_split[wave.panel.split_id] if n != wave.number) if hasattr(wave, "panel") else (),
        )
        for wave in rows
    ]


def find(member: Membership, uuid: UUID) -> Wave:
    """A wave of the member's project; Http404."""
    found = member.project.waves.select_related("version", "project", "opened_by__user", "cover_released_by__user")
    wave = found.select_related("draw__closed_by__user").defer("draw__population").filter(uuid=uuid).first()
    if wave is None:
        raise Http404(_("There is no such wave in this project."))
    return wave


def draw_of(wave: Wave) -> Draw | None:
    return getattr(wave, "draw", None)


def progress(wave: Wave, *, by_kind: bool = False) -> Progress | None:
    """How far an open wave is, from its own counters: the same cost at every size. None while it is being opened."""
    if wave.state != WaveState.OPEN:
        return None
    draw = draw_of(wave)
    # A draw that was closed asks for nothing more: what was left of it is cancelled.
    overlap_all = wave.overlap_all if draw is None or draw.is_open else 0
    overlap = (overlap_all - wave.overlap_left, overlap_all)
    single = (wave.single_all - wave.single_left, wave.single_all)
    given, wanted = overlap[0] + single[0], overlap[1] + single[1]
    if not by_kind or not overlap_all:
        return Progress(given, wanted)
    return Progress(given, wanted, overlap, single)


def outcome(wave: Wave) -> Progress:
    """What was labelled of a wave that is closed; counts its slots."""
    rated = Count("pk", filter=Q(state=SlotState.RATED))
    overlap = Slot.objects.filter(wave=wave, draw__isnull=False).aggregate(rated=rated, all=Count("pk"))
    single = Slot.objects.filter(wave=wave, draw__isnull=True).aggregate(rated=rated, all=Count("pk"))
    return Progress(
        overlap["rated"] + single["rated"],
        overlap["all"] + single["all"],
        (overlap["rated"], overlap["all"]),
        (single["rated"], single["all"]),
    )


def may_give_up(draw: Draw | None, member: Membership) -> bool:
    """Whether `member` annotates and could still be served overlap of an open draw."""
    if draw is None or not draw.is_open or Role.ANNOTATOR not in access.roles(member):
        return False
    return not Seat.objects.filter(wave=draw.wave_id, member=member, gave_up_at__isnull=False).exists()


# -- what an open draw waits for ---------------------------------------------------------------------------------------


def waiting(draw: Draw, fields: Sequence[str], *, at: datetime) -> Waiting:
    """In words. For those who may see the draw's figures: it names items of the overlap."""
    left = draws.leftovers(draw, at=at)
    if not left.slots:
        return _waits_for_windows(draw, at)
    ratings = ngettext("%(n)s measured rating is left", "%(n)s measured ratings are left", left.slots) % {
        "n": left.slots
    }
    if left.fillable:
        held = ngettext(", %(n)s of them in work", ", %(n)s of them in work", left.held) if left.held else ""
        return Waiting(
            _("%(ratings)s%(held)s. %(names)s can give them.")
            % {"ratings": ratings, "held": held % {"n": left.held} if held else "", "names": _names(left.fillable)}
        )
    items = tuple(first_words(row.item, fields, ITEM_WORDS) for row in left.items)
    if left.barred:
        return Waiting(
            _(
                "%(ratings)s that only %(names)s could give, and they were told that nothing is left for them: from "
                "here on raters could know what is measured. Release the cover, or close short."
            )
            % {"ratings": ratings, "names": _names(left.barred)},
            short=True,
            cover=True,
            items=items,
        )
    return Waiting(
        _("%(ratings)s that nobody present may give. Add an annotator, or close short.") % {"ratings": ratings},
        short=True,
        items=items,
    )


def _waits_for_windows(draw: Draw, at: datetime) -> Waiting:
    ends = Annotation.objects.filter(draw=draw, window_ends__gt=at).aggregate(last=Max("window_ends"))["last"]
    if ends is None:
        return Waiting(_("All measured ratings are given: the draw closes within moments."))
    minutes = max(1, round((ends - at).total_seconds() / 60))
    return Waiting(
        ngettext(
            "All measured ratings are given. The draw closes when the last of them can no longer be corrected: in "
            "%(n)s minute at the latest.",
            "All measured ratings are given. The draw closes when the last of them can no longer be corrected: in "
            "%(n)s minutes at the latest.",
            minutes,
        )
        % {"n": minutes}
    )


def _names(members: Iterable[Membership]) -> str:
    return ", ".join(sorted(member.name for member in members))
