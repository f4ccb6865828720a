"""The product as its users have it: web, worker and beat in processes of their own, on a free port."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from html import unescape
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], object], seconds: float = 90, what: str = "it did not happen in time") -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


class Stack:
    """`with Stack(folder) as stack:` runs `config.launch`; `env` may name another database and broker."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "log"
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}
        own = {"CONCORD_VAR": str(folder / "var"), "PORT": str(self.port), "CONCORD_SWEEP_SECONDS": "1"}
        self.env = kept | own | {"CONCORD_DEMO": "no"} | env

    def __enter__(self) -> "Stack":
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def start(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.launch"], cwd=ROOT, env=self.env, stdout=log, stderr=subprocess.STDOUT
            )
        wait_for(self.ready, 180, "the server did not start")

    def pids(self, part: str) -> list[int]:
        """The processes of "gunicorn", "worker" or "beat", the first of them before those that it started."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                mine = f"CONCORD_VAR={self.env['CONCORD_VAR']}".encode() in path.read_bytes().split(b"\0")
                if mine and part.encode() in path.with_name("cmdline").read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it ended while we looked
        return sorted(found)

    def kill(self) -> None:
        """The launcher, as nobody should; what it started ends by itself."""
        self.process.kill()
        self.process.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def ready(self) -> bool:
        assert self.process.poll() is None, self.said()
        return "Concord is ready: " in self.said()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def manage(self, *words: str, stdin: str | None = None) -> str:
        """Run `manage.py` beside the running product; what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.env | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, code: str) -> str:
        return self.manage("shell", "-v", "0", "-c", code).strip()


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Visitor:
    """A browser without JavaScript: keeps cookies, sends the CSRF token, follows redirects unless told not to."""

    def __init__(self, url: str) -> None:
        self.url, self.jar = url, CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.jar))
        self.staying = build_opener(HTTPCookieProcessor(self.jar), _Stay())

    def log_in(self, name: str, password: str) -> None:
        self.get("/login/")
        status, body = self.post("/login/", {"username": name, "password": password})
        assert status == 200, body[:2000]
        assert "/logout/" in body, body[:2000]

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self._open(Request(self._full(path), headers=headers), self.opener)

    def post(
        self, path: str, data: Mapping[str, Any] | list[tuple[str, str]], *, htmx: bool = False, follow: bool = True
    ) -> tuple[int, str]:
        token = next((cookie.value or "" for cookie in self.jar if cookie.name == "csrftoken"), "")
        headers = {"X-CSRFToken": token, "Referer": self.url} | ({"HX-Request": "true"} if htmx else {})
        request = Request(self._full(path), data=urlencode(data, doseq=True).encode(), headers=headers)
        return self._open(request, self.opener if follow else self.staying)

    def _full(self, path: str) -> str:
        return path if path.startswith("http") else self.url + path

    def _open(self, request: Request, opener: Any) -> tuple[int, str]:
        try:
            with opener.open(request, timeout=60) as response:
                self.at = response.url
                return response.status, response.read().decode()
        except HTTPError as error:
            self.at = error.headers.get("Location", request.full_url)
            return error.code, error.read().decode()
        except http.client.RemoteDisconnected:
            return 0, ""


def text_of(html: str) -> str:
    """What a reader sees of `html`, roughly: no tags, entities resolved, spaces folded."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


class _Form(HTMLParser):
    """The values that a form would send as it stands."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.inside, self.sent, self.text, self.found = action, False, [], None, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        got = {name: value or "" for name, value in attrs}
        if tag == "form":
            meant = self.action in got.get("action", "") or self.action == got.get("id")
            self.inside = meant and not self.found
            self.found = self.found or self.inside
        elif self.inside and tag == "input" and got.get("name") and got.get("type") not in {"submit", "file"}:
            if got.get("type") not in {"radio", "checkbox"} or "checked" in got:
                self.sent.append((got["name"], got.get("value", "")))
        elif self.inside and tag == "textarea" and got.get("name"):
            self.text = got["name"]
            self.sent.append((self.text, ""))

    def handle_data(self, data: str) -> None:
        if self.text:
            name, value = self.sent[-1]
            self.sent[-1] = (name, value + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.text = None
        elif tag == "form":
            self.inside = False


def form_in(html: str, action: str) -> dict[str, Any]:
    """What the first form of `html` whose action contains `action`, or whose id it is, would send, by name."""
    parser = _Form(action)
    parser.feed(html)
    assert parser.found, f"no form goes to {action!r}"
    values: dict[str, Any] = {}
    for name, value in parser.sent:
        values[name] = (
            value
            if name not in values
            else [*([values[name]] if isinstance(values[name], str) else values[name]), value]
        )
    return values
