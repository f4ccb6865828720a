"""The list of projects, a new one, settings; and the frame that stands around every page."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects import access, navigation
from projects.enums import Role
from projects.forms.project import SettingsForm
from projects.models import Membership, Project, User
from tests import factories

ClientOf = Callable[[Membership | User], Client]


def page_of(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def entries(page: str) -> list[str]:
    nav = re.search(r'<nav id="entries".*?</nav>', page, re.S)
    return (
        [" ".join(re.sub("<[^>]+>", "", link).split()) for link in re.findall(r"<a .*?</a>", nav[0], re.S)]
        if nav
        else []
    )


def test_the_list_shows_own_projects_only(anna: Membership, outsider: User, client_of: ClientOf) -> None:
    factories.member(factories.project("Neighbour"), "otto")

    page = page_of(client_of(anna), reverse("projects:project-list"))

    assert re.findall(r'<h2><a href="([^"]+)">([^<]+)</a>', page) == [(navigation.start(anna), "App reviews")]


def test_an_empty_list_says_what_to_do(outsider: User, client_of: ClientOf) -> None:
    page = page_of(client_of(outsider), reverse("projects:project-list"))

    assert "You are in no project yet." in page
    assert reverse("projects:project-create") in page


def test_the_list_costs_the_same_with_more_rows(anna: Membership, client_of: ClientOf) -> None:
    client, costs = client_of(anna), []
    client.get("/")
    for more in ([], ["Second", "Third"]):
        for name in more:
            factories.member(factories.project(name), "anna")
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        costs.append(len(queries))

    assert costs[0] == costs[1]


@pytest.mark.parametrize("name", ["project-list", "project-create", "account", "password-change"])
def test_pages_of_ones_own_ask_strangers_to_log_in(db: None, name: str) -> None:
    url = reverse(f"projects:{name}")

    assert Client().get(url).headers["Location"] == f"/login/?next={url}"


def test_creating_a_project_leads_to_its_guideline(outsider: User, client_of: ClientOf) -> None:
    answer = client_of(outsider).post(reverse("projects:project-create"), {"name": "Tickets", "description": ""})

    member = outsider.memberships.get()
    assert (member.project.name, access.roles(member)) == ("Tickets", {Role.LEAD, Role.ADMIN})
    assert answer.headers["Location"].startswith(f"/p/{member.project.uuid}/guideline/")


def test_a_project_needs_a_name(outsider: User, client_of: ClientOf) -> None:
    answer = client_of(outsider).post(reverse("projects:project-create"), {"name": " "})

    assert (answer.status_code, Project.objects.count()) == (422, 0)
    assert answer.context["form"].errors == {"name": ["This field is required."]}


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 403), ("anna", 403), ("outsider", 404), (None, 302)]
)
def test_access_to_settings(
    request: pytest.FixtureRequest, project: Project, client_of: ClientOf, who: str | None, status: int
) -> None:
    client = client_of(request.getfixturevalue(who)) if who else Client()
    url = reverse("projects:settings", args=[project.uuid])

    assert client.get(url).status_code == status
    answered = client.post(url, {"name": "Renamed"}).status_code
    project.refresh_from_db()
    assert (answered, project.name) == ((302, "Renamed") if who == "admin" else (status, "App reviews"))


def test_settings_save_and_the_notice_stands_on_every_page(
    admin: Membership, anna: Membership, client_of: ClientOf
) -> None:
    url = reverse("projects:settings", args=[admin.project.uuid])
    form = {"name": "Reviews", "description": "Short ones", "notice": "The pilot ends on Friday."}

    client_of(admin).post(url, form)

    saved = Project.objects.values("name", "description", "notice").get()
    assert saved == form
    shown = re.search(r'<aside class="banner"[^>]*>([^<]+)', page_of(client_of(admin), url))
    assert shown
    assert shown[1] == "The pilot ends on Friday."


def test_settings_overwrite_nothing_that_happened_since_they_were_read(admin: Membership) -> None:
    read = Project.objects.get()
    Project.objects.update(
        description="Theirs", archived_at=factories.NOW, delete_after=factories.NOW, protocol={"a": 1}
    )

    form = SettingsForm({"name": "Mine", "description": read.description, "notice": read.notice}, instance=read)
    form.save(by=admin)

    saved = Project.objects.values_list("name", "description", "archived_at", "delete_after", "protocol").get()
    assert saved == ("Mine", "Theirs", factories.NOW, factories.NOW, {"a": 1})


def test_refused_settings_leave_the_stored_name_in_the_frame(admin: Membership, client_of: ClientOf) -> None:
    url = reverse("projects:settings", args=[admin.project.uuid])

    answer = client_of(admin).post(url, {"name": ""})

    assert answer.status_code == 422
    assert '<span class="clip">App reviews</span>' in answer.content.decode()


def test_the_frame_offers_what_the_roles_allow(
    admin: Membership, lead: Membership, anna: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(navigation, "url_of", lambda name, member: f"/{name}")

    keys = {m.alias: [link.key for link in navigation.frame(m).links] for m in (admin, lead, anna)}

    assert keys == {
        "ada": ["home", "guideline", "waves", "agreement", "inquiries", "items", "exports", "members", "settings"],
        "lea": ["home", "guideline", "waves", "agreement", "adjudicate", "inquiries", "items", "exports", "members"],
        "anna": ["label", "work", "guideline"],
    }


def test_the_frame_marks_the_page_and_names_the_guideline(admin: Membership, client_of: ClientOf) -> None:
    page = page_of(client_of(admin), reverse("projects:members", args=[admin.project.uuid]))

    assert "Guideline 1.0" in entries(page)
    assert re.findall(r'aria-current="page">([^<]+)', page) == ["Members"]


def test_the_switch_lists_own_projects(admin: Membership, client_of: ClientOf) -> None:
    factories.member(factories.project("Second"), "ada")
    factories.project("Neighbour")

    page = page_of(client_of(admin), reverse("projects:members", args=[admin.project.uuid]))

    switch = page.split('<div class="card menu-list">')[1].split("</div>")[0]
    assert [text.strip() for text in re.findall(r">([^<>]+)</a>", switch)] == ["App reviews", "Second", "All projects"]


def test_pages_have_no_inline_script_or_style_and_say_so(admin: Membership, client_of: ClientOf) -> None:
    answer = client_of(admin).get(reverse("projects:members", args=[admin.project.uuid]))
    page = answer.content.decode()

    assert re.findall(r"<script(?![^>]*src=)|<style| on[a-z]+=|javascript:", page) == []
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]


def test_a_refusal_to_htmx_is_a_sentence_for_the_place_of_messages(anna: Membership, client_of: ClientOf) -> None:
    url = reverse("projects:settings", args=[anna.project.uuid])

    fragment = client_of(anna).get(url, headers={"HX-Request": "true"})
    page = client_of(anna).get(url)

    assert (fragment.status_code, fragment.headers["HX-Retarget"]) == (403, "#messages")
    assert fragment.content.decode().startswith('<p class="notice notice--error"')
    assert page.content.decode().startswith("<!doctype html>")
    assert "HX-Request" in fragment.headers["Vary"]
    assert "HX-Request" in page.headers["Vary"]


def test_the_style_sheet_stays_small() -> None:
    sheet = Path(django_settings.BASE_DIR, "config/static/concord.css")

    assert sheet.stat().st_size < 25_000


def test_djangos_admin_shows_tables_and_changes_nothing(admin: Membership, client_of: ClientOf) -> None:
    admin.user.is_staff = admin.user.is_superuser = True
    admin.user.save()
    client = client_of(admin)
    row = reverse("admin:projects_project_change", args=[admin.project.pk])

    answers = [
        client.get(reverse("admin:projects_project_changelist")).status_code,
        client.get(row).status_code,
        client.post(row, {"name": "Changed"}).status_code,
        client.get(reverse("admin:projects_project_add")).status_code,
        client.post(reverse("admin:projects_project_delete", args=[admin.project.pk]), {"post": "yes"}).status_code,
    ]

    assert answers == [200, 200, 403, 403, 403]
    assert Project.objects.get().name == "App reviews"


def test_djangos_admin_shows_no_password(admin: Membership, client_of: ClientOf) -> None:
    admin.user.is_staff = admin.user.is_superuser = True
    admin.user.save()

    page = page_of(client_of(admin), reverse("admin:projects_user_change", args=[admin.user.pk]))

    assert admin.user.email in page
    assert admin.user.password not in page
