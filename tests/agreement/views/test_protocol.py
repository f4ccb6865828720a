"""The page of a project's protocol."""

from decimal import Decimal

import pytest
from django.urls import reverse

from agreement import protocol as protocols
from annotations import releasing, together
from projects.models import Membership
from tests import factories
from tests.agreement import rows
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

VALID = {
    "share_percent": "20",
    "ratings_per_item": "2",
    "strata_field": "",
    "minimum_n": "30",
    "window_submits": "0",
    "window_minutes": "0",
    "practice_pass_percent": "0",
    "lease_minutes": "15",
    "intent.coefficient": "auto",
    "intent.threshold": "0.7",
    "intent.threshold_on": "low",
    "intent.class_threshold": "",
}


def address(project) -> str:
    return reverse("agreement:protocol", args=[project.uuid])


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 403), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, version, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(address(version.project)).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, version) -> None:
    assert client.get(address(version.project)).status_code == 302


def test_admin_of_another_project_cannot_change_it(client_of, version) -> None:
    boss = factories.member(factories.project("Neighbours"), "nora", "admin")

    assert client_of(boss).post(address(version.project), VALID).status_code == 404


def test_save(client_of, version, admin) -> None:
    response = client_of(admin).post(address(version.project), VALID)

    version.project.refresh_from_db()
    said = protocols.of_project(version.project)
    assert response.status_code == 302
    assert (str(said.share_percent), said.window_submits, said.minimum_n, said.questions["intent"].threshold) == (
        "20",
        0,
        30,
        0.7,
    )


def test_save_leaves_frozen_protocols_alone(client_of, version, admin, lead) -> None:
    draw = rows.draw(version, [], by=lead)
    before = draw.protocol

    client_of(admin).post(address(version.project), VALID)

    draw.refresh_from_db()
    assert draw.protocol == before


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"share_percent": "101"}, "The share is 101: expected 0 to 100 %."),
        ({"share_percent": "ten"}, "Enter a number."),
        ({"ratings_per_item": "1"}, "The number of ratings per item is 1: expected 2 to 10."),
        ({"intent.threshold": "7"}, "The threshold is 7.0: expected -1 to 1."),
        ({"intent.coefficient": "cohen_kappa", "ratings_per_item": "3"}, "compares two raters"),
        ({"intent.coefficient": "magic"}, "Select a valid choice."),
        ({"strata_field": "mood"}, "Select a valid choice."),
    ],
)
def test_nonsense_is_refused_at_its_field(client_of, version, admin, changes, sentence) -> None:
    before = dict(version.project.protocol)

    response = client_of(admin).post(address(version.project), VALID | changes)

    version.project.refresh_from_db()
    page = response.content.decode()
    assert (response.status_code, sentence in page, version.project.protocol) == (422, True, before)


def test_ordinal_question_has_weights_and_gap(client_of, version, admin) -> None:
    factories.question(version, "step", ("1", "2"), task_type="ordinal")
    step = {
        "step.coefficient": "auto",
        "step.weights": "quadratic",
        "step.conflict_gap": "0.25",
        "step.threshold": "",
        "step.threshold_on": "estimate",
        "step.class_threshold": "",
    }

    client_of(admin).post(address(version.project), VALID | step)

    version.project.refresh_from_db()
    rule = protocols.of_project(version.project).questions["step"]
    assert (rule.weights, rule.conflict_gap, rule.threshold) == ("quadratic", 0.25, None)


def test_strata_fields_are_those_of_the_items(client_of, version, admin) -> None:
    factories.batch(version.project, metadata_fields=["source"])

    client_of(admin).post(address(version.project), VALID | {"strata_field": "source"})

    version.project.refresh_from_db()
    assert version.project.protocol["strata_field"] == "source"


def test_project_without_questions_has_a_protocol(client_of, project) -> None:
    boss = factories.member(project, "ada", "admin")

    response = client_of(boss).get(address(project))

    assert (response.status_code, "There is no question yet." in response.content.decode()) == (200, True)


def test_expert_is_one_of_those_who_label_here(client_of, version, admin, anna) -> None:
    stranger = factories.member(factories.project("Neighbours"), "nora")

    client_of(admin).post(address(version.project), VALID | {"expert": str(anna.uuid)})
    refused = client_of(admin).post(address(version.project), VALID | {"expert": str(stranger.uuid)})

    version.project.refresh_from_db()
    assert (version.project.protocol["expert"], refused.status_code) == (str(anna.uuid), 422)
    assert str(stranger.uuid) not in client_of(admin).get(address(version.project)).content.decode()


