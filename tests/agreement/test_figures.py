"""Results of every kind of answer against known answers, and what stands in them."""

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from agreement import figures, label_figures, matrices
from agreement.coefficients import COEFFICIENTS, Ratings
from agreement.coefficients.bootstrap import SMOOTHED
from agreement.coefficients.spans import OUTSIDE
from agreement.matrices import Matrix
from annotations.models import Draw
from tests.agreement import tables
from tests.agreement.coefficients.known_answers import cases, extras, load, near, real_rows
from tests.agreement.tables import ANNA, BEN, CARA, headline, result

SETS, SPANS = extras("multilabel")["cases"][0], extras("spans")["cases"][0]
ENRICHED = extras("weighted")["cases"][0]
EXPERT = cases()["expert_baseline"]


def by_label(found: dict[str, Any], key: str) -> dict[str, float | None]:
    return {row["label"]: row.get("value") for row in found["statistics"][key]}


# -- sets of labels ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sets() -> dict[str, Any]:
    patterns = Counter((tuple(a), tuple(b)) for a, b in zip(SETS["a"], SETS["b"], strict=True))
    rows = [(tuple(list(answer) for answer in answers), "", n) for answers, n in patterns.items()]
    return result("multilabel", SETS["labels"], rows)


def test_sets_have_the_known_figures(sets: dict[str, Any]) -> None:
    known, statistics = SETS["expected"], sets["statistics"]
    kappas = by_label(sets, "per_class_kappa")

    assert sets["headline"]["key"] == "krippendorff_alpha_masi"
    assert near(headline(sets)["value"], known["alpha_masi"]["value"])
    assert near(statistics["krippendorff_alpha_jaccard"]["value"], known["alpha_jaccard"]["value"])
    assert near(statistics["percent_agreement"]["value"], known["exact_set_match"])
    assert near(statistics["macro_mean_kappa"]["value"], known["macro_mean_kappa"])
    assert all(near(kappas[name], known["per_label"][name]["kappa"]) for name in SETS["labels"])
    assert all(len(row["interval"]) == 2 for row in statistics["per_class_kappa"])


def test_sets_have_a_table_for_each_label(sets: dict[str, Any]) -> None:
    known = SETS["expected"]["per_label"]

    assert {row["label"]: row["table"] for row in sets["per_label"]} == {name: known[name]["table"] for name in known}
    assert [(row["both"], row["one"], row["neither"]) for row in sets["per_label"]] == [(4, 3, 3), (2, 2, 6), (3, 2, 5)]
    assert sets["uses"] == [[5, 3, 4], [6, 3, 4]]


def test_sets_chosen_instead_of_each_other(sets: dict[str, Any]) -> None:
    """Once one said insult and the other threat; nothing else was taken for another label."""
    assert sets["coincidences"] == [[4, 1, 0], [1, 2, 0], [0, 0, 3]]


def test_empty_set_is_a_rating() -> None:
    found = result("multilabel", ["x", "y"], [(([], []), "", 3), ((["x"], ["x"]), "", 2), (([], None), "", 1)])

    assert (found["n"], found["coverage"]["items_by_ratings"], headline(found)["value"]) == (5, {"1": 1, "2": 5}, 1.0)
    assert found["per_label"][0] | {"table": None} == {"label": "x", "both": 2, "one": 0, "neither": 3, "table": None}


def test_order_in_a_stored_set_changes_nothing() -> None:
    found = result("multilabel", ["x", "y"], [((["x", "y"], ["y", "x"]), "", 1), ((["x"], ["x"]), "", 1)])

    assert (headline(found)["value"], found["disagreements"]) == (1.0, 0)


def test_sets_with_an_undeclared_label_are_told_and_left_out() -> None:
    found = result("multilabel", ["x", "y"], [((["x"], ["z"]), "", 4), ((["x"], []), "", 1)])

    assert (found["unknown"], found["n"]) == ([{"value": '["z"]', "ratings": 4}], 1)


