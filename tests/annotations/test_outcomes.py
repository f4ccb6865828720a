"""Where the final label differs from one's own: of closed draws only, as the label is now, with the decision."""

from datetime import timedelta

import pytest

from annotations import adjudication, draws, labelling, outcomes, releasing
from annotations.models import Annotation
from tests import factories
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
SAID = {"first": ("praise", "complaint"), "second": ("praise", "praise"), "third": ("question", "praise")}


def found(member) -> list[tuple[str, str, str, str]]:
    rows = outcomes.of(list(outcomes.measured(member)))
    return sorted((one.mine, one.final, one.status, one.rationale) for one in rows)


def decide(lead, name="first", value="complaint") -> None:
    case = disputes.case_of(name)
    adjudication.resolve(case, value=value, rationale="It asks.", cause="slip", by=lead, at=AT)


def test_a_decision_is_shown_to_whose_label_it_is_not(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], SAID)
    assert (found(anna), found(ben)) == ([], [])

    decide(lead)

    assert (found(anna), found(ben)) == ([("praise", "complaint", "adjudicated", "It asks.")], [])
    decide(lead, "third", "complaint")
    assert found(ben) == [("praise", "complaint", "adjudicated", "It asks.")]


def test_within_the_tolerance_it_says_that_nobody_had_to_decide(db):
    project = factories.project("Scale")
    factories.question(factories.version(project, questions=False), "grade", tuple("abcde"), task_type="ordinal")
    people = [factories.member(project, name) for name in ("anna", "ben")]
    project.protocol["questions"] = {"grade": {"conflict_gap": 0.25}}
    project.save()
    disputes.rated(project, people, {"near": ("d", "c"), "same": ("e", "e")}, key="grade")

    ((mine, final, status, why),) = found(people[0])

    assert (mine, final, status) == ("d", "c", "within tolerance")
    assert why.startswith("The labels were close enough to be no conflict")
    assert found(people[1]) == []


def test_a_label_that_was_corrected_to_the_final_one_differs_no_more(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], SAID)
    decide(lead)
    row = Annotation.objects.get(member=anna, item__external_id="first")

    labelling.correct(anna, row.uuid, answers={"intent": "complaint"}, at=AT)

    assert found(anna) == []


def test_a_reopened_decision_is_shown_no_more(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], SAID)
    decide(lead)

    adjudication.reopen(disputes.case_of("first"), reason="wrong", by=lead, at=AT)

    assert found(anna) == []


def test_nothing_of_an_open_draw_and_nothing_of_an_item_in_one(project, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], SAID, close=False)
    assert list(outcomes.measured(anna)) == []
    draws.close_due(at=AT)
    assert outcomes.measured(anna).count() == 3
    factories.items(project, 2, prefix="more")
    later = releasing.open_wave(project, by=lead, at=AT)

    later.wave_items.filter(item__external_id="more-0").update(item=draw.wave.wave_items.first().item)

    assert outcomes.measured(anna).count() == 2
