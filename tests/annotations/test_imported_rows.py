"""Files of ratings: how their fields are understood, and what is said about rows that cannot be taken."""

import json
from typing import Any

import pytest

from annotations import imported, imported_items, imported_report, imported_rows, rating_values, releasing
from annotations.rating_layouts import LONG, NESTED, WIDE, Layout
from projects import folding, jobs
from projects.errors import DomainError, Invalid
from projects.models import Example, Job, Label, Membership, Project
from tests import factories
from tests.annotations.ratings_files import bring, read, rows_of, upload
from tests.factories import NOW

EACH = Layout(LONG, shown=("text",), id_field="id", labels={"intent": "label"}, rater="rater")
COLUMNS = Layout(WIDE, shown=("text",), id_field="id", labels={"intent": ""}, raters=("Ann", "Bob"))
HELD = Layout(NESTED, shown=("text",), id_field="id", labels={"intent": "ratings"})
PLACES = Layout(NESTED, shown=("text",), id_field="id", labels={"intent": "ratings"}, anonymous=True)


def found(job: Job) -> tuple[int, int, int, int]:
    report = imported_report.of(job)
    return report.items, report.overlap, report.ratings, report.bad


# -- suggestions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name", "layout"),
    [
        (
            "id,text,annotator,label,source\n1,It crashes a lot,Ann,praise,web\n1,It crashes a lot,Bob,praise,web\n",
            "a.csv",
            Layout(LONG, ("text",), "id", ("source",), {"intent": "label"}, "annotator"),
        ),
        (
            "item\ttext\tAnn\tBob\nx1\tIt crashes\tpraise\tComplaint\nx2\tIt works so well\t\tquestion\n",
            "a.tsv",
            Layout(WIDE, ("text",), "", (), {"intent": ""}, "", ("Ann", "Bob")),
        ),
        (
            '[{"id": 1, "text": "It crashes", "labels": {"Ann": "praise"}, "rationales": {"Ann": "why"}}]',
            "a.json",
            Layout(NESTED, ("text",), "id", (), {"intent": "labels"}, comment="rationales"),
        ),
        (
            '{"id": 1, "text": "It crashes", "ratings": ["praise", "question"]}\n',
            "a.jsonl",
            Layout(NESTED, ("text",), "id", (), {"intent": "ratings"}, anonymous=True),
        ),
    ],
)
def test_the_first_rows_suggest_what_is_what(lead: Membership, content: str, name: str, layout: Layout) -> None:
    assert imported.layout_of(read(lead, content, name=name)) == layout


def test_a_file_that_suggests_nothing_asks(lead: Membership) -> None:
    job = read(lead, "id,text,who\n1,It crashes,Ann\n")
    assert (job.state, job.message) == ("failed", "Say which field holds the labels of which question.")
    with pytest.raises(Invalid, match="Choose the field that names the rater"):
        imported.choose(job, Layout(LONG, ("text",), "id", labels={"intent": "who"}))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id_field": "nr"}, "The file has no field “nr”; it has: id, text, rater, label."),
        ({"labels": {"tone": "label"}}, "The guideline has no question “tone” with labels; it has: intent."),
        ({"labels": {}}, "Say which field holds the labels of which question."),
        ({"shown": (), "id_field": ""}, "Choose the fields to show, or the id of items that the project has."),
        ({"rater": "label"}, "“label” was chosen twice: as ratings, and as something else."),
        ({"shown": ("text", "label")}, "“label” was chosen twice: as ratings, and as something else."),
        ({"shape": WIDE}, "Choose the columns that hold the ratings, one for each rater."),
        ({"shape": "round"}, "“round” is no shape: expected one of long, wide, nested."),
    ],
)
def test_a_layout_that_cannot_be_is_refused(lead: Membership, changes: dict[str, Any], sentence: str) -> None:
    job = read(lead, "id,text,rater,label\n1,It crashes,Ann,praise\n")
    before = job.params
    layout = Layout.of({**EACH.stored(), **changes})
    with pytest.raises(Invalid) as refusal:
        imported.choose(job, layout)
    assert refusal.value.message == sentence
    job.refresh_from_db()
    assert (job.params, job.state) == (before, "done")


def test_another_layout_reads_the_file_again(lead: Membership) -> None:
    job = read(lead, "id,text,rater,label\n1,a,Ann,praise\n1,b,Bob,praise\n", EACH)
    assert found(job)[3] == 1
    again = imported.choose(job, Layout(LONG, ("text",), "", (), {"intent": "label"}, "rater"))
    assert found(jobs.work_now(again)) == (2, 0, 2, 0)
    assert imported.choose(again, imported.layout_of(again)).attempts == again.attempts


# -- values ------------------------------------------------------------------------------------------------------------


