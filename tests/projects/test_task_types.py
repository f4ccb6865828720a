from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from projects.task_types import (
    TASK_TYPES,
    AnswerError,
    MultiLabel,
    Nominal,
    Ordinal,
    Spans,
    TaskType,
    Text,
    in_order,
)
from projects.task_types.tokens import tokens

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


ITEM: dict[str, Any] = {"text": "The app works fine. Thanks!"}


def span(start: int, end: int, label: str = "low", field: str = "text") -> dict[str, Any]:
    return {"field": field, "start": start, "end": end, "label": label}


# Two canonical answers that are as far apart as they can be, their labels, the first one in words, and as it is posted.
SAMPLES: dict[str, tuple[Any, Any, list[PlainLabel], str, list[str]]] = {
    "nominal": ("low", "high", THREE, "Label low", ["low"]),
    "ordinal": ("low", "high", THREE, "Label low", ["low"]),
    "multilabel": (["low", "high"], [], THREE, "Label low, Label high", ["high", "low"]),
    "spans": (
        [span(4, 7)],
        [],
        THREE,
        "Label low “app”",
        ['[{"field": "text", "start": 4, "end": 7, "label": "low"}]'],
    ),
    "text": ("It works", "It fails", [], "It works", [" It works\r\n"]),
}


@pytest.mark.parametrize("task_type", TASK_TYPES.values(), ids=TASK_TYPES)
def test_every_task_type_keeps_the_whole_contract(task_type: TaskType) -> None:
    first, last, labels, words, posted = SAMPLES[task_type.key]

    assert TASK_TYPES[task_type.key] is task_type
    assert task_type.title
    assert task_type.level
    assert task_type.wanted
    assert task_type.widget.startswith("annotations/widgets/_")
    assert task_type.check_labels(labels) == []
    assert task_type.needs_labels == bool(labels)
    assert task_type.clean(task_type.read(posted), labels, ITEM) == first
    assert task_type.clean(first, labels, ITEM) == task_type.clean(first, labels) == first
    assert task_type.clean(last, labels, ITEM) == last
    assert task_type.gap(first, first, labels) == 0
    assert task_type.gap(first, last, labels) == task_type.gap(last, first, labels) == 1
    assert 0 <= task_type.tolerated <= 1
    assert task_type.middle([first], labels) == first
    assert len({unit.position for unit in task_type.units(first, ITEM)}) == len(task_type.units(first, ITEM)) > 0
    assert set(task_type.named(first)) <= {label.key for label in labels}
    assert task_type.describe(first, labels, ITEM) == words
    assert task_type.carried(first, ITEM, ITEM) == first
    assert [task_type.is_blank(raw) for raw in (None, "", first, last)] == [True, True, False, False]


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


# -- several labels ----------------------------------------------------------------------------------------------------


def test_a_set_is_kept_in_declared_order_and_each_label_once() -> None:
    assert MultiLabel().clean(["high", "low", "high"], THREE) == ["low", "high"]


def test_none_of_these_is_an_answer_and_an_open_question_is_none() -> None:
    assert MultiLabel().read(["[]"]) == []
    assert MultiLabel().clean([], THREE) == []
    assert MultiLabel().describe([], THREE) == "none of these"
    assert not MultiLabel().is_blank([])


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("low", "Found 'low' (str) where a list of labels belongs: of 'low', 'medium', 'high'."),
        (["low", "[]"], "Found labels together with “none of these”: take one or the other."),
        (["[]", "huge"], "Found labels together with “none of these”: take one or the other."),
        (["huge"], "'huge' is not a label of this question: choose of 'low', 'medium', 'high'."),
        ([["low"]], "['low'] is not a label of this question: choose of 'low', 'medium', 'high'."),
        ([True], "True is not a label of this question: choose of 'low', 'medium', 'high'."),
    ],
)
def test_a_wrong_set_is_refused(raw: object, message: str) -> None:
    with pytest.raises(AnswerError) as caught:
        MultiLabel().clean(raw, THREE)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("a", "b", "gap"),
    [([], [], 0), (["low"], [], 1), (["low"], ["high"], 1), (["low", "high"], ["low"], 0.5), (["low"], ["low"], 0)],
)
def test_sets_differ_by_the_share_that_is_not_in_both(a: Any, b: Any, gap: float) -> None:
    assert MultiLabel().gap(a, b, THREE) == MultiLabel().gap(b, a, THREE) == gap


def test_within_a_tolerance_the_set_nearest_to_all_holds() -> None:
    assert MultiLabel().middle([["low", "medium", "high"], ["low", "medium"], ["low"]], THREE) == ["low", "medium"]
    assert Nominal().middle(["high", "low"], THREE) == "low"


# -- free text ---------------------------------------------------------------------------------------------------------


def test_a_text_is_composed_and_stripped() -> None:
    assert Text().clean("  cafe\u0301\r\nau lait ", []) == "café\nau lait"


