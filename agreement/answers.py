"""Everything that is said of the ratings of a file, as plain data for --json and for print. Pure: no Django."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agreement.codebooks import BadRatings, BadWeights, Declared, names, quoted, text_of
from agreement.coefficients import COEFFICIENTS, distances, expert_sets, headline, summarise
from agreement.coefficients import declared as declared_weights
from agreement.coefficients.bootstrap import LEVEL, REPLICATES
from agreement.coefficients.coefficient import MULTILABEL, ORDERED, ORDINAL
from agreement.coefficients.diagnostics import SENTENCES, Diagnostic, diagnose
from agreement.coefficients.expert import TITLES as EXPERT_TITLES
from agreement.coefficients.expert import coefficients as with_expert
from agreement.coefficients.ratings import Ratings, identity
from agreement.coefficients.summary import applicable, as_json
from agreement.coefficients.table_intervals import Plan
from agreement.files import Loaded

LINEAR, QUADRATIC, CUSTOM = "linear", "quadratic", "custom"
LINEAR_KEYS = ("weighted_kappa_linear", "expert_weighted_kappa_linear")
# The numbers of a diagnostic that are labels; those of a pair of raters are people.
LABEL_PLACES = ("label", "first", "second")
# Beside the headline of two raters where there are two labels, and then alone.
OF_TWO_LABELS = ("pabak",)
NO_WEIGHTS = "No weights were named, so the headline takes linear ones: --weights names others."
# Titles of what is no entry of the registry and may yet be the headline.
TITLES = {
    **EXPERT_TITLES,
    declared_weights.KEY: "Weighted kappa with the expert (declared weights; all ratings by others, each with"
    " the expert's)",
    "weighted_kappa_custom": "Weighted kappa (declared weights)",
}


@dataclass(frozen=True)
class Asked:
    """What is to be made of the ratings. `weights` names the headline's, `matrix` are declared ones."""

    weights: str | None = None
    matrix: Sequence[Sequence[float]] | None = None
    expert: str | None = None
    interval: bool = True
    seed: int = 1
    replicates: int = REPLICATES
    confidence: float = LEVEL


def of(loaded: Loaded, declared: Declared, asked: Asked) -> dict[str, Any]:
    """The answer of `manage.py agreement`, whose docstring describes it.

    Raises
    ------
    BadRatings, ValueError : weights, an expert or a scale that these ratings cannot carry
    """
    ratings, level = loaded.ratings, declared.level
    _check_weights(declared, asked)
    matrix, expert = _checked_matrix(ratings, asked), _expert(ratings, asked.expert)
    summary = summarise(
        ratings,
        level,
        seed=asked.seed,
        replicates=asked.replicates,
        interval=asked.interval,
        confidence=asked.confidence,
        weights=matrix,
        expert=expert,
        set_classes=loaded.classes,
    )
    plan = Plan(asked.seed, asked.replicates, asked.confidence, asked.interval)
    if matrix is not None and expert is not None:
        summary["statistics"].update(declared_weights.against(ratings, expert, matrix, plan))
    if level == MULTILABEL and asked.expert is not None:
        summary["statistics"].update(expert_sets.against(ratings, loaded.classes, asked.expert, plan))
    if level == MULTILABEL:
        summary["answers"], summary["labels"] = summary["labels"], [as_json(name) for name in loaded.classes]
    weights = (asked.weights or LINEAR) if level == ORDINAL else asked.weights
    design = headline.design_of(ratings, level, expert=asked.expert is not None, weights=weights or LINEAR)
    choice = headline.choose(design)
    key = str(choice.key)
    known = {each.key: each for each in applicable(ratings, level, matrix)}
    known |= with_expert(asked.expert, level) if asked.expert is not None else {}
    return {
        "scale": summary.pop("level"),
        **summary,
        "exchangeable": ratings.exchangeable,
        "weights": weights,
        "expert": asked.expert,
        "headline": {
            "key": key,
            "title": COEFFICIENTS[key].title if key in COEFFICIENTS else TITLES[key],
            "reason": choice.reason,
            "beside": [each for each in (*choice.beside, *OF_TWO_LABELS) if each in summary["statistics"]],
        },
        "diagnostics": [
            _plain(each, () if level == MULTILABEL else ratings.labels)
            for each in diagnose(
                ratings,
                level,
                coefficient=known.get(key),
                merging=matrix is None,
                seed=asked.seed if asked.interval else None,
            )
        ],
        "notes": _notes(loaded, declared, asked, choice),
    }


def _check_weights(declared: Declared, asked: Asked) -> None:
    if asked.weights in (LINEAR, QUADRATIC) and declared.level not in ORDERED:
        raise BadRatings(f"Weights follow the order of the labels, and a {declared.level} scale has none.")
    if asked.matrix is not None and declared.level == MULTILABEL:
        raise BadRatings("A matrix of weights is for single labels: sets have the Jaccard and the MASI distance.")
    if asked.matrix is not None and declared.labels is None:
        raise BadRatings("The rows of a matrix of weights follow the order of the labels: declare the labels with it.")


def _checked_matrix(ratings: Ratings, asked: Asked) -> Sequence[Sequence[float]] | None:
    if asked.matrix is not None:
        try:
            distances.custom(asked.matrix, ratings.n_labels)
        except ValueError as error:
            raise BadWeights(str(error)) from error
    return asked.matrix


def _expert(ratings: Ratings, name: str | None) -> int | None:
    """The expert's column."""
    if name is None:
        return None
    if ratings.exchangeable:
        raise BadRatings("Agreement with an expert needs to know who rated, and the raters are exchangeable here.")
    if name not in ratings.raters:
        raise BadRatings(f"The expert {quoted(name)} is none of the raters {', '.join(map(quoted, ratings.raters))}.")
    return ratings.raters.index(name)


def _plain(found: Diagnostic, labels: Sequence[Any]) -> dict[str, Any]:
    words = dict(found.numbers)
    called = {identity(label): name for label, name in zip(labels, names(labels), strict=True)}
    for place in LABEL_PLACES if not found.key.startswith("far_") else ():
        if place in words:
            words[place] = called[identity(words[place])]
    return {"key": found.key, "numbers": dict(found.numbers), "sentence": SENTENCES[found.key] % words}


def _notes(loaded: Loaded, declared: Declared, asked: Asked, choice: headline.Choice) -> list[str]:
    """How the file was understood where nothing was said, and what stands beside an ordered headline."""
    notes = []
    known = loaded.classes if declared.level == MULTILABEL else loaded.ratings.labels
    if declared.labels is None:
        listed = ", ".join(quoted(name) for name in known)
        said = f"No labels were declared, so the {len(known)} that occur count as all there are: {listed}."
        if declared.level != MULTILABEL:
            said += " A label that nobody used changes AC1, AC2 and Brennan-Prediger."
        notes += [said, *_alike(known)]
    if choice.key in LINEAR_KEYS and asked.weights is None:
        notes.append(NO_WEIGHTS)
    if declared.level in ORDERED:
        titles = [COEFFICIENTS[key].title for key in choice.beside if key in headline.UNORDERED]
        notes.append(f"The labels are ordered, and these count a near miss as much as a far one: {', '.join(titles)}.")
    return notes


def _alike(known: Sequence[Any]) -> list[str]:
    """Labels that differ by case or blanks only, most likely by a slip."""
    first: dict[str, Any] = {}
    notes = []
    for name in known:
        folded = " ".join(text_of(name).split()).casefold()
        if folded in first:
            notes.append(f"{quoted(first[folded])} and {quoted(name)} look alike and are counted as two labels.")
        first.setdefault(folded, name)
    return notes