def labels(*rows: tuple[str, str, float | None]) -> list[Label]:
    return [Label(key=key, name=name, value=value, order=i) for i, (key, name, value) in enumerate(rows)]


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("bad", "bad"),
        ("Very bad", "bad"),
        (" very  BAD ", "bad"),
        (-1, "bad"),
        (-1.0, "bad"),
        ("-1", "bad"),
        ("+1.0", "good"),
        (1, "good"),
        (True, None),
        ("", None),
        ("0.5", None),
        ("nan", None),
        ("awful", None),
    ],
)
def test_values_are_labels_by_key_name_or_number(raw: Any, key: str | None) -> None:
    assert rating_values.guess(raw, labels(("bad", "Very bad", -1.0), ("good", "Good", 1.0))) == key


def test_a_value_that_speaks_for_two_labels_is_asked_about() -> None:
    steps = labels(("1", "never", 0.0), ("2", "often", 1.0))
    assert [rating_values.guess(raw, steps) for raw in ("0", "1", "2")] == ["1", None, "2"]


def test_texts_and_numbers_are_different_values(lead: Membership) -> None:
    rows = [{"id": i, "text": f"t{i}", "ratings": {"Ann": raw}} for i, raw in enumerate([1, "1", True, 1.0])]
    values = imported_report.of(read(lead, rows, HELD)).values
    assert [(value.token, value.count) for value in values] == [("1", 2), ('"1"', 1), ("true", 1)]


def test_empty_is_missing(lead: Membership) -> None:
    rows = [
        {"id": 1, "text": "a", "ratings": {"Ann": "praise", "Bob": None, "Cid": " "}},
        {"id": 2, "text": "b", "ratings": {}},
        {"id": 3, "text": "c"},
    ]
    job = read(lead, rows, HELD)
    assert found(job) == (1, 0, 1, 0)
    assert imported_report.of(job).unrated == 2


def test_a_column_of_texts_is_no_column_of_labels(lead: Membership) -> None:
    rows = "".join(f"{i},t{i},Ann,some text {i}\n" for i in range(imported_rows.MOST_VALUES + 1))
    job = read(lead, f"id,text,rater,label\n{rows}", EACH)
    assert (job.state, job.message) == (
        "failed",
        "The ratings of “intent” have more than 200 different values, up to row 202: that is no field of labels. "
        "Choose another one.",
    )


# -- rows that cannot be taken -----------------------------------------------------------------------------------------


def test_every_bad_row_is_named(lead: Membership) -> None:
    job = read(
        lead,
        "id,text,rater,label\n"
        "1,It crashes,Ann,praise\n"
        "1,,Ann,question\n"
        "1,It works,Bob,praise\n"
        ",No id,Ann,praise\n"
        "2,Lovely,,praise\n"
        f"3,Lovely,{'x' * 121},praise\n"
        "4,,Ann,praise\n"
        "5,too,many,fields,here\n"
        f"6,Hm,Ann,{'y' * 201}\n"
        "1,It crashes,Cid,praise\n",
        EACH,
    )
    assert rows_of(job) == [
        (3, "rater_twice", "“Ann” rated “1” in row 2 already."),
        (4, "other_text", "Row 2 has another text for “1”."),
        (5, "no_id", "“id”, the id, is missing or empty."),
        (6, "no_rater", "There is a rating, and nobody who gave it."),
        (7, "bad_rater", "The rater's name has 121 characters: it may have 120."),
        (8, "empty", "No row of the item has a text, and the project has no such item."),
        (9, "unreadable", "Line 9 has 5 fields and the header has 4: quote values that hold the separator."),
        (10, "bad_value", "A rating of “intent” is a text of 201 characters, where a label belongs."),
    ]
    assert found(job) == (1, 1, 2, 8)


def test_fields_that_are_not_as_chosen(lead: Membership) -> None:
    rows = [
        {"id": 1, "text": "a", "ratings": ["praise"]},
        {"id": 2, "text": "b", "ratings": "praise"},
        {"id": 3, "text": "c", "ratings": {"Ann": {"deep": 1}}},
        {"id": 4, "text": "d", "ratings": {"Ann": ["praise", "question"]}},
        {"id": 5, "text": "e", "ratings": {"Ann": "praise"}},
    ]
    assert [row[1:] for row in rows_of(read(lead, rows, HELD))] == [
        ("bad_ratings", "“ratings” is a list, whose places are nobody: say that the ratings are anonymous."),
        ("bad_ratings", "“ratings” is no object: expected {rater: label}."),
        ("bad_value", "A rating of “intent” is an object, where a label belongs."),
        ("bad_value", "A rating of “intent” is a list, and the question takes one label."),
    ]


def test_a_second_row_of_anonymous_ratings_is_left_out(lead: Membership) -> None:
    rows = [{"id": 1, "text": "a", "ratings": ["praise", "praise"]}, {"id": 1, "text": "a", "ratings": ["praise"]}]
    job = read(lead, rows, PLACES)
    assert rows_of(job) == [(2, "id_in_file", "An earlier row has the ratings of “1” already.")]
    assert found(job) == (1, 1, 2, 1)


def test_other_raters_of_an_item_may_stand_in_another_row(lead: Membership) -> None:
    job = read(lead, "id,text,Ann,Bob\n1,a,praise,\n1,,,question\n1,a,,praise\n", COLUMNS)
    assert rows_of(job) == [(4, "rater_twice", "“Bob” rated “1” in row 3 already.")]
    assert found(job) == (1, 1, 2, 1)


