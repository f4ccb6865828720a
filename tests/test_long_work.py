"""Long work is a row, not a request: wherever it is begun, its page shows how far it is after a reload and in a second
tab, and the list that it belongs to leads there."""

from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from annotations import exporting, imported, opening, panels, releasing
from annotations.models import Wave
from annotations.panels import Declared
from projects import importing, jobs
from projects.models import Job, Membership, Project
from tests import factories

pytestmark = pytest.mark.django_db


def importing_items(project: Project, lead: Membership) -> tuple[Job, str, str]:
    job = importing.start(project, upload=ContentFile(b"text\none\n", "one.csv"), by=lead)
    return job, f"imports/{job.uuid}/", "items/"


def reading_ratings(project: Project, lead: Membership) -> tuple[Job, str, str]:
    job = imported.start(project, upload=ContentFile(b"id,text,rater,label\n1,one,ann,praise\n", "one.csv"), by=lead)
    return job, f"ratings/{job.uuid}/", "ratings/new/"


def exporting_ratings(project: Project, lead: Membership) -> tuple[Job, str, str]:
    job = exporting.start(project, what="ratings", file_format="csv", by=lead)
    return job, "exports/", "exports/"


def opening_a_wave(project: Project, lead: Membership) -> tuple[Job, str, str]:
    wave = releasing.announce_wave(project, by=lead, at=timezone.now())[0]
    opening.enqueue(wave, by=lead, at=timezone.now())
    return opening.job_of(wave), f"waves/{wave.uuid}/", "waves/"


def opening_panels(project: Project, lead: Membership) -> tuple[Job, str, str]:
    people = [factories.member(project, name) for name in ("p1", "p2", "p3", "p4")]
    split, _protocol = panels.announce(
        project, [Declared(people[:2]), Declared(people[2:])], by=lead, at=timezone.now()
    )
    for wave in panels.waves_of(split):
        opening.enqueue(wave, by=lead, at=timezone.now())
    second = Wave.objects.get(panel__number=2)
    return opening.job_of(second), f"waves/{second.uuid}/", "waves/"


@pytest.mark.parametrize(
    "begin",
    [importing_items, reading_ratings, exporting_ratings, opening_a_wave, opening_panels],
    ids=lambda one: one.__name__,
)
def test_its_progress_is_there_after_a_reload_and_in_a_second_tab(
    project: Project,
    lead: Membership,
    client_of: Callable[..., Client],
    begin: Callable[[Project, Membership], tuple[Job, str, str]],
) -> None:
    factories.items(project, 6)
    job, page, of_list = begin(project, lead)
    base, tab, other = f"/p/{project.uuid}/", client_of(lead), client_of(lead)
    assert "Waiting for the worker" in tab.get(base + page).content.decode()

    assert jobs.claim(job, at=timezone.now())
    Job.objects.filter(pk=job.pk).update(done=42, total=100)

    for client in (tab, tab, other):
        said = client.get(base + page).content.decode()
        assert "(42 %)" in said
        assert f"/jobs/{job.uuid}/" in said  # and from there on by itself
    assert base + page in other.get(base + of_list).content.decode()
