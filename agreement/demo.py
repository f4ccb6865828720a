"""The demo project: two whole rounds of the loop, played through the domain functions on past times.

Texts, guidelines, decisions and the way the four annotators rate are data in `annotations/demo/`. The ratings are
simulated, and every page of the project says so.
"""

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.utils.translation import gettext as _

from agreement import gates, runs
from annotations import adjudication, cases, draws, inquiries, labelling, publishing, releasing, serving
from annotations.enums import SkipReason, WaveState
from annotations.models import Assignment, Case, Draw, Inquiry, Wave
from projects import drafts, guidelines, importing, jobs, labels, members
from projects.enums import Change, ExampleKind, Role
from projects.examples import add_example
from projects.labels import NewLabel
from projects.models import GuidelineVersion, Membership, Project, User

DATA = Path(__file__).resolve().parent.parent / "annotations" / "demo"
PASSWORD = "concord-demo"  # it is printed with the log-ins; the server listens on this machine only
NAME = "App reviews (demo)"
SEED = 20260302
FIRST_WAVE, SECOND_WAVE = 200, 200
SHARE = Decimal(60)
LEFT_OPEN = 6
Say = Callable[[str], None]


@dataclass(frozen=True)
class Truth:
    """What an item is, and what careful people take it for where the rules are silent."""

    intent: str
    urgency: int
    confusable: str | None
    trap: str | None


