"""Practice on the new examples of a MAJOR, where the project asks for a pass mark."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import practice, publishing, releasing, serving
from annotations.models import Practice
from projects import guidelines
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import GuidelineVersion
from tests import factories

pytestmark = pytest.mark.django_db

AT = factories.NOW


@pytest.fixture
def second(project, version, lead, anna, ben) -> GuidelineVersion:
    """2.0 with two new examples, one for each of two labels."""
    version.examples.create(question_key="intent", content={"text": "Old"}, value="praise", folded_hash="old")
    draft = guidelines.draft_of(project, by=lead)
    for text, value in (("Fix it.", "complaint"), ("Where is it?", "question")):
        guidelines.add_example(draft, question_key="intent", content={"text": text}, value=value, by=lead)
    return publishing.publish(draft, change="material", reason="New examples.", by=lead, at=AT)


@pytest.fixture
def reader(second, anna):
    publishing.acknowledge(anna, second, at=AT)
    return ask(anna, 100)


def ask(member, percent: int):
    member.project.protocol = member.project.protocol | {"practice_pass_percent": percent}
    member.project.save()
    return member


def go(member, version, *, right: bool) -> None:
    """Answer what is left of the round."""
    for example in practice.state(member, version).left:
        practice.answer(member, example.lineage, example.value if right else "praise", at=AT)


def test_without_a_pass_mark_nothing_is_owed_or_asked(second, anna):
    publishing.acknowledge(anna, second, at=AT)

    with CaptureQueriesContext(connection) as queries:
        assert not practice.owed(anna, second)
    assert len(queries) == 0


def test_the_new_examples_are_practised_and_no_others(reader, second):
    now = practice.state(reader, second)

    assert sorted(row.content["text"] for row in now.left) == ["Fix it.", "Where is it?"]
    assert (now.round, now.total, now.answered, now.percent) == (1, 2, 0, 100)


def test_nothing_is_served_before_the_practice_is_passed(reader, second, lead):
    factories.items(second.project, 4)
    releasing.open_wave(second.project, by=lead, at=AT)
    before = serving.next_task(reader, at=AT)

    go(reader, second, right=True)

    assert (before.code, isinstance(serving.next_task(reader, at=AT), serving.Task)) == ("practice", True)


def test_an_answer_is_kept_with_whether_it_was_right(reader, second):
    example = practice.state(reader, second).left[0]

    row = practice.answer(reader, example.lineage, "praise", at=AT)

    assert (row.version, row.round, row.answer, row.right, row.at) == (second, 1, "praise", False, AT)
    assert practice.state(reader, second).answered == 1


def test_below_the_mark_another_round_begins(reader, second):
    go(reader, second, right=False)
    again = practice.state(reader, second)
    go(reader, second, right=True)

    assert (again.round, again.answered, len(again.left)) == (2, 0, 2)
    assert practice.state(reader, second) is None
    assert Practice.objects.count() == 4


def test_the_mark_is_a_share_of_the_round(reader, second):
    first, other = practice.state(reader, second).left
    practice.answer(reader, first.lineage, first.value, at=AT)
    practice.answer(reader, other.lineage, "praise", at=AT)

    assert practice.owed(reader, second)
    assert not practice.owed(ask(reader, 50), second)
    assert practice.owed(ask(reader, 51), second)


def test_the_same_answer_sent_twice_is_one_and_the_first_stands(reader, second):
    example = practice.state(reader, second).left[0]

    first = practice.answer(reader, example.lineage, "praise", at=AT)
    again = practice.answer(reader, example.lineage, example.value, at=AT)

    assert (first, Practice.objects.count()) == (again, 1)


def test_what_is_no_label_or_no_example_is_refused(reader, second, version):
    example = practice.state(reader, second).left[0]

    with pytest.raises(Invalid):
        practice.answer(reader, example.lineage, "threat", at=AT)
    with pytest.raises(DomainError, match="not part of your practice round"):
        practice.answer(reader, version.examples.get().lineage, "praise", at=AT)


def test_who_has_passed_practises_no_more(reader, second):
    go(reader, second, right=True)

    with pytest.raises(NotAllowed, match="nothing for you to practise"):
        practice.answer(reader, second.examples.first().lineage, "praise", at=AT)


def test_an_editorial_version_brings_no_practice(reader, second, lead):
    go(reader, second, right=True)
    draft = guidelines.draft_of(second.project, by=lead)
    guidelines.save_text(draft, text=draft.text + "\n\nBetter.", revision=draft.revision, by=lead)
    minor = publishing.publish(draft, change="editorial", reason="Wording.", by=lead, at=AT)

    assert not practice.owed(reader, minor)
    assert practice.owed(ask(factories.member(second.project, "nina"), 100), minor)


def test_a_version_without_new_examples_asks_for_none(version, anna):
    assert not practice.owed(ask(anna, 100), version)


def test_everyone_has_an_order_of_their_own_that_lasts(second, anna):
    members = [ask(factories.member(second.project, f"m{n}"), 100) for n in range(8)]

    orders = [[row.lineage for row in practice.state(member, second).left] for member in members]

    assert orders == [[row.lineage for row in practice.state(member, second).left] for member in members]
    assert len({tuple(order) for order in orders}) == 2


def test_once_the_examples_are_known_serving_pays_one_query(reader, second):
    practice.owed(reader, second)

    with CaptureQueriesContext(connection) as queries:
        practice.owed(reader, second)

    assert len(queries) == 1


def test_a_pass_mark_is_no_part_of_a_measurement(reader, second, lead):
    factories.items(second.project, 4)

    wave = releasing.open_wave(second.project, by=lead, at=AT)

    assert "practice_pass_percent" not in wave.draw.protocol


def test_leads_see_how_it_went(reader, second, ben):
    first, other = practice.state(reader, second).left
    practice.answer(reader, first.lineage, first.value, at=AT)
    practice.answer(reader, other.lineage, "praise", at=AT)
    go(reader, second, right=True)

    second.project.refresh_from_db()
    found = publishing.reading_rows(second)

    assert [(row.member.alias, row.has_read, row.at) for row in found] == [("ben", False, None), ("anna", True, AT)]
    standings = [(row.standing.passed, row.standing.rounds, row.standing.first, row.standing.total) for row in found]
    assert standings == [(False, 0, None, 2), (True, 2, 1, 2)]


def test_another_members_answers_do_not_count(reader, second, ben):
    go(reader, second, right=True)

    assert practice.state(ben, second) is not None or not practice.pass_percent(ben.project)
    assert practice.owed(ask(ben, 100), second)
