"""What the decisions of a wave say, with its figures beside them: causes, the rule to write first, who differs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef
from django.utils.translation import gettext as _

from agreement import label_figures, matrices, people, rater_rows, report, runs, settling
from agreement.charts import number
from agreement.coefficients.coefficient import Coefficient
from agreement.matrices import Matrix
from agreement.models import Run
from agreement.protocol import Protocol
from annotations import adjudication_report
from annotations.adjudication_report import Beside, Confusion, Report
from annotations.conflicts import pair_key
from annotations.models import Draw, Resolution
from projects.models import Membership, Project, Question
from projects.task_types import Json

SHOWN = 8  # rules that are worth a line
GAIN_DIGITS = 3  # a small difference of two rounded figures would seem to contradict them
NAMED = 3  # pairs of a person that are named one by one


@dataclass(frozen=True)
class Rule:
    """A rule that could be written: what it would settle, and what the coefficient would be then.

    `lacking`: of its decided conflicts, how many the guideline left open.
    """

    names: list[str]
    query_pair: str
    items: int
    decided: int
    lacking: int
    after: str
    gained: str


@dataclass(frozen=True)
class Person:
    """An annotator beside the decisions, and beside the others on all overlap items of the draw."""

    beside: Beside
    pairs: str


@dataclass(frozen=True)
class Section:
    """One question of a draw. `before` is the headline as measured; `why` is there where nothing can be settled."""

    question: Question
    title: str
    before: str
    rules: list[Rule]
    why: str
    pair_title: str
    persons: list[Person]
    named: bool


@dataclass(frozen=True)
class Decisions:
    draw: Draw | None
    draws: list[Draw]
    report: Report
    sections: list[Section]


def draws_of(project: Project) -> list[Draw]:
    """The closed draws that have conflicts, the newest first, each with how many of them are `decided`."""
    rows = Draw.objects.closed().filter(wave__project=project, cases__isnull=False)
    people = Exists(Resolution.objects.by_people().filter(case=OuterRef("cases__pk")))
    decided = Count("cases", filter=people)
    rows = rows.annotate(decided=decided).select_related("wave__version", "wave__project").defer("population")
    return list(rows.order_by("-wave__number"))


def newest(draws: Sequence[Draw]) -> Draw | None:
    """The draw to begin with: the newest of which something is decided, else the newest."""
    return next((draw for draw in draws if draw.decided), draws[0] if draws else None)  # type: ignore[attr-defined]  # annotated


def of(member: Membership, draws: list[Draw], draw: Draw | None, *, at: datetime) -> Decisions:
    """The page about `draw`; without it the causes of all draws, and no figure: those are never pooled."""
    found = adjudication_report.report(member.project, draw)
    sections = _sections(draw, found, at=at) if draw is not None else []
    return Decisions(draw, draws, found, sections)


def _sections(draw: Draw, found: Report, *, at: datetime) -> list[Section]:
    asked = [question for question in matrices.questions(draw) if matrices.is_measured(question)]
    computed, raters = runs.newest_of([draw]), matrices.raters(draw)
    undecided = report.undecided([draw])
    shares = _shares(draw)
    made = []
    for question in asked:
        run = computed.get((draw.pk, question.key))
        if run is None or run.interim:
            continue
        run.draw, entry = draw, report.entry_of(run)
        named = (draw.pk, question.key) not in undecided
        matrix = matrices.of(draw, question, by=raters, at=at) if matrices.is_single(question) else None
        rules, why = _rules(draw, run, matrix, found, shares) if matrix else ([], _not_single())
        beside = adjudication_report.beside(draw.wave.project, draw, question.key)
        made.append(
            Section(
                question=question,
                title=_(run.result["headline"]["title"]),
                before=number(entry["value"], GAIN_DIGITS) if "value" in entry else "",
                rules=rules[:SHOWN],
                why=why,
                pair_title=_pair_title(run.result),
                persons=_persons(run.result, beside, raters, named=named),
                named=named,
            )
        )
    return made


# -- which rule to write first -----------------------------------------------------------------------------------------


def _rules(
    draw: Draw, run: Run, matrix: Matrix, found: Report, shares: Mapping[str, Mapping[str, Counter[str]]]
) -> tuple[list[Rule], str]:
    question, ratings = matrix.question, matrix.ratings
    if why := report.headline(run).why:
        return [], why
    coefficient = _headline(draw, run, matrix)
    if coefficient is None:
        return [], _("The headline of this draw is no coefficient that could be computed again from its labels alone.")
    labels = {str(label.key): label.name for label in question.labels.all()}
    decided, causes = shares.get(question.key, {}), _causes(found, question.key)
    split = {}
    for pair in ((one, other) for one in range(ratings.n_labels) for other in range(one + 1, ratings.n_labels)):
        keys = [str(ratings.labels[place]) for place in pair]
        counts = [decided.get(pair_key(*keys), Counter())[key] for key in keys]
        if sum(counts):
            split[pair] = counts[0] / sum(counts)
    gains = settling.gains(ratings, lambda each: coefficient.function(each).value, split)
    rules = [
        _rule(one, [str(ratings.labels[place]) for place in one.pair], labels, causes)
        for one in gains
        if one.gained > 0
    ]
    return rules, "" if rules else _("No rule for a single pair would raise this figure.")


def _rule(gain: settling.Gain, keys: list[str], labels: Mapping[str, str], causes: Mapping[str, Confusion]) -> Rule:
    key = pair_key(*keys)
    known = causes.get(key)
    return Rule(
        names=[labels.get(each, each) for each in keys],
        query_pair=key,
        items=round(gain.items),
        decided=known.n if known else 0,
        lacking=known.lacking if known else 0,
        after=number(gain.after, GAIN_DIGITS),
        gained=f"+{number(gain.gained, GAIN_DIGITS)}",
    )


def _headline(draw: Draw, run: Run, matrix: Matrix) -> Coefficient | None:
    protocol = Protocol.from_json(draw.protocol, [matrix.question])
    known = label_figures.coefficients(protocol, matrix.ratings, matrix.level)
    return known.get(run.result["headline"]["key"])


def _shares(draw: Draw) -> dict[str, dict[str, Counter[str]]]:
    """Question -> pair -> label -> how often it was decided."""
    rows = Resolution.objects.by_people().filter(case__draw=draw)
    found: dict[str, dict[str, Counter[str]]] = {}
    value: Json
    for question, pair, value in rows.values_list("case__question_key", "case__pair_key", "value"):
        if isinstance(value, str):
            found.setdefault(question, {}).setdefault(pair, Counter())[value] += 1
    return found


def _causes(found: Report, question: str) -> dict[str, Confusion]:
    return {one.pair: one for one in found.confusions if one.question_key == question}


def _not_single() -> str:
    return _("What a rule would win is computed where an answer is one label.")


# -- annotators --------------------------------------------------------------------------------------------------------


def _pair_title(result: Mapping[str, Any]) -> str:
    key = rater_rows.drawn_first(result)
    return rater_rows.title_of(result, key) if key else ""


def _persons(
    result: Mapping[str, Any], beside: Sequence[Beside], raters: Sequence[Membership], *, named: bool
) -> list[Person]:
    """With `named` False, while a case of theirs is open, nobody's agreement with others: only the decided items."""
    # Of all who rated: who shares items with somebody need not have rated any that is decided.
    names = {str(member.uuid): member.name for member in raters}
    return [Person(one, _pairs(result, one.rater, names) if named else "") for one in beside]


def _pairs(result: Mapping[str, Any], rater: str, names: Mapping[str, str]) -> str:
    """The figure of each pair that somebody is part of; of more than a few, between what they lie."""
    key = rater_rows.drawn_first(result)
    found = []
    for pair in result["pairs"]:
        if rater in pair["raters"] and key in pair["statistics"] and pair["n"] >= rater_rows.PAIR_MINIMUM:
            other = next(each for each in pair["raters"] if each != rater)
            found.append((names[other], pair["statistics"][key], pair["n"]))
    if not found:
        return _("too few items shared with anybody")
    known = sorted(entry["value"] for _name, entry, _n in found if "value" in entry)
    if len(found) > NAMED and known:
        return _("between %(low)s and %(high)s with %(n)s others") % {
            "low": number(known[0]),
            "high": number(known[-1]),
            "n": len(found),
        }
    found.sort(key=lambda each: people.in_order(each[0]))
    return "; ".join(
        _("%(value)s with %(name)s (%(n)s items)")
        % {"value": number(entry["value"]) if "value" in entry else _("undefined"), "name": name, "n": n}
        for name, entry, n in found
    )
