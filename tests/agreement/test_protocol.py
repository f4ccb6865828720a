"""What a protocol means, and what it refuses."""

from decimal import Decimal
from typing import Any

import pytest

from agreement import protocol as protocols
from agreement import protocol_words
from agreement.protocol import Protocol
from annotations import releasing
from projects.errors import Invalid, NotAllowed
from projects.models import GuidelineVersion
from tests import factories

pytestmark = pytest.mark.django_db


def read(version: GuidelineVersion, rule: dict[str, Any] | None = None, **changes: Any) -> Protocol:
    data = {**version.project.protocol, "questions": {"intent": rule or {}}, **changes}
    return Protocol.from_json(data, version.questions.all())


def problems(version: GuidelineVersion, rule: dict[str, Any] | None = None, **changes: Any) -> list[tuple[str, str]]:
    return read(version, rule, **changes).problems(strata_fields=["source"])


def test_defaults_make_sense(version) -> None:
    assert problems(version) == []


def test_missing_questions_are_filled_in(version) -> None:
    factories.question(version, "step", ("1", "2"), task_type="ordinal")

    found = protocols.of_project(version.project).questions

    assert {key: (rule.coefficient, rule.weights, rule.threshold) for key, rule in found.items()} == {
        "intent": ("auto", None, None),
        "step": ("auto", "linear", None),
    }


def test_questions_of_old_versions_stay_stored(version, admin) -> None:
    project = version.project
    project.protocol["questions"] = {"gone": {"threshold": 0.6}}

    stored = protocols.of_project(project).to_json(keep=project.protocol)["questions"]

    assert (stored["gone"], set(stored)) == ({"threshold": 0.6}, {"gone", "intent"})


def test_to_json_reads_back(version) -> None:
    said = read(version, {"threshold": 0.7, "threshold_on": "estimate"}, share_percent="12.5")

    assert Protocol.from_json(said.to_json(), version.questions.all()) == said


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"share_percent": "100.5"}, "share_percent", "The share is 100.5: expected 0 to 100 %."),
        ({"share_percent": "-1"}, "share_percent", "The share is -1: expected 0 to 100 %."),
        ({"share_percent": "NaN"}, "share_percent", "The share is NaN: expected 0 to 100 %."),
        ({"share_percent": "1.2345"}, "share_percent", "The share is 1.2345 %: at most three decimals."),
        ({"ratings_per_item": 1}, "ratings_per_item", "The number of ratings per item is 1: expected 2 to 10."),
        ({"ratings_per_item": 11}, "ratings_per_item", "The number of ratings per item is 11: expected 2 to 10."),
        ({"lease_minutes": 0}, "lease_minutes", "The lease in minutes is 0: expected 1 to 1440."),
        ({"window_submits": -1}, "window_submits", "The window in submits is -1: expected 0 to 1000."),
        ({"minimum_n": 0}, "minimum_n", "The smallest n of the gate is 0: expected 1 to 1000000."),
        ({"strata_field": "mood"}, "strata_field", "No imported item has a metadata field “mood”."),
        ({"resolution_rule": "dice"}, "resolution_rule", "There is no rule “dice” for deciding conflicts."),
    ],
)
def test_out_of_range(version, changes, field, sentence) -> None:
    assert problems(version, **changes) == [(field, sentence)]


@pytest.mark.parametrize("share", ["0", "0.001", "100"])
def test_both_ends_of_the_share_are_allowed(version, share) -> None:
    assert problems(version, share_percent=share) == []


@pytest.mark.parametrize(
    ("rule", "field", "start"),
    [
        ({"coefficient": "kappa"}, "coefficient", "There is no coefficient “kappa”."),
        ({"coefficient": "krippendorff_alpha_ordinal"}, "coefficient", "Krippendorff's alpha (ordinal) cannot be"),
        ({"coefficient": "percent_agreement"}, "coefficient", "Percent agreement cannot be the headline"),
        ({"weights": "cubic"}, "weights", "There are no weights “cubic”"),
        ({"weights": "linear"}, "weights", "“intent” has no order"),
        ({"stratum_threshold": 0.5}, "stratum_threshold", "There is a threshold for each stratum, and nothing"),
        ({"minimum_uses": 0}, "minimum_uses", "The smallest count is 0: expected 1 or more."),
        ({"threshold": 1.2}, "threshold", "The threshold is 1.2: expected -1 to 1."),
        ({"threshold_on": "mode"}, "threshold_on", "The threshold is set on “mode”"),
        ({"class_threshold": -2}, "class_threshold", "The threshold per class is -2: expected -1 to 1."),
        ({"conflict_gap": 1}, "conflict_gap", "The gap is 1: expected 0 or more and less than 1"),
        ({"resolution_rule": "dice"}, "resolution_rule", "There is no rule “dice” for deciding conflicts."),
        ({"resolution_rule": "median"}, "resolution_rule", "“intent” has no order, so its answers have no median"),
        ({"resolution_rule": "third_median"}, "resolution_rule", "“intent” has no order"),
        ({"resolution_rule": "majority"}, "resolution_rule", "With 2 ratings per item no conflict has a majority"),
    ],
)
def test_rule_that_makes_no_sense(version, rule, field, start) -> None:
    ((name, sentence),) = problems(version, rule)

    assert (name, sentence[: len(start)]) == (f"intent.{field}", start)


