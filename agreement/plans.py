"""A plan before labelling, in sentences and tables: what `planning` computes, for one project and its fresh items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import plan_words, planning, report, runs
from agreement.charts import number
from agreement.models import Run
from agreement.planning import SampleSize
from agreement.protocol import Protocol
from annotations.models import Draw
from projects.models import Project, Question
from projects.task_types import TASK_TYPES

HALF_WIDTHS = (0.05, 0.075, 0.1, 0.15, 0.2)
MOST_RATINGS = 5
# What is taken where nothing is measured yet; said to be a guess.
GUESS = 0.6
ONE_OF_A_SET = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class Wish:
    """What a plan is asked for: kappas as values, shares adding up to 1, power as a probability."""

    kappa: float
    shares: tuple[float, ...]
    half_width: float
    against: float
    power: float
    ratings: int


@dataclass(frozen=True)
class Answer:
    """How many items, in words; `refused` is why there is no answer. `share_percent` None where fresh items lack."""

    items: int | None
    sentences: list[str]
    refused: str = ""
    share_percent: float | None = None


@dataclass(frozen=True)
class Width:
    half_width: str
    items: int
    chosen: bool


@dataclass(frozen=True)
class Further:
    """What so many ratings per item buy: fewer items to tell two kappas apart, and a surer mean or majority label."""

    ratings: int
    items: int | None
    total: int | None
    reliability: str


@dataclass(frozen=True)
class Plan:
    width: Answer
    widths: list[Width]
    apart: Answer
    further: list[Further]
    further_sentence: str


def plan(wish: Wish, *, fresh: int) -> Plan:
    """Everything a planning page shows. What cannot be is refused with a sentence, and the rest is answered."""
    further = [_further(wish, ratings) for ratings in range(2, max(MOST_RATINGS, wish.ratings) + 1)]
    return Plan(
        width=_width(wish, fresh),
        widths=_widths(wish),
        apart=_apart(wish, fresh),
        further=further,
        further_sentence=_third(further),
    )


def _width(wish: Wish, fresh: int) -> Answer:
    said = _(
        "%(items)s items, rated by both of two raters: at kappa %(kappa)s the 95 %% interval then reaches %(half)s to "
        "each side."
    )
    about = {"kappa": number(wish.kappa), "half": number(wish.half_width, 3).rstrip("0")}
    return _answer(lambda: planning.for_width(wish.kappa, wish.half_width, wish.shares), said, about, fresh)


def _apart(wish: Wish, fresh: int) -> Answer:
    said = _(
        "%(items)s items with %(ratings)s ratings each: if kappa is %(kappa)s, it is then told apart from %(against)s "
        "in %(power)s of 100 cases, with an error of 5 %%."
    )
    about = {
        "ratings": wish.ratings,
        "kappa": number(wish.kappa),
        "against": number(wish.against),
        "power": f"{100 * wish.power:g}",
    }
    return _answer(lambda: _told_apart(wish, wish.ratings), said, about, fresh)


def _told_apart(wish: Wish, ratings: int) -> SampleSize:
    return planning.to_tell_apart(wish.against, wish.kappa, wish.shares, raters=ratings, power=wish.power)


def _answer(find: Callable[[], SampleSize], said: str, about: Mapping[str, object], fresh: int) -> Answer:
    try:
        size = find()
    except planning.Refused as refused:
        return Answer(None, [], refused=plan_words.refusal(refused))
    share, of_fresh = _of_fresh(size.items, fresh)
    rarest = _("About %(n)s of them carry the rarest label: rare labels, not items, decide what can be told.")
    sentences = [said % {**about, "items": size.items}, rarest % {"n": round(size.rarest)}, of_fresh]
    return Answer(size.items, sentences, share_percent=share)


def _of_fresh(items: int, fresh: int) -> tuple[float | None, str]:
    if fresh < items:
        missing = ngettext(
            "%(fresh)s item is fresh, %(missing)s too few: import more, or be content with less.",
            "%(fresh)s items are fresh, %(missing)s too few: import more, or be content with less.",
            fresh,
        )
        return None, missing % {"fresh": fresh, "missing": items - fresh}
    share = planning.share_percent(items, fresh)
    said = ngettext(
        "That is %(share)s %% of the %(fresh)s fresh item.",
        "That is %(share)s %% of the %(fresh)s fresh items.",
        fresh,
    )
    return share, said % {"share": f"{share:g}", "fresh": fresh}


def _widths(wish: Wish) -> list[Width]:
    found = []
    for half in sorted({*HALF_WIDTHS, wish.half_width}):
        try:
            items = planning.for_width(wish.kappa, half, wish.shares).items
        except planning.Refused:
            return []  # the sentence of the answer above says why
        found.append(Width(number(half, 3).rstrip("0"), items, chosen=half == wish.half_width))
    return found


def _further(wish: Wish, ratings: int) -> Further:
    reliability = number(planning.with_raters(wish.kappa, ratings))
    try:
        items = _told_apart(wish, ratings).items
    except planning.Refused:
        return Further(ratings, None, None, reliability)
    return Further(ratings, items, items * ratings, reliability)


def _third(rows: Sequence[Further]) -> str:
    two, three = rows[0], rows[1]
    if two.items is None or three.items is None or two.total is None or three.total is None:
        return ""
    about = {
        "two": two.items,
        "three": three.items,
        "saved": two.items - three.items,
        "more": abs(three.total - two.total),
    }
    if three.total > two.total:
        said = _(
            "A third rating brings the items from %(two)s to %(three)s, %(saved)s fewer, and costs %(more)s ratings "
            "more in all."
        )
    else:
        said = _(
            "A third rating brings the items from %(two)s to %(three)s, %(saved)s fewer, and saves %(more)s ratings "
            "in all."
        )
    return said % about


@dataclass(frozen=True)
class Start:
    """What a form begins with, and the sentence that says where it comes from."""

    values: dict[str, Any]
    sentence: str


def start(project: Project, question: Question, protocol: Protocol) -> Start:
    """Kappa and shares of the newest closed draw of a question, else a guess; never those of an open draw."""
    rule = protocol.questions[question.key]
    run = _newest(project, question)
    kappa = report.entry_of(run).get("value") if run else None
    labels = [label.key for label in question.labels.all()]
    shares = _shares(run, labels) if TASK_TYPES[question.task_type].level in ONE_OF_A_SET else [0.3, 0.7]
    kept = GUESS if kappa is None else round(min(max(float(kappa), 0.0), 0.99), 2)
    against = rule.threshold if rule.threshold is not None and 0 <= rule.threshold < 1 else max(kept - 0.2, 0.0)
    values = {
        "kappa": kept,
        "shares": ", ".join(f"{100 * share:.0f}" for share in shares),
        "half_width": 0.1,
        "against": round(against if against != kept else max(kept - 0.2, 0.0), 2),
        "power": 80,
        "ratings": protocol.ratings_per_item,
    }
    return Start(values, _where_from(run, question))


def _where_from(run: Run | None, question: Question) -> str:
    if run is None:
        return _("Nothing of this question is measured yet, so the form begins with guesses: change them.")
    about = {"title": _(run.result["headline"]["title"]), "wave": run.draw.wave, "question": question.text}
    return _("The form begins with what %(wave)s had: its %(title)s, and how often each label was used.") % about


def _newest(project: Project, question: Question) -> Run | None:
    rows = Draw.objects.closed().filter(wave__project=project).order_by("-wave__number")
    for draw in rows.select_related("wave").defer("population")[:5]:
        run = runs.newest(draw, question.key)
        if run is not None and not run.interim:
            run.draw = draw
            return run
    return None


def _shares(run: Run | None, labels: Sequence[str]) -> list[float]:
    """The shares of the labels that were used, in whole per cent adding up to 100; of all alike where none was."""
    used = dict.fromkeys(labels, 0.0)
    if run is not None and [label["key"] for label in run.result["labels"]] == list(labels):
        used = dict(zip(labels, (float(sum(column)) for column in zip(*run.result["uses"], strict=True)), strict=True))
    counts = [count for count in used.values() if count > 0] or [1.0] * max(len(labels), 2)
    return whole_percent([max(count, 1e-9) for count in counts])


def whole_percent(counts: Sequence[float]) -> list[float]:
    """Shares in hundredths that add up to 1, each at least one hundredth (largest remainders)."""
    total = sum(counts)
    exact = [100 * count / total for count in counts]
    found = [max(int(each), 1) for each in exact]
    order = sorted(range(len(exact)), key=lambda place: int(exact[place]) - exact[place])
    place = 0
    while sum(found) < 100:
        found[order[place % len(order)]] += 1
        place += 1
    while sum(found) > 100:
        found[found.index(max(found))] -= 1
    return [each / 100 for each in found]
