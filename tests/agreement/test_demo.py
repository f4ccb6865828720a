"""The demo plays the loop twice through the domain functions, so that every page has something to show."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agreement import demo
from agreement.models import GateDecision, Run
from annotations.models import Annotation, Case, Draw, Revision, Wave
from projects.models import Project

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(400)]


@pytest.fixture
def played(db: None) -> Project:
    return demo.Demo(start=timezone.now() - timedelta(days=21), scale=0.4).play()


def test_the_demo_plays_two_rounds_and_leaves_a_third_under_way(played: Project) -> None:
    waves = list(Wave.objects.order_by("number"))

    assert [(wave.version.number, wave.state) for wave in waves] == [
        ("1.0", "closed"),
        ("2.0", "closed"),
        ("2.0", "open"),
    ]
    assert [draw.closing for draw in Draw.objects.order_by("wave__number")] == ["complete", "complete", ""]
    assert Annotation.objects.filter(wave_item__wave=waves[2]).exists()
    assert waves[2].single_left > 0
    assert Annotation.objects.filter(submitted_at__gt=timezone.now()).count() == 0
    assert Revision.objects.count() >= Annotation.objects.count()


def test_agreement_rises_from_the_first_guideline_to_the_second(db: None) -> None:
    # As large as people get it, and three times: the system draws anew each time, and now and then chance makes the
    # first guideline the better one of a play.
    plays = [demo.Demo(start=timezone.now() - timedelta(days=21)).play() for _ in range(3)]

    rises = []
    for project in plays:
        runs = Run.objects.filter(question_key="intent", interim=False, draw__wave__project=project)
        alpha = {
            run.draw.wave.number: run.result["statistics"]["krippendorff_alpha_nominal"]["value"]
            for run in runs.select_related("draw__wave")
        }
        assert set(alpha) == {1, 2}
        assert 0.3 < alpha[1] <= 1
        rises.append(alpha[2] - alpha[1])
        gates = GateDecision.objects.filter(draw__wave__project=project)
        assert set(gates.values_list("draw__wave__number", flat=True)) == {1, 2}
    assert sum(rises) / len(rises) > 0, rises


def test_the_demo_s_conflicts_are_decided_in_part_and_became_examples(db: None) -> None:
    # At its own size: of 48 items chance may leave no conflict that the second guideline has a rule for.
    played = demo.Demo(start=timezone.now() - timedelta(days=21)).play()
    assert Case.objects.decided().exists()
    assert Case.objects.open().exists()
    second = played.versions.get(major=2)
    assert second.examples.filter(origin="adjudicated").exists()
    assert "simulated" in played.notice


def test_the_command_says_who_can_log_in_and_is_not_built_twice(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "FIRST_WAVE", 40)
    monkeypatch.setattr(demo, "SECOND_WAVE", 40)
    said = StringIO()
    call_command("demo", stdout=said, stderr=StringIO())

    assert {"ada", "lea", "anna", "ben", "chloe", "dmitri", demo.PASSWORD} <= set(said.getvalue().split())
    call_command("demo", "--if-empty", stdout=StringIO(), stderr=StringIO())
    with pytest.raises(CommandError, match="already"):
        call_command("demo", stdout=StringIO(), stderr=StringIO())
    assert Project.objects.count() == 1
