"""The log of a project: what leads and admins did, and what the system did for them.

Each act is a row of its own, written by the domain function in the transaction of the act. The other way, to read the
log out of the rows that acts leave behind, was not taken: much leaves none (a change of roles or settings overwrites,
a member who comes back loses the day on which they left, a merged label is gone from the draft), and a page by person,
kind and day over a dozen tables could be neither ordered nor paged by an index. One row more for each act of a lead
costs nothing; what annotators do at the labelling page is in its own tables and never here.

A row holds numbers, names of things and reasons, no value of a label and no item. People are links to memberships, so
that a log reads by a lasting pseudonym once an account is gone. What tells something of a draw while it is open names
its wave in `until_closed`: `annotations.activity_log` decides who may read it before.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects import navigation
from projects.enums import Action, Role
from projects.models import Activity, Membership, Project

Facts = Mapping[str, Any]

PEOPLE, ITEMS, GUIDELINE, WAVES = "people", "items", "guideline", "waves"
MEASUREMENT, CONFLICTS, SETTINGS, FILES = "measurement", "conflicts", "settings", "files"
TOPICS: dict[str, str | Promise] = {
    PEOPLE: gettext_lazy("People"),
    ITEMS: gettext_lazy("Items"),
    GUIDELINE: gettext_lazy("Guideline"),
    WAVES: gettext_lazy("Waves"),
    MEASUREMENT: gettext_lazy("Measurement"),
    CONFLICTS: gettext_lazy("Conflicts"),
    SETTINGS: gettext_lazy("Settings"),
    FILES: gettext_lazy("Exports"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of act: its topic, its name in filters, and its sentence, which `words` fills from the row's facts.

    `url_name` is a page of the project about it, for those whom `action` is allowed; `named`: it takes the subject.
    """

    key: str
    topic: str
    title: str | Promise
    sentence: str | Promise
    words: Callable[[Facts], Facts] = dict
    url_name: str = ""
    action: Action = Action.VIEW
    named: bool = False


KINDS: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    """Let these kinds be recorded; called at import here, and in a higher app's `AppConfig.ready`."""
    KINDS.update({kind.key: kind for kind in kinds})


def record(
    kind: str,
    project: Project | int,
    *,
    by: Membership | None,
    about: Membership | None = None,
    subject: UUID | None = None,
    until_closed: UUID | None = None,
    at: datetime | None = None,
    **facts: Any,
) -> None:
    """Write down an act, in the caller's transaction. Plain facts only: `sentence` has to be able to say them."""
    Activity.objects.create(
        project_id=project if isinstance(project, int) else project.pk,
        topic=_topic(kind),
        kind=kind,
        by=by,
        about=about,
        subject=subject,
        until_closed=until_closed,
        facts=facts,
        at=at or timezone.now(),
    )


def record_for(kind: str, members: Iterable[Membership], *, at: datetime | None = None) -> None:
    """The same act of one person in each project of theirs: `members` are their memberships."""
    topic, at = _topic(kind), at or timezone.now()
    Activity.objects.bulk_create(
        Activity(project_id=one.project_id, topic=topic, kind=kind, by=one, at=at) for one in members
    )


def _topic(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"{kind} is no kind of act: register it in AppConfig.ready")
    return KINDS[kind].topic


def said(row: Activity) -> str:
    """What was done, in a sentence. A kind of an app that is not there any more is said by its key."""
    kind = KINDS.get(row.kind)
    if kind is None:
        return row.kind
    names = {"whom": row.about.name if row.about else ""}
    return str(kind.sentence) % (dict(kind.words(row.facts)) | names)


def title(row: Activity) -> str:
    """The name of the row's kind."""
    kind = KINDS.get(row.kind)
    return str(kind.title) if kind else row.kind


def url(row: Activity, viewer: Membership, allowed: Iterable[Action]) -> str:
    """The page about it, where `viewer`, who may do `allowed`, can open one."""
    kind = KINDS.get(row.kind)
    if kind is None or not kind.url_name or kind.action not in allowed or (kind.named and row.subject is None):
        return ""
    return navigation.url_of(kind.url_name, viewer, *([row.subject] if kind.named else []))


# -- words -------------------------------------------------------------------------------------------------------------


def roles_in_words(facts: Facts) -> Facts:
    """Keys of roles under "roles" and "before", by their names."""
    found = dict(facts)
    for name in ("roles", "before"):
        if name in found:
            found[name] = ", ".join(str(Role(key).label) for key in found[name]) or _("none")
    return found


def roles_as_facts(roles: Iterable[Role]) -> list[str]:
    """Roles as they are kept, in their order."""
    held = set(roles)
    return [role.value for role in Role if role in held]


def with_reason(facts: Facts) -> dict[str, Any]:
    """A reason in quotes behind a colon, where one was given."""
    reason = str(facts.get("reason") or "").removesuffix(".")  # the sentence around it has its own
    return dict(facts) | {"reason": _(": “%(reason)s”") % {"reason": reason} if reason else ""}


def fields_in_words(facts: Facts) -> Facts:
    """The names of changed fields."""
    known = {
        "name": _("name"),
        "description": _("description"),
        "notice": _("notice"),
        "comment_required": _("whether labels need a comment"),
    }
    return dict(facts) | {"fields": ", ".join(str(known.get(name, name)) for name in facts.get("fields", []))}


