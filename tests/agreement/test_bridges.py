"""Bridges: what is drawn, what became of each old label, beside what the stored mapping predicts (DESIGN §3)."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from rest_framework.authtoken.models import Token

from agreement import bridge_figures
from agreement.coefficients.intervals import wilson
from annotations import bridges, draws, exporting, gold, publishing, releasing, samples, serving
from annotations.enums import WaveState
from annotations.models import Annotation, Wave
from projects import guidelines, jobs, label_plans
from projects.errors import DomainError, Invalid, NotAllowed
from projects.labels import NewLabel
from projects.models import Item, Label
from tests import factories
from tests.annotations import bridged
from tests.annotations.bridged import LATER
from tests.annotations.team import Team

# Of the three old questions one is praise now, where the mapping says complaint; one old complaint is praise.
NEW = {"old-0": "praise", "old-7": "praise"} | {f"old-{i}": "complaint" for i in (1, 2, 3, 8, 9)}


def says(member, assignment):
    return {"intent": NEW.get(assignment.item.external_id, "praise")}


@pytest.fixture
def two(project, lead, anna, ben):
    bridged.rated(project, lead, anna)
    return bridged.published(project, lead, anna, ben)


@pytest.fixture
def bridge(project, lead, ben, two):
    made = bridges.open_bridge(project, size=10, by=lead, at=LATER)
    Team([ben], says, at=LATER).work()
    draws.finish_waves(at=LATER)
    return Wave.samples.get(pk=made.pk)


def test_a_table_of_old_labels_by_new_ones(bridge):
    (table,) = bridge_figures.of_wave(bridge)

    rows = {row.key: (row.n, {cell.label.key: cell.share["found"] for cell in row.cells}) for row in table.rows}
    assert rows == {
        "complaint": (4, {"complaint": 3, "praise": 1}),
        "praise": (3, {"complaint": 0, "praise": 3}),
        "question": (3, {"complaint": 2, "praise": 1}),
    }
    cell = table.rows[0].cells[0].share
    spread = wilson(3, 4)
    assert (cell["value"], cell["n"], cell["interval"]) == (0.75, 4, [spread.low, spread.high])
    assert (table.n, table.same_people, table.unlabelled) == (10, 0, 0)
    assert bridge.state == WaveState.CLOSED


def test_beside_it_what_the_stored_mapping_would_have_made(bridge):
    (table,) = bridge_figures.of_wave(bridge)

    predicted = {
        row.key: ([label.key for label in row.predicted], row.hit["found"], row.hit["n"]) for row in table.rows
    }
    assert predicted == {
        "complaint": (["complaint"], 3, 4),
        "praise": (["praise"], 3, 3),
        "question": (["complaint"], 2, 3),
    }
    assert (table.hit["found"], table.hit["n"]) == (8, 10)


def test_a_label_retired_without_a_mapping_is_predicted_to_be_nothing(project, lead, anna, ben):
    bridged.rated(project, lead, anna)
    bridged.published(project, lead, anna, ben, mapped=False)
    made = bridges.open_bridge(project, size=10, by=lead, at=LATER)
    Team([ben], says, at=LATER).work()

    row = next(row for row in bridge_figures.of_wave(made)[0].rows if row.key == "question")

    assert (row.predicted, row.hit["found"], row.hit["n"], row.name) == ([], 0, 3, "question")


def test_a_split_label_is_predicted_to_be_any_of_its_parts(project, lead, anna, ben):
    bridged.rated(project, lead, anna)
    draft = guidelines.draft_of(project, by=lead)
    label = Label.objects.get(question__version=draft, key="question")
    label_plans.split(label, [NewLabel(name="Wish"), NewLabel(name="How-to")], stays=False, by=lead)
    made = publishing.publish(draft, change="material", reason="Two kinds.", by=lead, at=LATER)
    publishing.acknowledge(ben, made, at=LATER)
    bridge = bridges.open_bridge(project, size=10, by=lead, at=LATER)
    new = {label.name: label.key for label in Label.objects.filter(question__version=made)}
    Team([ben], lambda m, a: {"intent": new["Wish"] if a.item.external_id > "old-7" else "praise"}, at=LATER).work()

    row = next(row for row in bridge_figures.of_wave(bridge)[0].rows if row.key == "question")

    assert {label.name for label in row.predicted} == {"Wish", "How-to"}
    assert (row.hit["found"], row.hit["n"]) == (2, 3)


def test_it_is_no_final_label_and_measured_nowhere(project, bridge):
    told = {one.item.external_id: (one.status.value, one.value, one.mapped_from) for one in gold.of_project(project)}

    assert told["old-0"] == ("single", "complaint", None)
    assert told["old-7"] == ("mapped", "complaint", "question")
    rows = Annotation.objects.filter(wave_item__wave=bridge)
    assert list(rows.values_list("draw", "slot__kind").distinct()) == [(None, "bridge")]


def test_the_old_label_is_the_one_that_was_there_when_it_was_opened(project, lead, ben, anna, two):
    made = bridges.open_bridge(project, size=10, by=lead, at=LATER)
    Annotation.objects.filter(member=anna).update(latest={"intent": "praise"})
    Team([ben], says, at=LATER).work()

    assert {row.key: row.n for row in bridge_figures.of_wave(made)[0].rows} == {
        "complaint": 4,
        "praise": 3,
        "question": 3,
    }


def test_who_labels_it_again_is_counted(project, lead, anna, two):
    made = bridges.open_bridge(project, size=4, by=lead, at=LATER)
    Team([anna], says, at=LATER).work()

    assert bridge_figures.of_wave(made)[0].same_people == 4


def test_it_comes_among_other_work_and_to_one_person_each(project, lead, anna, ben, two):
    made = bridges.open_bridge(project, size=10, by=lead, at=LATER)
    factories.items(project, 20, prefix="fresh")
    releasing.open_wave(project, by=lead, at=LATER, share_percent=Decimal(0))
    team = Team([anna, ben], says, at=LATER)

    team.work()

    kinds = [assignment.slot.kind for _member, assignment in team.served]
    places = [place for place, kind in enumerate(kinds) if kind == "bridge"]
    assert len(places) == 10
    assert places[0] < 15 < places[-1]
    assert Annotation.objects.filter(wave_item__wave=made).values("item").distinct().count() == 10


def test_nobody_who_can_be_served_it_sees_it_before_it_has_ended(project, lead, two):
    both = factories.member(project, "bo", "lead", "annotator")
    made = samples.find(lead, bridges.open_bridge(project, size=4, by=lead, at=LATER).uuid)

    assert (samples.may_see_figures(made, lead), samples.may_see_figures(made, both)) == (True, False)


def test_drawn_are_only_items_rated_before_and_not_since(project, lead, anna, ben, two):
    factories.items(project, 5, prefix="fresh")
    bridges.open_bridge(project, size=4, by=lead, at=LATER)

    left = set(bridges.eligible(project, two).values_list("external_id", flat=True))

    assert len(left) == 6
    assert all(one.startswith("old-") for one in left)
    with pytest.raises(DomainError, match="Only 6 old items are left, and this bridge needs 7"):
        bridges.open_bridge(project, size=7, by=lead, at=LATER)


def test_before_a_second_major_there_is_nothing_to_bridge(project, version, lead, anna):
    bridged.rated(project, lead, anna)

    with pytest.raises(DomainError, match=r"No item was rated under a MAJOR before 1\.0 alone"):
        bridges.open_bridge(project, size=1, by=lead, at=LATER)


@pytest.mark.parametrize("size", [0, -1, 5_001])
def test_a_size_out_of_range_is_refused(project, lead, two, size):
    with pytest.raises(Invalid, match="expected 1 to 5000"):
        bridges.open_bridge(project, size=size, by=lead, at=LATER)


def test_who_does_not_run_waves_opens_none(project, anna, two):
    with pytest.raises(NotAllowed):
        bridges.open_bridge(project, size=1, by=anna, at=LATER)


def test_the_record_gives_the_same_items(project, lead, two):
    made = bridges.open_bridge(project, size=4, by=lead, at=LATER)

    assert samples.verify(made).same
    made.wave_items.filter(pk=made.wave_items.first().pk).update(
        item=Item.objects.exclude(wave_items__wave=made).first()
    )
    assert not samples.verify(made).same


def test_the_next_major_ends_it(project, lead, ben, two):
    bridges.open_bridge(project, size=4, by=lead, at=LATER)
    draft = guidelines.draft_of(project, by=lead)
    guidelines.save_text(draft, text="# Again", revision=draft.revision, by=lead)
    three = publishing.publish(draft, change="material", reason="Again.", by=lead, at=LATER)
    publishing.acknowledge(ben, three, at=LATER)

    assert Wave.samples.get().state == WaveState.CLOSED
    assert serving.next_task(ben, at=LATER + timedelta(hours=1)).code == "no_wave"


def test_the_file_has_every_cell(bridge, project, lead):
    exporting.start(project, what="samples", file_format="csv", by=lead)
    jobs.run_waiting(limit=1)

    file = io.TextIOWrapper(exporting.download(project.jobs.get(kind="export"), lead), encoding="utf-8-sig")
    rows = list(csv.DictReader(file))

    cells = {(r["label"], r["new_label"]): (r["found"], r["n"]) for r in rows if r["measure"] == "label migration"}
    assert cells["question", "praise"] == ("1", "3")
    assert len(cells) == 6
    assert not any("agreement" in row["measure"] for row in rows)


def test_the_page_has_the_table_and_never_says_agreement(bridge, project, lead, client_of):
    page = client_of(lead).get(f"/p/{project.uuid}/samples/{bridge.uuid}/").content.decode()

    assert "8 of 10 old items have the label that the stored mapping makes of their old one" in page
    assert "<b>3</b>" in page
    assert "This is not agreement." in page


def test_the_api_opens_one(project, lead, two, client):
    headers = {"Authorization": f"Token {Token.objects.create(user=lead.user).key}"}
    address = f"/api/v1/projects/{project.uuid}/samples/bridges/"

    made = client.post(address, {"size": 3}, "application/json", headers=headers)
    refused = client.post(address, {"size": 300}, "application/json", headers=headers)

    assert (made.status_code, made.json()["name"], made.json()["size"]) == (201, "bridge 1", 3)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_few_old")


def test_the_form_says_how_many_there_are_and_refuses_more(project, lead, two, client_of):
    client = client_of(lead)
    address = f"/p/{project.uuid}/samples/bridge/"

    page = client.get(address).content.decode()
    refused = client.post(address, {"size": 11})
    opened = client.post(address, {"size": 2})

    assert "10 old items can be drawn." in page
    assert refused.status_code == 409
    assert "Only 10 old items are left" in refused.content.decode()
    assert opened.headers["Location"] == f"/p/{project.uuid}/samples/{Wave.samples.get().uuid}/"


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, project, lead, two, client_of, who, status):
    visitor = client_of(request.getfixturevalue(who))

    assert visitor.get(f"/p/{project.uuid}/samples/bridge/").status_code == status
