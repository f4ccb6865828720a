"""The API of figures, gates and the protocol: what it shows, and what it keeps back from whom."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement import runs
from annotations import conflicts
from annotations.models import Case, Look
from tests import factories
from tests.agreement import rows
from tests.api import Api
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
SAID = [("praise", "praise")] * 5 + [("complaint", "complaint")] * 4 + [("praise", "complaint")] * 3


def measured(version, lead, anna, ben, *, said=SAID, **options):
    draw = rows.draw(version, [{anna: a, ben: b} for a, b in said], by=lead, **options)
    if not draw.is_open:
        conflicts.open_cases(draw, at=LATER)
    runs.compute(draw, at=LATER)
    return draw


def test_figure_stands_with_its_draw_version_and_counts(version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben, closing="early", reason="Enough.")

    (found,) = Api(lead).get("agreement")

    run = draw.runs.get()
    assert {name: found[name] for name in ("draw", "wave", "version", "question_key", "interim", "n", "drawn")} == {
        "draw": str(draw.uuid),
        "wave": 1,
        "version": "1.0",
        "question_key": "intent",
        "interim": False,
        "n": 12,
        "drawn": 12,
    }
    assert (found["closing"], found["engine"], found["digest"]) == ("early", run.engine, run.digest)
    assert found["result"]["statistics"] == run.result["statistics"]


def test_undefined_is_an_answer_with_its_reason(version, lead, anna, ben) -> None:
    measured(version, lead, anna, ben, said=[("praise", "praise")] * 5, closing="complete")

    (found,) = Api(lead).get("agreement")

    kappa = found["result"]["statistics"]["cohen_kappa"]
    assert ("value" in kappa, kappa["undefined"]) == (False, "no_variation")


def test_who_may_decide_does_not_learn_who_said_what_while_a_case_is_open(version, lead, admin, anna, ben) -> None:
    measured(version, lead, anna, ben, closing="complete")

    (kept,), (full,) = Api(lead).get("agreement"), Api(admin).get("agreement")
    Case.objects.update(state="decided")
    (after,) = Api(lead).get("agreement")

    assert ("table" in kept["result"], "table" in kept["result"]["pairs"][0]) == (False, False)
    assert "table" in full["result"]
    assert after["result"] == full["result"]


def test_who_may_decide_does_not_learn_who_said_what_while_the_draw_is_open(version, lead, admin, anna, ben) -> None:
    measured(version, lead, anna, ben, size=40)

    (for_lead,), (for_admin,) = Api(lead).get("agreement"), Api(admin).get("agreement")

    assert ("table" in for_lead["result"], for_lead["result"]["raters"]) == (False, ["Rater 1", "Rater 2"])
    assert sorted(for_admin["result"]["raters"]) == sorted([str(anna.uuid), str(ben.uuid)])


def test_look_at_an_open_draw_is_on_record(version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben)

    (found,) = Api(lead).get("agreement")

    assert found["interim"] is True
    assert list(Look.objects.values_list("draw", "member")) == [(draw.pk, lead.pk)]


def test_nothing_to_see_is_no_look(version, lead) -> None:
    rows.draw(version, [], by=lead, size=5)

    assert Api(lead).get("agreement") == []
    assert not Look.objects.exists()


@pytest.mark.parametrize("role", ["lead", "admin"])
def test_who_annotates_sees_no_open_figure_until_they_give_up(version, lead, anna, ben, role) -> None:
    draw = measured(version, lead, anna, ben)
    both = factories.member(version.project, "cora", role, "annotator")
    api = Api(both)

    before = api.get("agreement")
    api.post("wave-give-up", draw.wave.uuid, status=204)
    after = api.get("agreement")

    assert (before, [row["draw"] for row in after]) == ([], [str(draw.uuid)])
    assert list(Look.objects.values_list("member", flat=True)) == [both.pk]


def test_who_annotates_sees_the_figure_of_a_closed_draw(version, lead, anna, ben) -> None:
    measured(version, lead, anna, ben, closing="complete")
    both = factories.member(version.project, "cora", "lead", "annotator")

    assert len(Api(both).get("agreement")) == 1


def test_figures_of_many_draws_ask_as_often_as_of_one(version, lead, anna, ben) -> None:
    api, counted = Api(lead), []
    for _ in range(3):
        measured(version, lead, anna, ben, closing="complete")
        with CaptureQueriesContext(connection) as captured:
            api.client.get(api.address("agreement"), headers=api.headers)
            api.client.get(api.address("gates"), headers=api.headers)
        counted.append(len(captured))

    assert counted[0] == counted[2]


# -- gates -------------------------------------------------------------------------------------------------------------


def test_gate_that_holds_is_waived_with_a_reason(version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben, closing="complete", rules={"intent": {"threshold": 0.99}})
    api = Api(lead)

    api.post("waive", draw.uuid, data={"reason": ""}, status=422)
    waived = api.post("waive", draw.uuid, data={"reason": "A pilot."})

    assert (waived["outcome"], waived["reason"], waived["by"]) == ("waived", "A pilot.", "lea")
    assert [row["outcome"] for row in api.get("gates")["results"]] == ["waived", "hold"]
    assert api.post("waive", draw.uuid, data={"reason": "Again."}, status=409)["error"]["code"] == "nothing_held"


def test_gate_without_a_threshold_is_no_pass(version, lead, anna, ben) -> None:
    measured(version, lead, anna, ben, closing="complete")
    measured(
        version, lead, anna, ben, closing="complete", rules={"intent": {"threshold": -1, "threshold_on": "estimate"}}
    )

    assert [row["outcome"] for row in Api(lead).get("gates")["results"]] == ["pass", "none"]


def test_gate_of_an_open_draw_is_not_waived(version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben)

    assert Api(lead).post("waive", draw.uuid, data={"reason": "Now."}, status=409)["error"]["code"] == "draw_open"


# -- the protocol ------------------------------------------------------------------------------------------------------


def test_protocol_changes_only_what_was_sent(admin) -> None:
    api = Api(admin)
    before = api.get("protocol")

    after = api.put("protocol", data={"ratings_per_item": 3, "questions": {"intent": {"threshold": 0.7}}})

    rule = before["questions"]["intent"] | {"threshold": 0.7}
    assert after == before | {"ratings_per_item": 3, "questions": {"intent": rule}}
    assert api.get("protocol") == after


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"share_percent": "120"}, "share_percent"),
        ({"share_percent": "Infinity"}, "share_percent"),
        ({"ratings_per_item": 11}, "ratings_per_item"),
        ({"ratings_per_item": "two"}, "ratings_per_item"),
        ({"window_minutes": -1}, "window_minutes"),
        ({"strata_field": "gone"}, "strata_field"),
        ({"resolution_rule": "dice"}, "resolution_rule"),
        ({"expert": "nobody"}, "expert"),
        ({"questions": {"gone": {}}}, "questions"),
        ({"questions": {"intent": {"threshold": 2}}}, "intent.threshold"),
        ({"questions": {"intent": {"coefficient": "luck"}}}, "intent.coefficient"),
        ({"questions": {"intent": {"weights": "linear"}}}, "intent.weights"),
        ({"questions": {"intent": {"conflict_gap": "wide"}}}, "questions"),
        ({"questions": ["intent"]}, "questions"),
    ],
)
def test_protocols_that_make_no_sense_are_refused_by_field(admin, data, field) -> None:
    api = Api(admin)
    before = api.get("protocol")

    error = api.put("protocol", data=data, status=422)["error"]

    assert list(error["fields"]) == [field]
    assert api.get("protocol") == before