_MEMBERS: dict[str, Any] = {"url_name": "projects:members", "action": Action.SEE_MEMBERS}
_VERSION: dict[str, Any] = {"url_name": "projects:guideline-version", "action": Action.VIEW, "named": True}
_DRAFT: dict[str, Any] = {"url_name": "projects:guideline-draft", "action": Action.EDIT_GUIDELINE}
_ITEMS: dict[str, Any] = {"url_name": "projects:items", "action": Action.SEE_ITEMS}
_SETTINGS: dict[str, Any] = {"url_name": "projects:settings", "action": Action.SETTINGS}

register(
    Kind("project_founded", SETTINGS, gettext_lazy("project made"), gettext_lazy("Made the project.")),
    Kind(
        "settings_changed",
        SETTINGS,
        gettext_lazy("settings changed"),
        gettext_lazy("Changed the settings: %(fields)s."),
        fields_in_words,
        **_SETTINGS,
    ),
    Kind(
        "project_cloned",
        SETTINGS,
        gettext_lazy("project cloned"),
        gettext_lazy("Made another project like it, “%(name)s”."),
    ),
    Kind("project_archived", SETTINGS, gettext_lazy("project archived"), gettext_lazy("Archived the project.")),
    Kind(
        "project_taken_back",
        SETTINGS,
        gettext_lazy("project taken back"),
        gettext_lazy("Took the project back from the archive."),
    ),
    Kind(
        "deletion_asked",
        SETTINGS,
        gettext_lazy("deletion asked for"),
        gettext_lazy("Asked for the project to be deleted, in %(days)s days."),
    ),
    Kind("project_restored", SETTINGS, gettext_lazy("project restored"), gettext_lazy("Restored the project.")),
    Kind(
        "token_made",
        SETTINGS,
        gettext_lazy("API token made"),
        gettext_lazy("Made an API token, which acts with their roles."),
    ),
    Kind("token_revoked", SETTINGS, gettext_lazy("API token revoked"), gettext_lazy("Revoked their API token.")),
    Kind(
        "member_added",
        PEOPLE,
        gettext_lazy("member added"),
        gettext_lazy("Added %(whom)s as %(roles)s."),
        roles_in_words,
        **_MEMBERS,
    ),
    Kind(
        "member_joined",
        PEOPLE,
        gettext_lazy("member joined"),
        gettext_lazy("Joined by an invitation, as %(roles)s."),
        roles_in_words,
        **_MEMBERS,
    ),
    Kind(
        "member_invited",
        PEOPLE,
        gettext_lazy("invitation made"),
        gettext_lazy("Invited somebody as %(roles)s."),
        roles_in_words,
        **_MEMBERS,
    ),
    Kind(
        "invitation_withdrawn",
        PEOPLE,
        gettext_lazy("invitation withdrawn"),
        gettext_lazy("Withdrew an invitation as %(roles)s."),
        roles_in_words,
        **_MEMBERS,
    ),
    Kind(
        "roles_changed",
        PEOPLE,
        gettext_lazy("roles changed"),
        gettext_lazy("Changed the roles of %(whom)s from %(before)s to %(roles)s."),
        roles_in_words,
        **_MEMBERS,
    ),
    Kind(
        "member_left",
        PEOPLE,
        gettext_lazy("member left"),
        gettext_lazy("Ended the membership of %(whom)s."),
        **_MEMBERS,
    ),
    Kind(
        "member_returned",
        PEOPLE,
        gettext_lazy("member came back"),
        gettext_lazy("Took %(whom)s back as a member."),
        **_MEMBERS,
    ),
    Kind(
        "items_imported",
        ITEMS,
        gettext_lazy("items imported"),
        gettext_lazy("Imported “%(name)s”, %(items)s items."),
        **_ITEMS,
    ),
    Kind("draft_discarded", GUIDELINE, gettext_lazy("draft discarded"), gettext_lazy("Threw the draft away.")),
    Kind(
        "label_merged",
        GUIDELINE,
        gettext_lazy("label merged"),
        gettext_lazy("Draft, “%(question)s”: merged the label “%(label)s” into “%(into)s”."),
        **_DRAFT,
    ),
    Kind(
        "label_split",
        GUIDELINE,
        gettext_lazy("label divided"),
        gettext_lazy("Draft, “%(question)s”: divided the label “%(label)s” into %(parts)s."),
        **_DRAFT,
    ),
    Kind(
        "label_retired",
        GUIDELINE,
        gettext_lazy("label retired"),
        gettext_lazy("Draft, “%(question)s”: retired the label “%(label)s”; old ones become %(becomes)s."),
        lambda facts: dict(facts) | {"becomes": f"“{facts['becomes']}”" if facts["becomes"] else _("nothing else")},
        **_DRAFT,
    ),
    Kind(
        "label_becomes",
        GUIDELINE,
        gettext_lazy("what becomes of a retired label"),
        gettext_lazy("Draft, “%(question)s”: old labels “%(label)s” become %(becomes)s."),
        lambda facts: dict(facts) | {"becomes": f"“{facts['becomes']}”" if facts["becomes"] else _("nothing else")},
        **_DRAFT,
    ),
    Kind(
        "guideline_published",
        GUIDELINE,
        gettext_lazy("guideline published"),
        gettext_lazy("Published guideline %(number)s, %(change)s%(reason)s."),
        lambda facts: with_reason(facts) | {"change": _("material") if facts["material"] else _("editorial")},
        **_VERSION,
    ),
    Kind(
        "guideline_shown",
        GUIDELINE,
        gettext_lazy("guideline shown to anybody"),
        gettext_lazy("Let anybody who has the address read guideline %(number)s."),
        **_VERSION,
    ),
    Kind(
        "guideline_hidden",
        GUIDELINE,
        gettext_lazy("guideline shown to members only"),
        gettext_lazy("Let only the members of the project read guideline %(number)s."),
        **_VERSION,
    ),
)
