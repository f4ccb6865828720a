"""Examples: copies that stand alone, each text once."""

import pytest

from projects import drafts, examples, guidelines
from projects.enums import Change
from projects.errors import Invalid
from projects.models import Example, GuidelineVersion
from tests.factories import NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead, at=NOW)


def add(draft, lead, text="It crashes", **fields) -> Example:
    sent = {"question_key": "intent", "content": {"text": text}, "value": "complaint", **fields}
    return guidelines.add_example(draft, **sent, by=lead)


def publish(draft, by, change=Change.MATERIAL, reason="It was time."):
    return guidelines.publish(draft, change=change, reason=reason, by=by, at=NOW)


def test_an_example_carries_its_lineage_into_the_next_draft(draft, lead):
    example = add(draft, lead)
    publish(draft, lead)
    carried = drafts.draft_of(draft.project, by=lead).examples.get()
    assert (carried.lineage, carried.uuid != example.uuid) == (example.lineage, True)


def test_an_example_promoted_twice_is_one_changed(draft, lead):
    example = add(draft, lead)
    again = add(draft, lead, "It crashes", value="praise", lineage=example.lineage)
    assert (again.pk, draft.examples.get().value) == (example.pk, "praise")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"value": "nonsense"}, "not a label"),
        ({"value": None}, "No label was given"),
        ({"confused_with": "nonsense"}, "not a label"),
        ({"confused_with": "complaint"}, "its own label"),
        ({"content": {"text": "  "}}, "shows nothing"),
        ({"content": {}}, "shows nothing"),
        ({"content": {"text": "a\x00"}}, "no text"),
        ({"kind": "odd"}, "no kind of example"),
        ({"question_key": "nowhere"}, "no question"),
    ],
)
def test_an_example_that_makes_no_sense_is_refused(draft, lead, fields, said):
    with pytest.raises(Invalid, match=said):
        add(draft, lead, **fields)
    assert draft.examples.count() == 0


def test_the_same_text_is_one_example_however_it_is_spaced(draft, lead):
    add(draft, lead, "It crashes")
    with pytest.raises(Invalid) as refusal:
        add(draft, lead, "  it   CRASHES ", value="praise")
    assert refusal.value.code == "example_twice"


def test_an_edited_example_keeps_lineage_and_gets_a_hash_of_its_new_text(draft, lead):
    example = add(draft, lead)
    edited = guidelines.edit_example(example, content={"text": "It burns"}, value="praise", by=lead)
    assert edited.lineage == example.lineage
    assert edited.folded_hash != example.folded_hash


def test_an_example_changed_by_two_at_once_is_refused_to_the_second(draft, lead):
    example = add(draft, lead)
    seen = examples.stamp(example)
    guidelines.edit_example(example, content={"text": "It burns"}, value="praise", by=lead, seen=seen)
    with pytest.raises(drafts.Changed):
        guidelines.edit_example(example, content={"text": "mine"}, value="praise", by=lead, seen=seen)
