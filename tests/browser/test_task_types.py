"""Answers of every kind in Chromium: by keyboard, mouse and finger, in any script, with and without JavaScript."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import desk as seeds
from tests.browser.windows import PHONE, Desk, axe, goes_on, press, state

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(180)]


def part(start: int, end: int, label: str) -> dict[str, Any]:
    return {"field": "text", "start": start, "end": end, "label": label}


def newest(desk: Desk, project: str) -> Any:
    return next(iter(desk.given(project)[0]["answers"].values()))


def drag(page: Page, start: int, end: int) -> None:
    """Select from one place of the item's text to another with the mouse, as counted by the browser."""
    points = page.evaluate(
        """([start, end]) => {
          const node = document.querySelector('.item-text').firstChild;
          const at = (place) => {
            const range = document.createRange();
            range.setStart(node, Math.min(place, node.length - 1));
            range.setEnd(node, Math.min(place, node.length - 1) + 1);
            const box = range.getBoundingClientRect();
            return [place < node.length ? box.left : box.right, box.top + box.height / 2];
          };
          return [at(start), at(end)];
        }""",
        [start, end],
    )
    (x, y), (to_x, to_y) = points
    page.mouse.move(x + 1, y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=4)
    page.mouse.up()


# -- several labels ----------------------------------------------------------------------------------------------------


def test_keys_toggle_labels_and_enter_goes_on(desk: Desk) -> None:
    page = desk.at("topics")

    press(page, "1", "3", "1", "2")
    assert desk.given("topics") == []
    goes_on(page, lambda: press(page, "Enter"))

    assert newest(desk, "topics") == ["map", "log-in"]
    expect(page.locator("#task :checked")).to_have_count(0)


def test_none_of_these_has_a_key_and_takes_the_place_of_labels(desk: Desk) -> None:
    page = desk.at("topics")

    press(page, "1", "n")
    expect(page.locator("#task :checked")).to_have_count(1)
    press(page, "2")
    expect(page.locator("[data-none]")).not_to_be_checked()
    press(page, "n")
    goes_on(page, lambda: press(page, "Enter"))

    assert newest(desk, "topics") == []


def test_an_open_set_is_asked_for_and_not_taken_for_none(desk: Desk) -> None:
    page = desk.at("topics")
    done = len(desk.given("topics"))

    press(page, "Enter")
    expect(page.locator("#state")).to_have_text("nothing is answered yet")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("choose what holds, or say that none of these does")
    assert len(desk.given("topics")) == done


def test_a_set_and_a_text_without_javascript(desk: Desk) -> None:
    page = desk.at("topics", java_script_enabled=False)
    page.locator("label", has_text="map").click()
    page.locator("label", has_text="list").click()
    page.get_by_role("button", name="Save").click()
    assert newest(desk, "topics") == ["list", "map"]

    page.goto(desk.label("words"))
    page.locator(".answer-text").fill("plain words")
    page.get_by_role("button", name="Save").click()
    assert newest(desk, "words") == "plain words"


# -- free text ---------------------------------------------------------------------------------------------------------


def test_text_is_written_and_sent_without_leaving_the_keyboard(desk: Desk) -> None:
    page = desk.at("words")
    done = len(desk.given("words"))

    page.locator(".answer-text").focus()
    page.keyboard.type("slow, 1 of 3 says s")
    press(page, "Enter")
    page.keyboard.type("z")
    assert len(desk.given("words")) == done
    goes_on(page, lambda: press(page, "Control+Enter"))

    assert newest(desk, "words") == "slow, 1 of 3 says s\nz"
    expect(page.locator(".answer-text")).to_have_value("")


# -- spans -------------------------------------------------------------------------------------------------------------


def test_spans_by_mouse_overlap_are_listed_and_removed(desk: Desk) -> None:
    page = desk.at("parts")
    text = page.locator(".item-text").inner_text()

    drag(page, 4, 18)
    press(page, "1")
    expect(page.locator(".spans li")).to_have_text(["praise list" + text[8:18] + "×"])
    page.locator(".item-text").evaluate("node => node.normalize()")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.item-text'))")
    page.get_by_role("button", name="fault").click()
    expect(page.locator(".spans li")).to_have_count(2)
    expect(page.locator("mark.span")).to_have_count(3)
    assert page.locator(".item-text").inner_text() == text
    axe(page)
    page.get_by_role("button", name=re.compile("^Remove the mark: praise")).click()
    expect(page.locator(".spans li")).to_have_count(1)
    page.locator("#item").focus()
    goes_on(page, lambda: press(page, "Enter"))

    assert newest(desk, "parts") == [part(0, len(text), "fault")]


def test_spans_by_keyboard_alone(desk: Desk) -> None:
    page = desk.at("parts")

    # The, list, 1 / extended by two words / marked; then back and one character less.
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "1")
    expect(page.locator(".spans li")).to_have_count(1)
    press(page, "ArrowRight", "ArrowRight", "Control+Shift+ArrowLeft", "2")
    press(page, "ArrowRight", "2", "Backspace")
    goes_on(page, lambda: press(page, "Enter"))

    row = desk.given("parts")[0]
    text = row["content"]["text"]
    found = [(text[one["start"] : one["end"]], one["label"]) for one in row["answers"]["parts"]]
    assert found == [(text[4:10], "praise"), ("fas", "fault")]


def test_nothing_to_mark_is_an_answer_and_a_label_without_a_selection_is_none(desk: Desk) -> None:
    page = desk.at("parts")

    press(page, "1")
    expect(page.locator("[data-said]")).to_have_text("Select a part of the text first.")
    press(page, "n")
    expect(page.locator("[data-none]")).to_have_attribute("aria-pressed", "true")
    goes_on(page, lambda: press(page, "Enter"))

    assert newest(desk, "parts") == []


