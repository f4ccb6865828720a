import pytest

from agreement.coefficients import COEFFICIENTS, Ratings, headline
from agreement.coefficients.headline import RULES, Design


@pytest.mark.parametrize(
    ("design", "key"),
    [
        (Design("nominal", 2), "cohen_kappa"),
        (Design("nominal", 2, complete=False), "krippendorff_alpha_nominal"),
        (Design("nominal", 2, exchangeable=True), "krippendorff_alpha_nominal"),
        (Design("nominal", 3), "krippendorff_alpha_nominal"),
        (Design("nominal", 3, expert=True), "expert_kappa_pooled"),
        (Design("ordinal", 3, expert=True), "expert_weighted_kappa_quadratic"),
        (Design("ordinal", 2, expert=True, weights="linear"), "expert_weighted_kappa_linear"),
        (Design("ordinal", 3, expert=True, weights="custom"), "expert_weighted_kappa_custom"),
        (Design("interval", 3, expert=True), "expert_weighted_kappa_quadratic"),
        (Design("ordinal", 2), "weighted_kappa_quadratic"),
        (Design("ordinal", 2, weights="linear"), "weighted_kappa_linear"),
        (Design("ordinal", 2, weights="custom"), "weighted_kappa_custom"),
        (Design("ordinal", 4), "krippendorff_alpha_ordinal"),
        (Design("ordinal", 2, complete=False), "krippendorff_alpha_ordinal"),
        (Design("interval", 2), "krippendorff_alpha_interval"),
        (Design("ratio", 5), "krippendorff_alpha_ratio"),
        (Design("multilabel", 2), "krippendorff_alpha_masi"),
        (Design("spans", 2), "krippendorff_alpha_nominal"),
        (Design("text", 2), None),
    ],
)
def test_headline_by_design(design: Design, key: str | None) -> None:
    choice = headline.choose(design)
    assert choice.key == key
    assert choice.reason.endswith(".")
    assert key not in choice.beside


def test_every_rule_is_reached_and_names_a_coefficient() -> None:
    experts = {"expert_kappa_pooled", "expert_weighted_kappa_linear", "expert_weighted_kappa_quadratic"}
    beyond = {None, "weighted_kappa_custom", *experts}
    assert {rule.key for rule in RULES} - set(COEFFICIENTS) == beyond | {"expert_weighted_kappa_custom"}


def test_what_stands_beside_is_named_and_applies() -> None:
    ratings = Ratings.from_matrix([["a", "b", "a"], ["a", "b", "b"], ["a", None, "b"]], ["a", "b"])
    choice = headline.choose(headline.design_of(ratings, "nominal"))
    assert choice.beside == (
        "percent_agreement",
        "fleiss_kappa_gwet",
        "mean_pairwise_cohen_kappa",
        "brennan_prediger",
        "gwet_ac1",
    )
    assert all(COEFFICIENTS[key].applies(ratings, "nominal") for key in choice.beside)


def test_design_is_read_off_the_ratings() -> None:
    ratings = Ratings.from_matrix([["a", "b", None], ["a", None, None]], ["a", "b"])
    assert headline.design_of(ratings, "nominal") == Design("nominal", 2, complete=False, equal_ratings=True)


def test_one_rater_has_no_headline() -> None:
    with pytest.raises(ValueError, match="needs two raters, and there is 1"):
        headline.choose(Design("nominal", 1))


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="'colour' is no level"):
        headline.choose(Design("colour", 2))


@pytest.mark.parametrize(
    ("key", "design", "about", "words"),
    [
        ("cohen_kappa", Design("nominal", 3), {}, "3 raters would be pooled by position"),
        ("scott_pi", Design("nominal", 2, exchangeable=True), {}, "rating places, not people"),
        ("cohen_kappa", Design("ordinal", 2), {}, "counts a near miss as much as a far one"),
        ("krippendorff_alpha_nominal", Design("nominal", 3), {"majors": 2}, "2 MAJOR guideline versions"),
        ("krippendorff_alpha_nominal", Design("spans", 2), {"tokenisations": 2}, "2 tokenisations"),
        ("percent_agreement", Design("text", 2), {}, "Free text has no coefficient"),
    ],
)
def test_misleading_figures_are_refused(key: str, design: Design, about: dict[str, int], words: str) -> None:
    assert words in (headline.refusal(key, design, **about) or "")  # type: ignore[arg-type]


def test_what_knows_no_order_is_every_corrected_coefficient_that_nominal_labels_have_too() -> None:
    of_both = {key for key, each in COEFFICIENTS.items() if {"nominal", "ordinal"} <= set(each.levels)}
    assert set(headline.UNORDERED) == {key for key in of_both if not key.startswith("percent")}


def test_an_unweighted_figure_on_an_ordered_scale_may_be_named() -> None:
    assert headline.refusal("cohen_kappa", Design("ordinal", 2), named=True) is None


def test_the_headline_is_never_refused() -> None:
    for level in ("nominal", "ordinal", "interval", "ratio", "multilabel", "spans"):
        for raters in (2, 3):
            design = Design(level, raters)
            assert headline.refusal(headline.choose(design).key or "", design) is None
