"""An annotator who labels over HTTP, writes down all that the server sends, and tries to tell overlap from single."""

import json
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.pipeline import make_pipeline

from annotations.models import Assignment
from projects.models import Membership

HX = {"HX-Request": "true"}
UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOKEN = re.compile(rb'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+')
NUMBER = re.compile(rb"\d+(?:\.\d+)?")
SHEET = re.compile(r'data-sheet="([0-9a-f-]{36})"')
ITEM = re.compile(r"item (\d+) says")
NUMBERS_KEPT, UUIDS_KEPT, FEATURES_KEPT = 30, 2, 15
PERMUTATIONS = 1999

Features = dict[str, float]
# What the test does to an answer on its way: a leak, put in to see that it is found.
Leak = Callable[[str, str, HttpResponse], None]


def features_of(step: str, data: bytes, response: HttpResponse | None = None) -> Features:
    """Lengths, numbers, ids bit by bit, headers and cookies: all of an answer that a guess could hang on."""
    found: Features = {f"{step} seen": 1.0, f"{step} length": len(data)}
    ids = UUID.findall(data)
    text = TOKEN.sub(rb"\1", UUID.sub(b"", data))
    numbers = [float(number) for number in NUMBER.findall(text)]
    skeleton = NUMBER.sub(b"", text)  # what is left should be the same for every item
    found |= {f"{step} rest": len(skeleton), f"{step} words": zlib.crc32(skeleton) % 65_521}
    found |= {f"{step} numbers": len(numbers), f"{step} ids": len(ids)}
    found |= {f"{step} number {place}": number for place, number in enumerate(numbers[:NUMBERS_KEPT])}
    for place, uuid in enumerate(dict.fromkeys(ids)):
        if place == UUIDS_KEPT:
            break
        octets = bytes.fromhex(uuid.decode().replace("-", ""))
        found |= {f"{step} id {place} byte {i}": octet for i, octet in enumerate(octets)}
        found[f"{step} id {place} bits"] = sum(octet.bit_count() for octet in octets)
    if response is not None:
        found[f"{step} status"] = response.status_code
        sent = [*response.items(), *((name, morsel.OutputString()) for name, morsel in response.cookies.items())]
        found[f"{step} headers"] = len(sent)
        for name, value in sent:
            found |= {
                f"{step} {name} length": len(value),
                f"{step} {name} hash": zlib.crc32(value.encode()) % 65_521,
            }
    return found


