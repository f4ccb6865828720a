"""A day at the labelling page on a phone: 390 px wide, by finger, with a connection that comes and goes."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import desk as seeds
from tests.browser.windows import PHONE, Desk, axe, goes_on, sheet, state

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]


def tap(page: Page, label: str) -> None:
    page.locator(".label:visible", has_text=label).first.tap()


def fits(page: Page) -> None:
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_a_connection_labels_are_kept_also_when_the_page_is_closed_and_sent_once(desk: Desk) -> None:
    page = desk.at("offline", **PHONE)
    first = page.locator(".item-text").inner_text()

    page.context.set_offline(True)
    tap(page, "praise")
    state(page).to_have_text("kept here, will be sent")
    fits(page)
    page.close()
    page.context.set_offline(False)
    page = page.context.new_page()
    page.goto(desk.label("offline"))

    state(page).to_have_text("saved")
    page.context.set_offline(True)
    second = page.locator(".item-text").inner_text()
    tap(page, "complaint")
    state(page).to_have_text("kept here, will be sent")
    goes_on(page, lambda: page.context.set_offline(False))
    assert [(row["content"]["text"], row["answers"]["intent"]) for row in desk.given("offline")] == [
        (second, "complaint"),
        (first, "praise"),
    ]


def test_a_server_that_restarts_costs_nothing(desk: Desk) -> None:
    page = desk.at("restart", **PHONE)

    desk.stack.__exit__(None, None, None)
    tap(page, "praise")
    state(page).to_have_text("kept here, will be sent")
    before = sheet(page)
    desk.stack.__enter__()
    page.wait_for_function("key => document.querySelector('#task').dataset.sheet !== key", arg=before, timeout=40_000)

    state(page).to_have_text("saved")
    assert [row["answers"] for row in desk.given("restart")] == [{"intent": "praise"}]


def test_a_draft_begun_on_the_phone_is_there_at_the_desk(desk: Desk) -> None:
    page = desk.at("draft", **PHONE)
    page.locator("#comment").tap()
    with page.expect_response(re.compile("/draft/$")):
        page.keyboard.type("half a thought")

    expect(desk.at("draft").locator("#comment")).to_have_value("half a thought")


def test_undo_by_finger_corrects_the_last_label(desk: Desk) -> None:
    page = desk.at("own", **PHONE)
    goes_on(page, lambda: tap(page, "praise"))
    in_hand = sheet(page)

    goes_on(page, lambda: page.get_by_role("link", name="Undo").tap())
    expect(page.locator("input[value=praise]")).to_be_checked()
    expect(page.locator("#task")).to_contain_text("A correction of this label still counts.")
    fits(page)
    goes_on(page, lambda: tap(page, "question"))

    state(page).to_have_text("corrected")
    assert sheet(page) == in_hand
    assert [row["answers"] for row in desk.given("own")] == [{"intent": "question"}]


def test_two_tabs_on_the_phone_go_on_with_each_other(desk: Desk) -> None:
    page = desk.at("tabs", **PHONE)
    other = page.context.new_page()
    other.goto(desk.label("tabs"))
    assert sheet(page) == sheet(other)

    goes_on(other, lambda: tap(page, "complaint"))
    goes_on(page, lambda: tap(other, "praise"))

    assert [row["answers"]["intent"] for row in desk.given("tabs")] == ["praise", "complaint"]


def test_skipping_by_finger_says_why_and_is_listed(desk: Desk) -> None:
    page = desk.at("keys", **PHONE)

    page.get_by_role("button", name="Skip", exact=False).first.tap()
    expect(page.locator("#skip")).to_be_visible()
    fits(page)
    goes_on(page, lambda: page.get_by_role("button", name="a language I do not read").tap())

    state(page).to_have_text("skipped")
    assert desk.given("keys") == []
    page.goto(desk.projects["keys"] + "work/skipped/")
    expect(page.locator("main")).to_contain_text("a language I do not read")
    fits(page)


def test_a_comment_that_is_asked_for_is_the_last_answer(desk: Desk) -> None:
    page = desk.at("comment", **PHONE)

    tap(page, "complaint")
    expect(page.locator("#comment")).to_be_focused()
    page.keyboard.type("It does not start.")
    goes_on(page, lambda: page.get_by_role("button", name="Save").tap())

    assert [(one["answers"], one["comment"]) for one in desk.given("comment")] == [
        ({"intent": "complaint"}, "It does not start.")
    ]


def test_two_questions_and_sixty_labels_by_finger(desk: Desk) -> None:
    page = desk.at("two", **PHONE)
    tap(page, "question")
    expect(page.locator("[data-question=tone]")).to_have_class(re.compile("question--active"))
    goes_on(page, lambda: tap(page, "angry"))
    assert [row["answers"] for row in desk.given("two")] == [{"intent": "question", "tone": "angry"}]

    page.goto(desk.label("sixty"))
    page.locator("input[type=search]:visible").first.fill("-47")
    expect(page.locator(".label:visible")).to_have_count(1)
    goes_on(page, lambda: page.locator(".label:visible").tap())
    assert [row["answers"] for row in desk.given("sixty")] == [{"topic": "topic-47"}]


def test_sets_none_of_these_and_a_text_by_finger(desk: Desk) -> None:
    page = desk.at("topics", **PHONE)
    tap(page, "list")
    tap(page, "log-in")
    fits(page)
    goes_on(page, lambda: page.get_by_role("button", name="Save").tap())
    page.locator(".label", has=page.locator("[data-none]")).tap()
    goes_on(page, lambda: page.get_by_role("button", name="Save").tap())
    assert [row["answers"]["topics"] for row in desk.given("topics")] == [[], ["list", "log-in"]]

    page.goto(desk.label("words"))
    page.locator(".answer-text").tap()
    page.keyboard.type("slow")
    goes_on(page, lambda: page.get_by_role("button", name="Save").tap())
    assert [row["answers"] for row in desk.given("words")] == [{"why": "slow"}]


@pytest.mark.parametrize(
    ("project", "marked"), [("arabic", "التطبيق سريع"), ("family", seeds.FAMILY.partition(" ")[0])]
)
def test_a_part_of_a_text_is_marked_by_finger_whatever_its_script(desk: Desk, project: str, marked: str) -> None:
    page = desk.at(project, **PHONE)
    whole = seeds.ARABIC if project == "arabic" else seeds.FAMILY
    expect(page.locator(".item-text")).to_have_attribute("dir", "auto")

    # What a long press and the handles make is a selection; offsets in the page are of UTF-16, stored ones are not.
    page.evaluate(
        """text => { const node = document.querySelector('.item-text').firstChild;
        const start = node.data.indexOf(text);
        getSelection().setBaseAndExtent(node, start, node, start + text.length); }""",
        marked,
    )
    page.wait_for_timeout(50)
    page.evaluate("getSelection().removeAllRanges()")
    page.get_by_role("button", name="praise").tap()
    expect(page.locator(".spans q")).to_have_text([marked])
    fits(page)
    page.get_by_role("button", name="Save").tap()
    expect(page.locator(".task--nothing")).to_be_visible()

    (span,) = desk.given(project)[0]["answers"]["parts"]
    assert (whole[span["start"] : span["end"]], span["label"]) == (marked, "praise")


def test_an_item_of_200_000_characters_scrolls_under_labels_in_reach(desk: Desk) -> None:
    page = desk.at("long", **PHONE)
    if page.locator(".item-text").inner_text().startswith("Every day"):
        box = page.locator(".label").first.bounding_box()
        assert box is not None
        assert box["y"] < 780
    for _ in range(3):
        expect(page.locator(".label").first).to_be_in_viewport()
        goes_on(page, lambda: tap(page, "praise"))
    expect(page.locator(".task--nothing")).to_be_visible()
    assert len(desk.given("long")) == 3
