"""The waves' pages: what opening one means, how far it is, ending it, its proof; blind for leads who annotate."""

import csv
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import draws, labelling, opening, releasing, serving
from annotations.enums import WaveState
from annotations.models import Annotation, Draw, Seat, Slot, Wave, WaveItem
from projects import jobs
from projects.enums import JobKind
from projects.models import Item, Membership, Project
from tests import factories
from tests.annotations.team import Team

HX = {"HX-Request": "true"}
CHOICES = {"scope": "all", "size": "", "share_percent": "20", "ratings_per_item": "2"}


def url(name: str, member: Membership, *args: object) -> str:
    return reverse(f"annotations:{name}", args=[member.project.uuid, *args])


def opened(project: Project, lead: Membership, count: int = 20, share: int = 20) -> Wave:
    factories.items(project, count, prefix=f"p{Item.objects.count()}")
    return releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(share))


def labelled(*members: Membership, turns: int | None = None) -> Team:
    team = Team(members, at=timezone.now() - timedelta(hours=2))
    team.work(turns)
    return team


@pytest.fixture
def both(project: Project, version: object) -> Membership:
    return factories.member(project, "bo", "lead", "annotator")


# -- opening ----------------------------------------------------------------------------------------------------------


def test_the_first_wave_is_suggested_as_a_pilot_with_the_protocol_s_numbers(project, lead, client_of):
    factories.items(project, 30)
    project.protocol |= {"share_percent": "50", "ratings_per_item": 3}
    project.save()

    form = client_of(lead).get(url("wave-open", lead)).context["form"]

    strata = {"strata_field": "", "strata_minimum": None, "enriched": "", "expert": ""}
    assert form.initial == {"scope": "pilot", "size": 10, "share_percent": "50", "ratings_per_item": 3, **strata}


def test_opening_says_in_words_what_will_happen(project, lead, anna, ben, client_of):
    factories.items(project, 40)
    project.protocol |= {"minimum_n": 8}
    project.save()

    page = client_of(lead).get(url("wave-open", lead), CHOICES, headers=HX).content.decode()

    assert page.startswith('<div id="forecast"')
    assert "40 items are released for labelling under guideline 1.0." in page
    assert "draws 8 of them at random to be rated by 2 people each" in page
    assert "That makes 48 labels, about 24 each for 2 annotators." in page
    assert "notice--warn" not in page


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"share_percent": "0"}, "None of them is rated twice"),
        ({"share_percent": "100"}, "Raters know that they are measured"),
        ({"share_percent": "1"}, "nothing of this wave would be measured"),
        ({"ratings_per_item": "4"}, "The project has 2 annotators, and every overlap item needs 4"),
        ({"scope": "some", "size": "41"}, "Only 40 fresh items are there, and the wave needs 41"),
        ({"scope": "some", "size": "soon"}, "40 items are released"),
        ({"share_percent": "NaN", "ratings_per_item": "99"}, "draws 4 of them at random to be rated by 2 people"),
    ],
)
def test_the_forecast_warns_and_bears_what_is_half_typed(project, lead, anna, ben, client_of, choices, sentence):
    factories.items(project, 40)

    page = client_of(lead).get(url("wave-open", lead), CHOICES | choices, headers=HX).content.decode()

    assert sentence in page


def test_the_forecast_says_that_a_gate_would_hold_it(project, lead, anna, client_of):
    project.protocol["questions"] = {"intent": {"threshold": 0.7, "threshold_on": "low"}}
    project.save()
    opened(project, lead)
    factories.items(project, 10, prefix="next")

    page = client_of(lead).get(url("wave-open", lead), CHOICES, headers=HX).content.decode()

    assert "It is held until the gate" in page


def test_an_overlap_too_small_for_the_gate_is_said_beforehand(project, lead, anna, ben):
    factories.items(project, 100)
    project.protocol |= {"minimum_n": 10}

    small = opening.forecast(project, size=90, share_percent=Decimal(10), ratings_per_item=2).warnings
    large = opening.forecast(project, size=100, share_percent=Decimal(10), ratings_per_item=2).warnings

    assert [("below 10 measured items" in one, "has 9" in one) for one in small] == [(True, True)]
    assert large == []


