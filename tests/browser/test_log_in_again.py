"""The session ends in the middle of work: one logs in on the labelling page itself, and what was given is sent once."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.windows import PHONE, Desk, axe, goes_on, log_in, press, sheet, state
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]

WINDOWS = pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def desk(running: Desk) -> Iterator[Desk]:
    yield running
    running.close()
    running.states.clear()  # the tests end these sessions


@pytest.fixture
def switch(desk: Desk) -> Iterator[Callable[[bool], object]]:
    """A function that switches anna's account off or on; however the test ends, it is on and forgets her attempts."""
    find = "from projects.models import FailedLogIn, User; anna = User.objects.filter(username='anna')"

    def switch(on: bool) -> None:
        desk.stack.shell(f"{find}; anna.update(is_active={on}); FailedLogIn.objects.all().delete()")

    yield switch
    switch(True)


class Sent:
    """What the server took: the answers to POSTs that did not lead to the log-in page."""

    def __init__(self, page: Page) -> None:
        self.taken: list[str] = []
        self.loads = 0
        page.on("response", self._answered)

    def _answered(self, response: Response) -> None:
        if response.request.is_navigation_request():
            self.loads += 1
        elif response.request.method == "POST" and response.ok:
            self.taken.append(response.url.rstrip("/").split("/")[-1])


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Log in again")


def session_ends(page: Page) -> None:
    page.context.clear_cookies(name="sessionid")


def choose(page: Page, name: str) -> None:
    """A label: with a finger where there is no keyboard."""
    if page.evaluate("matchMedia('(hover: none)').matches"):
        page.locator(".label", has_text=name).tap()
    else:
        press(page, {"complaint": "1", "praise": "2", "question": "3"}[name])


def act(page: Page, button: str) -> None:
    """A button: by finger, else by Enter."""
    if page.evaluate("matchMedia('(hover: none)').matches"):
        page.get_by_role("button", name=button).tap()
    else:
        page.get_by_role("button", name=button).focus()
        press(page, "Enter")


def type_in(page: Page, password: str = PASSWORD, name: str = "") -> None:
    if name:
        dialog(page).get_by_label("User name").fill(name)
    field = dialog(page).get_by_label("Password")
    field.fill(password)
    act(page, "Log in")


@WINDOWS
def test_a_wrong_and_then_the_right_password_send_the_label_once_without_a_page_load(
    desk: Desk, window: dict[str, Any]
) -> None:
    page = desk.at("in-place", **window)
    before, first = len(desk.given("in-place")), page.locator(".item-text").inner_text()
    sent = Sent(page)

    session_ends(page)
    choose(page, "question")
    expect(dialog(page)).to_be_visible()
    expect(dialog(page).get_by_label("Password")).to_be_focused()
    expect(dialog(page).get_by_label("User name")).to_have_value("anna")
    expect(dialog(page)).to_contain_text("kept in this browser; it is sent, once, as soon as you are logged in")
    type_in(page, "a wrong one")
    expect(dialog(page).get_by_role("alert")).to_have_text(
        "No account has this name with this password. Capital letters count."
    )
    axe(page)
    assert len(desk.given("in-place")) == before
    goes_on(page, lambda: type_in(page))

    expect(dialog(page)).to_be_hidden()
    state(page).to_have_text("saved")
    rows = desk.given("in-place")
    assert (len(rows), rows[0]["content"]["text"]) == (before + 1, first)
    assert rows[0]["answers"] == {"intent": "question"}
    assert (sent.loads, sent.taken.count("login")) == (0, 1)
    assert len(sent.taken) == 2  # the log-in, and the label
    goes_on(page, lambda: choose(page, "praise"))
    assert len(desk.given("in-place")) == before + 2
    # The forms of the page know the new token: the frame's own has no JavaScript of ours.
    page.locator(".bar-account summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/")


