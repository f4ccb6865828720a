"""Publishing: the number says what changed, and what is published stays."""

import json

import pytest

from projects import drafts, guidelines, labels, reading, styles
from projects.enums import Change
from projects.errors import Invalid
from projects.models import Example, GuidelineVersion, Label
from tests import factories
from tests.factories import NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead, at=NOW)


@pytest.fixture
def first(project) -> GuidelineVersion:
    """The draft of a project that has published nothing, ready to be published."""
    boss = factories.member(project, "boss", "lead")
    made = drafts.draft_of(project, by=boss, at=NOW)
    drafts.save_text(made, text="# Rules\n\nRead, then choose.", revision=made.revision, by=boss)
    labels.add_question(
        made,
        text="What is it?",
        task_type="nominal",
        labels=[labels.NewLabel("Good", "It is good."), labels.NewLabel("Bad", "It is bad.")],
        by=boss,
    )
    return made


def add(draft, lead, text="It crashes", **fields) -> Example:
    sent = {"question_key": "intent", "content": {"text": text}, "value": "complaint", **fields}
    return guidelines.add_example(draft, **sent, by=lead)


def publish(draft, by, change=Change.MATERIAL, reason="It was time."):
    return guidelines.publish(draft, change=change, reason=reason, by=by, at=NOW)


def test_the_first_version_is_1_0_whatever_it_was_called(first):
    boss = first.created_by
    made = publish(first, boss, Change.EDITORIAL, reason="")
    assert (made.number, made.change, made.published_by, made.published_at) == ("1.0", Change.MATERIAL, boss, NOW)


def test_wording_raises_minor_and_rules_raise_major(draft, lead, version):
    drafts.save_text(draft, text=version.text + " Take your time.", revision=draft.revision, by=lead)
    minor = publish(draft, lead, Change.EDITORIAL)
    following = drafts.draft_of(version.project, by=lead)
    add(following, lead)
    major = publish(following, lead, Change.MATERIAL)
    assert [minor.number, major.number] == ["1.1", "2.0"]
    assert [minor.based_on, major.based_on] == [version, minor]


def test_a_change_of_wording_may_be_called_material(draft, lead):
    drafts.save_text(draft, text="Other rules.", revision=draft.revision, by=lead)
    assert publish(draft, lead, Change.MATERIAL).number == "2.0"


def test_editorial_is_refused_with_the_names_of_what_changed(draft, lead):
    label = Label.objects.get(question__version=draft, key="praise")
    labels.edit_label(label, name="praise", definition="Says that it is good.", by=lead)
    add(draft, lead, "It crashes")
    with pytest.raises(Invalid) as refusal:
        publish(draft, lead, Change.EDITORIAL)
    draft.refresh_from_db()
    assert refusal.value.code == "not_editorial"
    assert "the label “praise” changed (definition); the example “It crashes” was added." in refusal.value.message
    assert draft.is_draft


def test_nothing_changed_is_nothing_to_publish(draft, lead):
    with pytest.raises(Invalid, match=r"says what 1\.0 says"):
        publish(draft, lead)


def test_a_later_version_needs_a_reason(draft, lead):
    add(draft, lead)
    with pytest.raises(Invalid, match="why"):
        publish(draft, lead, reason="  ")


def test_an_unknown_kind_of_change_is_refused(draft, lead):
    with pytest.raises(Invalid, match="cosmetic"):
        publish(draft, lead, "cosmetic")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda draft: draft.questions.all().delete(), "There is no question yet"),
        (lambda draft: Label.objects.filter(question__version=draft, order__gt=0).delete(), "needs 2 or more"),
        (lambda draft: GuidelineVersion.objects.filter(pk=draft.pk).update(text=" "), "not written yet"),
        (
            lambda draft: GuidelineVersion.objects.filter(pk=draft.pk).update(text=drafts.starter_text()),
            "not written yet",
        ),
        (lambda draft: Label.objects.filter(question__version=draft, key="praise").update(value=1.0), "has none"),
    ],
)
def test_an_unfinished_draft_is_not_published(draft, lead, spoil, said):
    spoil(draft)
    with pytest.raises(Invalid, match=said):
        publish(draft, lead)


def test_an_example_of_a_removed_label_holds_publishing_up(draft, lead):
    add(draft, lead, "It crashes", value="complaint", confused_with="praise")
    labels.remove_label(Label.objects.get(question__version=draft, key="praise"), by=lead)
    with pytest.raises(Invalid, match="The example “It crashes” names “praise”, which is no longer a label"):
        publish(draft, lead)