def test_label_in_no_set_is_told() -> None:
    found = result("multilabel", ["x", "y"], [((["x"], []), "", 3), ((["x"], ["x"]), "", 3)])

    assert {"key": "unused_class", "numbers": {"label": "y"}} in found["diagnostics"]


@pytest.mark.shared_data
def test_real_sets_of_four_raters_have_the_reference_figures() -> None:
    known, raters = load("real_data.json")["nli_per_label_binary"], ("Ann1", "Ann2", "Ann3", "Ann4")
    said = Counter(
        tuple(None if (given := row["labels"].get(rater)) is None else tuple(sorted(given)) for rater in raters)
        for row in real_rows("nli_multilabel.jsonl")
    )
    patterns = [(tuple(None if a is None else list(a) for a in answers), "", n) for answers, n in said.items()]
    found = result("multilabel", list(known), patterns, needed=4)

    alphas = by_label(found, "per_class_alpha")
    assert all(near(alphas[name], known[name]["alpha_nominal"]) for name in known)
    pairs = {(0, 1): 420, (0, 2): 417, (1, 3): 445}
    people = [str(each.uuid) for each in tables.PEOPLE]
    shared = {tuple(people.index(rater) for rater in pair["raters"]): pair["n"] for pair in found["pairs"]}
    assert {pair: shared[pair] for pair in pairs} == pairs


# -- spans ------------------------------------------------------------------------------------------------------------


def text_of(tokens: int) -> str:
    """A text of that many tokens of one letter."""
    return " ".join("x" * tokens)


def marked(spans: list[list[Any]]) -> list[dict[str, Any]]:
    """Token spans as they are stored: in characters."""
    return [{"field": "text", "start": 2 * a, "end": 2 * b - 1, "label": label} for a, b, label in spans]


@pytest.fixture(scope="module")
def spans() -> dict[str, Any]:
    return result("spans", ["PER", "ORG", "LOC"], [((marked(SPANS["a"]), marked(SPANS["b"]), text_of(20)), "", 1)])


def test_spans_have_the_known_figures(spans: dict[str, Any]) -> None:
    known, statistics = SPANS["expected"], spans["statistics"]
    names = {
        "exact_f1": "f1_exact_boundary_and_label",
        "boundary_f1": "f1_exact_boundary",
        "label_agreement": "label_agreement_on_matched_boundaries",
        "token_f1": "token_f1_non_O",
    }
    table = np.array(known["token_table"])
    units = Ratings.from_table(table, [OUTSIDE, "PER", "ORG", "LOC"])

    assert all(near(statistics[key]["value"], known[name]) for key, name in names.items())
    assert near(headline(spans)["value"], COEFFICIENTS["krippendorff_alpha_nominal"].function(units).value)
    assert (spans["units"]["total"], spans["units"]["inside"], spans["units"]["tokenisation"]) == (20, 10, "tokens 1")


def test_spans_with_the_same_borders_stand_in_the_table(spans: dict[str, Any]) -> None:
    assert spans["table"] == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert spans["uses"] == [[2, 1, 1], [1, 2, 1]]
    assert [(row["both"], row["one"]) for row in spans["per_label"]] == [(1, 1), (0, 3), (0, 2)]


def drawn_spans(rng: random.Random, tokens: int) -> list[list[Any]]:
    """Up to three spans that do not overlap."""
    cuts = sorted(rng.sample(range(tokens + 1), 6))
    return [[a, b, rng.choice("AB")] for a, b in zip(cuts[::2], cuts[1::2], strict=True) if rng.random() < 0.7]