def test_the_text_may_stand_in_any_row_of_its_item(lead: Membership) -> None:
    wave = bring(lead, "id,text,rater,label\n1,,Ann,praise\n1,It crashes,Bob,praise\n", EACH)
    assert [row.item.content for row in wave.wave_items.all()] == [{"text": "It crashes"}]


def test_more_ratings_than_an_item_can_have(lead: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported_items, "MOST_PLACES", 2)
    rows = [{"id": 1, "text": "a", "ratings": ["praise"] * 3}, {"id": 2, "text": "b", "ratings": ["praise"] * 2}]
    job = read(lead, rows, PLACES)
    assert rows_of(job) == [(1, "too_many", "“1” has more than 2 ratings.")]


def test_items_that_the_project_cannot_give(lead: Membership, project: Project) -> None:
    items = factories.items(project, 4)
    bring(
        lead,
        "id,rater,label\nitem-0,Ann,praise\n",
        Layout(LONG, id_field="id", labels={"intent": "label"}, rater="rater"),
    )
    wave = releasing.open_wave(project, by=lead, at=NOW, size=1)
    taken = wave.wave_items.get().item.external_id
    free = next(item for item in items[1:] if item.external_id != taken)
    text = free.content["text"]
    content = (
        "id,text,rater,label\n"
        f"item-0,{items[0].content['text']},Bob,praise\n"
        f"{taken},,Bob,praise\n"
        f"{free.external_id},something else,Bob,praise\n"
        f"{free.external_id},{text},Cid,praise\n"
    )
    assert rows_of(read(lead, content, EACH)) == [
        (2, "given_out", "It was given out or rated in this project before."),
        (3, "open_wave", "It is in a wave that is open: wait until that closes."),
        (4, "other_text", f"The project's item “{free.external_id}” has another text."),
        (5, "other_text", f"The project's item “{free.external_id}” has another text."),
    ]


def test_an_example_of_the_guideline_is_never_measured(lead: Membership, project: Project) -> None:
    content = {"text": "It crashes"}
    Example.objects.create(
        version=project.versions.get(),
        question_key="intent",
        content=content,
        value="complaint",
        content_hash=folding.content_hash(content),
        folded_hash=folding.folded_hash(content),
    )
    job = read(lead, "id,text,rater,label\n1,IT crashes,Ann,praise\n2,Lovely,Ann,praise\n", EACH)
    assert rows_of(job) == [(2, "in_guideline", "The guideline shows it as an example: it is never measured.")]


def test_the_same_text_under_two_ids_is_two_items(lead: Membership) -> None:
    assert found(read(lead, "id,text,Ann,Bob\n1,a,praise,praise\n2,a,praise,praise\n", COLUMNS)) == (2, 2, 4, 0)


def test_items_of_another_project_are_not_known_here(lead: Membership) -> None:
    other = factories.project("Neighbour")
    factories.version(other)
    factories.items(other, 2)
    layout = Layout(LONG, id_field="id", labels={"intent": "label"}, rater="rater")
    job = read(lead, "id,rater,label\nitem-0,Ann,praise\n", layout)
    assert [row[1] for row in rows_of(job)] == ["empty"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_no_item_is_cut_apart(lead: Membership, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(imported_rows, "CHUNK_ROWS", size)
    raters = ("Ann", "Bob", "Cid")
    # By rater, so that the rows of an item are far apart.
    rows = "".join(f"{i},t{i},{rater},praise\n" for rater in raters for i in range(4))
    wave = bring(lead, f"id,text,rater,label\n{rows}", EACH)
    assert list(wave.wave_items.order_by("pk").values_list("item__external_id", "rated")) == [
        (str(i), 3) for i in range(4)
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty (0 bytes)"),
        (b"id,text\n", "The file has a header and no rows"),
        (b"PK\x03\x04 more", "is a ZIP archive or an Excel workbook"),
        (b"id,id\n1,2\n", "has 'id' more than once"),
        (b"id,text\xff\n1,2\n", "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_none_is_refused_before_it_is_kept(lead: Membership, content: bytes, sentence: str) -> None:
    with pytest.raises(Invalid) as refusal:
        imported.start(lead.project, upload=upload(content), by=lead)
    assert sentence in refusal.value.message
    assert Job.objects.count() == 0


def test_a_file_that_breaks_off_imports_nothing(lead: Membership) -> None:
    rows = ",".join(json.dumps({"id": i, "text": f"t{i}", "ratings": {"Ann": "praise"}}) for i in range(300))
    job = read(lead, f"[{rows}, {{", name="cut.json")
    assert job.state == "failed"
    assert "The file ends inside item 301: it was cut off" in job.message
    with pytest.raises(DomainError, match="look at the new one"):
        imported.confirm(job, by=lead)


def test_too_many_raters_are_no_raters(lead: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported_rows, "MOST_RATERS", 2)
    job = read(lead, "id,text,rater,label\n1,a,A,praise\n1,,B,praise\n1,,C,praise\n", EACH)
    assert job.message == "More than 2 different raters up to row 4: that is no field of raters."
