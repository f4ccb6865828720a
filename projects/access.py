"""Who may do what. The only module that reads roles (STYLE: one table, one place).

Here alone stands, too, what rests: in an archived project everybody may only read, and one that waits to be deleted is
closed to all but its admins, who may restore it.
"""

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from projects.enums import Action, JobKind, Role
from projects.errors import AtRest, NotAllowed
from projects.models import Invitation, Membership, MembershipQuerySet, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from projects.models import User

ANNOTATOR_ACTIONS = {Action.VIEW, Action.LABEL}
LEAD_ACTIONS = {
    Action.VIEW,
    Action.SEE_ITEMS,
    Action.IMPORT,
    Action.EDIT_GUIDELINE,
    Action.PUBLISH,
    Action.RUN_WAVES,
    Action.SEE_AGREEMENT,
    Action.ADJUDICATE,
    Action.EXPORT,
    Action.SEE_MEMBERS,
    Action.SEE_ACTIVITY,
}
ADMIN_ACTIONS = {
    Action.VIEW,
    Action.SEE_ITEMS,
    Action.IMPORT,
    Action.EDIT_GUIDELINE,
    Action.PUBLISH,
    Action.RUN_WAVES,
    Action.SEE_AGREEMENT,
    Action.EXPORT,
    Action.SEE_MEMBERS,
    Action.SEE_ACTIVITY,
    Action.MANAGE_MEMBERS,
    Action.SETTINGS,
    Action.WAIVE_GATE,
    Action.MANAGE_PROJECT,
}
# What can be done in an archived project. None of it writes there, but for a file that is made for who exports.
READING = {
    Action.VIEW,
    Action.SEE_ITEMS,
    Action.SEE_AGREEMENT,
    Action.SEE_MEMBERS,
    Action.SEE_ACTIVITY,
    Action.EXPORT,
    Action.MANAGE_PROJECT,
}
READING_JOBS = (JobKind.EXPORT, JobKind.MAIL)
ROLE_ACTIONS: dict[Role, set[Action]] = {
    Role.ANNOTATOR: ANNOTATOR_ACTIONS,
    Role.LEAD: LEAD_ACTIONS | {Action.WAIVE_GATE},
    Role.ADMIN: ADMIN_ACTIONS,
}


def roles(member: Membership | Invitation) -> set[Role]:
    """The roles that a member holds, or that an invitation will give."""
    held = {Role.ANNOTATOR: member.is_annotator, Role.LEAD: member.is_lead, Role.ADMIN: member.is_admin}
    return {role for role, has in held.items() if has}


def set_roles(member: Membership, wanted: set[Role]) -> None:
    """Set the role fields of `member`; the caller saves."""
    member.is_annotator, member.is_lead, member.is_admin = (r in wanted for r in Role)


def actions(member: Membership) -> set[Action]:
    """All that `member` may do; nothing once they are no longer active, and only what a project at rest allows."""
    if not member.active or not (held := _of_roles(member)):
        return set()
    project = member.project
    if project.delete_after is not None:
        return held & {Action.MANAGE_PROJECT}
    return held if project.archived_at is None else held & READING


def _of_roles(member: Membership) -> set[Action]:
    return set().union(*(ROLE_ACTIONS[role] for role in roles(member)))


def allows(member: Membership, action: Action) -> bool:
    return action in actions(member)


def require(member: Membership, action: Action) -> None:
    """Raise NotAllowed (403) with a sentence unless `member` may do `action`."""
    if not allows(member, action):
        if member.active and action in _of_roles(member):
            require_live(member.project)
        wanted = " / ".join(str(role.label) for role in Role if action in ROLE_ACTIONS[role])
        raise NotAllowed(
            _("Your roles in “%(project)s” do not include “%(action)s”: ask an admin of it for the role %(wanted)s.")
            % {"project": member.project.name, "action": Action(action).label, "wanted": wanted}
        )


def live(path: str = "") -> Q:
    """The condition on rows whose project, at `path`, neither rests nor is being deleted."""
    start = f"{path}__" if path else ""
    return Q(**{f"{start}archived_at": None, f"{start}delete_after": None})


def require_live(project: Project) -> None:
    """Raise AtRest with a sentence where nothing may be written in `project`."""
    require_kept(project)
    if project.archived_at is not None:
        said = _(
            "“%(project)s” is archived: it can be read, and nothing is labelled or changed in it until an admin of it "
            "takes it back."
        )
        raise AtRest(said % {"project": project.name}, code="archived")


def require_kept(project: Project) -> None:
    """Raise AtRest with a sentence where `project` waits to be deleted."""
    if project.delete_after is not None:
        until = date_format(timezone.localtime(project.delete_after), "DATETIME_FORMAT")
        said = _("“%(project)s” is closed and will be deleted, unless an admin of it restores it before %(until)s.")
        raise AtRest(said % {"project": project.name, "until": until}, code="deleting")


def member_for(user: "User | AnonymousUser", project: UUID, action: Action) -> Membership:
    """The membership through which `user` may do `action` in `project`.

    404 for those who may not know of the project, 403 with a sentence for members whose roles lack the action.
    """
    member = (
        Membership.objects.active().select_related("project", "user").filter(project__uuid=project, user=user).first()
        if user.is_authenticated
        else None
    )
    if member is None or not _of_roles(member):
        raise Http404(_("There is no such project, or you are not a member of it."))
    require(member, action)
    return member


def projects_of(user: "User") -> MembershipQuerySet:
    """The active memberships of `user`, with their projects, by name; without those that wait to be deleted."""
    return _memberships(user).filter(project__delete_after=None)


def closing_of(user: "User") -> MembershipQuerySet:
    """The memberships of `user` in projects that wait to be deleted, where they are an admin and may restore it."""
    return _memberships(user).filter(project__delete_after__isnull=False, is_admin=True)


def _memberships(user: "User") -> MembershipQuerySet:
    return Membership.objects.active().select_related("project").filter(user=user).order_by("project__name", "pk")


def members_who_may(project: Project, action: Action) -> list[Membership]:
    """The active members of `project` whose roles include `action`."""
    found = project.memberships.active().select_related("user", "project").order_by("pk")
    return [member for member in found if allows(member, action)]