@WINDOWS
def test_put_off_it_keeps_the_label_and_is_asked_for_again_by_its_link(desk: Desk, window: dict[str, Any]) -> None:
    page = desk.at("put-off", **window)
    before, first = len(desk.given("put-off")), sheet(page)
    session_ends(page)
    choose(page, "praise")
    expect(dialog(page)).to_be_visible()

    if window:
        dialog(page).get_by_role("button", name="Not now").tap()
    else:
        press(page, "Escape")
    expect(dialog(page)).to_be_hidden()
    state(page).to_have_text("You were logged out. Your label is kept here: log in, and it is sent")
    assert sheet(page) == first
    assert len(page.evaluate("Object.keys(localStorage).filter(key => key.includes(':unsent:'))")) == 1
    page.get_by_role("link", name="log in, and it is sent").click()
    goes_on(page, lambda: type_in(page))

    assert page.evaluate("Object.keys(localStorage).filter(key => key.includes(':unsent:'))") == []
    rows = desk.given("put-off")
    assert (len(rows), rows[0]["answers"]) == (before + 1, {"intent": "praise"})


def test_the_focus_stays_inside_and_no_key_labels_behind_it(desk: Desk) -> None:
    page = desk.at("put-off")
    before = len(desk.given("put-off"))
    session_ends(page)
    choose(page, "complaint")
    expect(dialog(page).get_by_label("Password")).to_be_focused()

    inside = "document.activeElement === document.body || document.activeElement.closest('#log-in') !== null"
    for _ in range(8):
        press(page, "Tab")
        assert page.evaluate(inside)
    page.get_by_role("button", name="Not now").focus()
    press(page, "2", "s", "?", "Backspace")
    expect(page.locator(":popover-open")).to_have_count(0)
    expect(page.locator("#task :checked")).to_have_value("complaint")
    goes_on(page, lambda: type_in(page))

    rows = desk.given("put-off")
    assert (len(rows), rows[0]["answers"]) == (before + 1, {"intent": "complaint"})


@WINDOWS
def test_another_person_is_told_whose_label_is_kept_and_never_sends_it(desk: Desk, window: dict[str, Any]) -> None:
    page = desk.at("another", **window)
    before = len(desk.given("another"))
    first = page.locator(".item-text").inner_text()
    session_ends(page)
    choose(page, "complaint")

    type_in(page, name="ben")

    expect(dialog(page)).to_contain_text("ben is logged in here now, and this page is anna’s.")
    expect(dialog(page)).to_contain_text("kept in this browser under the name of anna")
    axe(page)
    page.get_by_role("link", name="Go on as ben").click()
    page.wait_for_load_state("networkidle")
    assert (desk.given("another", "ben"), len(desk.given("another"))) == ([], before)
    # The page is ben's: it says nothing of anna's label, and she finds it when she comes back.
    expect(page.locator("#state")).to_be_empty()
    session_ends(page)
    page.goto(desk.label("another"))
    log_in(page, "anna")
    state(page).to_have_text("saved")

    rows = desk.given("another")
    assert (len(rows), rows[0]["content"]["text"]) == (before + 1, first)
    assert desk.given("another", "ben") == []


def test_after_another_person_the_first_one_goes_on_in_place(desk: Desk) -> None:
    page = desk.at("another")
    before = len(desk.given("another"))
    session_ends(page)
    choose(page, "praise")
    type_in(page, name="ben")

    page.get_by_role("button", name="Log in as anna").click()
    expect(dialog(page).get_by_label("Password")).to_be_focused()
    goes_on(page, lambda: type_in(page, name="anna"))

    assert (len(desk.given("another")), desk.given("another", "ben")) == (before + 1, [])


