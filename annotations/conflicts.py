"""Finding the conflicts of a draw that has just closed (DESIGN §1 "conflict", §5 "Queue")."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, groupby, islice
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from annotations.models import Annotation, Case, CaseQuerySet, Draw
from annotations.strata import own_shares
from projects.models import Label
from projects.task_types import TASK_TYPES, Json

CHUNK = 1_000
GAP_DECIMALS = 4  # of the gap in `severity`; what comes behind them is how common the confusion is
LONGEST_KEY = 64  # of one value in a pair key: the longest label key is shorter


@dataclass(frozen=True, slots=True)
class Rating:
    """A measured rating of an overlap item: the part of it that conflicts are found by."""

    annotation: int
    wave_item: int
    item: int
    item_uuid: UUID
    stratum: str
    answers: dict[str, Json]


@transaction.atomic
def open_cases(draw: Draw, *, at: datetime) -> int:
    """Open a case for every conflict of a closed draw; returns how many are new. May be repeated.

    A conflict is an overlap item whose measured ratings differ on a question by more than the protocol's
    `conflict_gap`. Memory does not grow with the number of items.
    """
    before = Case.objects.filter(draw=draw).count()
    rules = [_Rule(draw, key, task_type) for key, task_type in _questions(draw)]
    found = (case for ratings in _by_item(draw) for rule in rules if (case := rule.case(ratings, at)) is not None)
    while chunk := list(islice(found, CHUNK)):
        Case.objects.bulk_create(chunk, ignore_conflicts=True)
    _weigh(draw)
    return Case.objects.filter(draw=draw).count() - before


def canonical(value: Json) -> str:
    """A value as a short string, the same for the same value: a label's key stands for itself."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    if len(text) <= LONGEST_KEY:
        return text
    return f"{text[:40]}…{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def pair_key(a: Json, b: Json) -> str:
    """The unordered pair of two values."""
    return "|".join(sorted((canonical(a), canonical(b))))


def gap_function(task_type: str, labels: Sequence[Label]) -> Callable[[Json, Json], float]:
    """The gap of two values of a question; each pair of values is worked out once."""
    known: dict[tuple[str, str], float] = {}

    def gap(a: Json, b: Json) -> float:
        key = canonical(a), canonical(b)
        if key not in known:
            known[key] = TASK_TYPES[task_type].gap(a, b, labels)
        return known[key]

    return gap


class _Rule:
    """What a conflict is on one question of a draw, by its protocol."""

    def __init__(self, draw: Draw, question_key: str, task_type: str) -> None:
        labels = Label.objects.filter(question__version=draw.wave.version_id, question__key=question_key)
        settings = draw.protocol.get("questions", {}).get(question_key, {})
        self.draw = draw
        self.question_key = question_key
        self.gap = gap_function(task_type, list(labels))
        tolerated = settings.get("conflict_gap")
        self.tolerated = TASK_TYPES[task_type].tolerated if tolerated is None else float(tolerated)
        self.seed = bytes(draw.seed)

    def case(self, ratings: Sequence[Rating], at: datetime) -> Case | None:
        """The conflict of one item's ratings, if they are one."""
        pair = self._most_distant(ratings)
        if pair is None:
            return None
        gap, first, second = pair
        a, b = self._shown_order(first, second)
        return Case(
            draw=self.draw,
            wave_item_id=a.wave_item,
            item_id=a.item,
            question_key=self.question_key,
            first_id=a.annotation,
            second_id=b.annotation,
            first_value=a.answers[self.question_key],
            second_value=b.answers[self.question_key],
            pair_key=pair_key(a.answers[self.question_key], b.answers[self.question_key]),
            gap=gap,
            severity=gap,
            stratum=a.stratum,
            opened_at=at,
        )

    def _most_distant(self, ratings: Sequence[Rating]) -> tuple[float, Rating, Rating] | None:
        """The two ratings that are farthest apart, of several such pairs the one that was given first."""
        earliest: dict[str, Rating] = {}
        for rating in ratings:  # in order of annotation
            value = rating.answers.get(self.question_key)
            if value is not None:
                earliest.setdefault(canonical(value), rating)
        pairs = [
            (self.gap(a.answers[self.question_key], b.answers[self.question_key]), a, b)
            for a, b in combinations(earliest.values(), 2)
        ]
        apart = [pair for pair in pairs if pair[0] > self.tolerated]
        return max(apart, key=lambda pair: (pair[0], -pair[1].annotation, -pair[2].annotation), default=None)

    def _shown_order(self, a: Rating, b: Rating) -> tuple[Rating, Rating]:
        """By lot, and from the values alone: whoever knows the seed still learns nothing about who said what."""
        a, b = sorted((a, b), key=lambda rating: canonical(rating.answers[self.question_key]))
        lot = hmac.digest(self.seed, f"case/{a.item_uuid}/{self.question_key}".encode(), "sha256")
        return (a, b) if lot[0] & 1 else (b, a)


