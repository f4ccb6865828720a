"""One final label for every item and question, and how it came about (DESIGN §5 "Gold").

Of the ways in `GoldStatus` the first that holds: superseded, open, consensus or adjudicated, median or majority,
corrected, agreed, within tolerance, partial, mapped, single, unlabelled. A superseded item and an undecided conflict
have no value: nobody's label is taken because it came first. The value is the measured rating for an overlap item, and
the newest revision for a single one; a single label that a later version maps is what that version says, or what
a lead has chosen for it (`old_labels`). Ratings given for a repeat or a bridge, and third ratings, are never a final
label by themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from django.db.models import FilteredRelation, Max, Q, QuerySet

from annotations.conflicts import canonical
from annotations.enums import CaseState, DrawState, GoldStatus, OldLabel, SlotKind, WaveKind, WaveState
from annotations.models import Annotation, Case, OldLabelChoice, Resolution
from projects import asked, bulk, mapping
from projects.asked import Asked
from projects.enums import Standing
from projects.models import GuidelineVersion, Item, Project
from projects.task_types import AnswerError, Json

CHUNK = 1_000
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
    "rule",
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
            "rule": decision.rule or None if decision else None,
            "cause": decision.cause or None if decision else None,
            "rationale": decision.rationale if decision else None,
            "content": self.item.content,
        }


def of_project(project: Project, *, without: QuerySet[Item] | None = None) -> Iterator[Gold]:
    """The gold of every item of `project`, in order of import, but for those in `without`.

    Read in chunks, with a fixed number of queries for each. A question of an older version is there for the items
    that were rated on it. Items that are imported after the start are left out.
    """
    newest = Item.objects.aggregate(newest=Max("pk"))["newest"] or 0
    questions = _Questions(project)
    items = Item.objects.arrived().filter(project=project, pk__lte=newest)
    items = items.select_related("superseded_by").order_by("pk")
    if without is not None:
        items = items.exclude(pk__in=without.values("pk"))
    items = items.only(*_COLUMNS, "superseded_by__uuid")
    last = 0
    while chunk := list(items.filter(pk__gt=last)[:CHUNK]):
        here = Q(item__gt=last, item__lte=chunk[-1].pk) & bulk.checked("wave_item__wave__project", project.pk)
        yield from _of_chunk(chunk, questions, here)
        last = chunk[-1].pk


def of_item(item: Item) -> list[Gold]:
    """The gold of one item, question by question."""
    return list(of_items([item]))


def of_items(items: Sequence[Item]) -> Iterator[Gold]:
    """The gold of some items of one project, in their order; a fixed number of queries."""
    return _of_chunk(items, _Questions(items[0].project_id), Q(item__in=items)) if items else iter(())


def _of_chunk(items: Sequence[Item], questions: "_Questions", here: Q) -> Iterator[Gold]:
    """The gold of `items`; `here` is what finds their ratings and cases."""
    ratings = _ratings(here)
    cases = _cases(here)
    questions.include({rating.version for given in ratings.values() for rating in given})
    questions.include({case.wave_item.wave.version_id for case in cases.values()})
    for item in items:
        given = ratings.get(item.pk, [])
        for key in questions.of(given):
            yield _Deciding(item, key, given, cases.get((item.pk, key)), questions).gold()


class _Rating(NamedTuple):
    """An annotation, as a tuple: a million objects of five models would cost more than all the rest."""

    item: int
    slot: int | None
    slot_kind: str | None
    version: int
    major: int
    wave_item: int
    draw: int | None
    draw_state: str | None
    wave: int
    wave_kind: str
    answers: dict[str, Json]
    latest: dict[str, Json]

    @property
    def kind(self) -> str | None:
        return SlotKind.SPOTCHECK if self.wave_kind == WaveKind.SPOTCHECK else self.slot_kind

    @property
    def is_aside(self) -> bool:
        """Whether it was given for a repeat or a bridge: that says something of raters and guidelines, not of the
        item."""
        return self.wave_kind in _ASIDE


_ASIDE = frozenset((WaveKind.REPEAT, WaveKind.BRIDGE, WaveKind.TIEBREAK))
_RATED = (
    *("item", "slot", "slot__kind", "version", "major", "wave_item", "wave_item__draw", "wave_item__draw__state"),
    *("wave_item__wave__number", "wave_item__wave__kind", "answers", "latest"),
)
_COLUMNS = ("uuid", "project", "external_id", "content", "standing", "superseded_by")


def _ratings(here: Q) -> dict[int, list[_Rating]]:
    """Item -> its annotations in the order in which they were given."""
    # Of an import that still runs nothing is seen.
    rows = Annotation.objects.filter(here).exclude(wave_item__wave__state=WaveState.IMPORTING)
    found: dict[int, list[_Rating]] = {}
    for row in map(_Rating._make, rows.order_by("pk").values_list(*_RATED)):
        found.setdefault(row.item, []).append(row)
    return found


def _cases(here: Q) -> dict[tuple[int, str], Case]:
    """(item, question) -> its case, with the resolution that stands as `decision`."""
    standing = FilteredRelation("resolutions", condition=Q(resolutions__standing=True))
    rows = Case.objects.filter(here).annotate(decision=standing)
    rows = rows.select_related("wave_item__wave", "decision__by__user")  # type: ignore[misc]  # named one line above
    return {(case.item_id, case.question_key): case for case in rows.order_by("pk")}


class _Questions:
    """Every question that a published version of the project asked, and the labels that the newest one has."""

    def __init__(self, project: Project | int) -> None:
        self._project = project
        self._read()

    def include(self, versions: set[int]) -> None:
        """Read them anew where one of `versions` is not there: it was published since, while the file was made."""
        if not versions <= self.versions.keys():
            self._read()
            self.__dict__.pop("_chosen", None)  # the leads' choices belong to a version

    def _read(self) -> None:
        rows = GuidelineVersion.objects.published().filter(project=self._project)
        versions = list(rows.newest_first().defer("text"))
        self.versions = {version.pk: version for version in versions}
        self._oldest_first = versions[::-1]
        self.newest = versions[0] if versions else None
        self._by_version = asked.of(self.versions)
        self._newest = self._by_version.get(versions[0].pk, {}) if versions else {}
        self._steps: dict[tuple[int, str, bool], list[dict[str, str]]] = {}

    def of(self, ratings: Sequence[_Rating]) -> list[str]:
        """The keys of the newest version, then those of older ones that these ratings answer."""
        older = {key for one in ratings if not one.is_aside for key in one.answers if key not in self._newest}
        return [*self._newest, *sorted(older)]

    def asked(self, version: int, key: str) -> Asked | None:
        return self._by_version.get(version, {}).get(key)

    def now(self, key: str, value: Json, since: GuidelineVersion | None, *, single: bool = False) -> Json:
        """What a label that was given under `since` is in the newest version, by the mapping of each version after.

        Of an item's only rating, what a lead has chosen for its old label goes before that mapping.
        """
        if since is None or value is None:
            return value
        question, names = self.asked(since.pk, key), self._after(since, key, single=single)
        if question is None or not names:
            return value
        now = mapping.renamed(value, question.kind, names)
        newest = self._newest.get(key)
        try:
            return question.kind.clean(now, newest.labels) if newest else now
        except AnswerError:
            return now  # it names a label that is retired without becoming another one

    def _after(self, since: GuidelineVersion, key: str, *, single: bool) -> list[dict[str, str]]:
        """What each version after `since` calls the labels of a question; empty where nothing is renamed."""
        known = self._steps.get((since.pk, key, single))
        if known is None:
            later = [one for one in self._oldest_first if _number(one) > _number(since)]
            names = [self._names(one, key, single=single) for one in later]
            known = self._steps[since.pk, key, single] = names if any(names) else []
        return known

    @cached_property
    def _chosen(self) -> dict[tuple[int, str], dict[str, str]]:
        """Asked for only where an item's only rating is of an older version."""
        return _chosen(self._project)

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
        return not question.keys.issuperset(question.kind.named(value))


