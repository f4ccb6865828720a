"""From the opening page of a wave with an expert to the figure: the others beside one named person."""

import json
import re
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from agreement import runs
from annotations.models import Draw
from tests import factories
from tests.annotations.team import Team

CHOICES = {"scope": "all", "size": "", "share_percent": "50", "ratings_per_item": "3"}


@pytest.fixture
def cara(project, version):
    return factories.member(project, "cara")


def test_an_expert_named_at_the_opening_rates_all_of_the_overlap_of_a_wave_given_to_three(
    project, lead, anna, ben, cara, client_of
):
    factories.items(project, 24)
    factories.member(project, "dora")
    client, base = client_of(lead), f"/p/{project.uuid}"
    made = client.post(f"{base}/waves/new/", CHOICES | {"expert": str(cara.uuid)})
    people = [str(one.uuid) for one in (anna, ben, cara)]
    client.post(f"{made['Location']}people/", {"members": people})

    def answer(member, assignment):
        """Ben is of another mind on every third item; anna and the expert agree."""
        number = assignment.item.number
        other = member == ben and number % 3 == 0
        return {"intent": "question" if other else ("praise" if number % 2 else "complaint")}

    team = Team([anna, ben, cara], answer, at=timezone.now() - timedelta(hours=5))
    team.finish()
    draw = Draw.objects.get()
    (run,) = runs.compute(draw, at=team.at)

    pairs = Counter(
        (said[other.pk] == said[cara.pk])
        for row in draw.wave_items.all()
        for said in [dict(row.annotations.values_list("member", "answers__intent"))]
        for other in (anna, ben)
    )
    assert (draw.closing, draw.protocol["expert"], pairs.total()) == ("complete", str(cara.uuid), 24)
    assert run.result["expert"] == {"rater": str(cara.uuid), "rated": 12}
    assert run.result["statistics"]["expert_percent_agreement"]["value"] == pytest.approx(pairs[True] / 24)
    assert run.result["headline"]["key"] == "expert_kappa_pooled"
    page = client.get(f"{base}/agreement/{draw.uuid}/intent/").content.decode()
    assert "is the expert of this draw and rated 12" in page, re.findall(r"[^<>]*expert[^<>]*", page)[:6]


def test_the_forecast_says_how_an_expert_comes_to_rate_all_of_it(project, lead, anna, ben, cara, client_of):
    factories.items(project, 24)

    page = (
        client_of(lead)
        .get(f"/p/{project.uuid}/waves/new/", CHOICES | {"expert": str(cara.uuid)}, headers={"HX-Request": "true"})
        .content.decode()
    )

    assert "on what cara rates of the overlap. For all of it, give the wave to 3 people, cara among them." in page


def test_who_does_not_label_here_is_no_expert(project, lead, anna, client_of):
    factories.items(project, 4)
    client = client_of(lead)

    page = client.post(f"/p/{project.uuid}/waves/new/", CHOICES | {"expert": str(lead.uuid)})
    answer = client.post(
        f"/api/v1/projects/{project.uuid}/waves/",
        json.dumps({"expert": str(lead.uuid)}),
        content_type="application/json",
    )

    assert (page.status_code, list(page.context["form"].errors)) == (422, ["expert"])
    assert answer.status_code == 422
    assert "The expert is nobody who labels in this project" in answer.json()["error"]["message"]
