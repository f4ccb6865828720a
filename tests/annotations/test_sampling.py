import hmac
import random
import zlib
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.sampling import (
    Candidate,
    Tally,
    allocate,
    choose,
    commitment,
    order_key,
    overlap_size,
    pack_population,
    population_digest,
    rank,
    unpack_population,
    verify,
)

pytestmark = pytest.mark.one_database

SEED = bytes(range(32))
OTHER_SEED = bytes(range(1, 33))
SALT = b"s" * 16

uuids = st.integers(0, 2**128 - 1).map(lambda number: UUID(int=number))
shares = st.integers(0, 100) | st.decimals(0, 100, places=3)


def people(count: int, strata: str = "a", seed: int = 0) -> list[Candidate]:
    rng = random.Random(seed)
    return [Candidate(UUID(int=rng.getrandbits(128)), rng.choice(strata), f"{n:064x}") for n in range(count)]


# --- how many --------------------------------------------------------------------------------------------------------


def test_ten_batches_of_four_at_ten_percent_give_four() -> None:
    drawn, sizes = 0, []
    for batch in range(1, 11):
        sizes.append(overlap_size(10, 4 * batch, drawn))
        drawn += sizes[-1]

    assert sizes == [0, 1, 0, 1, 0, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("share", "released", "drawn", "size"),
    [
        (10, 0, 0, 0),
        (10, 4, 0, 0),
        (10, 5, 0, 1),  # one half is rounded up
        (10, 15, 1, 1),
        (50, 1, 0, 1),
        (100, 7, 0, 7),
        (0, 10_000, 0, 0),
        (10, 10, 5, 0),  # more drawn than due is never taken back
        (Decimal("0.1"), 500, 0, 1),
        (Decimal("0.1"), 499, 0, 0),
        (10, 10**30 + 5, 0, 10**29 + 1),  # more digits than a Decimal keeps
    ],
)
def test_overlap_size_rounds_half_up(share: Decimal | int, released: int, drawn: int, size: int) -> None:
    assert overlap_size(share, released, drawn) == size


def test_overlap_size_is_exact_for_every_population_up_to_10_000() -> None:
    for share in (0, 1, 5, 10, 15, 33, 50, 99, 100, Decimal("2.5"), Decimal("12.345")):
        for released in range(10_001):
            exact = (Decimal(share) * released / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)
            assert overlap_size(share, released, 0) == exact


@given(shares, st.lists(st.integers(0, 50), max_size=60))
def test_the_total_is_exact_after_every_batch_and_fits_into_it(share: Decimal | int, batches: list[int]) -> None:
    released = drawn = 0
    for size in batches:
        released += size
        n = overlap_size(share, released, drawn)
        drawn += n

        assert 0 <= n <= size
        assert drawn == (Decimal(share) * released / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP)


@pytest.mark.parametrize("share", [-1, 101, Decimal("100.1"), Decimal("NaN"), 10.0])
def test_a_share_is_a_whole_number_or_decimal_from_0_to_100(share: Decimal | int) -> None:
    with pytest.raises(ValueError, match="expected a whole number or a Decimal from 0 to 100"):
        overlap_size(share, 10, 0)


@pytest.mark.parametrize(("released", "drawn"), [(-1, 0), (0, -1)])
def test_overlap_size_refuses_negative_counts(released: int, drawn: int) -> None:
    with pytest.raises(ValueError, match="expected 0 or more of each"):
        overlap_size(10, released, drawn)


# --- from which strata -----------------------------------------------------------------------------------------------


class Book:
    """Keeps the running counts of a sequence of waves, as the database does."""

    def __init__(self, share: Decimal | int) -> None:
        self.share, self.history = share, dict[str, Tally]()

    def open_wave(self, available: dict[str, int]) -> dict[str, int]:
        released = sum(tally.released for tally in self.history.values()) + sum(available.values())
        n = overlap_size(self.share, released, sum(tally.drawn for tally in self.history.values()))
        counts = allocate(n, self.share, available, self.history)
        for stratum, size in available.items():
            before = self.history.get(stratum, Tally(0, 0))
            self.history[stratum] = Tally(before.released + size, before.drawn + counts[stratum])
        assert sum(counts.values()) == n
        return counts

    def deficits(self) -> list[Fraction]:
        return [Fraction(self.share) * tally.released / 100 - tally.drawn for tally in self.history.values()]


def test_a_single_wave_is_split_in_proportion() -> None:
    assert allocate(20, 10, {"news": 100, "forum": 60, "chat": 40}) == {"chat": 4, "forum": 6, "news": 10}


def test_the_largest_cumulative_deficit_comes_first() -> None:
    history = {"a": Tally(released=100, drawn=12), "b": Tally(released=100, drawn=7)}

    assert allocate(2, 10, {"a": 10, "b": 10}, history) == {"a": 0, "b": 2}


