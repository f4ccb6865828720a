"""Cloning, archiving and deleting by page and API, and what every address answers in a project at rest."""

import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotations import labelling, releasing, serving
from annotations.models import Annotation, Assignment
from projects import archiving, deleting, jobs, members
from projects.enums import JobKind, Role
from projects.models import Job, Membership, Project
from tests import factories

pytestmark = pytest.mark.django_db
AT = factories.NOW
# What these write is a file for who reads, or the project's own standing.
STILL_ALLOWED = {
    "projects:clone",
    "projects:archive",
    "annotations:project-delete",
    "annotations:project-restore",
    "annotations:project-delete-resume",
    "annotations:exports",
    "api:archive",
    "api:exports",
}


@pytest.fixture
def labelled(project, version, admin, lead, anna, ben) -> Project:
    """An open wave in which anna holds an item with a draft."""
    factories.items(project, 12)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(50))
    held = serving.next_task(anna, at=timezone.now())
    labelling.save_draft(anna, held.assignment, draft={"intent": "praise"}, at=timezone.now())
    return project


def put_away(project: Project, admin: Membership) -> None:
    archiving.archive(project, by=admin, at=AT)
    project.refresh_from_db()


def addresses(project: Project) -> Iterator[tuple[str, str]]:
    """The name and the address of everything in a project, pages and API; ids are made up, since access comes first."""

    def walk(patterns: list[URLPattern | URLResolver], space: str) -> Iterator[str]:
        for one in patterns:
            inner = getattr(one, "namespace", None) or ""
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, f"{space}{inner}:" if inner else space)
            elif one.name:
                yield f"{space}{one.name}"

    names = sorted(set(walk(get_resolver().url_patterns, "")))
    for name in names:
        for args in possible(name):
            if "project" in args:
                made = {key: project.uuid if key == "project" else made_up(key) for key in args}
                yield name, reverse(name, kwargs=made)


def possible(name: str) -> list[list[str]]:
    space, _colon, bare = name.rpartition(":")
    resolver = get_resolver()
    for part in space.split(":") if space else ():
        prefix, inner = resolver.namespace_dict[part]
        if "%(" in prefix:
            return []
        resolver = inner
    return [params for ways, *_rest in resolver.reverse_dict.getlist(bare) for _pattern, params in ways]


def made_up(key: str) -> object:
    return {"slug": "x", "question": "intent", "label": "praise", "reason": "rated", "token": "t"}.get(key, uuid4())


def rows() -> dict[str, object]:
    """Every row of every table that has to do with projects, but for exported files and who was seen when."""
    models = [one for app in ("projects", "annotations", "agreement") for one in apps.get_app_config(app).get_models()]
    return {one._meta.label: list(one._base_manager.order_by("pk").values()) for one in models if one is not Job}


def reach(client: Client, name: str, address: str) -> dict[str, int]:
    """Pages take forms; the API the other methods, too."""
    methods = ("post", "put", "patch", "delete") if name.startswith("api:") else ("post",)
    return {
        method: getattr(client, method)(address, {}, content_type="application/json").status_code for method in methods
    }


@pytest.mark.parametrize("rest", ["archived", "deleting"])
def test_no_address_writes_in_a_project_at_rest(labelled, admin, lead, anna, client_of, rest):
    if rest == "archived":
        put_away(labelled, admin)
    else:
        deleting.ask(labelled, typed=labelled.name, by=admin, at=timezone.now())
    client = client_of(factories.member(labelled, "alma", "admin", "lead", "annotator"))
    before, tried, answered = rows(), 0, {}

    for name, address in addresses(labelled):
        if name in STILL_ALLOWED:
            continue
        tried += 1
        for method, status in reach(client, name, address).items():
            if status not in (403, 404, 405):
                answered[name, method] = status

    assert answered == {}
    assert tried > 150
    assert rows() == before


def test_reading_an_archived_project_writes_nothing_and_needs_no_role_more(labelled, admin, lead, anna, client_of):
    put_away(labelled, admin)
    client = client_of(factories.member(labelled, "alma", "admin", "lead", "annotator"))
    before = rows()

    seen = {name for name, address in addresses(labelled) if client.get(address).status_code == 200}

    assert rows() == before
    assert {"agreement:home", "agreement:agreement", "projects:items", "annotations:exports"} <= seen
    assert {"projects:guideline", "api:versions", "api:project", "projects:clone"} <= seen
    assert not {name for name in seen if "wave-open" in name or name.endswith(":label")}
    assert client_of(anna).get(f"/p/{labelled.uuid}/guideline/").status_code == 200


