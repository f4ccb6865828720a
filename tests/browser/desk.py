"""Projects with something to label, one for each test of the labelling page; made in the product's own database."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotations import releasing
from projects.models import Item, Project
from tests import factories

PEOPLE = ("anna", "ben")
PLAIN = [{"key": "intent"}]
TWO = [{"key": "intent"}, {"key": "tone", "labels": ("calm", "angry"), "required": False}]
SIXTY = [{"key": "topic", "labels": [f"topic-{n}" for n in range(1, 61)]}]
TOPICS = [{"key": "topics", "task_type": "multilabel", "labels": ("list", "map", "log-in")}]
PARTS = [{"key": "parts", "task_type": "spans", "labels": ("praise", "fault")}]
WORDS = [{"key": "why", "task_type": "text", "labels": ()}]
EVERY = [*PLAIN, *TOPICS, *PARTS, *WORDS]
FAMILY = "👨‍👩‍👧 like it 👍🏽 very much"
ARABIC = "التطبيق سريع والخريطة بطيئة جدا"
JAPANESE = "地図が遅い。リストは速い。"
COMBINING = "Le cafe\u0301 ferme\r\nto\u0302t"
LONG = "Every day I find another thing that does not work. " * 4_000

PROJECTS: dict[str, dict[str, Any]] = {
    "keys": {},
    "two": {"questions": TWO},
    "sixty": {"questions": SIXTY},
    "long": {"texts": [LONG, "A short one", "Another short one"]},
    "offline": {},
    "expiry": {},
    "restart": {},
    "in-place": {},
    "put-off": {},
    "another": {},
    "elsewhere": {},
    "actions": {},
    "typing": {},
    "troubles": {},
    "gone": {},
    "in-axe": {},
    "two-tabs": {},
    "left": {},
    "tabs": {},
    "draft": {},
    "undo": {},
    "plain": {},
    "phone": {},
    "axe": {"count": 3},
    "still": {},
    "weight": {},
    "asking": {},
    "idle": {},
    "own": {},
    "rules": {},
    "comment": {"comment_required": True},
    "search": {},
    "topics": {"questions": TOPICS},
    "words": {"questions": WORDS},
    "family": {"questions": PARTS, "texts": [FAMILY]},
    "arabic": {"questions": PARTS, "texts": [ARABIC]},
    "japanese": {"questions": PARTS, "texts": [JAPANESE]},
    "combining": {"questions": PARTS, "texts": [COMBINING]},
    "parts": {"questions": PARTS, "texts": [f"The list {n} is fast, the map is slow." for n in range(8)]},
    "touch": {"questions": PARTS},
    "every": {"questions": EVERY},
}


def project(
    name: str,
    questions: Sequence[dict[str, Any]] = PLAIN,
    *,
    texts: Sequence[str] = (),
    count: int = 12,
    comment_required: bool = False,
) -> Project:
    """A project with a wave of items that is open to anna and ben; no item of it is overlap."""
    made = factories.project(name, comment_required=comment_required)
    version = factories.version(made, questions=False)
    for asked in questions:
        factories.question(version, **asked)
    members = [factories.member(made, person) for person in PEOPLE]
    lead = factories.member(made, "lea", "lead")
    rows = factories.items(made, len(texts) or count, prefix=name)
    for row, text in zip(rows, texts, strict=False):
        row.content = {"text": text}
    Item.objects.bulk_update(rows, ["content"])
    releasing.open_wave(made, by=lead, at=timezone.now(), share_percent=Decimal(0))
    assert {member.acknowledged for member in members} == {version}
    return made


def seed() -> None:
    """Make the projects and print their addresses."""
    made = {name: project(name, **given) for name, given in PROJECTS.items()}
    print(json.dumps({name: f"/p/{one.uuid}/" for name, one in made.items()}))
