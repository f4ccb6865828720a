"""Who belongs to a project: founding it, adding and inviting people, their roles, their leaving."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import access, activities
from projects.enums import Action, Role
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Invitation, Membership, Project, User

INVITATION_LASTS = timedelta(days=14)


class LastAdmin(DomainError):
    """The project would be left with nobody who can manage it."""

    code = "last_admin"

    def __init__(self, member: Membership) -> None:
        super().__init__(
            _("%(name)s is the only active admin of “%(project)s”: make somebody else an admin first.")
            % {"name": member.name, "project": member.project.name}
        )


class InvitationOver(DomainError):
    """The link was used, withdrawn, has expired, or never was one."""

    code, status = "invitation_over", 410


@transaction.atomic
def found(*, name: str, description: str, user: User) -> Membership:
    """Make a project; `user` becomes its admin and its lead."""
    project = Project.objects.create(name=name, description=description, created_by=user)
    founder = Membership.objects.create(project=project, user=user, alias=user.username, is_admin=True, is_lead=True)
    activities.record("project_founded", project, by=founder)
    return founder


@transaction.atomic
def add(project: Project, *, username: str, roles: Collection[Role], by: Membership) -> Membership:
    """Make the person of that user name or e-mail address a member; one who had left comes back, with these roles."""
    _require(by, project.pk)
    user = find_user(username)
    if user is None:
        raise Invalid(
            _("There is no account “%(name)s”: check the spelling, or invite the person by e-mail.")
            % {"name": username},
            code="no_such_user",
        )
    if Membership.objects.active().filter(project=project, user=user).exists():
        raise Invalid(
            _("%(name)s is a member already: change their roles in the list.") % {"name": user}, code="member_already"
        )
    member = _enrol(project, user, _some(roles))
    _record("member_added", member, by=by)
    return member


def find_user(name: str) -> User | None:
    """The active account with this user name, else the only one with this e-mail address."""
    exact = User.objects.filter(username=name, is_active=True).first()
    if exact or "@" not in name:
        return exact
    found = list(User.objects.filter(email__iexact=name, is_active=True)[:2])
    return found[0] if len(found) == 1 else None


@transaction.atomic
def invite(
    project: Project, *, email: str, roles: Collection[Role], by: Membership, at: datetime | None = None
) -> tuple[Invitation, str]:
    """Make a link for one person. The token is returned once; only its digest is kept."""
    _require(by, project.pk)
    at = at or timezone.now()
    wanted = _some(roles)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        email=email,
        token_digest=digest(token),
        invited_by=by,
        created_at=at,
        expires_at=at + INVITATION_LASTS,
        **_fields(wanted),
    )
    _record("member_invited", invitation, by=by, at=at)
    return invitation, token


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def invitations(project: Project, at: datetime | None = None) -> list[Invitation]:
    """The links of `project` that still work, newest first."""
    open_ones = Invitation.objects.filter(_works(at or timezone.now()), project=project)
    return list(open_ones.select_related("invited_by__user").order_by("-created_at", "-pk"))


def invitation_for(token: str, at: datetime | None = None) -> Invitation:
    """The invitation behind a link. Raises InvitationOver when it does not work any more."""
    found = Invitation.objects.filter(_works(at or timezone.now()), token_digest=digest(token))
    invitation = found.select_related("project", "invited_by__user").first()
    if invitation is None:
        raise InvitationOver(
            _("This invitation does not work: it was used, withdrawn, or is over 14 days old. Ask for a new one.")
        )
    access.require_live(invitation.project)
    return invitation


@transaction.atomic
def join(token: str, *, user: User, at: datetime | None = None) -> Membership:
    """Use up an invitation. Of two who use the same link at once one joins."""
    at = at or timezone.now()
    invitation = invitation_for(token, at)
    if Invitation.objects.filter(_works(at), pk=invitation.pk).update(accepted_at=at) != 1:
        raise InvitationOver(_("This invitation has just been used. Ask for a new one."))
    standing = Membership.objects.filter(project=invitation.project, user=user, active=True).first()
    # Who is a member already keeps the roles they have and gains those of the invitation.
    held = access.roles(standing) if standing else set()
    member = _enrol(invitation.project, user, held | access.roles(invitation))
    Invitation.objects.filter(pk=invitation.pk).update(accepted_by=member)
    _record("member_joined", member, by=member, at=at)
    return member


@transaction.atomic
def withdraw(invitation: Invitation, *, by: Membership, at: datetime | None = None) -> None:
    """Stop an invitation from working. Doing it again changes nothing."""
    _require(by, invitation.project_id)
    at = at or timezone.now()
    standing = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    if standing.update(withdrawn_at=at):
        _record("invitation_withdrawn", invitation, by=by, at=at)


@transaction.atomic
def set_roles(member: Membership, roles: Collection[Role], *, by: Membership) -> Membership:
    """Give `member` exactly these roles."""
    _require(by, member.project_id)
    wanted = _some(roles)
    member = _locked(member)
    if Role.ADMIN not in wanted:
        _keep_an_admin(member)
    before = access.roles(member)
    _write(member, wanted)
    if before != wanted:
        _record("roles_changed", member, by=by, before=activities.roles_as_facts(before))
    return member


@transaction.atomic
def deactivate(member: Membership, *, by: Membership, at: datetime | None = None) -> Membership:
    """Take `member` out of the project. What they made stays; what they hold comes free as its lease ends."""
    _require(by, member.project_id)
    member = _locked(member)
    if not member.active:
        return member
    _keep_an_admin(member)
    member.active, member.left_at = False, at or timezone.now()
    member.save(update_fields=["active", "left_at"])
    _record("member_left", member, by=by, at=member.left_at)
    return member


@transaction.atomic
def reactivate(member: Membership, *, by: Membership) -> Membership:
    """Take a member back, with the roles they had."""
    _require(by, member.project_id)
    member = _locked(member)
    if member.user is None:
        raise Invalid(_("%(name)s has no account and cannot be activated.") % {"name": member.alias})
    if member.active:
        return member
    member.active, member.left_at = True, None
    member.save(update_fields=["active", "left_at"])
    _record("member_returned", member, by=by)
    return member


def _require(by: Membership, project: int) -> None:
    access.require(by, Action.MANAGE_MEMBERS)
    if by.project_id != project:
        raise NotAllowed(_("You are an admin of another project than this."))


def _record(
    kind: str, who: Membership | Invitation, *, by: Membership, at: datetime | None = None, **facts: Any
) -> None:
    roles = activities.roles_as_facts(access.roles(who))
    about = who if isinstance(who, Membership) else None
    activities.record(kind, who.project_id, by=by, about=about, at=at, roles=roles, **facts)


def _works(at: datetime) -> Q:
    return Q(accepted_at=None, withdrawn_at=None, expires_at__gt=at)


def _some(roles: Collection[Role]) -> set[Role]:
    wanted = {Role(role) for role in roles}
    if not wanted:
        raise Invalid(_("Choose at least one role."), code="no_role")
    return wanted


def _fields(roles: set[Role]) -> dict[str, bool]:
    return {f"is_{role.value}": role in roles for role in Role}


def _locked(member: Membership) -> Membership:
    """`member` as it stands, with the project locked: two admins who demote each other must not both succeed."""
    Project.objects.select_for_update().get(pk=member.project_id)
    return Membership.objects.select_related("project", "user").get(pk=member.pk)


def _keep_an_admin(member: Membership) -> None:
    if Role.ADMIN not in access.roles(member) or not member.active:
        return
    if not any(other.pk != member.pk for other in access.members_who_may(member.project, Action.MANAGE_MEMBERS)):
        raise LastAdmin(member)


def _write(member: Membership, roles: set[Role]) -> Membership:
    access.set_roles(member, roles)
    member.save(update_fields=list(_fields(roles)))
    return member


def _enrol(project: Project, user: User, roles: set[Role]) -> Membership:
    Project.objects.select_for_update().get(pk=project.pk)
    member, created = Membership.objects.get_or_create(
        project=project, user=user, defaults={"alias": user.username, **_fields(roles)}
    )
    if created:
        return member
    member.active, member.left_at = True, None
    member.save(update_fields=["active", "left_at"])
    return _write(member, roles)
