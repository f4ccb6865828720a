"""Many annotators at once, over HTTP, against a running product: they remember all that the server said was saved."""

import http.client
import json
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.cookiejar import Cookie
from pathlib import Path
from typing import Any

from tests.stack import Stack, Visitor

LABELS = ["complaint", "praise", "question"]
SHEET = re.compile(r'data-kind="(task|correction|nothing)" data-sheet="([0-9a-f-]*)"')
VERSION = re.compile(r'name="version" value="([0-9a-f-]+)"')

# Says the project and the session of each annotator. Passwords are not what is tested: nobody has to log in.
PREPARE = """
import json
from decimal import Decimal
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from annotations import releasing
from projects.models import User
from tests import factories

def session(user):
    store = SessionStore()
    store[SESSION_KEY], store[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store.create()
    return store.session_key

names = [f"rater{{i}}" for i in range({people})]
for name in ["lea", *names]:
    User.objects.create(username=name, password="!")
project = factories.project()
project.protocol |= {{"window_submits": 5, "window_minutes": 30}}
project.save()
factories.version(project)
lead = factories.member(project, "lea", "lead", "admin")
raters = [factories.member(project, name) for name in names]
for place, (size, ratings) in enumerate({waves}):
    factories.items(project, size, prefix=f"part {{place}}")
    releasing.open_wave(
        project, by=lead, at=timezone.now(), share_percent=Decimal({share}), ratings_per_item=ratings
    )
print(json.dumps({{
    "project": str(project.uuid),
    "sessions": {{m.alias: session(m.user) for m in raters}},
    "lead": session(lead.user),
}}))
"""


@dataclass
class Record:
    """What one annotator was told is saved. `tried`: corrections that went out, acknowledged or not."""

    name: str
    submits: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, list[str]] = field(default_factory=dict)
    corrections: dict[str, str] = field(default_factory=dict)
    tried: dict[str, list[str]] = field(default_factory=dict)
    skips: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    away: int = 0


