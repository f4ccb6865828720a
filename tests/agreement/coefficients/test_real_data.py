"""Figures of real ratings, which independent software gives too; left out where the ratings are not at hand."""

from typing import Any

import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, multilabel, summarise
from agreement.coefficients.diagnostics import diagnose
from agreement.coefficients.distances import interval, ordinal
from agreement.coefficients.krippendorff import alpha
from tests.agreement.coefficients.known_answers import load, near, real_rows

pytestmark = pytest.mark.shared_data
RATERS = ("Ann1", "Ann2", "Ann3", "Ann4")
EXPECTED = load("real_data.json")
NAMES = {
    "po": "percent_agreement",
    "cohen_kappa": "cohen_kappa",
    "kappa_linear": "weighted_kappa_linear",
    "kappa_quadratic": "weighted_kappa_quadratic",
}


def paraphrases(labels: list[int], label: Any = lambda rating: rating) -> Ratings:
    rows = real_rows("paraphrase.jsonl")
    matrix = [[label(row["ratings"][rater]) for row in rows] for rater in RATERS]
    return Ratings.from_matrix(matrix, labels, raters=RATERS, values=labels)


def wrong_pairs(ratings: Ratings, pairs: dict[str, dict[str, float]]) -> list[tuple[str, str]]:
    """Names of the pairs' figures that are not the known ones."""
    wrong = []
    for names, known in pairs.items():
        pair = ratings.pair(*(RATERS.index(name) for name in names.split("|")))
        got = {short: COEFFICIENTS[key].function(pair).value for short, key in NAMES.items()}
        cohen = COEFFICIENTS["cohen_kappa"]
        assert cohen.standard_error is not None
        assert cohen.null_error is not None
        got |= {"n": pair.n_paired, "ase": cohen.standard_error(pair).value, "ase0": cohen.null_error(pair).value}
        wrong += [(names, key) for key, value in known.items() if not near(got[key], value)]
    return wrong


def test_paraphrase_on_eleven_points() -> None:
    known = EXPECTED["paraphrase_11_point"]
    ratings = paraphrases(known["labels"])
    statistics = summarise(ratings, "ordinal", seed=1, interval=False)["statistics"]
    assert wrong_pairs(ratings, known["pairs"]) == []
    assert near(statistics["krippendorff_alpha_nominal"]["value"], known["alpha_nominal"])
    assert near(statistics["krippendorff_alpha_ordinal"]["value"], known["alpha_ordinal"])
    assert near(statistics["krippendorff_alpha_interval"]["value"], known["alpha_interval"])
    assert near(statistics["fleiss_kappa"]["value"], known["fleiss_kappa"])


def test_paraphrase_has_one_rater_far_from_the_rest() -> None:
    said = diagnose(paraphrases(EXPECTED["paraphrase_11_point"]["labels"]), "ordinal")
    assert [each.numbers["rater"] for each in said if each.key == "far_rater_ordered"] == ["Ann3"]
    assert all("Ann3" in (each.numbers["first"], each.numbers["second"]) for each in said if "far_pair" in each.key)


def test_paraphrase_signs() -> None:
    known = EXPECTED["paraphrase_sign_3_class"]
    ratings = paraphrases(known["labels"], lambda rating: (rating > 0) - (rating < 0))
    assert wrong_pairs(ratings, known["pairs"]) == []
    assert near(alpha(ratings).value, known["alpha_nominal"])
    assert near(COEFFICIENTS["fleiss_kappa"].function(ratings).value, known["fleiss_kappa"])


@pytest.mark.parametrize("name", EXPECTED["nli_per_label_binary"])
def test_inference_classes_one_by_one(name: str) -> None:
    known, rows = EXPECTED["nli_per_label_binary"][name], real_rows("nli_multilabel.jsonl")
    sets = [[row["labels"].get(rater) for row in rows] for rater in RATERS]
    classes = ["contradiction", "entailment", "neutral"]
    binary = multilabel.of_class(multilabel.from_sets(sets, classes, raters=RATERS), name)
    assert wrong_pairs(binary, known["pairs"]) == []
    assert near(alpha(binary).value, known["alpha_nominal"])


def test_movie_snippets_of_interchangeable_raters() -> None:
    known, rows = EXPECTED["movie_snippets"], real_rows("movie_snippets.jsonl")
    width = max(len(row["ratings"]) for row in rows)
    items = [row["ratings"] + [None] * (width - len(row["ratings"])) for row in rows]
    labels = list(range(-4, 5))
    ratings = Ratings.from_patterns(items, [1.0] * len(items), labels, values=labels, exchangeable=True)
    signs = ratings.recode([0] * 4 + [1] + [2] * 4, [-1, 0, 1])
    assert ratings.n_paired == known["items"]
    assert near(alpha(ratings).value, known["alpha_nominal"])
    assert near(alpha(ratings, ordinal(ratings)).value, known["alpha_ordinal"])
    assert near(alpha(ratings, interval(ratings)).value, known["alpha_interval"])
    assert near(alpha(signs).value, known["alpha_nominal_sign"])
