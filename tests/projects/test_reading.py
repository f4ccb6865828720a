"""A version as it is read: rules, looks and examples, safe, and at a constant cost."""

import pytest

from projects import drafts, guidelines, labels, styles
from projects.enums import Change
from projects.models import Example, GuidelineVersion, Label
from tests.factories import NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead, at=NOW)


def add(draft, lead, text="It crashes", **fields) -> Example:
    sent = {"question_key": "intent", "content": {"text": text}, "value": "complaint", **fields}
    return guidelines.add_example(draft, **sent, by=lead)


def publish(draft, by, change=Change.MATERIAL, reason="It was time."):
    return guidelines.publish(draft, change=change, reason=reason, by=by, at=NOW)


def test_a_reading_has_each_rule_with_its_look_and_examples(draft, lead):
    labels.edit_label(
        Label.objects.get(question__version=draft, key="praise"), name="Praise", definition="**Good**", by=lead
    )
    add(draft, lead, "Fix it", value="complaint", confused_with="praise", rationale="wants it mended")
    read = guidelines.reading(draft)
    praise = read.question("intent").label("praise")
    complaint = read.question("intent").label("complaint")
    assert praise.html == "<p><strong>Good</strong></p>\n"
    assert (praise.hotkey, praise.colour) == ("2", "#56B4E9")
    assert (praise.examples, [one.value_name for one in praise.not_this]) == ((), ["complaint"])
    assert [one.confused_name for one in complaint.examples] == ["Praise"]


def test_scripts_in_text_and_definition_come_out_as_text(draft, lead):
    evil = "<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=alert(1)>"
    drafts.save_text(draft, text=evil, revision=draft.revision, by=lead)
    labels.edit_label(Label.objects.get(question__version=draft, key="praise"), name="praise", definition=evil, by=lead)
    draft.refresh_from_db()
    read = guidelines.reading(draft)
    for html in (read.html, read.question("intent").label("praise").html):
        assert "<script" not in html
        assert "<img" not in html
        assert "href" not in html


def test_an_example_whose_label_is_gone_is_read_as_loose(draft, lead):
    add(draft, lead, "It crashes", value="praise")
    labels.remove_label(Label.objects.get(question__version=draft, key="praise"), by=lead)
    assert [(one.value_name, one.names_known) for one in guidelines.reading(draft).loose] == [("praise", False)]


def test_reading_costs_the_same_however_much_there_is(draft, lead, django_assert_num_queries):
    for place in range(3):
        labels.add_question(
            draft,
            text=f"Question {place}",
            task_type="nominal",
            labels=[labels.NewLabel(f"label {n}") for n in range(20)],
            by=lead,
        )
        add(draft, lead, f"text {place}")
    with django_assert_num_queries(4):
        guidelines.reading(draft)


def test_what_is_published_is_read_from_memory_and_its_look_as_it_is_now(draft, lead, django_assert_num_queries):
    add(draft, lead)
    made = publish(draft, lead)
    once = guidelines.reading(made)
    with django_assert_num_queries(0):
        again = guidelines.reading(made)
    assert again.questions == once.questions
    styles.set_style(made.project, "intent", "praise", "#123456", "p")
    read = guidelines.reading(made).question("intent").label("praise")
    assert (read.colour, read.hotkey) == ("#123456", "p")