@pytest.mark.parametrize("raw", [5, ["a"], "  ", "a\x00b", "half \ud83d", "x" * 20_001])
def test_a_text_that_cannot_be_kept_is_refused(raw: object) -> None:
    with pytest.raises(AnswerError):
        Text().clean(raw, [])


def test_free_text_has_no_labels() -> None:
    assert Text().check_labels(THREE) == ["Free text takes no labels, and the question has 3: remove them."]
    assert Text().named("low") == []


# -- spans -------------------------------------------------------------------------------------------------------------


def test_spans_are_ordered_and_each_kept_once_and_may_overlap() -> None:
    given = [span(4, 13, "high"), span(0, 7), span(4, 13, "low"), span(0, 7)]

    assert Spans().clean(given, THREE, ITEM) == [span(0, 7), span(4, 13, "low"), span(4, 13, "high")]


def test_a_span_needs_no_field_where_there_is_but_one() -> None:
    assert Spans().clean([{"start": 0, "end": 3, "label": "low"}], THREE, ITEM) == [span(0, 3)]


def test_spans_count_code_points() -> None:
    text = "👍🏽 e\u0301 مرحبا"
    assert len(text) == 11

    value = Spans().clean([span(6, 11)], THREE, {"text": text})

    assert Spans().describe(value, THREE, {"text": text}) == "Label low “مرحبا”"
    with pytest.raises(AnswerError, match="A span ends at 12, and the text of 'text' has 11 characters"):
        Spans().clean([span(6, 12)], THREE, {"text": text})


@pytest.mark.parametrize(
    "raw",
    [
        "low",
        [5],
        [span(3, 3)],
        [span(-1, 3)],
        [{**span(0, 3), "start": "0"}],
        [{**span(0, 3), "start": True}],
        [span(0, 3, "huge")],
        [span(0, 3, field="title")],
        [{**span(0, 3), "more": 1}],
        [{"start": 0, "end": 3}],
        [span(n, n + 1) for n in range(1_001)],
    ],
)
def test_wrong_spans_are_refused(raw: object) -> None:
    with pytest.raises(AnswerError):
        Spans().clean(raw, THREE, ITEM)


@pytest.mark.parametrize(
    ("a", "b", "gap"),
    [
        ([], [], 0),
        ([span(0, 4)], [], 1),
        ([span(0, 4)], [span(0, 4, "high")], 1),
        ([span(0, 4)], [span(5, 9)], 1),
        ([span(0, 4)], [span(0, 8)], 0.5),
        ([span(0, 4), span(4, 8)], [span(0, 8)], 1 - 2 * 0.5 / 3),
        ([span(0, 4), span(6, 9)], [span(0, 4)], 1 - 2 / 3),
        ([span(0, 4)], [span(0, 4, field="title")], 1),
    ],
)
def test_spans_differ_by_what_their_best_matches_do_not_share(a: Any, b: Any, gap: float) -> None:
    assert Spans().gap(a, b, THREE) == Spans().gap(b, a, THREE) == pytest.approx(gap)


def test_units_of_spans_are_tokens_with_all_labels_on_them() -> None:
    value = [span(4, 13), span(8, 19, "high")]

    assert [unit.value for unit in Spans().units(value, ITEM)] == [
        [],
        ["low"],
        ["high", "low"],
        ["high"],
        ["high"],
        [],
        [],
    ]


def test_spans_go_with_their_words_into_another_wording() -> None:
    new = {"text": "My app works fine, said …"}

    assert Spans().carried([span(4, 7), span(20, 26)], ITEM, new) == [span(3, 6)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fine, thanks.", ["Fine", ",", "thanks", "."]),
        ("日本語 text", ["日", "本", "語", "text"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("👨‍👩‍👧 and 👍🏽!", ["👨‍👩‍👧", "and", "👍🏽", "!"]),
        ("cafe\u0301 a_b", ["cafe\u0301", "a_b"]),
        (" \n", []),
    ],
)
def test_tokens_in_any_script(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in tokens(text)] == found


@pytest.mark.parametrize(
    ("kind", "value", "renamed"),
    [
        ("nominal", "b", "a"),
        ("ordinal", "c", "c"),
        ("multilabel", ["a", "b", "c"], ["a", "c"]),
        ("multilabel", [], []),
        ("text", "b", "b"),
        (
            "spans",
            [{"field": "t", "start": 0, "end": 2, "label": "a"}, {"field": "t", "start": 0, "end": 2, "label": "b"}],
            [{"field": "t", "start": 0, "end": 2, "label": "a"}],
        ),
    ],
)
def test_a_label_that_is_another_one_now_is_called_so_once(kind: str, value: Any, renamed: Any) -> None:
    assert TASK_TYPES[kind].renamed(value, {"b": "a"}) == renamed
