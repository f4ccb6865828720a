"""The members of a project: the list, adding and inviting, one member's roles, and joining by a link."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import access, mailing, members, navigation
from projects.enums import Action, Role
from projects.errors import DomainError
from projects.forms.account import SignUpForm
from projects.forms.members import AddForm, InviteForm, RolesForm
from projects.models import Membership
from projects.requests import UserRequest, posted


@login_required
@require_safe
def member_list(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_MEMBERS)
    return _list_page(request, member)


@login_required
@require_POST
def add(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    form = AddForm(request.POST, prefix="add")
    if form.is_valid():
        try:
            added = members.add(member.project, **form.cleaned_data, by=member)
        except DomainError as error:
            form.add_error("username", error.message)
        else:
            messages.success(request, _("%(name)s is a member now.") % {"name": added.name})
            return redirect("projects:members", project)
    return _list_page(request, member, add=form, status=422)


@login_required
@never_cache
@require_POST
def invite(request: UserRequest, project: UUID) -> HttpResponse:
    """Answers with the page itself, not a redirect: the link can be shown this once only."""
    member = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    form = InviteForm(request.POST, prefix="invite", mails=mailing.sends())
    if not form.is_valid():
        return _list_page(request, member, invite=form, status=422)
    with transaction.atomic():
        invitation, token = members.invite(member.project, **form.cleaned_data, by=member)
        link = request.build_absolute_uri(reverse("projects:join", args=[token]))
        if mailing.sends():
            mailing.invitation(invitation, link=link)
    return _list_page(request, member, invitation=invitation, link=link, mailed=mailing.sends())


@login_required
@require_POST
def withdraw(request: UserRequest, project: UUID, invitation: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    members.withdraw(get_object_or_404(member.project.invitations, uuid=invitation), by=member)
    messages.success(request, _("The invitation is withdrawn; its link no longer works."))
    return redirect("projects:members", project)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: UserRequest, project: UUID, member: UUID) -> HttpResponse:
    viewer = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    person = _person(viewer, member)
    form = RolesForm(posted(request), initial={"roles": list(access.roles(person))})
    if request.method == "POST" and form.is_valid():
        try:
            members.set_roles(person, form.cleaned_data["roles"], by=viewer)
        except DomainError as error:
            form.add_error("roles", error.message)
        else:
            messages.success(request, _("The roles of %(name)s are saved.") % {"name": person.name})
            return redirect("projects:members", project)
    context = {"member": viewer, "nav": "members", "person": person, "form": form}
    return render(request, "projects/member.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def deactivate(request: UserRequest, project: UUID, member: UUID) -> HttpResponse:
    viewer = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    person = members.deactivate(_person(viewer, member), by=viewer)
    messages.success(request, _("%(name)s is no longer active. What they made stays.") % {"name": person.name})
    return redirect(
        "projects:project-list" if person.pk == viewer.pk else navigation.url_of("projects:members", viewer)
    )


@login_required
@require_POST
def reactivate(request: UserRequest, project: UUID, member: UUID) -> HttpResponse:
    viewer = access.member_for(request.user, project, Action.MANAGE_MEMBERS)
    person = members.reactivate(_person(viewer, member), by=viewer)
    messages.success(request, _("%(name)s is active again.") % {"name": person.name})
    return redirect("projects:members", project)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Looking at the link uses nothing up: mail programs open links by themselves."""
    invitation = members.invitation_for(token)
    context: dict[str, Any] = {"invitation": invitation, "roles": [r for r in Role if r in access.roles(invitation)]}
    if request.user.is_authenticated:
        if request.method == "POST":
            return redirect(navigation.start(members.join(token, user=request.user)))
        return render(request, "projects/invitation.html", context)
    form = SignUpForm(posted(request), initial={"email": invitation.email})
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            member = members.join(token, user=form.save())
        login(request, member.user)
        return redirect(navigation.start(member))
    return render(request, "projects/invitation.html", context | {"form": form}, status=422 if form.errors else 200)


def _person(viewer: Membership, uuid: UUID) -> Membership:
    return get_object_or_404(viewer.project.memberships.select_related("project", "user"), uuid=uuid)


def _list_page(
    request: HttpRequest,
    member: Membership,
    *,
    add: Form | None = None,
    invite: Form | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    everyone = member.project.memberships.select_related("user").order_by("-active", "alias", "pk")
    context |= {"member": member, "nav": "members", "people": everyone}
    if access.allows(member, Action.MANAGE_MEMBERS):
        invitations = members.invitations(member.project)
        mails = mailing.latest(invitations)
        context |= {
            "invitations": [(invitation, mails.get(str(invitation.uuid))) for invitation in invitations],
            "add_form": add or AddForm(prefix="add", initial={"roles": [Role.ANNOTATOR]}),
            "invite_form": invite
            or InviteForm(prefix="invite", initial={"roles": [Role.ANNOTATOR]}, mails=mailing.sends()),
        }
    return render(request, "projects/members.html", context, status=status)
