"""Annotators as a server sees them: each keeps a connection and a cookie, reads the page, answers, gets the next one.

Only this machine's own addresses: nothing here can be turned on somebody else's server.
"""

import http.client
import ipaddress
import random
import re
import secrets
import socket
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

SUBMIT = re.compile(r'<form id="answers"[^>]* action="([^"]+)"')
SKIP = re.compile(r'<form id="skip"[^>]* action="([^"]+)"')
CHOICE = re.compile(r'type="radio" name="(answer-[^"]+)" value="([^"]+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
PATIENCE = 60  # seconds


class Unexpected(Exception):
    """The server did not answer as it should have."""


@dataclass
class Tally:
    """What annotators did and how long the server took, in milliseconds, from the request to the end of its answer."""

    saved: list[str] = field(default_factory=list)  # assignments whose label the server said it has
    skipped: int = 0
    empty: int = 0
    milliseconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        self.saved += other.saved
        self.skipped += other.skipped
        self.empty += other.empty
        self.milliseconds += other.milliseconds
        self.errors += other.errors


def percentile(values: list[float], share: float) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))] if ranked else 0.0


def loopback(url: str) -> tuple[str, int]:
    """Host and port of an address of this machine; SystemExit for any other."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        found = {ipaddress.ip_address(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise SystemExit(f"{url}: expected an address such as http://127.0.0.1:8000 ({error}).") from error
    if parts.scheme != "http" or not found or not all(one.is_loopback for one in found):
        raise SystemExit(f"{url}: only http and this machine's own addresses (127.0.0.1, localhost) are loaded.")
    return host, parts.port or 80


class Annotator:
    """One of them, with a connection that is kept."""

    def __init__(self, url: str, project: str, *, seed: int, session: str = "") -> None:
        self.host, self.port = loopback(url)
        self.page = f"/p/{project}/label/"
        self.rng = random.Random(seed)
        self.tally = Tally()
        self.cookies = {"csrftoken": secrets.token_hex(16)}
        if session:
            self.cookies["sessionid"] = session
        self.connection: http.client.HTTPConnection | None = None
        self.shown = ""

    def log_in(self, name: str, password: str) -> None:
        """By the page, as people do."""
        page = self._ask("GET", "/login/", status=200)
        token = TOKEN.search(page)
        form = {"username": name, "password": password, "csrfmiddlewaretoken": token[1] if token else ""}
        self._ask("POST", "/login/", form, status=302)
        if "sessionid" not in self.cookies:
            raise Unexpected(f"{name} could not log in")

    def look(self) -> bool:
        """Open the labelling page; whether there is an item."""
        self.shown = self._ask("GET", self.page, status=200)
        return self.has_item

    @property
    def has_item(self) -> bool:
        return SUBMIT.search(self.shown) is not None

    def label(self, *, skips: float = 0.0) -> None:
        """Answer what is shown, or leave it to somebody else, and get the next item."""
        submit = SUBMIT.search(self.shown)
        if submit is None:
            raise Unexpected("no item is shown")
        if self.rng.random() < skips and (skip := SKIP.search(self.shown)):
            self._next(skip[1], {"reason": "other"})
            self.tally.skipped += 1
            return
        offered: dict[str, list[str]] = {}
        for name, value in CHOICE.findall(self.shown):
            offered.setdefault(name, []).append(value)
        if not offered:
            raise Unexpected("the item has no question with labels")
        self._next(submit[1], {name: self.rng.choice(values) for name, values in offered.items()})
        self.tally.saved.append(submit[1].rstrip("/").rsplit("/", 1)[1])

    def _next(self, path: str, form: dict[str, str]) -> None:
        start = time.perf_counter()
        self.shown = self._ask("POST", path, form, status=200, htmx=True)
        self.tally.milliseconds.append(1000 * (time.perf_counter() - start))
        if "data-kind=" not in self.shown:
            raise Unexpected(f"{path} was answered with another page")

    def _ask(
        self, method: str, path: str, form: dict[str, str] | None = None, *, status: int, htmx: bool = False
    ) -> str:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers["X-CSRFToken"] = self.cookies["csrftoken"]
        headers |= {"HX-Request": "true"} if htmx else {}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}
        body = urlencode(form) if form is not None else None
        answer = self._send(method, path, body, headers)
        text = answer.read().decode()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _sign, rest = cookie.partition("=")
            self.cookies[name] = rest.split(";", 1)[0]
        if answer.status != status:
            raise Unexpected(f"{method} {path.split('/')[-2]} was answered with {answer.status}")
        return text

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        """On the connection that is there. One that the server has closed meanwhile is opened again, once: what is
        sent twice is saved once."""
        for last in (False, True):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
            try:
                self.connection.request(method, path, body, headers)
                return self.connection.getresponse()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.connection.close()
                self.connection = None
                if last:
                    raise
        raise AssertionError("unreachable")
