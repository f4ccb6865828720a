"""The whole way in Chromium, by keyboard: ratings that were made elsewhere, their conflicts, decisions, examples, a
label that is merged away, a material publish, practice, a fresh wave by four people, and whether the example helped.

Axe looks at every page; the figures are those of `whole_way`, which knows the ratings and nothing of the product.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import whole_way as way
from tests.browser.keyboard import Hands
from tests.factories import PASSWORD
from tests.stack import Stack, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(300)]

NOT_KNOWN = "Imported: blindness and random draw are not known here."
PAIR = "complaint / threat"
RULE = "Who says what they will do if nothing happens, threatens."
WHY = "They say what is wrong, and nothing of what they will do."


class Way:
    """The lead and four annotators at their keyboards."""

    def __init__(self, stack: Stack, visit: Callable[..., Page]) -> None:
        self.stack = stack
        self.base = stack.shell("from tests.browser import whole_way; whole_way.seed()").splitlines()[-1]
        self.lea = Hands(visit("lea", PASSWORD))
        self.threat = ""  # the text of the example of a threat
        seen: set[str] = set()
        self.raters = [Hands(visit(name, PASSWORD), seen) for name in way.RATERS]

    # -- entered at the disagreement --

    def bring_ratings(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.go(self.base)
        lea.follow("Waves", within="#entries")
        lea.follow("Import ratings")
        lea.write(re.compile("^Or paste the rows"), way.ratings_file())
        lea.push("Read the file")
        expect(page.locator("main")).to_contain_text("Found: 80 ratings of 20 items, 20 of which have two or more.")
        lea.choose(page.get_by_label("label for “thank-you”"), "thanks")
        lea.push("Import 80 ratings")
        expect(page.locator("main")).to_contain_text("80 ratings of 20 items were imported.")
        expect(page.locator("main")).to_contain_text(f"{way.conflicts(way.ELSEWHERE)} conflicts were opened.")
        expect(page.locator("main")).to_contain_text(NOT_KNOWN)

    def decide_pair(self) -> None:
        """The six conflicts of one pair, one by one; two of them become examples."""
        lea, page = self.lea, self.lea.page
        lea.follow("See the conflicts")
        expect(page.locator("main")).not_to_contain_text("anna")
        lea.follow(re.compile("^complaint . threat "), within=".queue-filters")
        with lea.leads_on():
            lea.press("Enter")
        self._decide("1", WHY, "1", example=True)
        self.threat = page.locator(".item-text").first.inner_text()
        self._decide("2", RULE, "1", example=True)
        for left in (4, 3, 2, 1):
            self._decide("1", WHY, "1", last=left == 1)

    def _decide(self, label: str, why: str, cause: str, *, example: bool = False, last: bool = False) -> None:
        lea, page = self.lea, self.lea.page
        case = page.locator("[data-case]").get_attribute("data-case")
        expect(page.locator("main")).not_to_contain_text("anna")
        lea.press(label)
        offered = page.locator("[name=rationale]").input_value() == why  # with its cause, from the case before
        if not offered:
            page.keyboard.insert_text(why)
            lea.press("Escape")
        if example:
            lea.press("g")
            expect(page.locator("#example-editor")).to_have_attribute("open", "")
            lea.look()
        lea.press("Enter")
        if not offered:  # it asks for the cause, whose key decides
            lea.press(cause)
        if last:
            page.wait_for_url(re.compile("/adjudication/\\?"))
        else:
            page.wait_for_function("old => document.querySelector('[data-case]')?.dataset.case !== old", arg=case)
        lea.look()

    def decide_alike(self) -> None:
        """Another pair, with one decision for all of its conflicts."""
        lea, page = self.lea, self.lea.page
        lea.go(self.base + "adjudication/")
        lea.follow(re.compile("^praise . thanks "), within=".queue-filters")
        with lea.leads_on():
            lea.press("a")
        lea.press("3")
        page.keyboard.insert_text("Thanks are praise.")
        lea.press("Escape", "Enter")
        with lea.leads_on():
            lea.press("2")
        expect(page.get_by_role("heading", level=1)).to_have_text("4 cases become “praise”")
        with lea.leads_on():
            lea.press("Enter")

    # -- the next guideline --

    def merge_labels(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.go(self.base + "guideline/")
        lea.follow("Go on with the draft")
        lea.follow("Examples", within="nav.tabs")
        group = page.locator("section", has=page.get_by_role("heading", name=PAIR, level=3)).last
        expect(group.locator(".example")).to_have_count(2)
        lea.follow("Questions and labels", within="nav.tabs")
        lea.follow(re.compile("^Merge, divide"))
        lea.follow("Merge “thanks”")
        lea.choose(page.get_by_label("Into", exact=True), "praise")
        lea.push("Show what it would mean")
        self.check_what_if()
        lea.push("Merge “thanks” into “praise” in the draft")

    def check_what_if(self) -> None:
        plan = self.lea.page.locator("#plan")
        uses = sum(said.count(way.D) for said in way.ELSEWHERE)
        expect(plan).to_contain_text(f"It touches {uses} ratings that were given")
        was = way.alpha(way.ELSEWHERE)
        would_be = way.alpha(way.merged(way.ELSEWHERE, way.D, way.P))
        figures = plan.locator("tbody td.number").all_inner_texts()
        assert figures == ["20", two(was), two(would_be), f"+{two(would_be - was)}"]

    def write_draft(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.follow("Text", within="nav.tabs")
        text = page.locator("[name=text]")
        lea.to(text)
        lea.press("Control+End")
        page.keyboard.insert_text(f"\n\n## Threats\n\n{RULE}\n")
        expect(page.locator("#save-state")).to_have_text("saved")
        lea.follow("What changes", within="nav.tabs")
        expect(page.locator("main ins").filter(has_text="Threats").first).to_be_visible()

    def publish(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.follow("Go on to publishing")
        main = page.locator("main")
        expect(main).to_contain_text("Not possible, because this changes the rules:")
        expect(main).to_contain_text("Either way, 4 annotators read what changed before their next item.")
        expect(main).to_contain_text(f"they also practise on its 2 new examples until {way.PASS_PERCENT} % are right")
        lea.write(re.compile("^What changed|^Why|^Reason"), "Threats have a rule; thanks are praise.")
        lea.push("Publish")
        lea.go(self.base + "guideline/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Guideline 2.0")

    # -- the fresh wave --

    def bring_items(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.go(self.base + "items/")
        lea.follow(re.compile("^Import"), within="main")
        lea.write(re.compile("^Or paste the rows"), way.items_file())
        lea.push("Read the file")
        lea.push(re.compile(f"^Import {len(way.AFTERWARDS)} "))
        expect(page.locator("main")).to_contain_text(f"{len(way.AFTERWARDS)} items")

    def open_wave(self) -> None:
        lea, page = self.lea, self.lea.page
        lea.follow("Waves", within="#entries")
        lea.follow("Open a wave")
        lea.pick(page.locator("[name=scope][value=all]"))
        lea.write("Share of overlap, in %", "100")
        lea.write("Ratings per overlap item", "4")
        lea.push("Open the wave")

    def learn(self, rater: Hands, *, stumbles: bool) -> None:
        """Reads what changed, then practises; one of them answers wrongly at first and has to go through it again."""
        page = rater.page
        rater.go(self.base + "label/")
        expect(page).to_have_url(re.compile("/guideline/acknowledge/$"))
        expect(page.locator("main")).to_contain_text("What changed from 1.0 to 2.0")
        expect(page.locator("main")).to_contain_text("“thanks” becomes “praise”")
        rater.push("I have read this")
        expect(page).to_have_url(re.compile("/guideline/practice/$"))
        for round_ in ["wrong", "right"] if stumbles else ["right"]:
            for place in (1, 2):
                self.practise(rater, right=round_ == "right", last=place == 2)
        expect(page.locator("main")).to_contain_text("The practice is done.")
        rater.follow("Go on labelling")
        expect(page).to_have_url(re.compile("/label/$"))

    def practise(self, rater: Hands, *, right: bool, last: bool) -> None:
        page = rater.page
        threat = self.threat in page.locator("main").inner_text()
        rater.pick(page.locator(f"[name=value][value={'threat' if threat == right else 'complaint'}]"))
        rater.push("Answer")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("Right" if right else "The guideline says otherwise")
        expect(page.locator("main")).to_contain_text(RULE if threat else WHY)
        if not last:
            rater.follow("Next example")
        elif not right:
            rater.follow("Once more")

    def label_wave(self) -> None:
        """One key an item, until nothing is left for anybody."""
        given = [0] * len(self.raters)
        while sum(given) < len(self.raters) * len(way.AFTERWARDS):
            before = sum(given)
            for place, rater in enumerate(self.raters):
                given[place] += self.label(rater, place)
            assert sum(given) > before, f"nobody gets anything, and {given} were given"
        assert given == [len(way.AFTERWARDS)] * len(self.raters)

    def label(self, rater: Hands, place: int) -> int:
        page, done = rater.page, 0
        rater.go(self.base + "label/")
        while page.locator("#task[data-kind=task]").count():
            sheet = page.locator("#task").get_attribute("data-sheet")
            number = int(re.findall(r"\d+", page.locator(".item-text").inner_text())[0])
            rater.press(str(way.KEYS.index(way.AFTERWARDS[number][place]) + 1))
            page.wait_for_function("key => document.querySelector('#task')?.dataset.sheet !== key", arg=sheet)
            done += 1
        rater.look()
        return done

    # -- whether it helped --

    def effect(self) -> None:
        lea, page = self.lea, self.lea.page
        answer = f"/api/v1/projects/{self.base.split('/')[2]}/agreement/"

        def both() -> bool:
            return sum(not run["interim"] for run in page.request.get(answer).json()) == 2

        wait_for(both, what=f"no final figure: {self.stack.said()[-2000:]}")
        lea.follow("Agreement", within="#entries")
        lea.follow("What the examples changed")
        expect(page.get_by_role("heading", level=1)).to_have_text("What the examples of 2.0 changed")
        rows = page.locator("table").first.locator("tbody tr")
        expect(rows).to_have_count(2)
        for row in rows.all():
            assert [" ".join(cell.inner_text().split()) for cell in row.locator("td.words").all()] == self.expected()

    def follow_the_chain(self) -> None:
        """From a cell of the old version to the same cell of the new one and back, by nothing but links."""
        lea, page = self.lea, self.lea.page
        lea.go(self.base + "agreement/")
        lea.follow("wave 1", within="main")
        _shares, items, _n = way.confused(way.ELSEWHERE, way.C, way.T)
        self._enter(page.locator(".heat a[href$='/cell/complaint/threat/']"))
        old, heading = page.url, page.get_by_role("heading", level=1)
        expect(heading).to_have_text("Items called “complaint” and “threat”")
        expect(page.locator("main tbody tr")).to_have_count(items)

        row = page.locator("main tbody tr").filter(has_text=self.threat)
        self._enter(row.get_by_role("link"))  # the case, and what was decided
        expect(page.locator("main")).to_contain_text(RULE)
        lea.follow("It is an example in guideline 2.0")
        lea.follow(re.compile(f"^What it changed {self.threat.split(':')[0]}"))
        _shares, items, n = way.confused(way.AFTERWARDS, way.C, way.T)
        lea.follow(re.compile(f"^{items} of {n} items in wave 2"))
        new = page.url
        expect(heading).to_have_text("Items called “complaint” and “threat”")
        expect(page.locator("main tbody tr")).to_have_count(items)

        self._enter(page.locator("main").get_by_role("link", name=self.threat))  # the example, and what became of it
        lea.follow("The case and its decision")
        lea.follow("All items of wave 1 with these two labels")
        assert page.url == old != new

    def _enter(self, link: Locator) -> None:
        self.lea.to(link)
        with self.lea.leads_on():
            self.lea.press("Enter")

    def expected(self) -> list[str]:
        """Before, afterwards and the change, as the page says it."""
        old, new = way.confused(way.ELSEWHERE, way.C, way.T), way.confused(way.AFTERWARDS, way.C, way.T)
        sides = [("1.0", old, f" {NOT_KNOWN}"), ("2.0", new, "")]
        told = [
            f"{percent(shares / n)} % 95 % between {percent(low)} and {percent(high)} "
            f"{items} of {n} items, wave {wave} ({version}){note}"
            for wave, (version, (shares, items, n), note) in enumerate(sides, start=1)
            for low, high in [way.wilson(shares, n)]
        ]
        low, high = way.newcombe((new[0], new[2]), (old[0], old[2]))
        return [*told, f"{points(new[0] / new[2] - old[0] / old[2])} 95 % between {points(low)} and {points(high)}"]


def two(value: float) -> str:
    return f"{value:.2f}".lstrip("0")


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def test_the_whole_way(stack: Stack, visit: Callable[..., Page]) -> None:
    walk = Way(stack, visit)
    walk.bring_ratings()
    walk.decide_pair()
    walk.decide_alike()
    walk.merge_labels()
    walk.write_draft()
    walk.publish()
    walk.bring_items()
    walk.open_wave()
    for rater in walk.raters:
        walk.learn(rater, stumbles=rater is walk.raters[0])
    walk.label_wave()
    walk.effect()
    walk.follow_the_chain()
