"""An item's history, for who has to defend its label, and its correction."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse

from annotations import adjudication, draws, histories, releasing
from annotations.models import Case
from projects.models import Item
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW


def differ(member, assignment):
    return {"intent": "complaint" if member.alias == "anna" else "praise"}


@pytest.fixture
def conflict(project, lead, anna, ben) -> Case:
    """One item, rated differently by anna and ben, in a closed draw."""
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    team = Team([anna, ben], answer=differ)
    team.work()
    draws.close_due(at=team.at + timedelta(hours=1))
    return Case.objects.get()


def test_while_the_case_is_open_no_rater_is_named_to_who_may_decide_it(client_of, lead, admin, conflict):
    address = reverse("annotations:item-history", args=[lead.project.uuid, conflict.item.uuid])

    shown = client_of(lead).get(address).content.decode()

    assert "complaint" in shown
    assert "praise" in shown
    assert "anna" not in shown
    assert "ben" not in shown
    assert "anna" in client_of(admin).get(address).content.decode()


def test_once_decided_the_history_names_raters_decision_and_reason(lead, conflict):
    adjudication.resolve(conflict, value="praise", rationale="It thanks.", cause="slip", by=lead, at=AT)

    history = histories.of_item(conflict.item, lead)

    (passage,) = history.passages
    assert {said.name: said.answers for said in passage.said} == {
        "anna": [("What is the intent?", "complaint")],
        "ben": [("What is the intent?", "praise")],
    }
    (final,) = history.finals
    assert (final.label, final.status, final.decision.rationale) == ("praise", "adjudicated", "It thanks.")


def test_a_lead_who_may_still_rate_sees_nothing_of_the_open_draw(client_of, project, lead, anna):
    both = factories.member(project, "bo", "lead", "annotator")
    factories.items(project, 3)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    Team([anna]).work()
    item = Item.objects.first()
    address = reverse("annotations:item-history", args=[project.uuid, item.uuid])

    shown = client_of(both).get(address).content.decode()

    assert "anna" not in shown
    assert "complaint" not in shown
    assert "anna" in client_of(lead).get(address).content.decode()


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_who_may_see_history_and_correct(request, client_of, project, admin, lead, anna, outsider, who, status):
    item = factories.items(project, 1)[0]
    client = client_of(request.getfixturevalue(who))

    for name in ("item-history", "item-correct"):
        assert client.get(reverse(f"annotations:{name}", args=[project.uuid, item.uuid])).status_code == status


def test_a_neighbour_s_item_does_not_exist(client_of, project, lead):
    other = factories.items(factories.project("other"), 1)[0]

    for name in ("item-history", "item-correct"):
        assert client_of(lead).get(reverse(f"annotations:{name}", args=[project.uuid, other.uuid])).status_code == 404


def test_the_page_of_an_item_loads_its_history(client_of, project, lead):
    item = factories.items(project, 1)[0]
    page = client_of(lead).get(reverse("projects:item", args=[project.uuid, item.uuid])).content.decode()

    assert reverse("annotations:item-history", args=[project.uuid, item.uuid]) in page


def test_correcting_makes_a_successor_and_an_unchanged_text_is_refused(client_of, project, lead):
    item = factories.items(project, 1)[0]
    address = reverse("annotations:item-correct", args=[project.uuid, item.uuid])
    client = client_of(lead)

    same = client.post(address, {"content-0": item.content["text"]})
    changed = client.post(address, {"content-0": "Mended."}, follow=True)

    assert (same.status_code, "Nothing was changed" in same.content.decode()) == (422, True)
    assert "Mended." in changed.content.decode()
    item.refresh_from_db()
    assert item.superseded_by.content == {"text": "Mended."}
    assert client.post(address, {"content-0": "Again."}).status_code == 409
