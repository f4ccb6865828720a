"""Guideline versions: found, compared, published. Drafts, questions, labels and examples have modules of their own,
and what other apps need of them is found here too."""

import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from projects import access, activities, drafts, examples, labels
from projects import differences as diffs
from projects.differences import Content, Differences
from projects.drafts import discard, draft_of, save_text
from projects.enums import Action, Change, VersionState
from projects.errors import Invalid, NotAllowed
from projects.examples import add_example, edit_example, remove_example
from projects.folding import content_hash
from projects.models import GuidelineVersion, Membership, Project
from projects.reading import KEPT_IN_MEMORY, Reading, content, content_rows, reading

__all__ = [
    "Consequences",
    "Reading",
    "Step",
    "add_example",
    "checklist",
    "consequences",
    "differences",
    "digest",
    "discard",
    "draft_of",
    "edit_example",
    "kept",
    "newest",
    "publish",
    "published",
    "reading",
    "remove_example",
    "save_text",
]

_KEPT: dict[UUID, GuidelineVersion] = {}


@dataclass(frozen=True)
class Step:
    """One thing on the way to publishing. `needed`: nothing is published without it. `place`: the page to do it on."""

    title: str
    done: bool
    needed: bool
    place: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Consequences:
    """What publishing this draft would mean. The numbers are those that the version would get."""

    differences: Differences
    first: bool
    problems: tuple[str, ...]
    material_number: str
    editorial_number: str | None
    why_material: tuple[str, ...]
    seen: str

    @property
    def may_publish(self) -> bool:
        return not self.problems and not (self.differences.is_empty and not self.first)

    @property
    def may_be_editorial(self) -> bool:
        return self.editorial_number is not None and not self.differences.is_material


def newest(project: Project) -> GuidelineVersion | None:
    """The newest published version: what is labelled under now."""
    return project.versions.published().newest_first().first()


def kept(uuid: UUID) -> GuidelineVersion:
    """A published version, from this process's memory after the first time: what is published never changes.

    But for `public`, which is asked of the database whenever it is looked at.
    """
    version = _KEPT.get(uuid)
    if version is None:
        version = GuidelineVersion.objects.defer("public").get(uuid=uuid)
        if version.digest and not version.is_draft:
            if len(_KEPT) >= KEPT_IN_MEMORY:
                _KEPT.clear()
            _KEPT[uuid] = version
    return copy.copy(version)  # what one caller sets on it is not the next one's


def published(project: Project) -> QuerySet[GuidelineVersion]:
    """The published versions, newest first."""
    rows = project.versions.published().newest_first()
    return rows.select_related("project", "published_by__user", "based_on")


def differences(old: GuidelineVersion | None, new: GuidelineVersion) -> Differences:
    """What changed from `old` (nothing, for a first version) to `new`."""
    return diffs.between(content(old) if old else Content(), content(new))


def digest(version: GuidelineVersion) -> str:
    """SHA-256 (hex) over the canonical JSON of everything that the version says."""
    return content_hash(content(version).as_json())


def checklist(draft: GuidelineVersion) -> list[Step]:
    """What there is to do before the draft can be published, in the order in which one does it."""
    questions, rows = content_rows(draft)
    written = bool(draft.text.strip()) and draft.text != drafts.starter_text()
    set_up = labels.problems(questions)
    undefined = [label.name for question in questions for label in question.labels.all() if not label.definition]
    loose = examples.problems(rows, questions)
    return [
        Step(_("Write the text"), written, True, "text", () if written else (_text_missing(),)),
        Step(_("Define a question with two labels or more"), not set_up, True, "questions", tuple(set_up)),
        Step(
            _("Write a definition for every label"),
            bool(questions) and not undefined,
            False,
            "questions",
            tuple(_("“%(label)s” has none yet.") % {"label": name} for name in undefined[:5]),
        ),
        Step(_("Show an example or two of what is hard"), bool(rows) and not loose, False, "examples"),
        *([Step(_("Mend the examples"), False, True, "examples", tuple(loose))] if loose else []),
    ]


