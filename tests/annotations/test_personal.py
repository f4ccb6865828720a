"""What looks like personal details in the wording of an example."""

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
