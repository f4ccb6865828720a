"""Projects with conflicts of every kind, for the adjudication pages in Chromium; made in the product's database."""

import json
from collections.abc import Sequence
from typing import Any

from annotations.models import Annotation
from projects import folding
from projects.models import Example, GuidelineVersion, Project, Question
from tests import factories
from tests.annotations import disputes
from tests.browser.desk import ARABIC, PARTS, PLAIN, TOPICS, TWO

LEADS = ("lea", "lou")
STEPS = [str(step) for step in range(-5, 6)]
SCALE = [{"key": "same", "task_type": "ordinal", "labels": STEPS, "text": "Do both ask the same?"}]
MESSAGES = [
    "Has anybody had the same: since the update, the list is empty? Thank you all the same.",
    "I like the map. The list I cannot find any more; call me at 0170 5550199, Mia Berger.",
    "The app worked fine for a year. Since the update it logs me out every morning, and support sends me the same "
    "reply each time. I would like to know whether anybody reads what I write, or whether I am talking to a wall.",
    "Great. Really great. Now I can start again.",
]
PAIRS = [
    {"one": "How do I get the list back?", "two": "How do I get the old list back after the update?"},
    {"one": "Why is the map slow?", "two": "What makes the map slow in the morning?"},
]
REMARKS = ("Nothing is asked for.", "", "It thanks, but it means the opposite.")


def marks(*spans: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [{"field": "text", "start": start, "end": end, "label": label} for start, end, label in spans]


def messages(count: int = 4) -> list[dict[str, str]]:
    return [{"text": f"{n + 1}. {MESSAGES[n % len(MESSAGES)]}"} for n in range(count)]


# Questions, what the items say, and what the raters say of each in turn.
PROJECTS: dict[str, tuple[Sequence[dict[str, Any]], Sequence[dict[str, str]], Sequence[Sequence[Any]]]] = {
    "keys": (PLAIN, messages(8), [("complaint", "praise")]),
    "ahead": (PLAIN, messages(), [("complaint", "praise")]),
    "passed": (PLAIN, messages(), [("complaint", "praise")]),
    "several": (PLAIN, messages(), [("complaint", "praise")]),
    "opinions": (PLAIN, messages(), [("complaint", "praise")]),
    "redact": (PLAIN, [{"text": f"{MESSAGES[1][:-1]}, or at 0170 5550199."}], [("complaint", "praise")]),
    "plain": (PLAIN, messages(), [("complaint", "praise"), ("question", "complaint")]),
    "scale": (SCALE, PAIRS, [("-5", "4", "-5", "3"), ("-1", "2", "2", "0")]),
    "sets": (TOPICS, messages(), [(["list"], ["list", "log-in"]), ([], ["map"])]),
    "spans": (
        PARTS,
        [{"text": MESSAGES[1]}, {"text": ARABIC}],
        [
            (marks((0, 14, "praise"), (16, 50, "fault")), marks((2, 14, "praise"), (25, 50, "fault"))),
            (marks((0, 13, "praise")), marks((14, 31, "fault"))),
        ],
    ),
    "two": (
        TWO,
        messages(),
        [({"intent": "praise", "tone": "calm"}, {"intent": "complaint", "tone": "angry"})],
    ),
    "arabic": (PLAIN, [{"text": ARABIC}, {"text": f"{ARABIC} {ARABIC}"}], [("complaint", "praise")]),
}


def project(name: str) -> Project:
    """A project whose wave is closed and whose items are conflicts; lea and lou are its leads."""
    questions, contents, said = PROJECTS[name]
    made = factories.project(name, shown_fields=list(contents[0]))
    version = factories.version(made, questions=False)
    rows = [factories.question(version, **asked) for asked in questions]
    for row in rows:
        _examples(version, row, next(iter(contents[0])))
    for person in LEADS:
        factories.member(made, person, "lead")
    raters = [factories.member(made, f"rater-{n + 1}") for n in range(len(said[0]))]
    named = {f"{place}": said[place % len(said)] for place in range(len(contents))}
    disputes.rated(made, raters, named, key=rows[0].key, contents=contents)
    for place, rater in enumerate(raters):
        Annotation.objects.filter(member=rater).update(comment=REMARKS[place % len(REMARKS)])
    return made


def _examples(version: GuidelineVersion, question: Question, field: str) -> None:
    """A clear case of the first two labels, where an example is one label."""
    if question.task_type not in ("nominal", "ordinal"):
        return
    for label in list(question.labels.all())[:2]:
        content = {field: f"A clear case of {label.name}."}
        Example.objects.create(
            version=version,
            question_key=question.key,
            content=content,
            value=label.key,
            rationale=f"Nothing in it is anything else than {label.name}.",
            content_hash=folding.content_hash(content),
            folded_hash=folding.folded_hash(content),
        )


def seed() -> None:
    """Make the projects and print their addresses."""
    print(json.dumps({name: f"/p/{project(name).uuid}/" for name in PROJECTS}))