def test_alpha_on_tokens_of_several_raters_is_that_of_the_tokens_one_by_one() -> None:
    rng, columns, items = random.Random(5), [[], [], []], []
    for _ in range(12):
        said = [drawn_spans(rng, 15) if rng.random() < 0.8 else None for _ in range(3)]
        items.append(((*(None if each is None else marked(each) for each in said), text_of(15)), "", 1))
        for column, each in zip(columns, said, strict=True):
            where = {unit: label for a, b, label in each or () for unit in range(a, b)}
            column += [None] * 15 if each is None else [where.get(unit, "outside") for unit in range(15)]
    found = result("spans", ["A", "B"], items, needed=3)

    units = Ratings.from_matrix(columns, ["outside", "A", "B"])
    alpha = COEFFICIENTS["krippendorff_alpha_nominal"]
    assert near(headline(found)["value"], alpha.function(units).value)
    for label in "AB":
        binary = units.recode([0, *(int(each == label) for each in "AB")], [False, True])
        assert near(by_label(found, "per_class_alpha")[label], alpha.function(binary).value)
    low, high = headline(found)["interval"]
    assert low < headline(found)["value"] < high
    assert len(found["pairs"]) == 3


def test_overlapping_spans_of_one_rater_make_a_token_with_two_labels() -> None:
    both = marked([[0, 3, "A"], [2, 4, "B"]])
    found = result("spans", ["A", "B"], [((both, both, text_of(5)), "", 1), (([], [], text_of(3)), "", 1)])

    entry = headline(found)
    assert (entry["value"], entry["interval"][1], entry["method"]) == (1.0, 1.0, SMOOTHED)
    assert entry["interval"][0] < 0.5


def test_fields_of_an_item_are_compared_each_with_itself() -> None:
    """The same places of two texts are not the same span."""
    one = [{"field": "text", "start": 0, "end": 1, "label": "A"}]
    other = [{"field": "title", "start": 0, "end": 1, "label": "A"}]
    found = result("spans", ["A"], [((one, other, text_of(3)), "", 1)])

    assert [found["statistics"][key]["value"] for key in ("exact_f1", "overlap_f1", "token_f1")] == [0.0, 0.0, 0.0]


def test_nothing_marked_by_anyone_is_undefined_with_its_reason() -> None:
    found = result("spans", ["A"], [(([], [], text_of(4)), "", 1)])

    reasons = {key: found["statistics"][key]["undefined"] for key in ("exact_f1", "krippendorff_alpha_nominal")}
    assert (set(reasons.values()), found["n"], found["disagreements"]) == ({"no_variation"}, 1, 0)


def test_free_text_has_no_coefficient_and_says_what_to_do() -> None:
    asked, _ = tables.question("text", [])

    assert (matrices.is_measured(asked), matrices.not_measured(asked)) == (
        False,
        "Free text has no coefficient: ask its rubric as further ordinal questions.",
    )


# -- the expert -------------------------------------------------------------------------------------------------------


def expert_result(**changes: Any) -> dict[str, Any]:
    rows = [(answers, "", 1) for answers in zip(*EXPERT["matrix"], strict=True)]
    return result("nominal", EXPERT["labels"], rows, expert=str(ANNA.uuid), needed=4, **changes)


def test_agreement_with_the_expert_is_the_headline_and_the_known_one() -> None:
    found, known = expert_result(), EXPERT["expected"]
    per_rater = {row["rater"]: row["value"] for row in found["statistics"]["expert_kappa_per_rater"]}
    wanted = known["expert_kappa_per_rater"]["value"]

    assert found["headline"]["key"] == "expert_kappa_pooled"
    assert "with the expert" in found["headline"]["title"]
    assert near(headline(found)["value"], known["expert_kappa_pooled"]["value"])
    assert len(headline(found)["interval"]) == 2
    assert found["expert"] == {"rater": str(ANNA.uuid), "rated": 20}
    values = wanted.values() if isinstance(wanted, dict) else wanted
    assert all(near(got, value) for got, value in zip(per_rater.values(), values, strict=True))
    assert near(found["arithmetic"][-1]["value"], known["expert_kappa_pooled"]["value"])


