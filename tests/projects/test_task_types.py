from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from projects.task_types import TASK_TYPES, AnswerError, Nominal, Ordinal, TaskType, Unit, in_order

pytestmark = pytest.mark.one_database


@dataclass(frozen=True)
class PlainLabel:
    key: str
    name: str = "A name"
    order: int = 0
    value: float | Decimal | None = None


def scale(*keys: str, values: list[Any] | None = None) -> list[PlainLabel]:
    return [PlainLabel(key, f"Label {key}", order, values[order] if values else None) for order, key in enumerate(keys)]


THREE = scale("low", "medium", "high")


@pytest.mark.parametrize("task_type", TASK_TYPES.values(), ids=TASK_TYPES)
def test_every_task_type_keeps_the_whole_contract(task_type: TaskType) -> None:
    first, *_, last = (task_type.clean(label.key, THREE) for label in THREE)

    assert TASK_TYPES[task_type.key] is task_type
    assert task_type.title
    assert task_type.level
    assert task_type.widget.startswith("annotations/widgets/_")
    assert task_type.check_labels(THREE) == []
    assert task_type.clean(first, THREE) == first
    assert task_type.gap(first, first, THREE) == 0
    assert task_type.gap(first, last, THREE) == task_type.gap(last, first, THREE) == 1
    assert task_type.units(first, {"text": "An item"}) == [Unit(0, first)]
    assert task_type.describe(first, THREE) == "Label low"


@pytest.mark.parametrize("task_type", [Nominal(), Ordinal()])
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "No label was given: choose one of 'low', 'medium', 'high'."),
        ("", "No label was given: choose one of 'low', 'medium', 'high'."),
        ("LOW", "'LOW' is not a label of this question: choose one of 'low', 'medium', 'high'."),
        (" low", "' low' is not a label of this question: choose one of 'low', 'medium', 'high'."),
        (1, "Found 1 (int) where the key of one label belongs: one of 'low', 'medium', 'high'."),
        (True, "Found True (bool) where the key of one label belongs: one of 'low', 'medium', 'high'."),
        (["low"], "Found ['low'] (list) where the key of one label belongs: one of 'low', 'medium', 'high'."),
    ],
)
def test_clean_names_what_was_found_and_what_is_allowed(task_type: TaskType, raw: object, message: str) -> None:
    with pytest.raises(AnswerError) as caught:
        task_type.clean(raw, THREE)

    assert str(caught.value) == message


def test_clean_takes_no_number_for_a_key_that_reads_the_same() -> None:
    with pytest.raises(AnswerError):
        Nominal().clean(1, scale("1", "2"))


def test_clean_shortens_what_was_found_in_its_message() -> None:
    with pytest.raises(AnswerError) as caught:
        Nominal().clean("x" * 5_000, THREE)

    assert len(str(caught.value)) < 200


def test_nominal_gap_is_all_or_nothing() -> None:
    assert [Nominal().gap("low", other.key, THREE) for other in THREE] == [0.0, 1.0, 1.0]


def test_ordinal_gap_is_the_share_of_the_scale_between() -> None:
    labels = scale("1", "2", "3", "4", "5")

    assert [Ordinal().gap("2", label.key, labels) for label in labels] == [0.25, 0.0, 0.25, 0.5, 0.75]


def test_ordinal_gap_goes_by_declared_order_and_not_by_alphabet_or_sequence() -> None:
    shuffled = [THREE[2], THREE[0], THREE[1]]

    assert Ordinal().gap("low", "medium", shuffled) == 0.5
    assert Ordinal().gap("low", "high", shuffled) == 1.0
    assert [label.key for label in in_order(shuffled)] == ["low", "medium", "high"]


def test_ordinal_gap_refuses_a_value_that_is_not_on_the_scale() -> None:
    with pytest.raises(AnswerError, match="'huge' is not a step of this scale: 'low', 'medium', 'high'"):
        Ordinal().gap("low", "huge", THREE)


def test_describe_falls_back_on_the_key_of_a_retired_label() -> None:
    assert Nominal().describe("gone", THREE) == "gone"


@pytest.mark.parametrize(
    ("labels", "problems"),
    [
        ([], ["The question has 0 labels: it needs 2 or more."]),
        (scale("a"), ["The question has 1 label: it needs 2 or more."]),
        (
            [PlainLabel("a", "A", 0), PlainLabel("a", "B", 1)],
            ["The key 'a' is there more than once: every label needs its own."],
        ),
        (
            [PlainLabel("a", "Same", 0), PlainLabel("b", " same", 1)],
            ["The name 'same' is there more than once: every label needs its own."],
        ),
        (
            [PlainLabel("", "A", 0), PlainLabel("b", " ", 1)],
            ["Label 1 has no key: give it one.", "Label 2 has no name: give it one."],
        ),
        (
            scale("a", "b", "c", values=[1, None, None]),
            ["Some labels have a numeric value and 'b', 'c' has none: give all of them one, or none."],
        ),
        (
            scale("a", "b", values=[1.0, float("inf")]),
            ["The value of 'b' is inf: it has to be a finite number."],
        ),
    ],
)
@pytest.mark.parametrize("task_type", [Nominal(), Ordinal()])
def test_check_labels_says_what_is_wrong(task_type: TaskType, labels: list[PlainLabel], problems: list[str]) -> None:
    assert task_type.check_labels(labels) == problems


def test_ordinal_needs_one_order() -> None:
    labels = [PlainLabel("a", "A", 1), PlainLabel("b", "B", 1)]

    assert Ordinal().check_labels(labels) == ["'a' and 'b' both have the place 1: a scale needs one order."]
    assert Nominal().check_labels(labels) == []


@pytest.mark.parametrize("values", [[1, 2, 3], [3.5, 2, -1], [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]])
def test_ordinal_values_may_rise_or_fall(values: list[Any]) -> None:
    assert Ordinal().check_labels(scale("a", "b", "c", values=values)) == []


@pytest.mark.parametrize("values", [[1, 3, 2], [1, 1, 2], [2, 2, 2]])
def test_ordinal_values_have_to_follow_the_order(values: list[Any]) -> None:
    found = ", ".join(f"{key!r} {value}" for key, value in zip("abc", values, strict=True))

    assert Ordinal().check_labels(scale("a", "b", "c", values=values)) == [
        f"The values do not follow the order of the scale ({found}): they have to rise, or fall, at every step."
    ]
    assert Nominal().check_labels(scale("a", "b", "c", values=values)) == []
