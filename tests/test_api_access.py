"""Every address of the API by every role, by people of other projects, and by nobody."""

import json
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token

from agreement import runs
from annotations import exporting, imported, releasing, repeats, serving, spot_checks
from annotations.models import Annotation, Inquiry
from annotations.repeats import Choices
from config import api_urls
from projects import examples, guidelines, importing, jobs
from projects.models import Membership, Project
from tests import factories
from tests.annotations import disputes, ratings_files

pytestmark = pytest.mark.django_db

# Address, method, status for who may (an empty body is sent), who may: Admin, Lead, anNotator.
TABLE = """
project             GET     200  A L N
activity            GET     200  A L
archive             POST    409  A
archive             DELETE  200  A
members             GET     200  A L
members             POST    422  A
member              GET     200  A L
member              PATCH   200  A
protocol            GET     200  A
protocol            PUT     200  A
versions            GET     200  A L N
version             GET     200  A L N
examples            GET     200  A L N
acknowledge         POST    204  N
draft               GET     200  A L
draft               POST    200  A L
draft               PUT     422  A L
draft               DELETE  204  A L
draft-questions     POST    422  A L
draft-question      PUT     422  A L
draft-question      DELETE  204  A L
draft-labels        POST    422  A L
draft-label         PUT     422  A L
draft-label         DELETE  204  A L
draft-examples      GET     200  A L
draft-examples      POST    422  A L
draft-example       PUT     422  A L
draft-example       DELETE  204  A L
publish             GET     200  A L
publish             POST    422  A L
styles              PUT     422  A L
own-keys            GET     200  N
own-keys            PUT     422  N
items               GET     200  A L
item                GET     200  A L
imports             POST    422  A L
import              GET     200  A L
import              PUT     422  A L
import              DELETE  204  A L
import-confirm      POST    409  A L
ratings             POST    422  A L
ratings-upload      GET     200  A L
ratings-upload      PUT     422  A L
ratings-upload      DELETE  204  A L
ratings-confirm     POST    409  A L
job                 GET     200  A L
waves               GET     200  A L
waves               POST    409  A L
wave                GET     200  A L
not-eligible        GET     200  A L
wave-close          POST    422  A L
wave-give           PUT     422  A L
wave-cover          POST    200  A L
wave-give-up        POST    204  A L
samples             GET     200  A L
old-labels          GET     200  A L
old-labels          POST    422  A L
old-labels-again    POST    409  A L
repeats             POST    422  A L
bridges             POST    422  A L
sample              GET     200  A L
spot-checks         POST    422  A L
checks              GET     200  L
checks              POST    422  L
sample-end          POST    200  A L
task                POST    200  N
submit              POST    422  N
skip                POST    204  N
unfinished          PUT     204  N
ask                 POST    422  N
answers             GET     200  N
annotations         GET     200  N
correct             POST    422  N
agreement           GET     200  A L
gates               GET     200  A L
waive               POST    422  A L
conflicts           GET     200  L
conflict            GET     200  L
claim               POST    204  L
claim               DELETE  204  L
take-back           POST    409  L
resolve             POST    422  L
reopen              POST    422  L
promote             POST    422  L
inquiries           GET     200  A L
inquiry-answer      POST    422  A L
inquiry-example     POST    422  A L
exports             GET     200  A L
exports             POST    422  A L
export-file         GET     200  A L
"""
ROWS = [(name, method, int(status), set(who)) for name, method, status, *who in map(str.split, TABLE.split("\n")[1:-1])]
ROLES = {"ada": {"A"}, "lea": {"L"}, "anna": {"N"}, "cora": {"L", "N"}}
# What belongs to anna: the same role in the same project is not enough.
OWN = {"submit", "skip", "unfinished", "correct", "ask"}
BODIES = {"submit": {"answers": {}}, "correct": {"answers": {}}, "skip": {"reason": "other"}, "ask": {"text": " "}}
# A member whose role has nothing to do with a job does not learn that there is one.
HIDDEN = {"job"}


def routes() -> Iterator[tuple[str, str, list[str]]]:
    for pattern in api_urls.IN_PROJECT:
        view = pattern.callback.view_class
        for method in view.http_method_names:
            if hasattr(view, method) and method not in ("options", "head"):
                yield pattern.name, method.upper(), list(pattern.pattern.converters)