def test_the_forecast_counts_what_was_released_before_with_this_share(project, lead, anna, ben, client_of):
    for _ in range(2):
        opened(project, lead, 4, share=10)  # 0 and 1 of them
    factories.items(project, 4, prefix="third")

    forecast = opening.forecast(project, size=None, share_percent=Decimal(10), ratings_per_item=2)
    wave = releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(10))

    assert wave.draw.size == 0
    assert "nothing of this wave would be measured" in forecast.warnings[0]


@pytest.mark.parametrize(("scope", "size", "pilot"), [("pilot", 6, True), ("some", 6, False), ("all", 20, False)])
def test_opening_a_wave(project, lead, client_of, scope, size, pilot):
    factories.items(project, 20)

    response = client_of(lead).post(url("wave-open", lead), CHOICES | {"scope": scope, "size": "6"})

    wave = Wave.objects.get()
    assert (response.status_code, response["Location"]) == (302, url("wave", lead, wave.uuid))
    assert (wave.state, wave.size, wave.pilot, wave.opened_by) == ("open", size, pilot, lead)
    assert wave.share_percent == 20


@pytest.mark.parametrize(
    ("choices", "field"),
    [
        ({"scope": "pilot", "size": ""}, "size"),
        ({"scope": "pilot", "size": "0"}, "size"),
        ({"share_percent": "101"}, "share_percent"),
        ({"ratings_per_item": "1"}, "ratings_per_item"),
        ({"scope": "some of it"}, "scope"),
    ],
)
def test_a_choice_out_of_range_comes_back_at_its_field(project, lead, client_of, choices, field):
    factories.items(project, 20)

    response = client_of(lead).post(url("wave-open", lead), CHOICES | choices)

    assert (response.status_code, list(response.context["form"].errors)) == (422, [field])
    assert not Wave.objects.exists()


def test_too_few_fresh_items_are_said_in_the_form_with_their_numbers(project, lead, anna, client_of):
    opened(project, lead, 5, share=0)
    labelled(anna)
    draws.close_due(at=timezone.now())
    factories.items(project, 3, prefix="late")

    response = client_of(lead).post(url("wave-open", lead), CHOICES | {"scope": "some", "size": "10"})

    assert response.status_code == 409
    assert response.context["form"].non_field_errors() == [
        "Only 3 fresh items are left and this wave needs 10: import 7 more, or make the wave smaller. "
        "Not eligible: 5 × rated before, as it is or in an earlier text."
    ]
    assert url("not-eligible", lead, "rated") in response.content.decode()


def test_the_items_behind_a_reason_are_listed(project, lead, anna, client_of, monkeypatch):
    monkeypatch.setattr("annotations.views.waves.PAGE", 2)
    opened(project, lead, 3, share=0)
    labelled(anna)
    draws.close_due(at=timezone.now())
    client = client_of(lead)
    first = client.get(url("not-eligible", lead, "rated")).content.decode()

    second = client.get(url("not-eligible", lead, "rated"), {"after": re.search(r"after=(\d+)", first)[1]})

    assert [name for name in ("p0 0", "p0 1", "p0 2") if name in first] == ["p0 0", "p0 1"]
    assert "p0 2" in second.content.decode()
    assert client.get(url("not-eligible", lead, "boring")).status_code == 404


def test_the_ledger_lists_all_with_ids_and_reasons_and_each_reason_is_a_link(project, lead, anna, client_of):
    opened(project, lead, 3, share=0)
    labelled(anna)
    draws.close_due(at=timezone.now())
    opened(project, lead, 2)
    rated, waiting = Item.objects.get(external_id="p0-1"), Item.objects.get(external_id="p3-0")
    client = client_of(lead)

    page = client.get(url("ledger", lead)).content.decode()
    filtered = client.get(url("not-eligible", lead, "open_wave")).content.decode()

    assert "0 of 5 items are fresh." in page
    assert f'<a href="{url("not-eligible", lead, "rated")}">3 × rated before' in page
    assert [str(one.uuid) in page for one in (rated, waiting)] == [True, True]
    assert [str(one.uuid) in filtered for one in (rated, waiting)] == [False, True]
    assert f'href="{url("not-eligible", lead, "open_wave")}" aria-current="page"' in filtered


