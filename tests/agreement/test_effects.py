"""The rate of a confusion before and after its example, against counting by hand."""

from itertools import combinations
from math import sqrt
from statistics import NormalDist

import pytest

from agreement import effects
from annotations import publishing
from projects import guidelines
from projects.models import GuidelineVersion, Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db

BEFORE = [("praise", "complaint")] * 5 + [("praise", "question")] * 4 + [("praise", "praise")] * 21
AFTER = [("complaint", "praise")] * 2 + [("praise", "question")] * 3 + [("question", "question")] * 35


def by_hand(said: list[tuple[str, ...]], one: str, other: str) -> tuple[float, float, float]:
    """Share and Wilson's ends, straight from the answers."""
    shares = []
    for answers in said:
        if len(answers) > 1:
            pairs = list(combinations(answers, 2))
            shares.append(sum({a, b} == {one, other} for a, b in pairs) / len(pairs))
    n, p, z = len(shares), sum(shares) / len(shares), NormalDist().inv_cdf(0.975)
    centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return p, (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def measure(version: GuidelineVersion, people: list[Membership], said: list[tuple[str, ...]], **about):
    answers = [dict(zip(people, each, strict=False)) for each in said]
    return rows.draw(version, answers, by=people[0], closing=about.pop("closing", "complete"), **about)


def next_version(version: GuidelineVersion, by: Membership, **example) -> GuidelineVersion:
    draft = guidelines.draft_of(version.project, by=by)
    if example:
        guidelines.add_example(
            draft, question_key="intent", content={"text": example.pop("text", "Fix it.")}, by=by, **example
        )
    else:
        question = draft.questions.get()
        question.help = f"Asked anew after {version.number}."
        question.save()
    return publishing.publish(draft, change="material", reason="To see whether it helps.", by=by, at=NOW)


@pytest.fixture
def people(lead, anna, ben) -> list[Membership]:
    return [anna, ben]


@pytest.fixture
def second(version, people, lead) -> GuidelineVersion:
    """Measured before and after the example that settles praise against complaint."""
    measure(version, people, BEFORE)
    second = next_version(version, lead, value="complaint", confused_with="praise")
    measure(second, people, AFTER)
    return second


def test_the_rates_are_those_counted_by_hand(second):
    (found,) = effects.of_version(second)

    (before,), (after,) = found.before, found.after
    assert (before.items, before.n, after.items, after.n) == (5, 30, 2, 40)
    for rate, said in ((before, BEFORE), (after, AFTER)):
        value, low, high = by_hand(said, "complaint", "praise")
        assert rate.value == pytest.approx(value)
        assert (rate.interval.low, rate.interval.high) == pytest.approx((low, high))


def test_the_change_has_an_interval_of_its_own(second):
    (found,) = effects.of_version(second)

    (p1, l1, u1), (p2, l2, u2) = by_hand(AFTER, "praise", "complaint"), by_hand(BEFORE, "praise", "complaint")
    difference = p1 - p2
    low = difference - sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2)
    high = difference + sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)
    assert (found.change.value, found.change.interval.low, found.change.interval.high) == pytest.approx(
        (difference, low, high)
    )


def test_an_item_with_three_ratings_counts_by_its_pairs(version, people, lead):
    cara = factories.member(version.project, "cara")
    three = [("praise", "praise", "complaint"), ("praise", "complaint", "question"), ("praise",) * 3, ("praise",)]
    second = next_version(version, lead, value="complaint", confused_with="praise")
    measure(second, [*people, cara], three, needed=3)

    (rate,) = effects.of_version(second)[0].after

    assert (rate.items, rate.n) == (2, 3)
    assert rate.value == pytest.approx(by_hand(three, "complaint", "praise")[0]) == pytest.approx((2 / 3 + 1 / 3) / 3)


def test_one_protocol_of_a_major_is_counted_together_and_another_beside_it(second, people):
    measure(second, people, AFTER[:10])
    measure(second, people, AFTER[:4], minimum_n=7)

    together, other = effects.of_version(second)[0].after

    assert [[part.n for part in rate.parts] for rate in (together, other)] == [[40, 10], [4]]


def test_open_and_abandoned_draws_and_surplus_do_not_count(second, people):
    measure(second, people, AFTER, closing="")
    abandoned = measure(second, people, AFTER)
    abandoned.state = "abandoned"
    abandoned.save()
    closed = measure(second, people, [("praise",)])
    rows.rate(closed, closed.wave_items.get(), people[1], "complaint", measured=False)

    (rate,) = effects.of_version(second)[0].after

    assert [(part.items, part.n) for part in rate.parts] == [(2, 40)]


def test_a_carried_example_is_held_against_what_was_before_it(second, people, lead):
    third = next_version(second, lead, value="question", confused_with="praise", text="Where is it?")
    measure(third, people, [("praise", "complaint")] * 3 + [("praise", "praise")] * 7)

    own, carried = effects.of_version(third)

    assert (own.entered, carried.entered) == (third, second)
    assert (own.before[0].items, own.before[0].n) == (3, 40)
    assert (carried.before[0].n, carried.after[0].items, carried.after[0].n) == (30, 3, 10)


def test_a_changed_example_begins_anew(second, people, lead):
    draft = guidelines.draft_of(second.project, by=lead)
    row = draft.examples.get()
    guidelines.edit_example(
        row, content=row.content, value="complaint", confused_with="praise", rationale="Because it asks.", by=lead
    )
    third = publishing.publish(draft, change="material", reason="Reworded.", by=lead, at=NOW)

    (found,) = effects.of_version(third)

    assert (found.entered, found.changed, found.before[0].n, found.after) == (third, True, 40, ())
    assert found.change is None


def test_an_example_of_the_first_version_has_nothing_before_it(version, people, lead):
    version.examples.create(
        question_key="intent", content={"text": "Ugh"}, value="praise", confused_with="complaint", folded_hash="1"
    )
    measure(version, people, BEFORE)

    (found,) = effects.of_version(version)

    assert (found.before, found.after[0].items, found.changed) == ((), 5, False)


def test_an_example_that_names_no_confusion_says_so(version, lead):
    second = next_version(version, lead, value="praise")

    (found,) = effects.of_version(second)

    assert (found.before, found.after, found.why_not[:8]) == ((), (), "It names")


def test_one_example_through_the_majors(second, people, lead):
    lineage = second.examples.get().lineage
    third = next_version(second, lead)
    measure(third, people, AFTER[:8])

    found = effects.of_example(second.project, lineage)

    assert [(version.number, one.after[0].n) for version, one in found] == [("2.0", 40), ("3.0", 8)]


def test_examples_are_found_from_the_confusion(second):
    found = effects.written_for(second.project, "intent", "praise", "complaint")

    assert [(version, example.value) for version, example in found] == [(second, "complaint")]
    assert effects.written_for(second.project, "intent", "praise", "question") == []


def test_the_draft_is_not_told(second, lead):
    guidelines.draft_of(second.project, by=lead)

    assert [version.number for version, _one in effects.of_example(second.project, second.examples.get().lineage)] == [
        "2.0"
    ]
