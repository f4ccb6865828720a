"""Labels merged, split and retired on a draft, and what old ones become."""

import pytest

from projects import drafts, guidelines, label_plans, labels, mapping
from projects.errors import Invalid
from projects.labels import NewLabel
from projects.models import GuidelineVersion, Label
from projects.task_types import TASK_TYPES
from tests import factories

pytestmark = pytest.mark.django_db

ONE, SETS = TASK_TYPES["nominal"], TASK_TYPES["multilabel"]


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead)


def label(draft: GuidelineVersion, key: str) -> Label:
    return Label.objects.get(question__version=draft, key=key)


def keys(draft: GuidelineVersion) -> list[str]:
    return list(Label.objects.filter(question__version=draft).values_list("key", flat=True))


def stored(draft: GuidelineVersion) -> dict[str, object]:
    draft.refresh_from_db()
    return draft.label_mapping


def example(draft, lead, value, other=None, text="Fix it"):
    return guidelines.add_example(
        draft, question_key="intent", content={"text": text}, value=value, confused_with=other, by=lead
    )


def test_merging_takes_the_label_out_and_says_what_it_is_now(draft, version, lead):
    label_plans.merge(label(draft, "question"), into="complaint", by=lead)

    assert keys(draft) == ["complaint", "praise"]
    assert stored(draft) == {"intent": {"question": "complaint"}}
    assert keys(version) == ["complaint", "praise", "question"]


def test_examples_follow_a_merge_and_no_longer_tell_the_two_apart(draft, lead):
    made = [
        example(draft, lead, "question", "praise", "One"),
        example(draft, lead, "praise", "question", "Two"),
        example(draft, lead, "question", "complaint", "Three"),
    ]

    label_plans.merge(label(draft, "question"), into="complaint", by=lead)

    for row in made:
        row.refresh_from_db()
    assert [(row.value, row.confused_with) for row in made] == [
        ("complaint", "praise"),
        ("praise", "complaint"),
        ("complaint", None),
    ]
    assert guidelines.problems(draft) == []


def test_examples_with_several_labels_or_spans_follow_a_merge(draft, lead):
    for key, kind in (("about", "multilabel"), ("where", "spans")):
        factories.question(draft, key, ("bug", "price", "crash"), task_type=kind)

    def add(key, value):
        made = guidelines.add_example(draft, question_key=key, content={"text": "It crashes"}, value=value, by=lead)
        label_plans.merge(
            Label.objects.get(question__version=draft, question__key=key, key="crash"), into="bug", by=lead
        )
        made.refresh_from_db()
        return made.value

    span = {"field": "text", "start": 3, "end": 10}
    assert add("about", ["price", "crash"]) == ["bug", "price"]
    assert add("where", [span | {"label": "crash"}]) == [span | {"label": "bug"}]
    assert guidelines.problems(draft) == []


def test_a_merge_of_a_merge_leads_to_the_label_that_is_left(draft, lead):
    label_plans.merge(label(draft, "question"), into="complaint", by=lead)
    label_plans.merge(label(draft, "complaint"), into="praise", by=lead)

    assert stored(draft) == {"intent": {"complaint": "praise", "question": "praise"}}


def test_a_label_that_was_never_published_leaves_no_trace(draft, lead):
    labels.add_label(draft.questions.get(), name="Threat", by=lead)

    label_plans.merge(label(draft, "threat"), into="complaint", by=lead)

    assert stored(draft) == {}


@pytest.mark.parametrize("into", ["question", "nothing", ""])
def test_a_label_is_merged_only_into_another_one_that_is_there(draft, lead, into):
    with pytest.raises(Invalid, match="is no other label"):
        label_plans.merge(label(draft, "question"), into=into, by=lead)

    assert len(keys(draft)) == 3


def test_splitting_adds_the_parts_and_keeps_old_labels_as_they_are(draft, lead):
    made = label_plans.split(label(draft, "complaint"), [NewLabel("Fault"), NewLabel("Threat")], stays=False, by=lead)

    assert [one.key for one in made] == ["fault", "threat"]
    assert keys(draft) == ["praise", "question", "fault", "threat"]
    assert stored(draft) == {"intent": {"complaint": ["fault", "threat"]}}
    assert mapping.followed("complaint", ONE, "intent", [draft]) == "complaint"


def test_a_part_can_stay_beside_the_old_label(draft, lead):
    label_plans.split(label(draft, "complaint"), [NewLabel("Threat")], stays=True, by=lead)

    assert keys(draft) == ["complaint", "praise", "question", "threat"]
    assert stored(draft) == {"intent": {"complaint": ["complaint", "threat"]}}