def consequences(draft: GuidelineVersion) -> Consequences:
    """What publishing the draft would mean, for the page that asks whether to."""
    old = draft.based_on
    changed = differences(old, draft)
    major, minor = (old.major or 0, old.minor or 0) if old else (0, 0)
    return Consequences(
        differences=changed,
        first=old is None,
        problems=tuple(problems(draft)),
        material_number=f"{major + 1}.0",
        editorial_number=f"{major}.{minor + 1}" if old else None,
        why_material=tuple(changed.material()) if old else (),
        seen=digest(draft),
    )


def problems(draft: GuidelineVersion) -> list[str]:
    """A sentence for everything that keeps the draft from being published."""
    return [note for step in checklist(draft) if step.needed and not step.done for note in step.notes]


def publish(
    draft: GuidelineVersion,
    *,
    change: str,
    reason: str,
    by: Membership,
    at: datetime,
    seen: str | None = None,
) -> GuidelineVersion:
    """Publish the draft: material raises MAJOR, editorial MINOR, and the first is always 1.0.

    Call it through `annotations.publishing.publish`, which also closes the draws of the MAJOR that ends.
    `seen`: the digest of what the publisher was shown (`Consequences.seen`); refused if the draft changed since.
    """
    with drafts.editing(draft, by=by) as row:
        row.digest = digest(row)
        if seen is not None and seen != row.digest:
            raise drafts.Changed(
                _("The draft was changed after you opened this page: read what it says now, then publish.")
            )
        if found := problems(row):
            raise Invalid(_("The draft cannot be published yet. %(problems)s") % {"problems": " ".join(found)})
        reason = drafts.clean_text(reason.strip(), limit=5_000, name=_("reason"))
        row.change = _change(row, change, reason)
        row.major, row.minor = _number(row)
        row.state = VersionState.PUBLISHED
        row.reason, row.published_by, row.published_at = reason, by, at
        row.save()
        facts: dict[str, Any] = {"number": row.number, "material": row.change == Change.MATERIAL, "reason": reason}
        activities.record("guideline_published", row.project_id, by=by, subject=row.uuid, at=at, **facts)
    draft.refresh_from_db()
    return draft


@transaction.atomic
def set_public(version: GuidelineVersion, public: bool, *, by: Membership) -> None:
    """Let anybody who has the address read a published version, or no longer. What it says does not change."""
    access.require(by, Action.PUBLISH)
    if by.project_id != version.project_id:
        raise NotAllowed(_("You are not a member of “%(project)s”.") % {"project": version.project.name})
    if version.is_draft:
        raise Invalid(_("A draft is not shown outside the project: publish it first."))
    if GuidelineVersion.objects.filter(pk=version.pk).exclude(public=public).update(public=public):
        kind = "guideline_shown" if public else "guideline_hidden"
        activities.record(kind, version.project_id, by=by, subject=version.uuid, number=version.number)
    version.public = public


def _change(draft: GuidelineVersion, change: str, reason: str) -> Change:
    """The kind of change, where the draft allows it."""
    if change not in Change.values:
        raise Invalid(_("“%(change)s” is no kind of change: say material or editorial.") % {"change": change})
    if draft.based_on is None:
        return Change.MATERIAL
    found = differences(draft.based_on, draft)
    if found.is_empty:
        raise Invalid(
            _("The draft says what %(number)s says: there is nothing to publish.") % {"number": draft.based_on.number}
        )
    if not reason:
        raise Invalid(_("Say in a sentence why this is published: annotators and later readers will ask."))
    if change == Change.EDITORIAL and found.is_material:
        raise Invalid(
            _(
                "This cannot be published as editorial, because more than the wording of the text changed: "
                "%(changes)s. Publish it as material, or take these changes back."
            )
            % {"changes": found.named()},
            code="not_editorial",
        )
    return Change(change)


def _number(draft: GuidelineVersion) -> tuple[int, int]:
    old = draft.based_on
    if old is None:
        return 1, 0
    major, minor = old.major or 0, old.minor or 0
    return (major + 1, 0) if draft.change == Change.MATERIAL else (major, minor + 1)


def _text_missing() -> str:
    return _("The text of the guideline is not written yet.")