def test_publishing_is_refused_when_the_draft_changed_since_it_was_shown(draft, lead):
    add(draft, lead)
    shown = guidelines.consequences(draft).seen
    add(draft, lead, "It crashes again")
    with pytest.raises(drafts.Changed):
        guidelines.publish(draft, change=Change.MATERIAL, reason="r", by=lead, at=NOW, seen=shown)
    shown = guidelines.consequences(draft).seen
    made = guidelines.publish(draft, change=Change.MATERIAL, reason="r", by=lead, at=NOW, seen=shown)
    assert (made.number, made.digest) == ("2.0", shown)


def test_a_published_version_refuses_every_change(draft, lead):
    example = add(draft, lead)
    publish(draft, lead)
    question = draft.questions.get()
    label = question.labels.first()
    before = reading.content(draft)
    refused = 0
    for change in (
        lambda: drafts.save_text(draft, text="x", revision=draft.revision, by=lead),
        lambda: drafts.discard(draft, by=lead),
        lambda: publish(draft, lead),
        lambda: labels.add_question(draft, text="More?", task_type="nominal", by=lead),
        lambda: labels.edit_question(question, text="x", task_type="ordinal", by=lead),
        lambda: labels.move_question(question, to=0, by=lead),
        lambda: labels.remove_question(question, by=lead),
        lambda: labels.add_label(question, name="x", by=lead),
        lambda: labels.edit_label(label, name="x", by=lead),
        lambda: labels.move_label(label, to=2, by=lead),
        lambda: labels.remove_label(label, by=lead),
        lambda: add(draft, lead, "another"),
        lambda: guidelines.edit_example(example, content={"text": "x"}, value="praise", by=lead),
        lambda: guidelines.remove_example(example, by=lead),
    ):
        with pytest.raises(drafts.Published):
            change()
        refused += 1
    draft.refresh_from_db()
    assert (refused, reading.content(draft)) == (14, before)


def test_a_copy_in_hand_from_before_publishing_refuses_too(draft, lead):
    stale = GuidelineVersion.objects.get(pk=draft.pk)
    add(draft, lead)
    publish(draft, lead)
    assert stale.is_draft
    with pytest.raises(drafts.Published):
        add(stale, lead, "too late")


def test_the_digest_is_of_everything_and_of_nothing_else(draft, lead):
    digests = [guidelines.digest(draft)]
    add(draft, lead)
    digests.append(guidelines.digest(draft))
    draft.label_mapping = {"intent": {"praise": "complaint"}}
    digests.append(guidelines.digest(draft))
    assert len(set(digests)) == 3
    json.dumps(reading.content(draft).as_json())
    styles.set_style(draft.project, "intent", "praise", "#000000", "p")
    assert guidelines.digest(draft) == digests[-1]


def test_the_mapping_of_labels_is_stored_and_said_anew_by_every_version(draft, lead):
    draft.label_mapping = {"intent": {"praise": "complaint"}}
    draft.save(update_fields=["label_mapping"])
    made = publish(draft, lead)
    assert made.label_mapping == {"intent": {"praise": "complaint"}}
    assert made.digest == guidelines.digest(made)
    following = drafts.draft_of(made.project, by=lead)
    assert following.label_mapping == {}
    assert guidelines.differences(made, following).is_empty


def test_the_checklist_says_what_is_left_to_do(project):
    boss = factories.member(project, "boss", "lead")
    made = drafts.draft_of(project, by=boss)
    assert [(step.done, step.needed, step.place) for step in guidelines.checklist(made)] == [
        (False, True, "text"),
        (False, True, "questions"),
        (False, False, "questions"),
        (False, False, "examples"),
    ]


def test_consequences_name_both_numbers_and_what_is_material(draft, lead):
    drafts.save_text(draft, text="Other words.", revision=draft.revision, by=lead)
    draft.refresh_from_db()
    wording = guidelines.consequences(draft)
    add(draft, lead)
    rules = guidelines.consequences(draft)
    assert (wording.editorial_number, wording.material_number) == ("1.1", "2.0")
    assert (wording.may_be_editorial, rules.may_be_editorial) == (True, False)
    assert rules.why_material == ("the example “It crashes” was added",)
    assert (wording.may_publish, rules.may_publish) == (True, True)
