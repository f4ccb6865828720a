"""Chromium against the running product. Elsewhere than in CI a missing browser is a skip that names it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, CHROMIUM
from tests.browser.windows import Desk
from tests.stack import Stack


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "in CI a missing Chromium is a failure"
        pytest.skip("needs Chromium, which is not installed here")
    with sync_playwright() as playwright:
        # Playwright's event loop runs in this thread; the tests talk to the product over HTTP only.
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)


def own_redis(url: str) -> str:
    """Another number for each process of the run: a worker must not take the messages of another product."""
    base, slash, number = url.rpartition("/")
    place = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return f"{base}{slash}{int(number) + 1 + place}" if url else ""


@contextmanager
def own_services() -> Iterator[dict[str, str]]:
    """PostgreSQL (a database of its own) and Redis where the run has them, else SQLite and the file-system broker."""
    server = os.environ.get("BROWSER_DATABASE_URL", "")
    if not server:
        yield {}
        return
    name = f"concord_browser_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
        base = server.rpartition("/")[0]
        yield {"DATABASE_URL": f"{base}/{name}", "REDIS_URL": own_redis(os.environ.get("BROWSER_REDIS_URL", ""))}
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def services() -> Iterator[dict[str, str]]:
    with own_services() as env:
        yield env


@pytest.fixture
def stack(tmp_path: Path, services: dict[str, str]) -> Iterator[Stack]:
    with Stack(tmp_path, **services) as running:
        yield running


@pytest.fixture(scope="module")
def running(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One running product for all tests of a file."""
    with own_services() as env, Stack(tmp_path_factory.mktemp("stack"), **env) as stack:
        yield Desk(browser, stack)


@pytest.fixture
def desk(running: Desk) -> Iterator[Desk]:
    yield running
    running.close()


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[object]:
    """A function that logs somebody in, in a window of their own, and returns the page."""
    contexts = []

    def open_page(name: str, password: str, **options: object) -> Page:
        context = browser.new_context(base_url=stack.url, viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.goto("/login/")
        page.get_by_label("User name").or_(page.locator("[name=username]")).first.fill(name)
        page.locator("[name=password]").fill(password)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/login/" not in url)
        return page

    yield open_page
    for context in contexts:
        context.close()
