"""The loop of a project as its home draws it: where it is, the count at each station, and the viewer's next step."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Subquery
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement import overview, report, runs
from agreement.charts import number
from agreement.enums import GateOutcome
from agreement.models import GateDecision, Run
from annotations import cases, draws, imported
from annotations.enums import CaseState, WaveState
from annotations.models import Draw, Wave
from projects import access, guidelines, navigation
from projects.enums import Action, VersionState
from projects.models import GuidelineVersion, Label, Membership, Question


@dataclass(frozen=True)
class Station:
    """A place of the loop. `here` marks where the work is."""

    key: str
    title: str
    lines: list[str]
    url: str
    here: bool = False


@dataclass(frozen=True)
class Step:
    """What the viewer can do next, and where. Without an address there is only to wait."""

    sentence: str
    action: str = ""
    url: str = ""


@dataclass(frozen=True)
class Facts:
    """What the stations count."""

    version: GuidelineVersion | None
    draft: GuidelineVersion | None
    examples: int
    has_items: bool
    wave: Wave | None
    draw: Draw | None
    sees: bool
    run: Run | None
    measured: Draw | None
    final: Run | None
    decision: GateDecision | None
    open_cases: int
    mine: int
    decided_cases: int
    waiting_cases: int
    confusion: tuple[str, str, int] | None


def facts(member: Membership) -> Facts:
    project = member.project
    version = guidelines.newest(project)
    draft = project.versions.filter(state=VersionState.DRAFT).select_related("based_on").first()
    wave = _current_wave(member)
    draw = getattr(wave, "draw", None)
    sees = draw is not None and draws.may_see_figures(draw, member)
    run = _first_run(draw) if draw is not None and sees else None
    measured = draw if draw is not None and not draw.is_open else _last_closed(member)
    counts, mine, confusion = _conflicts_of(member)
    return Facts(
        version=version,
        draft=draft,
        examples=_new_examples(draft),
        has_items=project.items.exists(),
        wave=wave,
        draw=draw,
        sees=sees,
        run=run,
        measured=measured,
        final=run if measured is draw else _first_run(measured),
        decision=overview.decisions([measured]).get(measured.pk) if measured else None,
        open_cases=counts.get(CaseState.OPEN, 0),
        mine=mine,
        decided_cases=counts.get(CaseState.DECIDED, 0),
        waiting_cases=counts.get(CaseState.WAITING, 0),
        confusion=confusion,
    )


def stations(member: Membership, known: Facts, step: str) -> list[Station]:
    """The six stations, in the loop's order."""
    found = [
        ("guideline", _("guideline"), _guideline(known), "projects:guideline"),
        ("wave", _("wave"), _wave(known), "annotations:waves"),
        ("labelling", _("labelling"), _labelling(known), "annotations:waves"),
        ("agreement", _("agreement"), _agreement(known), "agreement:agreement"),
        ("adjudication", _("adjudication"), _adjudication(known), "annotations:adjudication"),
        ("draft", _("next version"), _draft(known), "projects:guideline-draft"),
    ]
    allowed = {entry.url_name: access.allows(member, entry.action) for entry in navigation.ENTRIES}
    allowed["projects:guideline-draft"] = access.allows(member, Action.EDIT_GUIDELINE)
    return [
        Station(key, title, lines, navigation.url_of(name, member) if allowed.get(name, True) else "", key == step)
        for key, title, lines, name in found
    ]