def test_a_split_needs_two_parts(draft, lead):
    with pytest.raises(Invalid, match="two labels or more"):
        label_plans.split(label(draft, "complaint"), [NewLabel("Threat")], stays=False, by=lead)


def test_a_merged_part_is_named_in_the_split(draft, lead):
    label_plans.split(label(draft, "complaint"), [NewLabel("Fault"), NewLabel("Threat")], stays=False, by=lead)
    label_plans.merge(label(draft, "threat"), into="praise", by=lead)

    assert stored(draft) == {"intent": {"complaint": ["fault", "praise"]}}


def test_retiring_keeps_old_labels_or_maps_them(draft, lead):
    label_plans.retire(label(draft, "question"), becomes="", by=lead)
    assert stored(draft) == {}

    label_plans.choose(draft, "intent", "question", becomes="praise", by=lead)
    assert stored(draft) == {"intent": {"question": "praise"}}

    label_plans.choose(draft, "intent", "question", becomes="", by=lead)
    assert stored(draft) == {}


def test_keeping_the_old_labels_of_a_split_does_not_forget_it(draft, lead):
    label_plans.split(label(draft, "complaint"), [NewLabel("Fault"), NewLabel("Threat")], stays=False, by=lead)

    label_plans.choose(draft, "intent", "complaint", becomes="", by=lead)

    assert stored(draft) == {"intent": {"complaint": ["fault", "threat"]}}


def test_what_becomes_is_chosen_for_retired_labels_alone(draft, lead):
    with pytest.raises(Invalid, match="is no label that this draft retires"):
        label_plans.choose(draft, "intent", "praise", becomes="complaint", by=lead)
    label_plans.retire(label(draft, "question"), becomes="", by=lead)
    with pytest.raises(Invalid, match="is no label of this question"):
        label_plans.choose(draft, "intent", "question", becomes="question", by=lead)


def test_removing_the_label_that_others_become_takes_the_mapping_back(draft, lead):
    label_plans.merge(label(draft, "question"), into="complaint", by=lead)

    labels.remove_label(label(draft, "complaint"), by=lead)

    assert stored(draft) == {}


def test_a_label_that_comes_back_keeps_its_key_and_needs_no_mapping(draft, lead):
    label_plans.merge(label(draft, "question"), into="complaint", by=lead)

    labels.add_label(draft.questions.get(), name="question", by=lead)

    assert (keys(draft), stored(draft)) == (["complaint", "praise", "question"], {})


def test_removing_a_question_takes_its_mapping_along(draft, lead):
    label_plans.merge(label(draft, "question"), into="complaint", by=lead)

    labels.remove_question(draft.questions.get(), by=lead)

    assert stored(draft) == {}


def test_what_is_retired_is_told_with_what_it_becomes(draft, lead):
    label_plans.split(label(draft, "complaint"), [NewLabel("Fault"), NewLabel("Threat")], stays=False, by=lead)
    label_plans.merge(label(draft, "question"), into="praise", by=lead)

    draft.refresh_from_db()
    found = [(one.label.key, one.becomes, one.mapped) for one in label_plans.retired(draft)]

    assert found == [("complaint", ("Fault", "Threat"), False), ("question", ("praise",), True)]


def test_a_published_version_takes_no_plan(version, lead):
    with pytest.raises(drafts.Published):
        label_plans.merge(label(version, "question"), into="praise", by=lead)


def test_the_mapping_is_material_and_named(draft, lead):
    label_plans.merge(label(draft, "question"), into="praise", by=lead)
    draft.refresh_from_db()

    assert guidelines.differences(draft.based_on, draft).material() == [
        "the label “question” was removed",
        "“question” becomes “praise”",
    ]


def test_labels_are_followed_through_the_versions_after(version, draft, lead):
    label_plans.merge(label(draft, "question"), into="praise", by=lead)
    second = guidelines.publish(draft, change="material", reason="x", by=lead, at=factories.NOW)
    draft = drafts.draft_of(version.project, by=lead)
    labels.add_label(draft.questions.get(), name="Threat", by=lead)
    label_plans.merge(label(draft, "praise"), into="complaint", by=lead)
    third = guidelines.publish(draft, change="material", reason="x", by=lead, at=factories.NOW)

    assert mapping.followed("question", ONE, "intent", [second, third]) == "complaint"
    assert mapping.followed("question", ONE, "intent", [third]) == "question"
    assert mapping.followed(["praise", "question"], SETS, "intent", [second]) == ["praise"]
    assert mapping.followed(None, ONE, "intent", [second]) is None
    assert mapping.followed("question", ONE, "tone", [second]) == "question"
