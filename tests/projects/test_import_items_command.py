"""`manage.py import_items`: the same functions as the pages, with a report and an exit code."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from projects.models import Item, Job, Project, StagedRow
from tests import factories

ROWS = [
    {"id": i, "question_1": f"How do I do {i} well?", "question_2": f"What is {i}?", "split": "train"}
    for i in range(1, 4)
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, ROWS)


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("import_items", *map(str, arguments), stdout=out, no_color=True)
    return out.getvalue()


@pytest.mark.parametrize("by", ["uuid", "name"])
def test_import_reports_and_imports(project: Project, path: Path, by: str) -> None:
    said = run(
        getattr(project, by), path, "--fields", "question_1,question_2", "--id", "id", "--metadata", "split"
    ).splitlines()
    batch = project.batches.get()
    assert said == [
        "Shown: question_1, question_2. Id: id. Metadata: split.",
        "3 rows read, 3 can be imported.",
        f"3 items imported as batch {batch.uuid}.",
    ]
    assert (batch.name, batch.size, batch.shown_fields) == ("pairs.jsonl", 3, ["question_1", "question_2"])
    assert (StagedRow.objects.count(), Job.objects.exclude(file="").count()) == (0, 0)


def test_fields_are_suggested_unless_given(project: Project, path: Path) -> None:
    assert "Shown: question_1, question_2. Id: id. Metadata: split." in run(project.uuid, path)


def test_dry_run_imports_nothing_and_leaves_nothing(project: Project, path: Path) -> None:
    assert run(project.uuid, path, "--dry-run").splitlines()[1:] == [
        "3 rows read, 3 can be imported.",
        "Nothing was imported: this was a dry run.",
    ]
    assert (Item.objects.count(), StagedRow.objects.count(), Job.objects.exclude(file="").count()) == (0, 0, 0)


def test_bad_rows_stop_the_import_unless_they_are_to_be_skipped(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, [*ROWS, {"id": 1, "question_1": "a", "question_2": "b", "split": "train"}])
    arguments = (project.uuid, path, "--fields", "question_1,question_2", "--id", "id")
    with pytest.raises(CommandError) as refusal:
        run(*arguments)
    assert str(refusal.value) == (
        "Nothing was imported, because 1 of 4 rows cannot be. Mend them, or leave them out with --skip-bad."
    )
    assert Item.objects.count() == 0
    assert run(*arguments, "--skip-bad").splitlines()[1:4] == [
        "4 rows read, 3 can be imported.",
        "  1 left out: an earlier row has the same id",
        "  row 4: Row 1 has the id “1” already.",
    ]
    assert Item.objects.count() == 3


def test_same_content_is_left_out_unless_it_is_asked_for(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, [{"text": "one"}, {"text": "one"}, {"text": "ONE"}])
    run(project.uuid, path)
    assert list(Item.objects.order_by("pk").values_list("number", flat=True)) == [1, 3]
    elsewhere = factories.project("Elsewhere")
    run(elsewhere.uuid, path, "--also", "same_in_file")
    assert elsewhere.items.count() == 3


def test_importing_the_same_file_again_imports_nothing(project: Project, path: Path) -> None:
    run(project.uuid, path)
    with pytest.raises(CommandError, match="3 of 3 rows cannot be"):
        run(project.uuid, path)
    with pytest.raises(CommandError, match="None of the rows can be imported"):
        run(project.uuid, path, "--skip-bad")
    assert Item.objects.count() == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--fields", "question"], "has no field “question”; it has: id, question_1, question_2, split."),
        (["--id", "key"], "has no field “key”; it has: id, question_1, question_2, split."),
        (["--format", "json"], "not with the [ of an array of objects"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_kept(
    project: Project, path: Path, options: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        run(project.uuid, path, *options)
    assert sentence in str(refusal.value)
    assert Job.objects.count() == 0


def test_unknown_project_and_file(project: Project, path: Path) -> None:
    with pytest.raises(CommandError, match="There is no project “Nothing”"):
        run("Nothing", path)
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        run(project.uuid, path.with_name("gone.csv"))
    factories.project(project.name)
    with pytest.raises(CommandError, match="Several projects are called"):
        run(project.name, path)
