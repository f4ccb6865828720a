"""From a file to items: what is suggested, what is found wrong, what is imported, and that it happens once."""

import gc
import json
import re
import tracemalloc
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from projects import folding, import_runs, importing, jobs, staging
from projects.enums import JobState, RowProblem
from projects.errors import DomainError, Invalid
from projects.models import Batch, Item, Job, Membership, Project, StagedRow
from tests import factories
from tests.factories import NOW


def upload(content: bytes | str | Iterable[dict[str, Any]], name: str = "items.jsonl") -> ContentFile:
    if not isinstance(content, bytes | str):
        content = "".join(json.dumps(row) + "\n" for row in content)
    return ContentFile(content.encode() if isinstance(content, str) else content, name=name)


def read(
    project: Project, content: bytes | str | Iterable[dict[str, Any]], name: str = "items.jsonl", **options: Any
) -> Job:
    """A preview that has run."""
    return jobs.work_now(importing.start(project, upload=upload(content, name), by=None, **options))


def taken(project: Project, content: Any, name: str = "items.jsonl", **options: Any) -> Job:
    """An import that has run."""
    also = options.pop("also", staging.USUAL)
    return jobs.work_now(importing.confirm(read(project, content, name, **options), by=None, also=also))


def in_chunks_of(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", rows)
    monkeypatch.setattr(staging, "MOVED_ROWS", rows)


def found(job: Job) -> list[tuple[int, str, str]]:
    return [(row.number, row.problem, row.message) for row in importing.problems(job)]


@pytest.fixture
def empty(db: None) -> Project:
    """A project that shows nothing yet."""
    return factories.project("Empty", shown_fields=[])


PAIRS = [
    {
        "id": f"p{i}",
        "question_1": f"How do I learn language {i}?",
        "question_2": f"What is the way to {i}?",
        "split": "ab"[i % 2],
    }
    for i in range(1, 5)
]


def test_start_suggests_the_long_texts_the_id_and_what_repeats(empty: Project) -> None:
    job = importing.start(empty, upload=upload(PAIRS), by=None)
    choice = importing.choice_of(job)
    assert (choice.shown, choice.id_field, choice.metadata) == (("question_1", "question_2"), "id", ("split",))


@pytest.mark.parametrize(
    ("record", "shown", "id_field"),
    [
        (
            {"uuid": "a", "premise": "A man walks.", "hypothesis": "A man sleeps at home."},
            ("premise", "hypothesis"),
            "uuid",
        ),
        ({"text_a": "one thing", "text_b": "another thing"}, ("text_a", "text_b"), ""),
        ({"name": "x", "review": "It crashed again"}, ("review",), ""),
        (
            {"postId": 7, "body": "words", "votes": {"a": 1, "why": "a long rationale about it all"}},
            ("body",),
            "postId",
        ),
        ({"spans": [1, 2]}, ("spans",), ""),
    ],
)
def test_suggestion_by_kind_of_record(
    empty: Project, record: dict[str, Any], shown: tuple[str, ...], id_field: str
) -> None:
    choice = importing.choice_of(importing.start(empty, upload=upload([record]), by=None))
    assert (choice.shown, choice.id_field) == (shown, id_field)


def test_start_shows_what_the_project_shows_already(project: Project) -> None:
    rows = [{"text": "short", "comment": "a much longer text beside it"}]
    assert importing.choice_of(importing.start(project, upload=upload(rows), by=None)).shown == ("text",)


def test_import_makes_items_and_a_batch(empty: Project) -> None:
    admin = factories.member(empty, "ada", "admin")
    job = jobs.work_now(importing.start(empty, upload=upload(PAIRS), by=admin, name="Pairs"))
    made = jobs.work_now(importing.confirm(job, by=admin))
    batch = empty.batches.get()
    assert (batch.name, batch.format, batch.size, batch.ready) == ("Pairs", "jsonl", 4, True)
    assert (batch.shown_fields, batch.id_field, batch.metadata_fields) == (
        ["question_1", "question_2"],
        "id",
        ["split"],
    )
    assert batch.created_by == admin
    assert made.result == {"imported": 4, "batch": str(batch.uuid), "left_out": {}, "met": 0}
    items = list(batch.items.order_by("pk"))
    content = {"question_1": "How do I learn language 2?", "question_2": "What is the way to 2?"}
    assert [(item.number, item.external_id) for item in items] == [(1, "p1"), (2, "p2"), (3, "p3"), (4, "p4")]
    assert (items[1].content, items[1].metadata) == (content, {"split": "a"})
    assert (items[1].content_hash, items[1].folded_hash) == (
        folding.content_hash(content),
        folding.folded_hash(content),
    )
    assert {item.uuid.version for item in items} == {7}
    assert len({item.uuid for item in items}) == 4
    empty.refresh_from_db()
    assert empty.shown_fields == ["question_1", "question_2"]


def test_second_import_leaves_the_shown_fields_of_the_project(project: Project) -> None:
    taken(project, [{"body": "something else"}])
    project.refresh_from_db()
    assert project.shown_fields == ["text"]


def test_items_keep_the_order_of_shown_fields_on_either_database(empty: Project) -> None:
    taken(empty, [{"b": "x", "aa": "y", "c": "z"}], shown=["c", "aa", "b"])
    item = Item.objects.select_related("batch").get()
    assert item.shown(item.batch.shown_fields) == [("c", "z"), ("aa", "y"), ("b", "x")]


def test_nothing_is_written_to_items_before_the_confirmation(empty: Project) -> None:
    read(empty, PAIRS)
    assert (Item.objects.count(), Batch.objects.count(), StagedRow.objects.count()) == (0, 0, 4)


def test_after_the_import_staging_and_file_are_gone(empty: Project) -> None:
    job = read(empty, PAIRS)
    name = job.file.name
    assert default_storage.exists(name)
    jobs.work_now(importing.confirm(job, by=None))
    job.refresh_from_db()
    assert (StagedRow.objects.count(), default_storage.exists(name), job.file.name) == (0, False, "")


def test_discard_removes_rows_and_file(empty: Project) -> None:
    job = read(empty, PAIRS)
    name = job.file.name
    importing.discard(job)
    assert (job.state, StagedRow.objects.count(), default_storage.exists(name)) == (JobState.CANCELLED, 0, False)
    with pytest.raises(DomainError, match="was discarded"):
        importing.confirm(job, by=None)


def test_values_are_shown_as_text_or_number_and_nested_ones_as_json(empty: Project) -> None:
    row = {"text": 4.5, "flag": True, "nested": {"ä": [1, None]}, "nothing": None}
    taken(empty, [row], shown=["text", "flag", "nested", "nothing"], also=[RowProblem.PARTLY_EMPTY])
    assert Item.objects.get().content == {"text": 4.5, "flag": "true", "nested": '{"ä":[1,null]}', "nothing": ""}


def test_metadata_keeps_values_and_leaves_out_what_is_missing(empty: Project) -> None:
    rows = [{"text": "one", "n": 3, "of": {"a": [1]}}, {"text": "two", "n": None}]
    taken(empty, rows, shown=["text"], metadata=["n", "of"])
    assert [item.metadata for item in Item.objects.order_by("pk")] == [{"n": 3, "of": {"a": [1]}}, {}]


def test_ids_of_rows(empty: Project) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 17, "text": "number"},
        {"id": "  x 1 ", "text": "padded"},
        {"text": "missing"},
        {"id": " ", "text": "blank"},
        {"id": "x" * 201, "text": "long"},
        {"id": "y" * 200, "text": "just fits"},
        {"id": [1], "text": "list"},
        {"id": True, "text": "flag"},
        {"id": "17", "text": "same as the number"},
    ]
    job = read(empty, rows, shown=["text"], id_field="id")
    assert found(job) == [
        (3, "no_id", "“id”, the id, is missing or empty."),
        (4, "no_id", "“id”, the id, is missing or empty."),
        (5, "bad_id", "“id” has 201 characters: an id has 200 at most."),
        (7, "bad_id", "“id” is a list: an id is a text or a number."),
        (8, "bad_id", "“id” is true or false: an id is a text or a number."),
        (9, "id_in_file", "Row 1 has the id “17” already."),
    ]
    jobs.work_now(importing.confirm(job, by=None))
    assert list(Item.objects.order_by("pk").values_list("external_id", flat=True)) == ["17", "x 1", "y" * 200]


