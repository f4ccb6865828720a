"""The items behind a cell of answers that hold more than one label."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement import cells, matrices
from annotations.models import Draw
from tests import factories
from tests.agreement import rows

pytestmark = pytest.mark.django_db


def span(start: int, end: int, label: str, field: str = "text") -> dict[str, Any]:
    return {"field": field, "start": start, "end": end, "label": label}


TOUCHING = [span(0, 4, "x")], [span(0, 4, "y")], [span(0, 5, "y")]
SAID = {
    "multilabel": [(["x"], ["y"]), (["x", "y"], ["y"]), (["x", "z"], ["x"]), (["y", "z"], ["x", "z"]), ([], [])],
    "spans": [
        (TOUCHING[0], TOUCHING[1]),
        (TOUCHING[0], TOUCHING[2]),
        (TOUCHING[0], TOUCHING[0]),
        ([span(0, 4, "x", "title")], TOUCHING[1]),
        ([], []),
    ],
}
# Places of the items behind the cells.
BEHIND = {
    ("multilabel", "x", "y"): [0, 3],
    ("multilabel", "y", "x"): [0, 3],
    ("multilabel", "x", "x"): [2],
    ("multilabel", "y", "y"): [1],
    ("multilabel", "z", "z"): [3],
    ("spans", "x", "y"): [0],
    ("spans", "y", "x"): [0],
    ("spans", "x", "x"): [2],
    ("spans", "z", "z"): [],
}


@pytest.fixture
def asked(version, lead, anna, ben):
    def ask(task_type: str) -> Draw:
        factories.question(version, "tags", ("x", "y", "z"), task_type=task_type)
        said = [{anna: {"tags": a}, ben: {"tags": b}} for a, b in SAID[task_type]]
        return rows.draw(version, said, by=lead, closing="complete")

    return ask


@pytest.mark.parametrize(("task_type", "one", "other"), BEHIND, ids=[" ".join(each) for each in BEHIND])
def test_items_behind_a_cell(asked, task_type: str, one: str, other: str) -> None:
    draw = asked(task_type)
    question = next(each for each in matrices.questions(draw) if each.key == "tags")
    labels = {label.key: label for label in question.labels.all()}
    places = {pk: at for at, pk in enumerate(draw.wave_items.order_by("pk").values_list("pk", flat=True))}

    with CaptureQueriesContext(connection) as captured:
        found = list(cells.wave_items(draw, question, labels[one], labels[other]))

    assert ([places[each.pk] for each in found], len(captured) <= 2) == (BEHIND[task_type, one, other], True)


def test_cell_says_the_answers_in_words(asked) -> None:
    draw = asked("multilabel")
    question = next(each for each in matrices.questions(draw) if each.key == "tags")

    found = cells.describe(draw, question, list(draw.wave_items.select_related("item").order_by("pk")))

    assert [each.said for each in found[1::3]] == [[("x, y", 1), ("y", 1)], [("none of these", 2)]]
