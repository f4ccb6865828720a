"""Dull builders of rows. Each makes what it needs unless given; tests name only what they are about."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from projects import folding
from projects.models import Batch, GuidelineVersion, Item, Label, Membership, Project, Question, User

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PASSWORD = "correct horse battery"


def user(name: str = "anna", **fields: Any) -> User:
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(name, f"{name}@example.org", PASSWORD, **fields)


def project(name: str = "App reviews", **fields: Any) -> Project:
    return Project.objects.create(name=name, shown_fields=fields.pop("shown_fields", ["text"]), **fields)


def member(project: Project, name: str = "anna", *roles: str, **fields: Any) -> Membership:
    """A member with the given roles ("annotator" unless given), acknowledged for the newest published version."""
    roles = roles or ("annotator",)
    newest = project.versions.published().newest_first().first()
    return Membership.objects.create(
        project=project,
        user=user(name),
        alias=name,
        is_annotator="annotator" in roles,
        is_lead="lead" in roles,
        is_admin="admin" in roles,
        acknowledged=fields.pop("acknowledged", newest),
        **fields,
    )


def question(
    version: GuidelineVersion,
    key: str = "intent",
    labels: Sequence[str] = ("complaint", "praise", "question"),
    **fields: Any,
) -> Question:
    """A question with one label per key; an ordinal one may give `values`."""
    values = fields.pop("values", [None] * len(labels))
    row = Question.objects.create(
        version=version,
        key=key,
        text=fields.pop("text", f"What is the {key}?"),
        task_type=fields.pop("task_type", "nominal"),
        order=version.questions.count(),
        **fields,
    )
    Label.objects.bulk_create(
        Label(question=row, key=label, name=label, definition=f"It is {label}.", order=i, value=values[i])
        for i, label in enumerate(labels)
    )
    return row


def version(
    project: Project, major: int | None = 1, minor: int | None = 0, *, questions: bool = True, **fields: Any
) -> GuidelineVersion:
    """A published version `major.minor` with one nominal question, or a draft (major=None)."""
    made = GuidelineVersion.objects.create(
        project=project,
        state="draft" if major is None else "published",
        major=major,
        minor=None if major is None else minor,
        text=fields.pop("text", "# Guideline\n\nRead the item, then choose."),
        published_at=None if major is None else fields.pop("published_at", timezone.now()),
        **fields,
    )
    if questions:
        question(made)
    return made


def batch(project: Project, **fields: Any) -> Batch:
    return Batch.objects.create(
        project=project, name=fields.pop("name", "batch"), format="jsonl", shown_fields=["text"], **fields
    )


def items(
    project: Project, count: int = 10, *, prefix: str = "item", metadata: Sequence[dict[str, Any]] | None = None
) -> list[Item]:
    """`count` items with texts of their own."""
    into = batch(project, size=count)
    rows = []
    for i in range(count):
        content = {"text": f"{prefix} {i} says something of its own"}
        rows.append(
            Item(
                project=project,
                batch=into,
                number=i + 1,
                external_id=f"{prefix}-{i}",
                content=content,
                metadata=metadata[i] if metadata else {},
                content_hash=folding.content_hash(content),
                folded_hash=folding.folded_hash(content),
            )
        )
    return Item.objects.bulk_create(rows)
