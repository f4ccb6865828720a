"""A team, its leads and the clock do whatever they may in any order; after every step everything adds up (DESIGN §2).

The walk keeps its own record of what was acknowledged, and works out each window anew from the protocol's words.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.db.models import Count, F, Q

from annotations import draws, labelling, publishing, releasing, serving, superseding
from annotations.enums import AssignmentState, SlotState, WaveState
from annotations.models import Annotation, Assignment, Draw, Revision, Seat, Slot, Wave, WaveItem
from projects import drafts, guidelines
from projects.errors import DomainError
from projects.models import Item, Membership
from tests import factories

LABELS = ["complaint", "praise", "question"]
STEPS = 200
AT = factories.NOW


class Walk:
    """`step` does one thing at random; `check` asks whether all still holds."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.at = AT
        self.project = factories.project(f"walk {seed}")
        factories.version(self.project)
        self.lead = factories.member(self.project, "lea", "lead", "admin")
        self.members = [factories.member(self.project, f"rater{i}") for i in range(4)]
        self.forms: list[tuple[Membership, UUID]] = []
        self.acknowledged: dict[UUID, dict[str, str]] = {}
        self.frozen: dict[int, dict[int, object]] = {}
        self.closed_at: dict[int, datetime] = {}
        self.done: Counter[str] = Counter()
        self.new_wave()

    # -- what can happen -----------------------------------------------------------------------------------------------

    def step(self) -> str:
        self.at += timedelta(seconds=self.rng.choice([1, 20, 90]))
        seldom = 1
        deeds = {
            self.label: 160,
            self.next: 20,
            self.skip: 8,
            self.correct: 25,
            self.stale_form: 20,
            self.silence: 6,
            self.leave: 4,
            self.come_back: 6,
            self.sweep: 6,
            self.close: seldom,
            self.close_wave: seldom,
            self.release_cover: 2,
            self.give_up: seldom,
            self.minor: 2,
            self.major: seldom,
            self.new_wave: 3,
            self.mend_an_item: 3,
        }
        (deed,) = self.rng.choices(list(deeds), weights=list(deeds.values()))
        deed()
        self.done[deed.__name__] += 1
        return deed.__name__

    def present(self) -> Membership | None:
        here = [member for member in self.members if member.active]
        return self.rng.choice(here) if here else None

    def answer(self) -> dict[str, str]:
        return {"intent": self.rng.choice(LABELS)}

    def next(self) -> serving.Task | None:
        member = self.present()
        if member is None:
            return None
        if (version := publishing.must_acknowledge(member)) is not None:
            publishing.acknowledge(member, version, at=self.at)
        task = serving.next_task(member, at=self.at, rng=self.rng)
        if isinstance(task, serving.Nothing):
            return None
        self.forms.append((member, task.assignment))
        return task

    def label(self) -> None:
        if self.next() is not None:
            self.submit(*self.forms[-1])
        elif not Slot.objects.open().filter(wave__in=self.project.waves.served()).exists():
            self.new_wave()

    def submit(self, member: Membership, form: UUID) -> None:
        answers = self.answer()
        saved = labelling.submit(member, form, answers=answers, at=self.at)
        assert saved.repeated == (saved.annotation in self.acknowledged)
        self.acknowledged.setdefault(saved.annotation, answers)

    def stale_form(self) -> None:
        """Any form that was ever shown is sent: late, again, after a skip, under a guideline of long ago."""
        forms = [(member, form) for member, form in self.forms if member.active]
        if forms:
            self.submit(*self.rng.choice(forms))

    def skip(self) -> None:
        if self.next() is not None:
            labelling.skip(*self.forms[-1], reason="other", at=self.at)

    def correct(self) -> None:
        member = self.present()
        rows = list(labelling.history(member)[:12]) if member else []
        if rows:
            labelling.correct(member, self.rng.choice(rows).uuid, answers=self.answer(), at=self.at)

    def silence(self) -> None:
        self.at += timedelta(minutes=self.rng.choice([9, 31, 31, 200]))

    def leave(self) -> None:
        member = self.present()
        if member is not None:
            member.active = False
            member.save(update_fields=["active"])

    def come_back(self) -> None:
        for member in self.members:
            if not member.active:
                member.active = True
                member.save(update_fields=["active"])
                return

    def sweep(self) -> None:
        for draw in draws.close_due(at=self.at):
            self.closed_at[draw.pk] = self.at

    def open_draw(self) -> Draw | None:
        open_draws = list(Draw.objects.open().filter(wave__project=self.project))
        return self.rng.choice(open_draws) if open_draws else None

    def close(self) -> None:
        draw = self.open_draw()
        if draw is not None:
            closing, reason = self.rng.choice([("short", ""), ("early", "for the walk")])
            self.try_to(lambda: draws.close(draw, closing=closing, reason=reason, by=self.lead, at=self.at))

    def close_wave(self) -> None:
        wave = self.project.waves.open().first()
        if wave is not None:
            draws.close_wave(wave, by=self.lead, at=self.at, reason="for the walk")

    def release_cover(self) -> None:
        wave = self.project.waves.open().first()
        if wave is not None:
            self.try_to(lambda: draws.release_cover(wave, by=self.lead, at=self.at))

    def give_up(self) -> None:
        draw, member = self.open_draw(), self.present()
        if draw is not None and member is not None:
            draws.give_up(draw, by=member, at=self.at)

    def minor(self) -> None:
        draft = guidelines.draft_of(self.project, by=self.lead, at=self.at)
        drafts.save_text(draft, text=f"{draft.text}\n\nAgain.", revision=draft.revision, by=self.lead)
        publishing.publish(draft, change="editorial", reason="wording", by=self.lead, at=self.at)

    def major(self) -> None:
        draft = guidelines.draft_of(self.project, by=self.lead, at=self.at)
        drafts.save_text(draft, text=f"{draft.text}\n\nOtherwise.", revision=draft.revision, by=self.lead)
        publishing.publish(draft, change="material", reason="rules", by=self.lead, at=self.at)

    def new_wave(self) -> None:
        self.project.protocol |= {
            "window_submits": self.rng.choice([0, 2, 5]),
            "window_minutes": self.rng.choice([0, 10, 30, 30]),
        }
        self.project.save()
        factories.items(self.project, self.rng.choice([2, 6, 25, 40]), prefix=f"batch{self.project.batches.count()}")
        releasing.open_wave(
            self.project,
            by=self.lead,
            at=self.at,
            share_percent=Decimal(self.rng.choice([0, 20, 50, 100])),
            ratings_per_item=self.rng.choice([2, 2, 3, 4]),
        )

    def mend_an_item(self) -> None:
        items = list(Item.objects.filter(project=self.project, standing="current").order_by("pk"))
        item = self.rng.choice(items)
        text = {"text": f"{item.content['text']} mended at {self.at} {item.pk}"}
        superseding.supersede(item, content=text, by=self.lead, at=self.at)

    def try_to(self, deed: Callable[[], object]) -> None:
        with suppress(DomainError):  # for example: nothing to release, or somebody can still rate
            deed()

    # -- what always holds --------------------------------------------------------------------------------------------

    def check(self) -> None:
        self.check_counters()
        self.check_never_too_many_never_twice()
        self.check_slots()
        self.check_nothing_lost()
        self.check_measured()
        self.check_closed_draws_do_not_move()

    def check_counters(self) -> None:
        unrated = Q(slots__state__in=[SlotState.OPEN, SlotState.CLAIMED, SlotState.WAITING])
        for wave in self.project.waves.annotate(
            overlap=Count("slots", filter=unrated & Q(slots__draw__isnull=False)),
            single=Count("slots", filter=unrated & Q(slots__draw__isnull=True)),
        ):
            assert (wave.overlap_left, wave.single_left) == (wave.overlap, wave.single), f"wave {wave.number}"

    def check_never_too_many_never_twice(self) -> None:
        rows = WaveItem.objects.annotate(
            counted=Count("annotations", filter=Q(annotations__slot__isnull=False)),
            people=Count("annotations__member", filter=Q(annotations__slot__isnull=False), distinct=True),
        )
        assert not rows.exclude(counted=F("rated")).exists()
        assert not rows.exclude(people=F("rated")).exists()
        assert not rows.filter(rated__gt=F("needed")).exists()
        assert not rows.filter(needed__gt=F("wave__ratings_per_item")).exists()
        met = Annotation.objects.values("item", "member", "major").annotate(n=Count("pk"))
        assert not met.filter(n__gt=1).exists()
        held = Assignment.objects.filter(state=AssignmentState.OPEN).values("member").annotate(n=Count("pk"))
        assert not held.filter(n__gt=1).exists()

    def check_slots(self) -> None:
        assert not Slot.objects.filter(state=SlotState.RATED, annotation__isnull=True).exists()
        assert not Slot.objects.exclude(state=SlotState.RATED).filter(annotation__isnull=False).exists()
        assert not Slot.objects.unrated().filter(item__standing="superseded").exists()
        assert not Slot.objects.unrated().filter(wave__state=WaveState.CLOSED).exists()
        # Later ratings wait for those before them, and no earlier one is left behind.
        for item, states in self.states_by_item().items():
            first_open = next((i for i, s in enumerate(states) if s in ("open", "claimed")), None)
            if "waiting" in states:
                assert first_open == states.index("waiting") - 1, f"wave item {item}: {states}"
        # An open slot that waits beside a late rating of the same item would be a rating thrown away.
        gave_up = Seat.objects.filter(gave_up_at__isnull=False).values_list("wave", "member")
        for wave, member in Annotation.objects.filter(
            slot__isnull=True, wave_item__slots__state=SlotState.OPEN
        ).values_list("wave_item__wave", "member"):
            assert (wave, member) in set(gave_up)

    def states_by_item(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for item, state in Slot.objects.order_by("number").values_list("wave_item", "state"):
            found.setdefault(item, []).append(state)
        return found

    def check_nothing_lost(self) -> None:
        first = Annotation.objects.filter(revisions__number=1).values_list("uuid", "revisions__answers")
        assert dict(first) == self.acknowledged
        assert Annotation.objects.count() == len(self.acknowledged)

    def check_measured(self) -> None:
        """The measured rating is the revision that stood when the window ended, by the protocol's own words."""
        revisions: dict[int, list[Revision]] = {}
        for revision in Revision.objects.order_by("number"):
            revisions.setdefault(revision.annotation_id, []).append(revision)
        waves = {wave.pk: wave for wave in self.project.waves.all()}
        closed = dict(Draw.objects.values_list("pk", "closed_at"))
        gave_up = {(wave, member): at for wave, member, at in Seat.objects.values_list("wave", "member", "gave_up_at")}
        given: dict[int, list[Annotation]] = {}
        for row in Annotation.objects.annotate(wave=F("wave_item__wave")).order_by("member", "seq"):
            given.setdefault(row.member_id, []).append(row)
        for member, rows in given.items():
            assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
            for place, row in enumerate(rows):
                others = (closed.get(row.draw_id), gave_up.get((row.wave, member)))
                ends = window_end(waves[row.wave], rows[place:], [at for at in others if at is not None])
                standing = [r for r in revisions[row.pk] if r.number == 1 or r.at < ends]
                assert row.latest == revisions[row.pk][-1].answers
                assert row.answers == standing[-1].answers
                assert [r.number for r in revisions[row.pk] if r.in_window] == [r.number for r in standing]
                assert ends > self.at or row.window_ends == ends

    def check_closed_draws_do_not_move(self) -> None:
        for draw in Draw.objects.closed().filter(wave__project=self.project):
            measured = dict(Annotation.objects.filter(draw=draw).values_list("pk", "answers"))
            assert self.frozen.setdefault(draw.pk, measured) == measured

    # -- and in the end -----------------------------------------------------------------------------------------------

    def everybody_works(self) -> Iterator[str]:
        """All are there, cover is released, and they work until nobody gets anything."""
        for member in self.members:
            member.active = True
            member.save(update_fields=["active"])
        for wave in self.project.waves.open().filter(cover_released_at__isnull=True):
            draws.release_cover(wave, by=self.lead, at=self.at)
        idle = 0
        while idle < 40:
            self.at += timedelta(minutes=2)
            idle = 0 if self.next() is not None else idle + 1
            if idle == 0:
                self.submit(*self.forms[-1])
                yield "worked"

    def check_end(self) -> None:
        """What is left was met by everybody, or belongs to who gave up: nothing was lost on the way."""
        for slot in Slot.objects.unrated().filter(wave__project=self.project, wave__held=False):
            if slot.wave.major != guidelines.newest(self.project).major:
                continue
            met = set(
                Assignment.objects.filter(
                    item=slot.item, major=slot.wave.major, state__in=["submitted", "skipped"]
                ).values_list("member", flat=True)
            )
            gave_up = set()
            if slot.draw_id is not None:
                seats = Seat.objects.filter(wave=slot.wave, gave_up_at__isnull=False)
                gave_up = set(seats.values_list("member", flat=True))
            assert {member.pk for member in self.members} <= met | gave_up, f"slot {slot.pk} is {slot.state}"


def window_end(wave: Wave, rows: list[Annotation], others: list[datetime]) -> datetime:
    """When the window of `rows[0]` ends: W further submits (`rows[1:]`), M minutes, or what else ended it."""
    row = rows[0]
    if not wave.window_submits or not wave.window_minutes:
        return row.submitted_at
    ends = [row.submitted_at + timedelta(minutes=wave.window_minutes)]
    ends += [further.submitted_at for further in rows[wave.window_submits : wave.window_submits + 1]]
    return min(ends + [at for at in others if at > row.submitted_at])


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(1, 4))
def test_random_walk_adds_up_at_every_step(seed):
    walk = Walk(seed)
    done = []
    for _ in range(STEPS):
        done.append(walk.step())
        try:
            walk.check()
        except AssertionError as error:
            raise AssertionError(f"after {len(done)} steps, the last ones {done[-4:]}: {error}") from error

    for _ in walk.everybody_works():
        pass
    walk.check()
    walk.check_end()
    assert len(walk.acknowledged) > STEPS / 5
