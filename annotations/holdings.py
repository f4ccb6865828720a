"""What a project holds, counted: what would go if it were deleted."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.models import Annotation, Resolution
from projects.enums import JobKind, JobState
from projects.models import Project


@dataclass(frozen=True)
class Holding:
    """A number and what it counts."""

    count: int
    what: str


def of(project: Project) -> list[Holding]:
    """The counts of the page that asks whether to delete it."""
    exports = project.jobs.filter(kind=JobKind.EXPORT, state=JobState.DONE).exclude(file="")
    return [
        Holding(project.items.count(), _("items, with all their texts")),
        Holding(Annotation.objects.filter(member__project=project).count(), _("ratings, with every correction")),
        Holding(Resolution.objects.filter(case__draw__wave__project=project).count(), _("decisions on conflicts")),
        Holding(project.waves.count(), _("waves, with their draws, figures and gates")),
        Holding(project.versions.published().count(), _("published guideline versions")),
        Holding(exports.count(), _("exported files that are still here")),
        Holding(project.memberships.count(), _("memberships; accounts stay")),
    ]
