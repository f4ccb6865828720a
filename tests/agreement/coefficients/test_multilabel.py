import pytest

from agreement.coefficients import Ratings, multilabel, summarise
from agreement.coefficients.classes import specific_agreement
from agreement.coefficients.distances import jaccard, masi
from agreement.coefficients.krippendorff import alpha
from agreement.coefficients.percent import percent_agreement
from tests.agreement.coefficients.known_answers import extras, near

CASE = extras("multilabel")["cases"][0]
EXPECTED = CASE["expected"]


def ratings() -> Ratings:
    return multilabel.from_sets([CASE["a"], CASE["b"]], CASE["labels"])


def test_alpha_with_set_distances_is_the_known_one() -> None:
    sets = ratings()
    assert near(alpha(sets, jaccard(sets)).value, EXPECTED["alpha_jaccard"]["value"])
    assert near(alpha(sets, masi(sets)).value, EXPECTED["alpha_masi"]["value"])


@pytest.mark.parametrize("name", CASE["labels"])
def test_each_class_has_its_binary_figures(name: str) -> None:
    binary = multilabel.of_class(ratings(), name)
    known = EXPECTED["per_label"][name]
    (kappa,) = multilabel.per_label_kappa(ratings(), [name])
    assert near(kappa.value, known["kappa"])
    assert binary.table().tolist() == known["table"]
    assert near(specific_agreement(binary)[0].value, known["positive_agreement"])


def test_exact_match_and_mean_are_the_known_ones() -> None:
    assert near(percent_agreement(ratings()).value, EXPECTED["exact_set_match"])
    assert near(multilabel.macro_mean_kappa(ratings(), CASE["labels"]).value, EXPECTED["macro_mean_kappa"])


def test_two_empty_answers_agree_on_none() -> None:
    sets = multilabel.from_sets([[set(), {"a"}], [set(), {"b"}]], ["a", "b"])
    assert percent_agreement(sets).value == 0.5
    assert alpha(sets, jaccard(sets)).details["observed_disagreement"] == 0.5
    assert alpha(sets, masi(sets)).details["observed_disagreement"] == 0.5


def test_an_empty_answer_is_not_a_missing_one() -> None:
    sets = multilabel.from_sets([[set(), None], [set(), {"b"}]], ["a", "b"])
    assert sets.n_paired == 1


def test_classes_are_told_apart_by_type() -> None:
    sets = multilabel.from_sets([[{1}], [{"1"}]], [1, "1"])
    assert percent_agreement(sets).value == 0.0


def test_an_undeclared_class_is_refused() -> None:
    with pytest.raises(ValueError, match="Class 'c' is not among the declared classes"):
        multilabel.from_sets([[{"c"}], [{"a"}]], ["a", "b"])


def test_summary_lists_the_classes() -> None:
    statistics = summarise(ratings(), "multilabel", seed=1, replicates=100, set_classes=CASE["labels"])["statistics"]
    rows = {row["label"]: row["value"] for row in statistics["per_label_cohen_kappa"]}
    assert all(near(rows[name], EXPECTED["per_label"][name]["kappa"]) for name in CASE["labels"])
    assert near(statistics["krippendorff_alpha_masi"]["value"], EXPECTED["alpha_masi"]["value"])
    assert near(statistics["macro_mean_kappa"]["value"], EXPECTED["macro_mean_kappa"])