def test_a_stratum_gives_no_more_than_it_has() -> None:
    history = {"b": Tally(released=100, drawn=0)}

    assert allocate(4, 10, {"a": 10, "b": 3}, history) == {"a": 1, "b": 3}


def test_strata_that_are_not_in_the_wave_get_nothing() -> None:
    assert allocate(1, 10, {"a": 10}, {"gone": Tally(released=100, drawn=0)}) == {"a": 1}
    assert allocate(0, 10, {}) == {}


def test_allocation_does_not_depend_on_the_order_of_strata() -> None:
    assert allocate(2, 10, {"b": 7, "a": 7, "c": 7}) == allocate(2, 10, {"c": 7, "a": 7, "b": 7})


@pytest.mark.parametrize("n", [-1, 11])
def test_allocation_refuses_more_than_the_wave_has(n: int) -> None:
    with pytest.raises(ValueError, match="draws from a wave of 10 items"):
        allocate(n, 10, {"a": 4, "b": 6})


@given(st.data(), st.integers(1, 11), st.sampled_from([1, 5, 10, 25, Decimal("12.5"), 50]))
def test_each_stratum_stays_within_three_where_no_stratum_runs_out(
    data: st.DataObject, strata: int, share: Decimal | int
) -> None:
    book = Book(share)
    names = "abcdefghijk"[:strata]
    for _ in range(data.draw(st.integers(1, 25))):
        available = data.draw(st.fixed_dictionaries({name: st.integers(12, 60) for name in names}))
        counts = book.open_wave(available)

        assert all(counts[name] < available[name] for name in names)
        assert all(-1 <= deficit <= 3 for deficit in book.deficits())


@given(
    shares,
    st.lists(st.dictionaries(st.sampled_from("abcde"), st.integers(0, 8), max_size=5), max_size=40),
)
def test_no_other_split_would_bring_a_wave_closer(share: Decimal | int, waves: list[dict[str, int]]) -> None:
    """After any wave no draw could move to a stratum that has room and is further behind."""
    book = Book(share)
    for available in waves:
        counts = book.open_wave(available)
        deficits = dict(zip(book.history, book.deficits(), strict=True))
        for giver in available:
            for taker in available:
                if counts[giver] and counts[taker] < available[taker]:
                    assert deficits[taker] <= deficits[giver] + 1


@pytest.mark.parametrize("strata", [2, 3, 5, 11, 40])
@pytest.mark.parametrize("largest", [4, 20, 200])
def test_each_stratum_stays_within_three_over_200_random_waves(strata: int, largest: int) -> None:
    for seed in range(5):
        rng = random.Random(seed)
        book, weights = Book(10), [rng.random() for _ in range(strata)]
        for _ in range(200):
            wave = rng.choices(range(strata), weights, k=rng.randint(1, largest))
            book.open_wave(dict(Counter(map(str, wave))))

            assert max(map(abs, book.deficits())) <= 3


def test_waves_of_one_stratum_in_turn_drift_because_the_total_is_exact() -> None:
    """The limit that `allocate` names: it is the total that decides here, and a mixed wave makes it good."""
    book = Book(10)
    for _ in range(10):
        book.open_wave({"a": 5})
        book.open_wave({"b": 5})
    assert book.history == {"a": Tally(50, 10), "b": Tally(50, 0)}

    book.open_wave({"a": 50, "b": 50})
    assert book.deficits() == [0, 0]


# --- which items -----------------------------------------------------------------------------------------------------


def test_rank_is_hmac_sha256_of_the_uuid() -> None:
    # printf '\x00\x11...\xff' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1f
    uuid = UUID("00112233-4455-6677-8899-aabbccddeeff")

    assert rank(SEED, uuid).hex() == "5375b32096586fcb78041e630dafe33644f1fc20e931ab746621a8565ff01182"


def test_choose_takes_the_lowest_ranks_of_each_stratum() -> None:
    population = people(200, "ab")
    expected = set()
    for stratum, count in (("a", 7), ("b", 3)):
        members = [one.uuid for one in population if one.stratum == stratum]
        members.sort(key=lambda uuid: hmac.new(SEED, uuid.bytes, "sha256").digest())
        expected.update(members[:count])

    assert choose(population, SEED, {"a": 7, "b": 3}) == expected


@given(st.sets(uuids, max_size=60), st.integers(0, 60), st.randoms(use_true_random=False))
def test_choose_does_not_depend_on_the_order_of_the_population(
    members: set[UUID], count: int, rng: random.Random
) -> None:
    population = [Candidate(uuid) for uuid in sorted(members)]
    count = min(count, len(population))
    shuffled = rng.sample(population, len(population))

    chosen = choose(population, SEED, {"": count})

    assert len(chosen) == count
    assert choose(shuffled, SEED, {"": count}) == chosen


def test_the_same_record_gives_the_same_set() -> None:
    population = people(500, "abc")
    available = Counter(one.stratum for one in population)
    counts = allocate(overlap_size(10, 500, 0), 10, available)
    record = pack_population(population)

    assert choose(unpack_population(record), SEED, counts) == choose(population, SEED, counts)


