"""DESIGN §2.4 and §3 "Lead and annotator in one", over every address that there is.

Many projects, alike in everything but in what chance made overlap. Whoever may still rate the overlap of an open draw
gets the same bytes in all of them once ids, tokens and times are taken out: pages, API and files.
"""

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agreement import report_files, runs
from annotations import draws, eligibility, exporting, inquiries, labelling, releasing, serving
from annotations.enums import SlotKind
from annotations.models import Annotation, Assignment, Slot
from annotations.views import work
from projects import health, jobs
from projects.models import Membership
from tests import factories
from tests.annotations import disputes
from tests.annotations.test_blindness import seen
from tests.test_neighbours import ADDRESSES, WORDS

pytestmark = pytest.mark.one_database
PROJECTS, MOST = 4, 12
KINDS = {SlotKind.MEASURED.value, SlotKind.SINGLE.value}


class Scene:
    """A closed draw, and an open one in which `anna` and the lead `lin` have labelled two items and hold a third."""

    def __init__(self) -> None:
        Membership.objects.update(active=False)
        now = timezone.now()
        self.project = factories.project("App reviews")
        self.version = factories.version(self.project)
        self.anna = factories.member(self.project, "anna")
        self.lin = factories.member(self.project, "lin", "admin", "lead", "annotator")
        ben = factories.member(self.project, "ben")
        disputes.rated(self.project, [self.anna, ben], {"old": ["praise", "praise"]}, at=now)
        factories.items(self.project, 9)  # one digit each: with a tenth the lengths would differ by chance
        self.wave = releasing.open_wave(self.project, by=self.lin, at=now, share_percent=Decimal(50))
        self.labelled, self.held = {}, {}
        for member in (self.anna, self.lin, ben):
            for place in range(2):
                form = serving.next_task(member, at=now).assignment
                saved = labelling.submit(member, form, answers={"intent": "praise"}, at=now)
                if place == 0:
                    self.labelled[member] = (form, saved.annotation)
                    inquiries.ask(member, form, text="What is it?", at=now)
            self.held[member] = serving.next_task(member, at=now).assignment
        runs.compute(self.wave.draw, at=now)
        self.files = [
            exporting.start(self.project, what=what, file_format="jsonl", by=self.lin, at=now)
            for what in exporting.EXPORTS
        ]
        jobs.run_waiting(at=now, limit=len(self.files))
        self.draw_ids = (self.project.uuid, self.wave.draw.uuid)

    def kind(self, form) -> str:
        return Slot.objects.get(assignments__uuid=form).kind

    def ids(self, member: Membership) -> dict[str, object]:
        form, annotation = self.labelled[member]
        return {
            "project": self.project.uuid,
            "version": self.version.uuid,
            "old": self.version.uuid,
            "new": self.version.uuid,
            "item": Assignment.objects.get(uuid=form).item.uuid,
            "wave": self.wave.uuid,
            "draw": self.wave.draw.uuid,
            "assignment": self.held[member],
            "annotation": annotation,
            "member": self.anna.uuid,
            "inquiry": Assignment.objects.get(uuid=form).item.inquiries.get(by=member).uuid,
            "job": self.files[0].uuid,
        }


NEUTRAL = [
    (re.compile(rb"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00)"), b"TIME"),
    (re.compile(rb"[0-9a-f]{64}"), b"HASH"),
    (re.compile(rb"item-\d\b"), b"item-N"),
    (re.compile(rb"\b((?:row|number\&quot;:|\"number\":) ?)\d+"), rb"\1N"),
]


def alike(response: HttpResponse) -> tuple[object, ...]:
    """All that is sent, but for what is the item's own or the moment's."""
    status, headers, cookies, body = seen(response)
    for pattern, word in NEUTRAL:
        body = pattern.sub(word, body)
    return status, headers, cookies, body


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch, settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    rng = random.Random(7)
    monkeypatch.setattr(random, "SystemRandom", lambda: rng)
    # After two minutes without worker and beat the pages would have a banner more.
    monkeypatch.setattr(health, "_remembered", (time.monotonic() + 3600, []))


def everything(client: Client, scene: Scene, member: Membership) -> Iterator[tuple[str, HttpResponse]]:
    """Every address that has its objects in the scene, with all words and files that there are."""
    ids = scene.ids(member)
    several = {
        "reason": list(eligibility.REASONS),
        "kind": list(report_files.KINDS),
        "job": [file.uuid for file in scene.files],
    }
    for address in ADDRESSES:
        if not set(address.parameters) <= set(ids) | set(WORDS):
            continue  # a case, a proposal, what was sent back: there is none of an open draw
        (varied,) = set(address.parameters) & set(several) or {""}
        for place, value in enumerate(several.get(varied, [""])):
            where = address.filled(**WORDS | ids | {varied: value})
            yield f"{address.route} {place}", client.get(where)


