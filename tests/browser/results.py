"""Projects for what annotators read once a measurement has closed, each for a desk and for a phone; and its steps."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotations import adjudication, draws, inquiries, publishing, releasing, sent_back
from annotations.enums import Cause, Closing
from annotations.models import Annotation, Case, Inquiry, SentBack
from projects import drafts
from projects.models import Membership, Project
from tests import factories
from tests.annotations import disputes

STORIES = ("outcome", "sent-back", "answer", "news")
DEVICES = ("desk", "phone")
WHY = "The text names a fault, and that is what counts."
ASKED, ANSWERED = "Does thanks count as praise?", "It does, where nothing else is said."


def seed() -> None:
    """Make the projects and print their addresses."""
    found = {}
    for story in STORIES:
        for device in DEVICES:
            name = f"{story}-{device}"
            found[name] = f"/p/{_project(name, news=story == 'news').uuid}/"
            if story == "answer":
                _ask(name)
    print(json.dumps(found))


def _project(name: str, *, news: bool) -> Project:
    """anna and ben have rated two items, and differ on both; the draw is open, since they may still correct."""
    made = factories.project(name)
    factories.version(made)
    anna, ben = (factories.member(made, person) for person in ("anna", "ben"))
    lead = factories.member(made, "lea", "lead", "admin")
    if news:
        factories.items(made, 4, prefix=name)
        releasing.open_wave(made, by=lead, at=timezone.now(), size=2)
    else:
        before = timezone.now() - timedelta(minutes=5)  # each of a team's turns takes ten seconds
        said = {f"{name}-{place}": ("praise", "complaint") for place in range(2)}
        disputes.rated(made, [anna, ben], said, at=before, close=False)
    return made


def _lead(name: str) -> Membership:
    return Membership.objects.get(project__name=name, alias="lea")


def _ask(name: str) -> None:
    mine = Annotation.objects.filter(member__project__name=name, member__alias="anna").first()
    assert mine is not None
    inquiries.ask(mine.member, mine.assignment.uuid, text=ASKED, at=timezone.now())


def answer(name: str) -> None:
    inquiries.answer(Inquiry.objects.get(by__project__name=name), text=ANSWERED, by=_lead(name), at=timezone.now())


def close(name: str) -> None:
    lead = _lead(name)
    draws.close(lead.project.waves.get().draw, closing=Closing.COMPLETE, by=lead, at=timezone.now())


def decide(name: str) -> None:
    """One of the two cases, for ben's label."""
    case = Case.objects.filter(draw__wave__project__name=name).earliest("pk")
    adjudication.resolve(
        case, value="complaint", rationale=WHY, cause=Cause.GUIDELINE_SILENT, by=_lead(name), at=timezone.now()
    )


def send_back(name: str) -> None:
    """Both of anna's labels."""
    for case in Case.objects.filter(draw__wave__project__name=name):
        letter = "A" if case.first.member.alias == "anna" else "B"
        sent_back.send(case, letter=letter, reason=WHY, by=_lead(name), at=timezone.now())


def publish(name: str) -> None:
    """A material change, and a wave under it."""
    lead = _lead(name)
    draft = drafts.draft_of(lead.project, by=lead)
    text = draft.text + "\n\nThanks count as praise."
    drafts.save_text(draft, text=text, revision=draft.revision, by=lead)
    draft.refresh_from_db()
    publishing.publish(draft, change="material", reason="Thanks were unclear.", by=lead, at=timezone.now())
    releasing.open_wave(lead.project, by=lead, at=timezone.now())


def acknowledged(name: str) -> None:
    """Print the number of the version that anna read last, as the table of members has it."""
    print(Membership.objects.get(project__name=name, alias="anna").acknowledged.number)


def tell(name: str) -> None:
    """Print what the tables say of anna's labels, in the order in which they were given."""
    rows: list[dict[str, Any]] = [
        {
            "version": row.version.number,
            "measured": row.answers["intent"],
            "latest": row.latest["intent"],
            "revisions": row.revisions_count,
            "kept": SentBack.objects.filter(annotation=row, kept_at__isnull=False).exists(),
        }
        for row in Annotation.objects.filter(member__project__name=name, member__alias="anna").order_by("pk")
    ]
    print(json.dumps(rows))