def test_an_annotator_with_the_page_open_reads_why_and_loses_no_draft(labelled, admin, anna, client_of):
    client = client_of(anna)
    held = Assignment.objects.get(member=anna)
    put_away(labelled, admin)
    address = reverse("annotations:label-submit", args=[labelled.uuid, held.uuid])

    by_page = client.post(address, {"answer-intent": "praise"}, headers={"HX-Request": "true"})
    by_api = client.post(
        reverse("api:submit", args=[labelled.uuid, held.uuid]),
        {"answers": {"intent": "praise"}},
        content_type="application/json",
    )

    assert (by_page.status_code, by_api.status_code) == (403, 403)
    assert "is archived: it can be read, and nothing is labelled" in by_page.content.decode()
    assert by_api.json()["error"]["code"] == "archived"
    held.refresh_from_db()
    assert (held.state, held.draft) == ("open", {"intent": "praise"})

    archiving.take_back(labelled, by=Membership.objects.select_related("project").get(pk=admin.pk))
    assert client.post(address, {"answer-intent": "praise"}, headers={"HX-Request": "true"}).status_code == 200
    assert Annotation.objects.get().answers == {"intent": "praise"}


def test_the_list_shows_archived_projects_apart_and_links_the_way_back(labelled, admin, anna, client_of):
    put_away(labelled, admin)

    ada, ann = (client_of(who).get("/").content.decode() for who in (admin, anna))

    assert 'id="archived"' in ada
    assert 'id="archived"' in ann
    assert f"/p/{labelled.uuid}/archive/" in ada
    assert f"/p/{labelled.uuid}/archive/" not in ann
    assert "None of your projects is open" in ann
    page = client_of(admin).get(f"/p/{labelled.uuid}/").content.decode()
    assert "This project is archived" in page
    assert "nothing moves on in it until an admin takes it back" in page


def test_archive_and_take_back_by_page_and_api(labelled, admin, client_of):
    client, page = client_of(admin), f"/p/{labelled.uuid}/archive/"

    assert "Archive the project" in client.get(page).content.decode()
    assert client.post(page).status_code == 302
    assert Project.objects.get().archived_by == admin.user
    assert "Take it back" in client.get(page).content.decode()
    assert client.post(page, {"take_back": "yes"})["Location"] == f"/p/{labelled.uuid}/settings/"
    assert Project.objects.get().archived_at is None

    api = f"/api/v1/projects/{labelled.uuid}/archive/"
    assert client.post(api).json()["archived_at"] is not None
    assert client.get(f"/api/v1/projects/{labelled.uuid}/").json()["archived_at"] is not None
    assert client.delete(api).json()["archived_at"] is None


def test_archiving_waits_for_long_work_and_says_for_which(labelled, admin, client_of):
    jobs.create(labelled, JobKind.IMPORT_PREVIEW, by=admin, at=AT)

    response = client_of(admin).post(f"/p/{labelled.uuid}/archive/")

    assert response.status_code == 409
    assert "“reading a file” is still under way" in response.content.decode()


def test_clone_by_page(labelled, admin, client_of):
    client, page = client_of(admin), f"/p/{labelled.uuid}/clone/"

    said = client.get(page).content.decode()
    assert "The text of guideline 1.0 with 1 question and 3 labels, as a draft" in said
    assert "4 people, you among them." in said
    assert client.post(page, {"name": ""}).status_code == 422
    made = client.post(page, {"name": "Second round", "with_members": "on"}, follow=True)

    other = Project.objects.get(name="Second round")
    assert made.redirect_chain[-1][0] == f"/p/{other.uuid}/guideline/"
    assert (other.memberships.count(), other.items.count(), other.versions.get().state) == (4, 0, "draft")


def test_an_archived_project_can_be_cloned(labelled, admin, client_of):
    put_away(labelled, admin)

    assert client_of(admin).post(f"/p/{labelled.uuid}/clone/", {"name": "Next"}).status_code == 302
    assert Project.objects.get(name="Next").archived_at is None


def test_deletion_by_page_with_counts_typed_name_and_restoring(labelled, admin, anna, client_of):
    client, page = client_of(admin), f"/p/{labelled.uuid}/delete/"

    said = client.get(page).content.decode()
    assert "<b>12</b> items, with all their texts" in said
    assert "<b>4</b> memberships; accounts stay" in said
    assert f"/p/{labelled.uuid}/exports/" in said
    wrong = client.post(page, {"name": "App"})
    assert (wrong.status_code, "You typed “App”" in wrong.content.decode()) == (422, True)

    client.post(page, {"name": "App reviews"})
    said = client.get(page).content.decode()
    assert "ada asked for it." in said
    assert f"/p/{labelled.uuid}/delete/restore/" in said
    listed = client.get("/").content.decode()
    assert 'id="closing"' in listed
    assert page in listed
    refused = client_of(anna).get(f"/p/{labelled.uuid}/label/")
    assert (refused.status_code, "unless an admin of it restores it" in refused.content.decode()) == (403, True)
    assert "App reviews" not in client_of(anna).get("/").content.decode()

    assert client.post(f"{page}restore/")["Location"] == f"/p/{labelled.uuid}/settings/"
    assert client_of(anna).get(f"/p/{labelled.uuid}/label/").status_code in (200, 302)


