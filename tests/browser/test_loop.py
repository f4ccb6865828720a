"""The whole loop in Chromium, on the running product with its worker: an admin sets a project up, two annotators label
by keyboard, a lead decides and publishes 2.0, and a fresh wave stands beside the first. Axe looks at every page."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.windows import axe
from tests.stack import Stack, wait_for

PASSWORD = "correct horse battery"
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(600)]

DECIDE = re.compile("^Decide and go on")

PEOPLE = """
from projects.models import User
for name in ("ada", "lea", "anna", "ben"):
    User.objects.create_user(name, name + "@example.org", "correct horse battery")
"""
GUIDELINE = "# Reviews\n\nRead the whole message, then say what the writer *does*.\n"
LABELS = "Complaint: says that something is wrong\nPraise: likes something\nQuestion: wants to know something"
FIRST = [f"Message {n}: the list is {'empty' if n % 3 else 'back, thank you'} since Tuesday" for n in range(12)]
SECOND = [f"Note {n}: where did the {'map' if n % 2 else 'menu'} go" for n in range(12)]


def go(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None, address
    assert answer.status == 200, f"{address}: {answer.status}"
    axe(page)


def press(page: Page, name: str | re.Pattern[str]) -> None:
    """Press the button, and wait for the page that its form leads to: a step after it would cancel the sending."""
    button = page.get_by_role("button", name=name, exact=isinstance(name, str)).first
    with page.expect_navigation():
        button.click()


class Loop:
    """The four people at their windows."""

    def __init__(self, stack: Stack, visit: Callable[..., Page], folder: Path) -> None:
        self.stack, self.folder = stack, folder
        stack.shell(PEOPLE)
        self.admin, self.lead, self.anna, self.ben = (visit(name, PASSWORD) for name in ("ada", "lea", "anna", "ben"))
        self.base = ""

    def found_project(self) -> None:
        page = self.admin
        go(page, "/")
        go(page, "/projects/new/")
        page.locator("[name=name]").fill("App reviews")
        press(page, "Make the project")
        match = re.search(r"/p/[0-9a-f-]{36}/", page.url) or re.search(r"/p/[0-9a-f-]{36}/", page.content())
        assert match is not None
        self.base = match[0]

    def write_guideline(self) -> None:
        page = self.admin
        go(page, self.base + "guideline/")
        press(page, "Write the first guideline")
        axe(page)
        page.locator("textarea[name=text]").fill(GUIDELINE)
        press(page, "Save the text")
        with page.expect_navigation():
            page.get_by_role("link", name="Questions and labels").first.click()
        axe(page)
        page.locator("[name=text]").fill("What does the writer do?")
        page.locator("[name=labels]").fill(LABELS)
        page.locator("[name=key]").fill("intent")
        press(page, "Add the question")
        axe(page)
        go(page, self.base + "guideline/draft/publish/")
        press(page, "Publish")
        go(page, self.base + "guideline/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("1.0")

    def invite(self) -> None:
        page = self.admin
        go(page, self.base + "members/")
        for name, role in (("lea", "lead"), ("anna", "annotator"), ("ben", "annotator")):
            section = page.locator("section", has=page.get_by_role("heading", name="Add somebody with an account"))
            section.locator("[name$=username]").fill(name)
            for box in section.locator("[type=checkbox]").all():
                box.set_checked(box.get_attribute("value") == role)
            with page.expect_navigation():
                section.get_by_role("button", name="Add").click()
        axe(page)

    def set_protocol(self) -> None:
        page = self.admin
        go(page, self.base + "protocol/")
        for name, value in (("share_percent", "100"), ("window_submits", "0"), ("minimum_n", "5")):
            page.locator(f"[name={name}]").fill(value)
        press(page, "Save the protocol")
        go(page, self.base + "settings/")

    def load(self, name: str, texts: list[str]) -> None:
        page = self.admin
        file = self.folder / name
        file.write_text("".join(json.dumps({"id": f"{name}-{n}", "text": t}) + "\n" for n, t in enumerate(texts)))
        go(page, self.base + "imports/new/")
        page.locator("[type=file]").set_input_files(file)
        press(page, "Read the file")
        button = page.get_by_role("button", name=re.compile("^Import "))
        button.wait_for(timeout=30_000)
        axe(page)
        button.click()
        page.get_by_text(re.compile(f"{len(texts)} items")).first.wait_for(timeout=30_000)
        axe(page)
        go(page, self.base + "items/")

    def open_wave(self) -> None:
        page = self.lead
        go(page, self.base + "waves/")
        go(page, self.base + "waves/new/")
        page.locator("[name=scope][value=all]").check()
        press(page, "Open the wave")
        axe(page)
        go(page, self.base + "waves/")

    def read(self, page: Page) -> None:
        page.goto(self.base + "label/")
        expect(page).to_have_url(re.compile("/guideline/acknowledge/$"))
        axe(page)
        press(page, "I have read this")
        expect(page).to_have_url(re.compile("/label/$"))

    def label(self, page: Page, key: Callable[[str], str]) -> int:
        """One key an item, until nothing is left for now."""
        done = 0
        page.goto(self.base + "label/")
        axe(page)
        while page.locator("#task[data-kind=task]").count():
            sheet = page.locator("#task").get_attribute("data-sheet")
            text = page.locator(".item-text").inner_text()
            page.keyboard.press(key(text))
            page.wait_for_function("key => document.querySelector('#task')?.dataset.sheet !== key", arg=sheet)
            done += 1
        axe(page)
        return done

    def label_all(self, anna: Callable[[str], str], ben: Callable[[str], str], expected: int) -> None:
        """Two turns each: who is ahead waits for the other, and then there is the rest."""
        done = sum(self.label(self.anna, anna) + self.label(self.ben, ben) for _turn in range(2))
        assert done == expected

    def adjudicate(self) -> None:
        page = self.lead
        go(page, self.base + "adjudication/")
        expect(page.get_by_text("anna")).to_have_count(0)
        go(page, self.base + "adjudication/next/")
        expect(page.locator("#side-A")).to_contain_text("Rater A")
        expect(page.get_by_text("anna")).to_have_count(0)
        page.locator("label", has=page.locator("[name=value][value=complaint]")).click()
        page.locator("[name=rationale]").fill("The thanks are for later; now something is wrong.")
        page.locator("[name=cause][value=guideline_silent]").check()
        page.locator("[name=as_example]").check()
        axe(page)
        press(page, DECIDE)
        axe(page)
        page.locator("label", has=page.locator("[name=value][value=praise]")).click()
        page.locator("[name=rationale]").fill("Nothing is wrong any more.")
        page.locator("[name=cause][value=slip]").check()
        press(page, DECIDE)

    def publish_second(self) -> None:
        page = self.lead
        for place in ("", "questions/", "examples/", "changes/"):
            go(page, self.base + "guideline/draft/" + place)
        go(page, self.base + "guideline/draft/publish/")
        page.locator("[name=reason]").fill("A rule for thanks that come with a complaint.")
        press(page, "Publish")
        axe(page)
        go(page, self.base + "guideline/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("2.0")

    def final_figures(self, draws: int) -> None:
        """Wait for the worker, as the API tells it."""

        def computed() -> bool:
            answer = self.lead.request.get(f"/api/v1/projects/{self.base.split('/')[2]}/agreement/")
            return sum(not run["interim"] for run in answer.json()) == draws

        wait_for(computed, what=f"no final figure: {self.stack.said()[-2000:]}")


def sorter(complaint: str, praise: str, *, odd: frozenset[int] = frozenset()) -> Callable[[str], str]:
    """Labels by the words of the message; the messages numbered in `odd` get the other label."""

    def key(text: str) -> str:
        number = int(re.findall(r"\d+", text)[0])
        thanks = "thank" in text or "menu" in text
        return praise if thanks != (number in odd) else complaint

    return key


def test_the_whole_loop(stack: Stack, visit: Callable[..., Page], tmp_path: Path) -> None:
    loop = Loop(stack, visit, tmp_path)
    loop.found_project()
    loop.write_guideline()
    loop.invite()
    loop.set_protocol()
    loop.load("first.jsonl", FIRST)
    loop.open_wave()
    go(loop.lead, loop.base)
    for page in (loop.anna, loop.ben):
        loop.read(page)

    loop.label_all(sorter("1", "2"), sorter("1", "2", odd=frozenset({0, 1})), expected=24)
    loop.final_figures(1)
    for place in ("", "agreement/"):
        go(loop.lead, loop.base + place)
    with loop.lead.expect_navigation():
        loop.lead.get_by_role("link", name="wave 1").first.click()
    axe(loop.lead)
    # Ten of twelve agree: 8 complaints and 2 praises by both, two crossed. Kappa = (10/12 - pe) / (1 - pe).
    expect(loop.lead.locator("main")).to_contain_text("12 items")
    loop.adjudicate()
    loop.publish_second()

    for page in (loop.anna, loop.ben):
        loop.read(page)
    loop.load("second.jsonl", SECOND)
    loop.open_wave()
    loop.label_all(sorter("1", "2"), sorter("1", "2"), expected=24)
    loop.final_figures(2)
    go(loop.lead, loop.base + "agreement/")
    expect(loop.lead.locator("main")).to_contain_text("2.0 minus 1.0")
    check_figures(loop)
    for page in (loop.anna, loop.ben):
        go(page, loop.base + "work/")
    export(loop)


def check_figures(loop: Loop) -> None:
    runs = loop.lead.request.get(f"/api/v1/projects/{loop.base.split('/')[2]}/agreement/").json()
    kappas = {run["version"]: run["result"]["statistics"]["cohen_kappa"]["value"] for run in runs}
    # By hand: anna 8 complaints and 4 praises; ben the same but messages 0 and 1 swapped, so again 8 and 4.
    observed, expected = 10 / 12, (8 / 12) ** 2 + (4 / 12) ** 2
    assert kappas["1.0"] == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)
    assert kappas["2.0"] == 1


def export(loop: Loop) -> None:
    page = loop.lead
    go(page, loop.base + "exports/")
    page.locator("[name=what][value=gold]").check()
    page.locator("[name=file_format][value=jsonl]").check()
    press(page, "Make the file")
    link = page.get_by_role("link", name="Download")
    link.wait_for(timeout=30_000)
    with page.expect_download() as download:
        link.click()
    rows: list[dict[str, Any]] = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert len(rows) == 24
    assert {row["status"] for row in rows} == {"agreed", "adjudicated"}
    assert sum(row["status"] == "adjudicated" for row in rows) == 2
