"""The known answers through `manage.py agreement`, from files of every form."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agreement import files
from agreement.codebooks import Declared
from agreement.coefficients.ratings import Ratings, identity
from agreement.files import Layout
from tests.agreement.coefficients.known_answers import cases, extras, ratings_of
from tests.agreement.coefficients.test_known_answers import wrong
from tests.agreement.command import run, write

Case = dict[str, Any]


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
