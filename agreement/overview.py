"""The list of a project's draws: a row per draw, grouped by guideline version, and a picture of the versions."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from agreement import by_time, charts, gate_pages, matrices, report, runs, sentences
from agreement.charts import Chart, Reading
from agreement.enums import GateOutcome
from agreement.gate_pages import Gate
from agreement.models import GateDecision, Run
from agreement.protocol import Protocol, QuestionRule
from agreement.worded import Figure
from annotations.enums import DrawState
from annotations.models import Draw
from projects.models import Project, Question


@dataclass(frozen=True)
class Row:
    """A draw and question. `figure` is None while there is none, or none that the viewer may see."""

    draw: Draw
    url: str
    figure: Figure | None
    state: str
    coefficient: str
    gate: str
    notes: list[str]
    time_url: str = ""


@dataclass(frozen=True)
class Group:
    """The draws of one guideline version, the newest first."""

    version: str
    rows: list[Row]


@dataclass(frozen=True)
class Section:
    question: Question
    chart: Chart | None
    groups: list[Group]
    comparisons: list[str]


@dataclass(frozen=True)
class GateRow:
    """A draw and its gate, which is one for all its questions."""

    draw: Draw
    gate: Gate


def draws_of(project: Project) -> list[Draw]:
    """The draws of a project in the order in which they were opened; abandoned ones stay on record."""
    rows = Draw.objects.filter(wave__project=project).order_by("wave__major", "wave__number")
    rows = rows.select_related("wave__version", "wave__project", "closed_by__user", "watch")
    return list(rows.defer("population"))


def sections(
    visible: Collection[int], questions: Iterable[Question], found: Sequence[Draw], gates: Iterable[GateRow]
) -> list[Section]:
    """One section per question, with the figures of those draws that are `visible`."""
    newest, said = runs.newest_of(found), {row.draw.pk: row.gate for row in gates}
    asked = _asked(found)
    return [
        _section(question, [draw for draw in found if (draw.pk, question.key) in asked], newest, said, visible)
        for question in questions
    ]


def gate_rows(visible: Collection[int], questions: Iterable[Question], found: Sequence[Draw]) -> list[GateRow]:
    """The gates of the draws that are `visible`, the newest first, each with all it ever decided."""
    log: dict[int, list[GateDecision]] = {}
    rows = GateDecision.objects.filter(draw__in=list(found)).select_related("by__user").order_by("at", "pk")
    for decision in rows:
        log.setdefault(decision.draw_id, []).append(decision)
    asked = list(questions)
    told = (draw for draw in reversed(found) if draw.state != DrawState.ABANDONED)
    return [GateRow(draw, gate_pages.of(draw, log.get(draw.pk, []), asked)) for draw in told if draw.pk in visible]


def shows(found: Iterable[Section], draw: Draw) -> bool:
    """Whether a figure of `draw` is in these sections."""
    rows = [row for section in found for group in section.groups for row in group.rows]
    return any(row.figure is not None and row.draw.pk == draw.pk for row in rows)


def decisions(found: Iterable[Draw]) -> dict[int, GateDecision]:
    """Draw -> the decision of its gate that holds, in one query."""
    same = GateDecision.objects.filter(draw=OuterRef("draw")).order_by("-at", "-pk").values("pk")[:1]
    rows = GateDecision.objects.filter(draw__in=list(found), pk=Subquery(same)).select_related("by__user")
    return {decision.draw_id: decision for decision in rows}


def gate_words(draw: Draw, decision: GateDecision | None) -> tuple[str, str]:
    """The gate of a draw and why; before it has decided there is not enough data."""
    if draw.is_imported:
        return _("none"), _("Imported ratings have no gate.")
    if decision is None:
        why = _("The draw is open.") if draw.is_open else _("The figures are being computed.")
        return str(GateOutcome.NOT_ENOUGH.label), why
    return gate_pages.outcome(decision), gate_pages.reason(decision, [])


def _asked(found: Iterable[Draw]) -> set[tuple[int, str]]:
    """Which questions each draw asked: those of the version it was opened under."""
    versions = {draw.wave.version_id for draw in found}
    keys: dict[int, set[str]] = {}
    for version, key in Question.objects.filter(version__in=versions).values_list("version", "key"):
        keys.setdefault(version, set()).add(key)
    return {(draw.pk, key) for draw in found for key in keys.get(draw.wave.version_id, ())}


def _section(
    question: Question,
    found: Sequence[Draw],
    newest: dict[tuple[int, str], Run],
    gates: dict[int, Gate],
    visible: Collection[int],
) -> Section:
    rows, readings, comparisons = [], [], list[str]()
    for draw in found:
        run = newest.get((draw.pk, question.key)) if draw.pk in visible else None
        rows.append(_row(draw, question, run, gates.get(draw.pk), seen=draw.pk in visible))
        if run is not None:
            run.draw = draw
            readings.append(_reading(draw, question, run))
            comparisons = sentences.comparisons(run) or comparisons
    grouped = groupby(reversed(rows), key=lambda row: row.draw.wave.version.number)
    groups = [Group(version, list(members)) for version, members in grouped]
    # One figure needs no picture of its own: it stands in the table.
    chart = charts.versions(readings) if len(readings) > 1 else None
    return Section(question, chart, groups, comparisons)


def _row(draw: Draw, question: Question, run: Run | None, gate: Gate | None, *, seen: bool) -> Row:
    url = reverse("agreement:draw", args=[draw.wave.project.uuid, draw.uuid, question.key]) if run else ""
    return Row(
        draw=draw,
        url=url,
        figure=report.headline(run) if run else None,
        state=_state(draw, question, run, seen=seen),
        coefficient=_(run.result["headline"]["title"]) if run else "",
        gate=gate.of_question(question).words if gate else "",
        notes=sentences.notes(draw),
        time_url=_time_url(draw, question, run),
    )


def _time_url(draw: Draw, question: Question, run: Run | None) -> str:
    """Where the figure is read by time, once it is final."""
    if run is None or run.interim or not by_time.is_offered(draw, question):
        return ""
    return reverse("agreement:by-time", args=[draw.wave.project.uuid, draw.uuid, question.key])


def _state(draw: Draw, question: Question, run: Run | None, *, seen: bool) -> str:
    if not seen:
        return _("open: you annotate in it, so its figures are shown when it closes")
    if draw.state == DrawState.ABANDONED:
        return _("abandoned")
    if run is None and not matrices.is_measured(question):
        return matrices.not_measured(question)
    if run is None:
        return _("no figures yet")
    if draw.is_open:
        return sentences.interim(run)
    return _("final, %(n)s of %(drawn)s") % {"n": run.n, "drawn": run.drawn}


def rule_of(draw: Draw, question: Question) -> QuestionRule:
    """What the frozen protocol of a draw says about a question."""
    return Protocol.from_json(draw.protocol, [question]).questions[question.key]


def _reading(draw: Draw, question: Question, run: Run) -> Reading:
    entry = report.entry_of(run)
    low, high = entry.get("interval") or (None, None)
    version = draw.wave.version
    return Reading(
        name=_("wave %(number)s") % {"number": draw.wave.number},
        group=_("guideline %(major)s") % {"major": f"{version.major}.x"},
        value=entry.get("value"),
        low=low,
        high=high,
        threshold=rule_of(draw, question).threshold,
        hollow=draw.is_open,
        text=version.number,
        url=reverse("agreement:draw", args=[draw.wave.project.uuid, draw.uuid, question.key]),
    )