def test_the_ledger_is_a_file_and_a_list_of_the_api(project, lead, anna, client_of):
    opened(project, lead, 3, share=0)
    labelled(anna)
    draws.close_due(at=timezone.now())
    opened(project, lead, 2)
    client = client_of(lead)

    client.post(url("exports", lead), {"what": "ledger", "file_format": "csv"})
    jobs.run_waiting(at=timezone.now())
    job = project.jobs.get(kind=JobKind.EXPORT)
    lines = b"".join(client.get(url("export-file", lead, job.uuid))).decode().splitlines()
    listed = client.get(f"/api/v1/projects/{project.uuid}/waves/not-eligible/", {"reason": "rated"}).json()

    item = Item.objects.get(external_id="p0-0")
    assert (lines[0], len(lines)) == ("item,item_id,reason,why,same_as", 6)
    assert lines[1].startswith(f"{item.uuid},p0-0,rated,")
    assert listed["results"][0] == {"item": str(item.uuid), "item_id": "p0-0", "reason": "rated", "same_as": None}
    assert len(listed["results"]) == 3
    assert client.get(f"/api/v1/projects/{project.uuid}/waves/not-eligible/", {"reason": "x"}).status_code == 422


def test_the_ledger_names_the_item_whose_content_is_the_same(project, lead, client_of):
    wave = opened(project, lead, 2)
    first, twin = factories.items(project, 2, prefix="twins")
    Item.objects.filter(pk=twin.pk).update(folded_hash=first.folded_hash)
    served = wave.wave_items.earliest("pk").item
    Item.objects.filter(pk=first.pk).update(folded_hash=served.folded_hash)
    client = client_of(lead)

    page = client.get(url("not-eligible", lead, "same_content")).content.decode()
    client.post(url("exports", lead), {"what": "ledger", "file_format": "csv"})
    jobs.run_waiting(at=timezone.now())
    file = client.get(url("export-file", lead, project.jobs.get(kind=JobKind.EXPORT).uuid))

    assert f'<a href="{url("item-history", lead, served.uuid)}">the other item</a>' in page
    named = {row["item"]: row["same_as"] for row in csv.DictReader(b"".join(file).decode().splitlines())}
    assert named.pop(str(first.uuid)) == str(served.uuid)
    assert named[str(served.uuid)] == ""
    assert client.get(f"/api/v1/projects/{project.uuid}/waves/not-eligible/").json()["results"][-1]["same_as"] == str(
        served.uuid
    )


def test_the_ledger_costs_the_same_with_one_item_and_with_many(project, lead, client_of):
    client, counts = client_of(lead), []
    for more in (1, 12):
        opened(project, lead, more)
        with CaptureQueriesContext(connection) as queries:
            client.get(url("ledger", lead))
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 11


def test_where_every_item_is_fresh_the_ledger_says_so(project, version, lead, client_of):
    factories.items(project, 2)

    assert "Every item is fresh" in client_of(lead).get(url("ledger", lead)).content.decode()


def test_nobody_learns_from_the_ledger_which_items_of_an_open_wave_are_rated(project, lead, anna, both, client_of):
    opened(project, lead, 6, share=50)
    labelled(anna, turns=2)
    client = client_of(both)

    assert "No item is left out" in client.get(url("not-eligible", both, "rated")).content.decode()
    assert "6 × in a wave that is open" in client.get(url("wave-open", both)).content.decode()


def test_without_a_guideline_opening_says_what_to_do(project, client_of):
    lead = factories.member(project, "lea", "lead")
    factories.items(project, 5)

    page = client_of(lead).get(url("wave-open", lead)).content.decode()

    assert "publish its first version" in page


# -- a large wave -----------------------------------------------------------------------------------------------------


