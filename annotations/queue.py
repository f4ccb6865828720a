"""The queue of conflicts, the worst first, with its filters. No filter, order or address of it could name a rater."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Max, Min, Q, Subquery
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import severity
from annotations.cases import Vocabulary, for_member, holder_of, of_project, rated_by, told_by, unheld
from annotations.enums import CaseState
from annotations.models import Case, CaseQuerySet, Draw
from annotations.severity import Frequencies
from projects.models import Item, Membership, Project

PAGE = 50
CONFUSIONS_SHOWN = 40
WORDS_SHOWN = 110
BESIDE_SHOWN = 8
# Conflicts of a pair stand together: what comes behind the pair decides among them alone.
ORDER = ("-severity", "pair_key", "question_key", "-priority", "pk")


@dataclass(frozen=True)
class Filters:
    """Which conflicts: each is a link, and none could name a rater. An empty stratum is one too; None is all.

    `own`: those on items that the viewer rated, which are left out otherwise.
    """

    state: CaseState = CaseState.OPEN
    question: str = ""
    pair: str = ""
    stratum: str | None = None
    draw: UUID | None = None
    own: bool = False

    @classmethod
    def read(cls, data: Mapping[str, str]) -> "Filters":
        """From an address. Http404 where it names what cannot be."""
        try:
            draw = UUID(data["draw"]) if data.get("draw") else None
            state = CaseState(data.get("state") or CaseState.OPEN)
        except ValueError as error:
            raise Http404(_("There is no such list of conflicts.")) from error
        texts = {name: data.get(name) for name in ("question", "pair", "stratum")}
        if any("\x00" in text for text in texts.values() if text):
            raise Http404(_("There is no such list of conflicts."))
        return cls(
            state, texts["question"] or "", texts["pair"] or "", texts["stratum"], draw, data.get("own") == "yes"
        )

    def query(self) -> str:
        """As the part of an address behind the question mark."""
        state = "" if self.state == CaseState.OPEN else self.state.value
        named = {"state": state, "question": self.question, "pair": self.pair, "draw": str(self.draw or "")}
        named["own"] = "yes" if self.own else ""
        chosen = {name: value for name, value in named.items() if value}
        return urlencode(chosen if self.stratum is None else chosen | {"stratum": self.stratum})

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out of its state."""
        return self != self.all

    @property
    def all(self) -> "Filters":
        """The same state without any other filter."""
        return Filters(self.state)

    def narrow(self, cases: CaseQuerySet) -> CaseQuerySet:
        wanted: dict[str, Any] = {"state": self.state}
        if self.question:
            wanted["question_key"] = self.question
        if self.pair:
            wanted["pair_key"] = self.pair
        if self.stratum is not None:
            wanted["stratum"] = self.stratum
        if self.draw is not None:
            wanted["draw__uuid"] = self.draw
        return cases.filter(**wanted)

    def takes(self, group: "_Group", *, but: str) -> bool:
        """Whether a group of cases passes every filter but one."""
        passes = {
            "state": group.state == self.state,
            "question": not self.question or group.question == self.question,
            "pair": not self.pair or group.pair == self.pair,
            "stratum": self.stratum is None or group.stratum == self.stratum,
            "draw": self.draw is None or group.draw == self.draw,
        }
        if but == "confusion":
            but = "pair"
            passes["question"] = True
        return all(passed for name, passed in passes.items() if name != but)


@dataclass(frozen=True)
class Choice:
    """One value of a filter, as a link with its count."""

    title: str
    count: int
    query: str
    current: bool


@dataclass(frozen=True)
class _Group:
    """Cases that no filter can tell apart."""

    state: str
    question: str
    pair: str
    stratum: str
    draw: UUID
    count: int
    worst: float
    sample: int


@dataclass(frozen=True)
class _Counted:
    """The groups of the viewer's list, what is left out of it, and how common each confusion is."""

    groups: list[_Group]
    own: int
    told: int
    frequencies: Frequencies


@dataclass(frozen=True)
class Row:
    """A conflict in the queue: its first words, what it is between, why it stands where it does, and who is on it."""

    case: Case
    words: str
    confusion: str
    question: str
    holder: Membership | None
    mine: bool
    reason: str = ""


@dataclass(frozen=True)
class Queue:
    """One page of the queue, the worst first, with its filters.

    `own`: left out because the viewer rated the item. `told`: left out because the viewer gave their opinion on them,
    and another lead's is waited for.
    """

    filters: Filters
    total: int
    own: int
    told: int
    rows: list[Row]
    more: str
    states: list[Choice]
    confusions: list[Choice]
    more_confusions: int
    strata: list[Choice]
    draws: list[Choice]
    several_questions: bool