def test_empty_shown_text_is_a_problem(empty: Project) -> None:
    rows = [{"a": "one", "b": "two"}, {"a": " \n", "b": ""}, {"b": "half"}, {"c": 1}]
    job = read(empty, rows, shown=["a", "b"])
    assert found(job) == [
        (2, "empty", "“a” is empty, so there is nothing to label."),
        (3, "partly_empty", "“a” is empty."),
        (4, "empty", "“a” is empty, so there is nothing to label."),
    ]
    report = importing.report(job)
    assert (report.usual, report.most, report.bad) == (1, 2, 2)


def test_a_bad_row_does_not_hold_its_id_or_content(empty: Project) -> None:
    rows = [{"id": "a", "text": ""}, {"id": "a", "text": "fine"}, {"text": "fine too"}, {"id": "b", "text": "fine too"}]
    job = read(empty, rows, shown=["text"], id_field="id")
    assert [(number, problem) for number, problem, _message in found(job)] == [(1, "empty"), (3, "no_id")]


CONTENT = [
    {"text": "It crashed"},
    {"text": "it  CRASHED"},
    {"text": "It crashed"},
    {"text": "it  CRASHED"},
    {"text": "It works"},
]


@pytest.mark.parametrize("rows_in_a_chunk", [1, 2, 2000])
def test_content_repeated_in_the_file(empty: Project, monkeypatch: pytest.MonkeyPatch, rows_in_a_chunk: int) -> None:
    in_chunks_of(monkeypatch, rows_in_a_chunk)
    assert found(read(empty, CONTENT)) == [
        (2, "like_in_file", "The content of row 1, apart from case or white space."),
        (3, "same_in_file", "Exactly the content of row 1."),
        (4, "same_in_file", "Exactly the content of row 2."),
    ]


