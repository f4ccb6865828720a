"""A person who has a keyboard and no mouse, and axe at every page that they come to."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from tests.browser.windows import axe

UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FARTHEST = 250  # stops of the Tab key within which everything on a page has to be reached


class Hands:
    """Nothing here clicks: what is to be used is reached with the Tab key from where the focus is."""

    def __init__(self, page: Page, seen: set[str] | None = None) -> None:
        """`seen`: shared by people who come to the same pages, so that axe looks at each of them once."""
        self.page = page
        self.seen = set() if seen is None else seen
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))

    def go(self, address: str) -> None:
        """As somebody types an address or follows a link from a mail."""
        answer = self.page.goto(address)
        assert answer is not None, address
        assert answer.status == 200, f"{address}: {answer.status}"
        self.look()

    def look(self) -> None:
        """Axe, unless it has seen this page of this heading with as many things to use."""
        assert self.wrong == []
        heading, things = self.page.evaluate(
            "[document.querySelector('h1')?.innerText, document.querySelectorAll('a, button, input, select').length]"
        )
        kind = f"{UUID.sub('', self.page.url)} {heading} {things}"
        if kind not in self.seen:
            axe(self.page)
            self.seen.add(kind)

    @contextmanager
    def leads_on(self, *, look: bool = True) -> Iterator[None]:
        """What is done in here loads another page."""
        with self.page.expect_navigation():
            yield
        if look:
            self.look()

    def to(self, target: Locator) -> None:
        """The Tab key until `target` has the focus."""
        wanted = target.element_handle()
        for _stop in range(FARTHEST):
            if wanted.evaluate("it => it === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not come to {target} at {self.page.url}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def follow(self, name: str | re.Pattern[str], *, within: str = "body", look: bool = True) -> None:
        """A link by its name."""
        self._enter("link", name, within, look=look)

    def push(self, name: str | re.Pattern[str], *, within: str = "body", look: bool = True) -> None:
        """A button by its name; its form leads to another page."""
        self._enter("button", name, within, look=look)

    def _enter(self, role: str, name: str | re.Pattern[str], within: str, *, look: bool) -> None:
        place = self.page.locator(within).first
        self.to(place.get_by_role(role, name=name, exact=isinstance(name, str)).first)  # type: ignore[arg-type]
        with self.leads_on(look=look):
            self.press("Enter")

    def write(self, label: str | re.Pattern[str], text: str) -> None:
        """Into a field by its label; what was there goes."""
        field = self.page.get_by_label(label, exact=isinstance(label, str)).first
        self.to(field)
        self.press("Control+a")
        self.page.keyboard.insert_text(text)
        expect(field).to_have_value(text)

    def pick(self, radio: Locator) -> None:
        """A radio button: Tab comes to its group, the arrow keys to it, the space bar chooses."""
        group = self.page.locator(f"input[type=radio][name={radio.get_attribute('name')}]")
        checked = group.and_(self.page.locator(":checked"))
        self.to(checked if checked.count() else group.first)
        for _step in range(group.count()):
            if radio.evaluate("it => it === document.activeElement"):
                break
            self.press("ArrowDown")
        self.press("Space")
        expect(radio).to_be_checked()

    def tick(self, box: Locator) -> None:
        self.to(box)
        if not box.is_checked():
            self.press("Space")
        expect(box).to_be_checked()

    def choose(self, field: Locator, option: str) -> None:
        """An option of a list: the first letters of its words."""
        self.to(field)
        self.page.keyboard.type(option)
        assert field.evaluate("it => it.selectedOptions[0].text") == option