def test_sets_with_an_expert_have_a_kappa_for_each_label() -> None:
    rows = [((a, b), "", 1) for a, b in zip(SETS["a"], SETS["b"], strict=True)]
    found = result("multilabel", SETS["labels"], rows, expert=str(BEN.uuid))

    kappas = by_label(found, "expert_kappa_per_label")
    assert all(near(kappas[name], SETS["expected"]["per_label"][name]["kappa"]) for name in SETS["labels"])


def test_named_coefficient_comes_before_the_expert() -> None:
    found = expert_result(rule={"coefficient": "krippendorff_alpha_nominal"})

    assert (found["headline"]["key"], "expert_kappa_pooled" in found["statistics"]) == (
        "krippendorff_alpha_nominal",
        True,
    )


def test_expert_who_rated_nothing_makes_it_undefined() -> None:
    found = result("nominal", ["x", "y"], [(("x", "x"), "", 5), (("x", "y"), "", 2)], expert=str(CARA.uuid))

    entry = headline(found)
    assert (found["headline"]["key"], entry["undefined"], entry["sentence"]) == (
        "expert_kappa_pooled",
        "no_pairs",
        "The expert has rated none of these items.",
    )
    assert found["expert"]["rated"] == 0


def test_expert_on_a_scale_is_weighted() -> None:
    rows = [(("a", "b"), "", 4), (("b", "b"), "", 5), (("c", "c"), "", 5), (("a", "c"), "", 2), (("a", "a"), "", 6)]
    found = result("ordinal", ["a", "b", "c"], rows, expert=str(BEN.uuid))
    plain = result("ordinal", ["a", "b", "c"], rows)

    assert found["headline"]["key"] == "expert_weighted_kappa_linear"
    assert near(headline(found)["value"], headline(plain)["value"])
    assert near(found["arithmetic"][-1]["value"], headline(plain)["value"])


# -- enriched draws ---------------------------------------------------------------------------------------------------


def enriched(*, without: str = "", expert: str = "") -> dict[str, Any]:
    rows = [
        ((one, other), stratum["name"], stratum["table"][i][j])
        for stratum in ENRICHED["strata"]
        if stratum["name"] != without
        for i, one in enumerate(("yes", "no"))
        for j, other in enumerate(("yes", "no"))
    ]
    sizes = {stratum["name"]: (stratum["population"], 100) for stratum in ENRICHED["strata"]}
    return result("nominal", ["yes", "no"], rows, sizes=sizes, strata_field="model", expert=expert)


@pytest.mark.parametrize("expert", ["", str(ANNA.uuid)], ids=["among equals", "with the expert"])
def test_enriched_draw_has_both_figures_and_they_are_the_known_ones(expert: str) -> None:
    found = enriched(expert=expert)["weighting"]

    assert near(found["as_drawn"]["value"], ENRICHED["kappa_if_weights_ignored"])
    assert near(found["weighted"]["value"], ENRICHED["kappa_weighted"])
    assert near(found["weighted"]["se"], ENRICHED["se_linearised_with_fpc"])
    assert all(len(found[side]["interval"]) == 2 for side in ("as_drawn", "weighted"))
    assert [each["population"] for each in found["strata"]] == [200, 9800]


def test_stratum_without_a_complete_item_makes_the_weighted_figure_undefined_only() -> None:
    gone = ENRICHED["strata"][0]["name"]
    found = enriched(without=gone)["weighting"]

    assert ("value" in found["as_drawn"], found["weighted"]["undefined"], found["weighted"]["stratum"]) == (
        True,
        "no_pairs",
        gone,
    )


def test_proportional_draw_has_no_weighting() -> None:
    rows = [(("x", "x"), "mail", 10), (("x", "y"), "chat", 10)]

    found = result("nominal", ["x", "y"], rows, sizes={"chat": (100, 10), "mail": (100, 10)}, strata_field="source")

    assert (found["weighting"], "weighted" in headline(found)) == (None, False)


