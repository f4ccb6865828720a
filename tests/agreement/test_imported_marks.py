"""Wherever a figure of imported ratings stands, it says that blindness and random draw are not known here."""

import csv
import io
import json

import pytest
from django.urls import reverse
from django.utils import timezone

from agreement import kits, runs
from annotations import adjudication, imported, publishing
from annotations.models import Case, Draw
from projects import drafts
from projects.models import Membership
from tests.agreement import rows
from tests.annotations import ratings_files

pytestmark = pytest.mark.django_db
MARK = "Imported: blindness and random draw are not known here."
PAIR = ("complaint", "praise")


def brought(lead: Membership) -> Draw:
    """Two raters who differ on one item of three, its conflict decided and an example of 2.0."""
    ratings = "id,text,lang,rater,label\n1,a,de,Ann,praise\n1,,,Bob,complaint\n"
    ratings += "".join(f"{n},text {n},en,{who},praise\n" for n in (2, 3) for who in ("Ann", "Bob"))
    draw = ratings_files.bring(lead, ratings).draw
    runs.compute(draw, at=timezone.now())
    example = adjudication.ExampleText(content={"text": "a"})
    adjudication.resolve(
        Case.objects.get(draw=draw),
        value="praise",
        rationale="So.",
        cause="slip",
        example=example,
        by=lead,
        at=timezone.now(),
    )
    return draw


def measured(lead: Membership, anna: Membership, ben: Membership) -> Draw:
    said = [{anna: "praise", ben: "praise"}, {anna: "praise", ben: "complaint"}]
    draw = rows.draw(lead.project.versions.published().get(), said, by=anna, closing="complete")
    runs.compute(draw, at=timezone.now())
    return draw


def places(draw: Draw) -> dict[str, str]:
    """Every address at which a figure of the draw stands."""
    project, of_draw = draw.wave.project.uuid, [draw.wave.project.uuid, draw.uuid, "intent"]
    report = {
        kind: reverse("agreement:report-file", args=[project, kind]) for kind in ("json", "csv", "latex", "methods")
    }
    merge = "?change=merge&label=praise&into=complaint"
    return report | {
        "home": reverse("agreement:home", args=[project]),
        "agreement": reverse("agreement:agreement", args=[project]),
        "draw": reverse("agreement:draw", args=of_draw),
        "cell": reverse("agreement:cell", args=[*of_draw, *PAIR]),
        "field": reverse("agreement:by-field", args=of_draw),
        "report": reverse("agreement:report", args=[project]),
        "tables": reverse("agreement:report", args=[project]) + "?tables=yes",
        "what-if": reverse("agreement:label-changes", args=[project, "intent"]) + merge,
        "wave": reverse("annotations:wave", args=[project, draw.wave.uuid]),
        "api": reverse("api:agreement", args=[project]),
    }


def test_every_page_and_file_with_the_figure_says_that_it_was_imported(client_of, lead) -> None:
    draw, client = brought(lead), client_of(lead)

    pages = {name: client.get(address) for name, address in places(draw).items()}

    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    assert [name for name, page in pages.items() if MARK not in page.content.decode()] == []


def test_the_effect_of_an_example_says_so_of_the_rate_before_it(client_of, lead) -> None:
    brought(lead)
    draft = drafts.current(lead.project)
    second = publishing.publish(draft, change="material", reason="So.", by=lead, at=timezone.now())
    (example,) = second.examples.all()
    client, project = client_of(lead), lead.project.uuid

    for address in (
        reverse("agreement:effect", args=[project]),
        reverse("agreement:effect-example", args=[project, example.lineage]),
    ):
        assert MARK in client.get(address).content.decode()


def test_what_was_measured_here_says_nothing_of_it(client_of, lead, anna, ben) -> None:
    draw, client = measured(lead, anna, ben), client_of(lead)
    drafts.draft_of(lead.project, by=lead)

    for address in places(draw).values():
        assert MARK not in client.get(address).content.decode()


def test_files_mark_each_row_and_draw(client_of, lead, anna, ben) -> None:
    first, second = brought(lead), measured(lead, anna, ben)
    client, marked = client_of(lead), {str(first.uuid): MARK, str(second.uuid): ""}
    found = places(first)

    table = csv.DictReader(io.StringIO(client.get(found["csv"]).content.decode()))
    report = json.loads(client.get(found["json"]).content)
    answer = client.get(found["api"]).json()
    kit = [row for _n, row in kits.rows(lead.project, []) if row["record"] == "draw"]

    assert {(row["draw"], row["note"]) for row in table} == set(marked.items())
    assert {draw["draw"]: draw["note"] for draw in report["draws"]} == marked
    assert {run["draw"]: run["note"] for run in answer} == marked
    assert {run["draw"]: run["imported"] for run in answer} == {row["draw"]: row["imported"] for row in kit}
    assert (imported.mark(first), imported.mark(second)) == (MARK, "")