def test_expert_who_left_has_to_be_replaced(client_of, version, admin, anna) -> None:
    client_of(admin).post(address(version.project), VALID | {"expert": str(anna.uuid)})
    anna.active = False
    anna.save()

    response = client_of(admin).post(address(version.project), VALID | {"expert": str(anna.uuid)})

    assert "The expert is nobody who labels in this project" in response.content.decode()


def test_kinds_of_answers_have_the_fields_that_mean_something(client_of, version, admin) -> None:
    factories.question(version, "tags", ("x", "y"), task_type="multilabel")
    factories.question(version, "why", (), task_type="text")

    page = client_of(admin).get(address(version.project)).content.decode()

    assert [name in page for name in ("tags.weights", "tags.conflict_gap", "why.threshold", "intent.weights")] == [
        False,
        True,
        False,
        False,
    ]
    assert "Free text has no coefficient" in page


def test_deciding_together_is_switched_on_and_off_by_form_and_api_and_is_no_part_of_a_draw(
    client_of, version, admin, lead, anna
) -> None:
    project, client = version.project, client_of(admin)
    assert not together.allowed(project)
    assert "Two raters may decide their conflict together" in client.get(address(project)).content.decode()

    client.post(address(project), VALID | {"decide_together": "on"})
    project.refresh_from_db()
    assert together.allowed(project)
    assert client.get(address(project)).context["form"]["decide_together"].value() is True
    factories.items(project, 4)
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(50))
    assert "decide_together" not in wave.draw.protocol

    client.post(address(project), VALID)
    project.refresh_from_db()
    assert not together.allowed(project)

    api = reverse("api:protocol", args=[project.uuid])
    said = client.put(api, {"decide_together": True}, content_type="application/json").json()
    project.refresh_from_db()
    assert (said["decide_together"], together.allowed(project)) == (True, True)
    assert client.put(api, {"decide_together": "perhaps"}, content_type="application/json").status_code == 422


def test_two_raters_decide_together_once_the_form_has_switched_it_on(client_of, version, admin) -> None:
    project = version.project
    lea, anna = factories.member(project, "leo", "lead", "annotator"), factories.member(project, "anna")
    disputes.rated(project, [lea, anna], {"one": ("praise", "complaint")})
    case = disputes.case_of("one")

    assert together.other_rater(case, lea) is None
    client_of(admin).post(address(project), VALID | {"decide_together": "on"})

    assert together.other_rater(case, Membership.objects.select_related("project").get(pk=lea.pk)) == anna


# -- what decides conflicts --------------------------------------------------------------------------------------------


def choices(page, name: str) -> list[str]:
    return [key for key, _title in page.context["form"].fields[name].choices]


def test_each_question_offers_the_rules_that_fit_its_answers(client_of, version, admin) -> None:
    factories.question(version, "grade", ("bad", "good"), task_type="ordinal")
    factories.question(version, "where", ("place",), task_type="spans")
    factories.question(version, "why", (), task_type="text")

    page = client_of(admin).get(address(version.project))

    assert choices(page, "resolution_rule") == ["lead", "majority", "median", "third_majority", "third_median"]
    assert choices(page, "intent.resolution_rule") == ["", "lead", "majority", "third_majority"]
    assert choices(page, "grade.resolution_rule") == ["", *choices(page, "resolution_rule")]
    assert {"where.resolution_rule", "why.resolution_rule"}.isdisjoint(page.context["form"].fields)
    assert page.content.decode().count("Its conflicts are always decided by a lead") == 2


def test_a_rule_is_saved_and_where_it_does_not_fit_the_page_says_so(client_of, version, admin) -> None:
    client = client_of(admin)
    factories.question(version, "grade", ("bad", "good"), task_type="ordinal")
    sent = VALID | {"grade.coefficient": "auto", "grade.weights": "linear", "grade.conflict_gap": "0"}
    sent |= {"grade.threshold_on": "low", "resolution_rule": "third_median", "intent.resolution_rule": ""}

    assert client.post(address(version.project), sent).status_code == 302

    version.project.refresh_from_db()
    said = client.get(address(version.project)).content.decode()
    assert version.project.protocol["resolution_rule"] == "third_median"
    assert "now: a lead, since a third rating, then the median does not fit its answers" in said
    assert "as for all questions above (now: a third rating, then the median)" in said


def test_a_rule_that_never_decides_is_refused_where_it_was_chosen(client_of, version, admin) -> None:
    response = client_of(admin).post(address(version.project), VALID | {"intent.resolution_rule": "majority"})

    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["intent.resolution_rule"]
    version.project.refresh_from_db()
    assert version.project.protocol["resolution_rule"] == "lead"