def test_spans_of_an_enriched_draw_are_weighted_too() -> None:
    """All of the rare stratum differs, nothing of the common one does."""
    one, other = marked([[0, 1, "A"]]), marked([[1, 2, "A"]])
    rows = [((one, other, text_of(4)), "rare", 1)] * 10 + [((one, one, text_of(4)), "common", 1)] * 10
    found = result("spans", ["A"], rows, sizes={"common": (990, 10), "rare": (10, 10)}, strata_field="model")

    exact = found["statistics"]["exact_f1"]
    assert (exact["value"], exact["weighted"]["value"]) == (0.5, pytest.approx(0.99))
    assert found["weighting"]["as_drawn"]["value"] < found["weighting"]["weighted"]["value"]


@pytest.mark.parametrize("expert", ["", str(CARA.uuid)], ids=["among equals", "with an expert"])
def test_people_of_one_role_among_themselves(monkeypatch: pytest.MonkeyPatch, expert: str) -> None:
    """Two annotators who agree, and a lead who does not."""
    for member, role in ((ANNA, "is_annotator"), (BEN, "is_annotator"), (CARA, "is_lead")):
        monkeypatch.setattr(member, role, True)
    rows = [(("a", "a", "b"), "", 5), (("b", "b", "a"), "", 5), (("a", "a", "a"), "", 2)]

    (found,) = result("nominal", ["a", "b"], rows, expert=expert)["strata"]

    assert (found["stratum"], found["by"], found["raters"], found["key"], found["n"], found["value"]) == (
        "annotator",
        "role",
        [str(ANNA.uuid), str(BEN.uuid)],
        "krippendorff_alpha_nominal",
        12,
        1.0,
    )


# -- two labels as one ------------------------------------------------------------------------------------------------


def test_most_confused_pair_comes_with_the_headline_as_one() -> None:
    rows = [(("a", "a"), "", 20), (("b", "b"), "", 10), (("c", "c"), "", 10), (("b", "c"), "", 9), (("a", "b"), "", 1)]
    found = result("nominal", ["a", "b", "c"], rows)

    (pair,) = found["merged"]
    as_one = result("nominal", ["a", "b"], [(("a", "a"), "", 20), (("b", "b"), "", 29), (("a", "b"), "", 1)])
    assert (pair["labels"], pair["confused"], pair["share"], pair["worth"]) == (["b", "c"], 9, 0.9, True)
    assert near(pair["merged"]["value"], headline(as_one)["value"])
    assert near(pair["before"]["value"], headline(found)["value"])
    assert len(pair["merged"]["interval"]) == 2


def test_labels_on_a_scale_are_merged_with_their_neighbours_only() -> None:
    rows = [(("a", "c"), "", 9), (("a", "a"), "", 9), (("b", "b"), "", 9), (("b", "c"), "", 2), (("c", "c"), "", 5)]

    found = result("ordinal", ["a", "b", "c"], rows)

    assert [(pair["labels"], pair["key"]) for pair in found["merged"]] == [(["b", "c"], "weighted_kappa_linear")]


def test_two_labels_alone_are_not_merged() -> None:
    assert result("nominal", ["a", "b"], [(("a", "b"), "", 9), (("a", "a"), "", 9)])["merged"] == []


# -- refused ----------------------------------------------------------------------------------------------------------


def test_kappa_of_three_raters_by_position_is_refused_where_it_is_named() -> None:
    rows = [(("a", "b", "a"), "", 4), (("a", "a", "b"), "", 4)]
    found = result("nominal", ["a", "b"], rows, rule={"coefficient": "cohen_kappa"}, ratings_per_item=3)

    chosen = found["headline"]
    assert (chosen["key"], "pooled by position" in chosen["refused"]) == ("krippendorff_alpha_nominal", True)
    assert "cohen_kappa" not in found["statistics"]


