"""Which items of a wave are overlap, in which order its items are served, and the proof that nobody picked them.

Pure: ids, numbers and bytes in, the same out on any machine. `draws` makes seed and salt, and stores what is returned.

    population = [Candidate(item.uuid, stratum, item.content_hash), ...]
    available = Counter(candidate.stratum for candidate in population)
    counts = Plan(share_percent, history=history).counts(available)
    overlap = choose(population, seed, counts)
"""

import hashlib
import heapq
import hmac
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple
from uuid import UUID

# Signed 64-bit columns hold it on both databases, and it is never negative.
ORDER_KEY_BITS = 63

_PIECE = 10_000
_ORDER_DOMAIN = b"serving order\0"
_PANEL_DOMAIN = b"panel\0"
_COMMITMENT_DOMAIN = b"draw commitment 1\0"
_RECORD_DOMAIN = b"draw record 1\0"


class Candidate(NamedTuple):
    """An item of a wave's population. Without strata every item is in the stratum ""."""

    uuid: UUID
    stratum: str = ""
    content_hash: str = ""


class Tally(NamedTuple):
    """What came before this wave, in one stratum, with the same share under the same MAJOR."""

    released: int
    drawn: int


@dataclass(frozen=True)
class Plan:
    """How many a draw takes of each stratum: the shares, and what was released and drawn under them before.

    `own` has the share, in per cent, of each stratum that is over-sampled; `minimum` is how many of each stratum are
    drawn first, as far as the total goes. Committed to with seed and population, so that the counts can be replayed.
    """

    share_percent: Decimal
    minimum: int = 0
    own: Mapping[str, Decimal] = field(default_factory=dict)
    history: Mapping[str, Tally] = field(default_factory=dict)

    def size(self, available: Mapping[str, int]) -> int:
        """The overlap of a wave with so many items per stratum: what all shares come to so far, less what was drawn."""
        drawn = sum(tally.drawn for tally in self.history.values())
        if not self.own:
            released = sum(tally.released for tally in self.history.values()) + sum(available.values())
            due = overlap_size(self.share_percent, released, drawn)
        else:
            released_of = {name: tally.released for name, tally in self.history.items()}
            for name, items in available.items():
                released_of[name] = released_of.get(name, 0) + items
            target = sum((_share(self.share_of(name)) * n for name, n in released_of.items()), Fraction(0))
            due = max(0, math.floor(target + Fraction(1, 2)) - drawn)
        return min(due, sum(available.values()))

    def counts(self, available: Mapping[str, int]) -> dict[str, int]:
        """Stratum -> how many of its items are drawn."""
        return allocate(
            self.size(available), self.share_percent, available, self.history, own=self.own, minimum=self.minimum
        )

    def share_of(self, stratum: str) -> Decimal:
        return self.own.get(stratum, self.share_percent)

    def to_json(self) -> dict[str, Any]:
        return {
            "share_percent": f"{self.share_percent.normalize():f}",
            "minimum": self.minimum,
            "own": {name: f"{share.normalize():f}" for name, share in sorted(self.own.items())},
            "history": {name: list(tally) for name, tally in sorted(self.history.items())},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Plan":
        """ValueError, KeyError or TypeError where it is none."""
        return cls(
            share_percent=Decimal(data["share_percent"]),
            minimum=int(data["minimum"]),
            own={name: Decimal(share) for name, share in data["own"].items()},
            history={name: Tally(*map(int, tally)) for name, tally in data["history"].items()},
        )


def overlap_size(share_percent: Decimal | int, released_so_far: int, drawn_so_far: int) -> int:
    """How many items the wave's draw takes: round-half-up(share of all released so far) less those drawn, 0 at least.

    `released_so_far` includes the wave that is being opened. Rounding the running total, not each wave, makes ten
    waves of 4 items at 10 % give 4 overlap items, neither 0 nor 10.
    """
    if released_so_far < 0 or drawn_so_far < 0:
        raise ValueError(f"released {released_so_far} and drawn {drawn_so_far}: expected 0 or more of each.")
    target = math.floor(_share(share_percent) * released_so_far + Fraction(1, 2))
    return max(0, target - drawn_so_far)


def allocate(
    n: int,
    share_percent: Decimal | int,
    available: Mapping[str, int],
    history: Mapping[str, Tally] | None = None,
    *,
    own: Mapping[str, Decimal] | None = None,
    minimum: int = 0,
) -> dict[str, int]:
    """Split `n` draws among the strata of a wave, each to the stratum with the largest cumulative deficit.

    The deficit of a stratum is share x released - drawn, over all waves with this share and this one. `available`
    has the wave's items per stratum, `history` what came before it; strata that are not in the wave get nothing.
    Ties go by the name of the stratum. A stratum in `own` has that share in place of the common one. With a `minimum`
    strata that have less than that in this wave come first, those with the fewest before the others.

    As long as no stratum runs out of items inside a wave, a stratum ends between 1 above its share and
    1 + 1/2 + ... + 1/H - 1/(2H) below it for H strata, whatever the sequence of waves: within 3 up to 11 strata. (The
    mean deficit of any j strata exceeds that of some j + 1 by at most 1/(j + 1), since the last draw outside them
    went to one that was fullest; the sum of all lies within 1/2 by `overlap_size`.) Where a wave has items of few
    strata only, the exact total decides: two strata that take turns, five items a wave at 10 %, drift apart by one
    half each wave, and no rule with an exact total can prevent it. The deficit is kept and made good by later waves.

    References
    ----------
    Tijdeman 1980, "The chairman assignment problem", doi:10.1016/0012-365X(80)90269-1
    """
    if not 0 <= n <= sum(available.values()):
        raise ValueError(f"{n} draws from a wave of {sum(available.values())} items: expected 0 to that many.")
    shares = {stratum: _share((own or {}).get(stratum, share_percent)) for stratum in available}
    scale = math.lcm(*(share.denominator for share in shares.values()))
    counts = dict.fromkeys(sorted(available), 0)
    # Whole numbers of 1/scale: exact, and fast enough for waves of 200,000. The least is the largest deficit.
    queue = []
    for stratum, size in available.items():
        before = (history or {}).get(stratum, Tally(0, 0))
        deficit = int(shares[stratum] * scale) * (before.released + size) - scale * before.drawn
        if size:
            queue.append((0, -deficit, stratum))
    heapq.heapify(queue)
    for _ in range(n):
        _taken, negative_deficit, stratum = heapq.heappop(queue)
        counts[stratum] += 1
        if counts[stratum] < available[stratum]:
            heapq.heappush(queue, (min(counts[stratum], minimum), negative_deficit + scale, stratum))
    return counts


def choose(population: Iterable[Candidate], seed: bytes, counts: Mapping[str, int]) -> set[UUID]:
    """The overlap: of each stratum the `counts[stratum]` items of lowest rank. The order of `population` is irrelevant.

    A simple random sample without replacement inside each stratum, so an item's inclusion probability is
    counts[stratum] / items of that stratum.
    """
    by_stratum: dict[str, set[UUID]] = {stratum: set() for stratum in counts}
    for candidate in population:
        by_stratum.setdefault(candidate.stratum, set()).add(candidate.uuid)
    chosen: set[UUID] = set()
    for stratum, count in counts.items():
        if not 0 <= count <= len(by_stratum[stratum]):
            raise ValueError(f"{count} draws from {len(by_stratum[stratum])} items of stratum {stratum!r}.")
        chosen.update(heapq.nsmallest(count, by_stratum[stratum], key=lambda uuid: rank(seed, uuid)))
    return chosen


def rank(seed: bytes, uuid: UUID) -> bytes:
    """HMAC-SHA256(seed, the 16 bytes of the item's uuid): 32 bytes that sort like a random permutation of the items.

    HMAC is a pseudorandom function of the item for whoever does not know the seed, and the same on any machine for
    whoever does.

    References
    ----------
    RFC 2104, RFC 4231 (test vectors); RFC 4122 for the byte order of a uuid
    """
    return hmac.digest(seed, uuid.bytes, "sha256")


def order_key(seed: bytes, uuid: UUID) -> int:
    """The place of an item in the wave's random serving order: 0 to 2**63 - 1.

    Its HMAC message is another one than `rank`'s, so that the order in which items come tells nothing about which
    of them are overlap.
    """
    digest = hmac.digest(seed, _ORDER_DOMAIN + uuid.bytes, "sha256")
    return int.from_bytes(digest[:8]) >> (64 - ORDER_KEY_BITS)


def split_sizes(items: int, weights: Sequence[int]) -> list[int]:
    """How many items each panel gets: its share by weight, the rest of the rounding to the largest remainders."""
    if not weights or min(weights) < 1:
        raise ValueError(f"weights {list(weights)!r}: expected one or more, each 1 or more.")
    whole = sum(weights)
    sizes = [items * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda place: (-(items * weights[place] % whole), place))
    for place in by_remainder[: items - sum(sizes)]:
        sizes[place] += 1
    return sizes


def split(population: Iterable[Candidate], seed: bytes, weights: Sequence[int]) -> list[list[Candidate]]:
    """The items of each panel: all of them in the order of their HMAC, cut into pieces by weight.

    Its HMAC message is neither that of `rank` nor that of `order_key`: who is in which panel tells nothing of the rest.
    """
    ranked = sorted(population, key=lambda one: hmac.digest(seed, _PANEL_DOMAIN + one.uuid.bytes, "sha256"))
    ends = list(accumulate(split_sizes(len(ranked), weights)))
    return [ranked[start:end] for start, end in pairwise([0, *ends])]


def commitment(salt: bytes, seed: bytes, digest: bytes) -> str:
    """What others see of an open draw: a hash that fixes seed and population (by its digest) and reveals neither.

    SHA-256 over the three parts, each after its length, so that no other split of the same bytes gives the same hash.
    It hides as long as the salt does: 16 random bytes or more, shown when the draw closes.
    """
    parts = b"".join(len(part).to_bytes(8) + part for part in (salt, seed, digest))
    return hashlib.sha256(_COMMITMENT_DOMAIN + parts).hexdigest()


def verify(committed: str, salt: bytes, seed: bytes, digest: bytes) -> bool:
    """Whether seed and population are those that were committed to."""
    return hmac.compare_digest(committed.encode(), commitment(salt, seed, digest).encode())


def population_digest(population: Iterable[Candidate]) -> bytes:
    """SHA-256 of the population's canonical text (not of the packed bytes: two zlib builds may pack differently)."""
    digest = hashlib.sha256()
    for piece in _canonical(population):
        digest.update(piece)
    return digest.digest()


def record_digest(population: bytes, plan: Mapping[str, Any] | None) -> bytes:
    """What a draw commits to: the digest of its population, and of its plan; the former alone where there is no plan.

    Draws that were opened before plans were kept have committed to their population only.
    """
    if plan is None:
        return population
    text = json.dumps(plan, sort_keys=True, separators=(",", ":")).encode("ascii")
    return hashlib.sha256(_RECORD_DOMAIN + population + text).digest()


def pack_population(population: Iterable[Candidate]) -> bytes:
    """The population as it is stored with the draw: canonical text, compressed."""
    packer = zlib.compressobj()
    packed = [packer.compress(piece) for piece in _canonical(population)]
    return b"".join([*packed, packer.flush()])


def unpack_population(packed: bytes) -> list[Candidate]:
    """The population that was packed, sorted by uuid; ValueError if these bytes are none."""
    try:
        return [Candidate(UUID(uuid), stratum, digest) for uuid, stratum, digest in json.loads(zlib.decompress(packed))]
    except (zlib.error, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{len(packed)} bytes that are not a packed population: {error}.") from error


def _canonical(population: Iterable[Candidate]) -> Iterator[bytes]:
    """JSON, ASCII, sorted by uuid, without spaces: one population, one text. In pieces: of a million it is 110 MB."""
    ranked = sorted(population, key=lambda candidate: candidate.uuid.int)
    for one, other in pairwise(ranked):
        if one.uuid.int == other.uuid.int:
            raise ValueError(f"Item {one.uuid} is in the population twice.")
    yield b"["
    for start in range(0, len(ranked), _PIECE):
        rows = [(one.uuid.hex, one.stratum, one.content_hash) for one in ranked[start : start + _PIECE]]
        yield f"{',' if start else ''}{json.dumps(rows, separators=(',', ':'))[1:-1]}".encode("ascii")
    yield b"]"


def _share(share_percent: Decimal | int) -> Fraction:
    # A float would make 0.1 % of 500 items a matter of binary rounding.
    exact = isinstance(share_percent, int | Decimal) and Decimal(share_percent).is_finite()
    if not (exact and 0 <= share_percent <= 100):
        raise ValueError(f"A share of {share_percent!r} %: expected a whole number or a Decimal from 0 to 100.")
    return Fraction(share_percent) / 100
