"""The effect pages: who may open them, what they say, and the way from a cell to the next version's cell."""

from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import runs
from annotations import adjudication, conflicts, publishing
from annotations.models import Case, Draw
from projects import drafts, guidelines
from projects.models import GuidelineVersion, Membership, Project
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
BEFORE = [("praise", "complaint")] * 3 + [("praise", "praise")] * 7
AFTER = [("praise", "complaint")] + [("praise", "praise")] * 19


def closed(version: GuidelineVersion, people: list[Membership], said: list[tuple[str, str]]) -> Draw:
    draw = rows.draw(version, [dict(zip(people, each, strict=True)) for each in said], by=people[0], closing="complete")
    conflicts.open_cases(draw, at=LATER)
    runs.compute(draw, at=LATER)
    return draw


@pytest.fixture
def case(version, lead, anna, ben) -> Case:
    """A decided conflict under 1.0 that became an example."""
    case = Case.objects.filter(draw=closed(version, [anna, ben], BEFORE)).earliest("pk")
    adjudication.resolve(
        case,
        value="complaint",
        rationale="It reports a fault.",
        cause="guideline_silent",
        example=adjudication.ExampleText(content={"text": "It logs me out."}),
        by=lead,
        at=LATER,
    )
    return case


@pytest.fixture
def second(case, lead, anna, ben) -> GuidelineVersion:
    draft = drafts.current(lead.project)
    second = publishing.publish(draft, change="material", reason="Faults are settled.", by=lead, at=LATER)
    closed(second, [anna, ben], AFTER)
    return second


def pages(project: Project, version: GuidelineVersion) -> dict[str, str]:
    return {
        "effect": reverse("agreement:effect", args=[project.uuid]),
        "version": reverse("agreement:effect-version", args=[project.uuid, version.uuid]),
        "example": reverse("agreement:effect-example", args=[project.uuid, version.examples.get().lineage]),
    }


def text(response) -> str:
    return " ".join(response.content.decode().split())


class Links(HTMLParser):
    """The addresses of the links of a page."""

    def __init__(self, response) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(response.content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (href := dict(attrs).get("href")):
            self.found.append(href)


def follow(client, start: str, *steps: str) -> list[str]:
    """Click through pages from `start`: each step is the beginning of an address that the page must link to."""
    walked = [start]
    for step in steps:
        response = client.get(walked[-1])
        assert response.status_code == 200, walked
        links = [link for link in Links(response).found if link.startswith(step)]
        assert links, (walked[-1], step)
        walked.append(links[0])
    assert client.get(walked[-1]).status_code == 200
    return walked


@pytest.mark.parametrize("page", ["effect", "version", "example"])
@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, project, second, page, who, status):
    assert client_of(request.getfixturevalue(who)).get(pages(project, second)[page]).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, project, second):
    for address in pages(project, second).values():
        assert client.get(address).url == f"{reverse('projects:login')}?next={address}"


def test_a_neighbours_examples_and_versions_do_not_exist(client_of, project, second):
    neighbour = factories.version(factories.project("Neighbours")).project
    nora = client_of(factories.member(neighbour, "nora", "lead"))
    addresses = {
        name: url.replace(str(project.uuid), str(neighbour.uuid)) for name, url in pages(project, second).items()
    }

    assert {name: nora.get(url).status_code for name, url in addresses.items()} == {
        "effect": 200,
        "version": 404,
        "example": 404,
    }
    assert "It logs me out." not in text(nora.get(addresses["effect"]))


def test_a_draft_has_no_effect_page(client_of, project, second, lead):
    draft = drafts.draft_of(project, by=lead)

    assert client_of(lead).get(reverse("agreement:effect-version", args=[project.uuid, draft.uuid])).status_code == 404


def test_the_page_says_rate_interval_and_count_of_both_sides(client_of, project, second, lead):
    page = text(client_of(lead).get(pages(project, second)["effect"]))

    for wanted in ("30.0 %", "3 of 10 items", "5.0 %", "1 of 20 items", "95 % between 10.8 and 60.3", "−25.0"):
        assert wanted in page, wanted


def test_before_there_is_an_example_the_page_says_what_to_do(client_of, version, lead):
    page = text(client_of(lead).get(reverse("agreement:effect", args=[version.project.uuid])))

    assert "No published example yet" in page


def test_from_a_cell_to_the_next_versions_cell_in_four_clicks(client_of, project, case, second, lead):
    old, new = case.draw, Draw.objects.get(wave__version=second)
    base = f"/p/{project.uuid}"
    cell = "/intent/cell/complaint/praise/"

    walked = follow(
        client_of(lead),
        f"{base}/agreement/{old.uuid}/intent/",
        f"{base}/agreement/{old.uuid}{cell}",  # the cell of the confusion table, to its cases
        f"{base}/adjudication/{case.uuid}/",  # the case with its resolution
        f"{base}/effect/example/",  # the example, and what became of the confusion
        f"{base}/agreement/{new.uuid}{cell}",  # the next version's cell
    )

    assert len(walked) - 1 == 4


def test_and_back_again(client_of, project, case, second, lead):
    new = Draw.objects.get(wave__version=second)
    base = f"/p/{project.uuid}"
    cell = "/intent/cell/complaint/praise/"
    client = client_of(lead)
    to_example = (f"{base}/agreement/{new.uuid}{cell}", f"{base}/effect/example/")

    for last in (f"{base}/adjudication/{case.uuid}/", f"{base}/agreement/{case.draw.uuid}{cell}"):
        assert len(follow(client, f"{base}/agreement/{new.uuid}/intent/", *to_example, last)) - 1 == 3


def test_the_version_page_leads_to_the_effect_and_back(client_of, project, case, second, lead, anna):
    base = f"/p/{project.uuid}"
    version = f"{base}/guideline/{second.uuid}/"

    follow(client_of(lead), version, f"{base}/effect/example/", version)
    follow(
        client_of(lead), f"{base}/adjudication/{case.uuid}/", f"{version}#example-{case.resolutions.get().example.uuid}"
    )
    assert f'id="example-{case.resolutions.get().example.uuid}"' in text(client_of(lead).get(version))
    assert f"{base}/effect/" not in text(client_of(anna).get(version))


def test_an_admin_who_does_not_adjudicate_gets_no_link_to_cases(client_of, project, case, second, admin):
    page = text(client_of(admin).get(pages(project, second)["example"]))

    assert "It reports a fault." in page
    assert str(case.uuid) not in page


def test_as_many_queries_for_three_examples_as_for_one(client_of, project, second, lead, anna, ben):
    client = client_of(lead)

    def count(address: str) -> int:
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(address)
        return len(queries)

    one = count(pages(project, second)["version"])
    draft = drafts.draft_of(project, by=lead)
    for n in range(2):
        guidelines.add_example(
            draft,
            question_key="intent",
            content={"text": f"More {n}"},
            value="question",
            confused_with="praise",
            by=lead,
        )
    third = publishing.publish(draft, change="material", reason="More.", by=lead, at=LATER)
    closed(third, [anna, ben], AFTER)

    three = count(reverse("agreement:effect-version", args=[project.uuid, third.uuid]))

    assert three == one
