"""A session at the adjudication pages by keyboard alone: `python -m tests.benchmarks.adjudicating_by_keyboard [FILE]`.

The ratings of `paraphrase.jsonl` (FILE) come in through the product's own import, as a finished wave of four raters on
a scale of eleven steps. Then a lead decides fifty of its conflicts in Chromium, as somebody does who has two hundred to
do today: most with a rationale that was used before, some with one of their own, every eighth as an example, and one
pair with a decision for all of its cases. Printed are keys a case, the server's time for what a case asks of it, and
the time from the key that decides to the next case on screen (p50, p95), on the running product (SQLite, one web
server).
"""

import os
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks import kept
from tests.benchmarks.labelling_by_keyboard import DATA
from tests.browser.chromium import ARGUMENTS, CHROMIUM
from tests.stack import Stack

PASSWORD = "correct horse battery"
CASES, ALIKE = 50, 4  # conflicts that are decided, and how many of them by one decision for several
OWN_EVERY, EXAMPLE_EVERY = 5, 8
UUID_LENGTH = 36
STEPS = [str(step) for step in range(-5, 6)]
HOTKEYS = "1234567890abcdefghijklmnopqrstuvwxyz"
SAID = ["Both ask for the same thing.", "The second asks for more than the first.", "They are about different things."]

# How long it takes from a key to the next case on screen, in `window.times`.
WATCH = """
window.times = [];
let pressed = 0, shown = null;
addEventListener("keydown", () => { pressed = performance.now(); }, true);
addEventListener("DOMContentLoaded", () => {
  shown = document.querySelector("[data-case]")?.dataset.case;
  new MutationObserver(() => {
    const now = document.querySelector("[data-case]")?.dataset.case;
    if (!now || now === shown) return;
    shown = now;
    const from = pressed;
    // Two frames on, what was changed in the first one has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => { window.times.push(performance.now() - from); }));
  }).observe(document.getElementById("main"), {childList: true, subtree: true});
});
"""


def seed() -> None:
    """A project with a scale, a lead and an admin; prints its address. Runs inside `manage.py shell`."""
    from tests import factories

    project = factories.project("Paraphrases", shown_fields=["question_1", "question_2"])
    version = factories.version(project, questions=False)
    factories.question(
        version, "same", STEPS, task_type="ordinal", text="Do both ask the same?", values=[float(s) for s in STEPS]
    )
    factories.member(project, "ada", "admin")
    factories.member(project, "lea", "lead")
    print(project.uuid)


def bring_in(stack: Stack, file: Path) -> str:
    """The finished wave, from the file; the project's address."""
    project = stack.shell("from tests.benchmarks import adjudicating_by_keyboard as b; b.seed()").splitlines()[-1]
    fields = ["--fields", "question_1,question_2", "--id", "id", "--ratings", "ratings", "--comment", "rationales"]
    print(stack.manage("import_ratings", project, str(file), *fields).strip())
    return f"/p/{project}/"


@dataclass
class Session:
    """A lead at the keyboard: what was pressed for each case, and what the server was asked."""

    page: Page
    keys: list[Counter[str]] = field(default_factory=list)
    typed: int = 0
    server: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def press(self, key: str, *, why: str) -> None:
        self.keys[-1][why] += 1
        self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.typed += len(text)
        self.page.keyboard.type(text)

    def heed(self, request: Any) -> None:
        """Note how long the server took for a request of a case."""
        path = urlsplit(request.url).path.rstrip("/").split("/")
        if "adjudication" in path:
            deed = path[-1] if len(path[-1]) < UUID_LENGTH else "case"
            self.server[deed].append(request.timing["responseStart"] - request.timing["requestStart"])

    # -- one case ------------------------------------------------------------------------------------------------------

    def decide(self, number: int) -> None:
        """One of the two labels in turn, a reason, some as an example; then on."""
        self.keys.append(Counter())
        before = self._case()
        self.press(HOTKEYS[STEPS.index(self._label(number))], why="label")
        self._reason(number)
        if number % EXAMPLE_EVERY == EXAMPLE_EVERY - 1:
            if self._focus() == "rationale":
                self.press("Escape", why="example")
            self.press("g", why="example")
        self.press("Enter", why="decide")
        if self._focus() == "cause":
            self.press(str(number % 3 + 1), why="cause")
        self.page.wait_for_function("key => document.querySelector('[data-case]')?.dataset.case !== key", arg=before)
        self.page.wait_for_timeout(600)  # somebody reads; the next case is fetched meanwhile

    def _reason(self, number: int) -> None:
        """What came with the label; else the likeliest that was used before; every fifth time words of one's own."""
        came = bool(self.page.locator("[name=rationale]").input_value())
        known = self.page.locator("[data-recall] button").first.get_attribute("data-cause")
        if number % OWN_EVERY and (came or known):
            if not came:
                self.press("ArrowUp", why="rationale")
            return
        if came:
            self.press("c", why="rationale")
        self.type(f"{SAID[number % len(SAID)]} Seen at case {number}.")

    def _case(self) -> str:
        return str(self.page.evaluate("document.querySelector('[data-case]')?.dataset.case ?? ''"))

    def _focus(self) -> str:
        return str(self.page.evaluate("document.activeElement?.name ?? ''"))

    def _label(self, number: int) -> str:
        given = [text.split()[-1] for text in self.page.locator(".side-name b").all_inner_texts()]
        return sorted(given)[number % 2]


