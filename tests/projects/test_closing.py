"""Cloning, archiving and deleting a whole project: what comes along, rests and goes, and what stays of others."""

import logging
from datetime import timedelta
from decimal import Decimal

import pytest
from django.apps import apps
from django.core import mail
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, models
from django.utils import timezone

from agreement import runs, tasks
from annotations import adjudication, draws, exporting, labelling, panels, releasing, serving
from annotations.models import Annotation, Draw, Wave
from annotations.panels import Declared
from projects import access, activities, archiving, cloning, deleting, jobs, mailing, members, notices
from projects.enums import Action, JobKind, JobState, Role
from projects.errors import AtRest, DomainError, Invalid, NotAllowed
from projects.models import (
    GuidelineVersion,
    Item,
    Job,
    Label,
    LabelStyle,
    Membership,
    Project,
    StagedRow,
    Tombstone,
)
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team

AT = factories.NOW


def again(member: Membership) -> Membership:
    """As the next request finds them."""
    return Membership.objects.select_related("project", "user").get(pk=member.pk)


# -- clone -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def source(project, version, admin, lead, anna, ben) -> Project:
    """With everything that may come along, and everything that may not."""
    project.protocol |= {"share_percent": "25", "expert": str(anna.uuid), "decide_together": True}
    project.description, project.notice = "Reviews.", "Mind the date."
    project.save()
    LabelStyle.objects.create(project=project, question_key="intent", label_key="praise", colour="#009e73", hotkey="p")
    examples_of(version)
    disputes.rated(project, [anna, ben], {"one": ("praise", "complaint"), "two": ("praise", "praise")})
    project.comment_required = True
    project.save()
    return project


def examples_of(version: GuidelineVersion) -> None:
    version.examples.create(
        question_key="intent",
        content={"text": "Great app"},
        value="praise",
        origin="adjudicated",
        content_hash="c",
        folded_hash="f",
    )


def test_a_clone_has_settings_protocol_guideline_and_styles_and_nothing_that_was_made(source, admin, version):
    made = cloning.clone(source, name="Again", by=admin, at=AT).project

    assert (made.name, made.description, made.notice, made.comment_required, made.shown_fields) == (
        "Again",
        "Reviews.",
        "Mind the date.",
        True,
        ["text"],
    )
    assert made.protocol == {key: value for key, value in source.protocol.items() if key != "expert"}
    draft = made.versions.get()
    assert (draft.state, draft.text, draft.based_on) == ("draft", version.text, None)
    assert list(Label.objects.filter(question__version=draft).values_list("key", "definition")) == list(
        Label.objects.filter(question__version=version).values_list("key", "definition")
    )
    assert list(made.label_styles.values_list("label_key", "colour", "hotkey")) == [("praise", "#009e73", "p")]
    assert (made.items.count(), made.waves.count(), made.jobs.count()) == (0, 0, 0)
    assert [(one.user, sorted(access.roles(one))) for one in made.memberships.all()] == [
        (admin.user, [Role.ADMIN, Role.LEAD])
    ]


def test_examples_come_along_as_copies_of_their_own_or_not_at_all(source, admin, version):
    one = cloning.clone(source, name="With", by=admin, at=AT).project.versions.get()
    other = cloning.clone(source, name="Without", by=admin, at=AT, with_examples=False).project.versions.get()

    copied, original = one.examples.get(), version.examples.get()
    assert (copied.content, copied.value, copied.origin) == ({"text": "Great app"}, "praise", "written")
    assert copied.lineage != original.lineage
    assert not other.examples.exists()


def test_members_come_along_with_their_roles_and_have_read_nothing_yet(source, admin, lead, anna, ben):
    members.deactivate(ben, by=admin, at=AT)
    Membership.objects.create(project=source, alias="imported rater", active=False)

    made = cloning.clone(source, name="Again", by=admin, at=AT, with_members=True).project

    assert {(one.alias, *sorted(access.roles(one))) for one in made.memberships.all()} == {
        ("ada", "admin", "lead"),
        ("lea", "lead"),
        ("anna", "annotator"),
    }
    assert not made.memberships.filter(acknowledged__isnull=False).exists()


