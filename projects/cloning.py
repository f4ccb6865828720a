"""A new project from an old one: how it works comes along, what was made in it does not."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects import access, activities, drafts, guidelines
from projects.enums import Action, Origin, VersionState
from projects.models import Example, GuidelineVersion, Label, LabelStyle, Membership, MembershipQuerySet, Project, User

SETTINGS = ("description", "notice", "shown_fields", "comment_required")


@dataclass(frozen=True)
class Parts:
    """What a clone would take along."""

    guideline: GuidelineVersion | None
    questions: int
    labels: int
    examples: int
    styles: int
    members: int

    @property
    def sentences(self) -> list[str]:
        """In words, for the page."""
        if self.guideline is None:
            return [_("The settings and the protocol. There is no guideline yet.")]
        questions = ngettext("%(n)s question", "%(n)s questions", self.questions) % {"n": self.questions}
        labels = ngettext("%(n)s label", "%(n)s labels", self.labels) % {"n": self.labels}
        said = _("The settings, the protocol, and the colours and keys of the labels.")
        if self.guideline.is_draft:
            return [said, _("The draft of the guideline, with %(q)s and %(l)s.") % {"q": questions, "l": labels}]
        return [
            said,
            _(
                "The text of guideline %(number)s with %(q)s and %(l)s, as a draft: the new project publishes its own "
                "1.0, so that its record says who read it there and stands behind it."
            )
            % {"number": self.guideline.number, "q": questions, "l": labels},
        ]


def parts(project: Project) -> Parts:
    """What there is to take along."""
    source = _source(project)
    return Parts(
        guideline=source,
        questions=source.questions.count() if source else 0,
        labels=Label.objects.filter(question__version=source).count() if source else 0,
        examples=source.examples.count() if source else 0,
        styles=project.label_styles.count(),
        members=_people(project).count(),
    )


@transaction.atomic
def clone(
    project: Project,
    *,
    name: str,
    by: Membership,
    at: datetime,
    with_examples: bool = True,
    with_members: bool = False,
) -> Membership:
    """A new project with the settings, protocol and guideline of this one; `by` becomes its admin and its lead.

    The newest published guideline comes along as a draft (where none is published, the draft), with new identities for
    its examples. Never items, ratings, waves, decisions or invitations, nor what names them.
    """
    access.require(by, Action.MANAGE_PROJECT)
    access.require_kept(project)
    made = Project.objects.create(
        name=name,
        protocol=_protocol(project),
        created_by=by.user,
        created_at=at,
        **{field: getattr(project, field) for field in SETTINGS},
    )
    founder = _founder(made, by.user)
    if source := _source(project):
        draft = GuidelineVersion.objects.create(project=made, text=source.text, created_by=founder, created_at=at)
        drafts.copy_questions(source, draft)
        if with_examples:
            drafts.copy_examples(source, draft)
            for example in draft.examples.all():
                Example.objects.filter(pk=example.pk).update(lineage=uuid4(), origin=Origin.WRITTEN)
    LabelStyle.objects.bulk_create(
        LabelStyle(
            project=made,
            question_key=one.question_key,
            label_key=one.label_key,
            colour=one.colour,
            hotkey=one.hotkey,
        )
        for one in project.label_styles.all()
    )
    if with_members:
        Membership.objects.bulk_create(_joining(made, project, founder))
    activities.record("project_founded", made, by=founder, at=at)
    if project.archived_at is None:
        activities.record("project_cloned", project, by=by, at=at, name=name)
    return founder


def _source(project: Project) -> GuidelineVersion | None:
    return guidelines.newest(project) or project.versions.filter(state=VersionState.DRAFT).first()


def _protocol(project: Project) -> dict[str, object]:
    """Without the expert, who is named as a member of the old project."""
    return {key: value for key, value in project.protocol.items() if key != "expert"}


def _founder(project: Project, user: User | None) -> Membership:
    if user is None:
        raise AssertionError("who asks has an account")
    return Membership.objects.create(project=project, user=user, alias=user.username, is_admin=True, is_lead=True)


def _people(project: Project) -> MembershipQuerySet:
    return project.memberships.active().filter(user__isnull=False, user__is_active=True)


def _joining(made: Project, old: Project, founder: Membership) -> list[Membership]:
    people = _people(old).exclude(user=founder.user).select_related("user")
    found = []
    for one in people:
        joined = Membership(project=made, user=one.user, alias=one.alias)
        access.set_roles(joined, access.roles(one))
        found.append(joined)
    return found