class Labeller:
    """An annotator with habits: skips, sends twice, goes back, sends what lay in another tab. `work` until told to end.

    `patient`: an answer that did not come is waited for, and the same form sent again, as the page does it.
    """

    def __init__(self, stack: Stack, project: str, name: str, session: str, seed: int, *, patient: bool) -> None:
        self.visitor, self.record = visitor(stack, session), Record(name)
        self.base, self.rng, self.patient = f"/p/{project}/label/", random.Random(seed), patient
        self.seen: list[str] = []
        self.given: list[str] = []
        self.key, self.idle, self.gone = "", 0, False

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, sent: dict[str, str] | None = None, *, htmx: bool = True) -> tuple[int, str]:
        """The answer; (0, "") where there was none. Whatever else than an answer in good order comes is a problem."""
        try:
            if method == "GET":
                status, body = self.visitor.get(path, **({"HX-Request": "true"} if htmx else {}))
            else:
                status, body = self.visitor.post(path, sent or {}, htmx=htmx)
        except (OSError, http.client.HTTPException):
            status, body = 0, ""
        if "Traceback" in body or 'File "/' in body or "OperationalError" in body:
            self.record.problems.append(f"{method} {path} {status}: {body[:300]}")
        if status == 0 or status >= 500:
            self.record.away += 1
            if not self.patient:
                self.record.problems.append(f"{method} {path}: {status} {body[:300]}")
        elif status == 404:
            self.gone = True
        elif status != 200:
            self.record.problems.append(f"{method} {path}: {status} {body[:300]}")
        return status, body

    def look(self) -> None:
        """The item in hand, or the next one; a new guideline is read first."""
        status, body = self.ask("GET", self.base, htmx=False)
        if status == 200 and self.visitor.at.endswith("/guideline/acknowledge/"):
            version = VERSION.search(body)
            if version:
                self.ask("POST", self.visitor.at, {"version": version.group(1)}, htmx=False)
            status, body = self.ask("GET", self.base, htmx=False)
        self.take(status, body)

    def take(self, status: int, body: str) -> None:
        found = SHEET.search(body) if status == 200 else None
        if found and found.group(1) == "task":
            self.key, self.idle = found.group(2), 0
            if not self.seen or self.seen[-1] != self.key:
                self.seen.append(self.key)
        else:
            self.key = ""
            self.idle += found is not None

    # -- doing ---------------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        dice = self.rng.random()
        if not self.key:
            self.look()
        elif dice < 0.04:
            self.skip()
        elif dice < 0.10 and self.given:
            self.correct(self.rng.choice(self.given[-40:]))  # in the window or after it
        elif dice < 0.16:
            self.send(self.rng.choice(self.seen))  # a tab of long ago
        elif dice < 0.19:
            time.sleep(0.3)
            self.look()  # silent for a while: the lease may have ended
        else:
            self.send(self.key)
            if self.rng.random() < 0.1:
                self.send(self.seen[-2] if len(self.seen) > 1 else self.seen[-1])
            if self.rng.random() < 0.2:
                self.undo()

    def send(self, key: str) -> None:
        value = self.rng.choice(LABELS)
        if key in self.record.skips:
            return
        if key not in self.record.submits:
            self.record.unsure.setdefault(key, []).append(value)
        status, body = self.ask("POST", f"{self.base}{key}/", {"answer-intent": value})
        if status == 200:
            if key not in self.record.submits:
                self.record.submits[key] = value
            self.take(status, body)
        elif status == 0 or status >= 500:
            time.sleep(0.3)

    def skip(self) -> None:
        key = self.key
        if key in self.record.unsure:  # perhaps it was saved
            self.send(key)
            return
        status, body = self.ask("POST", f"{self.base}{key}/skip/", {"reason": "other"})
        if status == 200:
            self.record.skips.append(key)
            self.take(status, body)
        else:
            self.record.unsure.setdefault(key, [])  # perhaps it was skipped: it is not sent any more
            self.record.skips.append(key)
            self.key = ""

    def undo(self) -> None:
        status, body = self.ask("GET", f"{self.base}undo/")
        found = SHEET.search(body) if status == 200 else None
        if found and found.group(1) == "correction":
            if found.group(2) not in self.given:
                self.given.append(found.group(2))
            self.correct(found.group(2))

    def correct(self, annotation: str) -> None:
        value = self.rng.choice(LABELS)
        self.record.tried.setdefault(annotation, []).append(value)
        status, body = self.ask("POST", f"{self.base}undo/{annotation}/", {"answer-intent": value})
        if status == 200:
            self.record.corrections[annotation] = value
            self.record.tried[annotation] = [value]
            self.take(status, body)

    def work(self, may_end: Callable[[], bool]) -> None:
        """Until there was nothing three times running while the others may end too."""
        while not self.gone and not (may_end() and self.idle >= 3):
            try:
                self.turn()
            except Exception as error:
                self.record.problems.append(f"{type(error).__name__}: {error}")
                return
            if not self.key:
                time.sleep(self.rng.uniform(0.1, 0.5))


def visitor(stack: Stack, session: str) -> Visitor:
    """A browser of somebody who is logged in."""
    made = Visitor(stack.url)
    made.jar.set_cookie(_cookie("sessionid", session))
    return made


def _cookie(name: str, value: str) -> Cookie:
    return Cookie(0, name, value, None, False, "127.0.0.1", False, False, "/", True, False, None, False, None, None, {})


@dataclass
class Crowd:
    """All annotators of a prepared project, and what they were told."""

    stack: Stack
    people: Sequence[Labeller]
    project: str
    lead: str

    @classmethod
    def of(
        cls, stack: Stack, *, people: int, waves: Sequence[tuple[int, int]], share: int = 20, patient: bool = False
    ) -> "Crowd":
        said = json.loads(stack.shell(PREPARE.format(people=people, waves=list(waves), share=share)))
        made = [
            Labeller(stack, said["project"], name, session, seed, patient=patient)
            for seed, (name, session) in enumerate(said["sessions"].items())
        ]
        return cls(stack, made, said["project"], said["lead"])

    def start(self, may_end: Callable[[], bool]) -> list[threading.Thread]:
        for person in self.people:
            person.idle = 0
        threads = [threading.Thread(target=person.work, args=(may_end,), daemon=True) for person in self.people]
        for thread in threads:
            thread.start()
        return threads

    @property
    def acknowledged(self) -> int:
        return sum(len(person.record.submits) for person in self.people)

    @property
    def problems(self) -> list[str]:
        return [f"{p.record.name}: {problem}" for p in self.people for problem in p.record.problems]

    def write(self, path: Path) -> Path:
        rows: list[dict[str, Any]] = [vars(person.record) for person in self.people]
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path


def finish(threads: Sequence[threading.Thread], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.1, deadline - time.monotonic()))
    alive = sum(thread.is_alive() for thread in threads)
    assert not alive, f"{alive} annotators did not come to an end within {seconds:.0f} s"