@pytest.mark.parametrize("rows_in_a_chunk", [1, 2000])
def test_content_repeated_in_the_project(
    project: Project, monkeypatch: pytest.MonkeyPatch, rows_in_a_chunk: int
) -> None:
    in_chunks_of(monkeypatch, rows_in_a_chunk)
    taken(project, [{"id": "old-1", "text": "It crashed"}, {"id": "old-2", "text": "Elsewhere"}], id_field="id")
    assert found(read(project, CONTENT)) == [
        (1, "same_in_project", "Exactly the content of item “old-1” of the project."),
        (2, "like_in_project", "The content of item “old-1” of the project, apart from case or white space."),
        (3, "same_in_project", "Exactly the content of item “old-1” of the project."),
        (4, "same_in_file", "Exactly the content of row 2."),
    ]


@pytest.mark.parametrize(
    ("also", "numbers"),
    [
        (staging.USUAL, [1, 2, 5]),
        ([], [1, 5]),
        (["same_in_file"], [1, 3, 4, 5]),
        (list(staging.OPTIONAL), [1, 2, 3, 4, 5]),
    ],
)
def test_repeated_content_is_imported_as_the_person_says(empty: Project, also: Any, numbers: list[int]) -> None:
    made = taken(empty, CONTENT, also=also)
    assert list(Item.objects.order_by("pk").values_list("number", flat=True)) == numbers
    assert made.result["imported"] == len(numbers)
    assert sum(made.result["left_out"].values()) == 5 - len(numbers)


def test_content_of_another_project_or_of_a_superseded_item_is_no_repeat(project: Project) -> None:
    elsewhere = factories.project("Neighbour")
    taken(elsewhere, [{"id": "a", "text": "same words"}], id_field="id")
    taken(project, [{"id": "b", "text": "old words"}], id_field="id")
    project.items.update(standing="superseded")
    rows = [{"id": "a", "text": "same words"}, {"id": "b", "text": "old words"}]
    assert found(read(project, rows, id_field="id")) == []


def test_ids_that_the_project_has(project: Project) -> None:
    taken(project, [{"id": "a", "text": "one"}], id_field="id")
    job = read(project, [{"id": "a", "text": "two"}, {"id": "b", "text": "three"}], id_field="id")
    assert found(job) == [(1, "id_in_project", "The project has an item “a”.")]