def next_step(member: Membership, known: Facts) -> tuple[str, Step]:
    """(the station where the work is, what `member` can do about it)."""
    may = access.actions(member)
    waiting = known.wave is not None and known.wave.state != WaveState.CLOSED
    if member.project.archived_at is not None:
        sentence = _("The project is archived: nothing moves on in it until an admin takes it back.")
        return "", _step(member, sentence, _("Take it back"), "projects:archive", Action.MANAGE_PROJECT in may)
    if known.version is None:
        return "guideline", _step(
            member,
            _("Write the first guideline and its labels, then publish it."),
            _("Write the guideline"),
            "projects:guideline-draft",
            Action.EDIT_GUIDELINE in may,
        )
    if not known.has_items:
        sentence = _("Import the items to be labelled.")
        return "wave", _step(member, sentence, _("Import items"), "projects:import-new", Action.IMPORT in may)
    if known.open_cases:
        allowed = Action.ADJUDICATE in may and known.mine > 0
        return "adjudication", _step(
            member, _conflicts(known, allowed=allowed), _("Adjudicate"), "annotations:adjudication", allowed
        )
    if waiting:
        sentence = _(
            "Labelling is under way: the draw closes by itself once everything measured is rated and its time to "
            "correct is over."
        )
        return "labelling", _step(member, sentence, _("See the wave"), "annotations:waves", Action.RUN_WAVES in may)
    if known.waiting_cases:
        sentence = ngettext(
            "%(n)s conflict waits for a third rating, which somebody who labels here is given among their other work.",
            "%(n)s conflicts wait for third ratings, which those who label here are given among their other work.",
            known.waiting_cases,
        ) % {"n": known.waiting_cases}
        return "adjudication", _step(
            member, sentence, _("See what waits"), "annotations:adjudication", Action.ADJUDICATE in may
        )
    if known.draft is not None:
        sentence = _("Check what changed in the draft, and publish it as the next version.")
        action = _("Open the draft")
        return "draft", _step(
            member, sentence, action, "projects:guideline-draft-changes", Action.EDIT_GUIDELINE in may
        )
    if known.decision is not None and known.decision.outcome == GateOutcome.HOLD:
        sentence = _("The gate holds the next wave: write a new version, or ask for more ratings per item.")
        return "agreement", _step(member, sentence, _("See the figures"), "agreement:agreement", True)
    sentence = _("Open a wave: the system draws its overlap, and the annotators get their first items.")
    return "wave", _step(member, sentence, _("Open a wave"), "annotations:wave-open", Action.RUN_WAVES in may)


def _step(member: Membership, sentence: str, action: str, name: str, allowed: bool) -> Step:
    url = navigation.url_of(name, member) if allowed else ""
    return Step(sentence, action if url else "", url)


def _current_wave(member: Membership) -> Wave | None:
    """The newest wave; of panels that were opened together one that still labels, as long as there is one."""
    waves = member.project.waves.select_related("version", "project", "draw", "panel").defer("draw__population")
    newest = waves.order_by("-number").first()
    if newest is None or newest.state != WaveState.CLOSED or not hasattr(newest, "panel"):
        return newest
    beside = waves.filter(state__in=[WaveState.OPENING, WaveState.OPEN], panel__split=newest.panel.split_id)
    return beside.order_by("-number").first() or newest


def _last_closed(member: Membership) -> Draw | None:
    rows = Draw.objects.closed().filter(wave__project=member.project).order_by("-wave__number")
    return rows.select_related("wave__version", "wave__project").defer("population").first()


def _first_run(draw: Draw | None) -> Run | None:
    if draw is None:
        return None
    first = Question.objects.filter(version=draw.wave.version_id).order_by("order", "pk").values("key")[:1]
    return runs.newest(draw, Subquery(first))


def _new_examples(draft: GuidelineVersion | None) -> int:
    if draft is None:
        return 0
    if draft.based_on is None:
        return draft.examples.count()
    return draft.examples.exclude(lineage__in=draft.based_on.examples.values_list("lineage")).count()


def _conflicts_of(member: Membership) -> tuple[Counter[str], int, tuple[str, str, int] | None]:
    """How many conflicts there are in each state, how many `member` may decide, and of these the commonest pair of
    labels, by name."""
    counts, mine = Counter[str](), Counter[tuple[str, str]]()
    rows = cases.of_project(member.project).annotate(theirs=cases.decided_by(member)).order_by()
    for state, question, pair, theirs, n in rows.values_list("state", "question_key", "pair_key", "theirs").annotate(
        Count("pk")
    ):
        counts[state] += n
        if state == CaseState.OPEN and theirs:
            mine[question, pair] += n
    if not mine:
        return counts, 0, None
    (question, pair), n = min(mine.items(), key=lambda one: (-one[1], one[0][1]))
    keys = pair.split("|")
    named = Label.objects.filter(question__version__project=member.project, question__key=question)
    names = dict(named.filter(key__in=keys).order_by("pk").values_list("key", "name"))
    one, other = (names.get(key, key) for key in (keys[0], keys[-1]))
    return counts, mine.total(), (one, other, n)