def test_cohens_kappa_is_refused_for_three_ratings(version) -> None:
    ((name, sentence),) = problems(version, {"coefficient": "cohen_kappa"}, ratings_per_item=3)

    assert name == "intent.coefficient"
    assert sentence.startswith("Cohen's kappa compares two raters, and the items of this project get 3 ratings each")


def test_save_stores_what_was_said(version, admin) -> None:
    said = read(version, {"threshold": 0.7}, share_percent="20", window_submits=0)

    protocols.save(version.project, said, by=admin)

    version.project.refresh_from_db()
    assert protocols.of_project(version.project) == said
    assert version.project.protocol["share_percent"] == "20"


def test_save_refuses_nonsense(version, admin) -> None:
    with pytest.raises(Invalid, match="expected 2 to 10"):
        protocols.save(version.project, read(version, ratings_per_item=1), by=admin)


def test_save_needs_the_role(version, lead) -> None:
    with pytest.raises(NotAllowed):
        protocols.save(version.project, read(version), by=lead)


def test_share_keeps_its_digits(version) -> None:
    assert read(version, share_percent="100").to_json()["share_percent"] == "100"
    assert read(version, share_percent="100").share_percent == Decimal(100)


# -- what decides conflicts --------------------------------------------------------------------------------------------


def test_a_majority_of_two_is_refused_and_one_of_three_is_not(version) -> None:
    ((name, sentence),) = problems(version, resolution_rule="majority", ratings_per_item=2)

    assert (name, sentence) == (
        "resolution_rule",
        "With 2 ratings per item no conflict has a majority: ask for 3 or more, or choose a third rating where two "
        "differ.",
    )
    assert problems(version, resolution_rule="majority", ratings_per_item=3) == []
    assert problems(version, resolution_rule="third_majority", ratings_per_item=2) == []


@pytest.mark.parametrize("kind", ["spans", "text"])
def test_what_cannot_be_counted_takes_no_rule_of_its_own(version, kind) -> None:
    question = factories.question(version, "own", (), task_type=kind)
    said = Protocol.from_json({"questions": {"own": {"resolution_rule": "third_majority"}}}, [question])

    assert said.problems() == [
        (
            "own.resolution_rule",
            "Two answers to “own” are hardly ever the same in full, so there is nothing to count: a lead decides.",
        )
    ]


def test_the_rule_for_all_holds_where_it_fits_and_elsewhere_a_lead(version) -> None:
    factories.question(version, "grade", ("bad", "good"), task_type="ordinal")
    said = read(version, resolution_rule="third_median")

    assert said.problems() == []
    assert {key: protocols.rule_of(said, rule).value for key, rule in said.questions.items()} == {
        "intent": "lead",
        "grade": "third_median",
    }


def test_a_draw_keeps_the_rule_it_froze(project, version, lead) -> None:
    project.protocol |= {"resolution_rule": "third_majority", "questions": {"intent": {"resolution_rule": "lead"}}}
    project.save()
    factories.items(project, 4)
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=50)
    project.protocol |= {"resolution_rule": "lead", "questions": {}}
    project.save()

    frozen = wave.draw.protocol
    assert (frozen["resolution_rule"], frozen["questions"]["intent"]["resolution_rule"]) == ("third_majority", "lead")


def test_the_report_says_what_decides_the_conflicts_of_each_question(project, version, lead) -> None:
    factories.question(version, "grade", ("bad", "good"), task_type="ordinal")
    project.protocol |= {"resolution_rule": "median"}
    project.save()
    factories.items(project, 4)
    draw = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=50).draw

    intent, grade = protocol_words.sentences(draw, version.questions.all())[-2:]

    assert "conflicts decided by the median of the measured ratings, else by a lead" in grade
    assert "conflicts" not in intent
