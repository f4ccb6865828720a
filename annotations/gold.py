"""One final label for every item and question, and how it came about (DESIGN §5 "Gold").

Of the ways in `GoldStatus` the first that holds: superseded, open, consensus or adjudicated, median or majority,
corrected, agreed, within tolerance, partial, mapped, single, unlabelled. A superseded item and an undecided conflict
have no value: nobody's label is taken because it came first. The value is the measured rating for an overlap item, and
the newest revision for a single one; a single label that a later version maps is what that version says, or what
a lead has chosen for it (`old_labels`). Ratings given for a repeat or a bridge are never a final label.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotations.conflicts import canonical
from annotations.enums import CaseState, DrawState, GoldStatus, OldLabel, SlotKind, WaveKind, WaveState
from annotations.models import Annotation, Case, Draw, OldLabelChoice, Resolution, WaveItem
from projects import mapping
from projects.enums import Standing
from projects.models import GuidelineVersion, Item, Project, Question
from projects.task_types import TASK_TYPES, AnswerError, Json

CHUNK = 500
FIELDS = (
    "item",
    "item_id",
    "question",
    "value",
    "label",
    "status",
    "version",
    "wave",
    "ratings",
    "outdated",
    "mapped_from",
    "current",
    "imported",
    "superseded_by",
    "decided_by",
    "cause",
    "rationale",
    "content",
)


@dataclass(frozen=True)
class Gold:
    """The final label of one item on one question.

    ratings     : how many it rests on
    outdated    : the newest version no longer has the label
    mapped_from : the label that was given, where the value is what a later version says it is
    current     : what the label is in the newest version, whatever its status; nothing where it is nothing any more
    decision    : the resolution that it rests on, if a conflict was decided
    given_under : the version that the label was given under, also where a later one maps it
    """

    item: Item
    question_key: str
    status: GoldStatus
    value: Json = None
    label: str = ""
    version: str = ""
    wave: int | None = None
    ratings: int = 0
    outdated: bool = False
    mapped_from: Json = None
    current: Json = None
    imported: bool = False
    decision: Resolution | None = None
    given_under: str = ""

    def row(self) -> dict[str, Json]:
        """As a line of the export."""
        successor, decision = self.item.superseded_by, self.decision
        return {
            "item": str(self.item.uuid),
            "item_id": self.item.external_id,
            "question": self.question_key,
            "value": self.value,
            "label": self.label,
            "status": self.status.value,
            "version": self.version,
            "wave": self.wave,
            "ratings": self.ratings,
            "outdated": self.outdated,
            "mapped_from": self.mapped_from,
            "current": self.current,
            "imported": self.imported,
            "superseded_by": str(successor.uuid) if successor else None,
            "decided_by": decision.by.name if decision and decision.by else None,
            "cause": decision.cause if decision else None,
            "rationale": decision.rationale if decision else None,
            "content": self.item.content,
        }


def of_project(project: Project, *, without: QuerySet[Item] | None = None) -> Iterator[Gold]:
    """The gold of every item of `project`, in order of import, but for those in `without`.

    Read in chunks, with a fixed number of queries for each. A question of an older version is there for the items
    that were rated on it.
    """
    questions = _Questions(project)
    items = Item.objects.arrived().filter(project=project).select_related("superseded_by").order_by("pk")
    if without is not None:
        items = items.exclude(pk__in=without.values("pk"))
    last = 0
    while chunk := list(items.filter(pk__gt=last)[:CHUNK]):
        yield from _of_chunk(chunk, questions)
        last = chunk[-1].pk


def of_item(item: Item) -> list[Gold]:
    """The gold of one item, question by question."""
    return list(_of_chunk([item], _Questions(item.project)))


def of_items(items: Sequence[Item]) -> Iterator[Gold]:
    """The gold of some items of one project, in their order; a fixed number of queries."""
    return _of_chunk(items, _Questions(items[0].project)) if items else iter(())


def _of_chunk(items: Sequence[Item], questions: "_Questions") -> Iterator[Gold]:
    ratings = _ratings(items)
    cases = _cases(items)
    for item in items:
        given = ratings.get(item.pk, [])
        for key in questions.of([rating for rating in given if not _is_aside(rating)]):
            yield _Deciding(item, key, given, cases.get((item.pk, key)), questions).gold()


def _ratings(items: Sequence[Item]) -> dict[int, list[Annotation]]:
    """Item -> its annotations in the order in which they were given."""
    draws = Draw.objects.defer("population")  # megabytes for a large wave
    rows = (
        Annotation.objects.filter(item__in=items)
        .select_related("slot", "version")
        .prefetch_related(
            Prefetch("wave_item", WaveItem.objects.select_related("wave")), Prefetch("wave_item__draw", draws)
        )
        .order_by("pk")
    )
    found: dict[int, list[Annotation]] = {}
    for row in rows:
        # Of an import that still runs nothing is seen.
        if row.wave_item.wave.state != WaveState.IMPORTING:
            found.setdefault(row.item_id, []).append(row)
    return found


def _cases(items: Sequence[Item]) -> dict[tuple[int, str], Case]:
    standing = Prefetch(
        "resolutions", Resolution.objects.filter(standing=True).select_related("by__user"), to_attr="decisions"
    )
    rows = Case.objects.filter(item__in=items).select_related("wave_item__wave__version").prefetch_related(standing)
    return {(case.item_id, case.question_key): case for case in rows.order_by("pk")}


class _Questions:
    """Every question that a published version of the project asked, and the labels that the newest one has."""

    def __init__(self, project: Project) -> None:
        versions = list(project.versions.published().newest_first())
        self._oldest_first = versions[::-1]
        rows = Question.objects.filter(version__in=versions).prefetch_related("labels")
        self.newest = versions[0] if versions else None
        self._by_version: dict[int, dict[str, Question]] = {}
        for question in rows:
            self._by_version.setdefault(question.version_id, {})[question.key] = question
        self._newest = self._by_version.get(versions[0].pk, {}) if versions else {}
        self._chosen = _chosen(project)

    def of(self, ratings: Sequence[Annotation]) -> list[str]:
        """The keys of the newest version, then those of older ones that these ratings answer."""
        older = {key for rating in ratings for key in rating.answers if key not in self._newest}
        return [*self._newest, *sorted(older)]

    def asked(self, version: GuidelineVersion | int, key: str) -> Question | None:
        pk = version if isinstance(version, int) else version.pk
        return self._by_version.get(pk, {}).get(key)

    def now(self, key: str, value: Json, since: GuidelineVersion | None, *, single: bool = False) -> Json:
        """What a label that was given under `since` is in the newest version, by the mapping of each version after.

        Of an item's only rating, what a lead has chosen for its old label goes before that mapping.
        """
        if since is None or value is None:
            return value
        asked = self.asked(since, key)
        later = [one for one in self._oldest_first if _number(one) > _number(since)]
        names = [self._names(one, key, single=single) for one in later]
        if asked is None or not any(names):
            return value
        kind = TASK_TYPES[asked.task_type]
        now = mapping.renamed(value, kind, names)
        newest = self._newest.get(key)
        try:
            return kind.clean(now, _labels(newest)) if newest else now
        except AnswerError:
            return now  # it names a label that is retired without becoming another one

    def _names(self, version: GuidelineVersion, key: str, *, single: bool) -> dict[str, str]:
        names = mapping.names(version, key)
        if not single or version.minor:
            return names
        chosen = self._chosen.get((version.major or 0, key), {})
        return {old: new for old, new in (names | chosen).items() if new}

    def is_outdated(self, key: str, value: Json) -> bool:
        """Whether the newest version no longer has this answer: its question or a label of it is retired."""
        question = self._newest.get(key)
        if question is None:
            return True
        known = {label.key for label in question.labels.all()}
        return not known.issuperset(TASK_TYPES[question.task_type].named(value))


class _Deciding:
    """How the final label of one item on one question comes about."""

    def __init__(
        self, item: Item, key: str, ratings: Sequence[Annotation], case: Case | None, questions: _Questions
    ) -> None:
        self.item, self.key, self.case, self.questions = item, key, case, questions
        answered = [rating for rating in ratings if rating.latest.get(key) is not None and not _is_aside(rating)]
        checks = [rating for rating in answered if _kind(rating) == SlotKind.SPOTCHECK]
        others = [rating for rating in answered if _kind(rating) != SlotKind.SPOTCHECK]
        # Late ratings speak only where no other does; a spot check stands beside them all.
        governing = [rating for rating in others if rating.slot_id is not None] or others
        wave_item = governing[-1].wave_item_id if governing else None
        self.ratings = [rating for rating in governing if rating.wave_item_id == wave_item]
        # What was labelled again under a later MAJOR is no longer what was checked.
        self.checks = [check for check in checks if all(check.major >= rating.major for rating in self.ratings)]
        self.wave_item = governing[-1].wave_item if governing else None

    def gold(self) -> Gold:
        if self.item.standing == Standing.SUPERSEDED:
            return self._gold(GoldStatus.SUPERSEDED)
        if self.case is not None:
            return self._decided(self.case)
        if self.checks:
            corrected = self._corrected(self.checks[-1])
            if corrected is not None:
                return corrected
        if not self.ratings or self.wave_item is None:
            return self._gold(GoldStatus.UNLABELLED)
        if self.wave_item.draw_id is None:
            return self._single(self.ratings[-1])
        return self._overlap(self.wave_item.draw)

    def _single(self, rating: Annotation) -> Gold:
        """The only rating of an item, or what a later version says that its label is."""
        given = rating.latest.get(self.key)
        now = self.questions.now(self.key, given, rating.version, single=True)
        if now == given:
            return self._gold(GoldStatus.SINGLE, given, [rating])
        found = self._gold(GoldStatus.MAPPED, now, [rating], self.questions.newest)
        return replace(found, mapped_from=given, given_under=rating.version.number)

    def _decided(self, case: Case) -> Gold:
        decisions: list[Resolution] = case.decisions  # type: ignore[attr-defined]  # the prefetch of _cases
        if case.state == CaseState.OPEN or not decisions:
            return self._gold(GoldStatus.OPEN, ratings=self.ratings)
        decision, wave = decisions[0], case.wave_item.wave
        found = self._gold(GoldStatus(decision.kind), decision.value, self.ratings, wave.version, wave=wave.number)
        return replace(found, decision=decision)

    def _corrected(self, check: Annotation) -> Gold | None:
        """What a spot check changed; None where it said the same."""
        value = check.latest.get(self.key)
        if self.ratings and canonical(self.ratings[-1].latest.get(self.key)) == canonical(value):
            return None
        return self._gold(GoldStatus.CORRECTED, value, [check])

    def _overlap(self, draw: Draw | None) -> Gold:
        """Two or more measured ratings of a closed draw that are no conflict, or a measurement that is not complete."""
        measured = [r for r in self.ratings if r.slot_id is not None and r.answers.get(self.key) is not None]
        given = [rating.answers.get(self.key) for rating in measured or self.ratings]
        same = len({canonical(value) for value in given}) == 1
        if len(measured) < 2 or draw is None or draw.state != DrawState.CLOSED:
            return self._gold(GoldStatus.PARTIAL, given[0] if same else None, measured or self.ratings)
        if same:
            return self._gold(GoldStatus.AGREED, given[0], measured)
        return self._gold(GoldStatus.WITHIN_TOLERANCE, self._middle(given, measured[0].version), measured)

    def _middle(self, values: Sequence[Json], version: GuidelineVersion) -> Json:
        question = self.questions.asked(version, self.key)
        return TASK_TYPES[question.task_type].middle(values, _labels(question)) if question else None

    def _gold(
        self,
        status: GoldStatus,
        value: Json = None,
        ratings: Sequence[Annotation] = (),
        version: GuidelineVersion | None = None,
        wave: int | None = None,
    ) -> Gold:
        if version is None and ratings:
            version = max((r.version for r in ratings), key=lambda one: (one.major or 0, one.minor or 0))
        question = self.questions.asked(version, self.key) if version else None
        named = question is not None and value is not None
        if wave is None and ratings and self.wave_item is not None:
            wave = self.wave_item.wave.number
        now = self.questions.now(self.key, value, version, single=status == GoldStatus.SINGLE)
        return Gold(
            item=self.item,
            question_key=self.key,
            status=status,
            value=value,
            label=TASK_TYPES[question.task_type].describe(value, _labels(question), self.item.content)
            if named and question
            else "",
            version=version.number if version else "",
            wave=wave,
            ratings=len(ratings),
            outdated=value is not None and self.questions.is_outdated(self.key, value),
            current=None if self.questions.is_outdated(self.key, now) else now,
            given_under=version.number if version else "",
            imported=any(_kind(rating) == SlotKind.IMPORTED for rating in ratings),
        )


def _chosen(project: Project) -> dict[tuple[int, str], dict[str, str]]:
    """(MAJOR, question) -> old label -> what a lead chose that it is; empty where it is kept, or labelled again."""
    rows = OldLabelChoice.objects.filter(project=project, standing=True).exclude(choice=OldLabel.MAPPING)
    found: dict[tuple[int, str], dict[str, str]] = {}
    for row in rows:
        found.setdefault((row.major, row.question_key), {})[row.label_key] = row.becomes
    return found


def _number(version: GuidelineVersion) -> tuple[int, int]:
    return version.major or 0, version.minor or 0


def _kind(rating: Annotation) -> Any:
    if rating.wave_item.wave.kind == WaveKind.SPOTCHECK:
        return SlotKind.SPOTCHECK
    return rating.slot.kind if rating.slot else None


def _is_aside(rating: Annotation) -> bool:
    """Whether it was given for a repeat or a bridge: these say something of raters and guidelines, not of the item."""
    return rating.wave_item.wave.kind in (WaveKind.REPEAT, WaveKind.BRIDGE)


def _labels(question: Question) -> list[Any]:
    return list(question.labels.all())
