"""`manage.py agreement FILE`: the known answers through files of every form, and what is refused. No database."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line

from agreement import files
from agreement.codebooks import Declared
from agreement.coefficients.ratings import Ratings, identity
from agreement.files import Layout
from tests.agreement.coefficients.known_answers import ROOT, cases, extras, ratings_of
from tests.agreement.coefficients.test_known_answers import wrong

Case = dict[str, Any]


def run(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("agreement", str(path), *options, "--json", stdout=out)
    return json.loads(out.getvalue())


def refusal(path: Path, *options: str) -> str:
    """The sentence after the file's name; nothing was printed before it."""
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("agreement", str(path), *options, stdout=out)
    assert (out.getvalue(), refused.value.returncode) == ("", 1)
    return str(refused.value).removeprefix(f"{path}: ")


def write(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# -- the known answers, as files ---------------------------------------------------------------------------------------


def matrix_of(case: Case) -> list[list[Any]]:
    """One row of labels per rater."""
    return [case["a"], case["b"]] if case["kind"] == "pairs" else case["matrix"]


def names_of(case: Case) -> list[str]:
    return ["0", "1"] if case["kind"] != "matrix" else [str(rater) for rater in range(len(case["matrix"]))]


def wide_csv(case: Case, folder: Path) -> tuple[Path, Layout]:
    """A table with counts, or one item a row."""
    path, names = folder / "wide.csv", names_of(case)
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        if case["kind"] == "table":
            rows.writerow([*names, "items"])
            for down, line in zip(case["labels"], case["table"], strict=True):
                rows.writerows([down, across, n] for across, n in zip(case["labels"], line, strict=True))
            return path, Layout(raters=tuple(names), count="items")
        rows.writerow(names)
        rows.writerows(zip(*matrix_of(case), strict=True))
    return path, Layout(raters=tuple(names))


def wide_jsonl(case: Case, folder: Path) -> tuple[Path, Layout]:
    names = names_of(case)
    rows = [
        {"item": item, **dict(zip(names, given, strict=True))}
        for item, given in enumerate(zip(*matrix_of(case), strict=True))
    ]
    path = write(folder, "".join(f"{json.dumps(row)}\n" for row in rows), "wide.jsonl")
    return path, Layout(raters=tuple(names))


def long_jsonl(case: Case, folder: Path) -> tuple[Path, Layout]:
    """Shuffled by rater: all of the last one first."""
    rows = [
        {"item": item, "rater": rater, "label": label}
        for rater, given in reversed(list(enumerate(matrix_of(case))))
        for item, label in enumerate(given)
    ]
    return write(folder, "".join(f"{json.dumps(row)}\n" for row in rows), "long.jsonl"), Layout()


def long_csv(case: Case, folder: Path) -> tuple[Path, Layout]:
    path = folder / "long.tsv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, delimiter="\t")
        rows.writerow(["who", "what", "said"])
        for rater, given in enumerate(matrix_of(case)):
            rows.writerows([rater, item, label] for item, label in enumerate(given))
    return path, Layout("what", "who", "said")


def forms_of(case: Case) -> list[Any]:
    """How a case can be written: a table only as such, an empty label only in JSON, no ratings only in a wide file."""
    if case["kind"] == "table" or not case["labels"] or not matrix_of(case)[0]:
        return [wide_csv]
    return [wide_jsonl, long_jsonl] + ([wide_csv, long_csv] if "" not in case["labels"] else [])


def options_of_layout(layout: Layout) -> list[str]:
    if layout.raters:
        return ["--raters", ",".join(layout.raters), *(["--count", layout.count] if layout.count else [])]
    return ["--rater", layout.rater, "--label", layout.label, *(["--item", layout.item] if layout.item else [])]


def options_of(case: Case, folder: Path) -> list[str]:
    options = ["--scale", case["scale"], "--labels", json.dumps(case["labels"]), "--no-interval"]
    if "label_values" in case:
        options += ["--values", json.dumps(case["label_values"])]
    if "disagreement_weights" in case:
        options += ["--weights", str(write(folder, json.dumps(case["disagreement_weights"]), "weights.json"))]
    if "expert" in case:
        options += ["--expert", str(case["expert"])]
    return options + (["--exchangeable"] if case.get("exchangeable_raters") else [])


def one_form(case_id: str) -> Any:
    """One form of a case, another one for the next case."""
    forms = forms_of(cases()[case_id])
    return forms[list(cases()).index(case_id) % len(forms)]


def test_every_form_is_asked_and_most_cases_have_all_of_them() -> None:
    assert {one_form(case_id) for case_id in cases()} == {wide_csv, wide_jsonl, long_jsonl, long_csv}
    assert sum(len(forms_of(case)) for case in cases().values()) == 150


@pytest.mark.parametrize("case_id", cases())
def test_file_gives_the_known_answers(case_id: str, tmp_path: Path) -> None:
    case = cases()[case_id]
    path, layout = one_form(case_id)(case, tmp_path)

    answer = run(path, *options_of_layout(layout), *options_of(case, tmp_path))

    assert wrong(answer["statistics"], case["expected"]) == {}
    assert (answer["labels"], [type(label) for label in answer["labels"]]) == (
        case["labels"],
        [type(label) for label in case["labels"]],
    )
    assert len(answer["raters"]) == len(names_of(case))
    assert "exchangeable_raters" in case or answer["raters"] == names_of(case)


@pytest.mark.parametrize("case_id", cases())
def test_every_form_of_a_file_holds_the_same_ratings(case_id: str, tmp_path: Path) -> None:
    """So that one form in the command is enough: figures are made from these patterns and nothing else."""
    case = cases()[case_id]
    places = bool(case.get("exchangeable_raters"))
    declared = Declared(case["scale"], tuple(case["labels"]), values=case.get("label_values"))
    known = ratings_of(case)

    for form in forms_of(case):
        path, layout = form(case, tmp_path)
        with path.open("rb") as stream:
            got = files.read(stream, path.name, replace(layout, exchangeable=places), declared).ratings
        assert patterns(got) == patterns(known), form.__name__
        assert list(map(identity, got.labels)) == list(map(identity, known.labels))
        assert places or list(got.raters) == names_of(case)


def patterns(ratings: Ratings) -> dict[tuple[int, ...], float]:
    """The items of each pattern of codes; where columns are places, by how often each label stands in it."""
    rows = ratings.counts().astype(int) if ratings.exchangeable else ratings.codes
    found: dict[tuple[int, ...], float] = {}
    for row, n in zip(rows.tolist(), ratings.weights.tolist(), strict=True):
        found[tuple(row)] = found.get(tuple(row), 0.0) + n
    return found


def test_exchangeable_raters_have_no_figure_by_rater(tmp_path: Path) -> None:
    case = cases()["fleiss_wikipedia"]
    path, layout = long_jsonl(case, tmp_path)

    options = options_of_layout(layout)
    named = run(path, *options, "--labels", json.dumps(case["labels"]), "--no-interval")["statistics"]
    places = run(path, *options, *options_of(case, tmp_path))["statistics"]

    assert set(named) - set(places) == {
        "conger_kappa",
        "mean_pairwise_cohen_kappa",
        "pooled_pairwise_cohen_kappa",
        "pairwise_cohen_kappa",
    }


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_multilabel_file_gives_the_known_answers(form: str, tmp_path: Path) -> None:
    case = extras("multilabel")["cases"][0]
    pairs = list(zip(case["a"], case["b"], strict=True))
    if form == "jsonl":
        path = write(tmp_path, "".join(f"{json.dumps({'a': a, 'b': b})}\n" for a, b in pairs), "sets.jsonl")
    else:
        lines = [",".join("; ".join(answer) or ";" for answer in pair) for pair in pairs]
        path = write(tmp_path, "a,b\n" + "\n".join(lines) + "\n")

    answer = run(path, "--raters", "a,b", "--scale", "multilabel", "--labels", ",".join(case["labels"]))

    statistics, known = answer["statistics"], case["expected"]
    got = {
        "alpha_jaccard": statistics["krippendorff_alpha_jaccard"]["value"],
        "alpha_masi": statistics["krippendorff_alpha_masi"]["value"],
        "exact_set_match": statistics["percent_agreement"]["value"],
        "macro_mean_kappa": statistics["macro_mean_kappa"]["value"],
    }
    expected = {key: known[key]["value"] if isinstance(known[key], dict) else known[key] for key in got}
    assert got == pytest.approx(expected, abs=1e-9)
    assert [(row["label"], pytest.approx(row["value"])) for row in statistics["per_label_cohen_kappa"]] == [
        (label, per["kappa"]) for label, per in known["per_label"].items()
    ]
    assert (answer["labels"], answer["answers"][0]) == (case["labels"], [])


# -- the answer --------------------------------------------------------------------------------------------------------

LONG = "item,rater,label\n1,anna,yes\n1,ben,yes\n2,anna,no\n2,ben,yes\n3,anna,no\n3,ben,no\n4,anna,no\n"


def test_json_has_the_documented_keys(tmp_path: Path) -> None:
    answer = run(write(tmp_path, LONG), "--labels", "yes,no")

    assert set(answer) == {
        *("file", "scale", "labels", "raters", "n_items", "statistics", "headline", "diagnostics", "notes"),
        *("uses", "table", "seed", "engine", "weights", "expert", "exchangeable"),
    }
    assert (answer["labels"], answer["raters"], answer["n_items"]) == (["yes", "no"], ["anna", "ben"], 4)
    assert (answer["uses"], answer["table"]) == ([[1, 2], [2, 1]], [[1, 0], [1, 1]])
    kappa = answer["statistics"]["cohen_kappa"]
    assert {key: kappa[key] for key in ("value", "n", "method")} == {"value": 0.4, "n": 3, "method": "smoothed"}
    assert -1 <= kappa["interval"][0] < 0.4 < kappa["interval"][1] <= 1


def test_no_interval_gives_none(tmp_path: Path) -> None:
    statistics = run(write(tmp_path, LONG), "--no-interval")["statistics"]

    assert [key for key, entry in statistics.items() if "interval" in json.dumps(entry)] == []


def test_interval_is_the_seeds(tmp_path: Path) -> None:
    path = write(tmp_path, LONG)
    first, again, other = (run(path, "--seed", seed)["statistics"]["cohen_kappa"]["interval"] for seed in "112")

    assert (first == again, first == other) == (True, False)


def test_shuffled_rows_give_the_same_answer(tmp_path: Path) -> None:
    head, *rows = LONG.splitlines(keepends=True)

    assert run(write(tmp_path, LONG)) == run(write(tmp_path, head + "".join(reversed(rows))))


def test_number_text_and_true_stay_apart(tmp_path: Path) -> None:
    rows = [(1, 1), ("1", "1"), (True, True), (1, True), ("1", 1.0)]
    path = write(tmp_path, "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows), "three.jsonl")

    answer = run(path, "--raters", "a,b", "--labels", '[1, "1", true]', "--no-interval")

    assert answer["table"] == [[1, 0, 1], [1, 1, 0], [0, 0, 1]]
    assert json.dumps([row["label"] for row in answer["statistics"]["per_class_kappa"]]) == '[1, "1", true]'


def test_names_of_a_comma_list_stand_for_numbers_in_json(tmp_path: Path) -> None:
    rows = [(1, 1), (2, 3), (3, 3)]
    path = write(tmp_path, "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows), "numbers.jsonl")

    answer = run(path, "--raters", "a,b", "--labels", "1,2,3,4", "--scale", "ordinal", "--no-interval")

    assert (answer["labels"], answer["table"][1]) == ([1, 2, 3, "4"], [0, 0, 1, 0])


def test_lists_may_begin_with_a_negative_number(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n-1,-1\n0,1\n1,1\n-1,0\n")

    answer = run(
        path, "--raters", "a,b", "--scale", "interval", "--labels", "-1,0,1", "--values", "-2,0,2", "--no-interval"
    )

    # By hand: 1 - Do / De, Do = 2 * (4 + 4) / 8 and De from the counts 3, 2, 3 of the values -2, 0, 2.
    by_chance = 2 * (3 * 2 * 4 + 3 * 3 * 16 + 2 * 3 * 4) / (8 * 7)
    assert answer["labels"] == ["-1", "0", "1"]
    assert answer["statistics"]["krippendorff_alpha_interval"]["value"] == pytest.approx(1 - 2 / by_chance)


def test_ordered_scale_says_what_knows_no_order(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,1\n1,2\n2,3\n3,3\n")

    answer = run(path, "--raters", "a,b", "--scale", "ordinal", "--labels", "1,2,3", "--no-interval")

    assert answer["notes"] == [
        "No weights were named, so the headline takes linear ones: --weights names others.",
        "The labels are ordered, and these count a near miss as much as a far one: Cohen's kappa, Scott's pi,"
        " Krippendorff's alpha (nominal), Brennan-Prediger kappa, Gwet's AC1.",
    ]


def test_expert_on_an_ordered_scale_is_weighted(tmp_path: Path) -> None:
    path = write(tmp_path, "e,b,c\n1,1,2\n2,3,2\n3,3,1\n1,,1\n")
    options = ("--raters", "e,b,c", "--scale", "ordinal", "--labels", "1,2,3", "--expert", "e", "--no-interval")

    answer = run(path, *options)
    two = run(write(tmp_path, "e,b\n1,1\n1,2\n2,3\n2,2\n3,3\n3,1\n1,1\n"), *options[2:-3], "--raters", "e,b")

    # Every rating of the others beside the expert's: the weighted kappa of those seven pairs.
    assert answer["headline"]["key"] == "expert_weighted_kappa_linear"
    for weights in ("linear", "quadratic"):
        got = answer["statistics"][f"expert_weighted_kappa_{weights}"]
        assert (got["value"], got["pairs"]) == (two["statistics"][f"weighted_kappa_{weights}"]["value"], 7)
    each = answer["statistics"]["expert_weighted_kappa_linear_per_rater"]
    assert [(row["rater"], row["n"]) for row in each] == [("b", 3), ("c", 4)]


def test_headline_of_an_ordinal_scale_takes_the_named_weights(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nlow,low\nlow,high\nmedium,high\nhigh,high\n")
    options = ("--raters", "a,b", "--scale", "ordinal", "--labels", "low,medium,high", "--no-interval")

    found = [run(path, *options, *more)["headline"]["key"] for more in ((), ("--weights", "quadratic"))]
    declared = run(path, *options, "--weights", str(write(tmp_path, "0,1,2\n1,0,1\n2,1,0\n", "w.csv")))

    assert found == ["weighted_kappa_linear", "weighted_kappa_quadratic"]
    assert declared["headline"]["key"] == "weighted_kappa_custom"
    linear, custom = (declared["statistics"][f"weighted_kappa_{key}"]["value"] for key in ("linear", "custom"))
    assert linear == pytest.approx(custom)


def test_single_ratings_are_counted_left_out_and_told(tmp_path: Path) -> None:
    answer = run(write(tmp_path, LONG), "--no-interval")

    counts = {key: answer["statistics"][key]["value"] for key in ("n_pairs", "n_items_rated")}
    assert (answer["n_items"], counts) == (4, {"n_pairs": 3, "n_items_rated": 4})
    assert answer["diagnostics"][0]["key"] == "single_ratings"


def test_undeclared_labels_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nYes,yes\nno,no\nyes ,yes\n")

    notes = run(path, "--raters", "a,b", "--no-interval")["notes"]

    assert notes == [
        'No labels were declared, so the 4 that occur count as all there are: "Yes", "no", "yes", "yes ". A label that'
        " nobody used changes AC1, AC2 and Brennan-Prediger.",
        '"Yes" and "yes" look alike and are counted as two labels.',
        '"Yes" and "yes " look alike and are counted as two labels.',
    ]


# -- for people --------------------------------------------------------------------------------------------------------


def printed(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("agreement", str(path), *options, stdout=out)
    return out.getvalue()


def test_report_for_two_raters(tmp_path: Path) -> None:
    path = write(tmp_path, "first,second,items\nyes,yes,9\nyes,no,3\nno,yes,1\nno,no,7\n", "table.csv")

    text = printed(path, "--raters", "first,second", "--count", "items", "--labels", "yes,no", "--no-interval")

    assert (
        text
        == f"""\
{path}: 20 items, 2 raters (first, second), 2 labels (yes, no), scale nominal.

Cohen's kappa .60, on 20 items.
Why this one: Two raters rated every item with unordered labels.
Observed agreement .80, expected by chance .50.

Beside it
  coefficient                     value   n
  Percent agreement                 .80  20
  Scott's pi                        .60  20
  Krippendorff's alpha (nominal)    .61  20
  Brennan-Prediger kappa            .60  20
  Gwet's AC1                        .60  20

By label
  label  first  second  specific agreement  kappa against the rest
  yes       12      10                 .82                     .60
  no         8      10                 .78                     .60

first down, second across
       yes  no
  yes    9   3
  no     1   7

To know
  - With these marginals kappa can be at most 0.80.

What it cannot tell
  - Whether the labels are right: people can agree on a mistake.
  - How the people would agree on other items, or with another guideline.
  - Whether this is good enough: that depends on what the labels are for.
"""
    )


def test_report_of_exchangeable_raters_speaks_of_places(tmp_path: Path) -> None:
    text = printed(write(tmp_path, LONG), "--labels", "yes,no", "--exchangeable", "--no-interval")

    assert text.splitlines()[0].endswith(
        "ratings.csv: 4 items, 2 places of ratings (1, 2), 2 labels (yes, no), scale nominal."
    )


def test_report_names_the_interval(tmp_path: Path) -> None:
    lines = printed(write(tmp_path, LONG), "--labels", "yes,no").splitlines()

    assert lines[2].startswith("Krippendorff's alpha (nominal) .44, 95 % between ")
    assert lines[5] == (
        "Interval: smoothed bootstrap, which stands in below 100 items, below 5 disagreements and at a value of 1;"
        " 2000 replicates, seed 1."
    )


def test_report_of_many_items_has_the_large_sample_interval_beside(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,items\nyes,yes,40\nyes,no,10\nno,yes,5\nno,no,45\n")

    lines = printed(
        path, "--raters", "a,b", "--count", "items", "--labels", "yes,no", "--replicates", "500"
    ).splitlines()

    assert lines[5:7] == [
        "Interval: percentile bootstrap over items, 500 replicates, seed 1.",
        "Large-sample interval (Fisher's z): .53 – .81.",
    ]


def test_report_of_undefined_says_why(tmp_path: Path) -> None:
    text = printed(write(tmp_path, "a,b\nyes,yes\nyes,yes\n"), "--raters", "a,b", "--labels", "yes,no")

    assert "Cohen's kappa is undefined: Only one label was used" in text
    assert "undefined" in next(line for line in text.splitlines() if line.startswith("  Scott's pi"))
    assert [word for word in text.lower().split() if word in ("nan", "none")] == []


@pytest.mark.parametrize("scale", ["ordinal", "interval"])
def test_report_gives_squared_distances_as_a_share(scale: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c\n1,1,1\n1,1,2\n2,2,2\n2,2,1\n9,9,9\n9,9,9\n")
    options = ("--raters", "a,b,c", "--scale", scale, "--labels", "1,2,9", "--no-interval")

    alpha = run(path, *options)["statistics"][f"krippendorff_alpha_{scale}"]
    said = printed(path, *options).splitlines()

    share = alpha["observed_disagreement"] / alpha["expected_disagreement"]
    assert share == pytest.approx(1 - alpha["value"])
    assert f"Observed disagreement is {f'{share:.2f}'[1:]} of what chance would give; percent agreement .78." in said


def test_report_says_which_replicates_were_undefined(tmp_path: Path) -> None:
    rows = "".join("1,1\n" for _ in range(118)) + "1,2\n2,1\n1,2\n2,1\n1,2\n"
    path = write(tmp_path, "a,b\n" + rows)
    options = ("--raters", "a,b", "--labels", "1,2", "--replicates", "400")

    share = run(path, *options)["statistics"]["cohen_kappa"]["undefined_share"]
    text = printed(path, *options)

    # No disagreement drawn at all, or only one rater's: (118/123)^123 = .6 %.
    assert 0 < share < 0.05
    assert f"{100 * share:.1f} % of the replicates were undefined and are left out." in text.splitlines()


def test_report_of_several_raters_lists_pairs(tmp_path: Path) -> None:
    rows = "".join(f"{'yes' if i % 3 else 'no'},yes,{'no' if i < 3 else ''}\n" for i in range(24))

    text = printed(write(tmp_path, "a,b,c\n" + rows), "--raters", "a,b,c", "--no-interval", "--expert", "b")

    lines = text.splitlines()
    assert [line.split() for line in lines[lines.index("Pairs of raters") + 2 :][:3]] == [
        ["a", "–", "b", ".00", "24"],
        ["a", "–", "c", "too", "few", "3"],
        ["b", "–", "c", "too", "few", "3"],
    ]
    assert "With the expert b" in lines


# -- refused -----------------------------------------------------------------------------------------------------------

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


# -- on its own --------------------------------------------------------------------------------------------------------


def manage(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """manage.py in a process of its own, with an empty folder for everything it might write."""
    env = {**os.environ, "CONCORD_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "config.settings"}
    env.pop("DATABASE_URL", None)
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_command_needs_no_database(tmp_path: Path) -> None:
    done = manage("agreement", str(write(tmp_path, LONG)), "--json", "--no-interval", folder=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["statistics"]["cohen_kappa"]["value"] == 0.4
    assert [path.name for path in tmp_path.rglob("*.sqlite3")] == []


def test_command_refuses_with_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "")

    with pytest.raises(SystemExit) as left:
        execute_from_command_line(["manage.py", "agreement", str(path), "--json"])

    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (1, "")
    assert printed.err.splitlines()[-1].endswith("The file is empty (0 bytes): export it again, with rows in it.")
