"""Gold and ratings as files: what stands in them, what is left out for whom, and who may have them."""

import csv
import io
import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import draws, exporting, gold, labelling, rating_rows, releasing, serving
from annotations.enums import AssignmentState, SlotKind, WaveKind, WaveState
from annotations.models import Annotation, Assignment, Look, Revision
from projects import jobs
from projects.enums import JobState
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Item, Job
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team

pytestmark = pytest.mark.django_db

AT = factories.NOW


def made(project, by, what="ratings", file_format="jsonl") -> Job:
    job = jobs.work_now(exporting.start(project, what=what, file_format=file_format, by=by))
    assert job.state == JobState.DONE, job.message
    return job


def rows(job, member) -> list[dict]:
    with exporting.download(job, member) as file:
        return [json.loads(line) for line in file.read().decode().splitlines()]


def columns(job, member, *names) -> list[tuple]:
    return [tuple(row[name] for name in names) for row in rows(job, member)]


@pytest.fixture
def leading_anna(anna):
    anna.is_lead = True
    anna.save()
    return anna


@pytest.fixture
def half_way(project, lead, anna, ben):
    """An open draw of half a wave of ten in which everybody has labelled a little."""
    factories.items(project, 10)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=50)
    Team([anna, ben]).work(turns=8)
    return wave.draw


# -- ratings -----------------------------------------------------------------------------------------------------------


def test_every_rating_has_a_row_with_all_that_is_known_of_it(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ("praise", "complaint")})

    found = rows(made(project, lead), lead)

    first = Annotation.objects.select_related("member", "item", "assignment").order_by("pk")[0]
    assert len(found) == 2
    assert found[0] == {
        "item": str(first.item.uuid),
        "item_id": "one",
        "question": "intent",
        "rater": first.member.name,
        "rater_id": str(first.member.uuid),
        "value": first.answers["intent"],
        "skip_reason": None,
        "skip_note": None,
        "measured": True,
        "newest": True,
        "revision": 1,
        "version": "1.0",
        "wave": 1,
        "sample": None,
        "kind": "measured",
        "served_at": first.assignment.served_at.isoformat(),
        "submitted_at": first.submitted_at.isoformat(),
        "revised_at": first.submitted_at.isoformat(),
        "seconds": first.seconds,
        "comment": "",
    }
    assert tuple(found[0]) == rating_rows.FIELDS


def test_the_measured_revision_is_the_last_within_the_window(project, lead, anna, ben):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=100)
    for member in (anna, ben):
        task = serving.next_task(member, at=AT)
        labelling.submit(member, task.assignment, answers={"intent": "praise"}, at=AT)
    mine = Annotation.objects.get(member=anna).uuid
    labelling.correct(anna, mine, answers={"intent": "question"}, at=AT + timedelta(minutes=5))
    labelling.correct(anna, mine, answers={"intent": "complaint"}, at=AT + timedelta(minutes=45))

    found = columns(made(project, lead), lead, "rater", "value", "revision", "measured", "newest")

    assert found == [
        ("anna", "praise", 1, False, False),
        ("anna", "question", 2, True, False),
        ("anna", "complaint", 3, False, True),
        ("ben", "praise", 1, True, True),
    ]


def test_singles_and_late_ratings_are_not_measured(project, lead, anna):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=0)
    Team([anna]).finish()

    assert columns(made(project, lead), lead, "kind", "measured") == [("single", False)]


def test_a_skip_is_a_row_for_each_question_and_no_value(version, lead, anna):
    factories.question(version, "tone", ("warm", "cold"), required=False)
    factories.items(version.project, 1)
    releasing.open_wave(version.project, by=lead, at=AT, share_percent=0)
    task = serving.next_task(anna, at=AT)
    labelling.skip(anna, task.assignment, reason="guideline", note="no rule", at=AT)

    found = columns(
        made(version.project, lead), lead, "question", "value", "skip_reason", "skip_note", "measured", "revision"
    )

    assert found == [
        ("intent", None, "guideline", "no rule", False, None),
        ("tone", None, "guideline", "no rule", False, None),
    ]


