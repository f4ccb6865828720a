"""Similar decided cases, rationales used before, and what tells two texts apart."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import adjudication, cases, contrast, precedents
from annotations.models import Case, Resolution
from projects.models import Item
from tests import factories
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
TEXTS = {
    "case": "The subscription was charged twice and the refund is missing",
    "same pair, other words": "Nothing opens any more",
    "same pair, same words": "A refund of the subscription, please",
    "other pair, same words": "Is there a refund for a subscription?",
    "other pair, other words": "Hello",
}
SAID = {name: ("praise", "question" if name.startswith("other") else "complaint") for name in TEXTS}


@pytest.fixture
def draw(project, lead, anna, ben):
    made = disputes.rated(project, [anna, ben], SAID)
    rows = list(Item.objects.filter(external_id__in=TEXTS))
    for row in rows:
        row.content = {"text": TEXTS[row.external_id]}
    Item.objects.bulk_update(rows, ["content"])
    return made


def similar(name: str, lead):
    case = cases.find(lead, disputes.case_of(name).uuid)
    return precedents.similar(case, cases.question_of(case))


def decide(name: str, by, rationale: str = "", minutes: int = 0, cause: str = "slip") -> Case:
    case = disputes.case_of(name)
    at = AT + timedelta(minutes=minutes)
    adjudication.resolve(case, value="praise", rationale=rationale or name, cause=cause, by=by, at=at)
    return case


def test_the_same_pair_comes_first_then_shared_words(draw, lead):
    for name in list(TEXTS)[1:]:
        decide(name, lead)

    found = similar("case", lead)

    assert [(one.rationale, one.same_pair, one.decided) for one in found] == [
        ("same pair, same words", True, "praise"),
        ("same pair, other words", True, "praise"),
        ("other pair, same words", False, "praise"),
    ]
    assert found[0].shared == ["subscription", "refund", "the"] or set(found[0].shared) >= {"subscription", "refund"}


def test_open_and_reopened_cases_are_no_precedents(draw, lead):
    case = decide("same pair, same words", lead)
    adjudication.reopen(case, reason="wrong", by=lead, at=AT)

    assert similar("case", lead) == []


def by_rule(name: str) -> None:
    """A case as a rule of the protocol decides it: with a reckoning, and by nobody."""
    case = disputes.case_of(name)
    Case.objects.filter(pk=case.pk).update(state="decided", decided_at=AT)
    Resolution.objects.create(
        case=case, kind="majority", rule="majority", value="praise", rationale="2 of 3", tally=[["praise", 2]], at=AT
    )


def test_what_a_rule_decided_is_no_precedent_and_its_reckoning_no_rationale(draw, lead):
    by_rule("same pair, same words")
    case = disputes.case_of("case")

    assert similar("case", lead) == []
    assert [one for one in precedents.rationales(case, lead, cases.question_of(case)) if "2 of 3" in one.text] == []


def test_words_are_compared_in_any_script_and_the_names_of_fields_are_none(draw, lead):
    Item.objects.filter(external_id="case").update(content={"text": "Деньги вернули, café"})
    Item.objects.filter(external_id="other pair, same words").update(content={"text": "деньги"})
    Item.objects.filter(external_id="other pair, other words").update(content={"text": "text"})
    decide("other pair, same words", lead)
    decide("other pair, other words", lead)

    assert [one.shared for one in similar("case", lead)] == [["деньги"]]


def test_a_word_that_most_of_the_cases_have_makes_none_of_them_similar(project, lead, anna, ben):
    said = {f"case {n}": ("praise", "question" if n else "complaint") for n in range(12)}
    texts = [{"text": f"the {'refund' if n in (0, 7) else 'list'} {n}"} for n in range(12)]
    disputes.rated(project, [anna, ben], said, contents=texts)
    for n in range(1, 12):
        decide(f"case {n}", lead)

    assert [(one.words, one.shared) for one in similar("case 0", lead)] == [("the refund 7", ["refund"])]


def test_similar_cases_cost_the_same_however_many_are_decided(draw, project, lead, anna, ben):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            similar("case", lead)
        return len(found)

    decide("same pair, same words", lead)
    queries()  # a published guideline is rendered once
    one = queries()
    for name in list(TEXTS)[3:]:
        decide(name, lead)

    assert queries() == one


def test_a_neighbours_decisions_are_not_shown(draw, lead):
    decide("same pair, same words", lead)
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = factories.member(neighbour, "nora", "lead")
    disputes.rated(
        neighbour, [factories.member(neighbour, n) for n in ("nat", "ned")], {"far": ("praise", "complaint")}
    )

    case = cases.find(nora, disputes.case_of("far").uuid)

    assert precedents.similar(case, cases.question_of(case)) == []
    assert [one.text for one in precedents.rationales(case, nora, cases.question_of(case)) if one.cause] == []


def test_rationales_of_the_pair_come_before_ones_own_and_each_comes_once(draw, lead):
    lou = factories.member(draw.wave.project, "lou", "lead")
    decide("same pair, other words", lou, "By another lead.", 1, "guideline_silent")
    decide("same pair, same words", lead, "Mine.", 2)
    decide("other pair, same words", lead, "Mine of another pair.", 3)
    decide("other pair, other words", lou, "Of another lead and pair.", 4)

    case = disputes.case_of("case")
    found = [one for one in precedents.rationales(case, lead, cases.question_of(case)) if one.cause]

    assert [(one.text, one.cause, one.of_pair) for one in found] == [
        ("Mine.", "slip", True),
        ("By another lead.", "guideline_silent", True),
        ("Mine of another pair.", "slip", False),
    ]
    assert {(one.decided, one.name) for one in found} == {('"praise"', "praise")}


def test_the_rules_of_both_labels_can_be_given_as_the_reason_and_name_no_cause(draw, lead):
    case = disputes.case_of("case")

    found = precedents.rationales(case, lead, cases.question_of(case))

    names = sorted([case.first_value, case.second_value], key=["complaint", "praise", "question"].index)
    assert [(one.text, one.decided, one.cause) for one in found] == [
        (f"The rule for “{name}”: It is {name}.", f'"{name}"', "") for name in names
    ]


def test_rationales_of_one_label_do_not_crowd_out_those_of_the_other(project, lead, anna, ben):
    said = {f"case {n}": ("praise", "complaint") for n in range(6)}
    disputes.rated(project, [anna, ben], said)
    for n in range(5):
        value = "complaint" if n == 0 else "praise"
        case = disputes.case_of(f"case {n}")
        at = factories.NOW + timedelta(minutes=n)
        adjudication.resolve(case, value=value, rationale=f"Reason {n}.", cause="slip", by=lead, at=at)
    case = disputes.case_of("case 5")

    found = precedents.rationales(case, lead, cases.question_of(case))

    assert [one.text for one in found if one.cause] == ["Reason 4.", "Reason 3.", "Reason 2.", "Reason 0."]


# -- two texts ---------------------------------------------------------------------------------------------------------


def marked(*texts: object) -> list[str]:
    return [str(field.html) for field in contrast.shown({f"text{n}": text for n, text in enumerate(texts)})]


def test_two_versions_of_a_text_have_their_differing_words_marked():
    assert marked("She sold <it>\r in May.", "She bought <it>\r in May.") == [
        "She <mark>sold</mark> &lt;it&gt;&#13; in May.",
        "She <mark>bought</mark> &lt;it&gt;&#13; in May.",
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ("One text alone.",),
        ("Quite another thing.", "Nothing is shared here whatsoever"),
        ("The same.", "The same."),
        ("a b", "a c", "a d"),
        ("", "Something."),
        (None, 3),
        ("x " * 2_000, "x " * 1_999 + "y"),
    ],
)
def test_where_nothing_can_be_told_apart_nothing_is_marked(texts):
    assert "<mark>" not in "".join(marked(*texts))
