"""Publishing closes what the old MAJOR had open; annotators read what changed before their next item."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotations import labelling, publishing, releasing, serving
from annotations.enums import Closing
from annotations.models import Acknowledgement, Annotation, Slot
from projects import guidelines
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import GuidelineVersion
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

pytestmark = pytest.mark.django_db

AT = factories.NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    draft = guidelines.draft_of(version.project, by=lead)
    guidelines.add_example(draft, question_key="intent", content={"text": "Refund me."}, value="complaint", by=lead)
    return draft


@pytest.fixture
def wave(project, version, lead):
    factories.items(project, 10)
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))


def publish(draft, by, change="material", **changes):
    return publishing.publish(draft, change=change, reason="Refunds are settled.", by=by, at=AT, **changes)


def test_a_material_change_closes_draw_and_wave_of_the_old_major(wave, draft, lead, anna):
    Team([anna]).work(turns=3)

    version = publish(draft, lead)

    wave.refresh_from_db()
    wave.draw.refresh_from_db()
    assert (version.number, version.state) == ("2.0", "published")
    assert (wave.state, wave.closed_at) == ("closed", AT)
    assert (wave.draw.state, wave.draw.closing, wave.draw.reason, wave.draw.closed_by) == (
        "closed",
        Closing.EARLY,
        "guideline 2.0 was published",
        lead,
    )
    assert set(Slot.objects.values_list("state", flat=True)) <= {"rated", "cancelled"}


def test_an_editorial_change_leaves_the_wave_open(wave, version, lead):
    draft = guidelines.draft_of(version.project, by=lead)
    guidelines.save_text(draft, text=draft.text + "\n\nRead it twice.", revision=draft.revision, by=lead)

    published = publish(draft, lead, change="editorial")

    wave.refresh_from_db()
    assert (published.number, wave.state, wave.draw.state) == ("1.1", "open", "open")


def test_a_refused_publish_closes_nothing(wave, draft, lead):
    with pytest.raises(Invalid, match="cannot be published as editorial"):
        publish(draft, lead, change="editorial")

    wave.refresh_from_db()
    draft.refresh_from_db()
    assert (wave.state, wave.draw.state, draft.is_draft) == ("open", "open", True)


def test_publishing_twice_is_refused(wave, draft, lead):
    stale = GuidelineVersion.objects.get(pk=draft.pk)
    publish(draft, lead)

    with pytest.raises(DomainError, match="is published and cannot change"):
        publish(stale, lead)


def test_an_annotator_does_not_publish(draft, anna):
    with pytest.raises(NotAllowed):
        publish(draft, anna)


def test_conflicts_of_a_draw_that_publishing_closes_come_to_the_queue(project, lead, anna, ben, draft):
    draw = disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint")}, close=False)

    publish(draft, lead)

    assert disputes.case_of("differ").draw == draw


def test_a_form_of_the_old_version_is_kept_and_not_measured(wave, draft, lead, anna):
    task = serving.next_task(anna, at=AT)
    publish(draft, lead)

    labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=AT)

    row = Annotation.objects.get()
    assert (row.version.number, row.draw, row.slot) == ("1.0", None, None)


def test_the_outlook_counts_what_closes_and_what_is_fresh(wave, draft, lead, anna, ben):
    Team([anna, ben], says()).work(turns=4)
    factories.items(wave.project, 3, prefix="new")

    outlook = publishing.outlook(draft)

    rated_items = Annotation.objects.values("item").distinct().count()
    (ending,) = outlook.waves
    assert (ending.wave, ending.measured) == (wave, 10)
    assert ending.rated == Annotation.objects.filter(draw__isnull=False).count()
    assert ending.unrated == 10 - rated_items
    assert (outlook.fresh, outlook.fresh_afterwards, outlook.readers) == (3, 13 - rated_items, 2)
    publish(draft, lead)
    assert publishing.eligibility.ledger(wave.project).fresh == outlook.fresh_afterwards


def test_nothing_is_served_before_the_new_version_is_acknowledged(wave, draft, lead, anna):
    version = publish(draft, lead)
    factories.items(wave.project, 4, prefix="fresh")
    releasing.open_wave(wave.project, by=lead, at=AT, size=4)

    assert serving.next_task(anna, at=AT).code == "acknowledge"
    assert publishing.must_acknowledge(anna) == version
    publishing.acknowledge(anna, version, at=AT)

    assert publishing.must_acknowledge(anna) is None
    assert isinstance(serving.next_task(anna, at=AT), serving.Task)


def test_acknowledging_twice_is_one(draft, lead, anna):
    version = publish(draft, lead)

    publishing.acknowledge(anna, version, at=AT)
    publishing.acknowledge(anna, version, at=AT + timedelta(hours=1))

    assert list(Acknowledgement.objects.values_list("member", "version", "at")) == [(anna.pk, version.pk, AT)]


def test_reading_an_older_version_does_not_count_for_a_newer_one(version, draft, lead, anna):
    publish(draft, lead)

    with pytest.raises(publishing.NewerVersion, match=r"2\.0 was published meanwhile"):
        publishing.acknowledge(anna, version, at=AT)

    assert publishing.must_acknowledge(anna).number == "2.0"


def test_a_draft_and_a_foreign_version_are_not_acknowledged(draft, anna):
    foreign = factories.version(factories.project("Neighbour"))

    for version in (draft, foreign):
        with pytest.raises(NotAllowed):
            publishing.acknowledge(anna, version, at=AT)


def test_news_are_what_changed_since_the_member_last_read(draft, lead, anna):
    version = publish(draft, lead)

    news = publishing.whats_new(anna)

    assert (news.version, news.since.number) == (version, "1.0")
    assert [change.how for change in news.differences.examples] == ["added"]
    assert not news.differences.text_changed


def test_news_of_somebody_new_are_the_whole_guideline(version, project):
    newcomer = factories.member(project, "nina", acknowledged=None)

    news = publishing.whats_new(newcomer)

    assert (news.version, news.since) == (version, None)
    assert [change.how for change in news.differences.questions] == ["added"]


def test_news_span_all_versions_since_the_last_that_was_read(draft, lead, anna):
    second = publish(draft, lead)
    third = guidelines.draft_of(second.project, by=lead)
    guidelines.save_text(third, text=third.text + "\n\nOnce more.", revision=third.revision, by=lead)
    publish(third, lead, change="editorial")

    news = publishing.whats_new(anna)

    assert (news.since.number, news.version.number) == ("1.0", "2.1")
    assert news.differences.text_changed
    assert len(news.differences.examples) == 1


def test_readers_are_told_apart(draft, lead, anna, ben):
    version = publish(draft, lead)
    publishing.acknowledge(anna, version, at=AT)

    found = publishing.readers(version)

    assert (found.have, found.have_not) == ([anna], [ben])
