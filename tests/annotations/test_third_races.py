"""Two at once at a conflict that waits for a third rating: one of them holds. On both databases."""

from datetime import timedelta

import pytest

from annotations import labelling, ruling, third_ratings
from annotations.models import Annotation, Case, Resolution, Slot, ThirdRating, Wave
from tests import factories
from tests.annotations import thirds
from tests.annotations.test_concurrency import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waiting(project, lead, anna, ben):
    """A conflict that waits for cara's rating, which she can no longer correct."""
    cara = factories.member(project, "cara")
    _draw, at = thirds.closed("third_majority", project, [anna, ben])
    thirds.give(cara, "praise", at=at)
    return Case.objects.select_related("item", "draw__wave").get(), at + thirds.LATER


def test_two_sweeps_at_once_decide_a_conflict_once(waiting):
    _case, at = waiting

    assert in_threads(*[lambda: ruling.settle(at=at)] * 2) == []

    assert (Case.objects.get().state, Resolution.objects.count()) == ("decided", 1)
    assert ThirdRating.objects.get().outcome == "decided"


def test_taken_back_while_the_rule_decides_one_of_the_two_holds(waiting, lead):
    case, at = waiting

    raised = in_threads(lambda: ruling.settle(at=at), lambda: third_ratings.take_back(case, by=lead, at=at))

    found, outcome = Case.objects.get(), ThirdRating.objects.get().outcome
    assert [type(error) for error in raised] in ([], [third_ratings.NotWaiting])
    assert (found.state, outcome, Resolution.objects.count()) == (
        ("decided", "decided", 1) if raised else ("open", "taken_back", 0)
    )


def test_a_third_rating_that_is_sent_while_it_is_taken_back_is_kept(project, lead, anna, ben):
    cara = factories.member(project, "cara")
    _draw, at = thirds.closed("third_majority", project, [anna, ben])
    assignment, case = thirds.held(cara, at), Case.objects.select_related("item").get()

    raised = in_threads(
        lambda: labelling.submit(cara, assignment.uuid, answers={"intent": "praise"}, at=at),
        lambda: third_ratings.take_back(case, by=lead, at=at),
    )

    assert raised == []
    assert (Annotation.objects.filter(member=cara).count(), Case.objects.get().state) == (1, "open")
    slot = Slot.objects.get(kind="tiebreak")
    assert (slot.state == "rated") == Annotation.objects.filter(slot=slot).exists()
    assert Wave.samples.get().single_left == 0
    ruling.settle(at=at + thirds.LATER)
    assert Resolution.objects.count() == 0


def test_a_correction_that_comes_while_the_rule_decides_is_in_or_is_a_layer_on_top(waiting):
    _case, at = waiting
    rating = Annotation.objects.get(slot__kind="tiebreak")
    in_time = rating.window_ends - timedelta(seconds=1)

    raised = in_threads(
        lambda: ruling.settle(at=at),
        lambda: labelling.correct(rating.member, rating.uuid, answers={"intent": "complaint"}, at=in_time),
    )

    rating.refresh_from_db()
    assert raised == []
    assert rating.latest == {"intent": "complaint"}
    assert Resolution.objects.get().value == rating.answers["intent"]