def test_a_large_wave_is_filled_by_the_worker(project, lead, client_of, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    client = client_of(lead)

    client.post(url("wave-open", lead), CHOICES)
    wave = Wave.objects.get()
    before = client.get(url("wave", lead, wave.uuid)).content.decode()
    jobs.run_waiting(at=timezone.now())

    job = project.jobs.get(kind=JobKind.OPEN_WAVE)
    assert f'id="job-{job.uuid}"' in before
    assert (job.state, job.message) == ("done", "")
    wave.refresh_from_db()
    assert (wave.state, Slot.objects.count(), wave.overlap_all, wave.single_all) == ("open", 24, 8, 16)


def test_a_request_for_a_large_wave_looks_at_a_few_items_and_draws_nothing(project, lead, client_of, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    client = client_of(lead)

    client.post(url("wave-open", lead), CHOICES)

    wave = Wave.objects.get()
    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    assert (wave.state, wave.size, WaveItem.objects.count(), Draw.objects.count()) == ("opening", 0, 0, 0)
    assert "just drawing" in page
    assert client.get(url("waves", lead)).status_code == 200


def test_a_few_of_many_items_are_drawn_by_the_worker_too(project, lead, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)

    wave = opening.open_wave(project, by=lead, at=timezone.now(), size=3, share_percent=Decimal(100))
    jobs.run_waiting(at=timezone.now())

    wave.refresh_from_db()
    assert (wave.state, wave.size, wave.draw.size, wave.overlap_all) == ("open", 3, 3, 6)


def test_the_protocol_of_a_large_wave_is_that_of_the_request(project, lead, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    wave = opening.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(20))
    project.protocol |= {"minimum_n": 77, "window_minutes": 1}
    project.save()

    jobs.run_waiting(at=timezone.now())

    wave.refresh_from_db()
    assert wave.draw.protocol["minimum_n"] != 77
    assert wave.draw.protocol["window_minutes"] == wave.window_minutes != 1


def test_more_than_there_are_of_many_items_are_refused_at_once(project, lead, client_of, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)

    with pytest.raises(releasing.TooFewFresh, match="Only 20"):
        opening.open_wave(project, by=lead, at=timezone.now(), size=21)

    assert not Wave.objects.exists()


def test_a_large_wave_whose_items_were_taken_meanwhile_is_called_off_and_says_why(
    project, lead, client_of, monkeypatch
):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    client = client_of(lead)
    client.post(url("wave-open", lead), CHOICES)
    project.items.update(standing="superseded")
    jobs.run_waiting(at=timezone.now())
    wave = Wave.objects.get()

    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    factories.items(project, 5, prefix="more")
    releasing.open_wave(project, by=lead, at=timezone.now())

    assert (wave.state, wave.size) == ("closed", 0)
    assert "No fresh item is left" in page
    assert "Nothing of this wave was drawn" in page


def test_a_large_wave_that_was_ended_before_the_worker_came_stays_empty(project, lead, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    wave = opening.open_wave(project, by=lead, at=timezone.now())
    draws.close_wave(wave, by=lead, at=timezone.now(), reason="not yet")

    jobs.run_waiting(at=timezone.now())

    wave.refresh_from_db()
    assert (wave.state, WaveItem.objects.count(), project.jobs.get().state) == ("closed", 0, "done")


def test_a_large_wave_that_two_workers_draw_is_drawn_once(project, lead, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    wave = opening.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(20))
    protocol = project.jobs.get().params["protocol"]
    releasing.draw_wave(wave, protocol, size=None)
    drawn = set(WaveItem.objects.filter(draw__isnull=False).values_list("item", flat=True))

    jobs.run_waiting(at=timezone.now())

    assert set(WaveItem.objects.filter(draw__isnull=False).values_list("item", flat=True)) == drawn
    assert (WaveItem.objects.count(), len(drawn)) == (20, 4)


def test_filling_again_after_a_crash_makes_the_same_wave(project, lead, monkeypatch):
    factories.items(project, 20)
    wave = releasing.plan_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(20))
    monkeypatch.setattr(releasing, "CHUNK", 7)
    with pytest.raises(ZeroDivisionError):
        releasing.fill_wave(wave, beat=lambda done: 1 / (14 - done))

    releasing.fill_wave(wave)
    releasing.fill_wave(wave)

    assert (wave.state, Slot.objects.count()) == ("open", 24)


def test_an_opening_that_was_cut_off_can_be_gone_on_with(project, lead, client_of):
    factories.items(project, 20)
    wave = releasing.plan_wave(project, by=lead, at=timezone.now())
    client = client_of(lead)

    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    response = client.post(url("wave-resume", lead, wave.uuid))
    again = client.post(url("wave-resume", lead, wave.uuid))
    jobs.run_waiting(at=timezone.now())

    wave.refresh_from_db()
    assert "Go on with the opening" in page
    assert (response.status_code, again.status_code, wave.state) == (302, 409, WaveState.OPEN)


def test_a_failed_opening_says_why_and_starts_again(project, lead, client_of, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 10)
    factories.items(project, 20)
    client = client_of(lead)
    client.post(url("wave-open", lead), CHOICES)
    project.jobs.update(state="failed", message="The disk is full.")
    wave = Wave.objects.get()

    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    client.post(url("wave-resume", lead, wave.uuid))
    jobs.run_waiting(at=timezone.now())

    wave.refresh_from_db()
    assert "The disk is full." in page
    assert (wave.state, project.jobs.count()) == (WaveState.OPEN, 1)


# -- how far it is ----------------------------------------------------------------------------------------------------


def test_the_list_shows_each_wave_with_its_progress(project, lead, anna, client_of):
    opened(project, lead, 20)
    labelled(anna, turns=6)

    page = client_of(lead).get(url("waves", lead)).content.decode()

    assert "6 of 24" in page
    assert "20 %" in page
    assert "draw open" in page


def test_the_list_costs_the_same_with_one_wave_and_with_three(project, lead, client_of):
    client, counts = client_of(lead), []
    for more in (1, 2):
        for _ in range(more):
            opened(project, lead, 5)
        with CaptureQueriesContext(connection) as queries:
            client.get(url("waves", lead))
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 11


def test_without_a_wave_the_list_says_what_to_do(project, version, lead, client_of):
    page = client_of(lead).get(url("waves", lead)).content.decode()

    assert "Open the first wave" in page


def test_the_wave_says_who_can_give_what_is_left(project, lead, anna, ben, client_of):
    wave = opened(project, lead, 4, share=100)
    labelled(anna)

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert "4 measured ratings are left. ben can give them." in page
    assert "4 of 8 measured ratings, 0 of 0 singles" in page


def test_the_wave_names_what_nobody_present_may_give(project, lead, anna, client_of):
    wave = opened(project, lead, 1, share=100)
    labelled(anna)

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert "1 measured rating is left that nobody present may give." in page
    assert "p0 0 says something" in page


def test_the_wave_names_who_was_told_that_nothing_is_left(project, lead, anna, client_of):
    wave = opened(project, lead, 10)
    Seat.objects.create(wave=wave, member=anna, told_empty_at=timezone.now())

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert "that only anna could give" in page


def test_the_wave_waits_for_the_last_window(project, lead, anna, ben, client_of):
    wave = opened(project, lead, 2, share=100)
    labelled(anna, ben)
    Annotation.objects.update(window_ends=timezone.now() + timedelta(minutes=12))

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert "in 12 minutes at the latest" in page


# -- blind for who leads and annotates --------------------------------------------------------------------------------


def test_a_lead_who_annotates_sees_totals_only_until_they_give_up_their_overlap(project, both, anna, client_of):
    wave = opened(project, both, 10, share=50)
    labelled(anna, turns=3)
    client = client_of(both)
    before = client.get(url("wave", both, wave.uuid)).content.decode()

    confirm = client.get(url("wave-give-up", both, wave.uuid)).content.decode()
    assert not Seat.objects.filter(member=both, gave_up_at__isnull=False).exists()
    client.post(url("wave-give-up", both, wave.uuid))

    after = client.get(url("wave", both, wave.uuid)).content.decode()
    told = ["measured ratings,", "ratings are left", "singles."]
    assert "3 of 15" in before
    assert [word for word in told if word in before] == []
    assert "cannot be taken back" in confirm
    assert [word for word in told if word in after] == told
    assert "Give up my overlap" not in after


def test_giving_up_is_only_for_who_annotates_and_while_the_draw_is_open(project, lead, both, client_of):
    wave = opened(project, lead, 10)

    response = client_of(lead).post(url("wave-give-up", lead, wave.uuid))

    assert (response.status_code, Seat.objects.count()) == (302, 0)
    draws.close(wave.draw, closing="early", reason="enough", by=lead, at=timezone.now())
    client_of(both).post(url("wave-give-up", both, wave.uuid))
    assert Seat.objects.count() == 0


# -- ending it --------------------------------------------------------------------------------------------------------


def test_closing_early_needs_a_reason_and_prints_it(project, lead, anna, client_of):
    wave = opened(project, lead, 10)
    client = client_of(lead)

    refused = client.post(url("wave-close", lead, wave.uuid), {"closing": "early", "reason": " "})
    client.post(url("wave-close", lead, wave.uuid), {"closing": "early", "reason": "the deadline came"})

    draw = Draw.objects.get()
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["reason"])
    assert (draw.closing, draw.reason, draw.closed_by) == ("early", "the deadline came", lead)
    assert "the deadline came" in client.get(url("wave", lead, wave.uuid)).content.decode()


def test_closing_short_is_refused_with_the_names_of_those_who_can_still_rate(project, lead, anna, ben, client_of):
    wave = opened(project, lead, 4, share=100)
    labelled(anna)
    client = client_of(lead)

    refused = client.post(url("wave-close", lead, wave.uuid), {"closing": "short", "reason": ""})
    Membership.objects.filter(pk=ben.pk).update(active=False)
    client.post(url("wave-close", lead, wave.uuid), {"closing": "short", "reason": ""})

    assert refused.status_code == 409
    assert "ben can still give" in refused.context["form"].non_field_errors()[0]
    assert Draw.objects.get().closing == "short"


def test_closing_the_wave_frees_what_is_unlabelled(project, lead, anna, client_of):
    wave = opened(project, lead, 10, share=0)
    labelled(anna, turns=4)
    client = client_of(lead)

    client.post(url("wave-close", lead, wave.uuid), {"closing": "wave", "reason": "wrong batch"})

    wave.refresh_from_db()
    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    assert wave.state == WaveState.CLOSED
    assert "4 of 10" in page
    assert 'name="closing"' not in page


def test_a_wave_that_is_not_measured_can_only_be_closed_as_a_whole(project, lead, client_of):
    wave = opened(project, lead, 10, share=0)
    client = client_of(lead)

    refused = client.post(url("wave-close", lead, wave.uuid), {"closing": "early", "reason": "now"})

    assert refused.status_code == 422
    assert "this wave is not measured" in client.get(url("wave", lead, wave.uuid)).content.decode()


def test_cover_is_released_once(project, lead, anna, client_of):
    wave = opened(project, lead, 20)
    labelled(anna)
    client = client_of(lead)

    first = client.post(url("wave-release-cover", lead, wave.uuid))
    second = client.post(url("wave-release-cover", lead, wave.uuid))

    wave.refresh_from_db()
    assert (first.status_code, second.status_code, wave.cover_released_by) == (302, 409, lead)
    assert (
        f"From measured rating {Draw.objects.get().known_from} on"
        in client.get(url("wave", lead, wave.uuid)).content.decode()
    )


# -- the proof --------------------------------------------------------------------------------------------------------


def test_an_open_draw_shows_its_commitment_and_nothing_else(project, admin, lead, client_of):
    wave = opened(project, lead, 10)
    draw = wave.draw

    for member in (admin, lead):
        page = client_of(member).get(url("wave", member, wave.uuid), {"verify": ""}).content.decode()
        assert draw.commitment in page
        assert [secret for secret in (draw.seed, draw.salt) if bytes(secret).hex() in page] == []


def test_a_closed_draw_shows_its_seed_and_replays(project, lead, client_of):
    wave = opened(project, lead, 10)
    draws.close(wave.draw, closing="early", reason="enough", by=lead, at=timezone.now())
    client, draw = client_of(lead), Draw.objects.get()

    page = client.get(url("wave", lead, wave.uuid)).content.decode()
    replayed = client.get(url("wave", lead, wave.uuid), {"verify": ""}).content.decode()

    assert bytes(draw.seed).hex() in page
    assert bytes(draw.salt).hex() in page
    assert "Same set: 2 of 10 items." in replayed
    Draw.objects.update(seed=bytes(32))
    assert "commitment does not match" in client.get(url("wave", lead, wave.uuid), {"verify": ""}).content.decode()


# -- whose it is ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404), ("nobody", 302)]
)
@pytest.mark.parametrize("name", ["waves", "wave-open", "wave", "ledger", "not-eligible"])
def test_access(request, project, lead, anna, client, client_of, name, who, status):
    wave = opened(project, lead, 3)
    args = {"wave": [wave.uuid], "not-eligible": ["rated"]}.get(name, [])
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(url(name, lead, *args)).status_code == status


