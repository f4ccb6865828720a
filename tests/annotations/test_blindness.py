"""DESIGN §2.4: what reaches an annotator is the same bytes for an overlap item and for a single one, but for the item.

Many small projects, alike in everything, are worked through the same steps. Chance makes one item overlap here and
single there; every answer of the server has to be the same in all of them once ids, tokens and texts are taken out.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations import releasing, serving
from annotations.enums import SlotKind
from annotations.models import Annotation, Assignment, Inquiry, Slot, Wave
from projects.models import Membership
from tests import factories

HX = {"HX-Request": "true"}
PROJECTS, STEPS = 10, 3

NEUTRAL = [
    (re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), b"UUID"),
    (re.compile(rb'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+'), rb"\1TOKEN"),
    (re.compile(rb"item \d says"), b"item N says"),
    (re.compile(rb"\d\d/\d\d/\d{4} \d+(:\d\d)? [ap]\.m\."), b"TIME"),
    (re.compile(rb"\d\d/\d\d/\d{4} (midnight|noon)"), b"TIME"),
    (re.compile(rb"\d{1,2} \w{3} \d{4}, \d\d:\d\d"), b"TIME"),
    (re.compile(rb"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT"), b"NOW"),
]


def neutral(data: bytes) -> bytes:
    for pattern, word in NEUTRAL:
        data = pattern.sub(word, data)
    return data


def seen(response: HttpResponse) -> tuple[object, ...]:
    """All that the browser gets: status, headers, names and attributes of cookies, body."""
    headers = sorted(
        (
            name,
            neutral(value.encode()),
        )
        for name, value in response.items()
    )
    cookies = sorted(
        (name, morsel["path"], morsel["samesite"], morsel["max-age"]) for name, morsel in response.cookies.items()
    )
    body = b"".join(response) if response.streaming else response.content
    return response.status_code, tuple(headers), tuple(cookies), neutral(body)


@pytest.fixture
def chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's own dice, but the same in every run, so that both kinds are sure to come up."""
    dice = random.Random(7)
    monkeypatch.setattr(random, "SystemRandom", lambda: dice)


def team() -> tuple[Membership, Wave]:
    """A project like all the others, with six items, three of them overlap; those before it are out of sight."""
    Membership.objects.update(active=False)
    project = factories.project("App reviews")
    factories.version(project)
    anna, lead = factories.member(project, "anna"), factories.member(project, "lea", "lead")
    factories.member(project, "ben")
    factories.items(project, 6)
    wave = releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(50))
    return anna, wave


def steps(client: Client, anna: Membership) -> Iterator[tuple[str, str, HttpResponse]]:
    """(step, kind of the item at hand, answer) through everything an annotator can do with an item."""

    def url(name: str, *args: object) -> str:
        return reverse(f"annotations:{name}", args=[anna.project.uuid, *args])

    for place in range(STEPS):
        task = serving.next_task(anna, at=timezone.now())
        assert isinstance(task, serving.Task)
        key, kind = task.assignment, Slot.objects.get(assignments__uuid=task.assignment).kind
        good, bad = {"answer-intent": "praise", "seconds": "3"}, {"answer-intent": "spam", "comment": "hm"}
        yield f"{place} page", kind, client.get(url("label"))
        yield f"{place} fragment", kind, client.get(url("label"), headers=HX)
        yield f"{place} draft", kind, client.post(url("label-draft", key), {"comment": "hm"}, headers=HX)
        yield f"{place} page with draft", kind, client.get(url("label"))
        yield f"{place} wrong", kind, client.post(url("label-submit", key), bad, headers=HX)
        yield f"{place} wrong skip", kind, client.post(url("label-skip", key), {"reason": "bored"}, headers=HX)
        yield f"{place} asked", kind, client.post(url("label-ask", key), {"text": "What is it?"}, headers=HX)
        yield f"{place} asked nothing", kind, client.post(url("label-ask", key), {"text": " "}, headers=HX)
        yield f"{place} page to ask", kind, client.get(url("label-ask", key))
        _answer_all(anna)
        yield f"{place} answers", kind, client.get(url("my-answers"))
        yield f"{place} final labels", kind, client.get(url("my-final-labels"))
        yield f"{place} submit", kind, client.post(url("label-submit", key), good, headers=HX)
        yield f"{place} repeated", kind, client.post(url("label-submit", key), good, headers=HX)
        yield f"{place} skip after", kind, client.post(url("label-skip", key), {"reason": "other"}, headers=HX)
        row = Annotation.objects.get(assignment__uuid=key)
        yield f"{place} work", kind, client.get(url("my-work"))
        yield f"{place} pace", kind, client.get(url("my-pace"))
        yield f"{place} one of my work", kind, client.get(url("my-label", row.uuid))
        yield f"{place} undo", kind, client.get(url("label-undo"), headers=HX)
        yield f"{place} correct", kind, client.post(url("label-correct", row.uuid), bad, headers=HX)
        corrected = client.post(url("my-label", row.uuid), {"answer-intent": "question"}, headers=HX)
        yield f"{place} corrected", kind, corrected
        yield f"{place} work afterwards", kind, client.get(url("my-work"))
        Annotation.objects.filter(pk=row.pk).update(window_ends=timezone.now() - timedelta(seconds=1))
        yield f"{place} work after the window", kind, client.get(url("my-work"))
        late = client.post(url("label-correct", row.uuid), {"answer-intent": "praise"}, headers=HX)
        yield f"{place} corrected late", kind, late