class Demo:
    """Plays the project. `say` reports progress; `start` is when its first day begins."""

    def __init__(self, *, start: datetime, say: Say = lambda line: None, scale: float = 1.0) -> None:
        self.at, self.say, self.scale = start, say, scale
        self.rng = random.Random(SEED)
        self.raters = json.loads((DATA / "raters.json").read_text(encoding="utf-8"))
        self.decisions = json.loads((DATA / "adjudications.json").read_text(encoding="utf-8"))
        self.truth = {
            row["id"]: Truth(row["intent"], row["urgency"], row["confusable"], row["trap"])
            for row in map(json.loads, (DATA / "truth.jsonl").read_text(encoding="utf-8").splitlines())
        }

    def play(self) -> Project:
        """Both rounds, then a third wave that is under way; returns the project."""
        self._people()
        self._first_guideline()
        texts = (DATA / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        half = len(texts) // 2
        self._import("reviews-march.jsonl", texts[:half])
        self._wave(self._size(FIRST_WAVE), pilot=True)
        self._adjudicate(leave=LEFT_OPEN)
        answered = self._ask(_("It asks, and it complains. Which of the two do I take?"))
        inquiries.answer(
            answered,
            text=_("What the writer wants to end. A question that no answer would settle is a complaint."),
            by=self.lead,
            at=self.at + timedelta(hours=1),
        )
        self._second_guideline()
        self._import("reviews-april.jsonl", texts[half:])
        self._wave(self._size(SECOND_WAVE))
        self._adjudicate(leave=None)
        self._third_wave()
        return self.project

    def _size(self, size: int) -> int:
        return max(20, round(size * self.scale))

    # -- who -----------------------------------------------------------------------------------------------------------

    def _people(self) -> None:
        self.say(_("The team: an admin, a lead, four annotators"))
        admin = self._user(self.raters["admin"]["username"])
        boss = members.found(
            name=NAME, description=_("Short customer messages about apps, by intent and urgency."), user=admin
        )
        self.project = boss.project
        self.project.notice = _("Demo: the texts were written for it and its ratings are simulated.")
        self.project.protocol |= {
            "share_percent": str(SHARE),
            "strata_field": "source",
            "questions": {
                "intent": {"coefficient": "auto", "threshold": 0.6, "threshold_on": "low", "conflict_gap": 0.0},
                "urgency": {"coefficient": "auto", "weights": "quadratic", "threshold": None, "conflict_gap": 0.5},
            },
        }
        self.project.save(update_fields=["notice", "protocol"])
        self.lead = self._member(self.raters["lead"]["username"], {Role.LEAD}, by=boss)
        members.set_roles(boss, {Role.ADMIN}, by=boss)
        self.team = [self._member(rater["username"], {Role.ANNOTATOR}, by=boss) for rater in self.raters["annotators"]]
        self.habits = dict(zip((m.pk for m in self.team), self.raters["annotators"], strict=True))
        # Everybody was there when the played history begins.
        self.project.memberships.update(joined_at=self.at)
        self.project.activities.update(at=self.at)

    def _user(self, name: str) -> User:
        found = User.objects.filter(username=name).first()
        if found is not None:
            return found
        return User.objects.create_user(name, f"{name}@example.org", PASSWORD, first_name=name.capitalize())

    def _member(self, name: str, roles: set[Role], *, by: Membership) -> Membership:
        self._user(name)
        return members.add(self.project, username=name, roles=roles, by=by)

    # -- guideline -----------------------------------------------------------------------------------------------------

    def _first_guideline(self) -> None:
        self.say(_("Guideline 1.0"))
        draft = guidelines.draft_of(self.project, by=self.lead, at=self.at)
        for question in list(draft.questions.all()):
            labels.remove_question(question, by=self.lead)
        for question in json.loads((DATA / "labels.json").read_text(encoding="utf-8"))["questions"]:
            labels.add_question(
                draft,
                key=question["key"],
                text=question["text"],
                help=question["help"],
                task_type=question["task_type"],
                labels=[
                    NewLabel(
                        name=label["name"],
                        definition=label["definition"],
                        value=label["value"],
                        key=label["key"],
                        colour=label["colour"],
                        hotkey=label["hotkey"],
                    )
                    for label in question["labels"]
                ],
                by=self.lead,
            )
        for example in self.decisions["examples_1_0"]:
            add_example(
                draft,
                question_key=example["question"],
                content={"text": example["text"]},
                value=example["value"],
                confused_with=example["confused_with"],
                rationale=example["why"],
                by=self.lead,
                at=self.at,
            )
        draft = drafts.current(self.project) or draft
        drafts.save_text(draft, text=self._text("1_0"), revision=draft.revision, by=self.lead)
        self._publish(_("The first version: what we agreed on before labelling."))

    def _second_guideline(self) -> None:
        self.say(_("Guideline 2.0, with rules for the confusions that were adjudicated"))
        draft = guidelines.draft_of(self.project, by=self.lead, at=self.at)
        drafts.save_text(draft, text=self._text("2_0"), revision=draft.revision, by=self.lead)
        self._publish(_("Rules and examples for threats with a condition, questions that complain, and wishes."))

    def _text(self, number: str) -> str:
        return (DATA / f"guideline_{number}.md").read_text(encoding="utf-8")

    def _publish(self, reason: str) -> GuidelineVersion:
        draft = guidelines.draft_of(self.project, by=self.lead, at=self.at)
        self.at += timedelta(hours=2)
        version = publishing.publish(draft, change=Change.MATERIAL, reason=reason, by=self.lead, at=self.at)
        for member in self.team:
            self.at += timedelta(minutes=20)
            publishing.acknowledge(member, version, at=self.at)
        return version

    # -- items and waves -----------------------------------------------------------------------------------------------

    def _import(self, name: str, lines: Iterable[str]) -> None:
        upload = ContentFile("".join(lines).encode(), name=name)
        job = importing.start(self.project, upload=upload, by=self.lead, at=self.at)
        importing.choose(job, shown=["text"], id_field="id", metadata=["source", "language"])
        jobs.work_now(job, at=self.at)
        made = importing.confirm(job, by=self.lead, at=self.at)
        jobs.work_now(made, at=self.at)
        self.project.refresh_from_db()

    def _open(self, size: int | None, *, pilot: bool = False, share: Decimal | None = None) -> Wave:
        self.at += timedelta(hours=1)
        return releasing.open_wave(self.project, by=self.lead, at=self.at, size=size, pilot=pilot, share_percent=share)

    def _wave(self, size: int, *, pilot: bool = False) -> None:
        """Open a wave, label all of it, let the windows end, let the draw close by itself, compute its figures."""
        wave = self._open(size, pilot=pilot)
        self.say(_("Wave %(number)s: %(size)s items, labelled by four people") % {"number": wave.number, "size": size})
        self._label()
        self.at += timedelta(hours=1)
        draws.close_due(at=self.at)
        wave.refresh_from_db()
        if wave.state != WaveState.CLOSED:  # the last ratings wait for people who were told that nothing is left
            draws.release_cover(wave, by=self.lead, at=self.at)
            self._label()
            self.at += timedelta(hours=1)
            draws.close_due(at=self.at)
        runs.sweep(at=self.at)
        self.at += timedelta(hours=16)

    def _third_wave(self) -> None:
        """A wave that is under way, so that there is something to label."""
        wave = self._open(None, share=Decimal(20))
        if wave.held:  # chance made the second round narrow: the demo goes on all the same, on record
            before = Draw.objects.closed().filter(wave__project=self.project).latest("wave__number")
            gates.waive(
                before, reason=_("The demo goes on, so that there is something to label."), by=self.lead, at=self.at
            )
        self._label(limit=self._size(40))
        self._ask(_("Do I judge the tone here, or what happened?"))

    # -- ratings -------------------------------------------------------------------------------------------------------

    def _label(self, limit: int | None = None) -> None:
        """Everybody works at once, each at their own pace, until nobody gets anything or `limit` labels are given."""
        clocks = {member.pk: self.at + timedelta(seconds=self.rng.uniform(0, 90)) for member in self.team}
        working = {member.pk: member for member in self.team}
        given = 0
        while working and (limit is None or given < limit):
            pk = min(working, key=lambda one: clocks[one])
            spent = self._turn(working[pk], clocks[pk])
            if spent is None:
                del working[pk]
            else:
                clocks[pk] += timedelta(seconds=spent)
                given += 1
        self.at = max([*clocks.values(), self.at])

    def _turn(self, member: Membership, at: datetime) -> float | None:
        """One item of `member`; the seconds it took, or None when nothing is left for them."""
        task = serving.next_task(member, at=at, rng=self.rng)
        if isinstance(task, serving.Nothing):
            return None
        habits = self.habits[member.pk]
        item = Assignment.objects.select_related("item").get(uuid=task.assignment).item
        truth = self.truth[item.external_id]
        seconds = self._seconds(habits["seconds"], str(item.content["text"]))
        done = at + timedelta(seconds=seconds)
        if self.rng.random() < habits["skip"]:
            labelling.skip(member, task.assignment, reason=self.rng.choice(SkipReason.values), at=done)
        else:
            answers = self._answers(habits, truth, task.version.number)
            labelling.submit(member, task.assignment, answers=answers, at=done, seconds=seconds)
        return seconds + 1

    def _seconds(self, pace: dict[str, float], text: str) -> float:
        typical = pace["base"] + pace["per_word"] * len(text.split())
        return round(typical * self.rng.lognormvariate(0, pace["spread"]), 1)

    def _answers(self, habits: dict[str, Any], truth: Truth, version: str) -> dict[str, Any]:
        intent = truth.intent
        if truth.trap and truth.confusable and self.rng.random() < habits["confusable"][version][truth.trap]:
            intent = truth.confusable
        if self.rng.random() < habits["slip"]:
            intent = self.rng.choice(
                [key for key in ("complaint", "praise", "question", "threat", "request") if key != intent]
            )
        noisy = self.rng.gauss(truth.urgency + habits["urgency"]["bias"], habits["urgency"]["noise"])
        return {"intent": intent, "urgency": str(min(4, max(1, round(noisy))))}

    def _ask(self, text: str) -> Inquiry:
        """Somebody asks about what they labelled last that both asks and complains, or about their last item."""
        given = Assignment.objects.filter(member=self.team[1], item__project=self.project).select_related("item")
        newest = list(given.order_by("-pk")[:100])
        both = [one for one in newest if self._asks_and_complains(one.item.external_id)]
        return inquiries.ask(self.team[1], (both or newest)[0].uuid, text=text, at=self.at)

    def _asks_and_complains(self, external_id: str) -> bool:
        truth = self.truth[external_id]
        return {truth.intent, truth.confusable} == {"complaint", "question"}

    # -- decisions -----------------------------------------------------------------------------------------------------

    def _adjudicate(self, *, leave: int | None) -> None:
        """The lead decides the conflicts on intent, all but `leave` (None: all but two thirds); one of each family that
        the next guideline rules on becomes an example."""
        waiting = list(
            cases.of_project(self.project)
            .open()
            .filter(question_key="intent")
            .select_related("item", "draw__wave__version")
            .order_by("-severity", "pk")
        )
        keep = leave if leave is not None else 2 * len(waiting) // 3
        decide = waiting[: max(0, len(waiting) - keep)]
        self.say(_("The lead decides %(n)s conflicts") % {"n": len(decide)})
        promoted: set[str] = set()
        for number, case in enumerate(decide):
            self.at += timedelta(seconds=self.rng.uniform(25, 90))
            self._decide(case, number, promoted)
        self.at += timedelta(hours=1)

    def _decide(self, case: Case, number: int, promoted: set[str]) -> None:
        truth = self.truth[case.item.external_id]
        family = self.decisions["families"].get(truth.trap) if truth.trap else None
        advice = family or self.decisions["plain"]
        example = None
        ruled = family is not None and family["ruled_in"] is not None
        between = {case.first_value, case.second_value}
        if family and ruled and truth.trap not in promoted and between == {truth.intent, truth.confusable}:
            promoted.add(truth.trap or "")
            example = adjudication.ExampleText(
                content=case.item.content, rationale=family["why"], kind=ExampleKind.NEAR_MISS
            )
        rationales = advice["rationales"]
        adjudication.claim(case, by=self.lead, at=self.at)
        adjudication.resolve(
            case,
            value=truth.intent,
            rationale=rationales[number % len(rationales)],
            cause=advice["cause"],
            example=example,
            by=self.lead,
            at=self.at,
        )


def log_ins() -> list[tuple[str, str]]:
    """(user name, role) of the demo's people; all have PASSWORD."""
    raters = json.loads((DATA / "raters.json").read_text(encoding="utf-8"))
    names = [(raters["admin"]["username"], str(Role.ADMIN.label)), (raters["lead"]["username"], str(Role.LEAD.label))]
    return names + [(rater["username"], str(Role.ANNOTATOR.label)) for rater in raters["annotators"]]
