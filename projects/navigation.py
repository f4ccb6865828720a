"""The entries of the frame: which pages a member can open, with a count beside some of them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects import access
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

# What stands beside an entry: a count of what waits, or the guideline's number. Empty, 0 and None show nothing.
Beside = Callable[[Membership], int | str | None]
BESIDE: dict[str, Beside] = {}


def beside(key: str, function: Beside) -> None:
    """Let `function(member)` say what stands beside the entry `key`; called in an app's `AppConfig.ready`.

    It runs on every page of a project, so it may cost one cheap query, and must tell nobody what they may not see.
    """
    BESIDE[key] = function


def newest_number(member: Membership) -> str:
    """The number of the guideline that is labelled under now."""
    newest = member.project.versions.published().newest_first().only("major", "minor").first()
    return newest.number if newest else ""


def url_of(name: str, member: Membership) -> str:
    """The address of a project page, or nothing where that page is not part of this installation."""
    try:
        return reverse(name, args=[member.project.uuid])
    except NoReverseMatch:
        return ""


def links(member: Membership, current: str = "") -> list[Link]:
    """The entries that `member` can use, in the frame's order."""
    allowed = access.actions(member)
    shown = [(entry, url_of(entry.url_name, member)) for entry in ENTRIES if entry.action in allowed]
    return [Link(e.key, e.title, url, e.key == current, _said(e.key, member)) for e, url in shown if url]


def _said(key: str, member: Membership) -> str:
    said = BESIDE[key](member) if key in BESIDE else None
    return str(said) if said else ""


def start(member: Membership) -> str:
    """Where `member` begins in the project: its overview, or the next item for who only annotates."""
    wanted = "agreement:home" if access.allows(member, Action.SEE_AGREEMENT) else "annotations:label"
    return url_of(wanted, member) or url_of("projects:guideline", member)


beside("guideline", newest_number)
