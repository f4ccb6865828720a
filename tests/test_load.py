"""What the load script is made of: annotators who work by the pages, and the look at what came of it."""

import pytest
from django.db.models import F

from annotations.models import Annotation, Wave
from tests import factories
from tests.benchmarks import teams
from tests.benchmarks.annotators import Annotator, Unexpected, loopback, percentile


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost:81/x", "http://[::1]:8000"])
def test_this_machine_is_loaded(url):
    assert loopback(url)[1] in (8000, 81)


@pytest.mark.parametrize(
    "url", ["http://192.0.2.7:8000", "http://8.8.8.8", "https://127.0.0.1", "ftp://127.0.0.1", "127.0.0.1:8000", ""]
)
def test_no_other_machine_is_loaded(url):
    with pytest.raises(SystemExit):
        loopback(url)


@pytest.mark.parametrize(("share", "found"), [(0, 1.0), (0.5, 3.0), (0.95, 5.0), (1, 5.0)])
def test_percentile_of_five(share, found):
    assert percentile([5.0, 1.0, 4.0, 2.0, 3.0], share) == found


@pytest.fixture
def wave(transactional_db) -> Wave:
    project = factories.project()
    factories.items(project, 12)
    return teams.open_wave(project, share_percent=50)


def test_annotators_label_and_skip_by_the_pages_and_nothing_is_violated(wave, live_server):
    saved = []
    for number, member in enumerate(teams.members(wave.project, 2, "a")):
        who = Annotator(live_server.url, str(wave.project.uuid), seed=number)
        who.log_in(member.user.username, teams.PASSWORD)
        assert who.look()
        for skips in (0, 1, 0):
            who.label(skips=skips)
        assert (who.tally.skipped, len(who.tally.milliseconds)) == (1, 3)
        saved += who.tally.saved

    assert len(saved) == Annotation.objects.count() == 4
    assert teams.violations(wave.project, saved) == []


def test_who_is_logged_in_by_a_session_labels(wave, live_server):
    member = teams.members(wave.project, 1, "a")[0]
    who = Annotator(live_server.url, str(wave.project.uuid), seed=1, session=teams.session_of(member.user))

    assert who.look()


def test_a_wrong_password_is_an_error(wave, live_server):
    who = Annotator(live_server.url, str(wave.project.uuid), seed=1)

    with pytest.raises(Unexpected):
        who.log_in("nobody", "wrong")


def test_each_violation_is_named(wave):
    Wave.objects.filter(pk=wave.pk).update(single_left=F("single_left") - 2)
    lost = "00000000-0000-4000-8000-000000000000"

    assert teams.violations(wave.project, [lost, lost]) == [
        "labels acknowledged twice: 1",
        "acknowledged labels that are not there: 1",
        "single slots that the wave's counter does not know: 2",
    ]