class World:
    """A project that has one of everything, and a person in each role."""

    def __init__(self) -> None:
        self.project = factories.project()
        self.version = factories.version(self.project)
        ada = factories.member(self.project, "ada", "admin")
        lea = factories.member(self.project, "lea", "lead")
        anna, ben = (factories.member(self.project, name) for name in ("anna", "ben"))
        cora = factories.member(self.project, "cora", "lead", "annotator")
        self.people = {"ada": ada, "lea": lea, "anna": anna, "cora": cora}
        said = {"one": ("praise", "complaint"), "two": ("praise", "praise")}
        self.draw = disputes.rated(self.project, [anna, ben], said)
        runs.sweep(at=factories.NOW)
        self.export = exporting.start(self.project, what="gold", file_format="csv", by=ada)
        jobs.run_waiting(limit=1)
        self.sample = repeats.open_repeat(self.project, Choices(1, 1, 0), by=lea, at=factories.NOW)
        self.wave = self._open_wave(lea)
        self.check = spot_checks.open_check(self.wave, share_percent=Decimal(50), by=lea, at=factories.NOW)
        self.task = serving.next_task(anna, at=factories.NOW)
        one = disputes.case_of("one")
        asked = {"item": one.item, "wave_item": one.wave_item, "by": anna, "at": factories.NOW}
        self.inquiry = Inquiry.objects.create(text="What is it?", **asked)
        self.draft = guidelines.draft_of(self.project, by=lea)
        self.example = examples.add_example(
            self.draft, question_key="intent", content={"text": "Great."}, value="praise", by=lea
        )
        self.ratings = imported.start(self.project, upload=ContentFile(ratings_files.LONG.encode(), "r.csv"), by=lea)
        self.upload = importing.start(self.project, upload=ContentFile(b"text\nHello", "rows.csv"), by=lea)

    def _open_wave(self, by: Membership) -> object:
        factories.items(self.project, 5, prefix="fresh")
        return releasing.open_wave(self.project, by=by, at=factories.NOW)

    def value(self, name: str, argument: str) -> UUID | str:
        uploads = {"import": self.upload, "ratings": self.ratings}
        values = {
            "member": self.people["anna"],
            "version": self.version,
            "example": self.example,
            "item": self.project.items.first(),
            "job": uploads.get(name.partition("-")[0], self.export),
            "wave": self.wave,
            "sample": self.check if name == "checks" else self.sample,
            "draw": self.draw,
            "annotation": Annotation.objects.filter(member=self.people["anna"]).first(),
            "case": disputes.case_of("one"),
            "inquiry": self.inquiry,
        }
        texts = {"question": "intent", "label": "praise", "assignment": self.task.assignment}
        return texts.get(argument) or values[argument].uuid

    def address(self, name: str, arguments: list[str], project: Project | None = None) -> str:
        values = [self.value(name, argument) for argument in arguments]
        return reverse(f"api:{name}", args=[(project or self.project).uuid, *values])


@pytest.fixture
def world(db: None) -> World:
    return World()


def status_of(address: str, method: str, who: Membership | None, body: dict[str, object] | None = None) -> int:
    """The answer to `body`, else to an empty one; whatever it changed is taken back."""
    headers = {"Authorization": f"Token {Token.objects.get_or_create(user=who.user)[0].key}"} if who else {}
    with transaction.atomic():
        response = Client().generic(
            method, address, json.dumps(body or {}), content_type="application/json", headers=headers
        )
        transaction.set_rollback(True)
    if response.status_code >= 400:
        assert set(json.loads(response.content)["error"]) >= {"code", "message"}
    if response.status_code == 401:
        assert response.headers["WWW-Authenticate"] == "Token"
    return response.status_code


def expected(name: str, status: int, allowed: set[str], who: str) -> int:
    if who not in ROLES:
        return 401 if who == "nobody" else 404
    if not allowed & ROLES[who]:
        return 404 if name in HIDDEN else 403
    return 404 if name in OWN and who != "anna" else status


def test_table_has_every_address_and_method() -> None:
    assert sorted((name, method) for name, method, *_rest in ROWS) == sorted(
        (name, method) for name, method, _arguments in routes()
    )


