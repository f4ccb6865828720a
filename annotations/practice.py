"""Practice on the new examples of a MAJOR, with the reason shown at once, where a project asks for a pass mark.

A round is every new example once, in an order of its own; the share that was right decides. Below the mark another
round begins. Nothing of it is a rating: it is no part of any figure.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotations.models import Practice
from projects import guidelines
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Example, GuidelineVersion, Membership, Project, Question
from projects.task_types import TASK_TYPES, AnswerError, Json

COMPARED = ("question_key", "content_hash", "value", "confused_with", "rationale")


@dataclass(frozen=True)
class State:
    """How far a member is. `left`: the examples of this round that are not answered yet, in its order."""

    version: GuidelineVersion
    percent: int
    round: int
    total: int
    left: tuple[Example, ...]
    right: int

    @property
    def answered(self) -> int:
        return self.total - len(self.left)


@dataclass(frozen=True)
class Standing:
    """What a lead sees of a member's practice. `first`: how many were right in the first round, once it is done."""

    member: Membership
    passed: bool
    rounds: int
    first: int | None
    total: int


def pass_percent(project: Project) -> int:
    """The pass mark; 0 where the project asks for no practice."""
    return int(project.protocol.get("practice_pass_percent") or 0)


def owed(member: Membership, newest: GuidelineVersion) -> bool:
    """Whether `member` has to practise before the next item. No query where the project asks for none."""
    return pass_percent(member.project) > 0 and state(member, newest) is not None


def state(member: Membership, newest: GuidelineVersion) -> State | None:
    """Where `member` stands in the practice of the MAJOR of `newest`; None where it is passed or nothing is new."""
    percent, version = pass_percent(member.project), first_of(newest)
    examples = new_examples(version) if percent else ()
    if not examples:
        return None
    rounds = _rounds(Practice.objects.filter(member=member, version=version))
    if any(_passes(answers, examples, percent) for answers in rounds.values()):
        return None
    now = max(rounds, default=1)
    if now in rounds and _is_done(rounds[now], examples):
        now += 1
    answers = rounds.get(now, {})
    left = [example for example in _shuffled(examples, member, now) if example.lineage not in answers]
    return State(version, percent, now, len(examples), tuple(left), sum(answers.values()))


def first_of(version: GuidelineVersion) -> GuidelineVersion:
    """The first version of the MAJOR: editorial changes bring no example."""
    if version.minor == 0:
        return version
    rows = version.project.versions.published().select_related("based_on", "project")
    return rows.get(major=version.major, minor=0)


def new_examples(version: GuidelineVersion) -> tuple[Example, ...]:
    """The examples that a published version brought or changed, and that one label answers.

    What is published never changes: it is asked before every item, and read once.
    """
    return _known(version.uuid, version.digest) if version.digest else _new_examples(version)


@lru_cache(maxsize=64)
def _known(uuid: UUID, digest: str) -> tuple[Example, ...]:
    return _new_examples(GuidelineVersion.objects.select_related("based_on").get(uuid=uuid, digest=digest))


def _new_examples(version: GuidelineVersion) -> tuple[Example, ...]:
    old = {row.lineage: row for row in version.based_on.examples.all()} if version.based_on else {}
    kinds = {question.key: TASK_TYPES[question.task_type] for question in version.questions.all()}
    return tuple(
        row
        for row in version.examples.all()
        if row.question_key in kinds
        and kinds[row.question_key].named(row.value) == [row.value]
        and not _same(row, old.get(row.lineage))
    )


@transaction.atomic
def answer(member: Membership, lineage: UUID, value: Json, *, at: datetime) -> Practice:
    """Answer the example `lineage` of the current round. Sent twice it is one answer, the first.

    Raises NotAllowed where there is nothing to practise, Invalid for what the question does not allow.
    """
    newest = guidelines.newest(member.project)
    now = state(member, newest) if newest else None
    if newest is None or now is None:
        raise NotAllowed(_("There is nothing for you to practise now."))
    example = next((row for row in now.left if row.lineage == lineage), None)
    if example is None:
        return _answered(member, now, lineage)
    given = _clean(now.version, example, value)
    try:
        with transaction.atomic():
            return Practice.objects.create(
                member=member,
                version=now.version,
                round=now.round,
                lineage=lineage,
                answer=given,
                right=given == example.value,
                at=at,
            )
    except IntegrityError:
        return _answered(member, now, lineage)


def last_answer(member: Membership, version: GuidelineVersion, lineage: UUID) -> Practice | None:
    """What `member` answered last to an example."""
    rows = Practice.objects.filter(member=member, version=version, lineage=lineage)
    return rows.order_by("-round").first()


def standings(version: GuidelineVersion, members: Sequence[Membership]) -> dict[int, Standing]:
    """Member -> how their practice for the MAJOR of `version` went; empty where the project asks for none."""
    percent, first = pass_percent(version.project), first_of(version)
    examples = new_examples(first) if percent else ()
    if not examples:
        return {}
    rows: dict[int, list[Practice]] = {}
    for row in Practice.objects.filter(version=first, member__in=members):
        rows.setdefault(row.member_id, []).append(row)
    found = {}
    for member in members:
        rounds = _rounds(rows.get(member.pk, []))
        done = {number: answers for number, answers in rounds.items() if _is_done(answers, examples)}
        found[member.pk] = Standing(
            member=member,
            passed=any(_passes(answers, examples, percent) for answers in done.values()),
            rounds=len(done),
            first=sum(done[1].values()) if 1 in done else None,
            total=len(examples),
        )
    return found


Answers = dict[UUID, bool]


def _rounds(rows: Iterable[Practice]) -> dict[int, Answers]:
    found: dict[int, Answers] = {}
    for row in rows:
        found.setdefault(row.round, {})[row.lineage] = row.right
    return found


def _is_done(answers: Answers, examples: Sequence[Example]) -> bool:
    return all(example.lineage in answers for example in examples)


def _passes(answers: Answers, examples: Sequence[Example], percent: int) -> bool:
    return _is_done(answers, examples) and 100 * sum(answers.values()) >= percent * len(examples)


def _shuffled(examples: Sequence[Example], member: Membership, number: int) -> list[Example]:
    """An order of its own for every member and round, the same after a reload."""
    rows = sorted(examples, key=lambda row: str(row.lineage))
    random.Random(f"{member.uuid}/{number}").shuffle(rows)
    return rows


def _same(row: Example, old: Example | None) -> bool:
    return old is not None and all(getattr(row, name) == getattr(old, name) for name in COMPARED)


def _clean(version: GuidelineVersion, example: Example, value: Json) -> Json:
    question = Question.objects.filter(version=version, key=example.question_key).prefetch_related("labels").get()
    try:
        return TASK_TYPES[question.task_type].clean(value, list(question.labels.all()))
    except AnswerError as error:
        raise Invalid(_("Choose a label.")) from error


def _answered(member: Membership, now: State, lineage: UUID) -> Practice:
    row = last_answer(member, now.version, lineage)
    if row is None:
        raise DomainError(_("This example is not part of your practice round."), code="not_in_round", status=404)
    return row
