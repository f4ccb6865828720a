"""Logging in and out, passwords, signing up, one's own account, and the viewer's time zone."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.authtoken.models import Token

from projects import log_ins
from projects.models import Activity, FailedLogIn, Membership, User
from tests import factories
from tests.factories import NOW, PASSWORD

ClientOf = Callable[[Membership | User], Client]


def url(name: str, *args: object) -> str:
    return reverse(f"projects:{name}", args=args)


def log_in(client: Client, name: str, password: str = PASSWORD, **more: Any) -> Any:
    return client.post(url("login"), {"username": name, "password": password}, **more)


def logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("name", ["otto", "otto@example.org", "OTTO@Example.org"])
def test_log_in_by_user_name_or_address(outsider: User, name: str) -> None:
    client = Client()

    answer = log_in(client, name)

    assert (answer.status_code, answer.headers["Location"], logged_in(client)) == (302, "/", True)


def test_log_in_goes_where_one_was_going_but_not_elsewhere(outsider: User) -> None:
    inside = Client().post(url("login"), {"username": "otto", "password": PASSWORD, "next": "/account/"})
    outside = Client().post(url("login"), {"username": "otto", "password": PASSWORD, "next": "https://evil.example/"})

    assert [inside.headers["Location"], outside.headers["Location"]] == ["/account/", "/"]


def test_a_wrong_password_and_an_unknown_name_read_the_same(outsider: User) -> None:
    answers = [log_in(Client(), name, "wrong") for name in ("otto", "nobody", "otto@example.org", "x@example.org")]

    assert {tuple(a.context["form"].non_field_errors()) for a in answers} == {
        ("No account has this name with this password. Capital letters count.",)
    }


def test_an_address_of_two_accounts_logs_nobody_in(outsider: User) -> None:
    User.objects.create_user("otto2", "otto@example.org", PASSWORD)
    client = Client()

    log_in(client, "otto@example.org")

    assert not logged_in(client)


def test_guessing_is_stopped_even_with_the_right_password(outsider: User) -> None:
    client = Client()
    for name in ("otto", "OTTO@example.org", "otto", "otto@example.org", "otto"):
        log_in(client, name, "wrong")

    answer = log_in(client, "otto")

    assert not logged_in(client)
    assert answer.context["form"].non_field_errors() == [
        "Too many attempts with a wrong password. Try again in 15 minutes, or reset the password."
    ]
    assert log_in(client, "otto", REMOTE_ADDR="192.0.2.7").status_code == 302


IN_PLACE = {"HTTP_HX_REQUEST": "true"}


def test_in_place_a_log_in_says_who_is_logged_in_now(outsider: User) -> None:
    client = Client()

    answer = log_in(client, "otto", **IN_PLACE)

    assert (answer.status_code, logged_in(client)) == (200, True)
    assert answer.content.decode().strip() == f'<p data-user="{outsider.pk}">otto</p>'


def test_in_place_somebody_else_can_log_in_over_a_session(outsider: User) -> None:
    factories.user("anna")
    client = Client()
    log_in(client, "otto")

    answer = log_in(client, "anna", **IN_PLACE)

    assert "anna</p>" in answer.content.decode()
    assert client.session["_auth_user_id"] == str(User.objects.get(username="anna").pk)


def test_in_place_a_wrong_password_is_a_sentence(outsider: User) -> None:
    answer = log_in(Client(), "otto", "wrong", **IN_PLACE)

    assert answer.status_code == 422
    assert answer.content.decode().strip() == (
        "<p>No account has this name with this password. Capital letters count.</p>"
    )


@pytest.mark.parametrize(
    ("password", "said"),
    [
        (PASSWORD, "This account is switched off."),
        ("wrong", "No account has this name with this password. Capital letters count."),
    ],
)
def test_that_an_account_is_switched_off_learns_only_who_has_its_password(
    outsider: User, password: str, said: str
) -> None:
    User.objects.update(is_active=False)
    client = Client()

    answer = log_in(client, "otto", password)

    assert (answer.context["form"].non_field_errors(), logged_in(client)) == ([said], False)


def test_the_brake_lets_go_after_its_time_and_after_success(db: None) -> None:
    for minute in range(5):
        log_ins.failed("anna", "::1", at=NOW + timedelta(minutes=minute))

    with pytest.raises(log_ins.TooManyAttempts) as refused:
        log_ins.check("Anna", "::1", at=NOW + timedelta(minutes=14, seconds=30))
    assert "in 1 minute," in refused.value.message
    log_ins.check("ben", "::1", at=NOW + timedelta(minutes=14))
    log_ins.check("anna", "::2", at=NOW + timedelta(minutes=14))
    log_ins.check("anna", "::1", at=NOW + timedelta(minutes=15))
    log_ins.succeeded("ANNA", "::1")
    log_ins.check("anna", "::1", at=NOW + timedelta(minutes=14))


def test_failures_name_nobody_and_are_forgotten(db: None) -> None:
    log_ins.failed("my secret password", "::1", at=NOW)
    assert "secret" not in str(FailedLogIn.objects.values().get())

    log_ins.failed("anna", "::1", at=NOW + timedelta(hours=1))

    assert FailedLogIn.objects.count() == 1


def test_log_out_is_a_post(outsider: User, client_of: ClientOf) -> None:
    client = client_of(outsider)

    assert client.get(url("logout")).status_code == 405
    assert logged_in(client)
    assert client.post(url("logout")).headers["Location"] == url("login")
    assert not logged_in(client)


@pytest.mark.parametrize("name", ["logout", "account", "account-token", "password-change", "project-create"])
def test_posts_without_a_token_of_the_form_are_refused(outsider: User, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(outsider)

    answer = client.post(url(name))

    assert (answer.status_code, logged_in(client)) == (403, True)
    assert "This form was made before you last logged in or out" in answer.content.decode()


def test_changing_the_password(outsider: User, client_of: ClientOf) -> None:
    client, elsewhere = client_of(outsider), client_of(outsider)
    form = {"old_password": PASSWORD, "new_password1": "brand new words", "new_password2": "brand new words"}

    assert client.post(url("password-change"), form).headers["Location"] == url("account")

    outsider.refresh_from_db()
    assert outsider.check_password("brand new words")
    assert client.get(url("account")).status_code == 200
    assert elsewhere.get(url("account")).status_code == 302


def test_resetting_the_password_by_mail(outsider: User) -> None:
    client = Client()
    client.post(url("password-reset"), {"email": "otto@example.org"})
    assert [message.subject for message in mail.outbox] == ["Reset your Concord password"]
    link = re.search(r"http://testserver(\S+)", mail.outbox[0].body)
    assert link
    form_url = client.get(link[1]).headers["Location"]

    answer = client.post(form_url, {"new_password1": "brand new words", "new_password2": "brand new words"})

    assert answer.headers["Location"] == url("login")
    assert log_in(client, "otto", "brand new words").status_code == 302
    assert "This link no longer works" in Client().get(link[1]).content.decode()


def test_a_reset_for_nobody_answers_alike_and_sends_nothing(db: None) -> None:
    answer = Client().post(url("password-reset"), {"email": "nobody@example.org"})

    assert (answer.headers["Location"], mail.outbox) == (url("password-reset-sent"), [])


def sign_up_form(**fields: str) -> dict[str, str]:
    form = {"username": "nina", "email": "nina@example.org", "password1": PASSWORD, "password2": PASSWORD}
    return form | fields


def test_sign_up_is_closed_unless_the_setting_opens_it(db: None, settings: Any) -> None:
    settings.OPEN_SIGN_UP = False
    assert [Client().get(url("sign-up")).status_code, Client().post(url("sign-up"), sign_up_form()).status_code] == [
        404,
        404,
    ]
    assert not User.objects.exists()

    settings.OPEN_SIGN_UP = True
    client = Client()
    assert client.post(url("sign-up"), sign_up_form()).headers["Location"] == "/"
    assert logged_in(client)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"username": "OTTO"}, "username"),
        ({"username": "otto@example.org"}, "username"),
        ({"email": "Otto@example.org"}, "email"),
        ({"email": ""}, "email"),
        ({"password1": "short", "password2": "short"}, "password2"),
    ],
)
def test_sign_up_refuses_what_would_stand_in_somebodys_way(
    outsider: User, settings: Any, fields: dict[str, str], wrong: str
) -> None:
    settings.OPEN_SIGN_UP = True

    answer = Client().post(url("sign-up"), sign_up_form(**fields))

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [wrong])


def account_form(**fields: str) -> dict[str, str]:
    return {"name": "Otto Ost", "email": "otto@example.org", "time_zone": "Asia/Kolkata"} | fields


def test_the_account_saves_name_and_time_zone(outsider: User, client_of: ClientOf) -> None:
    assert client_of(outsider).post(url("account"), account_form()).status_code == 302

    outsider.refresh_from_db()
    assert (str(outsider), outsider.time_zone) == ("Otto Ost", "Asia/Kolkata")


def test_a_new_address_needs_the_password(outsider: User, client_of: ClientOf) -> None:
    client = client_of(outsider)

    refused = client.post(url("account"), account_form(email="new@example.org", password="wrong"))
    taken = client.post(url("account"), account_form(email=factories.user("nina").email, password=PASSWORD))
    changed = client.post(url("account"), account_form(email="new@example.org", password=PASSWORD))

    assert [list(a.context["form"].errors) for a in (refused, taken)] == [["password"], ["email"]]
    outsider.refresh_from_db()
    assert (changed.status_code, outsider.email) == (302, "new@example.org")


def test_a_zone_that_does_not_exist_is_refused(outsider: User, client_of: ClientOf) -> None:
    assert client_of(outsider).post(url("account"), account_form(time_zone="Mars/Olympus")).status_code == 422


def test_times_are_shown_in_the_viewers_zone(admin: Membership, client_of: ClientOf) -> None:
    Membership.objects.filter(pk=admin.pk).update(joined_at=NOW.replace(hour=20))
    page = reverse("projects:members", args=[admin.project.uuid])
    assert "since 2 Mar 2026" in client_of(admin).get(page).content.decode()

    User.objects.filter(pk=admin.user_id).update(time_zone="Asia/Tokyo")

    assert "since 3 Mar 2026" in client_of(admin).get(page).content.decode()
    assert timezone.get_current_timezone_name() == "UTC"


def test_a_zone_that_is_gone_falls_back_to_the_servers(admin: Membership, client_of: ClientOf) -> None:
    User.objects.filter(pk=admin.user_id).update(time_zone="Mars/Olympus")

    assert client_of(admin).get("/").status_code == 200


def test_a_token_is_in_the_log_of_each_project_in_which_it_acts(anna: Membership, client_of: ClientOf) -> None:
    factories.member(factories.project("Second"), "anna")
    factories.member(factories.project("Archived", archived_at=timezone.now()), "anna")
    factories.member(factories.project("Left"), "anna", active=False)
    factories.member(factories.project("Neighbour"), "ben")
    client = client_of(anna)

    for form in ({"revoke": ""}, {"make": ""}, {"revoke": ""}, {"revoke": ""}):
        client.post(url("account-token"), form)

    logged = Activity.objects.order_by("pk").values_list("project__name", "by__alias", "kind")
    assert list(logged) == [
        (name, "anna", kind) for kind in ("token_made", "token_revoked") for name in ("App reviews", "Second")
    ]


def test_the_token_is_shown_once_replaced_and_revoked(outsider: User, client_of: ClientOf) -> None:
    client = client_of(outsider)

    made = client.post(url("account-token"), {"make": ""})
    first = Token.objects.get(user=outsider).key
    assert f'value="{first}"' in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert first not in client.get(url("account")).content.decode()
    client.post(url("account-token"), {"make": ""})
    assert Token.objects.get(user=outsider).key != first
    client.post(url("account-token"), {"revoke": ""})
    assert not Token.objects.exists()
    assert client.get(url("account-token")).status_code == 405
