"""How often each label was given, by version; nothing of a wave whose measurement is open."""

from decimal import Decimal

import pytest

from annotations import draws, label_counts, releasing
from annotations.label_counts import Uses
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

pytestmark = pytest.mark.django_db


def single_wave(project, lead, members, value: str, count: int = 3) -> None:
    factories.items(project, count, prefix=f"single {value}")
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(0))
    Team(members, says(value)).work()
    draws.close_wave(wave, by=lead, at=factories.NOW, reason="done")


def test_ratings_and_singles_are_counted_by_version(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint"), "b": ("praise", "praise")})
    single_wave(project, lead, [anna], "praise")

    counts = label_counts.of_question(project, "intent")

    assert counts.by_label == {"complaint": [Uses("1.0", 1, 0)], "praise": [Uses("1.0", 6, 3)]}
    assert (counts.ratings("praise"), counts.singles("praise"), counts.of("question")) == (6, 3, [])


def test_a_wave_that_is_being_measured_is_left_out_as_a_whole(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")}, close=False)

    counts = label_counts.of_question(project, "intent")

    assert (counts.by_label, counts.left_out) == ({}, [1])


def test_a_neighbour_is_not_counted(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})
    neighbour = factories.version(factories.project("Neighbour")).project

    assert label_counts.of_question(neighbour, "intent").by_label == {}


def test_sets_and_spans_count_once_for_each_label_they_name(project, version, lead, anna, ben):
    for key, kind in (("about", "multilabel"), ("where", "spans"), ("why", "text")):
        factories.question(version, key, ("bug", "price"), task_type=kind, required=False)
    spans = [{"field": "text", "start": n, "end": n + 2, "label": "bug"} for n in (0, 5)]
    answers = (
        {"intent": "praise", "about": ["bug", "price"], "where": spans, "why": "[so]"},
        {"intent": "praise", "about": []},
    )
    disputes.rated(project, [anna, ben], {"a": answers})

    found = [label_counts.of_question(project, key).by_label for key in ("about", "where", "why")]

    assert found == [{"bug": [Uses("1.0", 1, 0)], "price": [Uses("1.0", 1, 0)]}, {"bug": [Uses("1.0", 1, 0)]}, {}]
