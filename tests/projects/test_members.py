"""Founding a project, adding and inviting people, roles, leaving."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from projects import access, jobs, mailing, members
from projects.enums import JobState, Role
from projects.errors import Invalid, NotAllowed
from projects.models import GuidelineVersion, Invitation, Job, Membership, Project, User
from tests import factories
from tests.factories import NOW
from tests.races import together

ANNOTATOR, LEAD, ADMIN = Role.ANNOTATOR, Role.LEAD, Role.ADMIN


def test_found_makes_admin_and_lead(outsider: User) -> None:
    member = members.found(name="Tickets", description="What they want", user=outsider)

    assert (member.project.name, member.project.created_by, access.roles(member)) == (
        "Tickets",
        outsider,
        {LEAD, ADMIN},
    )


def test_add_takes_user_names_and_addresses(admin: Membership, outsider: User) -> None:
    factories.user("nina")

    by_name = members.add(admin.project, username="otto", roles=[ANNOTATOR], by=admin)
    by_address = members.add(admin.project, username="Nina@example.org", roles=[ANNOTATOR, LEAD], by=admin)

    assert (by_name.user, access.roles(by_name)) == (outsider, {ANNOTATOR})
    assert (by_address.name, access.roles(by_address)) == ("nina", {ANNOTATOR, LEAD})


def test_add_refuses_strangers_members_and_no_role(admin: Membership, anna: Membership, outsider: User) -> None:
    codes = []
    for username, roles in [("nobody", [ANNOTATOR]), ("anna", [LEAD]), ("otto", [])]:
        with pytest.raises(Invalid) as refused:
            members.add(admin.project, username=username, roles=roles, by=admin)
        codes.append(refused.value.code)

    assert codes == ["no_such_user", "member_already", "no_role"]
    assert admin.project.memberships.count() == 2


def test_add_does_not_guess_between_two_accounts_with_one_address(admin: Membership, outsider: User) -> None:
    User.objects.create_user("otto2", "OTTO@example.org", factories.PASSWORD)

    with pytest.raises(Invalid):
        members.add(admin.project, username="otto@example.org", roles=[ANNOTATOR], by=admin)


def test_add_brings_back_who_left(admin: Membership, anna: Membership) -> None:
    members.deactivate(anna, by=admin, at=NOW)

    again = members.add(admin.project, username="anna", roles=[LEAD], by=admin)

    assert (again.pk, again.active, again.left_at, access.roles(again)) == (anna.pk, True, None, {LEAD})


def everything_that_manages(member: Membership, by: Membership) -> list[Callable[[], object]]:
    invitation = Invitation(project=member.project, pk=1)
    return [
        lambda: members.add(member.project, username="otto", roles=[ANNOTATOR], by=by),
        lambda: members.invite(member.project, email="x@example.org", roles=[ANNOTATOR], by=by),
        lambda: members.withdraw(invitation, by=by),
        lambda: members.set_roles(member, [ADMIN], by=by),
        lambda: members.deactivate(member, by=by),
        lambda: members.reactivate(member, by=by),
    ]


def test_only_admins_manage(lead: Membership, anna: Membership, outsider: User) -> None:
    for by in (lead, anna):
        for act in everything_that_manages(anna, by):
            with pytest.raises(NotAllowed):
                act()

    anna.refresh_from_db()
    assert (anna.active, access.roles(anna), Membership.objects.count()) == (True, {ANNOTATOR}, 2)


def test_an_admin_of_another_project_manages_nothing_here(anna: Membership, outsider: User) -> None:
    stranger = factories.member(factories.project("Neighbour"), "otto", "admin")

    for act in everything_that_manages(anna, stranger):
        with pytest.raises(NotAllowed):
            act()


def test_set_roles_keeps_one_admin(admin: Membership, anna: Membership) -> None:
    with pytest.raises(members.LastAdmin) as refused:
        members.set_roles(admin, [LEAD], by=admin)
    assert refused.value.message == "ada is the only active admin of “App reviews”: make somebody else an admin first."

    members.set_roles(anna, [ANNOTATOR, ADMIN], by=admin)
    members.set_roles(admin, [LEAD], by=admin)

    roles = {m.alias: access.roles(m) for m in admin.project.memberships.all()}
    assert roles == {"ada": {LEAD}, "anna": {ANNOTATOR, ADMIN}}


def test_deactivate_keeps_one_admin_and_what_was_made(admin: Membership, anna: Membership) -> None:
    draft = GuidelineVersion.objects.create(project=anna.project, created_by=anna)
    factories.member(admin.project, "gone", "admin", active=False)

    left = members.deactivate(anna, by=admin, at=NOW)

    assert (left.active, left.left_at, left.alias) == (False, NOW, "anna")
    draft.refresh_from_db()
    assert draft.created_by == anna
    with pytest.raises(members.LastAdmin):
        members.deactivate(admin, by=admin)


def test_deactivate_twice_keeps_the_first_time(admin: Membership, anna: Membership) -> None:
    members.deactivate(anna, by=admin, at=NOW)
    members.deactivate(anna, by=admin, at=NOW + timedelta(days=1))

    anna.refresh_from_db()
    assert anna.left_at == NOW


def test_reactivate_gives_the_roles_back_but_not_to_places_without_an_account(admin: Membership) -> None:
    lea = factories.member(admin.project, "lea", "lead", "annotator")
    place = Membership.objects.create(project=admin.project, alias="Rater 3", active=False)
    members.deactivate(lea, by=admin)

    assert access.roles(members.reactivate(lea, by=admin)) == {LEAD, ANNOTATOR}
    with pytest.raises(Invalid):
        members.reactivate(place, by=admin)


def test_invite_stores_a_digest_and_join_uses_it_up(admin: Membership, outsider: User) -> None:
    invitation, token = members.invite(admin.project, email="otto@example.org", roles=[LEAD], by=admin, at=NOW)

    stored = Invitation.objects.values().get()
    assert token not in str(stored)
    assert stored["expires_at"] == NOW + timedelta(days=14)

    joined = members.join(token, user=outsider, at=NOW + timedelta(days=13))

    invitation.refresh_from_db()
    assert (access.roles(joined), invitation.accepted_by) == ({LEAD}, joined)
    with pytest.raises(members.InvitationOver):
        members.join(token, user=factories.user("second"), at=NOW + timedelta(days=13))


def test_links_that_were_withdrawn_or_are_over_or_made_up_do_not_work(admin: Membership, outsider: User) -> None:
    withdrawn, first = members.invite(admin.project, email="a@example.org", roles=[LEAD], by=admin, at=NOW)
    _late, second = members.invite(admin.project, email="b@example.org", roles=[LEAD], by=admin, at=NOW)
    members.withdraw(withdrawn, by=admin, at=NOW)

    for token, at in [(first, NOW), (second, NOW + timedelta(days=14)), ("made-up", NOW)]:
        with pytest.raises(members.InvitationOver):
            members.join(token, user=outsider, at=at)
    assert not Membership.objects.filter(user=outsider).exists()
    assert members.invitations(admin.project, NOW + timedelta(days=14)) == []


def test_join_adds_to_the_roles_of_a_member_and_brings_back_who_left(
    admin: Membership, anna: Membership, ben: Membership
) -> None:
    members.deactivate(ben, by=admin)
    for user, roles in [(admin.user, {LEAD, ADMIN}), (anna.user, {ANNOTATOR, LEAD}), (ben.user, {LEAD})]:
        _invitation, token = members.invite(admin.project, email="x@example.org", roles=[LEAD], by=admin)
        joined = members.join(token, user=user)
        assert (joined.active, access.roles(joined)) == (True, roles)


def test_invitations_lists_the_open_ones_of_this_project(admin: Membership) -> None:
    other = factories.member(factories.project("Neighbour"), "nina", "admin")
    members.invite(other.project, email="n@example.org", roles=[LEAD], by=other)
    mine, _token = members.invite(admin.project, email="a@example.org", roles=[LEAD], by=admin)

    assert members.invitations(admin.project) == [mine]


def test_the_mail_job_sends_the_link_and_forgets_it(admin: Membership) -> None:
    invitation, _token = members.invite(admin.project, email="otto@example.org", roles=[ANNOTATOR], by=admin)
    job = mailing.invitation(invitation, link="https://concord.example/join/secret/")

    jobs.run_waiting()

    job.refresh_from_db()
    assert (job.state, job.params) == (JobState.DONE, {"invitation": str(invitation.uuid)})
    assert [(m.to, m.subject) for m in mail.outbox] == [(["otto@example.org"], "Invitation to “App reviews”")]
    assert "https://concord.example/join/secret/" in mail.outbox[0].body


def test_the_mail_job_sends_nothing_for_a_withdrawn_invitation(admin: Membership) -> None:
    invitation, _token = members.invite(admin.project, email="otto@example.org", roles=[ANNOTATOR], by=admin)
    mailing.invitation(invitation, link="https://concord.example/join/secret/")
    members.withdraw(invitation, by=admin)

    jobs.run_waiting()

    assert (mail.outbox, Job.objects.get().params) == ([], {"invitation": str(invitation.uuid)})


def test_a_mail_server_that_is_away_is_said_beside_the_invitation(admin: Membership, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    invitation, _token = members.invite(admin.project, email="otto@example.org", roles=[ANNOTATOR], by=admin)
    mailing.invitation(invitation, link="https://concord.example/join/secret/")

    jobs.run_waiting()

    job = mailing.latest([invitation])[str(invitation.uuid)]
    assert job.state == JobState.FAILED
    assert job.message.startswith("The mail server did not take the message (")
    assert "link" not in job.params


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_leave_one() -> None:
    project = factories.project()
    ada, bob = factories.member(project, "ada", "admin"), factories.member(project, "bob", "admin")

    together(lambda: members.set_roles(bob, [LEAD], by=ada), lambda: members.set_roles(ada, [LEAD], by=bob))

    assert Membership.objects.filter(project=project, is_admin=True).count() == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_two_who_follow_one_link_one_joins() -> None:
    ada = factories.member(factories.project(), "ada", "admin")
    _invitation, token = members.invite(ada.project, email="x@example.org", roles=[ANNOTATOR], by=ada)
    one, two = factories.user("one"), factories.user("two")

    together(lambda: members.join(token, user=one), lambda: members.join(token, user=two))

    assert Project.objects.get().memberships.count() == 2