def test_an_annotator_changes_no_wave(project, lead, anna, client_of):
    wave = opened(project, lead, 3)
    client = client_of(anna)

    statuses = {
        client.post(url(name, anna, wave.uuid), {"closing": "wave", "reason": "x"}).status_code
        for name in ("wave-close", "wave-release-cover", "wave-resume", "wave-give-up", "wave-take-back")
    }

    wave.refresh_from_db()
    assert (statuses, wave.state) == ({403}, WaveState.OPEN)
    assert client.post(url("wave-open", anna), CHOICES).status_code == 403


def test_a_neighbour_s_waves_do_not_exist_here(project, lead, client_of):
    other = factories.project("Neighbour")
    factories.version(other)
    boss = factories.member(other, "boss", "lead")
    wave = opened(other, boss, 3)
    client = client_of(lead)

    statuses = [
        client.get(url("wave", lead, wave.uuid)).status_code,
        client.post(url("wave-close", lead, wave.uuid), {"closing": "wave", "reason": "x"}).status_code,
        client.post(url("wave-release-cover", lead, wave.uuid)).status_code,
        client.post(url("wave-resume", lead, wave.uuid)).status_code,
        client.get(url("wave-give-up", lead, wave.uuid)).status_code,
        client.get(url("waves", boss)).status_code,
        client.get(url("ledger", boss)).status_code,
    ]

    assert statuses == [404] * 7
    assert "0 of 0 items are fresh" in client.get(url("ledger", lead)).content.decode()
    assert str(wave.uuid) not in client.get(url("waves", lead)).content.decode()


