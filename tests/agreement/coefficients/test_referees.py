"""Independent software on random tables, where it is right.

Importing it takes seconds, which every process that only collects tests would pay: so it is a fixture's work.
"""

import math
import warnings
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.fixture(scope="session")
def scikit_learn() -> ModuleType:
    return import_module("sklearn.metrics")


@pytest.fixture(scope="session")
def statsmodels() -> ModuleType:
    return import_module("statsmodels.stats.inter_rater")


@pytest.fixture(scope="session")
def nltk() -> ModuleType:
    return import_module("nltk.metrics")


@EXAMPLES
@given(rows=PAIRS)
def test_scikit_learn_has_the_same_kappas(scikit_learn: ModuleType, rows: list[tuple[int, int]]) -> None:
    ratings = of_rows(rows)
    a, b = zip(*rows, strict=True)
    for weights, distance in ((None, nominal), ("linear", linear), ("quadratic", quadratic)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its warning for 0/0
            referee = scikit_learn.cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
        assert agrees(cohen(ratings, distance(ratings)).value, referee)


@EXAMPLES
@given(rows=PAIRS)
def test_scikit_learn_has_the_same_specific_agreement(scikit_learn: ModuleType, rows: list[tuple[int, int]]) -> None:
    a, b = zip(*rows, strict=True)
    referee = scikit_learn.f1_score(a, b, labels=[0, 1, 2, 3], average=None, zero_division=np.nan)
    for got, value in zip(specific_agreement(of_rows(rows)), referee, strict=True):
        assert agrees(got.value, value)


@EXAMPLES
@given(rows=PAIRS)
def test_statsmodels_has_the_same_standard_errors(statsmodels: ModuleType, rows: list[tuple[int, int]]) -> None:
    ratings = of_rows(rows)
    if cohen(ratings).value is None:
        return
    for kind, distance in ((None, nominal), ("linear", linear), ("quadratic", quadratic)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            referee = statsmodels.cohens_kappa(ratings.table(), wt=kind)
        error, null_error = cohen_se(ratings, distance(ratings)).value, cohen_se0(ratings, distance(ratings)).value
        # Its variances are differences: where ours are 0, theirs are rounding or, below 0, NaN.
        for got, variance in ((error, referee.var_kappa), (null_error, referee.var_kappa0)):
            assert math.isclose(got or 0.0, math.sqrt(max(variance, 0.0)), abs_tol=1e-6)


@EXAMPLES
@given(rows=COMPLETE)
def test_statsmodels_has_the_same_fleiss_kappa(statsmodels: ModuleType, rows: list[tuple[int, int, int]]) -> None:
    got = COEFFICIENTS["fleiss_kappa"].function(of_rows(rows)).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        referee = statsmodels.fleiss_kappa(statsmodels.aggregate_raters(np.array(rows), n_cat=4)[0])
    assert agrees(got, referee)


@EXAMPLES
@given(rows=HOLES)
def test_nltk_has_the_same_alpha(nltk: ModuleType, rows: list[tuple[int | None, ...]]) -> None:
    ratings = of_rows(rows)
    if alpha(ratings).value is None:
        return  # there it answers 1 or raises
    triples = [(str(rater), item, row[rater]) for item, row in enumerate(rows) for rater in range(3)]
    triples = [triple for triple in triples if triple[2] is not None]
    for referee, distance in ((nltk.binary_distance, nominal), (nltk.interval_distance, interval)):
        value = nltk.AnnotationTask(data=triples, distance=referee).alpha()
        assert agrees(alpha(ratings, distance(ratings)).value, value)
