"""Strata, a minimum of each and over-sampling: what is chosen when a wave opens, on the page and by the API."""

from collections import Counter
from decimal import Decimal

import pytest

from annotations import draws, releasing, verifying
from annotations.forms.waves import read_enriched, write_enriched
from annotations.models import Draw, Wave, WaveItem
from projects.errors import Invalid
from projects.models import Item, Membership, Project
from tests import factories

AT = factories.NOW
CHOICES = {"scope": "all", "size": "", "share_percent": "10", "ratings_per_item": "2", "strata_field": "source"}


def given(project: Project, **counts: int) -> None:
    metadata = [{"source": source} for source, n in counts.items() for _ in range(n)]
    factories.items(project, len(metadata), prefix=f"n{Item.objects.count()}", metadata=metadata)
    project.batches.update(metadata_fields=["source", "language"])


def overlap(wave: Wave) -> dict[str, int]:
    return dict(Counter(WaveItem.objects.filter(wave=wave, draw__isnull=False).values_list("stratum", flat=True)))


def opened(project: Project, lead: Membership, **choices: object) -> Wave:
    return releasing.open_wave(
        project, by=lead, at=AT, **{"share_percent": Decimal(10), "strata_field": "source"} | choices
    )


def test_a_factor_and_an_own_share_over_sample_and_every_item_keeps_its_probability(project, lead):
    given(project, mail=100, chat=40, phone=10)

    wave = opened(project, lead, enriched={"chat": {"factor": "3"}, "phone": {"share_percent": "50"}})

    assert overlap(wave) == {"mail": 10, "chat": 12, "phone": 5}
    assert dict(wave.wave_items.values_list("stratum", "probability").distinct()) == {
        "mail": 0.1,
        "chat": 0.3,
        "phone": 0.5,
    }
    assert wave.draw.protocol["enriched"] == {"chat": {"factor": "3"}, "phone": {"share_percent": "50"}}
    draws.close(wave.draw, closing="early", reason="to replay it", by=lead, at=AT)
    assert verifying.verify(Draw.objects.get()).same


def test_the_share_that_was_declared_is_part_of_what_is_replayed(project, lead):
    given(project, mail=100, chat=40)
    wave = opened(project, lead, enriched={"chat": {"factor": "3"}})
    draws.close(wave.draw, closing="early", reason="to replay it", by=lead, at=AT)
    Draw.objects.update(protocol=wave.draw.protocol | {"enriched": {"chat": {"factor": "2"}}})

    assert verifying.verify(Draw.objects.get()).sentence == (
        "The protocol declares other shares than the draw was made with."
    )


def test_a_minimum_of_each_stratum(project, lead):
    given(project, mail=90, chat=8, phone=2)

    assert overlap(opened(project, lead, strata_minimum=3)) == {"mail": 5, "chat": 3, "phone": 2}


def test_an_enriched_draw_and_a_pilot_use_up_nothing_of_the_share_of_what_follows(project, lead):
    given(project, mail=30, chat=10)
    opened(project, lead, share_percent=Decimal(100), pilot=True)
    given(project, mail=50, chat=50)
    opened(project, lead, enriched={"chat": {"factor": "5"}})
    given(project, mail=50, chat=50)

    assert overlap(opened(project, lead)) == {"mail": 5, "chat": 5}


