"""A session at the labelling page by keyboard alone: `python -m tests.benchmarks.labelling_by_keyboard [FOLDER]`.

Chromium labels 300 sentences of `movie_snippets.jsonl` on a scale of nine steps and 100 pairs of `nli_multilabel.jsonl`
with sets of labels, as their first raters did, on the running product (SQLite, one web server). Printed are keys an
item, the time from the key to the next item on screen (p50, p95; of it what comes after the server's answer), bytes and
requests of the first and the second load, how much the page shifted, and the JavaScript heap. FOLDER has the two files.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, CHROMIUM
from tests.stack import ROOT, Stack

PASSWORD = "correct horse battery"

DATA = ROOT.parent / "shared" / "data"
SNIPPETS, PAIRS = 300, 100
STEPS = [str(step) for step in range(-4, 5)]
KINDS = ("contradiction", "entailment", "neutral")
WATCH = """
window.times = []; window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifts.push({value: entry.value, input: entry.hadRecentInput});
}).observe({type: "layout-shift", buffered: true});
let pressed = 0;
addEventListener("keydown", () => { pressed = performance.now(); }, true);
addEventListener("DOMContentLoaded", () => {
  let sheet = document.querySelector("#task")?.dataset.sheet;
  new MutationObserver(() => {
    const now = document.querySelector("#task")?.dataset.sheet;
    if (now === sheet) return;
    sheet = now;
    const from = pressed;
    // Two frames on, what was changed in the first one has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const answered = performance.getEntriesByType("resource").at(-1).responseEnd;
      window.times.push([performance.now() - from, performance.now() - answered]);
      performance.clearResourceTimings();
    }));
  }).observe(document.querySelector(".bench-work"), {childList: true});
});
"""


def read(folder: Path, name: str, count: int) -> list[dict[str, Any]]:
    with (folder / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]


def seed(folder: str) -> None:
    """Make both projects in the product's database and print their addresses; runs inside `manage.py shell`."""
    from tests.browser import desk

    snippets = read(Path(folder), "movie_snippets.jsonl", SNIPPETS)
    pairs = read(Path(folder), "nli_multilabel.jsonl", PAIRS)
    scale = {"key": "feeling", "task_type": "ordinal", "labels": STEPS, "values": [float(step) for step in STEPS]}
    made = (
        desk.project("Snippets", [scale], texts=[row["text"] for row in snippets]),
        desk.project(
            "Pairs",
            [{"key": "relation", "task_type": "multilabel", "labels": KINDS}],
            texts=[f"{row['context']}\n\n{row['statement']}" for row in pairs],
        ),
    )
    print(json.dumps([f"/p/{one.uuid}/label/" for one in made]))


class Traffic:
    """Requests and bytes over the wire, as the browser counts them."""

    def __init__(self, page: Page) -> None:
        self.requests = self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.loadingFinished", self._finished)

    def _sent(self, event: dict[str, Any]) -> None:
        self.requests += not event["request"]["url"].startswith("data:")

    def _finished(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])

    def load(self, page: Page, address: str) -> str:
        self.requests = self.bytes = 0
        page.goto(address, wait_until="networkidle")
        return f"{self.requests} requests, {self.bytes / 1000:.1f} kB"


def log_in(context: BrowserContext) -> Any:
    page = context.new_page()
    page.goto("/login/")
    page.locator("[name=username]").fill("anna")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return context.storage_state()


def label(page: Page, keys_of: Callable[[str], Sequence[str]], count: int) -> int:
    """Label `count` items; how many keys that took."""
    pressed = 0
    for done in range(1, count + 1):
        for key in keys_of(page.locator(".item-text").first.text_content() or ""):
            page.keyboard.press(key)
            pressed += 1
        page.wait_for_function("done => window.times.length === done", arg=done, timeout=30_000)
    return pressed


def report(title: str, page: Page, keys: int, count: int) -> None:
    times = page.evaluate("window.times")
    shifts = page.evaluate("window.shifts")
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    print(f"{title}: {count} items")
    print(f"  keys an item          {keys / count:.2f}")
    for words, place in (("key to next item", 0), ("  after the answer", 1)):
        found = sorted(time[place] for time in times)
        print(f"  {words:20}  p50 {median(found):.0f} ms, p95 {quantiles(found, n=20)[-1]:.0f} ms")
    moved = [shift["value"] for shift in shifts]
    unasked = [shift["value"] for shift in shifts if not shift["input"]]
    print(f"  layout shift          CLS {sum(unasked):.4f}, also after a key {sum(moved):.4f}")
    print(f"  JavaScript heap       {metrics['JSHeapUsedSize'] / 1e6:.1f} MB")


def by_answer(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Text of a pair -> the keys of what its first rater chose, then Enter."""
    found = {}
    for row in rows:
        chosen = next(iter(row["labels"].values()), [])
        keys = [str(KINDS.index(kind) + 1) for kind in chosen] or ["n"]
        found[f"{row['context']}\n\n{row['statement']}"] = [*keys, "Enter"]
    return found


def main(folder: Path) -> None:
    snippets = {row["text"]: row["ratings"][0] for row in read(folder, "movie_snippets.jsonl", SNIPPETS)}
    pairs = by_answer(read(folder, "nli_multilabel.jsonl", PAIRS))
    with tempfile.TemporaryDirectory() as kept, Stack(Path(kept)) as stack, sync_playwright() as playwright:
        code = f"from tests.benchmarks import labelling_by_keyboard as b; b.seed({str(folder)!r})"
        first, second = json.loads(stack.shell(code).splitlines()[-1])
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        options: dict[str, Any] = {"base_url": stack.url, "viewport": {"width": 1280, "height": 900}}
        state = log_in(browser.new_context(**options))
        # A browser that has seen nothing yet but has the log-in.
        context = browser.new_context(**options, storage_state=state)
        context.add_init_script(WATCH)
        page = context.new_page()
        traffic = Traffic(page)
        print(f"first load   {traffic.load(page, first)}")
        print(f"second load  {traffic.load(page, first)}")
        keys = label(page, lambda text: [str(snippets[text] + 5)], SNIPPETS)
        report("Scale of nine steps", page, keys, SNIPPETS)
        page.goto(second, wait_until="networkidle")
        keys = label(page, lambda text: pairs[text], PAIRS)
        report("Sets of labels", page, keys, PAIRS)
        browser.close()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
