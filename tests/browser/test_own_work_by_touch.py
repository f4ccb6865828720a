"""One's own work and the guideline at hand on a phone: 390 px wide, by finger."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import PHONE, Desk, axe, goes_on, sheet, state

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]


def test_a_question_is_asked_by_finger_with_the_item_still_in_hand(desk: Desk) -> None:
    page = desk.at("asking", **PHONE)
    before = sheet(page)
    page.get_by_role("button", name="Ask").tap()
    page.locator("#ask-text").fill("Is this one praise?")
    axe(page)
    page.locator("#ask [type=submit]").tap()

    state(page).to_have_text("your question is sent")
    assert sheet(page) == before
    page.goto(desk.projects["asking"] + "work/answers/")
    expect(page.locator("main")).to_contain_text("You asked: Is this one praise?")
    expect(page.locator("main")).to_contain_text("Waiting: a lead answers")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_guideline_is_searched_in_its_sheet(desk: Desk) -> None:
    page = desk.at("search", **PHONE)
    page.get_by_role("button", name="Guideline").tap()
    page.locator("#guide-search").fill("PRÁISE")

    expect(page.locator("#guide-all mark")).to_have_text(["praise", "praise"])
    expect(page.locator("#guide-all .rule:visible")).to_have_count(1)
    axe(page)
    page.get_by_role("button", name="Close").tap()
    expect(page.locator("#guide")).to_be_hidden()
    goes_on(page, lambda: page.locator(".label", has_text="praise").tap())
    assert desk.given("search")[0]["answers"] == {"intent": "praise"}


def test_the_list_of_labels_is_filtered_and_one_is_corrected_by_finger(desk: Desk) -> None:
    page = desk.at("undo", **PHONE)
    for name in ("complaint", "praise"):
        goes_on(page, lambda name=name: page.locator(".label", has_text=name).tap())
    page.goto(desk.projects["undo"] + "work/")
    expect(page.locator("li.entry")).to_have_count(2)
    page.locator("select#label").select_option("intent:praise")
    page.get_by_role("button", name="Filter").tap()
    expect(page.locator("li.entry")).to_have_count(1)
    axe(page)

    page.get_by_role("link", name="Correct the label of").first.tap()
    page.get_by_role("button", name="Save the correction").wait_for()
    axe(page)
    page.locator(".label", has_text="question").first.tap()
    page.get_by_role("button", name="Save the correction").tap()
    page.get_by_role("button", name="Save the correction").wait_for(state="hidden")

    assert [row["answers"]["intent"] for row in desk.given("undo")] == ["question", "complaint"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_one_s_own_pace_counts_what_was_labelled_on_the_phone(desk: Desk) -> None:
    page = desk.at("still", **PHONE)
    goes_on(page, lambda: page.locator(".label", has_text="praise").tap())
    page.goto(desk.projects["still"] + "work/pace/")

    expect(page.locator("main")).to_contain_text("you labelled 1 item")
    expect(page.locator("main")).to_contain_text("Only you see this page.")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