def test_a_project_without_a_published_guideline_gives_its_draft(project, db):
    boss = factories.member(project, "ada", "admin", "lead")
    factories.version(project, None, text="Only a draft.")

    made = cloning.clone(project, name="Again", by=boss, at=AT).project

    assert made.versions.get().text == "Only a draft."


def test_who_is_no_admin_neither_clones_nor_archives_nor_deletes(source, lead):
    for deed in (
        lambda: cloning.clone(source, name="Again", by=lead, at=AT),
        lambda: archiving.archive(source, by=lead, at=AT),
        lambda: archiving.take_back(source, by=lead),
        lambda: deleting.ask(source, typed=source.name, by=lead, at=AT),
        lambda: deleting.restore(source, by=lead),
    ):
        with pytest.raises(NotAllowed):
            deed()


# -- archive -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_wave(project, lead, anna, ben) -> Wave:
    factories.items(project, 12)
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))


def test_an_archived_project_allows_reading_alone(project, version, admin, lead, anna):
    archiving.archive(project, by=admin, at=AT)

    assert access.actions(again(anna)) == {Action.VIEW}
    assert access.actions(again(lead)) == {
        Action.VIEW,
        Action.SEE_ITEMS,
        Action.SEE_AGREEMENT,
        Action.EXPORT,
        Action.SEE_MEMBERS,
        Action.SEE_ACTIVITY,
    }
    assert access.actions(again(admin)) - access.actions(again(lead)) == {Action.MANAGE_PROJECT}
    with pytest.raises(AtRest, match="is archived: it can be read"):
        access.require(again(anna), Action.LABEL)
    with pytest.raises(NotAllowed, match="do not include"):  # what the role never allowed is told as ever
        access.require(again(anna), Action.EXPORT)


def test_taken_back_it_goes_on_where_it_was(project, admin, anna, open_wave):
    task = serving.next_task(anna, at=AT)
    archiving.archive(project, by=admin, at=AT)
    archiving.archive(project, by=admin, at=AT + timedelta(days=1))
    assert Project.objects.get().archived_at == AT

    archiving.take_back(project, by=again(admin))

    later = serving.next_task(again(anna), at=AT + timedelta(minutes=5))
    assert later.assignment == task.assignment
    assert Project.objects.get().archived_by is None


def test_nothing_closes_and_nothing_is_computed_while_it_rests(project, admin, lead, anna, ben, open_wave):
    team = Team([anna, ben])
    team.work()
    later = team.at + timedelta(days=1)
    archiving.archive(project, by=admin, at=team.at)

    assert draws.close_due(at=later) == []
    assert runs.sweep(at=later) == []
    assert not runs.is_stale(Draw.objects.get(), at=later)
    assert Draw.objects.get().is_open

    archiving.take_back(project, by=again(admin))
    assert len(draws.close_due(at=later)) == 1
    assert len(runs.sweep(at=later)) == 1


def test_a_finished_wave_of_singles_stays_open_while_it_rests(project, admin, lead, anna):
    factories.items(project, 3)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna]).work()
    archiving.archive(project, by=admin, at=AT)

    draws.finish_waves(at=AT)

    wave.refresh_from_db()
    assert wave.state == "open"


def test_long_work_that_writes_has_to_end_first_and_is_not_begun_later(project, admin, version):
    waiting = jobs.create(project, JobKind.IMPORT_PREVIEW, by=admin, at=AT)

    with pytest.raises(DomainError, match="“reading a file” is still under way"):
        archiving.archive(project, by=admin, at=AT)
    jobs.cancel(waiting)
    archiving.archive(project, by=admin, at=AT)

    with pytest.raises(AtRest):
        jobs.create(Project.objects.get(), JobKind.IMPORT_PREVIEW, by=admin, at=AT)
    Job.objects.filter(pk=waiting.pk).update(state=JobState.WAITING)
    assert jobs.run_waiting(at=AT) == 0


def test_an_archived_project_is_exported(project, admin, lead, anna, ben, open_wave):
    archiving.archive(project, by=admin, at=AT)

    exporting.start(Project.objects.get(), what="ratings", file_format="csv", by=again(lead))

    assert jobs.run_waiting() == 1
    assert Job.objects.get().state == JobState.DONE


