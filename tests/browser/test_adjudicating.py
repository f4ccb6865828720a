"""Adjudicating in Chromium: by keyboard alone, the next case there before it is asked for, and axe on every state."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.conftest import own_services
from tests.browser.windows import Desk, axe
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


class Leads(Desk):
    seeded_by = "disputed"

    def queue(self, project: str, name: str = "lea", query: str = "", **options: object) -> Page:
        page = self.window(name, **options).new_page()
        page.goto(f"{self.projects[project]}adjudication/{query}")
        return page

    def first(self, project: str, name: str = "lea", **options: object) -> Page:
        """The first case of the queue, held."""
        page = self.queue(project, name, **options)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page.locator("#hold")).to_contain_text("You hold this case")
        return page


@pytest.fixture(scope="module")
def running(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leads]:
    with own_services() as env, Stack(tmp_path_factory.mktemp("stack"), **env) as stack:
        yield Leads(browser, stack)


@pytest.fixture
def leads(running: Leads) -> Iterator[Leads]:
    yield running
    running.close()


def case_of(page: Page) -> str:
    return str(page.locator("[data-case]").get_attribute("data-case"))


def go_on(page: Page, *keys: str) -> None:
    """Press keys, the last of which leads to another case."""
    before = case_of(page)
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("key => document.querySelector('[data-case]')?.dataset.case !== key", arg=before)
    expect(page.locator("#hold")).to_contain_text("You hold this case")


def rationale(page: Page) -> str:
    return page.locator("[name=rationale]").input_value()


# -- by keyboard -------------------------------------------------------------------------------------------------------


def test_a_label_that_was_decided_so_before_takes_two_keys(leads: Leads) -> None:
    page = leads.first("keys")
    page.keyboard.press("1")
    page.keyboard.type("It reports a fault.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-causes] input").first).to_be_focused()
    go_on(page, "3")  # the cause, and on

    page.keyboard.press("1")
    expect(page.locator("[data-offered]")).to_be_visible()
    assert rationale(page) == "It reports a fault."
    expect(page.locator("[name=cause][value=slip]")).to_be_checked()
    page.keyboard.press("2")  # nobody said anything of this label yet
    assert rationale(page) == ""
    expect(page.locator("[name=cause]:checked")).to_have_count(0)
    page.keyboard.press("Escape")
    go_on(page, "1", "Enter")

    expect(page.locator("#messages")).to_contain_text("Decided.")
    page.keyboard.press("1")
    page.keyboard.press("c")
    page.keyboard.type("In other words.")  # takes the place of what was filled in
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    assert rationale(page) == "In other words."
    with page.expect_navigation():
        page.keyboard.press("z")
    expect(page.get_by_role("heading", name="Decided: complaint")).to_be_visible()
    axe(page)
    page.keyboard.press("r")
    expect(page.locator("[data-reopen] [name=reason]")).to_be_focused()
    page.keyboard.type("The last sentence counts.")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("The last sentence counts.")
    axe(page)


def test_the_next_case_is_there_before_it_is_asked_for(leads: Leads) -> None:
    page = leads.first("ahead")
    page.wait_for_load_state("networkidle")
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type in ("document", "fetch", "xhr"):
            asked.append(f"{request.method} {request.url.rstrip('/').rsplit('/', 1)[-1].split('?')[0]}")

    page.on("request", note)
    page.keyboard.press("1")
    page.keyboard.type("It reports a fault.")
    go_on(page, "Enter", "1")
    following = case_of(page)

    assert asked[:2] == ["POST resolve", "POST claim"]
    page.wait_for_load_state("networkidle")
    assert f"GET {following}" not in asked
    page.reload()
    assert case_of(page) == following


def test_a_case_that_is_passed_over_is_free_for_the_other_lead(leads: Leads) -> None:
    page = leads.first("passed")
    first = case_of(page)

    page.wait_for_load_state("networkidle")
    go_on(page, "s")

    other = leads.first("passed", "lou")
    assert case_of(other) == first


def test_one_decision_for_the_conflicts_of_a_pair(leads: Leads) -> None:
    page = leads.queue("several")
    page.locator(".queue-filters a").first.press("Enter")
    page.wait_for_url(lambda url: "pair=" in url)
    with page.expect_navigation():
        page.keyboard.press("a")
    axe(page)
    page.keyboard.press("2")
    page.keyboard.type("It thanks for all of it.")
    page.keyboard.press("Enter")
    with page.expect_navigation():
        page.keyboard.press("2")
    expect(page.get_by_role("heading", level=1)).to_have_text("4 cases become “praise”")
    axe(page)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("4 cases are decided.")


def test_parts_are_marked_and_decided_by_keyboard(leads: Leads) -> None:
    page = leads.first("spans")
    expect(page.locator(".said-text")).to_have_count(2)
    expect(page.locator(".side .said-name").first).to_be_visible()
    axe(page)

    page.keyboard.press("n")
    page.keyboard.press("c")
    page.keyboard.type("Neither says so.")
    go_on(page, "Enter", "4")

    expect(page.locator("main")).to_contain_text("I like the map.")


# -- the example -------------------------------------------------------------------------------------------------------


def test_what_is_selected_is_blacked_out_wherever_it_stands(leads: Leads) -> None:
    page = leads.first("redact")
    page.keyboard.press("1")
    page.keyboard.type("It reports a fault.")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page.locator("#example-preview")).to_contain_text("Looks like personal details: 0170 5550199")
    axe(page)
    text = page.locator("[name=content-0]")
    text.evaluate(
        "area => { area.focus(); const at = area.value.indexOf('0170'); area.setSelectionRange(at, at + 12); }"
    )

    page.get_by_role("button", name="Black out what is selected").click()

    assert "call me at [redacted], Mia Berger, or at [redacted]" in text.input_value()
    expect(page.locator("#example-preview")).to_contain_text("call me at [redacted]")
    expect(page.locator("#example-preview")).not_to_contain_text("Looks like personal details")


# -- every state -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("project", ["plain", "scale", "sets", "two", "arabic"])
def test_every_kind_of_conflict_on_a_phone_in_the_dark(leads: Leads, project: str) -> None:
    page = leads.first(project, **PHONE)

    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    if project == "scale":
        expect(page.locator("main")).to_contain_text("9 of 10 steps apart")
    if project == "two":
        expect(page.locator("main")).to_contain_text("The same item also differs on:")


def test_held_by_another_asked_for_a_second_opinion_and_told(leads: Leads) -> None:
    page = leads.first("opinions")
    other = leads.window("lou").new_page()
    other.goto(page.url)
    expect(other.locator("#hold")).to_contain_text("lea is deciding this case until")
    axe(other)

    with page.expect_navigation():
        page.keyboard.press("o")
    expect(page.get_by_role("heading", name="Your opinion")).to_be_visible()
    axe(page)
    case = page.url
    page.keyboard.press("1")
    page.keyboard.type("It reports a fault.")
    before = case_of(page)
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.wait_for_function("key => document.querySelector('[data-case]')?.dataset.case !== key", arg=before)
    page.goto(case)
    expect(page.locator("main")).to_contain_text("Another lead’s opinion is waited for")
    axe(page)
    other.goto(case)
    other.keyboard.press("2")
    other.keyboard.type("It thanks.")
    other.keyboard.press("Enter")
    other.keyboard.press("1")
    other.wait_for_function("key => document.querySelector('[data-case]')?.dataset.case !== key", arg=before)
    other.goto(case)
    expect(other.locator("main")).to_contain_text("Decided independently")
    axe(other)