def test_unweighted_kappa_on_a_scale_is_never_the_headline_unless_it_is_named() -> None:
    rows = [(("a", "b"), "", 4), (("b", "b"), "", 4)]
    chosen = result("ordinal", ["a", "b", "c"], rows)["headline"]
    named = result("ordinal", ["a", "b", "c"], rows, rule={"coefficient": "cohen_kappa"})["headline"]

    assert (chosen["key"], named["key"], named["named"]) == ("weighted_kappa_linear", "cohen_kappa", "cohen_kappa")


def pooled_with(other: Draw, table: Matrix) -> dict[str, Any]:
    """The figures of a draw that `other` is said to pool with."""
    made = tables.draw(1)
    own = tables.matrix(made, table.question.task_type, ["a", "b"], ROW[table.level], {})
    context = figures.Context(own.raters, (), (), None, (other,), lambda _draw, _key: table)
    return figures.compute(made, own, context)


ROW: dict[str, list[tables.Pattern]] = {
    "nominal": [(("a", "a"), "", 3), (("b", "b"), "", 3), (("a", "b"), "", 1)],
    "spans": [((marked([[0, 1, "a"]]), marked([[0, 1, "b"]]), text_of(3)), "", 1)],
}


def test_draws_of_one_major_pool() -> None:
    table = tables.matrix(tables.draw(1), "nominal", ["a", "b"], ROW["nominal"], {})

    assert pooled_with(tables.draw(1), table)["pooled"]["n"] == 14


def test_pooled_sets_are_those_of_all_draws_together() -> None:
    """Each draw has sets that the other has not."""
    first, second = (
        [((["a"], ["a", "b"]), "", 3), ((["b"], ["b"]), "", 2)],
        [(([], ["b"]), "", 2), ((["b"], ["b"]), "", 4)],
    )
    made, other = tables.draw(6), tables.draw(5)
    own = tables.matrix(made, "multilabel", ["a", "b"], second, {})
    before = tables.matrix(other, "multilabel", ["a", "b"], first, {})
    context = figures.Context(own.raters, (), (), None, (other,), lambda _draw, _key: before)

    pooled = figures.compute(made, own, context)["pooled"]

    whole = headline(result("multilabel", ["a", "b"], [*first, *second]))
    assert (pooled["n"], near(pooled["value"], whole["value"])) == (11, True)


def test_draws_of_two_majors_are_refused() -> None:
    other = tables.draw(1)
    other.wave.major = 2
    table = tables.matrix(other, "nominal", ["a", "b"], ROW["nominal"], {})

    with pytest.raises(ValueError, match="2 MAJOR guideline versions"):
        pooled_with(other, table)


def test_spans_of_two_tokenisations_are_refused() -> None:
    other = tables.draw(1)
    table = tables.matrix(other, "spans", ["a", "b"], ROW["spans"], {})
    assert pooled_with(other, table)["pooled"]["n"] == 2
    table.spans.tokenisation = "tokens 0"

    with pytest.raises(ValueError, match="2 tokenisations"):
        pooled_with(other, table)


def test_what_a_protocol_leaves_open_is_no_other_protocol() -> None:
    plain, filled = tables.draw(1), tables.draw(1, expert="", questions={"intent": {"stratum_threshold": None}})
    plain.protocol["questions"] = {"intent": {}}

    assert figures.terms(plain) == figures.terms(filled)
    assert figures.terms(plain) != figures.terms(tables.draw(1, expert="somebody"))


@pytest.mark.parametrize(
    "key", ["krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval"]
)
def test_the_arithmetic_of_three_raters_ends_with_the_figure(key: str) -> None:
    items = [["1", "1", "2"], ["3", "3", None], ["2", "3", "3"], ["1", "1", "1"], ["1", "3", "2"], ["2", None, "2"]]
    ratings = Ratings.from_patterns(items, [3.0, 2.0, 1.0, 4.0, 1.0, 2.0], ["1", "2", "3"], values=[1, 2, 3])

    steps = label_figures.arithmetic(key, ratings, None)

    assert steps[-1]["value"] == pytest.approx(COEFFICIENTS[key].function(ratings).value, abs=1e-12)
