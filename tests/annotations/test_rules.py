"""The arithmetic of the rules that decide conflicts: DESIGN §5 "Rules instead of a lead"."""

from collections import Counter
from statistics import median_low

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations import rules
from annotations.enums import ResolutionKind, ResolutionRule
from projects.models import Label
from projects.task_types import TASK_TYPES

SCALE = [Label(key=key, name=key.upper(), order=order) for order, key in enumerate("abcde")]
values = st.lists(st.sampled_from("abcde"), min_size=2, max_size=11)


def decided(rule, said, task_type="ordinal"):
    verdict = rules.decide(rule, list(said), task_type, SCALE)
    return verdict and (verdict.value, verdict.kind.value)


@pytest.mark.parametrize(
    ("rule", "said", "outcome"),
    [
        ("lead", "aab", None),
        ("majority", "ab", None),
        ("majority", "aab", ("a", "majority")),
        ("majority", "abc", None),
        ("majority", "aabb", None),
        ("majority", "aaabc", ("a", "majority")),
        ("majority", "aabc", None),  # the most, but no more than half
        ("median", "ac", ("a", "median")),  # of two the lower
        ("median", "ace", ("c", "median")),
        ("median", "abde", ("b", "median")),
        ("third_majority", "ab", None),
        ("third_majority", "aba", ("a", "majority")),
        ("third_majority", "abc", None),
        ("third_median", "ae", None),
        ("third_median", "aed", ("d", "median")),
    ],
)
def test_a_rule_decides(rule, said, outcome):
    assert decided(ResolutionRule(rule), said) == outcome


@pytest.mark.parametrize(
    ("rule", "said", "wants"),
    [
        ("lead", "ab", False),
        ("majority", "ab", False),
        ("median", "ab", False),
        ("third_majority", "ab", True),
        ("third_majority", "aab", False),  # a majority already
        ("third_majority", "abc", False),  # one more could only make two of four
        ("third_majority", "aabb", True),
        ("third_majority", "aabc", True),  # three of five
        ("third_majority", "abcd", False),
        ("third_median", "ab", True),
        ("third_median", "abc", False),
        ("third_median", "abcd", True),
    ],
)
def test_another_rating_is_wanted_only_where_it_can_settle_it(rule, said, wants):
    assert rules.wants_another(ResolutionRule(rule), list(said)) is wants


@given(values)
def test_a_majority_is_what_more_than_half_said(said):
    counts = Counter(said)
    most = max(counts.values())

    found = rules.majority(said)

    assert (found is not None) == (most > len(said) / 2)
    assert found is None or counts[found] == most


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_the_ratings_decides_nothing(said, rng):
    shuffled = list(said)
    rng.shuffle(shuffled)

    assert rules.tally(shuffled) == rules.tally(said)
    for rule in ResolutionRule:
        assert decided(rule, shuffled) == decided(rule, said)
        assert rules.wants_another(rule, shuffled) == rules.wants_another(rule, said)


@given(values)
def test_the_median_is_the_lower_one_as_the_final_label_within_a_tolerance_is(said):
    assert decided(ResolutionRule.MEDIAN, said) == (median_low(said), "median")
    assert TASK_TYPES["ordinal"].middle(said, SCALE) == median_low(said)


@given(values)
def test_whoever_is_asked_for_can_settle_it_and_nobody_else_is_asked(said):
    asked = rules.wants_another(ResolutionRule.THIRD_MAJORITY, said)
    before = decided(ResolutionRule.THIRD_MAJORITY, said)
    after = [decided(ResolutionRule.THIRD_MAJORITY, [*said, one]) for one in "abcde"]

    assert not (asked and before)
    if before is None:
        assert asked == any(after)


@given(values)
def test_a_median_of_an_odd_number_wants_nobody_more(said):
    wants = rules.wants_another(ResolutionRule.THIRD_MEDIAN, said)

    assert wants == (len(said) % 2 == 0)
    assert (decided(ResolutionRule.THIRD_MEDIAN, said) is None) == wants


@given(values)
def test_counts_add_up_and_stand_the_most_frequent_first(said):
    found = rules.tally(said)

    assert sum(n for _value, n in found) == len(said)
    assert [n for _value, n in found] == sorted((n for _value, n in found), reverse=True)


@pytest.mark.parametrize(
    ("level", "fitting"),
    [
        ("nominal", {"lead", "majority", "third_majority"}),
        ("multilabel", {"lead", "majority", "third_majority"}),
        ("ordinal", set(ResolutionRule.values)),
        ("spans", {"lead"}),
        ("text", {"lead"}),
    ],
)
def test_a_rule_fits_the_answers_it_can_count_or_put_in_order(level, fitting):
    assert {rule.value for rule in ResolutionRule if rules.fits(rule, level)} == fitting


def test_what_does_not_fit_a_question_is_a_leads():
    protocol = {"resolution_rule": "median", "questions": {"own": {"resolution_rule": "majority"}}}

    found = {key: rules.effective(protocol, key, kind).value for key, kind in TYPES.items()}

    assert found == {"grade": "median", "topic": "lead", "marks": "lead", "own": "majority"}


TYPES = {"grade": "ordinal", "topic": "nominal", "marks": "spans", "own": "nominal"}


@pytest.mark.parametrize("protocol", [{}, {"resolution_rule": "lead"}, {"questions": {"a": {"resolution_rule": ""}}}])
def test_without_a_rule_a_lead_decides(protocol):
    assert not rules.any_rule(protocol)
    assert rules.effective(protocol, "a", "nominal") == ResolutionRule.LEAD


def test_answers_that_are_sets_are_counted_as_a_whole():
    said = [["a", "b"], ["a"], ["a", "b"], []]

    assert rules.majority(said) is None
    assert rules.majority(said[:3]) == ["a", "b"]
    assert rules.majority([[], [], ["a"]]) == []


@pytest.mark.parametrize(
    ("rule", "said", "with_third", "words"),
    [
        ("majority", "bab", False, "2 of 3 said “B”, 1 “A”."),
        ("third_majority", "abb", True, "2 of 3 said “B”, 1 “A”. One of them is a third rating, asked for after the "),
        ("median", "eac", False, "In order: A, C, E. The middle one of 3 is “C”."),
        ("median", "ca", False, "In order: A, C. Of the two in the middle, “A” is the lower."),
    ],
)
def test_the_arithmetic_is_said(rule, said, with_third, words):
    verdict = rules.decide(ResolutionRule(rule), list(said), "ordinal", SCALE)

    found = rules.reckoning(verdict, list(said), "ordinal", SCALE, with_third=with_third)

    assert found.startswith(words)
    assert verdict.kind in (ResolutionKind.MAJORITY, ResolutionKind.MEDIAN)