def test_who_logs_in_as_somebody_else_in_another_tab_sends_nothing_of_this_one(desk: Desk) -> None:
    page = desk.at("elsewhere")
    before = len(desk.given("elsewhere"))
    session_ends(page)
    other = page.context.new_page()
    other.goto("/login/")
    log_in(other, "ben")
    page.bring_to_front()

    choose(page, "question")

    expect(dialog(page)).to_contain_text("ben is logged in here now, and this page is anna’s.")
    assert (desk.given("elsewhere", "ben"), len(desk.given("elsewhere"))) == ([], before)
    page.get_by_role("button", name="Log in as anna").click()
    goes_on(page, lambda: type_in(page))
    assert desk.given("elsewhere")[0]["answers"] == {"intent": "question"}
    assert (desk.given("elsewhere", "ben"), len(desk.given("elsewhere"))) == ([], before + 1)


def test_a_log_in_in_one_tab_sends_what_waits_in_the_other(desk: Desk) -> None:
    page = desk.at("two-tabs")
    other = page.context.new_page()
    other.goto(desk.label("two-tabs"))
    session_ends(page)
    page.bring_to_front()
    choose(page, "praise")
    expect(dialog(page)).to_be_visible()
    other.bring_to_front()
    choose(other, "praise")

    type_in(other)

    expect(dialog(page)).to_be_hidden()
    state(page).to_have_text("saved")
    state(other).to_have_text("saved")
    assert [row["answers"] for row in desk.given("two-tabs")] == [{"intent": "praise"}]


@WINDOWS
def test_skip_ask_and_undo_wait_for_the_log_in_as_a_label_does(desk: Desk, window: dict[str, Any]) -> None:
    page = desk.at("actions", **window)
    goes_on(page, lambda: choose(page, "praise"))
    labelled = len(desk.given("actions"))

    session_ends(page)
    act(page, "Ask")
    page.locator("#ask-text").fill(f"What of this? {bool(window)}")
    page.locator("#ask [type=submit]").click()
    expect(dialog(page)).to_be_visible()
    in_hand = sheet(page)
    type_in(page)
    state(page).to_have_text("your question is sent")
    assert sheet(page) == in_hand

    session_ends(page)
    act(page, "Skip")
    page.locator("#skip [data-key='3']").click()
    expect(dialog(page)).to_be_visible()
    goes_on(page, lambda: type_in(page))
    state(page).to_have_text("skipped")

    session_ends(page)
    page.get_by_role("link", name="Undo").click()
    expect(dialog(page)).to_contain_text("What you typed is kept in this browser")
    type_in(page)
    expect(page.locator("#task")).to_have_attribute("data-kind", "correction")
    session_ends(page)
    choose(page, "complaint")
    expect(dialog(page)).to_be_visible()
    type_in(page)
    state(page).to_have_text("corrected")

    rows = desk.given("actions")
    assert (len(rows), rows[0]["answers"]) == (labelled, {"intent": "complaint"})
    uuid = desk.projects["actions"].split("/")[2]
    asked = page.request.get(f"/api/v1/projects/{uuid}/answers/").json()["results"]
    assert [one["text"] for one in asked].count(f"What of this? {bool(window)}") == 1
    page.goto(desk.projects["actions"] + "work/skipped/")
    expect(page.locator("main").get_by_text("a language I do not read")).to_have_count(2 if window else 1)


@WINDOWS
def test_who_types_is_not_interrupted_and_the_draft_is_kept_and_sent_after_the_log_in(
    desk: Desk, window: dict[str, Any]
) -> None:
    page = desk.at("typing", **window)
    text = f"half a thought {bool(window)}"
    session_ends(page)
    page.locator("#comment").fill("")
    page.locator("#comment").press_sequentially(text)
    state(page).to_have_text("You were logged out. What you type is kept here: log in again")
    expect(page.locator("#comment")).to_be_focused()
    expect(dialog(page)).to_be_hidden()
    axe(page)

    page.get_by_role("link", name="log in again").click()
    with page.expect_response(lambda answer: answer.url.endswith("/draft/") and answer.status == 204):
        type_in(page)

    expect(page.locator("#comment")).to_have_value(text)
    state(page).to_have_text("logged in again")
    expect(desk.at("typing").locator("#comment")).to_have_value(text)