def queue(member: Membership, filters: Filters, *, at: datetime, after: UUID | None = None) -> Queue:
    """The conflicts of the member's project that pass `filters`, from the one behind `after` on.

    The number of queries does not depend on how many there are.
    """
    counted = _count(member, filters)
    groups = counted.groups
    draws = _draws(member.project)
    words = Vocabulary(draw.wave.version_id for draw in draws.values())
    pairs = _pairs(groups, filters)
    current = (filters.question, filters.pair)
    told = {key: pairs[key] for n, key in enumerate(pairs) if n < CONFUSIONS_SHOWN or key == current}
    keys = _keys(member, filters, after)
    # The samples of the pairs come along with the page: one query for both.
    found = _with_items([*keys[:PAGE], *(pair[0].sample for pair in told.values())])
    shown = [found[key] for key in keys[:PAGE]]
    return Queue(
        filters=filters,
        total=sum(group.count for group in groups if filters.takes(group, but="")),
        own=counted.own,
        told=counted.told,
        rows=[_row(case, draws[case.draw_id], words, member, at, counted.frequencies) for case in shown],
        more=_more(filters, shown[-1]) if len(keys) > PAGE else "",
        states=_states(groups, filters),
        confusions=_confusions(told, filters, found, words, draws),
        more_confusions=max(0, len(pairs) - CONFUSIONS_SHOWN),
        strata=_strata(groups, filters),
        draws=_draw_choices(groups, filters, draws),
        several_questions=len({group.question for group in groups}) > 1,
    )


def following(member: Membership, filters: Filters, *, at: datetime, case: Case | None = None) -> Case | None:
    """The next conflict to decide: the first behind `case`, else the first of all, that no other lead holds."""
    waiting = unheld(replace(filters, state=CaseState.OPEN).narrow(for_member(member)), member, at=at)
    if case is None:
        return in_order(waiting).first()
    waiting = waiting.exclude(pk=case.pk)
    return in_order(waiting.filter(_behind(case))).first() or in_order(waiting).first()


def beside(member: Membership, filters: Filters, case: Case, *, at: datetime) -> list[Row]:
    """A few conflicts of the queue from `case` on, for the rail of its page; `case` itself is among them if open."""
    waiting = replace(filters, state=CaseState.OPEN).narrow(for_member(member))
    keys = list(in_order(waiting.filter(_behind(case))).values_list("pk", flat=True)[:BESIDE_SHOWN])
    found = _with_items([case.pk, *keys])
    rows = [found[key] for key in ([case.pk] if case.state == CaseState.OPEN else []) + keys]
    draws = _draws(member.project)
    words = Vocabulary(draw.wave.version_id for draw in draws.values())
    return [_row(one, draws[one.draw_id], words, member, at) for one in rows]


def in_order(cases: CaseQuerySet) -> CaseQuerySet:
    """The worst first: the gap, then how common the confusion is, then strata that were sampled more, then age."""
    return cases.order_by(*ORDER)


def _behind(case: Case) -> Q:
    """What comes after `case` in the order of the queue."""
    return _after([getattr(case, name.removeprefix("-")) for name in ORDER])


def _after(place: Iterable[Any]) -> Q:
    """What comes after a place in the order of the queue, which may be given by values or read on the way."""
    behind, same = Q(), Q()
    for order, value in zip(ORDER, place, strict=True):
        name = order.removeprefix("-")
        behind |= same & Q(**{f"{name}__{'gt' if name == order else 'lt'}": value})
        same &= Q(**{name: value})
    return behind


def page(member: Membership, filters: Filters, after: UUID | None) -> list[Case]:
    """The cases behind `after` with their items; one more than PAGE, so that it is known whether there are more."""
    keys = _keys(member, filters, after)
    found = _with_items(keys)
    return [found[key] for key in keys]


def _keys(member: Membership, filters: Filters, after: UUID | None) -> list[int]:
    """The keys of a page, and one more: thousands of rows are put in order without their texts."""
    cases = filters.narrow(of_project(member.project))
    last = of_project(member.project).filter(uuid=after) if after else Case.objects.none()
    if filters.state == CaseState.OPEN:
        mine = Q(rated_by(member)) if filters.own else ~Q(rated_by(member))
        cases = in_order(cases.filter(mine, ~told_by(member)))
        behind = _after(Subquery(last.values(name.removeprefix("-"))) for name in ORDER)
    elif filters.state == CaseState.WAITING:
        cases = in_order(cases)
        behind = _after(Subquery(last.values(name.removeprefix("-"))) for name in ORDER)
    else:
        cases = cases.order_by("-decided_at", "-pk")
        at, pk = (Subquery(last.values(name)) for name in ("decided_at", "pk"))
        behind = Q(decided_at__lt=at) | Q(decided_at=at, pk__lt=pk)
    if after is not None:
        cases = cases.filter(behind)
    return list(cases.values_list("pk", flat=True)[: PAGE + 1])


def _with_items(keys: Sequence[int]) -> dict[int, Case]:
    return Case.objects.select_related("item", "claimed_by__user").in_bulk(keys)


