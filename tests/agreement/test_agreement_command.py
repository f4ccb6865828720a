"""`manage.py agreement FILE`: its answer for programs and its report for people. No database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import execute_from_command_line

from agreement import set_figures
from agreement.coefficients import multilabel
from tests.agreement.coefficients.known_answers import ROOT
from tests.agreement.command import LONG, printed, run, write


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


def test_labels_that_would_print_alike_are_told_apart(tmp_path: Path) -> None:
    rows = [(1, "1")] * 9 + [("1", 1)] * 9 + [(1, 1)] * 9 + [("1", "1")] * 9 + [(2, 2)] * 9
    path = write(tmp_path, "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows), "alike.jsonl")

    text = printed(path, "--raters", "a,b", "--labels", '[1, "1", 2]', "--no-interval")

    assert '3 labels (1, "1", 2)' in text
    assert 'If “1” and “"1"” were one class, Cohen\'s kappa would be' in text
    lines = text.splitlines()
    table = lines[lines.index("a down, b across") + 1 :][:4]
    assert [line.split() for line in table] == [
        ["1", '"1"', "2"],
        ["1", "9", "9", "0"],
        ['"1"', "9", "9", "0"],
        ["2", "0", "0", "9"],
    ]


def test_file_with_one_label_has_no_figure_that_is_1_by_definition(tmp_path: Path) -> None:
    text = printed(write(tmp_path, "a,b\nyes,yes\nyes,yes\n"), "--raters", "a,b")

    assert "“yes” is the only label there is" in text
    assert "by definition" not in text


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

    assert "declared" not in answer["headline"]["reason"]
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


def test_expert_with_declared_weights(tmp_path: Path) -> None:
    path = write(tmp_path, "e,b\n1,1\n1,2\n2,3\n2,2\n3,3\n3,1\n1,1\n")
    weights = write(tmp_path, "0,1,2\n1,0,1\n2,1,0\n", "w.csv")
    options = ("--raters", "e,b", "--scale", "ordinal", "--labels", "1,2,3", "--expert", "e", "--no-interval")

    answer = run(path, *options, "--weights", str(weights))

    declared, linear = (answer["statistics"][f"expert_weighted_kappa_{kind}"] for kind in ("custom", "linear"))
    assert answer["headline"]["key"] == "expert_weighted_kappa_custom"
    assert declared["value"] == pytest.approx(linear["value"])


def test_headline_of_an_ordinal_scale_takes_the_named_weights(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nlow,low\nlow,high\nmedium,high\nhigh,high\n")
    options = ("--raters", "a,b", "--scale", "ordinal", "--labels", "low,medium,high", "--no-interval")

    found = [run(path, *options, *more)["headline"]["key"] for more in ((), ("--weights", "quadratic"))]
    declared = run(path, *options, "--weights", str(write(tmp_path, "0,1,2\n1,0,1\n2,1,0\n", "w.csv")))

    assert found == ["weighted_kappa_linear", "weighted_kappa_quadratic"]
    assert declared["headline"]["key"] == "weighted_kappa_custom"
    linear, custom = (declared["statistics"][f"weighted_kappa_{key}"]["value"] for key in ("linear", "custom"))
    assert linear == pytest.approx(custom)


def test_declared_weights_give_agreement_between_0_and_1(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nlow,low\nlow,high\nmedium,high\nhigh,high\nhigh,low\n")
    options = ("--raters", "a,b", "--scale", "ordinal", "--labels", "low,medium,high", "--no-interval", "--weights")
    large, small = "0,1,4\n1,0,1\n4,1,0\n", "0,.25,1\n.25,0,.25\n1,.25,0\n"

    first, second = (
        run(path, *options, str(write(tmp_path, text, "w.csv")))["statistics"]["weighted_kappa_custom"]
        for text in (large, small)
    )

    # Two items apart by 1 and one by .25 of the largest weight, of five.
    assert first["observed"] == pytest.approx(1 - 2.25 / 5)
    assert 0 <= first["expected"] <= 1
    assert first == pytest.approx(second)
    assert "Observed agreement .55, expected by chance " in printed(path, *options, str(tmp_path / "w.csv"))


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
  coefficient                                      value   n
  Percent agreement                                  .80  20
  Scott's pi                                         .60  20
  Krippendorff's alpha (nominal)                     .61  20
  Brennan-Prediger kappa                             .60  20
  Gwet's AC1                                         .60  20
  PABAK (prevalence-adjusted bias-adjusted kappa)    .60  20

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


def test_report_on_a_scale_weighs_the_agreement_with_the_expert(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n" + "1,2\n2,2\n3,3\n1,1\n")

    text = printed(path, "--raters", "a,b", "--scale", "ordinal", "--labels", "1,2,3", "--no-interval", "--expert", "b")

    lines = text.splitlines()
    head = lines[lines.index("With the expert b") + 1]
    assert (head.split()[:5], "Weighted kappa with the expert (linear weights;" in text) == (
        ["rater", "Weighted", "kappa", "(linear", "weights)"],
        True,
    )


SETS = [
    (["a"], ["a"], ["a", "b"]),
    (["a", "b"], ["b"], ["b"]),
    ([], ["c"], []),
    (["b"], ["b"], ["b"]),
    (None, ["a"], []),
]


def test_expert_on_sets_has_each_label_and_the_whole_set(tmp_path: Path) -> None:
    rows = [dict(zip("ebc", row, strict=True)) for row in SETS]
    path = write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "sets.jsonl")
    options = ("--raters", "e,b,c", "--scale", "multilabel", "--labels", '["a", "b", "c", "d"]', "--expert", "e")

    statistics = run(path, *options, "--no-interval")["statistics"]
    text = printed(path, *options, "--no-interval")

    ratings = multilabel.from_sets([[row[key] for row in rows] for key in "ebc"], list("abcd"), raters=("e", "b", "c"))
    of_product = set_figures.with_expert(ratings, list("abcd"), "e", 1)["expert_kappa_per_label"]
    found = statistics["expert_kappa_per_label"]
    assert [(row["label"], row.get("value"), row["n"]) for row in found] == [
        (row["label"], row.get("value"), row["n"]) for row in of_product
    ]
    assert (found[3]["undefined"], found[3]["sentence"].split(",")[0]) == ("no_variation", "Nobody used this label")
    # Of eight answers beside the expert's these are the same set: one of the first item, one of the third, two of the
    # fourth.
    assert statistics["expert_percent_agreement"]["value"] == 4 / 8
    assert "  Exact-set agreement .50, on 4 items." in text.splitlines()


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
