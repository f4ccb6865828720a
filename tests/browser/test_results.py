"""What annotators read once a measurement has closed, and what changed in the guideline: at a desk and on a phone."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import own_services
from tests.browser.results import ANSWERED, ASKED, WHY
from tests.browser.windows import PHONE, Desk, axe, goes_on, press
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]


class Results(Desk):
    """The desk with projects whose measurement is done but for its closing."""

    seeded_by = "results"

    def step(self, name: str, project: str) -> str:
        """One of `results`, done while the product runs."""
        return self.stack.shell(f"from tests.browser import results; results.{name}({project!r})")

    def told(self, project: str) -> list[dict[str, Any]]:
        return list(json.loads(self.step("tell", project).splitlines()[-1]))


@pytest.fixture(scope="module")
def running(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    with own_services() as env, Stack(tmp_path_factory.mktemp("stack"), **env) as stack:
        yield Results(browser, stack)


@pytest.fixture
def desk(running: Results) -> Iterator[Results]:
    yield running
    running.close()


@pytest.fixture(params=["desk", "phone"])
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def options(device: str) -> dict[str, Any]:
    return PHONE if device == "phone" else {}


def act(device: str, control: Locator) -> None:
    """Press a control as one does there: with the Enter key, or by finger."""
    if device == "phone":
        control.tap()
    else:
        control.focus()
        control.press("Enter")


def choose(device: str, page: Page, label: str, *, key: str) -> None:
    """A label: by finger, else by its key."""
    if device == "phone":
        page.locator(".label", has_text=label).tap()
    else:
        press(page, key)


def go(page: Page, address: str) -> Locator:
    """Open a page that passes axe and is no wider than the window; its main part."""
    page.goto(address)
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    return page.locator("main")


def leads_on(page: Page, do: Callable[[], object]) -> None:
    with page.expect_navigation():
        do()


def test_the_final_label_and_its_reason_come_with_the_decision_and_not_before(desk: Results, device: str) -> None:
    name = f"outcome-{device}"
    page = desk.window(**options(device)).new_page()
    address = desk.projects[name] + "work/final-labels/"

    main = go(page, address)
    expect(main).to_contain_text("No results are in yet")
    desk.step("close", name)
    main = go(page, address)
    expect(main.locator("li.entry")).to_have_count(0)
    desk.step("decide", name)
    main = go(page, address)

    expect(main.locator("li.entry")).to_have_count(1)
    expect(main.locator("li.entry")).to_contain_text("You: praise · Final: complaint")
    expect(main.locator("li.entry")).to_contain_text(WHY)
    expect(main.locator("li.entry")).to_contain_text("Cause: the guideline is silent")
    leads_on(page, lambda: act(device, main.get_by_role("link", name="Your label of")))
    axe(page)
    expect(page.get_by_role("radio", name="praise")).to_be_checked()


def test_a_label_sent_back_is_corrected_or_stays_and_the_measured_one_does_not_move(desk: Results, device: str) -> None:
    name = f"sent-back-{device}"
    desk.step("close", name)
    desk.step("send_back", name)
    page = desk.window(**options(device)).new_page()
    address = desk.projects[name] + "work/"

    waiting = go(page, address).locator("section[aria-labelledby=asked] li.entry")
    expect(waiting).to_have_count(2)
    expect(waiting.first).to_contain_text(f"asks you to look at your label again: {WHY}")
    leads_on(page, lambda: act(device, waiting.first.get_by_role("link", name="Look at it")))
    axe(page)
    if device == "phone":
        page.locator(".label", has_text="complaint").tap()
    else:
        page.get_by_role("radio", name="complaint").press("Space")
    leads_on(page, lambda: act(device, page.get_by_role("button", name="Save the correction")))
    waiting = go(page, address).locator("section[aria-labelledby=asked] li.entry")
    expect(waiting).to_have_count(1)
    leads_on(page, lambda: act(device, waiting.get_by_role("button", name="My label stays")))
    expect(page.locator("section[aria-labelledby=asked]")).to_have_count(0)

    told = sorted(desk.told(name), key=lambda row: row["kept"])
    assert told == [
        {"version": "1.0", "measured": "praise", "latest": "complaint", "revisions": 2, "kept": False},
        {"version": "1.0", "measured": "praise", "latest": "praise", "revisions": 1, "kept": True},
    ]


def test_an_answer_reaches_everybody_when_the_draw_has_closed_and_is_news_once(desk: Results, device: str) -> None:
    name = f"answer-{device}"
    address = desk.projects[name] + "work/answers/"
    pages = {person: desk.window(person, **options(device)).new_page() for person in ("anna", "ben")}

    desk.step("answer", name)
    expect(go(pages["anna"], address)).to_contain_text("Waiting: a lead answers")
    assert ANSWERED not in pages["anna"].content()
    expect(go(pages["ben"], address)).not_to_contain_text(ASKED)
    desk.step("close", name)

    for person, asked in (("anna", "You asked"), ("ben", "Somebody asked")):
        main = go(pages[person], address)
        expect(main).to_contain_text(f"{asked}: {ASKED}")
        expect(main).to_contain_text(ANSWERED)
        expect(main.locator(".tag", has_text="new")).to_have_count(1)
        expect(go(pages[person], address).locator(".tag", has_text="new")).to_have_count(0)


def test_what_changed_is_read_before_the_next_item(desk: Results, device: str) -> None:
    name = f"news-{device}"
    page = desk.at(name, **options(device))
    goes_on(page, lambda: choose(device, page, "praise", key="2"))
    desk.step("publish", name)

    page.goto(desk.label(name))
    expect(page.locator("h1")).to_have_text("What changed from 1.0 to 2.0")
    expect(page.locator("#task")).to_have_count(0)
    expect(page.locator("ins", has_text="Thanks count as praise.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Thanks were unclear.")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert [row["version"] for row in desk.told(name)] == ["1.0"]
    assert desk.step("acknowledged", name) == "1.0"
    leads_on(page, lambda: act(device, page.get_by_role("button", name="I have read this")))

    goes_on(page, lambda: choose(device, page, "complaint", key="1"))
    assert [(row["version"], row["latest"]) for row in desk.told(name)] == [("1.0", "praise"), ("2.0", "complaint")]
    assert desk.step("acknowledged", name) == "2.0"


def test_at_a_desk_the_history_is_filtered_and_corrected_by_keyboard_and_the_pace_counts(desk: Results) -> None:
    name = "outcome-desk"
    page = desk.window().new_page()
    go(page, desk.projects[name] + "work/")
    expect(page.locator("li.entry")).to_have_count(2)
    page.locator("select#label").focus()
    press(page, "q")  # by its first letter, as in every list of choices
    leads_on(page, lambda: act("desk", page.get_by_role("button", name="Filter")))
    expect(page.locator("main")).to_contain_text("You gave this label to no item.")
    axe(page)
    leads_on(page, lambda: act("desk", page.get_by_role("link", name="Show all")))

    act("desk", page.get_by_role("link", name="Correct the label of").first)
    save = page.get_by_role("button", name="Save the correction")
    save.wait_for()
    page.get_by_role("radio", name="praise").focus()
    press(page, "ArrowDown")
    axe(page)
    act("desk", save)
    save.wait_for(state="hidden")

    assert sorted(row["latest"] for row in desk.told(name)) != ["praise", "praise"]
    assert [row["measured"] for row in desk.told(name)] == ["praise", "praise"]
    expect(go(page, desk.projects[name] + "work/pace/")).to_contain_text("you labelled 2 items")
