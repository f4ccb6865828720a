"""A report to print or hand on: the closed draws of a project, all of them or one version's, with every figure.

Open draws are left out, because their figures are interim; who annotates in one may read a report all the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agreement import differences, gate_pages, matrices, overview, people, report, runs
from agreement.charts import Chart
from agreement.differences import Difference
from agreement.gate_pages import Gate, OfQuestion
from agreement.models import GateDecision, Run
from agreement.overview import GateRow, Section
from agreement.report import Report
from annotations import imported
from annotations.enums import Closing, DrawState
from annotations.models import Draw, Look
from projects import access
from projects.enums import Action
from projects.models import Membership, Project, Question

# More sheets than these are a book that nobody prints by accident: a version or draw has to be chosen then.
MOST_SHEETS = 12


@dataclass(frozen=True)
class Scope:
    """What a report is of: one version's draws, or one draw, else all; whether people are named, and whether it has
    every table of every draw."""

    version: str = ""
    draw: UUID | None = None
    named: bool = False
    tables: bool = False

    def holds(self, draw: Draw) -> bool:
        if self.draw is not None:
            return draw.uuid == self.draw
        return not self.version or draw.wave.version.number == self.version


@dataclass(frozen=True)
class Sheet:
    """One draw and question. `by_rater` False keeps back who said which while the reader may decide its cases."""

    draw: Draw
    question: Question
    run: Run
    gate: Gate
    names: Mapping[str, str]
    by_rater: bool
    named: bool
    looks: Sequence[str]
    difference: Difference | None = None

    @property
    def anchor(self) -> str:
        """What its places on a page with several sheets begin with."""
        return f"wave-{self.draw.wave.number}-{self.question.key}-"

    @property
    def note(self) -> str:
        """What has to stand beside every figure of it; empty: nothing."""
        return imported.mark(self.draw)

    @property
    def here(self) -> OfQuestion:
        """What the gate of the draw said about this question."""
        return self.gate.of_question(self.question)

    def page(self) -> Report:
        names, looks = self.names, self.looks
        return report.of(self.run, self.draw, names, by_rater=self.by_rater, gate=self.here, looks=looks)

    def result(self) -> Mapping[str, Any]:
        """The figures as plain data: raters by their ids where they are named, else by a number of this draw."""
        if not self.by_rater:
            return people.kept_back(self.run.result, self.draw)
        return self.run.result if self.named else people.renamed(self.run.result, self.names)


@dataclass(frozen=True)
class Paper:
    """A whole report. `sheets` are those of the closed draws `in_scope`, the newest draw first."""

    project: Project
    scope: Scope
    versions: list[str]
    in_scope: int
    gates: list[GateRow]
    sheets: list[Sheet]
    sections: list[Section]

    @property
    def draws(self) -> list[Draw]:
        return list({sheet.draw.pk: sheet.draw for sheet in self.sheets}.values())

    def of_draw(self, draw: Draw) -> list[Sheet]:
        """The sheets of a draw, in the order of its questions."""
        return [sheet for sheet in self.sheets if sheet.draw.pk == draw.pk]

    def questions_of(self, draw: Draw) -> list[Question]:
        return [sheet.question for sheet in self.of_draw(draw)]

    @property
    def too_long(self) -> bool:
        return len(self.sheets) > MOST_SHEETS

    @property
    def engines(self) -> list[str]:
        return sorted({sheet.run.engine for sheet in self.sheets})

    @property
    def charts(self) -> list[tuple[Question, Chart]]:
        return [(section.question, section.chart) for section in self.sections if section.chart is not None]


def paper(member: Membership, scope: Scope, questions: Sequence[Question]) -> Paper:
    """The report as `member` may read it; a constant number of queries."""
    closed = [draw for draw in overview.draws_of(member.project) if draw.state == DrawState.CLOSED]
    versions = list(dict.fromkeys(draw.wave.version.number for draw in closed))
    found = [draw for draw in closed if scope.holds(draw)]
    visible = {draw.pk for draw in found}  # closed ones are anybody's
    gates = overview.gate_rows(visible, questions, found)
    sections = overview.sections(visible, questions, found, gates)
    sheets = list(_sheets(member, scope, found, closed))
    return Paper(member.project, scope, versions, len(found), gates, sheets, sections)


def _sheets(member: Membership, scope: Scope, found: Sequence[Draw], closed: Sequence[Draw]) -> Iterable[Sheet]:
    newest, asked, log = runs.newest_of(found), matrices.questions_of(found), _log(found)
    raters = {str(each.uuid): each for each in member.project.memberships.select_related("user")}
    undecided = report.undecided(found) if access.allows(member, Action.ADJUDICATE) else set()
    looks, before = _looks(found), differences.observed_before(newest.values(), closed)
    for draw in reversed(found):
        questions = asked[draw.pk]
        for question in questions:
            run = newest.get((draw.pk, question.key))
            if run is None:
                continue
            run.draw = draw
            by_rater = (draw.pk, question.key) not in undecided
            people_here = [raters[rater] for rater in run.result["raters"] if rater in raters]
            named = by_rater and scope.named
            yield Sheet(
                draw=draw,
                question=question,
                run=run,
                gate=gate_pages.of(draw, log.get(draw.pk, []), questions),
                names=people.names(draw, people_here, member, by_rater=named),
                by_rater=by_rater,
                named=named and access.allows(member, Action.SEE_MEMBERS),
                looks=looks.get(draw.pk, []),
                difference=differences.of(run, draw, before),
            )


def _log(found: Sequence[Draw]) -> dict[int, list[GateDecision]]:
    rows = GateDecision.objects.filter(draw__in=list(found)).select_related("by__user").order_by("at", "pk")
    log: dict[int, list[GateDecision]] = {}
    for decision in rows:
        log.setdefault(decision.draw_id, []).append(decision)
    return log


def _looks(found: Sequence[Draw]) -> dict[int, list[str]]:
    early = [draw for draw in found if draw.closing == Closing.EARLY]
    seen: dict[int, list[str]] = {}
    for look in Look.objects.filter(draw__in=early).select_related("member__user").order_by("at"):
        seen.setdefault(look.draw_id, []).append(look.member.name)
    return seen
