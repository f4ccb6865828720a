"""Who may do what: the one table, and the one way to a membership."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from projects import access
from projects.enums import Action, Role
from projects.errors import NotAllowed
from projects.models import GuidelineVersion, Membership, Project, User
from projects.templatetags import access as tags
from tests import factories

ANNOTATOR = {"view", "label"}
LEAD = {
    "view",
    "see_items",
    "import",
    "edit_guideline",
    "publish",
    "run_waves",
    "see_agreement",
    "adjudicate",
    "export",
    "see_members",
    "see_activity",
    "waive_gate",
}
ADMIN = (LEAD - {"adjudicate"}) | {"manage_members", "settings", "manage_project"}


def test_the_table_of_roles_is_the_documented_one() -> None:
    assert {role.value: {a.value for a in actions} for role, actions in access.ROLE_ACTIONS.items()} == {
        "annotator": ANNOTATOR,
        "lead": LEAD,
        "admin": ADMIN,
    }


def test_roles_add_up(version: GuidelineVersion, project: Project) -> None:
    both = factories.member(project, "lea", "lead", "annotator")

    assert {action.value for action in access.actions(both)} == LEAD | ANNOTATOR


def test_who_left_may_do_nothing(anna: Membership) -> None:
    anna.active = False

    assert access.actions(anna) == set()


def test_member_for_finds_the_membership(lead: Membership) -> None:
    assert access.member_for(lead.user, lead.project.uuid, Action.EXPORT) == lead


@pytest.mark.parametrize("action", list(Action))
def test_member_for_hides_the_project_from_strangers(admin: Membership, outsider: User, action: Action) -> None:
    factories.member(factories.project("Neighbour"), "otto", "admin")

    with pytest.raises(Http404):
        access.member_for(outsider, admin.project.uuid, action)
    with pytest.raises(Http404):
        access.member_for(AnonymousUser(), admin.project.uuid, action)
    with pytest.raises(Http404):
        access.member_for(outsider, uuid4(), action)


def test_member_for_hides_the_project_from_who_left_or_has_no_role(anna: Membership, ben: Membership) -> None:
    Membership.objects.filter(pk=anna.pk).update(active=False)
    Membership.objects.filter(pk=ben.pk).update(is_annotator=False)

    for member in (anna, ben):
        with pytest.raises(Http404):
            access.member_for(member.user, member.project.uuid, Action.VIEW)


def test_member_for_says_what_a_member_lacks(anna: Membership) -> None:
    with pytest.raises(NotAllowed) as refused:
        access.member_for(anna.user, anna.project.uuid, Action.EXPORT)

    assert (refused.value.status, refused.value.message) == (
        403,
        "Your roles in “App reviews” do not include “export”: ask an admin of it for the role lead / admin.",
    )


def test_projects_of_lists_own_active_projects_by_name(anna: Membership) -> None:
    second = factories.member(factories.project("Zebra"), "anna")
    factories.member(factories.project("Left"), "anna", active=False)
    factories.member(factories.project("Neighbour"), "ben")

    assert list(access.projects_of(anna.user)) == [anna, second]


def test_members_who_may(admin: Membership, lead: Membership, anna: Membership) -> None:
    factories.member(admin.project, "gone", "admin", active=False)

    assert access.members_who_may(admin.project, Action.MANAGE_MEMBERS) == [admin]
    assert access.members_who_may(admin.project, Action.SEE_AGREEMENT) == [admin, lead]


def test_set_roles_replaces_all_roles(anna: Membership) -> None:
    access.set_roles(anna, {Role.LEAD, Role.ADMIN})

    assert access.roles(anna) == {Role.LEAD, Role.ADMIN}


def test_the_filter_may_answers_for_nobody_and_refuses_unknown_actions(anna: Membership) -> None:
    assert (tags.may(anna, "label"), tags.may(anna, "export"), tags.may(None, "label"), tags.may("", "label")) == (
        True,
        False,
        False,
        False,
    )
    with pytest.raises(ValueError, match="labell"):
        tags.may(anna, "labell")