@pytest.mark.parametrize("part", [0, 120_000, 123_456, 7])
def test_times_stand_as_iso_8601_has_them_to_the_microsecond(project, lead, anna, ben, part):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})
    at = AT.replace(microsecond=part)
    Assignment.objects.update(served_at=at)
    Annotation.objects.update(submitted_at=at + timedelta(hours=1))
    Revision.objects.update(at=at + timedelta(hours=2))

    found = columns(made(project, lead), lead, "served_at", "submitted_at", "revised_at")

    assert found == [tuple((at + timedelta(hours=hours)).isoformat() for hours in range(3))] * 2


def test_csv_holds_what_jsonl_holds(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ("praise", "complaint"), "two": ("praise", "praise")})

    as_json = rows(made(project, lead), lead)
    with exporting.download(made(project, lead, file_format="csv"), lead) as file:
        table = list(csv.DictReader(io.StringIO(file.read().decode())))

    def cell(value):
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)

    assert table == [{name: cell(value) for name, value in row.items()} for row in as_json]


def test_a_neighbour_has_no_rows_in_the_file(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ("praise", "complaint")})
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = factories.member(neighbour, "nora", "lead")

    assert rows(made(neighbour, nora), nora) == []
    assert rows(made(neighbour, nora, "gold"), nora) == []


@pytest.mark.parametrize("what", ["gold", "ratings"])
def test_the_number_of_queries_depends_on_chunks_alone(project, lead, anna, ben, what):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})
    export = exporting.EXPORTS[what]

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            list(export.rows(project, []))
        return len(found)

    one = queries()
    disputes.rated(project, [anna, ben], dict.fromkeys("bcdefg", ("praise", "complaint")))

    assert queries() == one


# -- blindness ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["gold", "ratings"])
def test_a_lead_who_may_still_label_gets_no_item_of_an_open_wave(project, half_way, leading_anna, what):
    """Singles are left out as well: what were missing from the file would be the overlap."""
    factories.items(project, 2, prefix="later")

    job = made(project, leading_anna, what)

    in_wave = {str(uuid) for uuid in Item.objects.filter(wave_items__isnull=False).values_list("uuid", flat=True)}
    assert {row["item"] for row in rows(job, leading_anna)} & in_wave == set()
    assert job.result["left_out"] == [1]
    assert not Look.objects.exists()


def test_after_giving_up_the_overlap_everything_is_there(project, half_way, leading_anna):
    draws.give_up(half_way, by=leading_anna, at=AT)

    job = made(project, leading_anna)

    assert (len(rows(job, leading_anna)), job.result["left_out"]) == (8, [])


def test_a_lead_who_does_not_label_sees_the_open_draw_and_it_is_logged(project, half_way, lead):
    job = made(project, lead)

    assert len(rows(job, lead)) == 8
    assert list(Look.objects.values_list("draw", "member")) == [(half_way.pk, lead.pk)]


def test_a_file_with_an_open_draw_in_it_is_not_for_those_who_label_there(project, half_way, lead, leading_anna):
    job = made(project, lead)

    with pytest.raises(DomainError, match="holds ratings of wave 1, whose measurement is open"):
        exporting.download(job, leading_anna)

    draws.close(half_way, closing="early", reason="enough", by=lead, at=AT)
    assert len(rows(job, leading_anna)) == 8


# -- asking and having -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "file_format"), [("secrets", "csv"), ("gold", "xlsx"), ("", "")])
def test_what_does_not_exist_is_not_exported(project, lead, what, file_format):
    with pytest.raises(Invalid):
        exporting.start(project, what=what, file_format=file_format, by=lead)


def test_an_annotator_neither_asks_for_a_file_nor_gets_one(project, lead, anna):
    job = made(project, lead, "gold")

    with pytest.raises(NotAllowed):
        exporting.start(project, what="gold", file_format="csv", by=anna)
    with pytest.raises(NotAllowed):
        exporting.download(job, anna)


def test_a_file_that_is_not_there_yet_is_refused_with_a_sentence(project, lead):
    job = exporting.start(project, what="gold", file_format="csv", by=lead)

    with pytest.raises(DomainError, match="not there yet"):
        exporting.download(job, lead)