def test_progress_of_a_deletion_stands_on_its_page_after_a_reload_and_in_another_tab(labelled, admin, client_of):
    one, other, page = client_of(admin), client_of(admin), f"/p/{labelled.uuid}/delete/"
    deleting.ask(labelled, typed=labelled.name, by=admin, at=AT)
    (job,) = deleting.start_due(at=AT + timedelta(days=31))

    assert "Waiting for the worker" in one.get(page).content.decode()
    jobs.claim(job, at=timezone.now())
    Job.objects.filter(pk=job.pk).update(done=30, total=120, message="slots")
    for tab in (one, one, other):
        said = tab.get(page).content.decode()
        assert "25 % is gone; at present: slots" in said
        assert "delete/restore" not in said
    assert one.post(f"{page}restore/").status_code == 409
    Job.objects.filter(pk=job.pk).update(state="failed", message="The disk is full.")
    said = one.get(page).content.decode()
    assert "The disk is full." in said
    assert one.post(f"{page}resume/").status_code == 302
    job.refresh_from_db()
    assert job.state == "waiting"


def test_who_asked_is_told_when_it_is_done_and_to_others_it_never_was(labelled, admin, lead, client_of):
    one, other, page = client_of(admin), client_of(lead), f"/p/{labelled.uuid}/delete/"
    deleting.ask(labelled, typed=labelled.name, by=admin, at=AT)
    assert 'http-equiv="refresh"' in one.get(page).content.decode()
    deleting.start_due(at=timezone.now())
    assert jobs.run_waiting() == 1

    assert "The project is deleted." in one.get(page, follow=True).content.decode()
    assert other.get(page).status_code == 404


def test_a_public_page_goes_with_its_project(labelled, version, admin, client):
    version.public = True
    version.save()
    address = reverse("projects:public-guideline", args=[version.uuid])
    put_away(labelled, admin)
    assert client.get(address).status_code == 200

    deleting.ask(labelled, typed=labelled.name, by=Membership.objects.get(pk=admin.pk), at=AT)
    assert client.get(address).status_code == 404


def test_an_invitation_says_why_it_does_not_work(labelled, admin, outsider, client_of):
    _one, token = members.invite(labelled, email="x@example.org", roles=[Role.ANNOTATOR], by=admin)
    put_away(labelled, admin)

    response = client_of(outsider).get(reverse("projects:join", args=[token]))

    assert response.status_code == 403
    assert "is archived" in response.content.decode()


def test_commands_that_import_are_refused_in_words(labelled, admin, tmp_path):
    put_away(labelled, admin)
    (tmp_path / "items.jsonl").write_text('{"text": "one"}\n')
    (tmp_path / "ratings.csv").write_text("id,text,rater,label\n1,one,ann,praise\n")

    for command, file in (("import_items", "items.jsonl"), ("import_ratings", "ratings.csv")):
        with pytest.raises(CommandError, match=r"is archived|Nobody in the project may import"):
            call_command(command, str(labelled.uuid), str(tmp_path / file))


@pytest.mark.parametrize("page", ["clone", "archive", "delete"])
@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 403), ("anna", 403), ("outsider", 404), ("nobody", 302)]
)
def test_access(request, labelled, client, client_of, page, who, status):
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(f"/p/{labelled.uuid}/{page}/").status_code == status


def test_an_admin_next_door_reaches_nothing_and_counts_nothing_of_here(labelled, client_of):
    other = factories.project("Neighbour")
    nora = factories.member(other, "nora", "admin")
    client = client_of(nora)

    for page in ("clone", "archive", "delete", "delete/restore", "delete/resume"):
        assert client.post(f"/p/{labelled.uuid}/{page}/", {"name": "App reviews"}).status_code == 404
    said = client.get(f"/p/{other.uuid}/delete/").content.decode()
    assert re.findall(r"<b>(\d+)</b>", said) == ["1"]  # her own membership


def test_the_list_costs_the_same_with_one_project_of_each_kind_and_with_three(admin, client_of):
    client, costs = client_of(admin), []
    client.get("/")
    for more in (1, 2):
        for _ in range(more):
            for fields in ({}, {"archived_at": AT}, {"delete_after": AT}):
                factories.member(factories.project("More", **fields), "ada", "admin")
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        costs.append(len(queries))

    assert costs[0] == costs[1]


def test_the_page_that_deletes_costs_the_same_with_more_rows(labelled, admin, client_of):
    client, costs = client_of(admin), []
    for _ in range(2):
        factories.items(labelled, 3, prefix=str(UUID(int=labelled.items.count())))
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/{labelled.uuid}/delete/")
        costs.append(len(queries))

    assert costs[0] == costs[1]
