"""People at their windows, for the tests in Chromium: a browser, logged in, and what is done at the labelling page."""

import json
from collections.abc import Callable
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.factories import PASSWORD
from tests.stack import Stack

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def axe(page: Page) -> None:
    """No violation of WCAG 2.2 AA on the page as it stands."""
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}}).response["violations"]
    told = [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]
    assert told == [], f"{page.url}: {told}"


class Desk:
    """The product with its projects, and windows in which anna or ben sits at one of them."""

    seeded_by = "desk"  # a module beside this one

    def __init__(self, browser: Browser, stack: Stack) -> None:
        self.browser, self.stack = browser, stack
        self.projects: dict[str, str] = json.loads(
            stack.shell(f"from tests.browser import {self.seeded_by} as made; made.seed()").splitlines()[-1]
        )
        self.contexts: list[BrowserContext] = []
        self.states: dict[str, Any] = {}

    def window(self, name: str = "anna", **options: Any) -> BrowserContext:
        """A browser of its own, logged in."""
        state = self.states.get(name)
        given = {"viewport": {"width": 1280, "height": 900}, "base_url": self.stack.url, "storage_state": state}
        context = self.browser.new_context(**given | options)
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        if state is None:
            page = context.new_page()
            page.goto("/login/")
            log_in(page, name)
            self.states[name] = context.storage_state()
            page.close()
        return context

    def at(self, project: str, name: str = "anna", **options: Any) -> Page:
        """The labelling page of a project in a browser of its own."""
        page = self.window(name, **options).new_page()
        page.goto(self.label(project))
        return page

    def label(self, project: str) -> str:
        return self.projects[project] + "label/"

    def given(self, project: str, name: str = "anna") -> list[dict[str, Any]]:
        """What was labelled, newest first, as the API tells it."""
        uuid = self.projects[project].split("/")[2]
        with_log_in = self.window(name)
        answer = with_log_in.request.get(f"/api/v1/projects/{uuid}/annotations/").json()
        with_log_in.close()
        self.contexts.remove(with_log_in)
        return list(answer["results"])

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.contexts.clear()


def log_in(page: Page, name: str = "anna") -> None:
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)


def sheet(page: Page) -> str:
    return str(page.locator("#task").get_attribute("data-sheet"))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def goes_on(page: Page, act: Callable[[], object]) -> None:
    """Do something, and wait until another item is there."""
    before = sheet(page)
    act()
    page.wait_for_function("key => document.querySelector('#task').dataset.sheet !== key", arg=before)


def state(page: Page) -> Any:
    return expect(page.locator("#state"))
