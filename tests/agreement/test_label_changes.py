"""What kappa or alpha would have been with two labels as one, against recoding the answers and counting by hand."""

from collections import Counter

import numpy as np
import pytest

from agreement import label_changes
from agreement.coefficients.ratings import MISSING, Ratings
from projects import guidelines, label_plans
from projects.models import Label
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db

SAID = [
    ("praise", "praise"),
    ("praise", "complaint"),
    ("complaint", "question"),
    ("question", "complaint"),
    ("question", "question"),
    ("complaint", "complaint"),
    ("praise", "question"),
    ("praise", "praise"),
]


def kappa(said: list[tuple[str, str]]) -> float:
    n = len(said)
    first, second = Counter(a for a, _ in said), Counter(b for _, b in said)
    observed = sum(a == b for a, b in said) / n
    expected = sum(first[label] * second[label] for label in first) / n**2
    return (observed - expected) / (1 - expected)


def alpha(said: list[tuple[str, ...]]) -> float:
    """Krippendorff's nominal alpha by its coincidences."""
    pairs = Counter()
    for answers in said:
        for i, a in enumerate(answers):
            for j, b in enumerate(answers):
                if i != j:
                    pairs[a, b] += 1 / (len(answers) - 1)
    totals = Counter()
    for (a, _b), n in pairs.items():
        totals[a] += n
    n = sum(totals.values())
    observed = sum(count for (a, b), count in pairs.items() if a != b) / n
    expected = sum(totals[a] * totals[b] for a in totals for b in totals if a != b) / (n * (n - 1))
    return 1 - observed / expected


def as_one(said: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [tuple("complaint" if each == "question" else each for each in answers) for answers in said]


def measured(version, people, said, by, **about):
    return rows.draw(
        version, [dict(zip(people, each, strict=True)) for each in said], by=by, closing="complete", **about
    )


def shown(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")


def test_two_raters_have_kappa_as_it_was_and_as_it_would_have_been(version, lead, anna, ben):
    draw = measured(version, [anna, ben], SAID, lead)

    (found,) = label_changes.merged(version, "intent", "question", "complaint", at=NOW)

    assert (found.draw, found.title, found.n) == (draw, "Cohen's kappa", 8)
    assert (found.value, found.changed) == (shown(kappa(SAID)), shown(kappa(as_one(SAID))))
    assert found.difference == "+" + shown(kappa(as_one(SAID)) - kappa(SAID))


def test_three_raters_have_alpha(version, lead, anna, ben):
    cara = factories.member(version.project, "cara")
    said = [(*each, each[0]) for each in SAID]
    measured(version, [anna, ben, cara], said, lead, needed=3)

    (found,) = label_changes.merged(version, "intent", "question", "complaint", at=NOW)

    assert (found.value, found.changed) == (shown(alpha(said)), shown(alpha(as_one(said))))


def test_where_nothing_varies_it_is_undefined(version, lead, anna, ben):
    measured(version, [anna, ben], [("question", "complaint"), ("complaint", "complaint")], lead)

    (found,) = label_changes.merged(version, "intent", "question", "complaint", at=NOW)

    assert (found.changed, found.difference) == ("undefined", "–")


def test_draws_of_another_major_open_ones_and_new_labels_have_no_figure(version, lead, anna, ben):
    measured(version, [anna, ben], SAID, lead)
    rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead)
    draft = guidelines.draft_of(version.project, by=lead)
    label_plans.retire(Label.objects.get(question__version=draft, key="question"), becomes="praise", by=lead)
    second = guidelines.publish(draft, change="material", reason="x", by=lead, at=NOW)

    assert len(label_changes.merged(version, "intent", "question", "complaint", at=NOW)) == 1
    assert label_changes.merged(second, "intent", "praise", "complaint", at=NOW) == []
    assert label_changes.merged(version, "intent", "question", "threat", at=NOW) == []
    assert label_changes.merged(version, "tone", "question", "praise", at=NOW) == []


# -- another order of a scale ------------------------------------------------------------------------------------------

STEPS = ("low", "middle", "high")
FELT = [("low", "low"), ("low", "middle"), ("middle", "high"), ("high", "high"), ("low", "high"), ("middle", "middle")]


def weighted(said: list[tuple[str, str]], order: tuple[str, ...], power: int) -> float:
    """Kappa with weights: one minus the mean distance within items over that between any two."""
    place = {label: order.index(label) for label in order}
    within = sum(abs(place[a] - place[b]) ** power for a, b in said) / len(said)
    between = sum(abs(place[a] - place[b]) ** power for a, _ in said for _, b in said) / len(said) ** 2
    return 1 - within / between


@pytest.fixture
def scale(db):
    version = factories.version(factories.project("Feelings"), questions=False)
    factories.question(version, "feeling", STEPS, task_type="ordinal")
    return version


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_a_scale_in_another_order_has_the_kappa_of_that_order(scale, weights, power):
    people = [factories.member(scale.project, name) for name in ("anna", "ben")]
    said = [{person: {"feeling": each} for person, each in zip(people, pair, strict=True)} for pair in FELT]
    rules = {"feeling": {"weights": weights}}
    draw = rows.draw(scale, said, by=people[0], closing="complete", rules=rules)

    (found,) = label_changes.reordered(scale, "feeling", ("middle", "low", "high"), at=NOW)

    was, would_be = weighted(FELT, STEPS, power), weighted(FELT, ("middle", "low", "high"), power)
    assert (found.draw, found.n, found.value, found.changed) == (draw, 6, shown(was), shown(would_be))
    assert found.difference == shown(would_be - was)


def test_an_order_of_other_labels_or_of_none_has_no_figure(scale, version, lead, anna, ben):
    measured(version, [anna, ben], SAID, lead)

    assert label_changes.reordered(scale, "feeling", ("low", "high"), at=NOW) == []
    assert label_changes.reordered(version, "intent", ("question", "praise", "complaint"), at=NOW) == []


def test_ratings_in_another_order_say_the_same_of_every_item():
    ratings = Ratings(
        np.array([[0, 2], [1, MISSING], [2, 2]]), np.array([1.0, 2.0, 3.0]), STEPS, values=(1.0, 2.0, 5.0)
    )

    moved = label_changes.in_order(ratings, ("high", "low", "middle"))

    assert moved.codes.tolist() == [[1, 0], [2, MISSING], [0, 0]]
    assert (moved.labels, moved.values) == (("high", "low", "middle"), (5.0, 1.0, 2.0))
