"""The draft of a project's next guideline version: found or made, written, thrown away."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import activities
from projects.enums import VersionState
from projects.errors import DomainError, Invalid, NotAllowed, StaleText
from projects.models import Example, GuidelineVersion, Label, Membership, Project

TEXT_LIMIT = 200_000


class Published(DomainError):
    """A published version never changes."""

    code = "published"


class DraftGone(DomainError):
    """The draft was discarded in the meantime."""

    code = "draft_gone"


class Changed(DomainError):
    """Somebody else changed this while it was being read or edited."""

    code = "stale"


def starter_text() -> str:
    """What a first guideline starts from: headings to fill in, each with the question that it answers."""
    return _(
        "# Guideline\n\n"
        "## What this is for\n\n"
        "Who will use the labels, and what goes wrong if one is wrong?\n\n"
        "## How to read an item\n\n"
        "What do annotators look at, in what order, and what do they leave out of account?\n\n"
        "## Rules\n\n"
        "When does which label hold? Write a rule so that somebody can find out that they broke it.\n\n"
        "## Hard cases\n\n"
        "Which two labels are easily confused, and what decides between them?\n\n"
        "## When in doubt\n\n"
        "What should annotators do if no label fits, or two do?\n"
    )


def current(project: Project) -> GuidelineVersion | None:
    """The project's draft, if there is one."""
    return project.versions.filter(state=VersionState.DRAFT).select_related("project", "based_on").first()


def draft_of(project: Project, *, by: Membership, at: datetime | None = None) -> GuidelineVersion:
    """The project's draft; made from the newest published version if there is none. Of two callers at once both get
    the same one."""
    _same_project(project, by)
    with transaction.atomic():
        # The lock keeps a publish from slipping in between: a draft is always based on the newest version.
        lock(project.pk)
        found = current(project)
        if found:
            return found
        newest = project.versions.published().newest_first().first()
        try:
            with transaction.atomic():
                return _copy(project, newest, by=by, at=at or timezone.now())
        except IntegrityError:
            found = current(project)
            if found is None:
                raise
            return found


def lock(project_id: int) -> None:
    """Until the transaction ends nobody else writes in this project's guideline: one lock, so that none wait in a ring.

    Rows that refer to the project go on being written.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project_id)


@contextmanager
def editing(draft: GuidelineVersion, *, by: Membership) -> Iterator[GuidelineVersion]:
    """The draft as it stands, and nobody else changes it meanwhile; refused if it is no draft any more."""
    _same_project(draft.project, by)
    with transaction.atomic():
        lock(draft.project_id)
        yield _still_a_draft(GuidelineVersion.objects.filter(pk=draft.pk).first())


def save_text(draft: GuidelineVersion, *, text: str, revision: int, by: Membership) -> GuidelineVersion:
    """Save the text that was written on top of `revision`. StaleText if somebody saved another one since.

    The revision counts saves of the text alone: an example that comes in meanwhile makes no text stale.
    """
    text = clean_text(text.replace("\r\n", "\n"), limit=TEXT_LIMIT)
    with editing(draft, by=by) as row:
        if row.text != text:
            if row.revision != revision:
                raise StaleText(theirs=row.text, yours=text)
            row.text, row.revision = text, row.revision + 1
            row.save(update_fields=["text", "revision"])
    draft.text, draft.revision = row.text, row.revision
    return draft


def discard(draft: GuidelineVersion, *, by: Membership) -> None:
    """Throw the draft away, with its questions, labels and examples. What is published stays."""
    with editing(draft, by=by) as row:
        row.delete()
        activities.record("draft_discarded", draft.project_id, by=by)


def clean_text(text: str, *, limit: int, name: str = "") -> str:
    """The text as it was sent, without what a database or a hash cannot hold."""
    name = name or _("text")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise Invalid(_("The %(name)s holds characters that are no text: remove them.") % {"name": name})
    if len(text) > limit:
        raise Invalid(
            _("The %(name)s has %(found)s characters and may have %(limit)s: shorten it.")
            % {"name": name, "found": len(text), "limit": limit}
        )
    return text


def _still_a_draft(row: GuidelineVersion | None) -> GuidelineVersion:
    if row is None:
        raise DraftGone(_("This draft was discarded in the meantime: start a new one from the published guideline."))
    if not row.is_draft:
        raise Published(
            _("Guideline %(number)s is published and cannot change: change the draft of the next version instead.")
            % {"number": row.number}
        )
    return row


def _same_project(project: Project, by: Membership) -> None:
    if by.project_id != project.pk:
        raise NotAllowed(_("You are not a member of “%(project)s”.") % {"project": project.name})


def _copy(project: Project, newest: GuidelineVersion | None, *, by: Membership, at: datetime) -> GuidelineVersion:
    draft = GuidelineVersion.objects.create(
        project=project,
        based_on=newest,
        text=newest.text if newest else starter_text(),
        created_by=by,
        created_at=at,
    )
    if newest:
        copy_questions(newest, draft)
        copy_examples(newest, draft)
    return draft


def copy_questions(old: GuidelineVersion, draft: GuidelineVersion) -> None:
    labels = []
    for question in old.questions.prefetch_related("labels"):
        own_labels = list(question.labels.all())
        question.pk, question.version = None, draft
        question.save(force_insert=True)
        for label in own_labels:
            label.pk, label.question = None, question
            labels.append(label)
    Label.objects.bulk_create(labels)


def copy_examples(old: GuidelineVersion, draft: GuidelineVersion) -> None:
    Example.objects.bulk_create(
        Example(
            version=draft,
            **{
                name: getattr(example, name)
                for name in (
                    "lineage",
                    "question_key",
                    "content",
                    "value",
                    "confused_with",
                    "rationale",
                    "kind",
                    "origin",
                    "content_hash",
                    "folded_hash",
                    "order",
                    "created_at",
                )
            },
        )
        for example in old.examples.all()
    )
