"""How a draw is shared out: the total is exact, over-sampled or not, and no stratum is far from its share."""

import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.sampling import Plan, Tally

D = Decimal


def due(plan: Plan, released: dict[str, int]) -> int:
    """Half up, without a float."""
    return floor(sum(Fraction(plan.share_of(name)) / 100 * n for name, n in released.items()) + Fraction(1, 2))


@pytest.mark.parametrize(
    "plan",
    [
        Plan(D("1")),
        Plan(D("2.5"), minimum=3),
        Plan(D("1"), own={"a": D("4")}),
        Plan(D("0.5"), minimum=1, own={"a": D("7.5"), "b": D(0)}),
    ],
)
def test_the_total_is_exact_for_every_population_up_to_10_000(plan):
    for size in range(10_001):
        available = {"a": size // 7, "b": size // 3, "c": size - size // 7 - size // 3}
        counts = plan.counts(available)

        assert sum(counts.values()) == due(plan, available)
        assert all(counts[name] <= available[name] for name in available)


@pytest.mark.parametrize("share", [D(10), D(33), D("12.345"), D(50), D(99), D(100), D(0)])
@pytest.mark.parametrize("own", [{}, {"a": D(100)}, {"a": D("66.667"), "b": D(25)}])
def test_the_size_is_exact_for_every_population_up_to_10_000(share, own):
    plan = Plan(share, own=own)
    for size in range(10_001):
        available = {"a": size // 10, "b": size // 5, "c": size - size // 10 - size // 5}
        assert plan.size(available) == due(plan, available)


class Book:
    """Keeps the running counts of a sequence of waves, as the database does."""

    def __init__(self, share: Decimal, own: dict[str, Decimal], minimum: int = 0) -> None:
        self.plan, self.history = Plan(share, minimum, own), dict[str, Tally]()

    def open_wave(self, available: dict[str, int]) -> dict[str, int]:
        plan = Plan(self.plan.share_percent, self.plan.minimum, self.plan.own, self.history)
        counts = plan.counts(available)
        before = {name: self.history.get(name, Tally(0, 0)) for name in available}
        self.history = self.history | {
            name: Tally(before[name].released + n, before[name].drawn + counts[name]) for name, n in available.items()
        }
        return counts

    @property
    def drawn(self) -> int:
        return sum(tally.drawn for tally in self.history.values())

    @property
    def released(self) -> dict[str, int]:
        return {name: tally.released for name, tally in self.history.items()}

    def deficits(self) -> list[Fraction]:
        return [
            Fraction(self.plan.share_of(name)) * tally.released / 100 - tally.drawn
            for name, tally in self.history.items()
        ]


amounts = st.dictionaries(st.sampled_from("abc"), st.sampled_from([D(10), D(20), D("33.3"), D(75), D(100)]))


@given(amounts, st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9), max_size=4), max_size=30))
def test_the_total_is_exact_after_any_sequence_of_small_batches(own, waves):
    book = Book(D(10), own)
    for available in waves:
        before = book.drawn
        counts = book.open_wave(available)

        assert 0 <= book.drawn - before <= sum(available.values())
        assert book.drawn == due(book.plan, book.released)
        assert all(counts[name] <= n for name, n in available.items())


def test_ten_batches_of_four_at_ten_per_cent_give_four_and_over_sampled_by_three_give_twelve():
    plain, three = Book(D(10), {}), Book(D(10), {"a": D(30)})
    for _ in range(10):
        plain.open_wave({"a": 4})
        three.open_wave({"a": 4})

    assert (plain.drawn, three.drawn) == (4, 12)


@pytest.mark.parametrize("seed", range(5))
def test_over_sampled_strata_stay_within_three_of_their_own_share(seed):
    """Where every wave has items enough of each stratum; the total is exact in any case."""
    rng = random.Random(seed)
    book = Book(D(10), {"a": D(30), "b": D("55.5"), "c": D(0)})
    for _ in range(200):
        book.open_wave({name: rng.randint(4, 40) for name in "abcde"})

        assert max(map(abs, book.deficits())) <= 3
        assert book.drawn == due(book.plan, book.released)


def test_all_of_a_stratum_with_a_share_of_100_is_drawn_whatever_the_others_are():
    rng = random.Random(3)
    for _ in range(300):
        available = {name: rng.randint(1, 25) for name in "abcdefgh"[: rng.randint(1, 8)]}
        counts = Plan(D(rng.choice(["5", "14", "37.5"])), own={"a": D(100)}).counts(available)
        assert counts["a"] == available["a"]


def test_the_minimum_of_each_stratum_comes_first_as_far_as_the_total_goes():
    available = {"a": 900, "b": 80, "c": 15, "d": 3}

    assert Plan(D(10)).counts(available) == {"a": 90, "b": 8, "c": 2, "d": 0}
    assert Plan(D(10), minimum=10).counts(available) == {"a": 77, "b": 10, "c": 10, "d": 3}
    # Two in all: not enough for one of each, and those that are furthest behind have it.
    assert Plan(D("0.2"), minimum=10).counts(available) == {"a": 1, "b": 1, "c": 0, "d": 0}


@given(
    st.decimals(0, 100, places=3),
    st.integers(0, 9),
    amounts,
    st.dictionaries(st.text(max_size=5), st.builds(Tally, st.integers(0, 99), st.integers(0, 99)), max_size=4),
)
def test_a_plan_comes_back_from_its_record(share, minimum, own, history):
    plan = Plan(share, minimum, own, history)

    assert Plan.from_json(plan.to_json()) == plan


def test_counts_do_not_depend_on_the_order_of_strata():
    plan = Plan(D(10), minimum=1, own={"b": D(30)})
    names = "abcdef"

    found = {tuple(sorted(plan.counts(dict.fromkeys(order, 7)).items())) for order in (names, names[::-1], "fbdaec")}
    assert len(found) == 1
    assert Counter(dict(found.pop())).total() == 6  # five strata of 7 at 10 %, one at 30 %: 5.6
