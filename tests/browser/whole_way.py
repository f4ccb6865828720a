"""What the whole way is walked with: a project with its guideline, ratings that were made elsewhere, the messages of a
fresh wave, what four people say of them, and the figures of both as plain Python has them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt

from tests import factories

RATERS = ("anna", "ben", "cara", "dan")
KEYS = ("complaint", "threat", "praise", "thanks")
C, T, P, D = KEYS
PASS_PERCENT = 100

# What four people said of twenty messages elsewhere: ten of them agree, ten do not.
ELSEWHERE = [
    *[(C, C, C, C)] * 5,
    (T, T, T, T),
    *[(C, C, C, T), (C, T, C, C), (T, C, C, C)],
    *[(C, C, T, T), (T, C, C, T)],
    *[(P, P, P, P)] * 3,
    *[(P, P, P, D), (P, D, P, P), (D, P, P, P)],
    (P, P, D, D),
    (D, D, D, D),
    (C, T, P, P),
]
# And what they say of twelve fresh ones, under the guideline that has no "thanks" any more.
AFTERWARDS = [*[(C, C, C, C)] * 5, (C, C, T, C), *[(T, T, T, T)] * 2, *[(P, P, P, P)] * 4]


def seed() -> None:
    """The project as it is before anything is known of agreement; prints its address."""
    project = factories.project("Messages to a shop")
    project.protocol |= {"practice_pass_percent": PASS_PERCENT, "window_submits": 0}
    project.save(update_fields=["protocol"])
    version = factories.version(project, questions=False)
    factories.question(version, labels=KEYS)
    factories.member(project, "lea", "lead")
    for name in RATERS:
        factories.member(project, name)
    print(f"/p/{project.uuid}/")


def text_of(number: int, *, fresh: bool = False) -> str:
    kind = "Note" if fresh else "Message"
    return f"{kind} {number}: the list of parcel {number} is not what it was, see what I wrote on day {number}"


def ratings_file() -> str:
    """A row for each rating, as another tool wrote it; the words for the labels are its own."""
    words = {C: "Complaint", T: "Threat", P: "Praise", D: "thank-you"}
    rows = [
        f"m-{number},{text_of(number)!r},{name},{words[label]}".replace("'", '"')
        for number, said in enumerate(ELSEWHERE)
        for name, label in zip(RATERS, said, strict=True)
    ]
    return "\n".join(["id,text,annotator,label", *rows]) + "\n"


def items_file() -> str:
    rows = [f'n-{number},"{text_of(number, fresh=True)}"' for number in range(len(AFTERWARDS))]
    return "\n".join(["id,text", *rows]) + "\n"


# -- the same figures, from the rows above alone -----------------------------------------------------------------------

Rows = Sequence[Sequence[str]]


def conflicts(rows: Rows) -> int:
    return sum(len(set(said)) > 1 for said in rows)


def merged(rows: Rows, old: str, new: str) -> Rows:
    return [[new if label == old else label for label in said] for said in rows]


def alpha(rows: Rows) -> float:
    """Krippendorff's, nominal: one minus the disagreement within items over that between any two ratings."""
    pairs = [pair for said in rows for pair in combinations(said, 2)]
    within = sum(one != other for one, other in pairs) / len(pairs)
    uses, n = Counter(label for said in rows for label in said), sum(map(len, rows))
    between = 1 - sum(count * (count - 1) for count in uses.values()) / (n * (n - 1))
    return 1 - within / between


def confused(rows: Rows, one: str, other: str) -> tuple[float, int, int]:
    """The sum over items of the share of an item's pairs that say `one` and `other`, the items that have both, all."""
    shares = [_share(said, {one, other}) for said in rows]
    return sum(shares), sum(share > 0 for share in shares), len(shares)


def _share(said: Iterable[str], wanted: set[str]) -> float:
    pairs = list(combinations(said, 2))
    return sum(set(pair) == wanted for pair in pairs) / len(pairs)


Z = 1.959963984540054


def wilson(hits: float, n: int) -> tuple[float, float]:
    share = hits / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return middle - half, middle + half


def newcombe(after: tuple[float, int], before: tuple[float, int]) -> tuple[float, float]:
    """Of the difference of two independent shares: from the two Wilson intervals."""
    p, q = after[0] / after[1], before[0] / before[1]
    (p_low, p_high), (q_low, q_high) = wilson(*after), wilson(*before)
    low = p - q - sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return low, high