def test_id_that_came_in_after_the_preview_is_left_out(project: Project) -> None:
    job = read(project, [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}], id_field="id")
    taken(project, [{"id": "a", "text": "quicker"}], id_field="id")
    made = jobs.work_now(importing.confirm(job, by=None))
    assert (made.state, made.result["imported"], made.result["met"]) == (JobState.DONE, 1, 1)
    assert project.items.filter(external_id="a").count() == 1


def test_three_bad_rows_of_ten_thousand_are_named_exactly(empty: Project) -> None:
    lines = [json.dumps({"id": i, "text": f"text {i}"}) for i in range(1, 10_001)]
    lines[16] = '{"id": 17, "text": "half'
    lines[4_999] = '{"id": 5000, "text": "nul \\u0000 byte"}'
    lines[9_999] = '{"id": 1, "text": "last"}'
    job = read(empty, "\n".join(lines), shown=["text"], id_field="id")
    assert [(number, problem) for number, problem, _message in found(job)] == [
        (17, "unreadable"), (5000, "unreadable"), (10_000, "id_in_file"),
    ]  # fmt: skip
    assert importing.report(job).usual == 9_997
    made = jobs.work_now(importing.confirm(job, by=None))
    assert (made.result["imported"], made.result["left_out"]) == (9_997, {"unreadable": 2, "id_in_file": 1})


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "a.csv", "The file is empty (0 bytes)"),
        (b"  \n ", "a.jsonl", "The file holds nothing but white space"),
        (b"id,text\n", "a.csv", "The file has a header and no rows"),
        (b"PK\x03\x04rest", "a.csv", "The file is a ZIP archive or an Excel workbook"),
        (bytes(range(256)) * 40, "a.csv", "The file is not"),
        (b'{"text": "one object"}', "a.json", None),
        (b'"just a text"', "a.json", "not with the [ of an array"),
        (b"[1, 2]", "a.json", "its items have to be objects"),
        (b"nonsense\n", "a.jsonl", "Line 1 is not JSON"),
    ],
)
def test_file_that_is_none_is_refused_before_it_is_kept(
    empty: Project, content: bytes, name: str, sentence: str | None
) -> None:
    if sentence is None:
        assert importing.start(empty, upload=upload(content, name), by=None).params["format"] == "jsonl"
        return
    with pytest.raises(Invalid) as refusal:
        importing.start(empty, upload=upload(content, name), by=None)
    assert sentence in refusal.value.message
    assert Job.objects.count() == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_quoted_newlines(empty: Project, encoding: str) -> None:
    text = 'id,text\r\n1,"first ""line""\nsecond, line"\r\n2,"Zoë sagt: schön"\r\n'
    taken(empty, text.encode(encoding), "a.csv", shown=["text"], id_field="id")
    assert list(Item.objects.order_by("pk").values_list("content", flat=True)) == [
        {"text": 'first "line"\nsecond, line'}, {"text": "Zoë sagt: schön"},
    ]  # fmt: skip


def test_file_that_breaks_off_fails_with_a_sentence_and_imports_nothing(empty: Project) -> None:
    rows = ",".join(json.dumps({"text": f"row {i}"}) for i in range(5_000))
    job = read(empty, f"[{rows}, {{", "cut.json")
    assert (job.state, job.message) == (
        JobState.FAILED,
        "The file ends inside item 5001: it was cut off, or a quote or bracket is missing.",
    )
    with pytest.raises(DomainError):
        importing.confirm(job, by=None)
    assert Item.objects.count() == 0


def test_other_fields_read_the_file_again(empty: Project) -> None:
    job = read(empty, PAIRS)
    assert importing.preview(job, limit=1) == [
        [("question_1", "How do I learn language 1?"), ("question_2", "What is the way to 1?")]
    ]
    job = jobs.work_now(importing.choose(job, shown=["question_2"], id_field="", metadata=["split", "id"]))
    assert importing.preview(job, limit=1) == [[("question_2", "What is the way to 1?")]]
    assert StagedRow.objects.count() == 4
    jobs.work_now(importing.confirm(job, by=None))
    item = Item.objects.order_by("pk").first()
    assert (item.external_id, item.content, item.metadata) == (
        "", {"question_2": "What is the way to 1?"}, {"split": "b", "id": "p1"},
    )  # fmt: skip


