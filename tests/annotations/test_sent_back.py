"""Labels sent back after the draw has closed: what the rater sees, and that nothing measured moves."""

from datetime import timedelta

import pytest
from django.http import Http404

from annotations import adjudication, cases, labelling, sent_back
from annotations.models import Annotation, Case, Draw, Resolution, SentBack
from projects.errors import Invalid
from tests import factories
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

AT = factories.NOW + timedelta(days=1)
LATER = AT + timedelta(hours=1)


@pytest.fixture
def case(project, lead, anna, ben) -> Case:
    disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")})
    return cases.find(lead, disputes.case_of("first").uuid)


def send(case, lead, letter="A") -> SentBack:
    return sent_back.send(case, letter=letter, reason="Read the last sentence.", by=lead, at=AT)


@pytest.mark.parametrize("letter", ["A", "B"])
def test_a_label_goes_back_to_its_rater_alone(case, lead, anna, ben, letter):
    row = send(case, lead, letter)

    rater = (case.first if letter == "A" else case.second).member
    other = {anna, ben} - {rater}
    assert list(sent_back.to(rater)) == [row]
    assert list(sent_back.to(other.pop())) == []


def test_a_correction_answers_it_and_moves_nothing_measured(case, lead):
    row = send(case, lead)
    annotation = case.first
    measured = annotation.answers

    labelling.correct(annotation.member, annotation.uuid, answers={"intent": "question"}, at=LATER)

    annotation = Annotation.objects.get(pk=annotation.pk)
    assert (annotation.answers, annotation.latest) == (measured, {"intent": "question"})
    assert list(sent_back.to(annotation.member)) == []
    (side, _other) = cases.sides(cases.find(lead, case.uuid))
    assert (side.later, side.value, side.rater) == ("question", measured["intent"], "")
    assert SentBack.objects.get(pk=row.pk).kept_at is None


def test_a_rater_who_stands_by_the_label_is_asked_no_more(case, lead):
    row = send(case, lead)

    sent_back.keep(case.first.member, row.uuid, at=LATER)

    assert list(sent_back.to(case.first.member)) == []
    assert send(case, lead) != row


def test_sent_twice_it_is_one(case, lead):
    assert send(case, lead) == send(case, lead)


def test_nobody_answers_for_somebody_else(case, lead):
    row = send(case, lead)

    with pytest.raises(Http404):
        sent_back.keep(case.second.member, row.uuid, at=LATER)


def test_nothing_is_seen_while_the_draw_is_open(case, lead):
    send(case, lead)
    Draw.objects.update(state="open")

    assert list(sent_back.to(case.first.member)) == []


@pytest.mark.parametrize("wrong", [{"letter": "C"}, {"reason": "  "}, {"reason": "a\x00b"}])
def test_what_cannot_be_used_sends_nothing(case, lead, wrong):
    with pytest.raises(Invalid):
        sent_back.send(case, **{"letter": "A", "reason": "why"} | wrong, by=lead, at=AT)
    assert SentBack.objects.count() == 0


def test_who_rated_sends_nothing_back(case, anna):
    anna.is_lead = True
    anna.save()

    with pytest.raises(adjudication.OwnRating):
        send(case, anna)


def test_no_rater_is_named_while_another_question_on_the_item_is_open(project, version, lead, anna, ben):
    """The comments are the same on both: a name on one would be a name on the other."""
    factories.question(version, "tone", ("calm", "angry"))
    said = {"both": ({"intent": "praise", "tone": "calm"}, {"intent": "complaint", "tone": "angry"})}
    disputes.rated(project, [anna, ben], said)
    intent, tone = (cases.find(lead, disputes.case_of("both", key).uuid) for key in ("intent", "tone"))
    adjudication.resolve(intent, value="praise", rationale="It is.", cause="slip", by=lead, at=AT)

    assert [side.rater for side in cases.sides(cases.find(lead, intent.uuid))] == ["", ""]

    adjudication.resolve(tone, value="calm", rationale="It is.", cause="slip", by=lead, at=AT)
    assert Resolution.objects.filter(standing=True).count() == 2
    assert {side.rater for side in cases.sides(cases.find(lead, intent.uuid))} == {"anna", "ben"}
