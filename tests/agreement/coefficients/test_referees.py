"""Independent software on random tables, where it is right."""

import math
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import binary_distance, interval_distance
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from agreement.coefficients import COEFFICIENTS, Ratings
from agreement.coefficients.classes import specific_agreement
from agreement.coefficients.cohen import cohen, cohen_se, cohen_se0
from agreement.coefficients.distances import interval, linear, nominal, quadratic
from agreement.coefficients.krippendorff import alpha

EXAMPLES = settings(max_examples=50, deadline=None, derandomize=True)
LABELS = st.integers(0, 3)
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=60)
COMPLETE = st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=2, max_size=40)
HOLES = st.lists(st.tuples(*[st.none() | LABELS] * 3), min_size=2, max_size=40)


def of_rows(rows: list[tuple[int | None, ...]]) -> Ratings:
    return Ratings.from_patterns(rows, [1.0] * len(rows), [0, 1, 2, 3], values=(0, 1, 2, 3))


def agrees(got: float | None, referee: float) -> bool:
    """A referee's NaN is our undefined."""
    return math.isnan(referee) if got is None else math.isclose(got, referee, rel_tol=1e-9, abs_tol=1e-9)


@EXAMPLES
@given(PAIRS)
def test_scikit_learn_has_the_same_kappas(rows: list[tuple[int, int]]) -> None:
    ratings = of_rows(rows)
    a, b = zip(*rows, strict=True)
    for weights, distance in ((None, nominal), ("linear", linear), ("quadratic", quadratic)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its warning for 0/0
            referee = cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
        assert agrees(cohen(ratings, distance(ratings)).value, referee)


@EXAMPLES
@given(PAIRS)
def test_scikit_learn_has_the_same_specific_agreement(rows: list[tuple[int, int]]) -> None:
    a, b = zip(*rows, strict=True)
    referee = f1_score(a, b, labels=[0, 1, 2, 3], average=None, zero_division=np.nan)
    for got, value in zip(specific_agreement(of_rows(rows)), referee, strict=True):
        assert agrees(got.value, value)


@EXAMPLES
@given(PAIRS)
def test_statsmodels_has_the_same_standard_errors(rows: list[tuple[int, int]]) -> None:
    ratings = of_rows(rows)
    if cohen(ratings).value is None:
        return
    for kind, distance in ((None, nominal), ("linear", linear), ("quadratic", quadratic)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            referee = cohens_kappa(ratings.table(), wt=kind)
        error, null_error = cohen_se(ratings, distance(ratings)).value, cohen_se0(ratings, distance(ratings)).value
        # Its variances are differences: where ours are 0, theirs are rounding or, below 0, NaN.
        for got, variance in ((error, referee.var_kappa), (null_error, referee.var_kappa0)):
            assert math.isclose(got or 0.0, math.sqrt(max(variance, 0.0)), abs_tol=1e-6)


@EXAMPLES
@given(COMPLETE)
def test_statsmodels_has_the_same_fleiss_kappa(rows: list[tuple[int, int, int]]) -> None:
    got = COEFFICIENTS["fleiss_kappa"].function(of_rows(rows)).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        referee = fleiss_kappa(aggregate_raters(np.array(rows), n_cat=4)[0])
    assert agrees(got, referee)


@EXAMPLES
@given(HOLES)
def test_nltk_has_the_same_alpha(rows: list[tuple[int | None, ...]]) -> None:
    ratings = of_rows(rows)
    if alpha(ratings).value is None:
        return  # there it answers 1 or raises
    triples = [(str(rater), item, row[rater]) for item, row in enumerate(rows) for rater in range(3)]
    triples = [triple for triple in triples if triple[2] is not None]
    for referee, distance in ((binary_distance, nominal), (interval_distance, interval)):
        value = AnnotationTask(data=triples, distance=referee).alpha()
        assert agrees(alpha(ratings, distance(ratings)).value, value)