def test_without_the_form_s_cookie_too_it_logs_in(desk: Desk) -> None:
    page = desk.at("in-place")
    before = len(desk.given("in-place"))
    page.context.clear_cookies()
    choose(page, "question")

    goes_on(page, lambda: type_in(page))

    assert len(desk.given("in-place")) == before + 1


def test_when_only_the_form_s_cookie_is_gone_the_label_is_not_lost(desk: Desk) -> None:
    page = desk.at("in-place")
    before = len(desk.given("in-place"))
    page.context.clear_cookies(name="csrftoken")
    choose(page, "question")

    goes_on(page, lambda: type_in(page))

    assert len(desk.given("in-place")) == before + 1


@WINDOWS
def test_the_server_is_gone_during_the_log_in(desk: Desk, window: dict[str, Any]) -> None:
    page = desk.at("gone", **window)
    before = len(desk.given("gone"))
    session_ends(page)
    choose(page, "complaint")
    expect(dialog(page)).to_be_visible()
    page.context.set_offline(True)

    type_in(page)

    expect(dialog(page).get_by_role("alert")).to_have_text(
        "The server cannot be reached just now. Nothing is lost: try again in a moment."
    )
    expect(dialog(page).get_by_label("Password")).to_have_value(PASSWORD)
    page.context.set_offline(False)
    goes_on(page, lambda: act(page, "Log in"))
    assert len(desk.given("gone")) == before + 1


def test_an_account_that_is_switched_off_and_one_that_guesses_are_told(
    desk: Desk, switch: Callable[[bool], object]
) -> None:
    page = desk.at("troubles")
    session_ends(page)
    choose(page, "complaint")
    said = dialog(page).get_by_role("alert")
    switch(False)

    type_in(page)
    expect(said).to_have_text("This account is switched off.")
    type_in(page, "guess")
    expect(said).to_have_text("No account has this name with this password. Capital letters count.")
    for _ in range(3):
        with page.expect_response("**/login/"):
            type_in(page, "guess")
    type_in(page)
    expect(said).to_contain_text("Too many attempts with a wrong password. Try again in 15 minutes")
    axe(page)

    switch(True)
    goes_on(page, lambda: type_in(page))
    assert len(desk.given("troubles")) == 1


def test_who_has_left_the_project_keeps_the_label_until_they_are_back(desk: Desk) -> None:
    page = desk.at("left")
    who = "from projects.models import Membership; Membership.objects.filter(alias='anna', project__name='left')"
    desk.stack.shell(f"{who}.update(active=False)")

    choose(page, "praise")

    state(page).to_contain_text("What you gave is kept in this browser.")
    desk.stack.shell(f"{who}.update(active=True)")
    page.reload()
    state(page).to_have_text("saved")
    assert [row["answers"] for row in desk.given("left")] == [{"intent": "praise"}]


@pytest.mark.parametrize(("window", "scheme"), [({}, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_axe_in_the_dialog_which_fits_the_window(desk: Desk, window: dict[str, Any], scheme: str) -> None:
    page = desk.at("in-axe", color_scheme=scheme, **window)
    session_ends(page)
    choose(page, "praise")
    expect(dialog(page)).to_be_visible()
    axe(page)

    assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"]  # type: ignore[index]
    for control in dialog(page).locator("input:visible, button:visible").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 40
        expect(control).to_be_in_viewport()
    press(page, "Escape")
    axe(page)


def test_without_javascript_the_log_in_page_leads_back_to_the_item(desk: Desk) -> None:
    page = desk.at("plain", java_script_enabled=False)
    first = page.locator(".item-text").inner_text()
    page.context.clear_cookies(name="sessionid")
    page.locator("label", has_text="praise").click()
    page.get_by_role("button", name="Save").click()
    expect(dialog(page)).to_have_count(0)
    page.locator("[name=username]").fill("anna")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main button[type=submit]").click()

    assert page.url.endswith(desk.label("plain"))
    assert page.locator(".item-text").inner_text() == first
    assert desk.given("plain") == []