@pytest.mark.parametrize("who", [*ROLES, "outsider", "nobody"])
def test_access(world, who) -> None:
    outsider = factories.member(factories.version(factories.project("Neighbours")).project, "otto", "admin", "lead")
    person = {**world.people, "outsider": outsider, "nobody": None}[who]
    arguments = {(name, method): found for name, method, found in routes()}

    found = {
        (name, method): status_of(world.address(name, arguments[name, method]), method, person, BODIES.get(name))
        for name, method, _status, _allowed in ROWS
    }

    assert found == {(name, method): expected(name, status, allowed, who) for name, method, status, allowed in ROWS}


FOREIGN = [(name, verb, args) for name, verb, args in routes() if set(args) - {"question", "label"}]


def test_nothing_of_another_project_is_found(world) -> None:
    neighbour = factories.version(factories.project("Neighbours")).project
    boss = factories.member(neighbour, "nora", "admin", "lead", "annotator")
    guidelines.draft_of(neighbour, by=boss)

    found = {
        (name, method): status_of(world.address(name, arguments, neighbour), method, boss, BODIES.get(name))
        for name, method, arguments in FOREIGN
    }

    assert found == {(name, method): 404 for name, method, _arguments in FOREIGN}


LISTS = [
    *("members", "versions", "items", "waves", "samples", "annotations", "answers", "agreement", "gates", "conflicts"),
    *("inquiries", "exports"),
]


def test_lists_hold_nothing_of_another_project(world) -> None:
    neighbour = factories.version(factories.project("Neighbours")).project
    boss = factories.member(neighbour, "nora", "admin", "lead", "annotator")
    client = Client(headers={"Authorization": f"Token {Token.objects.create(user=boss.user).key}"})

    found = {}
    for name in LISTS:
        body = client.get(reverse(f"api:{name}", args=[neighbour.uuid])).json()
        found[name] = len(body["results"] if isinstance(body, dict) else body)

    assert found == {**dict.fromkeys(LISTS, 0), "members": 1, "versions": 1}


def test_projects_are_those_one_is_a_member_of(world) -> None:
    factories.project("Neighbours")
    client = Client(headers={"Authorization": f"Token {Token.objects.create(user=world.people['anna'].user).key}"})

    assert [row["uuid"] for row in client.get(reverse("api:projects")).json()] == [str(world.project.uuid)]


def test_nobody_gets_no_list_of_projects(client, db) -> None:
    response = client.get(reverse("api:projects"))

    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Token")
    assert response.json()["error"]["code"] == "not_authenticated"


def test_member_who_left_finds_nothing(world) -> None:
    Membership.objects.filter(pk=world.people["anna"].pk).update(active=False)

    assert status_of(reverse("api:project", args=[world.project.uuid]), "GET", world.people["anna"]) == 404


def test_token_of_a_closed_account_is_refused(world) -> None:
    user = world.people["ada"].user
    user.is_active = False
    user.save()

    assert status_of(reverse("api:project", args=[world.project.uuid]), "GET", world.people["ada"]) == 401


# -- sessions ----------------------------------------------------------------------------------------------------------


def session(world: World) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["lea"].user)
    return client


def test_session_reads_without_a_token(world) -> None:
    assert session(world).get(reverse("api:items", args=[world.project.uuid])).status_code == 200


def test_session_post_needs_the_csrf_token(world) -> None:
    response = session(world).post(reverse("api:draft", args=[world.project.uuid]))

    assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")


def test_session_upload_needs_the_csrf_token(world) -> None:
    address = reverse("api:imports", args=[world.project.uuid])

    assert session(world).post(address, {"file": ContentFile(b"text\nHi", "a.csv")}).status_code == 403


def test_session_post_with_the_csrf_token_is_done(world) -> None:
    client = session(world)
    client.get(reverse("projects:project-list"))
    token = client.get(reverse("projects:account")).cookies["csrftoken"].value

    response = client.post(reverse("api:draft", args=[world.project.uuid]), headers={"X-CSRFToken": token})

    assert response.status_code == 200


def test_answers_are_not_kept_by_the_browser(world) -> None:
    response = session(world).get(reverse("api:project", args=[world.project.uuid]))

    assert "no-store" in response.headers["Cache-Control"]
