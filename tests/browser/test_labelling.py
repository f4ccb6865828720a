"""A day at the labelling page, in Chromium: keys, lost connections, log-ins, tabs, phones; and axe in every state."""

import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, expect

from tests.browser.windows import PHONE, Desk, axe, goes_on, log_in, press, sheet, state

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]

NO_LOG_IN_IN_PLACE = re.compile(r"/log_in[.\w]*\.js$")
SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifts.push([entry.value, entry.sources.map(s => s.node?.className)]);
}).observe({type: "layout-shift", buffered: true});
"""


# -- keys --------------------------------------------------------------------------------------------------------------


def test_one_key_labels_and_one_request_brings_the_next_item(desk: Desk) -> None:
    page = desk.at("keys")
    first, asked = page.locator(".item-text").inner_text(), []
    page.on("request", lambda request: asked.append(request.method))

    goes_on(page, lambda: press(page, "2"))

    state(page).to_have_text("saved")
    assert page.locator(".item-text").inner_text() != first
    assert asked == ["POST"]
    (given,) = desk.given("keys")
    assert (given["answers"], given["content"]) == ({"intent": "praise"}, {"text": first})
    expect(page.locator("#task input:checked")).to_have_count(0)


def test_keys_do_nothing_while_somebody_types_or_holds_another_key(desk: Desk) -> None:
    page = desk.at("keys")
    before, done = sheet(page), len(desk.given("keys"))

    press(page, "c")
    page.keyboard.type("123 sgz / c")
    press(page, "Escape", "Control+1", "Alt+2", "Shift+3")
    # A key that is held down repeats.
    page.dispatch_event("body", "keydown", {"key": "1", "repeat": True, "bubbles": True})

    assert page.locator("#comment").input_value() == "123 sgz / c"
    assert (sheet(page), len(desk.given("keys"))) == (before, done)
    goes_on(page, lambda: press(page, "1"))
    assert desk.given("keys")[0]["comment"] == "123 sgz / c"


def test_two_questions_focus_moves_on_and_the_last_answer_advances(desk: Desk) -> None:
    page = desk.at("two")

    press(page, "3")
    expect(page.locator("[data-question=tone]")).to_have_class(re.compile("question--active"))
    assert desk.given("two") == []
    goes_on(page, lambda: press(page, "5"))  # keys go on from question to question
    press(page, "1")
    goes_on(page, lambda: press(page, "Enter"))  # the second one is optional

    assert [row["answers"] for row in desk.given("two")] == [
        {"intent": "complaint"},
        {"intent": "question", "tone": "angry"},
    ]


def test_sixty_labels_are_filtered_and_chosen_by_keyboard(desk: Desk) -> None:
    page = desk.at("sixty")

    press(page, "/")
    page.keyboard.type("-47")
    expect(page.locator(".label:visible")).to_have_count(1)
    goes_on(page, lambda: press(page, "Enter"))

    assert desk.given("sixty")[0]["answers"] == {"topic": "topic-47"}
    expect(page.locator(".label:visible")).to_have_count(60)
    assert page.locator(".labels").bounding_box()["height"] <= 451  # type: ignore[index]  # it is on the page


def test_arrow_keys_choose_and_enter_saves(desk: Desk) -> None:
    page = desk.at("keys")

    page.locator("input[value=complaint]").focus()
    press(page, "ArrowDown", "ArrowDown")
    expect(page.locator("input[value=question]")).to_be_checked()
    before = sheet(page)
    page.locator("#item").focus()
    goes_on(page, lambda: press(page, "Enter"))

    assert (before, desk.given("keys")[0]["answers"]) != (sheet(page), {})
    assert desk.given("keys")[0]["answers"] == {"intent": "question"}


def test_skip_takes_a_reason_by_its_key(desk: Desk) -> None:
    page = desk.at("keys")
    done = len(desk.given("keys"))

    press(page, "s")
    expect(page.locator("#skip")).to_be_visible()
    goes_on(page, lambda: press(page, "3"))

    state(page).to_have_text("skipped")
    assert len(desk.given("keys")) == done
    page.goto(desk.projects["keys"] + "work/skipped/")
    expect(page.locator("main")).to_contain_text("a language I do not read")


def test_a_comment_that_is_asked_for_is_the_last_answer(desk: Desk) -> None:
    page = desk.at("comment")
    press(page, "1")
    expect(page.locator("#comment")).to_be_focused()
    page.keyboard.type("It does not start.")
    goes_on(page, lambda: press(page, "Control+Enter"))

    assert [(one["answers"], one["comment"]) for one in desk.given("comment")] == [
        ({"intent": "complaint"}, "It does not start.")
    ]


def test_an_item_of_200_000_characters_stays_usable(desk: Desk) -> None:
    page = desk.at("long")
    for _ in range(3):
        long = len(page.locator(".item-text").inner_text()) > 100_000
        started = page.evaluate("performance.now()")
        goes_on(page, lambda: press(page, "1"))
        if long:
            assert page.evaluate("performance.now()") - started < 5_000
        box = page.locator("#task").bounding_box()
        assert box is not None
        assert box["width"] < 800
    assert sorted(len(row["content"]["text"]) > 200_000 for row in desk.given("long")) == [False, False, True]


# -- asking, and the guideline at hand --------------------------------------------------------------------------------


def test_a_question_is_kept_while_offline_and_sent_once_with_the_item_still_in_hand(desk: Desk) -> None:
    page = desk.at("asking")
    before = sheet(page)
    press(page, "q")
    page.keyboard.type("is 1 a complaint?")
    axe(page)
    page.context.set_offline(True)
    press(page, "Control+Enter")
    state(page).to_have_text("kept here, will be sent")

    page.context.set_offline(False)

    state(page).to_have_text("your question is sent")
    assert sheet(page) == before
    goes_on(page, lambda: press(page, "1"))
    uuid = desk.projects["asking"].split("/")[2]
    asked = page.request.get(f"/api/v1/projects/{uuid}/answers/").json()["results"]
    assert [(one["text"], one["mine"], one["answer"]) for one in asked] == [("is 1 a complaint?", True, "")]


def test_the_guideline_is_searched_by_key_and_left_with_escape(desk: Desk) -> None:
    page = desk.at("search")
    press(page, "/")
    page.keyboard.type("PRÁISE")
    expect(page.locator("#guide-all mark")).to_have_text(["praise", "praise"])
    expect(page.locator("#guide-all .rule:visible")).to_have_count(1)
    expect(page.locator("#guide-found")).to_have_text("found: 2")
    axe(page)

    press(page, "Escape")

    expect(page.locator("#guide-all mark")).to_have_count(0)
    expect(page.locator("#guide-all .rule:visible")).to_have_count(3)
    goes_on(page, lambda: press(page, "2"))
    page.goto(desk.label("sixty"))
    press(page, "/", "/")
    expect(page.locator("#guide-search")).to_be_focused()


# -- safety ------------------------------------------------------------------------------------------------------------


def test_offline_and_back_the_label_is_sent_once(desk: Desk) -> None:
    page = desk.at("offline")
    first = page.locator(".item-text").inner_text()

    page.context.set_offline(True)
    press(page, "1")
    state(page).to_have_text("kept here, will be sent")
    goes_on(page, lambda: page.context.set_offline(False))

    state(page).to_have_text("saved")
    assert [row["content"]["text"] for row in desk.given("offline")] == [first]


def test_a_label_given_offline_survives_closing_the_page(desk: Desk) -> None:
    page = desk.at("offline")
    done = len(desk.given("offline"))

    page.context.set_offline(True)
    press(page, "2")
    state(page).to_have_text("kept here, will be sent")
    page.close()
    page.context.set_offline(False)
    page = page.context.new_page()
    page.goto(desk.label("offline"))

    state(page).to_have_text("saved")
    rows = desk.given("offline")
    assert (len(rows), rows[0]["answers"]) == (done + 1, {"intent": "praise"})


def test_log_in_expires_in_the_middle_and_the_label_is_sent_once_after_it(desk: Desk) -> None:
    """Where logging in in place cannot be loaded a link leads to the log-in page and back."""
    page = desk.at("expiry")
    page.context.route(NO_LOG_IN_IN_PLACE, lambda route: route.abort())
    first = page.locator(".item-text").inner_text()

    page.context.clear_cookies(name="sessionid")
    press(page, "3")
    link = page.get_by_role("link", name="log in, and it is sent")
    link.click()
    log_in(page)
    state(page).to_have_text("saved")

    assert page.url.endswith(desk.label("expiry"))
    assert page.locator(".item-text").inner_text() != first
    assert [row["content"]["text"] for row in desk.given("expiry")] == [first]
    desk.states.clear()  # logging in has made new cookies


def test_nobody_sends_what_another_person_gave_on_the_same_machine(desk: Desk) -> None:
    page = desk.at("expiry")
    page.context.route(NO_LOG_IN_IN_PLACE, lambda route: route.abort())
    done = len(desk.given("expiry"))
    page.context.clear_cookies(name="sessionid")
    press(page, "1")
    page.get_by_role("link", name="log in, and it is sent").click()

    log_in(page, "ben")
    page.wait_for_load_state("networkidle")

    assert desk.given("expiry", "ben") == []
    assert len(desk.given("expiry")) == done
    desk.states.clear()


def test_the_server_restarts_in_the_middle_of_work(desk: Desk) -> None:
    page = desk.at("restart")

    desk.stack.__exit__(None, None, None)
    press(page, "1")
    state(page).to_have_text("kept here, will be sent")
    before = sheet(page)
    desk.stack.__enter__()
    page.wait_for_function("key => document.querySelector('#task').dataset.sheet !== key", arg=before, timeout=40_000)

    state(page).to_have_text("saved")
    assert len(desk.given("restart")) == 1


def test_a_second_tab_goes_on_with_the_first(desk: Desk) -> None:
    page = desk.at("tabs")
    other = page.context.new_page()
    other.goto(desk.label("tabs"))
    assert sheet(page) == sheet(other)

    goes_on(other, lambda: press(page, "1"))
    goes_on(page, lambda: press(other, "2"))

    assert sheet(page) == sheet(other)
    assert [row["answers"]["intent"] for row in desk.given("tabs")] == ["praise", "complaint"]


def test_another_machine_that_is_behind_is_told_and_doubles_nothing(desk: Desk) -> None:
    page, elsewhere = desk.at("tabs"), desk.at("tabs")
    done = len(desk.given("tabs"))

    goes_on(page, lambda: press(page, "1"))
    goes_on(elsewhere, lambda: press(elsewhere, "2"))

    expect(elsewhere.get_by_role("alert")).to_contain_text("You had labelled this item already, and otherwise")
    rows = desk.given("tabs")
    assert (len(rows), rows[0]["answers"]["intent"]) == (done + 1, "complaint")


def test_a_draft_is_back_after_reloading_and_on_another_machine(desk: Desk) -> None:
    page = desk.at("draft")
    press(page, "c")
    with page.expect_response(re.compile("/draft/$")):
        page.keyboard.type("half a thought")

    page.reload()
    expect(page.locator("#comment")).to_have_value("half a thought")
    expect(desk.at("draft").locator("#comment")).to_have_value("half a thought")


def test_undo_corrects_the_last_label_and_comes_back_to_the_item(desk: Desk) -> None:
    page = desk.at("undo")
    goes_on(page, lambda: press(page, "1"))
    goes_on(page, lambda: press(page, "2"))
    in_hand = sheet(page)

    goes_on(page, lambda: press(page, "z"))
    expect(page.locator("input[value=praise]")).to_be_checked()
    expect(page.locator("#task")).to_contain_text("A correction of this label still counts.")
    goes_on(page, lambda: press(page, "z"))
    expect(page.locator("input[value=complaint]")).to_be_checked()
    goes_on(page, lambda: press(page, "3"))

    state(page).to_have_text("corrected")
    assert sheet(page) == in_hand
    assert [row["answers"]["intent"] for row in desk.given("undo")] == ["praise", "question"]


# -- without and with less ---------------------------------------------------------------------------------------------


def test_without_javascript_the_same_form_works(desk: Desk) -> None:
    page = desk.at("plain", java_script_enabled=False)
    first = page.locator(".item-text").inner_text()

    page.locator("label", has_text="praise").click()
    page.get_by_role("button", name="Save").click()
    assert page.locator(".item-text").inner_text() != first
    page.get_by_role("link", name="Undo").click()
    expect(page.locator("input[value=praise]")).to_be_checked()
    page.locator("label", has_text="complaint").click()
    page.get_by_role("button", name="Correct").click()

    assert [row["answers"]["intent"] for row in desk.given("plain")] == ["complaint"]


def test_on_a_phone_labels_are_wide_within_reach_and_tapped(desk: Desk) -> None:
    page = desk.at("phone", **PHONE)

    boxes = [label.bounding_box() for label in page.locator(".label").all()]
    for box in boxes:
        assert box is not None
        assert box["width"] > 340
        assert box["height"] >= 44
        assert 780 * 0.4 < box["y"] < 780 - 44
    goes_on(page, lambda: page.locator(".label").nth(1).tap())
    assert desk.given("phone")[0]["answers"] == {"intent": "praise"}
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Guideline").tap()
    expect(page.locator("#guide")).to_be_visible()
    axe(page)


def test_at_200_percent_zoom_nothing_is_cut_off(desk: Desk) -> None:
    page = desk.at("phone", viewport={"width": 640, "height": 450})

    assert page.evaluate("document.documentElement.scrollWidth") == 640
    for label in page.locator(".label").all():
        label.scroll_into_view_if_needed()
        expect(label).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_in_every_state(desk: Desk, scheme: str) -> None:
    page = desk.at("axe", color_scheme=scheme)
    axe(page)
    page.locator("input[value=praise]").focus()  # its rule is shown
    axe(page)
    press(page, "s")
    axe(page)
    press(page, "Escape", "?")
    axe(page)
    press(page, "Escape", "Enter")  # once too often, on an item that came by itself
    expect(page.get_by_role("alert")).to_have_count(0)
    state(page).to_have_text("nothing is answered yet")
    axe(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    axe(page)
    press(page, "c")
    page.keyboard.type("why")
    page.context.set_offline(True)
    page.locator("#item").focus()
    press(page, "1")
    state(page).to_have_text("kept here, will be sent")
    axe(page)
    goes_on(page, lambda: page.context.set_offline(False))
    goes_on(page, lambda: press(page, "z"))
    axe(page)
    press(page, "Escape")
    page.locator("#task[data-kind=task]").wait_for()
    press(page, "g")
    axe(page)
    page.goto(desk.label("sixty"))
    axe(page)
    page.goto(desk.label("two"))
    axe(page)


def test_axe_where_nothing_is_left_and_in_my_work(desk: Desk) -> None:
    page = desk.at("axe")
    while page.locator("#task[data-kind=task]").count():
        goes_on(page, lambda: press(page, "1"))

    axe(page)
    page.goto(desk.projects["axe"] + "work/")
    axe(page)
    page.get_by_role("link", name=re.compile("Correct the label of")).first.click()
    page.get_by_role("button", name="Save the correction").wait_for()
    axe(page)


@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_own_keys_are_chosen_in_my_work_and_label(desk: Desk, window: dict[str, Any]) -> None:
    page = desk.window("anna", **window).new_page()
    page.goto(desk.projects["own"] + "work/keys/")
    page.get_by_label("praise").fill("k")
    page.get_by_role("button", name="Save").click()
    axe(page)

    page.goto(desk.label("own"))
    goes_on(page, lambda: press(page, "k"))

    assert desk.given("own")[0]["answers"] == {"intent": "praise"}


def test_time_on_task_leaves_out_the_minutes_in_which_nobody_moves(desk: Desk) -> None:
    page = desk.at("idle")
    page.clock.install()
    page.reload()
    page.mouse.move(100, 100)
    page.clock.run_for(20_000)
    page.mouse.move(120, 120)
    page.clock.run_for(600_000)

    with page.expect_request(lambda request: request.method == "POST") as sent:
        press(page, "1")
        page.clock.run_for(1_000)

    seconds = float(parse_qs(sent.value.post_data or "")["seconds"][0])
    assert 70 <= seconds <= 90  # 20, and the minute after which somebody counts as away; not ten minutes more


def test_the_rule_of_a_label_is_there_under_pointer_and_focus_and_not_for_the_next_item(desk: Desk) -> None:
    page = desk.at("rules")
    rule = page.locator("#guide-rule")
    page.locator("label", has_text="praise").hover()
    expect(rule).to_contain_text("It is praise.")
    page.mouse.move(2, 2)
    page.locator("input[value=complaint]").focus()
    expect(rule).to_contain_text("It is complaint.")

    goes_on(page, lambda: press(page, "1"))

    expect(rule).to_be_hidden()
    expect(page.locator("#guide-all")).to_be_visible()


# -- speed -------------------------------------------------------------------------------------------------------------


def test_nothing_moves_from_item_to_item(desk: Desk) -> None:
    context = desk.window()
    context.add_init_script(SHIFTS)
    page = context.new_page()
    page.goto(desk.label("still"))
    places = [page.locator(".label").nth(2).bounding_box()]

    for key in "1231":
        goes_on(page, lambda key=key: press(page, key))
        places.append(page.locator(".label").nth(2).bounding_box())
    page.wait_for_timeout(300)

    assert page.evaluate("window.shifts") == []
    assert len({str(place) for place in places}) == 1


class Traffic:
    """Requests and bytes over the wire, counted by the browser."""

    def __init__(self, page: Page) -> None:
        self.requests, self.bytes = [], 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", lambda event: self.requests.append(event["request"]["url"]))
        session.on("Network.loadingFinished", self._finished)

    def _finished(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])

    def of(self, page: Page, address: str) -> tuple[int, int]:
        self.requests.clear()
        self.bytes = 0
        page.goto(address, wait_until="networkidle")
        return len([url for url in self.requests if not url.startswith("data:")]), self.bytes


def test_first_load_and_second_load_are_small(desk: Desk) -> None:
    desk.window()  # logs in, which loads what the pages share
    page = desk.window().new_page()
    traffic = Traffic(page)

    requests, size = traffic.of(page, desk.label("weight"))
    _requests, again = traffic.of(page, desk.label("weight"))

    assert requests <= 6, traffic.requests
    assert size < 100_000
    assert again < 15_000