def test_choice_counts_whoever_read_the_job_before(empty: Project) -> None:
    job = importing.start(empty, upload=upload(PAIRS), by=None)
    importing.choose(job, shown=["question_2"])
    job = jobs.work_now(job)
    assert importing.preview(job, limit=1) == [[("question_2", "What is the way to 1?")]]


def test_same_fields_again_do_not_read_the_file_again(empty: Project) -> None:
    job = read(empty, PAIRS)
    choice = importing.choice_of(job)
    again = importing.choose(job, shown=choice.shown, id_field=choice.id_field, metadata=choice.metadata)
    assert again.state == JobState.DONE


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"shown": []}, "Choose at least one field to show."),
        ({"shown": ["txt"]}, "The file has no field “txt”; it has: id, question_1, question_2, split."),
        (
            {"shown": ["id"], "id_field": "key"},
            "The file has no field “key”; it has: id, question_1, question_2, split.",
        ),
        ({"shown": ["id", "id"]}, "A field was chosen twice."),
    ],
)
def test_choice_that_cannot_be_is_refused(empty: Project, choice: dict[str, Any], sentence: str) -> None:
    job = read(empty, PAIRS)
    with pytest.raises(Invalid) as refusal:
        importing.choose(job, **choice)
    assert refusal.value.message == sentence


def test_field_that_comes_up_late_can_be_chosen_after_reading(empty: Project) -> None:
    rows: list[dict[str, Any]] = [{"text": f"row {i}"} for i in range(300)]
    rows[250]["source"] = "late"
    job = read(empty, rows)
    assert importing.field_names(job) == ["text", "source"]
    job = jobs.work_now(importing.choose(job, shown=["text"], metadata=["source"]))
    jobs.work_now(importing.confirm(job, by=None))
    assert list(Item.objects.exclude(metadata={}).values_list("metadata", flat=True)) == [{"source": "late"}]


def test_confirming_twice_imports_once(empty: Project) -> None:
    job = read(empty, PAIRS)
    first, second = importing.confirm(job, by=None), importing.confirm(job, by=None)
    assert first == second
    jobs.run_waiting(at=NOW, limit=5)
    assert importing.confirm(job, by=None).state == JobState.DONE
    assert (Item.objects.count(), Batch.objects.count()) == (4, 1)


def test_confirming_a_preview_that_was_read_anew_is_refused(empty: Project) -> None:
    job = read(empty, PAIRS)
    seen = job.attempts
    jobs.work_now(importing.choose(job, shown=["question_1"]))
    with pytest.raises(DomainError, match="changed since this preview"):
        importing.confirm(job, by=None, attempt=seen)


def test_confirming_while_the_file_is_being_read_is_refused(empty: Project) -> None:
    job = importing.start(empty, upload=upload(PAIRS), by=None)
    with pytest.raises(DomainError, match="changed since this preview"):
        importing.confirm(job, by=None)


def test_confirming_nothing_is_refused(empty: Project) -> None:
    with pytest.raises(Invalid, match="None of the rows can be imported"):
        taken(empty, [{"text": ""}, {"text": " "}])