def test_an_invitation_to_a_project_at_rest_says_why_it_does_not_work_and_works_again_later(project, admin, version):
    _invitation, token = members.invite(project, email="x@example.org", roles=[Role.ANNOTATOR], by=admin)
    archiving.archive(project, by=admin, at=AT)

    with pytest.raises(AtRest, match="is archived"):
        members.join(token, user=factories.user("xenia"))
    archiving.take_back(project, by=again(admin))

    assert members.join(token, user=factories.user("xenia")).project == project


def test_the_log_says_who_archived_restored_and_cloned(project, admin, version):
    cloning.clone(project, name="Again", by=admin, at=AT)
    archiving.archive(project, by=admin, at=AT)
    archiving.take_back(project, by=again(admin))
    archiving.take_back(project, by=again(admin))
    deleting.ask(project, typed=project.name, by=again(admin), at=AT)
    deleting.restore(project, by=again(admin))

    assert [activities.said(row) for row in project.activities.order_by("pk")] == [
        "Made another project like it, “Again”.",
        "Archived the project.",
        "Took the project back from the archive.",
        "Asked for the project to be deleted, in 30 days.",
        "Restored the project.",
    ]


def test_nobody_is_told_or_mailed_of_a_project_at_rest(project, admin, lead, anna, ben, open_wave):
    notices.refresh(project, at=AT)
    assert notices.unread(anna.user).exists()
    archiving.archive(project, by=admin, at=AT)

    assert not notices.unread(anna.user).exists()
    assert not notices.standing(anna.user, notices.PAGE).exists()
    assert notices.look(anna.user, at=AT) == []
    assert notices.sweep(at=AT + timedelta(days=1)) == 0
    archiving.take_back(project, by=again(admin))
    assert notices.unread(anna.user).exists()


# -- delete ------------------------------------------------------------------------------------------------------------


def test_the_typed_name_has_to_be_the_project_s(project, admin, version):
    with pytest.raises(Invalid, match="You typed “app reviews”, and the project is called “App reviews”"):
        deleting.ask(project, typed="app reviews", by=admin, at=AT)

    assert Project.objects.get().delete_after is None


def test_in_its_grace_period_it_is_closed_to_all_but_admins_who_may_restore_it(project, admin, lead, anna, version):
    deleting.ask(project, typed="  App  reviews ", by=admin, at=AT)

    assert Project.objects.get().delete_after == AT + timedelta(days=30)
    assert access.actions(again(anna)) == access.actions(again(lead)) == set()
    assert access.actions(again(admin)) == {Action.MANAGE_PROJECT}
    with pytest.raises(
        AtRest, match="is closed and will be deleted, unless an admin of it restores it before 1 Apr 2026"
    ):
        access.member_for(anna.user, project.uuid, Action.LABEL)
    assert [list(access.projects_of(one.user)) for one in (admin, lead)] == [[], []]
    assert [list(access.closing_of(one.user)) for one in (admin, lead)] == [[admin], []]
    for deed in (archiving.archive, archiving.take_back):
        with pytest.raises(AtRest):
            deed(Project.objects.get(), by=again(admin), **({"at": AT} if deed is archiving.archive else {}))

    deleting.restore(project, by=again(admin))

    assert Action.LABEL in access.actions(again(anna))
    with pytest.raises(DomainError, match="is not waiting to be deleted"):
        deleting.restore(project, by=again(admin))


def test_asking_stops_the_work_that_is_under_way(project, admin, version):
    job = jobs.create(project, JobKind.IMPORT_PREVIEW, by=admin, at=AT)

    deleting.ask(project, typed=project.name, by=admin, at=AT)

    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    with pytest.raises(DomainError, match="is being deleted already"):
        deleting.ask(project, typed=project.name, by=again(admin), at=AT)


@pytest.mark.parametrize(("past", "sent"), [(-timedelta(days=1), 1), (timedelta(days=1), 0)])
def test_an_invitation_s_mail_waits_while_its_project_may_still_be_restored(
    project, admin, version, monkeypatch, past, sent
):
    invitation, _token = members.invite(project, email="x@example.org", roles=[Role.ANNOTATOR], by=admin, at=AT)
    job = mailing.invitation(invitation, link="https://concord.example/join/secret/")
    deleting.ask(project, typed=project.name, by=admin, at=AT)
    assert (jobs.run_waiting(), len(mail.outbox)) == (0, 0)

    deleting.restore(project, by=again(admin))
    monkeypatch.setattr(timezone, "now", lambda: invitation.expires_at + past)
    assert jobs.run_waiting() == 1

    job.refresh_from_db()
    assert (job.state, "link" in job.params, len(mail.outbox)) == (JobState.DONE, False, sent)