def test_every_address_says_the_same_whatever_is_overlap(db, dice, client_of):
    answers, kinds = defaultdict(set), defaultdict(set)
    for number in range(MOST):
        if number >= PROJECTS and all(kinds[who] == KINDS for who in ("anna", "lin")):
            break  # each has met both kinds
        scene = Scene()
        for member in (scene.anna, scene.lin):
            kinds[member.alias] |= {scene.kind(scene.labelled[member][0]), scene.kind(scene.held[member])}
            for where, response in everything(client_of(member), scene, member):
                answers[member.alias, where].add(alike(response))

    assert [where for where, different in answers.items() if len(different) > 1] == []
    assert kinds == {"anna": KINDS, "lin": KINDS}
    assert len(answers) > 200


def test_once_the_overlap_is_given_up_the_figures_are_there(db, dice, client_of):
    """Else the test above would say nothing of them."""
    scene = Scene()
    client, address = client_of(scene.lin), reverse("agreement:draw", args=[*scene.draw_ids, "intent"])
    before = client.get(address).status_code

    draws.give_up(scene.wave.draw, by=scene.lin, at=timezone.now())

    assert (before, client.get(address).status_code) == (403, 200)


def by_api(api: Callable[..., HttpResponse], scene: Scene, member: Membership) -> Iterator[tuple[str, HttpResponse]]:
    """What a program can do with the item that `member` holds, and afterwards."""
    form = scene.held[member]
    good, bad = {"answers": {"intent": "praise"}}, {"answers": {"intent": "spam"}}
    yield "task", api("post", "task")
    yield "draft", api("put", "unfinished", form, data={"answers": {}, "comment": "hm", "typed_at": 1})
    yield "task with draft", api("post", "task")
    yield "wrong", api("post", "submit", form, data=bad)
    yield "wrong skip", api("post", "skip", form, data={"reason": "bored"})
    yield "asked", api("post", "ask", form, data={"text": "What is it?"})
    yield "submit", api("post", "submit", form, data=good)
    yield "again", api("post", "submit", form, data=good)
    yield "otherwise", api("post", "submit", form, data={"answers": {"intent": "question"}})
    yield "skip after", api("post", "skip", form, data={"reason": "other"})
    given = Annotation.objects.get(assignment__uuid=form)
    yield "correct", api("post", "correct", given.uuid, data={"answers": {"intent": "question"}})
    Annotation.objects.filter(pk=given.pk).update(window_ends=timezone.now() - timedelta(seconds=1))
    yield "correct late", api("post", "correct", given.uuid, data=good)
    yield "own", api("get", "annotations")
    yield "answers", api("get", "answers")


def test_every_answer_of_the_api_is_the_same_for_overlap_and_single(db, dice, client_of):
    answers, kinds = defaultdict(set), defaultdict(set)
    for number in range(MOST):
        if number >= PROJECTS and all(kinds[who] == KINDS for who in ("anna", "lin")):
            break  # each has met both kinds
        scene = Scene()
        for member in (scene.anna, scene.lin):
            client = client_of(member)

            def api(method: str, name: str, *args: object, data=None, client=client, scene=scene) -> HttpResponse:
                address = reverse(f"api:{name}", args=[scene.project.uuid, *args])
                return getattr(client, method)(address, data, content_type="application/json")

            kinds[member.alias].add(scene.kind(scene.held[member]))
            for step, response in by_api(api, scene, member):
                answers[member.alias, step].add(alike(response))

    assert [step for step, different in answers.items() if len(different) > 1] == []
    assert kinds == {"anna": KINDS, "lin": KINDS}


def test_ids_do_not_order_by_draw_or_time(db, dice, client_of):
    """Version 4 is chance in every bit; an id that counts or tells the time would order what it names."""
    scene = Scene()

    ids = [*scene.held.values(), *(uuid for pair in scene.labelled.values() for uuid in pair)]

    assert {uuid.version for uuid in ids} == {4}


def test_what_was_skipped_is_paged_by_ids_that_count_nothing(db, client_of, monkeypatch):
    monkeypatch.setattr(work, "PAGE", 1)
    scene = Scene()
    for _ in range(2):
        form = serving.next_task(scene.anna, at=timezone.now()).assignment
        labelling.skip(scene.anna, form, reason="other", at=timezone.now())
    client, address = client_of(scene.anna), reverse("annotations:my-skips", args=[scene.project.uuid])

    first = client.get(address).content.decode()
    (further,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = client.get(address + further).content.decode()

    newest, oldest = Assignment.objects.filter(member=scene.anna, state="skipped").order_by("-pk")
    assert further == f"?before={newest.uuid}"
    assert (f"/{oldest.uuid}/" in first, f"/{oldest.uuid}/" in second, f"/{newest.uuid}/" in second) == (
        False,
        True,
        False,
    )
    assert client.get(f"{address}?before={uuid4()}").status_code == 404
    assert client.get(f"{address}?before=7").status_code == 404
