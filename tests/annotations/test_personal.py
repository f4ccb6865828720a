"""What looks like personal details in the wording of an example."""

import time

import pytest

from annotations import personal


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call me at 0170 5550199, Mia Berger", ["0170 5550199"]),
        ("write to mia.berger@example.org or @mia_b", ["mia.berger@example.org", "@mia_b"]),
        ("+49 (30) 123-45.67 and again +49 (30) 123-45.67", ["+49 (30) 123-45.67"]),
        ("since 2023 it costs 1,250.00 for 30 days, version 1.2.3", []),
        ("In 100 % of 12 cases", []),
    ],
)
def test_addresses_and_numbers_are_found_and_figures_are_not(text, found):
    assert personal.details([text]) == found


def test_what_is_no_text_is_left_alone():
    assert personal.details([None, 5, {"a": "b@example.org"}]) == []


@pytest.mark.parametrize("text", ["あ" * 47_000, "@" + "あ" * 47_000, "あ" * 47_000 + "@", "a@" + "." * 47_000])
def test_a_long_text_without_spaces_is_looked_through_at_once(text):
    started = time.process_time()

    assert personal.details([text]) == []
    assert time.process_time() - started < 2


def test_in_a_long_text_the_beginning_is_looked_at():
    assert personal.details(["write to mia@example.org " + "あ" * 47_000 + " or ben@example.org"]) == [
        "mia@example.org"
    ]