def _answer_all(anna: Membership) -> None:
    lead = anna.project.memberships.get(alias="lea")
    Inquiry.objects.filter(by=anna).update(answer="Praise.", answered_by=lead, answered_at=timezone.now())


@pytest.mark.one_database
def test_every_answer_is_the_same_bytes_for_overlap_and_single(db, chance, client_of: Callable[[Membership], Client]):
    answers, kinds = defaultdict(set), defaultdict(set)

    for _ in range(PROJECTS):
        anna, _wave = team()
        for step, kind, response in steps(client_of(anna), anna):
            answers[step].add(seen(response))
            kinds[step].add(kind)

    assert [step for step, different in answers.items() if len(different) > 1] == []
    both = {SlotKind.MEASURED.value, SlotKind.SINGLE.value}
    assert [step for step, found in kinds.items() if found != both] == []


@pytest.mark.one_database
def test_a_late_submit_reads_the_same_whether_it_counts_or_is_surplus(
    db, chance, client_of: Callable[[Membership], Client]
):
    """Somebody else has taken the item over meanwhile, or not; it was overlap, or not."""
    answers, kinds = set(), set()

    for number in range(2 * PROJECTS):
        anna, wave = team()
        task = serving.next_task(anna, at=timezone.now())
        assert isinstance(task, serving.Task)
        assignment = Assignment.objects.select_related("slot").get(uuid=task.assignment)
        if number % 2:
            other = wave.project.memberships.get(alias="ben")
            Slot.objects.filter(pk=assignment.slot_id).update(
                claimed_by=other, lease_ends=timezone.now() + timedelta(hours=1)
            )
        address = reverse("annotations:label-submit", args=[anna.project.uuid, task.assignment])
        client = client_of(anna)
        client.get(reverse("annotations:label", args=[anna.project.uuid]))
        response = client.post(address, {"answer-intent": "praise"})
        answers.add(seen(response))
        kinds.add((assignment.slot.kind, number % 2))

    assert len(answers) == 1
    assert len(kinds) == 4


@pytest.mark.one_database
def test_an_empty_queue_reads_the_same_whatever_came_last(db, chance, client_of: Callable[[Membership], Client]):
    answers, kinds = set(), set()

    for _ in range(PROJECTS):
        anna, _wave = team()
        client, last = client_of(anna), ""
        while isinstance(task := serving.next_task(anna, at=timezone.now()), serving.Task):
            last = Slot.objects.get(assignments__uuid=task.assignment).kind
            address = reverse("annotations:label-submit", args=[anna.project.uuid, task.assignment])
            response = client.post(address, {"answer-intent": "praise"}, headers=HX)
        answers.add(seen(response))
        kinds.add(last)

    assert len(answers) == 1
    assert kinds == {SlotKind.MEASURED.value, SlotKind.SINGLE.value}


def test_a_page_names_no_slot_kind_draw_or_wave(db, chance, client_of: Callable[[Membership], Client]):
    anna, wave = team()

    page = client_of(anna).get(reverse("annotations:label", args=[anna.project.uuid])).content.decode().lower()

    words = ["overlap", "measured", "single", "slot", "draw", "wave", str(wave.uuid), str(wave.draw.uuid)]
    assert [word for word in words if word in page] == []
