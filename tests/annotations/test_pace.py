"""One's own pace by day: the time is that which was measured with each label."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from annotations import pace
from annotations.models import Annotation
from annotations.pace import Spell
from tests import factories
from tests.annotations import disputes

NOON = datetime(2026, 3, 12, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spell", "an_hour", "time"),
    [(Spell(30, 900.0), 120, "15 min"), (Spell(1, 59.9), None, "1 min"), (Spell(500, 7_290.0), 247, "2 h 2 min")],
)
def test_a_spell_says_how_many_an_hour_where_it_is_long_enough(spell, an_hour, time):
    assert (spell.an_hour, spell.time) == (an_hour, time)


def test_days_are_those_of_the_reader_and_their_own_only(project, version, lead, anna, ben):
    said = {str(n): ("praise", "praise") for n in range(4)}
    disputes.rated(project, [anna, ben], said, at=factories.NOW)
    rows = list(Annotation.objects.filter(member=anna).order_by("seq"))
    for row, (at, seconds) in zip(
        rows,
        [
            (NOON - timedelta(days=40), 10.0),
            (datetime(2026, 3, 10, 23, 30, tzinfo=UTC), 60.0),
            (NOON, 30.0),
            (NOON, 90.0),
        ],
        strict=True,
    ):
        Annotation.objects.filter(pk=row.pk).update(submitted_at=at, seconds=seconds)

    with timezone.override("Europe/Berlin"):
        found = pace.of(anna, at=NOON)

    assert [(day.date, day.spell) for day in found.days] == [
        (date(2026, 3, 12), Spell(2, 120.0)),
        (date(2026, 3, 11), Spell(1, 60.0)),
    ]
    assert (found.together, found.together.an_hour) == (Spell(3, 180.0), 60)
