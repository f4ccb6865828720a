"""What `manage.py agreement` refuses: each says what and where, and gives no figure."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.agreement.command import LONG, refusal, run, write

BAD = {
    "label outside the declared set": (
        "item,rater,label\n1,anna,yes\n1,ben,maybe\n",
        ["--labels", "yes,no"],
        'Line 3: "maybe" is none of the declared labels "yes", "no".',
    ),
    "label with a blank": (
        "a,b\nyes,yes\nyes,no \n",
        ["--raters", "a,b", "--labels", "yes,no"],
        'Line 3: "no " is none of the declared labels "yes", "no".',
    ),
    "rater twice on an item": (
        "item,rater,label\n1,anna,yes\n1,ben,no\n\n1,anna,yes\n",
        [],
        'Line 5: rater "anna" has rated item "1" before, as "yes": keep one rating of the two.',
    ),
    "rater twice on an item of a wide file": (
        "item,a,b\n1,yes,\n1,no,no\n",
        ["--raters", "a,b"],
        'Line 3: rater "a" has rated item "1" before, as "yes": keep one rating of the two.'
        " Where each row is an item of its own, say --item ''.",
    ),
    "empty file": ("", [], "The file is empty (0 bytes): export it again, with rows in it."),
    "header only": ("item,rater,label\n", [], "The file has a header and no rows: add rows below the header."),
    "one column": (
        "label\nyes\nno\n",
        [],
        'The file has one column, "label": expected item, rater and label with commas between, or one column for each'
        " rater, named with --raters.",
    ),
    "another separator": (
        "item|rater|label\n1|anna|yes\n",
        [],
        'The file has one column, "item|rater|label": expected item, rater and label with commas between, or one'
        " column for each rater, named with --raters.",
    ),
    "rater named twice": ("a,b\nyes,no\n", ["--raters", "a,b,a"], 'Rater "a" is named twice.'),
    "column twice": (
        "a,b,a\nyes,no,no\n",
        ["--raters", "a,b"],
        "The header on line 1 has 'a' more than once: rename one of the columns.",
    ),
    "one rater": ("a,b\nyes,no\n", ["--raters", "a"], 'Agreement needs two raters, and only "a" is named.'),
    "one rater in a long file": (
        "item,rater,label\n1,anna,yes\n2,anna,no\n",
        [],
        'Agreement needs two raters, and "anna" is the only one in the file.',
    ),
    "a column that is not there": (
        "item,who,label\n1,anna,yes\n",
        [],
        'There is no column "rater" among "item", "who", "label": name the columns with --item, --rater and --label,'
        " or the raters' own columns with --raters.",
    ),
    "no item": (
        "item,rater,label\n,anna,yes\n",
        [],
        'Line 2 has no "item": expected the name or the number of an item.',
    ),
    "no rater": ("item,rater,label\n1,,yes\n", [], 'Line 2 has no "rater": expected the name of a rater.'),
    "fields too many": (
        "a,b\nyes,no,no\n",
        ["--raters", "a,b"],
        "Line 2 has 3 fields and the header has 2: quote values that hold the separator.",
    ),
    "interval with words": (
        "a,b\nlow,high\n",
        ["--raters", "a,b", "--scale", "interval"],
        'The scale interval needs a number for every label, and "high" is none: give the values.',
    ),
    "ordinal words without an order": (
        "a,b\nlow,high\n",
        ["--raters", "a,b", "--scale", "ordinal"],
        'The order of the labels is not known, "high" being no number: declare them in order.',
    ),
    "ratio below zero": (
        "a,b\n-1,2\n",
        ["--raters", "a,b", "--scale", "ratio"],
        "A ratio scale has no values below 0, and -1 is one.",
    ),
    "values of a nominal scale": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,y", "--values", "1,2"],
        "Values are for ordinal, interval and ratio scales, not for nominal ones.",
    ),
    "too few values": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,y", "--values", "1", "--scale", "interval"],
        "2 labels need as many values, not 1.",
    ),
    "equal values": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,y", "--values", "1,1", "--scale", "interval"],
        'The labels "x" and "y" have the same value, 1: they would count as one. Give each its own.',
    ),
    "values that are words": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,y", "--values", "1,two", "--scale", "interval"],
        "1,two: 'two' at place 2 is no number.",
    ),
    "label declared twice": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,y,x"],
        'Label "x" is declared twice.',
    ),
    "empty name in a list": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "x,,y"],
        "'x,,y' has an empty name: remove a comma, or write a JSON list if a name is empty.",
    ),
    "labels that look the same in a table": (
        "a,b\n1,1\n",
        ["--raters", "a,b", "--labels", '[1, "1"]'],
        'The labels 1 and "1" look the same in a table of texts: write the ratings as JSONL.',
    ),
    "list that is not JSON": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--labels", "[x, y]"],
        "'[x, y]' is not a JSON list: Expecting value at character 2.",
    ),
    "count that is none": (
        "a,b,n\nx,y,3\nx,x,2.5\n",
        ["--raters", "a,b", "--count", "n"],
        'Line 3: "n" is "2.5": expected a whole number of items, 0 or more.',
    ),
    "negative count": (
        "a,b,n\nx,y,-3\n",
        ["--raters", "a,b", "--count", "n"],
        'Line 2: "n" is "-3": expected a whole number of items, 0 or more.',
    ),
    "count beyond what can be summed": (
        "a,b,n\nx,y,1e30\n",
        ["--raters", "a,b", "--count", "n"],
        'Line 2: "n" is "1e30": expected a whole number of items, 1,000,000,000,000 at most.',
    ),
    "count of a long file": (
        LONG,
        ["--count", "n"],
        "A column of counts belongs to a wide file: name the columns of the raters with it.",
    ),
    "linear weights without an order": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--weights", "linear"],
        "Weights follow the order of the labels, and a nominal scale has none.",
    ),
    "expert who is none of the raters": (
        LONG,
        ["--expert", "cara"],
        'The expert "cara" is none of the raters "anna", "ben".',
    ),
    "confidence out of range": (LONG, ["--confidence", "95"], "--confidence 95: expected a number between 0 and 1."),
    "confidence that is no number": (
        LONG,
        ["--confidence", "nan"],
        "--confidence nan: expected a number between 0 and 1.",
    ),
    "no replicate": (LONG, ["--replicates", "0"], "--replicates 0: expected 1 to 1,000,000."),
    "negative seed": (LONG, ["--seed", "-1"], "--seed -1: expected 0 or more."),
    "interval with a word among the numbers": (
        "item,rater,label\n1,a,1\n1,b,2\n2,a,many\n2,b,2\n",
        ["--scale", "interval"],
        'The scale interval needs a number for every label, and "many" is none: give the values.',
    ),
    "rater named twice as a JSON list": ("a,b\nyes,no\n", ["--raters", '["a", "a"]'], 'Rater "a" is named twice.'),
    "weights for sets": (
        "a,b\nx,y\n",
        ["--raters", "a,b", "--scale", "multilabel", "--weights", "quadratic"],
        "Weights follow the order of the labels, and a multilabel scale has none.",
    ),
    "expert among places": (
        LONG,
        ["--exchangeable", "--expert", "anna"],
        "Agreement with an expert needs to know who rated, and the raters are exchangeable here.",
    ),
    "column of texts for labels": (
        "item,rater,label\n" + "".join(f"{i // 2},{'ab'[i % 2]},text {i}\n" for i in range(501)),
        [],
        'Line 502: "text 500" is label number 501, so this may be another column than that of the labels; declare them'
        " if it is not.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, options, sentence = BAD[name]
    path = write(tmp_path, text)

    assert (refusal(path, *options), refusal(path, *options, "--json")) == (sentence, sentence)


BAD_LINES = {
    "label missing": ([{"item": 1, "rater": "a"}], [], 'There is no column "label" among "item", "rater": '),
    "label missing on the way": (
        [{"item": 1, "rater": "a", "label": 1}, {"item": 1, "rater": "b"}],
        [],
        'Line 2 has no "label": write null where a rating is missing.',
    ),
    "no field": ([{}], [], 'There is no column "item" among none at all: name the columns'),
    "one field": ([{"label": 1}], [], 'The file has one column, "label": '),
    "text for a number": ([{"a": 1, "b": "1"}], ["--raters", "a,b", "--labels", "[1, 2]"], 'Line 1: "1" is none of'),
    "true for a number": ([{"a": 1, "b": True}], ["--raters", "a,b", "--labels", "[1, 2]"], "Line 1: true is none of"),
    "both types for one name": (
        [{"a": 1, "b": 2}, {"a": "1", "b": 2}],
        ["--raters", "a,b", "--labels", "1,2"],
        'Line 2: "1" is none of the declared labels 1, 2.',
    ),
    "list on a nominal scale": ([{"a": ["x"], "b": []}], ["--raters", "a,b"], 'Line 1: ["x"] is no label: '),
    "text on a multilabel scale": (
        [{"a": ["x"], "b": "x"}],
        ["--raters", "a,b", "--scale", "multilabel"],
        'Line 1: "x" is no multi-label answer: expected a list of labels.',
    ),
    "rater who is in no row": (
        [{"a": 1, "b": 2}],
        ["--raters", "a,b,c"],
        'No row has a column "c": check the name of the rater.',
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_json_lines_are_refused_with_their_place(name: str, tmp_path: Path) -> None:
    rows, options, beginning = BAD_LINES[name]
    path = write(tmp_path, "".join(f"{json.dumps(row)}\n" for row in rows), "ratings.jsonl")

    assert refusal(path, *options)[: len(beginning)] == beginning


def test_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1, "b": 1}\n{"a": NaN, "b": 1}\n', "ratings.jsonl")

    assert refusal(path, "--raters", "a,b").startswith("Line 2 has the number NaN")


WEIGHTS = {
    "negative": ("0,1\n-1,0\n", "Weight -1.0 in row 2, column 1: expected a number of 0 or more."),
    "not 0 on the diagonal": ("0,1\n1,2\n", "Weight 2.0 in row 2: the same label twice is no disagreement, so 0."),
    "of another size": (
        "0,1,1\n1,0,1\n1,1,0\n",
        "2 labels need 2 x 2 weights, and these are 3 x 3.",
    ),
    "ragged": ("0,1\n1\n", "Weights, row 2: found 1 numbers and expected 2, one per row."),
    "words": ("0,one\n1,0\n", "Weights, row 1: 'one' at place 2 is no number."),
    "empty": ("", "The file of weights is empty: write one row of numbers for each label."),
    "all 0": ("0,0\n0,0\n", "All weights are 0, so no two labels would differ: expected one above 0."),
    "infinite": ("0,inf\n1,0\n", "Weights, row 1: 'inf' at place 2 is no number."),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_bad_weights_are_refused(name: str, tmp_path: Path) -> None:
    text, sentence = WEIGHTS[name]
    weights = write(tmp_path, text, "weights.csv")

    assert refusal(write(tmp_path, LONG), "--labels", "yes,no", "--weights", str(weights)) == f"{weights}: {sentence}"


def test_weights_that_are_no_text_are_refused_by_name(tmp_path: Path) -> None:
    weights = tmp_path / "weights.xlsx"
    weights.write_bytes(b"PK\x03\x04\xff")

    assert refusal(write(tmp_path, LONG), "--labels", "yes,no", "--weights", str(weights)) == (
        f"{weights}: The file is not UTF-8 text: write one row of numbers for each label."
    )


def test_asymmetric_weights_are_allowed(tmp_path: Path) -> None:
    weights = write(tmp_path, "0 2\n1 0\n", "weights.txt")

    statistics = run(write(tmp_path, LONG), "--labels", "yes,no", "--weights", str(weights), "--no-interval")[
        "statistics"
    ]

    # By hand: one "no" of anna where ben says "yes" (weight 1) of 3; by chance (1*1*2 + 2*2*1) / 9.
    assert statistics["weighted_kappa_custom"]["value"] == pytest.approx(1 - (1 / 3) / (6 / 9))


def test_weights_without_declared_labels_are_refused(tmp_path: Path) -> None:
    weights = write(tmp_path, "0,1\n1,0\n", "weights.csv")

    assert refusal(write(tmp_path, LONG), "--weights", str(weights)) == (
        "The rows of a matrix of weights follow the order of the labels: declare the labels with it."
    )


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no\.csv cannot be read: No such file or directory\."):
        call_command("agreement", str(tmp_path / "no.csv"))