# -- Django's admin ---------------------------------------------------------------------------------------------------


def test_the_admin_shows_nothing_that_an_open_draw_hides(project, lead, anna, client):
    wave = opened(project, lead, 6, share=50)
    labelled(anna, turns=3)
    client.force_login(factories.user("root", is_staff=True, is_superuser=True))
    names = ["waveitem", "slot", "seat", "pair", "assignment", "annotation", "revision", "case"]

    def rows() -> dict[str, int]:
        pages = {name: client.get(f"/django-admin/annotations/{name}/") for name in names}
        return {name: page.context["cl"].result_count for name, page in pages.items()}

    opened_rows = rows()
    draw = Draw.objects.get()
    page = client.get(f"/django-admin/annotations/draw/{draw.pk}/change/").content.decode()
    its_wave = client.get(f"/django-admin/annotations/wave/{wave.pk}/change/").content.decode()
    one = client.get(f"/django-admin/annotations/annotation/{Annotation.objects.first().pk}/change/")

    assert set(opened_rows.values()) == {0}
    assert [word for word in ("Seed", "Salt", "Population:") if word in page] == []
    assert draw.commitment in page
    assert "Overlap left" not in its_wave
    assert one.status_code == 302  # there is no such row
    draws.close(draw, closing="early", reason="enough", by=lead, at=timezone.now())
    assert rows()["annotation"] == 3


def test_a_task_of_a_held_wave_is_not_served_and_the_page_says_why_it_waits(project, lead, anna, client_of):
    wave = opened(project, lead, 5)
    Wave.objects.filter(pk=wave.pk).update(held=True)

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert isinstance(serving.next_task(anna, at=timezone.now()), serving.Nothing)
    assert "waits until the gate" in page


def test_skipped_and_late_labels_do_not_spoil_the_counts(project, lead, anna, ben, client_of):
    wave = opened(project, lead, 3, share=0)
    task = serving.next_task(anna, at=timezone.now())
    labelling.skip(anna, task.assignment, reason="other", at=timezone.now())
    labelled(ben)

    page = client_of(lead).get(url("wave", lead, wave.uuid)).content.decode()

    assert "3 of 3" in page