def test_batches_of_an_enriched_draw_are_counted_together(project, lead):
    for _ in range(5):
        given(project, mail=3, chat=1)
        opened(project, lead, enriched={"chat": {"share_percent": "40"}})

    drawn = Counter(WaveItem.objects.filter(draw__isnull=False).values_list("stratum", flat=True))
    assert drawn.total() == 4  # 10 % of 15 and 40 % of 5: 3.5
    assert drawn["chat"] == 2


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"strata_field": "mood"}, "No imported item has a metadata field “mood”."),
        ({"strata_field": "", "strata_minimum": 2}, "needs strata: choose the field"),
        ({"strata_minimum": -1}, "A minimum of -1 per stratum: expected 0 to 10000."),
        ({"enriched": {"chat": {"factor": "0.5"}}}, "a factor of 0.5: expected 1 to 1000"),
        ({"enriched": {"chat": {"factor": "lots"}}}, "a factor of lots: expected 1 to 1000"),
        ({"enriched": {"chat": {"share_percent": "101"}}}, "a share of 101 %: expected 0 to 100"),
        ({"enriched": {"chat": {"weight": "2"}}}, "Stratum “chat”: expected"),
        ({"enriched": ["chat"]}, "Over-sampled strata: expected"),
        ({"enriched": {"chat": {"factor": "2"}}, "share_percent": Decimal(0)}, "Give the rest a share"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(project, lead, choices, sentence):
    given(project, mail=10, chat=10)

    with pytest.raises(Invalid) as refusal:
        opened(project, lead, **choices)

    assert sentence in refusal.value.message
    assert not Wave.objects.exists()


def test_over_sampling_is_written_one_stratum_a_line():
    text = "threat = 3x\n a = b = ×2,5 \nchat=50 %\n\nphone = 12.5%"
    found = {
        "threat": {"factor": "3"},
        "a = b": {"factor": "2.5"},
        "chat": {"share_percent": "50"},
        "phone": {"share_percent": "12.5"},
    }

    assert read_enriched(text) == found
    assert read_enriched(write_enriched(found)) == found


# -- the page ----------------------------------------------------------------------------------------------------------


def page(project: Project) -> str:
    return f"/p/{project.uuid}/waves/new/"


def test_the_forecast_shows_what_each_stratum_gives(project, lead, anna, ben, client_of):
    given(project, mail=100, chat=40)
    sent = CHOICES | {"enriched": "chat = 3x\nfax = 50 %"}

    said = client_of(lead).get(page(project), sent, headers={"HX-Request": "true"}).content.decode()

    assert "draws 22 of them at random" in said
    assert '<th scope="row">chat</th><td class="number">40</td><td class="number">12</td>' in said
    assert "30.0 %" in said
    assert "No fresh item has “fax”: nothing of it can be over-sampled." in said


def test_the_forecast_says_that_the_overlap_is_too_small_for_the_minimum(project, lead, anna, ben, client_of):
    given(project, mail=100, chat=40)

    said = (
        client_of(lead)
        .get(page(project), CHOICES | {"strata_minimum": "9"}, headers={"HX-Request": "true"})
        .content.decode()
    )

    assert "The overlap is too small for 9 of each stratum: " in said


def test_an_enriched_wave_is_opened_from_the_page_and_its_page_says_so(project, lead, client_of):
    given(project, mail=100, chat=40)
    client = client_of(lead)

    response = client.post(page(project), CHOICES | {"strata_minimum": "2", "enriched": "chat = 3x"})

    wave = Wave.objects.get()
    assert response.status_code == 302
    assert overlap(wave) == {"mail": 10, "chat": 12}
    said = client.get(response["Location"]).content.decode()
    assert "“chat” over-sampled by 3" in said
    assert "at least 2 of each" in said


def test_a_line_that_cannot_be_read_comes_back_at_its_field_and_unfolded(project, lead, client_of):
    given(project, mail=10, chat=10)

    response = client_of(lead).post(page(project), CHOICES | {"enriched": "chat twice"})

    assert response.status_code == 422
    assert response.context["form"].errors["enriched"] == [
        "“chat twice”: expected a value of the field, =, and a factor (3x) or a share (50 %)."
    ]
    assert '<details class="more" open>' in response.content.decode()


def test_the_api_opens_an_enriched_wave_and_shows_its_plan_once_closed(project, lead, client_of):
    given(project, mail=100, chat=40)
    client, url = client_of(lead), f"/api/v1/projects/{project.uuid}/waves/"
    sent = {"share_percent": "10", "strata_field": "source", "enriched": {"chat": {"factor": "3"}}}

    made = client.post(url, sent, content_type="application/json").json()
    draws.close(Draw.objects.get(), closing="early", reason="enough", by=lead, at=AT)

    assert (made["draw"]["size"], made["draw"]["plan"]) == (22, None)
    assert client.get(f"{url}{made['uuid']}/").json()["draw"]["plan"]["own"] == {"chat": "30"}
    refused = client.post(url, sent | {"enriched": {"chat": 3}}, content_type="application/json")
    assert (refused.status_code, "Stratum “chat”" in refused.json()["error"]["message"]) == (422, True)