def _count(member: Membership, filters: Filters) -> _Counted:
    """All that the filters count; of the open ones those that are left out only by number."""
    rows = (
        of_project(member.project)
        .annotate(own=rated_by(member), told=told_by(member))
        .values_list("state", "question_key", "pair_key", "stratum", "draw__uuid", "own", "told")
        .annotate(Count("pk"), Max("severity"), Min("pk"))
        .order_by()
    )
    groups, own, told, counts = [], 0, 0, []
    for state, question, pair, stratum, draw, is_own, is_told, count, worst, sample in rows:
        group = _Group(state, question, pair, stratum, draw, count, worst, sample)
        counts.append(((question, pair), count))
        passing = count if filters.takes(group, but="state") else 0
        if state != CaseState.OPEN or (is_own == filters.own and not is_told):
            groups.append(group)
        elif is_told:
            told += passing
        if is_own and state == CaseState.OPEN:
            own += passing
    return _Counted(groups, own, told, Frequencies.of(counts))


def _draws(project: Project) -> dict[int, Draw]:
    """The draws of a project without the list of items that each was drawn from."""
    rows = Draw.objects.filter(wave__project=project).select_related("wave__version").defer("population")
    return {draw.pk: draw for draw in rows.order_by("wave__number")}


def _row(
    case: Case,
    draw: Draw,
    words: Vocabulary,
    member: Membership,
    at: datetime,
    frequencies: Frequencies | None = None,
) -> Row:
    holder = holder_of(case, at=at)
    question = words.question(draw.wave.version_id, case.question_key)
    return Row(
        case=case,
        words=first_words(case.item),
        confusion=" / ".join(words.pair(draw.wave.version_id, case, case.item.content)),
        question=question.text if question else case.question_key,
        holder=holder,
        mine=holder is not None and holder.pk == member.pk,
        reason=severity.reason(case, draw, words, frequencies) if frequencies else "",
    )


def first_words(item: Item, limit: int = WORDS_SHOWN) -> str:
    """The beginning of what is shown of an item, in one line."""
    line = " ".join(" ".join(str(value) for value in item.content.values()).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _more(filters: Filters, last: Case) -> str:
    query = filters.query()
    return f"{query}{'&' if query else ''}after={last.uuid}"


def _states(groups: Sequence[_Group], filters: Filters) -> list[Choice]:
    return [
        Choice(
            title=str(state.label),
            count=sum(g.count for g in groups if g.state == state and filters.takes(g, but="state")),
            query=replace(filters, state=state).query(),
            current=filters.state == state,
        )
        for state in CaseState
        # Where no rule asks for a third rating, nothing ever waits for one.
        if state != CaseState.WAITING or filters.state == state or any(g.state == state for g in groups)
    ]


def _pairs(groups: Sequence[_Group], filters: Filters) -> dict[tuple[str, str], list[_Group]]:
    """(question, unordered pair of labels) -> its groups; the worst first."""
    found: dict[tuple[str, str], list[_Group]] = {}
    for group in groups:
        if filters.takes(group, but="confusion"):
            found.setdefault((group.question, group.pair), []).append(group)
    keys = sorted(found, key=lambda key: (-max(g.worst for g in found[key]), -sum(g.count for g in found[key]), key))
    return {key: found[key] for key in keys}


def _confusions(
    pairs: Mapping[tuple[str, str], Sequence[_Group]],
    filters: Filters,
    samples: Mapping[int, Case],
    words: Vocabulary,
    draws: Mapping[int, Draw],
) -> list[Choice]:
    return [
        Choice(
            title=" / ".join(words.pair(draws[sample.draw_id].wave.version_id, sample)),
            count=sum(group.count for group in found),
            query=replace(filters, question=question, pair=pair).query(),
            current=(question, pair) == (filters.question, filters.pair),
        )
        for (question, pair), found in pairs.items()
        for sample in [samples[found[0].sample]]
    ]


def _strata(groups: Sequence[_Group], filters: Filters) -> list[Choice]:
    counts: dict[str, int] = {}
    for group in groups:
        if filters.takes(group, but="stratum"):
            counts[group.stratum] = counts.get(group.stratum, 0) + group.count
    if not any(counts) and filters.stratum is None:
        return []
    return [
        Choice(name or _("none given"), n, replace(filters, stratum=name).query(), filters.stratum == name)
        for name, n in sorted(counts.items())
    ]


def _draw_choices(groups: Sequence[_Group], filters: Filters, draws: Mapping[int, Draw]) -> list[Choice]:
    counts: dict[UUID, int] = {}
    for group in groups:
        if filters.takes(group, but="draw"):
            counts[group.draw] = counts.get(group.draw, 0) + group.count
    return [
        Choice(
            title=_("wave %(number)s, guideline %(version)s")
            % {"number": draw.wave.number, "version": draw.wave.version.number},
            count=counts[draw.uuid],
            query=replace(filters, draw=draw.uuid).query(),
            current=filters.draw == draw.uuid,
        )
        for draw in draws.values()
        if draw.uuid in counts
    ]
