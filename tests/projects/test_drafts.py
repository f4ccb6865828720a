"""A draft is one, loses nobody's text, and is copied whole."""

import pytest

from projects import drafts, guidelines, reading
from projects.errors import Invalid, NotAllowed, StaleText
from projects.models import Example, GuidelineVersion
from tests import factories
from tests.factories import NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead, at=NOW)


def add(draft, lead, text="It crashes", **fields) -> Example:
    sent = {"question_key": "intent", "content": {"text": text}, "value": "complaint", **fields}
    return guidelines.add_example(draft, **sent, by=lead)


def test_a_first_draft_starts_from_headings_and_without_questions(project):
    boss = factories.member(project, "boss", "lead")
    made = drafts.draft_of(project, by=boss, at=NOW)
    assert (made.text, made.questions.count(), made.based_on) == (drafts.starter_text(), 0, None)


def test_a_draft_copies_all_that_is_published_and_leaves_it_alone(version, lead):
    old = factories.question(
        version, "urgency", ("1", "2"), task_type="ordinal", values=[1, 2], required=False, help="How soon?"
    )
    Example.objects.create(
        version=version, question_key="urgency", content={"text": "now"}, value="2", content_hash="a", folded_hash="b"
    )
    before = reading.content(version)
    made = drafts.draft_of(version.project, by=lead, at=NOW)
    assert reading.content(made) == before
    assert reading.content(version) == before
    assert made.based_on == version
    assert old.version == version


def test_a_project_has_one_draft(version, lead, draft):
    assert drafts.draft_of(version.project, by=lead) == draft


def test_a_member_of_another_project_gets_no_draft(version, draft):
    stranger = factories.member(factories.project("Elsewhere"), "stranger", "lead")
    with pytest.raises(NotAllowed):
        drafts.draft_of(version.project, by=stranger)
    with pytest.raises(NotAllowed):
        drafts.save_text(draft, text="mine", revision=draft.revision, by=stranger)


def test_saving_on_top_of_somebody_elses_text_shows_both_and_loses_neither(draft, lead):
    seen = draft.revision
    drafts.save_text(draft, text="theirs", revision=seen, by=lead)
    with pytest.raises(StaleText) as refusal:
        drafts.save_text(draft, text="mine", revision=seen, by=lead)
    draft.refresh_from_db()
    assert (refusal.value.theirs, refusal.value.yours, draft.text) == ("theirs", "mine", "theirs")


def test_saving_the_same_text_twice_changes_nothing(draft, lead):
    seen = draft.revision
    drafts.save_text(draft, text="mine", revision=seen, by=lead)
    drafts.save_text(draft, text="mine", revision=seen, by=lead)
    draft.refresh_from_db()
    assert (draft.text, draft.revision) == ("mine", seen + 1)


def test_an_example_that_comes_in_meanwhile_makes_no_text_stale(draft, lead):
    seen = draft.revision
    add(draft, lead)
    drafts.save_text(draft, text="mine", revision=seen, by=lead)
    draft.refresh_from_db()
    assert (draft.text, draft.examples.count()) == ("mine", 1)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "x" * (drafts.TEXT_LIMIT + 1)])
def test_a_text_that_cannot_be_stored_is_refused(draft, lead, text):
    with pytest.raises(Invalid):
        drafts.save_text(draft, text=text, revision=draft.revision, by=lead)


def test_windows_line_ends_are_no_change(draft, lead):
    drafts.save_text(draft, text="one\r\ntwo", revision=draft.revision, by=lead)
    draft.refresh_from_db()
    assert draft.text == "one\ntwo"


def test_a_discarded_draft_takes_nothing_more(draft, lead, version):
    add(draft, lead)
    drafts.discard(draft, by=lead)
    with pytest.raises(drafts.DraftGone):
        drafts.save_text(GuidelineVersion(pk=99, project=version.project), text="x", revision=1, by=lead)
    assert list(version.project.versions.all()) == [version]
    assert Example.objects.count() == 0
