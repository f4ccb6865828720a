"""The effect of examples as their pages show it: rates as sentences, with a link to the items of every count."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.effects import Change, Effect, Part, Rate
from annotations import imported
from projects.models import GuidelineVersion
from projects.reading import ExampleReading


@dataclass(frozen=True)
class PartLink:
    """One draw of a rate: its count in words, and its cell of the confusion table."""

    wave: str
    count: str
    url: str


@dataclass(frozen=True)
class RateLine:
    """`value` is a percentage; `between` its interval; `count` says how many of how many items.

    `note` has to stand beside it; empty: nothing.
    """

    value: str
    between: str
    count: str
    versions: str
    parts: list[PartLink]
    note: str


@dataclass(frozen=True)
class Row:
    """An example under a version. `own`: the version brought or changed it."""

    effect: Effect
    version: GuidelineVersion
    own: bool
    example: ExampleReading
    names: tuple[str, str]
    url: str
    before: list[RateLine]
    after: list[RateLine]
    change: str
    between: str
    no_before: str
    no_after: str


def rows(effects: Sequence[Effect], version: GuidelineVersion) -> list[Row]:
    return [row(one, version) for one in effects]


def row(effect: Effect, version: GuidelineVersion) -> Row:
    change = effect.change
    project = version.project.uuid
    return Row(
        effect=effect,
        version=version,
        own=effect.entered.pk == version.pk,
        example=effect.example,
        names=effect.names,
        url=reverse("agreement:effect-example", args=[project, effect.lineage]),
        before=[_line(rate, effect, version) for rate in effect.before],
        after=[_line(rate, effect, version) for rate in effect.after],
        change=points(change.value) if change else "",
        between=_between(change) if change else "",
        no_before="" if effect.why_not or effect.before else _no_before(effect),
        no_after="" if effect.why_not or effect.after else _no_after(version),
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def points(share: float) -> str:
    """A difference in percentage points, with its sign."""
    return f"{100 * share:+.1f}".replace("-", "−")


def _between(change: Change) -> str:
    said = {"low": points(change.interval.low), "high": points(change.interval.high)}
    return _("95 %% between %(low)s and %(high)s") % said


def _line(rate: Rate, effect: Effect, version: GuidelineVersion) -> RateLine:
    span = rate.interval
    return RateLine(
        value=_("%(value)s %%") % {"value": percent(rate.value)},
        between=_("95 %% between %(low)s and %(high)s") % {"low": percent(span.low), "high": percent(span.high)},
        count=_count(rate),
        versions=rate.versions,
        parts=[_part(part, effect, version) for part in rate.parts],
        note=next((mark for part in rate.parts if (mark := imported.mark(part.draw))), ""),
    )


def _count(rate: Rate | Part) -> str:
    said = {"items": rate.items, "n": rate.n}
    return ngettext("%(items)s of %(n)s item", "%(items)s of %(n)s items", rate.n) % said


def _part(part: Part, effect: Effect, version: GuidelineVersion) -> PartLink:
    one, other = sorted((str(effect.example.value), str(effect.example.confused_with)))
    question = effect.example.question_key
    return PartLink(
        wave=_("wave %(number)s") % {"number": part.draw.wave.number},
        count=_count(part),
        url=reverse("agreement:cell", args=[version.project.uuid, part.draw.uuid, question, one, other]),
    )


def _no_before(effect: Effect) -> str:
    old = effect.entered.based_on
    if old is None:
        return _("It was there from the first version on: nothing was measured without it.")
    return _("No draw was closed under %(version)s in which this could be counted.") % {"version": f"{old.major}.x"}


def _no_after(version: GuidelineVersion) -> str:
    return _("No draw is closed under %(version)s yet in which this could be counted.") % {
        "version": f"{version.major}.x"
    }
