"""The entries of the frame: which pages a member can open, with a count beside some of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, IntegerField, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Concat
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects import access, health
from projects.enums import Action
from projects.models import Membership


@dataclass(frozen=True)
class Entry:
    """One link of the frame. `key` is what a page passes as `nav`; it is shown to whom `action` is allowed."""

    key: str
    title: str | Promise
    url_name: str
    action: Action


@dataclass(frozen=True)
class Link:
    """An entry as one viewer sees it."""

    key: str
    title: str | Promise
    url: str
    current: bool
    beside: str


@dataclass(frozen=True)
class Frame:
    """What stands around a page of a project: its entries, the viewer's projects, for the switch, and how many notices
    are new to them."""

    links: list[Link]
    memberships: list[Membership]
    news: int = 0


ENTRIES = (
    Entry("home", _("Overview"), "agreement:home", Action.SEE_AGREEMENT),
    Entry("label", _("Label"), "annotations:label", Action.LABEL),
    Entry("work", _("My work"), "annotations:my-work", Action.LABEL),
    Entry("guideline", _("Guideline"), "projects:guideline", Action.VIEW),
    Entry("waves", _("Waves"), "annotations:waves", Action.RUN_WAVES),
    Entry("agreement", _("Agreement"), "agreement:agreement", Action.SEE_AGREEMENT),
    Entry("adjudicate", _("Adjudicate"), "annotations:adjudication", Action.ADJUDICATE),
    Entry("inquiries", _("Inquiries"), "annotations:inquiries", Action.EDIT_GUIDELINE),
    Entry("items", _("Items"), "projects:items", Action.SEE_ITEMS),
    Entry("exports", _("Export"), "annotations:exports", Action.EXPORT),
    Entry("members", _("Members"), "projects:members", Action.SEE_MEMBERS),
    Entry("settings", _("Settings"), "projects:settings", Action.SETTINGS),
)

# What stands beside an entry: the rows that wait, to be counted, or a value. Empty, 0 and NULL show nothing.
Beside = Callable[[Membership], "QuerySet[Any] | Subquery"]
BESIDE: dict[str, Beside] = {}
NOTICES = "notices"  # no entry of the project: the viewer's own, of all their projects


def beside(key: str, function: Beside) -> None:
    """Let `function(member)` say what stands beside the entry `key`; called in an app's `AppConfig.ready`.

    All of them are asked in the one query of the frame, on every page of a project: they have to be cheap, and must
    tell nobody what they may not see.
    """
    BESIDE[key] = function


class _Count(Subquery):
    """How many rows there are, as a value of another query."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def newest_number(member: Membership) -> Subquery:
    """The number of the guideline that is labelled under now."""
    number = Concat(Cast("major", CharField()), Value("."), Cast("minor", CharField()))
    return Subquery(member.project.versions.published().newest_first().values(number_shown=number)[:1])


def url_of(name: str, member: Membership, *more: object) -> str:
    """The address of a project page, or nothing where that page is not part of this installation."""
    try:
        return reverse(name, args=[member.project.uuid, *more])
    except NoReverseMatch:
        return ""


def frame(member: Membership, current: str = "") -> Frame:
    """The entries that `member` can use, in the frame's order, and their projects: one query, which brings the signs
    of life for the banner too, when it is time to look for them."""
    allowed = access.actions(member)
    shown = [(entry, url_of(entry.url_name, member)) for entry in ENTRIES if entry.action in allowed]
    asked = {f"beside_{e.key}": _value(BESIDE[e.key](member)) for e, url in shown if url and e.key in BESIDE}
    if current != "label" and NOTICES in BESIDE:  # the labelling page is not to pay for them
        asked[f"beside_{NOTICES}"] = _value(BESIDE[NOTICES](member))
    if Action.SEE_ITEMS in allowed:
        asked |= health.asked()
    memberships = list(access.projects_of(member.user).annotate(**asked)) if member.user else []
    said = vars(memberships[0]) if memberships else {}
    health.told(said)
    links = [Link(e.key, e.title, url, e.key == current, _said(said, e.key)) for e, url in shown if url]
    return Frame(links, memberships, int(_said(said, NOTICES) or 0))


def _value(found: "QuerySet[Any] | Subquery") -> Subquery:
    return found if isinstance(found, Subquery) else _Count(found.order_by().values("pk"))


def _said(said: Mapping[str, Any], key: str) -> str:
    return str(said.get(f"beside_{key}") or "")


def start(member: Membership) -> str:
    """Where `member` begins in the project: its overview, or the next item for who only annotates.

    In an archived one nothing is served: they begin with its guideline.
    """
    allowed = access.actions(member)
    first = [("agreement:home", Action.SEE_AGREEMENT), ("annotations:label", Action.LABEL)]
    wanted = next((name for name, action in first if action in allowed), "projects:guideline")
    return url_of(wanted, member) or url_of("projects:guideline", member)


beside("guideline", newest_number)
