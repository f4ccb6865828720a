"""Who may do what. The only module that reads roles (STYLE: one table, one place)."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from projects.enums import Action, Role
from projects.errors import NotAllowed
from projects.models import Invitation, Membership, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from projects.models import MembershipQuerySet, User

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
}
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
    """All that `member` may do; nothing once they are no longer active."""
    if not member.active:
        return set()
    return set().union(*(ROLE_ACTIONS[role] for role in roles(member)))


def allows(member: Membership, action: Action) -> bool:
    return action in actions(member)


def require(member: Membership, action: Action) -> None:
    """Raise NotAllowed (403) with a sentence unless `member` may do `action`."""
    if not allows(member, action):
        wanted = " / ".join(str(role.label) for role in Role if action in ROLE_ACTIONS[role])
        raise NotAllowed(
            _("Your roles in “%(project)s” do not include “%(action)s”: ask an admin of it for the role %(wanted)s.")
            % {"project": member.project.name, "action": Action(action).label, "wanted": wanted}
        )


def member_for(user: "User | AnonymousUser", project: UUID, action: Action) -> Membership:
    """The membership through which `user` may do `action` in `project`.

    404 for those who may not know of the project, 403 with a sentence for members whose roles lack the action.
    """
    member = (
        Membership.objects.active().select_related("project", "user").filter(project__uuid=project, user=user).first()
        if user.is_authenticated
        else None
    )
    if member is None or not actions(member):
        raise Http404(_("There is no such project, or you are not a member of it."))
    require(member, action)
    return member


def projects_of(user: "User") -> "MembershipQuerySet":
    """The active memberships of `user`, with their projects, by name."""
    return Membership.objects.active().select_related("project").filter(user=user).order_by("project__name", "pk")


def members_who_may(project: Project, action: Action) -> list[Membership]:
    """The active members of `project` whose roles include `action`."""
    return [m for m in project.memberships.active().select_related("user").order_by("pk") if allows(m, action)]