def test_worker_killed_in_the_middle_of_reading_starts_over(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    in_chunks_of(monkeypatch, 2)
    job = importing.start(empty, upload=upload(PAIRS), by=None)
    dies_after(monkeypatch, staging.Writer, "write", 1)
    kill(job)
    assert StagedRow.objects.filter(job=job).count() == 2
    assert jobs.run_waiting(at=NOW + 2 * jobs.STALE) == 1
    job.refresh_from_db()
    assert (job.state, job.result, StagedRow.objects.count()) == (JobState.DONE, {"rows": 4, "counts": {"": 4}}, 4)


@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_worker_killed_in_the_middle_of_copying_goes_on(
    empty: Project, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    in_chunks_of(monkeypatch, 2)
    rows = [{"text": f"row {i}"} for i in range(6)]
    made = importing.confirm(read(empty, rows), by=None)
    dies_after(monkeypatch, staging, "move", chunks)
    kill(made)
    assert (Item.objects.count(), Item.objects.current().count()) == (2 * chunks, 0)
    assert jobs.run_waiting(at=NOW + 2 * jobs.STALE) == 1
    made.refresh_from_db()
    assert (made.state, made.result["imported"]) == (JobState.DONE, 6)
    assert list(Item.objects.current().order_by("pk").values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_worker_killed_after_the_last_row_is_shown_finishes_the_rest(
    empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = importing.confirm(read(empty, PAIRS), by=None)
    dies_after(monkeypatch, staging, "clear", 0)
    kill(made)
    assert Item.objects.current().count() == 4
    jobs.run_waiting(at=NOW + 2 * jobs.STALE)
    made.refresh_from_db()
    assert (made.state, made.result["imported"]) == (JobState.DONE, 4)
    assert (Item.objects.count(), StagedRow.objects.count(), empty.batches.count()) == (4, 0, 1)


class KilledError(BaseException):
    """What no runner can catch."""


def dies_after(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: int) -> None:
    """The process dies in the call of `name` that comes after `calls` calls, once."""
    real, left = getattr(module, name), [calls]

    def call(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] == -1:
            raise KilledError
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, call)


def kill(job: Job) -> None:
    """Start `job` and have it die half way; a transaction that was open is rolled back as the database would."""
    assert jobs.claim(job, at=NOW)
    with pytest.raises(KilledError):
        jobs.run(job)
    Job.objects.filter(pk=job.pk).update(beat_at=NOW)


def test_discarding_a_half_import_removes_its_items(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    in_chunks_of(monkeypatch, 2)
    job = read(empty, PAIRS)
    made = importing.confirm(job, by=None)
    dies_after(monkeypatch, staging, "move", 1)
    kill(made)
    job.refresh_from_db()
    importing.discard(job)
    made.refresh_from_db()
    assert (Item.objects.count(), Batch.objects.count(), made.state) == (0, 0, JobState.CANCELLED)
    assert jobs.run_waiting(at=NOW + 2 * jobs.STALE) == 0


def test_import_that_is_done_cannot_be_discarded(empty: Project) -> None:
    job = read(empty, PAIRS)
    jobs.work_now(importing.confirm(job, by=None))
    job.refresh_from_db()
    with pytest.raises(DomainError, match="cannot be discarded any more"):
        importing.discard(job)
    assert Item.objects.current().count() == 4


def test_failed_import_can_be_tried_again(empty: Project) -> None:
    job = read(empty, PAIRS)
    made = importing.confirm(job, by=None)
    Job.objects.filter(pk=made.pk).update(state=JobState.FAILED, message="disk full")
    again = importing.confirm(job, by=None)
    assert (again, again.state) == (made, JobState.WAITING)
    assert jobs.work_now(again).result["imported"] == 4


def test_uploads_nobody_confirmed_are_dropped_after_two_weeks(empty: Project) -> None:
    old, new = read(empty, PAIRS), read(empty, PAIRS)
    Job.objects.filter(pk=old.pk).update(created_at=NOW)
    Job.objects.filter(pk=new.pk).update(created_at=NOW + timedelta(days=1))
    assert importing.discard_old(NOW + importing.KEPT + timedelta(hours=1)) == 1
    assert list(importing.waiting(empty)) == [new]


def test_100_000_rows_take_no_more_memory_than_1_000_and_a_chunk(empty: Project) -> None:
    def peak(rows: int) -> int:
        text = "".join(f'{{"id": {i}, "text": "a text of some length, so that it counts, {i}"}}\n' for i in range(rows))
        job = importing.start(empty, upload=upload(text), by=None)
        text = ""
        gc.collect()
        tracemalloc.start()
        job = jobs.work_now(job)
        jobs.work_now(importing.confirm(job, by=None))
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1_000)  # what is loaded on first use
    Item.objects.all().delete()
    small = peak(1_000)
    Item.objects.all().delete()
    large = peak(100_000)
    assert Item.objects.count() == 100_000
    # 1,000 rows do not fill a chunk. The file alone is 7 MB, its rows in memory are ten times that.
    assert large - small < 4_000_000


def test_long_rows_are_staged_in_smaller_chunks(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_BYTES", 100_000)
    sizes: list[int] = []
    real = staging.Writer.write
    monkeypatch.setattr(staging.Writer, "write", lambda self, rows: (sizes.append(len(rows)), real(self, rows)))
    read(empty, [{"text": f"{i} " + "x" * 70_000} for i in range(6)])
    assert sum(sizes) == 6
    assert max(sizes) <= 3


def test_lookups_of_a_chunk_use_the_indexes(project: Project) -> None:
    """They must not read the whole project for every chunk."""
    if connection.vendor == "postgresql":
        pytest.skip("on a small table the planner of PostgreSQL uses no index, and rightly")
    taken(project, [{"id": "a", "text": "one"}], id_field="id")
    job = importing.start(project, upload=upload([{"id": "b", "text": "ONE"}]), by=None, id_field="id")
    with CaptureQueriesContext(connection) as queries:
        jobs.work_now(job)
    lookups = [q["sql"] for q in queries if "json_each" in q["sql"]]
    with connection.cursor() as cursor:
        plans = [cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in lookups]
    used = [name for plan in plans for name in re.findall(r"SEARCH \w+ USING (?:COVERING )?INDEX (\w+)", str(plan))]
    assert used == ["projects_item_external_id_once", "projects_item_folded", "projects_item_folded"]


@pytest.mark.django_db(transaction=True)
def test_cancel_between_chunks_leaves_nothing_visible(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    in_chunks_of(monkeypatch, 2)
    job = read(empty, PAIRS)
    made = importing.confirm(job, by=None)
    real = staging.move

    def discard_then_copy(*args: Any, **kwargs: Any) -> None:
        real(*args, **kwargs)
        if kwargs["after"] == 0:
            transaction.on_commit(lambda: importing.discard(Job.objects.get(pk=job.pk)))

    monkeypatch.setattr(staging, "move", discard_then_copy)
    made = jobs.work_now(made)
    assert (made.state, Item.objects.count(), Batch.objects.count()) == (JobState.CANCELLED, 0, 0)


def test_runners_are_registered() -> None:
    assert jobs.RUNNERS["import_preview"] is import_runs.check
    assert jobs.RUNNERS["import"] is import_runs.copy


def test_import_by_a_member_who_left_still_runs(empty: Project) -> None:
    by: Membership = factories.member(empty, "ada", "admin")
    made = importing.confirm(read(empty, PAIRS), by=by)
    by.active = False
    by.save()
    assert jobs.work_now(made).state == JobState.DONE
    assert empty.batches.get().created_by == by


def test_signs_that_a_database_reads_as_its_own_are_kept(empty: Project) -> None:
    r"""What COPY takes for a separator, an escape or nothing: a tab, a backslash, \N, ends of lines."""
    rows = [
        {"id": r"a\b", "text": "one\ttwo", "note\t": "x\\ty"},
        {"id": "a\tb", "text": "\\N", "note\t": "\\"},
        {"id": "a\nb\\.", "text": "line\r\nline", "note\t": "\\."},
    ]
    job = read(empty, [*rows, {"id": "a\tb", "text": "again", "note\t": ""}], shown=["text"], id_field="id")
    taken(empty, rows, shown=["text"], id_field="id", metadata=["note\t"])

    kept = [(item.external_id, item.content, item.metadata) for item in Item.objects.order_by("number")]
    assert kept == [(row["id"], {"text": row["text"]}, {"note\t": row["note\t"]}) for row in rows]
    assert found(job) == [(4, RowProblem.ID_IN_FILE, "Row 2 has the id “a\tb” already.")]


def test_what_is_found_wrong_is_kept_with_its_signs(empty: Project) -> None:
    job = read(empty, '{"a\\\\b\\t": "", "text": ""}\n{"a\\\\b\\t": "x", "text": "fine"}\n', shown=["a\\b\t", "text"])
    assert found(job) == [(1, RowProblem.EMPTY, "“a\\b\t” is empty, so there is nothing to label.")]
