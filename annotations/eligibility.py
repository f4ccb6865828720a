"""Which items are fresh, and for the others why not (DESIGN §3 "Fresh")."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.enums import WaveState
from annotations.models import Annotation, Case, WaveItem
from projects.enums import Standing
from projects.models import Example, Item, Project

# The first that holds is the reason that is given. An open wave comes before what was rated: of its items nobody learns
# which have a rating already, since who then gets one of them would know that it is overlap.
REASONS = {
    "superseded": gettext_lazy("superseded by a corrected item"),
    "adjudicated": gettext_lazy("its conflict was adjudicated"),
    "open_wave": gettext_lazy("in a wave that is open"),
    "rated": gettext_lazy("rated before, as it is or in an earlier text"),
    "example": gettext_lazy("shown as an example in a guideline"),
    "same_content": gettext_lazy("same content as another item that was rated, is in an open wave, or comes first"),
}


@dataclass(frozen=True)
class Ledger:
    """How many items of a project are fresh, and how many are not, by reason."""

    fresh: int
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return self.fresh + sum(self.counts.values())

    @property
    def rows(self) -> list[tuple[str, str, int]]:
        """(reason, its words, how many), without the reasons that hold for nothing."""
        return [(key, str(REASONS[key]), n) for key, n in self.counts.items() if n]

    @property
    def sentence(self) -> str:
        if not self.rows:
            return _("There are no other items.")
        return _("Not eligible: %(list)s.") % {"list": "; ".join(f"{n} × {words}" for _key, words, n in self.rows)}


def _in_open_wave() -> Exists:
    unfinished = [WaveState.IMPORTING, WaveState.OPENING, WaveState.OPEN]
    return Exists(WaveItem.objects.filter(item=OuterRef("pk"), wave__state__in=unfinished))


def _conditions(project: Project) -> dict[str, Exists | Q]:
    """Each reason as a condition on items of `project`."""
    twins = Item.objects.filter(project=project, folded_hash=OuterRef("folded_hash")).exclude(pk=OuterRef("pk"))
    taken = twins.filter(Exists(Annotation.objects.filter(item=OuterRef("pk"))) | _in_open_wave())
    earlier = twins.filter(standing=Standing.CURRENT, pk__lt=OuterRef("pk"))
    return {
        "superseded": Q(standing=Standing.SUPERSEDED),
        "adjudicated": Exists(Case.objects.filter(item=OuterRef("pk"), resolutions__standing=True)),
        "open_wave": _in_open_wave(),
        "rated": Exists(Annotation.objects.filter(item=OuterRef("pk")))
        | Exists(Annotation.objects.filter(item__superseded_by=OuterRef("pk"))),
        "example": Exists(Example.objects.filter(version__project=project, folded_hash=OuterRef("folded_hash"))),
        "same_content": Exists(taken) | Exists(earlier),
    }


def eligible(project: Project) -> QuerySet[Item]:
    """The fresh items of `project`: those that a new wave may take."""
    items = Item.objects.arrived().filter(project=project)
    for condition in _conditions(project).values():
        items = items.exclude(condition) if isinstance(condition, Q) else items.filter(~condition)
    return items


def not_eligible(project: Project, reason: str) -> QuerySet[Item]:
    """The items that are not fresh for `reason`, and for none that comes before it in REASONS."""
    items = Item.objects.arrived().filter(project=project)
    for key, condition in _conditions(project).items():
        if key == reason:
            return items.filter(condition)
        items = items.exclude(condition) if isinstance(condition, Q) else items.filter(~condition)
    raise ValueError(f"{reason!r}: expected one of {', '.join(REASONS)}.")


def ledger(project: Project) -> Ledger:
    """Count every item of `project` once: fresh, or the first reason why not."""
    counts = {reason: not_eligible(project, reason).count() for reason in REASONS}
    return Ledger(fresh=eligible(project).count(), counts=counts)
