"""`manage.py import_ratings`: the same functions as the pages, with a report and an exit code."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.models import Annotation, ImportedRow, Wave
from projects.models import Item, Job, Membership, Project
from tests import factories

ROWS = [
    {
        "id": 1,
        "question_1": "How?",
        "question_2": "Why?",
        "ratings": {"Ann": "praise", "Bob": "question"},
        "split": "a",
    },
    {"id": 2, "question_1": "Who?", "question_2": "Whom?", "ratings": {"Ann": "praise", "Bob": "praise"}, "split": "b"},
]
OPTIONS = ("--fields", "question_1,question_2", "--id", "id", "--question", "intent", "--ratings", "ratings")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, ROWS)


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: object) -> list[str]:
    out = StringIO()
    call_command("import_ratings", *map(str, arguments), stdout=out, no_color=True)
    return out.getvalue().splitlines()


def nothing_is_there() -> bool:
    kept = (
        Wave.unseen.count(),
        Item.objects.count(),
        ImportedRow.objects.count(),
        Job.objects.exclude(file="").count(),
    )
    return kept == (0, 0, 0, 0)


@pytest.mark.parametrize("by", ["uuid", "name"])
def test_import_reports_and_imports(lead: Membership, project: Project, path: Path, by: str) -> None:
    assert run(getattr(project, by), path, *OPTIONS, "--metadata", "split") == [
        "Shown: question_1, question_2. Id: id. Metadata: split. Ratings: intent in ratings.",
        "2 rows read: 4 ratings of 2 items by 2 raters, 2 items with two or more.",
        "4 ratings of 2 items imported as wave 1, 1 conflicts.",
        "Imported: blindness and random draw are not known here.",
    ]
    wave = Wave.objects.get()
    assert (wave.opened_by, wave.is_imported, wave.size) == (lead, True, 2)
    assert (ImportedRow.objects.count(), Job.objects.exclude(file="").count()) == (0, 0)


def test_fields_are_suggested_unless_given(lead: Membership, project: Project, path: Path) -> None:
    assert run(project.uuid, path)[0] == (
        "Shown: question_1, question_2. Id: id. Metadata: none. Ratings: intent in ratings."
    )


def test_dry_run_imports_nothing_and_leaves_nothing(lead: Membership, project: Project, path: Path) -> None:
    assert run(project.uuid, path, *OPTIONS, "--dry-run")[-1] == "Nothing was imported: this was a dry run."
    assert nothing_is_there()


def test_long_and_wide_files(lead: Membership, project: Project, tmp_path: Path) -> None:
    long, wide = tmp_path / "long.csv", tmp_path / "wide.csv"
    long.write_text("id,text,who,label\n1,a,Ann,praise\n1,,Bob,question\n")
    wide.write_text("id,text,Ann,Bob\n2,b,praise,\n3,c,praise,question\n")
    run(project.uuid, long, "--fields", "text", "--id", "id", "--rater", "who", "--label", "label")
    run(project.uuid, wide, "--fields", "text", "--id", "id", "--raters", "Ann,Bob", "--question", "intent")
    rows = Annotation.objects.order_by("pk").values_list("item__external_id", "member__alias")
    assert list(rows) == [("1", "Ann"), ("1", "Bob"), ("2", "Ann"), ("3", "Ann"), ("3", "Bob")]


def test_values_and_members_can_be_said(
    lead: Membership, admin: Membership, anna: Membership, project: Project, tmp_path: Path
) -> None:
    rows = [{**ROWS[0], "ratings": {"Ann": "meh", "Bob": "n=a", "Cid": "praise"}}]
    path = written(tmp_path, rows)
    with pytest.raises(CommandError, match=r"2 values of the file are no labels: “meh” 1 × \(first in row 1\); “n=a”"):
        run(project.uuid, path, *OPTIONS)
    with pytest.raises(CommandError, match="“meh” 1 ×"):
        run(project.uuid, path, *OPTIONS, "--dry-run")
    assert nothing_is_there()
    said = ("--value", "meh=complaint", "--value", "n=a=", "--member", "Ann=anna", "--by", "ada")
    assert run(project.uuid, path, *OPTIONS, *said)[-2].startswith("2 ratings of 1 items imported as wave 1")
    assert Annotation.objects.get(member=anna).answers == {"intent": "complaint"}
    assert Wave.objects.get().opened_by == admin


def test_anonymous_ratings(lead: Membership, project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 1, "question_1": "a", "question_2": "b", "ratings": ["praise", "question"]}])
    with pytest.raises(CommandError, match="1 of 1 rows cannot be"):
        run(project.uuid, path, *OPTIONS)
    assert run(project.uuid, path, *OPTIONS, "--anonymous")[1] == (
        "1 rows read: 2 ratings of 1 items by anonymous raters, 1 items with two or more."
    )
    assert Wave.objects.get().draw.is_anonymous


def test_bad_rows_stop_the_import_unless_they_are_to_be_skipped(
    lead: Membership, project: Project, tmp_path: Path
) -> None:
    path = written(tmp_path, [*ROWS, {**ROWS[0], "question_1": "Other?"}])
    with pytest.raises(CommandError) as refusal:
        run(project.uuid, path, *OPTIONS)
    assert str(refusal.value) == (
        "Nothing was imported, because 1 of 3 rows cannot be. Mend them, or leave them out with --skip-bad."
    )
    assert nothing_is_there()
    assert run(project.uuid, path, *OPTIONS, "--skip-bad")[2:4] == [
        "  1 left out: the text of the item differs from an earlier row, or from the project's item",
        "  row 3: Row 1 has another text for “1”.",
    ]
    assert Wave.objects.get().size == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--ratings", "labels"),
            "The file has no field “labels”; it has: id, question_1, question_2, ratings, split.",
        ),
        (("--ratings", "ratings", "--question", "tone"), "The guideline has no question “tone” with labels"),
        (("--ratings", "ratings", "--raters", "a,b"), "Ratings stand in one way"),
        (("--rater", "who"), "--rater needs --label"),
        (("--label", "ratings", "--id", "id"), "Choose the field that names the rater"),
        (("--ratings", "ratings"), "Choose the fields to show, or the id of items that the project has."),
        (("--ratings", "ratings", "--fields", "question_1", "--value", "x=praise"), "the file has no rating “x”"),
        (("--ratings", "ratings", "--fields", "question_1", "--member", "Ann=nora"), "“nora” is no active member"),
        (("--by", "nora"), "no active member of the project who may import"),
        (("--format", "json"), "not with the [ of an array of objects"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_kept(
    lead: Membership, project: Project, path: Path, options: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        run(project.uuid, path, *options)
    assert sentence in str(refusal.value)
    assert nothing_is_there()


def test_projects_that_cannot_take_ratings(project: Project, path: Path) -> None:
    with pytest.raises(CommandError, match="There is no project “Nothing”"):
        run("Nothing", path)
    with pytest.raises(CommandError, match="Nobody in the project may import"):
        run(project.uuid, path)
    factories.member(project, "ada", "admin")
    with pytest.raises(CommandError, match="has no published guideline"):
        run(project.uuid, path)
    version = factories.version(project)
    factories.question(version, "tone", ("calm", "angry"))
    with pytest.raises(CommandError, match="Say which question the ratings answer, with --question: intent, tone"):
        run(project.uuid, path)
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        run(project.uuid, path.with_name("gone.csv"), "--question", "intent")
    factories.project(project.name)
    with pytest.raises(CommandError, match="Several projects are called"):
        run(project.name, path)