def _conflicts(known: Facts, *, allowed: bool) -> str:
    if not allowed:
        return ngettext(
            "%(n)s conflict waits for a lead who did not rate its item.",
            "%(n)s conflicts wait for a lead who did not rate their items.",
            known.open_cases,
        ) % {"n": known.open_cases}
    said = ngettext("Decide %(n)s conflict", "Decide %(n)s conflicts", known.mine) % {"n": known.mine}
    if known.confusion is None:
        return f"{said}."
    one, other, n = known.confusion
    if n == known.mine:
        return _("%(said)s: “%(one)s” against “%(other)s”.") % {"said": said, "one": one, "other": other}
    return _("%(said)s, %(n)s of them “%(one)s” against “%(other)s”.") % {
        "said": said,
        "n": n,
        "one": one,
        "other": other,
    }


def _guideline(known: Facts) -> list[str]:
    if known.version is None:
        return [_("none published")]
    when = date_format(known.version.published_at, "j M Y") if known.version.published_at else ""
    return [known.version.number, _("published %(when)s") % {"when": when}]


def _wave(known: Facts) -> list[str]:
    wave = known.wave
    if wave is None:
        return [_("none opened")]
    name = _("wave %(number)s, pilot") if wave.pilot else _("wave %(number)s")
    items = ngettext("%(n)s item", "%(n)s items", wave.size) % {"n": wave.size}
    lines = [name % {"number": wave.number}, items]
    if hasattr(wave, "panel"):
        lines.insert(1, _("panel %(name)s") % {"name": wave.panel.letter})
    if known.draw is None:
        lines.append(_("not measured"))
    elif known.sees:
        lines.append(_("%(n)s in overlap") % {"n": known.draw.size})
    return lines


def _labelling(known: Facts) -> list[str]:
    wave = known.wave
    if wave is None:
        return [_("not begun")]
    if wave.state == WaveState.CLOSED:
        when = date_format(wave.closed_at, "j M Y") if wave.closed_at else ""
        return [_("closed %(when)s") % {"when": when}]
    if known.draw is not None and not known.sees:
        return [_("under way")]
    total = wave.overlap_all + wave.single_all
    done = total - wave.overlap_left - wave.single_left
    return [_("%(done)s of %(total)s ratings") % {"done": done, "total": total}]


def _agreement(known: Facts) -> list[str]:
    lines = []
    if known.measured is not None and known.final is not None:
        figure = report.headline(known.final)
        ends = report.entry_of(known.final).get("interval")
        span = f" [{number(ends[0])}, {number(ends[1])}]" if ends else ""
        gate, _why = overview.gate_words(known.measured, known.decision)
        about = {"wave": known.measured.wave, "title": figure.title, "gate": gate}
        lines = [
            f"{figure.value or _('undefined')}{span}",
            _("%(title)s, %(wave)s") % about,
            _("gate: %(gate)s") % about,
        ]
        lines += [mark] if (mark := imported.mark(known.measured)) else []
    if known.run is not None and known.run.interim:
        lines.append(_("interim, %(n)s of %(drawn)s") % {"n": known.run.n, "drawn": known.run.drawn})
    return lines or [_("no figures yet")]


def _adjudication(known: Facts) -> list[str]:
    waiting = [_("%(n)s waiting for a third rating") % {"n": known.waiting_cases}] if known.waiting_cases else []
    return [
        _("%(n)s open") % {"n": known.open_cases},
        *waiting,
        _("%(n)s decided") % {"n": known.decided_cases},
    ]


def _draft(known: Facts) -> list[str]:
    if known.draft is None:
        return [_("no draft")]
    examples = ngettext("%(n)s new example", "%(n)s new examples", known.examples) % {"n": known.examples}
    return [examples, _("not published")]