@dataclass
class Onlooker:
    """Labels what comes, with the odd skip, draft, repeated submit, undo and correction; `met` is all that was seen.

    `met`: the assignment's id -> what was sent about that item, in the order in which the items came.
    """

    client: Client
    member: Membership
    rng: random.Random
    leak: Leak = lambda step, key, response: None
    met: dict[str, Features] = field(default_factory=dict)
    by_text: dict[str, Features] = field(default_factory=dict)
    idle: bool = False
    page: str = ""

    def url(self, name: str, *args: object) -> str:
        return reverse(f"annotations:{name}", args=[self.member.project.uuid, *args])

    def begin(self) -> None:
        self._show("served", self.client.get(self.url("label"), headers=HX))

    def turn(self) -> None:
        """One item, or one look whether there is one again."""
        if self.idle:
            self._show("looked", self.client.get(self.url("label"), headers=HX))
            return
        key = self.key()
        if self.rng.random() < 0.15:
            typed = {"comment": "hm", "typed_at": "1"}
            self._note(key, "draft", self.client.post(self.url("label-draft", key), typed, headers=HX))
        if self.rng.random() < 0.03:
            sent, address, step = {"reason": "other"}, self.url("label-skip", key), "skip"
        else:
            sent, address, step = {"answer-intent": "praise", "seconds": "3"}, self.url("label-submit", key), "submit"
        answer = self.client.post(address, sent, headers=HX)
        self._note(key, step, answer, body=False)
        if step == "submit" and self.rng.random() < 0.1:
            again = self.client.post(address, sent, headers=HX)
            self._note(key, "again", again, body=False)
        if step == "submit" and self.rng.random() < 0.15:
            self._look_back(key)
        self._show("served", answer)

    def _look_back(self, key: str) -> None:
        undo = self.client.get(self.url("label-undo"), headers=HX)
        self._note(key, "undo", undo)
        label = SHEET.search(undo.content.decode())
        assert label
        if self.rng.random() < 0.5:
            sent = {"answer-intent": "complaint", "comment": "on reflection"}
            corrected = self.client.post(self.url("my-label", label.group(1)), sent, headers=HX)
            self._note(key, "corrected", corrected)

    def key(self) -> str:
        found = SHEET.search(self.page)
        assert found, self.page[:500]
        return found.group(1)

    def _show(self, step: str, response: HttpResponse) -> None:
        """The answer has the next item in it, or says that there is none."""
        assert response.status_code == 200, response.content[:500]
        self.page = response.content.decode()
        self.idle = 'data-kind="nothing"' in self.page
        if not self.idle:
            key, text = self.key(), ITEM.search(self.page)
            assert text
            if key not in self.met:
                self.met[key] = {"text": float(text.group(1)), "looks before": float(step == "looked")}
                self.by_text[text.group(1)] = self.met[key]
            self._note(key, "shown", response)

    def _note(self, key: str, step: str, response: HttpResponse, *, body: bool = True) -> None:
        """`body=False`: the body is of the next item, and noted there."""
        self.leak(step, key, response)
        self.met[key] |= features_of(step, response.content if body else b"", response)

    def end(self) -> None:
        """All pages of My work and of the API's list, entry by entry."""
        address: str | None = self.url("my-work")
        while address:
            page = self.client.get(address).content.decode()
            for entry in page.split('<li id="label-')[1:]:
                self._entry("work", entry.partition("</li>")[0])
            further = re.search(r'rel="next" href="(\?[^"]+)"', page)
            address = self.url("my-work") + further.group(1) if further else None
        address = reverse("api:annotations", args=[self.member.project.uuid]) + "?size=1000"
        while address:
            listed = self.client.get(address).json()
            address = listed["next"]
            for entry in listed["results"]:
                self._entry("listed", json.dumps(entry))

    def _entry(self, step: str, entry: str) -> None:
        text = ITEM.search(entry)
        assert text
        self.by_text[text.group(1)] |= features_of(step, entry.encode())

    def rows(self) -> list[Features]:
        """What was sent of each item, with what the order in which they came says."""
        made: list[Features] = []
        highest, last, texts = -1.0, 0.0, []
        for place, seen in enumerate(self.met.values()):
            number = seen["text"]
            texts.append(number)
            order = {
                "place": place,
                "from the end": len(self.met) - place,
                "step": number - last,
                "behind": float(number < highest),
                "rank so far": sum(other < number for other in texts) / len(texts),
                "parity": place % 2,
            }
            made.append(seen | order)
            highest, last = max(highest, number), number
        return made

    def overlap(self) -> list[bool]:
        """The truth, from the tables."""
        kinds = dict(Assignment.objects.filter(member=self.member).values_list("uuid", "slot__kind"))
        truth = {str(uuid): kind != "single" for uuid, kind in kinds.items()}
        return [truth[key] for key in self.met]


def work(onlookers: Sequence[Onlooker], speeds: Sequence[float], rng: random.Random) -> Iterator[Onlooker]:
    """Everybody labels, each as often as their speed says, until nobody gets anything; yields who had a turn."""
    for onlooker in onlookers:
        onlooker.begin()
    while not all(onlooker.idle for onlooker in onlookers):
        (onlooker,) = rng.choices(onlookers, weights=speeds)
        if onlooker.idle and rng.random() < 0.9:
            continue  # who has nothing looks again now and then
        onlooker.turn()
        yield onlooker


def p_value(rows: Sequence[Features], overlap: Sequence[bool], groups: Sequence[Any], *, seed: int) -> float:
    """How often chance alone guesses as well as a forest that has learned from half of the items.

    One-sided permutation test of the AUC on the other half, labels permuted within each of `groups`: the half that was
    learned from is fixed, so under blindness every permutation of the rest is as likely as the one at hand.
    """
    rng = np.random.default_rng(seed)
    table = DictVectorizer(sparse=False).fit_transform(rows)
    truth, strata = np.asarray(overlap, dtype=bool), np.unique(np.asarray(groups), return_inverse=True)[1]
    learn = rng.permutation(len(truth)) % 2 == 0
    forest = RandomForestClassifier(n_estimators=200, min_samples_leaf=3, class_weight="balanced", random_state=seed)
    # Most of what is sent is chance: the features that told most in the half to learn from are taken.
    guess = make_pipeline(VarianceThreshold(), SelectKBest(k=FEATURES_KEPT), forest)
    guess.fit(table[learn], truth[learn])
    scores, truth, strata = guess.predict_proba(table[~learn])[:, 1], truth[~learn], strata[~learn]
    ranks = _ranks(scores)
    # The AUC is a linear function of the sum of the ranks of the overlap items, so that sum can stand for it.
    seen = ranks[truth].sum()
    as_good = 0
    for _ in range(PERMUTATIONS):
        shuffled = truth.copy()
        for stratum in range(strata.max() + 1):
            inside = strata == stratum
            shuffled[inside] = rng.permutation(shuffled[inside])
        as_good += ranks[shuffled].sum() >= seen
    return float((as_good + 1) / (PERMUTATIONS + 1))


def _ranks(scores: Any) -> Any:
    """From 1, equal scores share the middle of their ranks."""
    _values, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return (ends - (counts - 1) / 2)[place]
