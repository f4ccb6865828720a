"""`{% load access %}`: what the viewer may do, and the entries of the frame."""

from django import template
from django.template import Context

from projects import access, health, navigation, notices
from projects.enums import Action, Role
from projects.models import Membership, User

register = template.Library()


@register.filter
def may(member: object, action: str) -> bool:
    """`{% if member|may:"see_agreement" %}`. An action that does not exist raises, so that a typo shows."""
    wanted = Action(action)
    return isinstance(member, Membership) and access.allows(member, wanted)


@register.filter
def roles(member: Membership) -> list[Role]:
    """The roles that `member` holds, in their order."""
    held = access.roles(member)
    return [role for role in Role if role in held]


@register.filter
def start(member: Membership) -> str:
    """The address at which `member` begins in their project."""
    return navigation.start(member)


@register.simple_tag(takes_context=True)
def frame(context: Context, member: Membership | None, current: str = "") -> navigation.Frame:
    """`{% frame member nav as around %}`: entries and projects on the pages of a project, and what is new for the
    viewer on all of theirs."""
    if member:
        return navigation.frame(member, current)
    user = context.get("user")
    return navigation.Frame([], [], notices.unread(user).count() if isinstance(user, User) else 0)


@register.simple_tag
def banner(member: Membership | None) -> str:
    """What is wrong with the background work, for those who wait for it; nothing when all is well."""
    return " ".join(health.banner()) if member and access.allows(member, Action.SEE_ITEMS) else ""