def full(project: Project, admin: Membership, lead: Membership, people: list[Membership]) -> None:
    """Rows in as many tables as a few calls reach: ratings, conflicts, a decision, panels, an export, an upload."""
    disputes.rated(
        project, people[:2], {f"{project.pk}-a": ("praise", "complaint"), f"{project.pk}-b": ("praise",) * 2}
    )
    case = disputes.case_of(f"{project.pk}-a")
    adjudication.claim(case, by=lead, at=AT)
    adjudication.resolve(case, value="praise", rationale="It is.", cause="slip", by=lead, at=AT)
    adjudication.promote(case.resolutions.get(), by=lead, at=AT)
    factories.items(project, 8, prefix=f"panel-{project.pk}")
    panels.open_waves(project, [Declared(people[:2]), Declared(people[2:])], by=lead, at=AT, size=None)
    held = serving.next_task(people[0], at=AT)
    labelling.save_draft(people[0], held.assignment, draft={"intent": "praise"}, at=AT)
    one, other = project.items.order_by("pk")[:2]
    Item.objects.filter(pk=one.pk).update(superseded_by=other, standing="superseded")
    runs.sweep(at=AT + timedelta(days=2))
    jobs.work_now(exporting.start(project, what="ratings", file_format="csv", by=lead))
    upload = jobs.create(project, JobKind.IMPORT_PREVIEW, by=lead, file=ContentFile(b"text\nx\n", "x.csv"), at=AT)
    StagedRow.objects.create(job=upload, number=1)
    jobs.cancel(upload)
    members.invite(project, email="x@example.org", roles=[Role.ANNOTATOR], by=admin)


def all_rows() -> dict[str, int]:
    """Table -> rows, of all tables that any project has rows in; without the job that deletes."""
    found = {one.label: one.model._base_manager.count() for one in deleting.tables()}
    return found | {"projects.job": Job.objects.exclude(kind=JobKind.DELETE).count()}


def rows_of(project: Project) -> dict[str, int]:
    return {one.label: one.rows(project).count() for one in deleting.tables()}


@pytest.fixture
def neighbour(db: None) -> Project:
    other = factories.project("Neighbour")
    factories.version(other)
    boss, head = factories.member(other, "nora", "admin"), factories.member(other, "nick", "lead")
    full(other, boss, head, [factories.member(other, name) for name in ("n1", "n2", "n3", "n4")])
    return other


def files() -> set[str]:
    return {
        name for name in Job.objects.exclude(file="").values_list("file", flat=True) if default_storage.exists(name)
    }


@pytest.fixture
def of_its_own(settings, tmp_path, monkeypatch):
    """Files in a folder of the test's own; and after each chunk nothing refers to what is gone, as at a commit."""
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(jobs, "give_way", connection.check_constraints)


def test_after_the_grace_period_every_row_and_file_goes_and_the_neighbour_s_stay(
    of_its_own, neighbour, project, admin, lead, anna, ben, monkeypatch, caplog
):
    kept = files()
    monkeypatch.setattr(deleting, "CHUNK", 3)
    full(project, admin, lead, [anna, ben, factories.member(project, "carl"), factories.member(project, "dora")])
    mine = files() - kept
    assert len(mine) == 2
    before = rows_of(neighbour)
    deleting.ask(project, typed=project.name, by=again(admin), at=AT)

    assert deleting.start_due(at=AT + timedelta(days=29)) == []
    with caplog.at_level(logging.INFO, logger="projects.deleting"):
        assert len(deleting.start_due(at=AT + timedelta(days=30))) == 1
        assert deleting.start_due(at=AT + timedelta(days=30)) == []
        assert jobs.run_waiting() == 1

    job = Job.objects.get(kind=JobKind.DELETE)
    assert (job.state, job.done) == (JobState.DONE, job.total)
    assert all_rows() == rows_of(neighbour) == before
    assert list(Project.objects.all()) == [neighbour]
    assert files() == kept
    assert not any(default_storage.exists(name) for name in mine)
    stone = Tombstone.objects.get()
    assert (stone.project, stone.name, stone.asked_by_name) == (project.uuid, "App reviews", "ada")
    assert stone.counts["annotations.annotation"] == 4
    assert f"Project {project.uuid} is deleted" in caplog.text


