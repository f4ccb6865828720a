"""From the opening page of an over-sampled wave to the two readings of its figure, the weighted one by hand."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from agreement import protocol_words, runs
from annotations.models import Draw
from projects.models import Question
from tests import factories
from tests.annotations.team import Team

# How the two raters answer: in the rare stratum half of it apart, in the common one nothing.
COMMON, RARE = 80, 10


def kappa(counts: Counter[tuple[str, str]]) -> float:
    total = sum(counts.values())
    observed = sum(n for (a, b), n in counts.items() if a == b) / total
    rows, columns = Counter[str](), Counter[str]()
    for (a, b), n in counts.items():
        rows[a] += n
        columns[b] += n
    expected = sum(rows[label] * columns[label] for label in rows) / total**2
    return (observed - expected) / (1 - expected)


def run_question(draw: Draw) -> Question:
    return Question.objects.get(version=draw.wave.version)


def test_an_over_sampled_wave_is_told_as_drawn_and_weighted_to_the_population(project, lead, anna, ben, client_of):
    metadata = [{"source": "common"}] * COMMON + [{"source": "rare"}] * RARE
    factories.items(project, COMMON + RARE, metadata=metadata)
    project.batches.update(metadata_fields=["source"])
    client, base = client_of(lead), f"/p/{project.uuid}"
    choices = {"scope": "all", "size": "", "share_percent": "10", "ratings_per_item": "2"}
    client.post(f"{base}/waves/new/", choices | {"strata_field": "source", "enriched": "rare = 40 %"})
    places: dict[str, list[str]] = {"common": [], "rare": []}

    def answer(member, assignment):
        """By an item's place among those of its stratum, the same whoever is asked first."""
        stratum, uuid = assignment.wave_item.stratum, str(assignment.item.uuid)
        if assignment.slot.draw_id is None:
            return {"intent": "praise"}
        if uuid not in places[stratum]:
            places[stratum].append(uuid)
        place = places[stratum].index(uuid)
        if stratum == "rare" and place % 2:
            return {"intent": "complaint" if member == anna else "question"}
        return {"intent": "praise" if place % 2 else "complaint"}

    team = Team([anna, ben], answer, at=timezone.now() - timedelta(hours=5))
    team.finish()
    draw = Draw.objects.get()
    drawn = Counter(draw.wave_items.values_list("stratum", flat=True))
    (run,) = runs.compute(draw, at=team.at)

    found = run.result["weighting"]
    pairs = {stratum: Counter[tuple[str, str]]() for stratum in drawn}
    for row in draw.wave_items.all():
        said = dict(row.annotations.values_list("member", "answers__intent"))
        pairs[row.stratum][said[anna.pk], said[ben.pk]] += 1
    as_drawn = kappa(pairs["common"] + pairs["rare"])
    weighted = Counter[tuple[str, str]]()
    for stratum, held in (("common", COMMON), ("rare", RARE)):
        for pair, n in pairs[stratum].items():
            weighted[pair] += n * held / drawn[stratum]  # one item stands for 1 / its probability
    assert (draw.state, dict(drawn)) == ("closed", {"common": 8, "rare": 4})
    assert found["as_drawn"]["value"] == pytest.approx(as_drawn)
    assert found["weighted"]["value"] == pytest.approx(kappa(weighted))
    assert as_drawn != pytest.approx(kappa(weighted))
    page = client.get(f"{base}/agreement/{draw.uuid}/intent/").content.decode()
    assert "weighted to the population" in page
    assert "“rare” was drawn with a share of its own, 40 %." in protocol_words.sentences(draw, [run_question(draw)])[0]


def test_the_weighted_figure_is_told_however_little_was_over_sampled(project, lead, anna, ben, client_of):
    """A draw that was declared enriched always has both readings; one in proportion has one."""
    metadata = [{"source": "common"}] * 40 + [{"source": "rare"}] * 10
    readings = []
    for prefix, enriched in (("a", "rare = 2x"), ("b", "")):
        factories.items(project, 50, prefix=prefix, metadata=metadata)
        project.batches.update(metadata_fields=["source"])
        choices = {"scope": "all", "size": "", "share_percent": "10", "ratings_per_item": "2"}
        client_of(lead).post(
            f"/p/{project.uuid}/waves/new/", choices | {"strata_field": "source", "enriched": enriched}
        )
        team = Team([anna, ben], at=timezone.now() - timedelta(hours=5))
        team.finish()
        (run,) = runs.compute(Draw.objects.order_by("wave__number").last(), at=team.at)
        readings.append(run.result["weighting"] is not None)

    assert readings == [True, False]
