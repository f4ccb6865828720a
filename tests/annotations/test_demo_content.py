"""The texts of the demo project hang together, and its simulated raters land where the story needs them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "annotations" / "demo"
PAIRS = ROOT / "tests" / "data" / "pairs_60.jsonl"

FAMILIES = {"conditional-threat", "question-as-complaint", "feature-as-complaint", "sarcasm", "mixed"}
CAUSES = {"guideline_silent", "guideline_ambiguous", "slip", "subjective", "bad_item"}
OKABE_ITO = {"#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#000000"}
MISSING = -1

pytestmark = pytest.mark.one_database


def load(name: str) -> Any:
    return json.loads((DEMO / name).read_text(encoding="utf-8"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    return lines(DEMO / "items.jsonl")


@pytest.fixture(scope="module")
def truth() -> list[dict[str, Any]]:
    return lines(DEMO / "truth.jsonl")


@pytest.fixture(scope="module")
def label_keys() -> dict[str, list[str]]:
    return {q["key"]: [label["key"] for label in q["labels"]] for q in load("labels.json")["questions"]}


def test_items_have_their_fields_and_nothing_else(items):
    assert {tuple(item) for item in items} == {("id", "text", "source", "language")}
    assert {item["source"] for item in items} == {"store", "mail", "chat"}
    assert {item["language"] for item in items} == {"en"}


def test_items_are_at_least_520_and_distinct_after_folding(items):
    assert len(items) >= 520
    assert [key for key, n in Counter(item["id"] for item in items).items() if n > 1] == []
    assert [text for text, n in Counter(folded(item["text"]) for item in items).items() if n > 1] == []


def test_items_are_between_5_and_60_words_long(items):
    assert [item["id"] for item in items if not 5 <= len(item["text"].split()) <= 60] == []


def test_items_do_not_sound_as_if_filled_into_a_template(items):
    openings = Counter(tuple(folded(item["text"]).split()[:3]) for item in items)

    assert [" ".join(words) for words, n in openings.items() if n > 4] == []


def test_truth_covers_every_item_once_and_in_order(items, truth):
    assert [row["id"] for row in truth] == [item["id"] for item in items]


def test_truth_uses_labels_that_exist(truth, label_keys):
    assert {row["intent"] for row in truth} == set(label_keys["intent"])
    assert {str(row["urgency"]) for row in truth} == set(label_keys["urgency"])
    assert {row["confusable"] for row in truth} <= {*label_keys["intent"], None}


def test_truth_names_a_confusable_label_for_hard_cases_only(truth):
    assert {row["trap"] for row in truth} == FAMILIES | {None}
    assert [row["id"] for row in truth if (row["trap"] is None) != (row["confusable"] is None)] == []
    assert [row["id"] for row in truth if row["intent"] == row["confusable"]] == []


def test_hard_cases_are_35_to_40_percent_in_five_families_of_like_size(truth):
    sizes = Counter(row["trap"] for row in truth if row["trap"])

    assert 0.35 <= sum(sizes.values()) / len(truth) <= 0.40
    assert min(sizes.values()) >= 0.07 * len(truth)


def test_hard_cases_are_spread_over_the_whole_file(truth):
    tenth = len(truth) // 10
    counts = [sum(row["trap"] is not None for row in truth[i * tenth : (i + 1) * tenth]) for i in range(10)]

    assert min(counts) >= 0.2 * tenth


def test_labels_have_one_hotkey_each_and_distinct_colours():
    questions = load("labels.json")["questions"]
    hotkeys = [label["hotkey"] for question in questions for label in question["labels"]]

    assert [(question["key"], question["task_type"]) for question in questions] == [
        ("intent", "nominal"),
        ("urgency", "ordinal"),
    ]
    assert len(hotkeys) == len(set(hotkeys))
    for question in questions:
        colours = [label["colour"] for label in question["labels"]]
        assert len(colours) == len(set(colours))
        assert set(colours) <= OKABE_ITO


def test_labels_have_values_where_the_scale_has_them():
    intent, urgency = load("labels.json")["questions"]

    assert {label["value"] for label in intent["labels"]} == {None}
    assert [label["value"] for label in urgency["labels"]] == [1, 2, 3, 4]


def test_adjudications_speak_about_every_family():
    adjudications = load("adjudications.json")
    texts = {**adjudications["families"], "plain": adjudications["plain"], "urgency": adjudications["urgency"]}

    assert set(adjudications["families"]) == FAMILIES
    for text in texts.values():
        assert text["cause"] in CAUSES
        assert text["why"].strip()
        assert len(set(text["rationales"])) == 3


def test_adjudications_rule_on_three_families_in_the_second_guideline():
    families = load("adjudications.json")["families"]

    assert {key for key, family in families.items() if family["ruled_in"] == "2.0"} == {
        "conditional-threat",
        "question-as-complaint",
        "feature-as-complaint",
    }


def test_worked_examples_are_fresh_texts_with_labels_that_exist(items, label_keys):
    examples = load("adjudications.json")["examples_1_0"]
    known = {folded(item["text"]) for item in items}

    assert len(examples) == 3
    assert [example for example in examples if folded(example["text"]) in known] == []
    for example in examples:
        keys = label_keys[example["question"]]
        assert example["value"] in keys
        assert example["confused_with"] in keys
        assert example["value"] != example["confused_with"]


@pytest.mark.parametrize(("name", "shortest", "longest"), [("1_0", 700, 950), ("2_0", 1000, 1300)])
def test_guidelines_have_a_rule_for_each_label_and_two_to_three_pages(name, shortest, longest):
    text = (DEMO / f"guideline_{name}.md").read_text(encoding="utf-8")
    headings = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]

    assert headings == ["Complaint", "Praise", "Question", "Threat", "Request"]
    assert shortest <= len(text.split()) <= longest


def test_raters_are_the_cast_and_have_a_chance_for_every_family():
    raters = load("raters.json")

    assert (raters["lead"]["username"], raters["admin"]["username"]) == ("lea", "ada")
    assert [rater["username"] for rater in raters["annotators"]] == ["anna", "ben", "chloe", "dmitri"]
    for rater in raters["annotators"]:
        assert set(rater["confusable"]) == {"1.0", "2.0"}
        for chances in rater["confusable"].values():
            assert set(chances) == FAMILIES
            assert all(0 <= chance <= 1 for chance in chances.values())


def rate(rater: dict, row: dict, version: str, intents: list[str], rng: np.random.Generator) -> tuple[int, int]:
    """What `rater` says about one item: the code of the intent and of the urgency, or MISSING for a skip."""
    if rng.random() < rater["skip"]:
        return MISSING, MISSING
    intent = row["intent"]
    if row["trap"] and rng.random() < rater["confusable"][version][row["trap"]]:
        intent = row["confusable"]
    if rng.random() < rater["slip"]:
        intent = rng.choice([key for key in intents if key != intent])
    urgency = row["urgency"] + rng.normal(rater["urgency"]["bias"], rater["urgency"]["noise"])
    return intents.index(intent), int(np.clip(round(urgency), 1, 4)) - 1


def kappa(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> float:
    """Weighted kappa of two columns of codes; written out here so that the data does not lean on the engine."""
    table = np.zeros(weights.shape)
    np.add.at(table, (first, second), 1 / len(first))
    return 1 - (weights * table).sum() / (weights * np.outer(table.sum(axis=1), table.sum(axis=0))).sum()


def simulated_kappas(truth: list[dict], version: str, intents: list[str], *, draws: int, n_items: int) -> np.ndarray:
    """Mean over the six pairs of raters, for each draw: (draws, 2), intent and quadratic urgency."""
    raters, rng = load("raters.json")["annotators"], np.random.default_rng(20)
    nominal, quadratic = 1 - np.eye(len(intents)), np.subtract.outer(np.arange(4), np.arange(4)) ** 2.0
    means = np.empty((draws, 2))
    for draw in range(draws):
        chosen = rng.choice(len(truth), n_items, replace=False)
        codes = np.array([[rate(r, truth[i], version, intents, rng) for i in chosen] for r in raters])
        pairs = []
        for a in range(4):
            for b in range(a + 1, 4):
                both = (codes[a, :, 0] != MISSING) & (codes[b, :, 0] != MISSING)
                x, y = codes[a, both], codes[b, both]
                pairs.append((kappa(x[:, 0], y[:, 0], nominal), kappa(x[:, 1], y[:, 1], quadratic)))
        means[draw] = np.mean(pairs, axis=0)
    return means


@pytest.mark.parametrize(("version", "low", "high"), [("1.0", 0.55, 0.65), ("2.0", 0.78, 0.85)])
def test_simulated_raters_agree_middlingly_under_1_0_and_better_under_2_0(truth, label_keys, version, low, high):
    intent, urgency = simulated_kappas(truth, version, label_keys["intent"], draws=200, n_items=60).mean(axis=0)

    assert low < intent < high
    assert 0.6 < urgency < 0.8


def test_fresh_pairs_are_sixty_distinct_question_pairs():
    pairs = lines(PAIRS)
    questions = [folded(pair[key]) for pair in pairs for key in ("question_1", "question_2")]

    assert {tuple(pair) for pair in pairs} == {("id", "question_1", "question_2")}
    assert len({pair["id"] for pair in pairs}) == 60
    assert len(set(questions)) == 120