def test_marks_are_back_after_reloading(desk: Desk) -> None:
    page = desk.at("parts")
    press(page, "ArrowRight")
    with page.expect_response(re.compile("/draft/$")):
        press(page, "2")

    page.reload()
    expect(page.locator(".spans li")).to_have_text(["fault The×"])
    elsewhere = desk.at("parts")
    expect(elsewhere.locator(".spans li")).to_have_text(["fault The×"])
    expect(elsewhere.locator("mark.span")).to_have_text(["The"])


def test_a_span_across_an_emoji_counts_code_points_and_parts_no_family(desk: Desk) -> None:
    page = desk.at("family")

    # From the middle of the family, which is eight units and five code points, to the middle of the thumb.
    page.evaluate(
        """() => { const node = document.querySelector('.item-text').firstChild;
        getSelection().setBaseAndExtent(node, 3, node, 19); }"""
    )
    press(page, "1")
    expect(page.locator(".spans q")).to_have_text(["👨‍👩‍👧 like it 👍🏽"])
    goes_on(page, lambda: press(page, "Enter"))

    (span,) = newest(desk, "family")
    assert seeds.FAMILY[span["start"] : span["end"]] == "👨‍👩‍👧 like it 👍🏽"
    assert (span["start"], span["end"]) == (0, 16)


def test_spans_in_arabic_go_from_right_to_left(desk: Desk) -> None:
    page = desk.at("arabic")
    assert page.locator(".item-text").evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.body).direction") == "ltr"

    press(page, "ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "2")
    expect(page.locator(".spans q")).to_have_text(["سريع والخريطة"])
    axe(page)
    goes_on(page, lambda: press(page, "Enter"))

    (span,) = newest(desk, "arabic")
    assert seeds.ARABIC[span["start"] : span["end"]] == "سريع والخريطة"


def test_words_of_a_script_without_spaces_are_found_by_arrows(desk: Desk) -> None:
    page = desk.at("japanese")

    press(page, "ArrowRight", "1")
    goes_on(page, lambda: press(page, "Enter"))

    (span,) = newest(desk, "japanese")
    assert seeds.JAPANESE[span["start"] : span["end"]] == "地図"


def test_combining_marks_stay_with_their_letter_and_line_ends_are_counted_as_they_are(desk: Desk) -> None:
    page = desk.at("combining")

    page.evaluate(
        """() => { const node = document.querySelector('.item-text').firstChild;
        getSelection().setBaseAndExtent(node, 3, node, 7); }"""
    )
    press(page, "1")
    page.evaluate(
        """() => { const text = document.querySelector('.item-text'), node = text.lastChild;
        getSelection().setBaseAndExtent(node, node.length - 3, node, node.length); }"""
    )
    press(page, "2")
    goes_on(page, lambda: press(page, "Enter"))

    spans = newest(desk, "combining")
    assert [seeds.COMBINING[one["start"] : one["end"]] for one in spans] == ["cafe\u0301", "o\u0302t"]


def test_spans_by_touch(desk: Desk) -> None:
    page = desk.at("touch", **PHONE)
    words = page.locator(".item-text").inner_text().partition(" says")[0]  # of whichever item comes first

    # What a long press and the handles make is a selection; the tap that follows takes it away before the click.
    page.evaluate(
        """end => { const node = document.querySelector('.item-text').firstChild;
        getSelection().setBaseAndExtent(node, 0, node, end); }""",
        len(words) + 1,
    )
    page.wait_for_timeout(50)
    page.evaluate("getSelection().removeAllRanges()")
    page.get_by_role("button", name="praise").tap()
    expect(page.locator(".spans q")).to_have_text([words])  # without the space at its end
    axe(page)
    goes_on(page, lambda: page.get_by_role("button", name="Save").tap())

    assert newest(desk, "touch") == [part(0, len(words), "praise")]


# -- together ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_questions_of_every_kind_on_one_sheet(desk: Desk, scheme: str) -> None:
    page = desk.at("every", color_scheme=scheme)
    axe(page)

    press(page, "1")
    expect(page.locator("[data-question=topics]")).to_have_class(re.compile("question--active"))
    press(page, "5", "Enter")
    expect(page.locator("[data-question=parts]")).to_have_class(re.compile("question--active"))
    press(page, "ArrowRight", "7", "Enter")
    expect(page.locator(".answer-text")).to_be_focused()
    page.keyboard.type("because")
    axe(page)
    goes_on(page, lambda: press(page, "Control+Enter"))

    state(page).to_have_text("saved")
    answers = desk.given("every")[0]["answers"]
    assert answers == {
        "intent": "complaint",
        "topics": ["map"],
        "parts": [part(0, 5, "praise")],
        "why": "because",
    }


def test_a_label_of_every_kind_is_corrected_in_my_work(desk: Desk) -> None:
    page = desk.at("every")
    page.goto(desk.projects["every"] + "work/")

    page.get_by_role("link", name=re.compile("Correct the label of")).first.click()
    page.get_by_role("button", name=re.compile("^Remove the mark")).click()
    page.get_by_role("button", name="nothing to mark").click()
    page.locator("label", has_text="list").click()
    page.get_by_role("button", name="Save the correction").click()
    page.get_by_text("corrected").wait_for()

    answers = desk.given("every")[0]["answers"]
    assert (answers["topics"], answers["parts"]) == (["list", "map"], [])