def test_a_larger_draw_contains_the_smaller() -> None:
    population = people(100)

    assert choose(population, SEED, {"a": 10}) < choose(population, SEED, {"a": 11})


def test_another_seed_gives_another_set() -> None:
    population = people(100)

    assert choose(population, SEED, {"a": 10}) != choose(population, OTHER_SEED, {"a": 10})


def test_every_item_is_chosen_as_often_as_its_share() -> None:
    population = people(20)
    seeds = [number.to_bytes(16) for number in range(4_000)]

    times = Counter(uuid for seed in seeds for uuid in choose(population, seed, {"a": 5}))

    # 1,000 expected, standard deviation 27: five of them for twenty items, and the seeds are fixed.
    assert len(times) == 20
    assert all(abs(count - 1_000) < 137 for count in times.values())


@pytest.mark.parametrize("counts", [{"a": 11}, {"a": -1}, {"b": 1}])
def test_choose_refuses_counts_that_do_not_fit(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="items of stratum"):
        choose(people(10), SEED, counts)


# --- in which order --------------------------------------------------------------------------------------------------


@given(uuids)
def test_order_key_fits_a_signed_64_bit_column(uuid: UUID) -> None:
    assert 0 <= order_key(SEED, uuid) < 2**63


def test_order_key_is_fixed_by_seed_and_uuid() -> None:
    uuid = UUID("00112233-4455-6677-8899-aabbccddeeff")

    # The first 63 bits of HMAC-SHA256 over "serving order", a zero byte and the uuid, by openssl as above.
    assert order_key(SEED, uuid) == 0x110B03F3DF2F74D9 >> 1
    assert order_key(SEED, uuid) != order_key(OTHER_SEED, uuid)


def test_serving_order_tells_nothing_about_the_overlap() -> None:
    population = people(4_000)
    overlap = choose(population, SEED, {"a": 400})

    served = sorted(population, key=lambda one: order_key(SEED, one.uuid))
    per_quarter = [
        sum(one.uuid in overlap for one in served[start : start + 1_000]) for start in range(0, 4_000, 1_000)
    ]

    # 100 expected in each, standard deviation 8.2 (hypergeometric); with `rank` itself it would be 400, 0, 0, 0.
    assert all(abs(count - 100) < 33 for count in per_quarter)


# --- the proof -------------------------------------------------------------------------------------------------------


def test_a_commitment_holds_for_what_was_committed_to_and_for_nothing_else() -> None:
    population = people(30, "ab")
    digest = population_digest(population)
    committed = commitment(SALT, SEED, digest)

    assert verify(committed, SALT, SEED, digest)
    assert not verify(committed, SALT, OTHER_SEED, digest)
    assert not verify(committed, b"t" * 16, SEED, digest)
    assert not verify(committed, SALT, SEED, population_digest(population[1:]))
    assert not verify("", SALT, SEED, digest)
    assert not verify("ü", SALT, SEED, digest)


def test_a_commitment_is_sha256_over_its_length_prefixed_parts() -> None:
    assert commitment(SALT, SEED, b"d" * 32) == ("12b4a008f6aa5a7f9935e8a729a26cf122b81efdd68134f6aa048512e888dd57")
    assert commitment(SALT + b"x", SEED, b"") != commitment(SALT, b"x" + SEED, b"")


def test_the_population_digest_covers_everything_about_an_item() -> None:
    first, *others = people(5)
    changed = [first._replace(uuid=UUID(int=1)), first._replace(stratum="z"), first._replace(content_hash="f" * 64)]

    assert len({population_digest([one, *others]) for one in (first, *changed)}) == 4


candidates = st.builds(Candidate, uuids, st.text(max_size=5), st.text("0123456789abcdef", max_size=8))


@given(st.lists(candidates, max_size=20, unique_by=lambda one: one.uuid), st.randoms(use_true_random=False))
def test_a_packed_population_comes_back_whatever_its_order(population: list[Candidate], rng: random.Random) -> None:
    shuffled = rng.sample(population, len(population))

    assert unpack_population(pack_population(shuffled)) == sorted(population)
    assert population_digest(shuffled) == population_digest(population)


def test_a_packed_population_is_smaller_than_its_text() -> None:
    population = people(10_000)

    assert len(pack_population(population)) < 10_000 * 60


def test_an_item_is_in_a_population_once() -> None:
    one = people(1)[0]

    with pytest.raises(ValueError, match=f"Item {one.uuid} is in the population twice"):
        pack_population([one, one._replace(stratum="other")])


@pytest.mark.parametrize("packed", [b"", b"no zlib", zlib.compress(b"{"), zlib.compress(b"[[1]]"), zlib.compress(b"3")])
def test_bytes_that_are_no_population_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="bytes that are not a packed population"):
        unpack_population(packed)
