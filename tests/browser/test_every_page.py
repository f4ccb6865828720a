"""Every page that links lead to in the demo project, as admin, lead and annotator: it answers, axe finds nothing, the
console is silent, nothing comes from elsewhere, and nothing is wider than a phone."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import Resolver404, resolve
from playwright.sync_api import Browser, Page

from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(600)]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PASSWORD = "concord-demo"
# Names without a space that are wider than a phone.
LONG_NAMES = """
from projects.models import Project, User
Project.objects.update(name="Reviews" + "x" * 90)
User.objects.filter(username__in=["anna", "lea"]).update(first_name="A" + "y" * 60)
"""
NOT_PAGES = {"export-file", "report-file", "api-schema", "api-docs", "logout"}  # files, the API's own page, a form
WINDOWS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("demo"), CONCORD_DEMO="yes") as running:
        running.shell(LONG_NAMES)
        yield running


class Crawl:
    """Follows links from page to page, one address for each kind of page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.seen: set[str] = set()
        self.wrong: list[str] = []
        page.on("console", lambda message: self._note(message.type == "error", f"console: {message.text}"))
        page.on("pageerror", lambda error: self._note(True, f"script: {error}"))
        page.on(
            "request",
            lambda request: self._note(not request.url.startswith((url, "data:", "blob:")), f"asks {request.url}"),
        )

    def _note(self, is_wrong: bool, what: str) -> None:
        if is_wrong:
            self.wrong.append(f"{self.page.url}: {what}")

    def kind(self, address: str) -> str:
        """The name of the page that answers `address`; empty for what is no page of ours."""
        parts = urlsplit(address)
        if f"{parts.scheme}://{parts.netloc}" != self.url:
            return ""
        try:
            match = resolve(parts.path)
        except Resolver404:
            return f"nothing at {parts.path}"
        return "" if match.url_name in NOT_PAGES or "admin" in match.namespaces else match.view_name

    def visit(self, address: str) -> list[str]:
        answer = self.page.goto(address)
        if answer is None or answer.status != 200:
            self.wrong.append(f"{address}: answered {answer and answer.status}")
            return []
        self.page.wait_for_timeout(150)  # for what the page asks for after it is there
        found = Axe().run(self.page, options={"runOnly": {"type": "tag", "values": TAGS}}).response["violations"]
        self.wrong += [f"{address}: {one['id']}: {node['html'][:140]}" for one in found for node in one["nodes"]]
        wider = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self._note(wider > 0, f"{wider} px wider than the window")
        links = self.page.eval_on_selector_all("a[href]:not([download])", "links => links.map(a => a.href)")
        folder = os.environ.get("CONCORD_SCREENSHOTS")
        if folder:
            name = re.sub(r"\W+", "-", self.kind(address)) + f"-{self.page.viewport_size['width']}.png"
            self.page.screenshot(path=Path(folder) / name, full_page=True)
        return [urljoin(address, link).split("#")[0] for link in links]

    def run(self, start: str) -> set[str]:
        waiting = [start]
        while waiting:
            address = waiting.pop(0)
            kind = self.kind(address)
            if not kind or kind in self.seen:
                continue
            self.seen.add(kind)
            waiting += self.visit(address)
        return self.seen


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    ("name", "must"),
    [
        (
            "ada",
            {"projects:project-list", "agreement:home", "agreement:protocol", "projects:settings", "projects:members"},
        ),
        (
            "lea",
            {
                "agreement:agreement",
                "agreement:draw",
                "agreement:report",
                "agreement:planning",
                "annotations:adjudication-case",
                "annotations:wave-open",
                "annotations:activity",
                "projects:notices-settings",
            },
        ),
        (
            "anna",
            {"annotations:label", "annotations:my-work", "projects:guideline", "projects:account", "projects:notices"},
        ),
    ],
)
def test_every_page_that_links_lead_to(browser: Browser, demo: Stack, name: str, must: set[str], window: str) -> None:
    context = browser.new_context(base_url=demo.url, **WINDOWS[window])
    page = context.new_page()
    page.goto("/login/")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    crawl = Crawl(page, demo.url)

    seen = crawl.run(page.url)

    assert not crawl.wrong, "\n".join(crawl.wrong)
    assert must <= seen, f"not reached: {must - seen}"
    context.close()
