"""Every list of the product: it costs nine statements at most, log-in and frame included, however long it is, and goes
on behind the last row that was shown, never by counting rows from the start."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import adjudication, draws, exporting, inquiries, labelling, releasing, serving
from annotations.models import Assignment, Case, Draw
from projects import guidelines, health, importing, members
from projects.enums import Role
from projects.models import GuidelineVersion, Membership, Project
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

MOST = 9
LISTS = [
    "projects:project-list",
    "projects:members",
    "projects:items",
    "projects:import-new",
    "projects:guideline-versions",
    "projects:guideline-questions",
    "projects:guideline-examples",
    "annotations:waves",
    "annotations:ledger",
    "annotations:samples",
    "annotations:adjudication",
    "annotations:adjudication?state=decided",
    "annotations:adjudication?own=yes",
    "annotations:inquiries",
    "annotations:inquiries?state=answered",
    "annotations:exports",
    "annotations:activity",
    "annotations:activity?by=system",
    "annotations:my-work",
    "annotations:my-skips",
    "annotations:my-final-labels",
    "annotations:my-answers",
]
# Of these a project may have very many rows. A confusion table's cell is reached by its own address.
PAGED = {
    "projects:items": "projects.item_search.PAGE",
    "annotations:ledger": "annotations.views.waves.PAGE",
    "annotations:adjudication": "annotations.queue.PAGE",
    "annotations:adjudication?state=decided": "annotations.queue.PAGE",
    "annotations:inquiries": "annotations.views.inquiries.PAGE",
    "annotations:inquiries?state=answered": "annotations.views.inquiries.PAGE",
    "annotations:activity": "annotations.activity_log.PAGE",
    "annotations:activity?by=system": "annotations.activity_log.PAGE",
    "annotations:my-work": "annotations.views.work.PAGE",
    "annotations:my-skips": "annotations.views.work.PAGE",
    "annotations:my-final-labels": "annotations.views.own.WINDOW",
    "annotations:my-answers": "annotations.views.inquiries.PAGE",
    "cell": "agreement.views.draws.PAGE",
}
NEXT = re.compile(r'href="(\?[^"]*(?:after|before)=[^"]+)"')


@pytest.fixture
def version(project: Project) -> GuidelineVersion:
    """As published ones are: with its digest, by which it is kept in memory."""
    return factories.version(project, digest="d" * 64)


@pytest.fixture
def vera(version: GuidelineVersion) -> Membership:
    """Who holds every role sees every list, and the most beside the entries of the frame."""
    return factories.member(version.project, "vera", "annotator", "lead", "admin")


@pytest.fixture
def visitor(vera: Membership, client_of: Callable[[Membership], Client], settings: Any) -> Client:
    settings.BANNER_SECONDS = 10
    return client_of(vera)


@pytest.fixture
def more(project: Project, vera: Membership, lead: Membership, anna: Membership, ben: Membership) -> Callable[[], None]:
    """Put one more row into every list."""
    draft = guidelines.draft_of(project, by=lead)

    def rated(name: str, raters: list[Membership], *, decide: bool = False) -> None:
        disputes.rated(project, raters, {name: ("praise", "complaint")})
        if decide:
            said = {"value": "complaint", "rationale": "It asks.", "cause": "slip"}
            adjudication.resolve(disputes.case_of(name), **said, by=lead, at=timezone.now())

    def skipped() -> Assignment:
        factories.items(project, 1, prefix=f"skipped {project.items.count()}")
        wave = releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
        task = serving.next_task(vera, at=timezone.now())
        labelling.skip(vera, task.assignment, reason="other", note="It is empty.", at=timezone.now())
        Team([ben], says("praise")).work()
        draws.close_wave(wave, by=lead, at=timezone.now(), reason="done")
        return Assignment.objects.get(uuid=task.assignment)

    def add() -> None:
        n = project.waves.count()
        rated(f"others {n}", [anna, ben])
        rated(f"others, decided {n}", [anna, ben], decide=True)
        rated(f"own {n}", [vera, ben])
        rated(f"own, decided {n}", [vera, ben], decide=True)
        left = skipped()
        inquiries.ask(vera, left.uuid, text="What is this?", at=timezone.now())
        asked = inquiries.ask(vera, left.uuid, text="And this?", at=timezone.now())
        inquiries.answer(asked, text="It is broken.", by=lead, at=timezone.now())
        factories.member(project, f"member {n}")
        members.invite(project, email=f"{n}@example.org", roles={Role.ANNOTATOR}, by=vera)
        importing.start(project, upload=ContentFile(b"text\nhello\n", name="rows.csv"), by=lead)
        exporting.start(project, what="gold", file_format="csv", by=lead)
        content = {"text": f"It crashes, {n} times."}
        guidelines.add_example(
            draft, question_key="intent", content=content, value="complaint", rationale="It reports.", by=lead
        )
        made = factories.version(project, 1, n + 1, digest=f"{n:064}")
        project.memberships.update(acknowledged=made)
        for member in (vera, anna, ben):
            member.refresh_from_db()
        other = factories.project(f"Another {n}")
        factories.member(other, "vera")

    return add


def address(name: str, project: Project) -> str:
    if name == "cell":
        draw = Draw.objects.filter(wave__project=project, state="closed").order_by("-size").first()
        return reverse("agreement:cell", args=[project.uuid, draw.uuid, "intent", "praise", "complaint"])
    name, _question, query = name.partition("?")
    path = reverse(name, args=[] if name == "projects:project-list" else [project.uuid])
    return f"{path}?{query}".rstrip("?")


def asked(visitor: Client, url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    """The page, and the statements that it took when the banner is due to look for signs of life as well."""
    visitor.get(url)  # what is published is read once
    monkeypatch.setattr(health, "_remembered", (0, []))
    with CaptureQueriesContext(connection) as found:
        page = visitor.get(url)
    assert page.status_code == 200, url
    return page.content.decode(), [query["sql"] for query in found.captured_queries]


def test_every_list_costs_nine_statements_at_most_however_long_it_is(project, visitor, more, monkeypatch):
    def counted() -> dict[str, int]:
        return {name: len(asked(visitor, address(name, project), monkeypatch)[1]) for name in LISTS}

    more()
    one = counted()
    more()
    more()

    assert {name: n for name, n in one.items() if n > MOST} == {}
    assert counted() == one


def test_a_list_goes_on_behind_the_last_row_shown(project, visitor, more, monkeypatch, lead, anna, ben):
    more()
    disputes.rated(project, [anna, ben], {f"cell {n}": ("praise", "complaint") for n in range(3)})
    more()

    for name, size in PAGED.items():
        monkeypatch.setattr(size, 1)
        first, sql = asked(visitor, address(name, project), monkeypatch)
        second, more_sql = asked(visitor, following(first, address(name, project)), monkeypatch)
        assert [one for one in (*sql, *more_sql) if "OFFSET" in one.upper()] == [], name
        # Behind a cell are items, and beside them what was written for this confusion.
        assert len(more_sql) <= (MOST if name != "cell" else 14), name
        assert shown(first) != shown(second), name


def following(page: str, url: str) -> str:
    link = NEXT.search(page)
    assert link, f"{url} has no second page"
    return url.partition("?")[0] + link[1].replace("&amp;", "&")


def shown(page: str) -> Any:
    return re.search(r"<main.*</main>", page, re.S)[0]


def test_every_case_is_reached_page_by_page(project, visitor, more, monkeypatch, lead, anna, ben):
    monkeypatch.setattr("annotations.queue.PAGE", 2)
    for _time in range(3):
        more()
    url, seen = address("annotations:adjudication", project), []
    for _page in range(5):
        page, _sql = asked(visitor, url, monkeypatch)
        seen += re.findall(r"adjudication/([0-9a-f-]{36})/", shown(page))
        if not NEXT.search(page):
            break
        url = following(page, url)

    open_ones = Case.objects.open().exclude(first__member__alias="vera").exclude(second__member__alias="vera")
    assert sorted(dict.fromkeys(seen)) == sorted(str(case.uuid) for case in open_ones)