def decide_alike(session: Session, base: str) -> int:
    """One decision for the cases of a pair that has a few; how many those were."""
    page = session.page
    page.goto(base + "adjudication/")
    counts = page.locator(".queue-filters li a").all()
    wanted = next(link for link in counts if int(link.locator(".count").inner_text()) == ALIKE)
    wanted.focus()
    session.keys.append(Counter())
    with page.expect_navigation():
        session.press("Enter", why="the pair")
    with page.expect_navigation():
        session.press("a", why="open")
    session.press(HOTKEYS[0], why="label")
    session.type("They are about different things.")
    session.press("Enter", why="show")
    if page.evaluate("document.activeElement?.name") == "cause":
        session.press("3", why="cause")
    page.locator("[data-confirm]").wait_for()
    with page.expect_navigation():
        session.press("Enter", why="decide")
    return ALIKE


def report(session: Session, cases: int, alike: int, times: list[float]) -> None:
    single = session.keys[:cases]
    total = sum(sum(keys.values()) for keys in single)
    kinds = Counter(why for keys in single for why in keys.elements())
    print(f"{cases} cases one by one, {alike} with one decision. {kept.machine()}")
    print(f"  keys a case           {total / cases:.2f} ({', '.join(f'{n} {why}' for why, n in kinds.most_common())})")
    print(f"  cases by their keys   {dict(sorted(Counter(sum(keys.values()) for keys in single).items()))}")
    print(f"  typed characters      {session.typed / cases:.1f} a case")
    print(f"  one for several       {sum(session.keys[-1].values())} keys for {alike}")
    for name, found in [("key to next case", times), *sorted(session.server.items())]:
        words = name if name == "key to next case" else f"server: {name}"
        p95 = quantiles(found, n=20)[-1] if len(found) > 1 else found[0]
        print(f"  {words:20}  p50 {median(found):.0f} ms, p95 {p95:.0f} ms ({len(found)})")


def main(file: Path) -> None:
    if not file.is_file():
        sys.exit(f"{file}: there is no such file. Name one with ratings as `paraphrase.jsonl` has them.")
    with tempfile.TemporaryDirectory() as kept, Stack(Path(kept)) as stack, sync_playwright() as playwright:
        base = bring_in(stack, file)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context(base_url=stack.url, viewport={"width": 1280, "height": 900})
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto("/login/")
        page.locator("[name=username]").fill("lea")
        page.locator("[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/login/" not in url)
        page.goto(base + "adjudication/")
        session = Session(page)
        page.on("requestfinished", session.heed)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.wait_for_timeout(600)
        for number in range(CASES - ALIKE):
            session.decide(number)
        times = page.evaluate("window.times")
        alike = decide_alike(session, base)
        report(session, CASES - ALIKE, alike, times)
        page.goto(f"{base}adjudication/?state=decided")
        print(f"  decided, by the page  {page.locator('.tabs [aria-current] .count').inner_text()}")
        browser.close()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "paraphrase.jsonl")