def test_who_lost_the_role_meanwhile_gets_no_file(project, lead):
    job = exporting.start(project, what="gold", file_format="csv", by=lead)
    lead.is_lead, lead.is_annotator = False, True
    lead.save()

    job = jobs.work_now(Job.objects.get(pk=job.pk))

    assert (job.state, bool(job.file)) == (JobState.FAILED, False)


def test_a_job_that_is_done_again_makes_the_same_file(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ("praise", "praise")})
    job = made(project, lead, "gold")
    before = rows(job, lead)

    jobs.again(job)
    again = jobs.work_now(job)

    assert rows(again, lead) == before
    assert again.result["rows"] == 1


def test_a_file_is_named_for_what_it_is(project, lead):
    job = made(project, lead, "gold", "csv")

    assert job.file_name == f"app-reviews-gold-{job.created_at:%Y-%m-%d}.csv"


def test_a_table_has_a_column_for_each_field_of_the_item(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ("praise", "praise")})
    item = Item.objects.get()

    with exporting.download(made(project, lead, "gold", "csv"), lead) as file:
        (row,) = csv.DictReader(io.StringIO(file.read().decode(), newline=""))

    assert "content" not in row
    assert {name: value for name, value in row.items() if name.startswith("content.")} == {
        f"content.{name}": value for name, value in item.content.items()
    }


# -- what happens while a file is made ---------------------------------------------------------------------------------


def one_at_a_time(monkeypatch) -> None:
    monkeypatch.setattr(rating_rows, "CHUNK", 1)
    monkeypatch.setattr(gold, "CHUNK", 1)


def test_what_is_rated_while_the_file_is_made_is_not_in_it(project, lead, anna, ben, monkeypatch):
    """By somebody new, in a wave and a sample that were not there at the start."""
    one_at_a_time(monkeypatch)
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint"), "b": ("praise", "praise")})
    found = rating_rows.of_project(project, [])
    before = [next(found)[1]]
    later = AT + timedelta(days=40)
    disputes.rated(project, [anna, factories.member(project, "cara")], {"c": ("praise", "question")}, at=later)

    after = [row for _done, row in found]

    assert sorted(row["item_id"] for row in before + after) == ["a", "a", "b", "b"]
    assert len(list(rating_rows.of_project(project, []))) == 6


def test_a_sample_that_is_opened_while_the_file_is_made_is_hidden(project, lead, anna, ben, monkeypatch):
    one_at_a_time(monkeypatch)
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint"), "b": ("praise", "praise")})
    found = rating_rows.of_project(project, [])
    next(found)
    last = Assignment.objects.order_by("pk").last()
    placed, sample = last.wave_item, last.wave_item.wave
    sample.pk, sample.uuid, sample.kind, sample.state = None, uuid4(), WaveKind.REPEAT, WaveState.OPEN
    sample.save(force_insert=True)
    placed.pk, placed.wave, placed.draw = None, sample, None
    placed.save(force_insert=True)
    slot = last.slot
    slot.pk, slot.wave, slot.wave_item, slot.draw = None, sample, placed, None
    slot.kind, last.round = SlotKind.REPEAT, last.round + 1
    slot.save(force_insert=True)
    last.pk, last.uuid, last.slot, last.wave_item = None, uuid4(), slot, placed
    last.state, last.skip_reason = AssignmentState.SKIPPED, "guideline"  # so that it is a row without an annotation
    last.save(force_insert=True)

    assert [row["sample"] for _done, row in found] == [None] * 3


def test_a_version_that_is_published_while_the_file_is_made_is_known_in_it(project, lead, anna, ben, monkeypatch):
    """Corrected under it, a rating that was there before names it; and the item's final label does."""
    one_at_a_time(monkeypatch)
    factories.items(project, 2)
    releasing.open_wave(project, by=lead, at=AT, share_percent=0)
    Team([anna]).finish()
    ratings, final = rating_rows.of_project(project, []), gold.of_project(project)
    before = [next(ratings)[1]["version"], next(final).version]
    minor = factories.version(project, minor=1)
    Annotation.objects.update(version=minor)
    Revision.objects.update(version=minor)

    assert before == ["1.0", "1.0"]
    assert [row["version"] for _done, row in ratings] == ["1.1"]
    assert [one.version for one in final] == ["1.1"]
