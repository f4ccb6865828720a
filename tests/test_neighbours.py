"""DESIGN §2.13: what you may not see does not exist for you. Every address that there is, with a neighbour's ids.

The addresses come from the resolver, so a new page is asked without anybody thinking of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from rest_framework.authtoken.models import Token

from annotations import labelling, releasing, repeats, serving
from annotations.models import Annotation, Assignment, Case, Inquiry, Proposal, SentBack
from annotations.repeats import Choices
from projects import guidelines, importing, members
from projects.enums import Role
from projects.models import Example, GuidelineVersion, Item, Membership, Project
from tests import factories
from tests.annotations import disputes

pytestmark = [pytest.mark.django_db, pytest.mark.one_database, pytest.mark.slow]
# Enough for a form of the labels' addresses to be read, so that it is the id that is refused.
SENT = {"answers": {"intent": "praise"}, "reason": "other"}
# A log-in in between leads here with GET; whatever the id, it goes on to the next item.
TO_THE_NEXT_ITEM = {"p/<uuid:project>/label/<uuid:assignment>/", "p/<uuid:project>/label/<uuid:assignment>/skip/"}
METHODS = ["get", "post", "put", "patch", "delete"]
WORDS = {
    "question": "intent",
    "label": "praise",
    "one": "praise",
    "other": "complaint",
    "reason": "rated",
    "kind": "json",
}


@dataclass(frozen=True)
class Address:
    """A route inside a project, with the parameters that name its objects."""

    route: str
    parameters: tuple[str, ...]

    def filled(self, **values: object) -> str:
        path = "/" + self.route
        for name in self.parameters:
            for kind in ("uuid", "slug", "str", "int"):
                path = path.replace(f"<{kind}:{name}>", str(values[name]))
        return path


def addresses() -> list[Address]:
    found = []
    for route, pattern in _patterns(get_resolver().url_patterns):
        names = tuple(pattern)
        if "project" in names:
            found.append(Address(route, names))
    return found


def _patterns(entries: list[Any], before: str = "", names: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    for entry in entries:
        route = before + str(entry.pattern)
        here = (*names, *entry.pattern.converters)
        if isinstance(entry, URLResolver):
            yield from _patterns(entry.url_patterns, route, here)
        elif isinstance(entry, URLPattern):
            yield route, list(here)


ADDRESSES = addresses()


class Neighbour:
    """A project with one of everything that an address can name."""

    def __init__(self, name: str, person: str) -> None:
        self.project = factories.project(name)
        self.version = factories.version(self.project)
        self.boss = factories.member(self.project, person, "admin", "lead", "annotator")
        raters = [factories.member(self.project, f"{person}-{i}") for i in range(2)]
        now = timezone.now()
        said = {f"{name}-{i}": pair for i, pair in enumerate([("praise", "complaint"), ("praise", "praise")])}
        self.draw = disputes.rated(self.project, raters, said, at=now)
        factories.items(self.project, 4, prefix=f"{name} second")
        releasing.open_wave(self.project, by=self.boss, at=now)
        self.sample = repeats.open_repeat(self.project, Choices(1, 1, 0), by=self.boss, at=now)
        first = serving.next_task(self.boss, at=now)
        labelling.submit(self.boss, first.assignment, answers={"intent": "praise"}, at=now)
        serving.next_task(self.boss, at=now)
        self.version.examples.create(
            question_key="intent", content={"text": f"of {name}"}, value="praise", content_hash=name, folded_hash=name
        )
        self.example: Example = guidelines.draft_of(self.project, by=self.boss).examples.get()
        self.invitation, _token = members.invite(
            self.project, email=f"{person}@example.org", roles={Role.LEAD}, by=self.boss
        )
        case = Case.objects.get(draw=self.draw)
        hers = Annotation.objects.get(member=self.boss)
        self.sent = SentBack.objects.create(annotation=hers, case=case, reason="look again", by=self.boss, at=now)
        decision = {"value": "praise", "rationale": "thanks", "cause": "slip"}
        self.proposal = Proposal.objects.create(case=case, by=raters[0], to=self.boss, at=now, **decision)
        asked = {"item": case.item, "wave_item": case.wave_item, "text": "What is it?", "at": now}
        answered = {"answer": "Praise.", "answered_by": self.boss, "answered_at": now}
        self.inquiry = Inquiry.objects.create(by=raters[0], **asked, **answered)
        rows = SimpleUploadedFile("rows.csv", b"id,text\n1,one\n")
        self.job = importing.start(self.project, upload=rows, name="rows.csv", by=self.boss)

    def ids(self) -> dict[str, UUID]:
        return {
            "project": self.project.uuid,
            "version": self.version.uuid,
            "old": self.version.uuid,
            "new": self.version.uuid,
            "item": Item.objects.filter(project=self.project).first().uuid,
            "job": self.job.uuid,
            "wave": self.draw.wave.uuid,
            "draw": self.draw.uuid,
            "sample": self.sample.uuid,
            "case": Case.objects.get(draw=self.draw).uuid,
            "assignment": Assignment.objects.get(member=self.boss, state="open").uuid,
            "annotation": Annotation.objects.get(member=self.boss).uuid,
            "member": Annotation.objects.filter(draw=self.draw).first().member.uuid,
            "invitation": self.invitation.uuid,
            "example": self.example.uuid,
            "lineage": self.example.lineage,
            "sent": self.sent.uuid,
            "proposal": self.proposal.uuid,
            "inquiry": self.inquiry.uuid,
        }


@pytest.fixture
def mine(settings: Any, tmp_path: Any) -> Neighbour:
    settings.MEDIA_ROOT = tmp_path
    return Neighbour("mine", "mona")


@pytest.fixture
def theirs(mine: Neighbour) -> Neighbour:
    return Neighbour("theirs", "theo")


def ask(who: Membership, method: str, address: str) -> int:
    client = Client()
    if address.startswith("/api/"):
        token = Token.objects.get_or_create(user=who.user)[0].key
        sent = {} if method == "get" else {"data": json.dumps(SENT), "content_type": "application/json"}
        return getattr(client, method)(address, headers={"Authorization": f"Token {token}"}, **sent).status_code
    client.force_login(who.user)
    return getattr(client, method)(address).status_code


def answers(who: Membership, where: list[Address], **ids: object) -> dict[str, dict[str, int]]:
    """address -> method -> status, without the methods that an address does not know."""
    found = {}
    for address in where:
        path = address.filled(**WORDS, **ids)
        methods = METHODS if path.startswith("/api/") else ["get", "post"]
        found[address.route] = {m: s for m in methods if (s := ask(who, m, path)) != 405}
    return found


def not_hidden(found: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {route: seen for route, seen in found.items() if set(seen.values()) != {404}}


def test_every_parameter_of_an_address_is_known_here(mine) -> None:
    """A new kind of object in an address: make one in `Neighbour`, or name its word in WORDS."""
    names = {name for address in ADDRESSES for name in address.parameters}

    assert names <= set(mine.ids()) | set(WORDS)
    assert len(ADDRESSES) > 100


def test_no_address_of_a_neighbours_project_exists(mine, theirs) -> None:
    assert not_hidden(answers(mine.boss, ADDRESSES, **theirs.ids())) == {}


def test_no_address_of_my_project_takes_a_neighbours_id(mine, theirs) -> None:
    ids = theirs.ids() | {"project": mine.project.uuid}
    of_objects = [address for address in ADDRESSES if set(address.parameters) - {"project"} - set(WORDS)]

    found = answers(mine.boss, of_objects, **ids)
    for route in TO_THE_NEXT_ITEM:
        assert found[route].pop("get") == 302
    assert not_hidden(found) == {}


def test_one_foreign_id_among_my_own_is_enough(mine, theirs) -> None:
    """Where an address names two objects, each of them has to be of the project."""
    twice = [a for a in ADDRESSES if len(set(a.parameters) - {"project"} - set(WORDS)) > 1]
    assert twice
    for address in twice:
        for name in set(address.parameters) - {"project"} - set(WORDS):
            ids = mine.ids() | {name: theirs.ids()[name]}
            assert not_hidden(answers(mine.boss, [address], **ids)) == {}


def test_the_same_addresses_do_exist_for_their_own_people(mine) -> None:
    """Else the tests above would say nothing."""
    gone = set()
    for address in ADDRESSES:
        with transaction.atomic():  # what an address does is undone before the next one is asked
            seen = answers(mine.boss, [address], **mine.ids())
            transaction.set_rollback(True)
        if 404 in seen[address.route].values():
            gone.add(address.route)

    assert gone == {
        # The job at hand is an import of items: nobody's export, and no import of ratings.
        "p/<uuid:project>/ratings/<uuid:job>/",
        "p/<uuid:project>/ratings/<uuid:job>/confirm/",
        "p/<uuid:project>/ratings/<uuid:job>/discard/",
        "p/<uuid:project>/ratings/<uuid:job>/fields/",
        "api/v1/projects/<uuid:project>/ratings/<uuid:job>/",
        "api/v1/projects/<uuid:project>/ratings/<uuid:job>/confirmation/",
        "p/<uuid:project>/exports/<uuid:job>/file/",
        "api/v1/projects/<uuid:project>/exports/<uuid:job>/file/",
        # The case is not decided yet; the version read and the two to be compared are named by the form.
        "p/<uuid:project>/adjudication/<uuid:case>/example/",
        "p/<uuid:project>/guideline/acknowledge/",
        "p/<uuid:project>/guideline/compare/",
        # The sample at hand is a repeat, and only spot checks are checked.
        "p/<uuid:project>/samples/<uuid:sample>/check/",
        "p/<uuid:project>/samples/<uuid:sample>/check/<uuid:item>/",
        "api/v1/projects/<uuid:project>/samples/<uuid:sample>/checks/",
        # Several cases are decided alike where the address names their confusion.
        "p/<uuid:project>/adjudication/alike/",
    }


def test_nothing_was_changed_by_asking(mine, theirs) -> None:
    def everything() -> list[object]:
        rows = [Project, GuidelineVersion, Membership, Item, Example, Annotation, Assignment, Case, Inquiry]
        return [list(model.objects.order_by("pk").values()) for model in rows]

    before = everything()
    answers(mine.boss, ADDRESSES, **theirs.ids())

    assert everything() == before


def test_an_id_of_nothing_is_answered_like_a_neighbours(mine, theirs) -> None:
    """Status and body alike: nobody learns from a refusal whether there is such a thing."""
    client = Client()
    client.force_login(mine.boss.user)
    for address in ADDRESSES:
        if address.route.startswith("api/") or address.parameters == ("project",):
            continue
        ids = mine.ids() | {name: uuid4() for name in address.parameters if name not in {"project", *WORDS}}
        foreign = theirs.ids() | {"project": mine.project.uuid}
        none, other = (client.get(address.filled(**WORDS, **each)) for each in (ids, foreign))
        assert (none.status_code, len(none.content)) == (other.status_code, len(other.content)), address.route