def _questions(draw: Draw) -> Iterable[tuple[str, str]]:
    return list(draw.wave.version.questions.values_list("key", "task_type"))


def _by_item(draw: Draw) -> Iterator[list[Rating]]:
    """The measured ratings of `draw`, item by item, each item's in order of annotation."""
    rows: Any = (
        Annotation.objects.filter(draw=draw, slot__isnull=False)
        .order_by("wave_item_id", "pk")
        .values_list("pk", "wave_item_id", "item_id", "item__uuid", "wave_item__stratum", "answers")
    )
    ratings = (Rating(*row) for row in rows.iterator(chunk_size=CHUNK))
    for _wave_item, group in groupby(ratings, key=attrgetter("wave_item")):
        yield list(group)


def _weigh(draw: Draw) -> None:
    """Severity: the gap first, then how common the confusion is among the project's conflicts, decided ones too.

    Of every wave alike, so that in the queue the conflicts of one pair stand together whatever wave they are of. Those
    that are decided stay as they are, until one is reopened.
    """
    every = _of_project(draw.wave.project_id)
    _lock(every.undecided(), draw)
    Case.objects.undecided().filter(draw=draw).update(severity=F("gap") + common(1))
    pairs = every.order_by().values_list("question_key", "pair_key")
    counted = pairs.annotate(n=Count("pk"), here=Count("pk", filter=Q(draw=draw))).filter(n__gt=1, here__gt=0)
    for question, pair, n, _here in list(counted):
        alike = every.undecided().filter(question_key=question, pair_key=pair)
        alike.update(severity=F("gap") + common(n))
    _prefer(draw)


def _of_project(project: int) -> CaseQuerySet:
    return Case.objects.filter(draw__in=Draw.objects.filter(wave__project=project))


def _lock(rows: CaseQuerySet, draw: Draw) -> None:
    """Lock those of `rows` that are of a pair of `draw`, in the order in which all who lock several cases do."""
    if not connection.features.has_select_for_update:
        return  # SQLite has one writer at a time
    same = Case.objects.filter(draw=draw, question_key=OuterRef("question_key"), pair_key=OuterRef("pair_key"))
    locked = rows.filter(Exists(same)).order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True)
    for _pk in locked.iterator(chunk_size=CHUNK):
        pass


def severity_of(case: Case) -> float:
    """What the severity of `case` is today, among the conflicts that were found since it was decided."""
    alike = _of_project(case.draw.wave.project_id).filter(question_key=case.question_key, pair_key=case.pair_key)
    return case.gap + common(alike.count())


def common(n: int) -> float:
    """What a confusion that was found `n` times adds to the gap: more for more, and less than any step of a scale."""
    return float(10.0**-GAP_DECIMALS * n / (n + 1))


def _prefer(draw: Draw) -> None:
    """Strata that a lead had sampled more than the rest come first among conflicts of the same pair."""
    enriched, shares = draw.protocol.get("enriched") or {}, {}
    if enriched:
        shares = {stratum: float(share) for stratum, share in own_shares(draw.protocol).items()}
    for stratum, share in shares.items():
        usual = float(draw.protocol["share_percent"])
        Case.objects.filter(draw=draw, stratum=stratum).update(priority=max(0.0, share - usual))