class _Deciding:
    """How the final label of one item on one question comes about."""

    def __init__(
        self, item: Item, key: str, ratings: Sequence[_Rating], case: Case | None, questions: _Questions
    ) -> None:
        self.item, self.key, self.case, self.questions = item, key, case, questions
        answered = [rating for rating in ratings if rating.latest.get(key) is not None and not rating.is_aside]
        checks = [rating for rating in answered if rating.kind == SlotKind.SPOTCHECK]
        others = [rating for rating in answered if rating.kind != SlotKind.SPOTCHECK] if checks else answered
        # Late ratings speak only where no other does; a spot check stands beside them all.
        governing = [rating for rating in others if rating.slot is not None] or others
        self.newest = governing[-1] if governing else None
        self.ratings = [one for one in governing if self.newest and one.wave_item == self.newest.wave_item]
        # What was labelled again under a later MAJOR is no longer what was checked.
        self.checks = [check for check in checks if all(check.major >= rating.major for rating in self.ratings)]

    def gold(self) -> Gold:
        if self.item.standing == Standing.SUPERSEDED:
            return self._gold(GoldStatus.SUPERSEDED)
        if self.case is not None:
            return self._decided(self.case)
        if self.checks:
            corrected = self._corrected(self.checks[-1])
            if corrected is not None:
                return corrected
        if self.newest is None:
            return self._gold(GoldStatus.UNLABELLED)
        if self.newest.draw is None:
            return self._single(self.ratings[-1])
        return self._overlap(self.newest.draw_state)

    def _single(self, rating: _Rating) -> Gold:
        """The only rating of an item, or what a later version says that its label is."""
        given, version = rating.latest.get(self.key), self.questions.versions[rating.version]
        now = self.questions.now(self.key, given, version, single=True)
        if now == given:
            return self._gold(GoldStatus.SINGLE, given, [rating])
        found = self._gold(GoldStatus.MAPPED, now, [rating], self.questions.newest)
        return replace(found, mapped_from=given, given_under=version.number)

    def _decided(self, case: Case) -> Gold:
        decision: Resolution | None = getattr(case, "decision", None)  # the join of _cases
        if case.state != CaseState.DECIDED or decision is None:
            return self._gold(GoldStatus.OPEN, ratings=self.ratings)
        wave = case.wave_item.wave
        version = self.questions.versions[wave.version_id]
        found = self._gold(GoldStatus(decision.kind), decision.value, self.ratings, version, wave=wave.number)
        # A rule counts ratings, a third one among them; a person's decision stands beside those that were measured.
        rests_on = sum(n for _value, n in decision.tally) if decision.rule else found.ratings
        return replace(found, decision=decision, ratings=rests_on)

    def _corrected(self, check: _Rating) -> Gold | None:
        """What a spot check changed; None where it said the same."""
        value = check.latest.get(self.key)
        if self.ratings and canonical(self.ratings[-1].latest.get(self.key)) == canonical(value):
            return None
        return self._gold(GoldStatus.CORRECTED, value, [check])

    def _overlap(self, draw_state: str | None) -> Gold:
        """Two or more measured ratings of a closed draw that are no conflict, or a measurement that is not complete."""
        measured = [r for r in self.ratings if r.slot is not None and r.answers.get(self.key) is not None]
        given = [rating.answers.get(self.key) for rating in measured or self.ratings]
        same = len({canonical(value) for value in given}) == 1
        if len(measured) < 2 or draw_state != DrawState.CLOSED:
            return self._gold(GoldStatus.PARTIAL, given[0] if same else None, measured or self.ratings)
        if same:
            return self._gold(GoldStatus.AGREED, given[0], measured)
        return self._gold(GoldStatus.WITHIN_TOLERANCE, self._middle(given, measured[0].version), measured)

    def _middle(self, values: Sequence[Json], version: int) -> Json:
        question = self.questions.asked(version, self.key)
        return question.kind.middle(values, question.labels) if question else None

    def _gold(
        self,
        status: GoldStatus,
        value: Json = None,
        ratings: Sequence[_Rating] = (),
        version: GuidelineVersion | None = None,
        wave: int | None = None,
    ) -> Gold:
        if version is None and ratings:
            version = max((self.questions.versions[rating.version] for rating in ratings), key=_number)
        question = self.questions.asked(version.pk, self.key) if version else None
        number = version.number if version else ""
        if wave is None and ratings and self.newest is not None:
            wave = self.newest.wave
        now = self.questions.now(self.key, value, version, single=status == GoldStatus.SINGLE)
        return Gold(
            item=self.item,
            question_key=self.key,
            status=status,
            value=value,
            label=question.kind.describe(value, question.labels, self.item.content)
            if question is not None and value is not None
            else "",
            version=number,
            wave=wave,
            ratings=len(ratings),
            outdated=value is not None and self.questions.is_outdated(self.key, value),
            current=None if self.questions.is_outdated(self.key, now) else now,
            given_under=number,
            imported=any(rating.kind == SlotKind.IMPORTED for rating in ratings),
        )


def _chosen(project: Project | int) -> dict[tuple[int, str], dict[str, str]]:
    """(MAJOR, question) -> old label -> what a lead chose that it is; empty where it is kept, or labelled again."""
    rows = OldLabelChoice.objects.filter(project=project, standing=True).exclude(choice=OldLabel.MAPPING)
    found: dict[tuple[int, str], dict[str, str]] = {}
    for row in rows:
        found.setdefault((row.major, row.question_key), {})[row.label_key] = row.becomes
    return found


def _number(version: GuidelineVersion) -> tuple[int, int]:
    return version.major or 0, version.minor or 0