def test_a_deletion_that_was_cut_off_goes_on_and_ends_the_same(
    of_its_own, neighbour, project, admin, lead, anna, ben, monkeypatch
):
    full(project, admin, lead, [anna, ben, factories.member(project, "carl"), factories.member(project, "dora")])
    monkeypatch.setattr(deleting, "CHUNK", 2)
    before = rows_of(neighbour)
    deleting.ask(project, typed=project.name, by=again(admin), at=AT)
    (job,) = deleting.start_due(at=AT + timedelta(days=30))
    jobs.claim(job, at=AT)
    for taken, table in enumerate(deleting.tables()):
        for _gone in deleting._emptied(table, project, job):
            break  # the worker dies after a chunk
        if taken == 20:
            break
    with pytest.raises(DomainError, match="is not waiting to be deleted"):
        deleting.restore(Project.objects.get(pk=project.pk), by=again(admin))

    jobs.run(job)
    deleting.run(job)  # and once more after its end

    assert all_rows() == rows_of(neighbour) == before


def test_a_deletion_that_failed_is_told_and_goes_on_by_hand(project, admin, version, monkeypatch):
    deleting.ask(project, typed=project.name, by=admin, at=AT)
    deleting.start_due(at=AT + timedelta(days=30))
    monkeypatch.setattr(deleting, "_bury", lambda project, job: 1 / 0)
    monkeypatch.setattr(deleting, "tables", list)
    jobs.run_waiting()
    monkeypatch.undo()
    assert deleting.job_of(project).state == JobState.FAILED

    deleting.resume(Project.objects.get(), by=again(admin))
    jobs.run_waiting()

    assert not Project.objects.exists()


def comes_in_late(project: Project, admin: Membership, monkeypatch, *, times: int) -> list[int]:
    """Let a row come into a table that was emptied before, as the members are about to go; the list grows with each."""
    came: list[int] = []
    emptied = deleting._emptied

    def with_late_row(table, project, job):
        if table.model is Membership and len(came) < times:
            came.append(1)
            activities.record("project_archived", project, by=admin, at=AT)
        return emptied(table, project, job)

    monkeypatch.setattr(deleting, "_emptied", with_late_row)
    return came


@pytest.mark.django_db(transaction=True)
def test_what_comes_in_while_the_rows_go_goes_too(project, admin, version, settings, monkeypatch):
    settings.DELETE_AFTER_DAYS = 0
    deleting.ask(project, typed=project.name, by=admin, at=AT)
    deleting.start_due(at=AT)
    came = comes_in_late(project, admin, monkeypatch, times=2)

    jobs.run_waiting()

    assert (came, Job.objects.get().state) == ([1, 1], JobState.DONE)
    assert (Project.objects.exists(), Membership.objects.exists(), Tombstone.objects.count()) == (False, False, 1)


@pytest.mark.django_db(transaction=True)
def test_the_sweep_begins_a_failed_deletion_again_after_a_rest(project, admin, version, monkeypatch):
    deleting.ask(project, typed=project.name, by=admin, at=AT)
    deleting.start_due(at=AT + timedelta(days=30))
    came = comes_in_late(project, admin, monkeypatch, times=deleting.ROUNDS)
    jobs.run_waiting()
    job = deleting.job_of(project)
    assert (len(came), job.state) == (deleting.ROUNDS, JobState.FAILED)

    assert deleting.start_due(at=job.finished_at) == []
    assert deleting.start_due(at=job.finished_at + deleting.FAILED_RESTS) == [job]
    jobs.run_waiting()

    assert not Project.objects.exists()


def test_every_table_that_refers_to_a_project_is_among_those_that_are_emptied():
    known = {one.model for one in deleting.tables()} | {Project}
    referring = {
        model
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model in known
    }

    assert referring <= known
    order = [one.model for one in deleting.tables()]
    assert order.index(Annotation) < order.index(Item)


def test_the_sweep_starts_and_does_what_is_due(project, admin, version, monkeypatch):
    deleting.ask(project, typed=project.name, by=admin, at=AT)

    tasks.sweep()  # AT is long ago

    assert not Project.objects.exists()
