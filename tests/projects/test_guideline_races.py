"""Two at once: one draft, no lost text, nothing published half."""

import threading

import pytest
from django.db import connection

from projects import drafts, guidelines, labels, styles
from projects.enums import Change, VersionState
from projects.errors import DomainError, Invalid, StaleText
from projects.models import Example, GuidelineVersion, Question
from tests import factories
from tests.factories import NOW


def add(draft, lead, text="It crashes", **fields) -> Example:
    sent = {"question_key": "intent", "content": {"text": text}, "value": "complaint", **fields}
    return guidelines.add_example(draft, **sent, by=lead)


def publish(draft, by, change=Change.MATERIAL, reason="It was time."):
    return guidelines.publish(draft, change=change, reason=reason, by=by, at=NOW)


def at_once(*calls):
    """Run the calls in threads that start together; what each gave or raised."""
    barrier, results = threading.Barrier(len(calls)), [None] * len(calls)

    def run(place, call):
        try:
            barrier.wait(10)
            results[place] = call()
        except DomainError as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.fixture
def committed(transactional_db):
    """A project with a published version and a lead, in committed rows."""
    project = factories.project()
    version = factories.version(project)
    return project, version, factories.member(project, "lea", "lead")


@pytest.mark.postgres
def test_two_who_start_the_draft_at_once_get_the_same_one(committed):
    project, _, lead = committed
    made = at_once(*[lambda: drafts.draft_of(project, by=lead)] * 4)
    assert {row.pk for row in made} == {drafts.current(project).pk}
    assert Question.objects.filter(version=made[0]).count() == 1


@pytest.mark.postgres
def test_of_two_who_save_at_once_one_gets_both_texts(committed):
    project, _, lead = committed
    draft = drafts.draft_of(project, by=lead)
    results = at_once(
        *[
            lambda text=text: drafts.save_text(
                GuidelineVersion.objects.select_related("project").get(pk=draft.pk),
                text=text,
                revision=draft.revision,
                by=lead,
            )
            for text in ("one", "two")
        ]
    )
    stale = [result for result in results if isinstance(result, StaleText)]
    draft.refresh_from_db()
    assert len(stale) == 1
    assert {draft.text, stale[0].yours} == {"one", "two"}
    assert stale[0].theirs == draft.text


@pytest.mark.postgres
def test_publishing_while_labels_and_examples_come_in_keeps_what_was_published(committed):
    project, _, lead = committed
    draft = drafts.draft_of(project, by=lead)
    add(draft, lead, "the first")
    question = draft.questions.get()
    at_once(
        lambda: publish(GuidelineVersion.objects.select_related("project").get(pk=draft.pk), lead),
        lambda: add(draft, lead, "from the side"),
        lambda: labels.add_label(question, name="late", by=lead),
        lambda: drafts.draft_of(project, by=lead),
    )
    published = GuidelineVersion.objects.get(pk=draft.pk)
    assert published.state == VersionState.PUBLISHED
    assert published.digest == guidelines.digest(published)


@pytest.mark.postgres
def test_of_two_who_publish_at_once_one_does(committed):
    project, _, lead = committed
    draft = drafts.draft_of(project, by=lead)
    add(draft, lead)
    results = at_once(
        *[lambda: publish(GuidelineVersion.objects.select_related("project").get(pk=draft.pk), lead).number] * 2
    )
    assert sorted(type(result).__name__ for result in results) == ["Published", "str"]


@pytest.mark.postgres
def test_labels_added_at_once_get_keys_and_places_of_their_own(committed):
    project, _, lead = committed
    question = drafts.draft_of(project, by=lead).questions.get()
    at_once(*[lambda n=n: labels.add_label(question, name=f"投诉 {'x' * n}!", by=lead) for n in range(1, 5)])
    made = list(question.labels.values_list("key", "order"))
    assert len({key for key, _ in made}) == len({order for _, order in made}) == 7


@pytest.mark.postgres
def test_two_labels_do_not_get_one_hotkey_at_once(committed):
    project, _, _ = committed
    results = at_once(
        *[lambda key=key: styles.set_style(project, "intent", key, "", "x") for key in ("praise", "question")]
    )
    assert sum(isinstance(result, Invalid) for result in results) == 1
