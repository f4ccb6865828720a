import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.folding import content_hash, fold, folded_hash
from projects.task_types import Json

pytestmark = pytest.mark.one_database

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def test_content_hash_is_sha256_of_canonical_json() -> None:
    # printf '{"a":"é","b":1}' | sha256sum
    assert content_hash({"b": 1, "a": "é"}) == "aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e"


def test_content_hash_does_not_depend_on_the_order_of_fields() -> None:
    assert content_hash({"a": "x", "b": {"c": 1, "d": 2}}) == content_hash({"b": {"d": 2, "c": 1}, "a": "x"})


@pytest.mark.parametrize("other", ["Text", "text ", "text\n", "te\u200bxt", "ｔext", ""])
def test_content_hash_changes_with_any_character(other: str) -> None:
    assert content_hash({"text": "text"}) != content_hash({"text": other})


def test_content_hash_tells_types_and_fields_apart() -> None:
    shown: list[dict[str, Json]] = [
        {"a": 1},
        {"a": "1"},
        {"a": True},
        {"a": None},
        {"a": ""},
        {"b": 1},
        {"a": [1]},
        {"a": 1.5},
        {},
    ]

    assert len({content_hash(one) for one in shown}) == len(shown)


def test_content_hash_survives_a_database_that_rewrites_numbers() -> None:
    assert content_hash({"a": 1.0, "b": [-0.0, {"c": 2.0}]}) == content_hash({"a": 1, "b": [0, {"c": 2}]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_content_hash_refuses_what_json_cannot_say(value: float | str) -> None:
    with pytest.raises(ValueError):
        content_hash({"a": value})


@given(st.dictionaries(texts, st.none() | st.booleans() | st.integers(-(2**63), 2**63) | texts, max_size=4))
def test_content_hash_is_the_same_after_a_trip_through_json(shown: dict[str, str | int | None]) -> None:
    assert content_hash(shown) == content_hash(json.loads(json.dumps(shown)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I  learn?", " how do i\n\tlearn? "),
        ("STRASSE", "straße"),
        ("e\u0301", "É"),
        ("ｆｕｌｌ", "full"),
        ("\ufb01ne", "FINE"),
        ("a\u00a0b", "a b"),
    ],
)
def test_folded_hash_is_equal_for_what_reads_the_same(one: str, other: str) -> None:
    assert folded_hash({"text": one}) == folded_hash({"text": other})
    assert content_hash({"text": one}) != content_hash({"text": other})


def test_folded_hash_takes_a_value_as_it_is_shown_whatever_file_it_came_from() -> None:
    assert folded_hash({"a": "1", "b": "", "c": ["True"]}) == folded_hash({"a": 1.0, "b": None, "c": [True]})


@pytest.mark.parametrize("other", ["how do you learn?", "how do i learn", "howdo i learn?"])
def test_folded_hash_keeps_different_texts_apart(other: str) -> None:
    assert folded_hash({"text": "how do i learn?"}) != folded_hash({"text": other})


def test_folded_hash_keeps_fields_apart() -> None:
    assert folded_hash({"question1": "a", "question2": "b"}) != folded_hash({"question1": "b", "question2": "a"})


@given(texts)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
