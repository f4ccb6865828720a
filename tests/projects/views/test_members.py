"""The members' pages over HTTP: who gets what, what the forms do, and what a stranger's ids give."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects import access, members
from projects.enums import Role
from projects.models import Invitation, Job, Membership, Project, User
from tests import factories

ClientOf = Callable[[Membership | User], Client]
WHO = ("admin", "lead", "anna", "outsider", "anonymous")


def status_by_role(
    request: pytest.FixtureRequest, client_of: ClientOf, method: str, url: str, data: dict[str, Any] | None = None
) -> list[int]:
    clients = [Client() if who == "anonymous" else client_of(request.getfixturevalue(who)) for who in WHO]
    return [getattr(client, method)(url, data or {}).status_code for client in clients]


def url(name: str, *args: object) -> str:
    return reverse(f"projects:{name}", args=args)


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        ("members", "get", [200, 200, 403, 404, 302]),
        ("members", "post", [405, 405, 405, 405, 302]),
        ("member-add", "post", [422, 403, 403, 404, 302]),
        ("member-add", "get", [405, 405, 405, 405, 302]),
        ("member-invite", "post", [422, 403, 403, 404, 302]),
    ],
)
def test_access_to_the_list(
    request: pytest.FixtureRequest, admin: Membership, client_of: ClientOf, name: str, method: str, expected: list[int]
) -> None:
    assert status_by_role(request, client_of, method, url(name, admin.project.uuid)) == expected


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        ("member", "get", [200, 403, 403, 404, 302]),
        ("member", "post", [422, 403, 403, 404, 302]),
        ("member-deactivate", "post", [302, 403, 403, 404, 302]),
        ("member-deactivate", "get", [405, 405, 405, 405, 302]),
        ("member-reactivate", "post", [302, 403, 403, 404, 302]),
    ],
)
def test_access_to_one_member(
    request: pytest.FixtureRequest, ben: Membership, client_of: ClientOf, name: str, method: str, expected: list[int]
) -> None:
    assert status_by_role(request, client_of, method, url(name, ben.project.uuid, ben.uuid)) == expected


def test_access_to_withdrawing(request: pytest.FixtureRequest, admin: Membership, client_of: ClientOf) -> None:
    invitation, _token = members.invite(admin.project, email="x@example.org", roles=[Role.LEAD], by=admin)
    address = url("invitation-withdraw", admin.project.uuid, invitation.uuid)

    assert status_by_role(request, client_of, "post", address) == [302, 403, 403, 404, 302]


def test_ids_of_a_neighbour_give_404_and_change_nothing(admin: Membership, client_of: ClientOf) -> None:
    other = factories.member(factories.project("Neighbour"), "nina", "admin")
    nils = factories.member(other.project, "nils")
    theirs, _token = members.invite(other.project, email="x@example.org", roles=[Role.LEAD], by=other)
    client = client_of(admin)
    answers = []
    for name, row in [
        ("member", nils),
        ("member-deactivate", nils),
        ("member-reactivate", nils),
        ("invitation-withdraw", theirs),
    ]:
        for project in (admin.project.uuid, other.project.uuid, uuid4()):
            answers.append(client.post(url(name, project, row.uuid), {"roles": ["admin"]}).status_code)

    nils.refresh_from_db()
    theirs.refresh_from_db()
    assert answers == [404] * 12
    assert (nils.active, access.roles(nils), theirs.withdrawn_at) == (True, {Role.ANNOTATOR}, None)


def test_the_list_names_members_of_this_project_only(admin: Membership, anna: Membership, client_of: ClientOf) -> None:
    factories.member(factories.project("Neighbour"), "nina")
    factories.member(admin.project, "gone", active=False)

    people = client_of(admin).get(url("members", admin.project.uuid)).context["people"]

    assert [(p.name, p.active) for p in people] == [("ada", True), ("anna", True), ("gone", False)]


def test_a_lead_reads_the_list_without_its_forms(lead: Membership, client_of: ClientOf) -> None:
    members_page = client_of(lead).get(url("members", lead.project.uuid))

    assert re.findall(r' action="([^"]+)"', members_page.content.decode()) == [url("logout")]


def test_the_list_costs_the_same_with_more_rows(admin: Membership, client_of: ClientOf) -> None:
    client, address, costs = client_of(admin), url("members", admin.project.uuid), []
    client.get(address)
    for names in (["one"], ["two", "three"]):
        for name in names:
            factories.member(admin.project, name)
            members.invite(admin.project, email=f"{name}@example.org", roles=[Role.LEAD], by=admin)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        costs.append(len(queries))

    assert costs[0] == costs[1]


def test_posts_without_a_token_of_the_form_are_refused(admin: Membership, anna: Membership) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin.user)

    answers = [
        client.post(url(name, admin.project.uuid, *rest)).status_code
        for name, rest in [("member-add", ()), ("member-invite", ()), ("member-deactivate", (anna.uuid,))]
    ]

    anna.refresh_from_db()
    assert (answers, anna.active) == ([403, 403, 403], True)


def test_adding_by_user_name(admin: Membership, outsider: User, client_of: ClientOf) -> None:
    form = {"add-username": "otto", "add-roles": ["annotator", "lead"]}

    answer = client_of(admin).post(url("member-add", admin.project.uuid), form, follow=True)

    assert answer.redirect_chain == [(url("members", admin.project.uuid), 302)]
    assert access.roles(outsider.memberships.get()) == {Role.ANNOTATOR, Role.LEAD}


def test_adding_a_stranger_marks_the_field(admin: Membership, client_of: ClientOf) -> None:
    form = {"add-username": "nobody", "add-roles": ["annotator"]}

    answer = client_of(admin).post(url("member-add", admin.project.uuid), form)

    assert answer.status_code == 422
    assert answer.context["add_form"].errors == {
        "username": ["There is no account “nobody”: check the spelling, or invite the person by e-mail."]
    }


def link_in(page: bytes) -> str:
    found = re.search(r'readonly value="http://testserver([^"]+)"', page.decode())
    assert found
    return found[1]


def invite(client: Client, project: Project, *roles: str) -> str:
    form = {"invite-email": "nina@example.org", "invite-roles": list(roles or ("annotator",))}
    answer = client.post(url("member-invite", project.uuid), form)
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)
    return link_in(answer.content)


def test_the_link_is_shown_once_and_mailed_only_where_mail_is_sent(
    admin: Membership, client_of: ClientOf, settings: Any
) -> None:
    client = client_of(admin)

    link = invite(client, admin.project)

    assert link not in client.get(url("members", admin.project.uuid)).content.decode()
    assert Job.objects.count() == 0
    settings.EMAIL_URL = "console://"
    link = invite(client, admin.project)
    assert Job.objects.get().params["link"] == f"http://testserver{link}"


def test_joining_with_an_account(admin: Membership, outsider: User, client_of: ClientOf) -> None:
    link = invite(client_of(admin), admin.project, "lead")
    client = client_of(outsider)

    looked = client.get(link)
    assert (looked.status_code, Membership.objects.filter(user=outsider).exists()) == (200, False)
    assert client.post(link).status_code == 302
    assert access.roles(outsider.memberships.get()) == {Role.LEAD}
    assert client.post(link).status_code == 410


def new_account(**fields: str) -> dict[str, str]:
    form = {"name": "Nina Nord", "username": "nina", "email": "nina@example.org"}
    return form | {"password1": factories.PASSWORD, "password2": factories.PASSWORD} | fields


def test_joining_by_making_an_account(admin: Membership, client_of: ClientOf) -> None:
    link = invite(client_of(admin), admin.project)
    client = Client()

    assert client.get(link).context["form"]["email"].value() == "nina@example.org"
    assert client.post(link, new_account()).status_code == 302

    made = Membership.objects.get(user__username="nina")
    assert (made.name, made.alias, access.roles(made)) == ("Nina Nord", "nina", {Role.ANNOTATOR})
    assert client.session["_auth_user_id"] == str(made.user_id)


def test_joining_with_a_bad_account_makes_neither_account_nor_member(admin: Membership, client_of: ClientOf) -> None:
    link = invite(client_of(admin), admin.project)

    answer = Client().post(link, new_account(password2="something else"))

    assert answer.status_code == 422
    assert not User.objects.filter(username="nina").exists()
    assert Invitation.objects.get().accepted_at is None


def test_a_dead_link_says_so_to_anybody(db: None) -> None:
    answer = Client().get(url("join", "made-up"))

    assert answer.status_code == 410
    assert "Ask for a new one." in answer.content.decode()


def test_changing_roles(admin: Membership, anna: Membership, client_of: ClientOf) -> None:
    address = url("member", admin.project.uuid, anna.uuid)

    assert client_of(admin).post(address, {"roles": ["lead"]}).status_code == 302

    anna.refresh_from_db()
    assert access.roles(anna) == {Role.LEAD}


def test_the_last_admin_is_told_why_not(admin: Membership, client_of: ClientOf) -> None:
    client = client_of(admin)

    roles = client.post(url("member", admin.project.uuid, admin.uuid), {"roles": ["lead"]})
    leave = client.post(url("member-deactivate", admin.project.uuid, admin.uuid))

    said = "ada is the only active admin of “App reviews”: make somebody else an admin first."
    assert (roles.status_code, roles.context["form"].errors) == (422, {"roles": [said]})
    assert (leave.status_code, said in leave.content.decode()) == (409, True)


def test_who_is_deactivated_sees_the_project_no_more(admin: Membership, anna: Membership, client_of: ClientOf) -> None:
    page = url("members", admin.project.uuid)
    members.set_roles(anna, [Role.LEAD], by=admin)
    client = client_of(anna)
    assert client.get(page).status_code == 200

    client_of(admin).post(url("member-deactivate", admin.project.uuid, anna.uuid))

    assert client.get(page).status_code == 404
    client_of(admin).post(url("member-reactivate", admin.project.uuid, anna.uuid))
    assert client.get(page).status_code == 200
