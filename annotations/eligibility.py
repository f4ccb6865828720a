"""Which items are fresh, and for the others why not (DESIGN §3 "Fresh")."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case as FirstOf
from django.db.models import CharField, Count, Exists, OuterRef, Q, QuerySet, Subquery, UUIDField, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.enums import WaveState
from annotations.models import Annotation, Case, Draw, WaveItem
from projects.enums import Standing
from projects.models import Example, Item, Project
from projects.task_types import Json

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


def _twins(project: Project) -> tuple[QuerySet[Item], QuerySet[Item]]:
    """The items because of which one of the same content is not fresh: those taken before it, and those before it."""
    twins = Item.objects.filter(project=project, folded_hash=OuterRef("folded_hash")).exclude(pk=OuterRef("pk"))
    taken = twins.filter(Exists(Annotation.objects.filter(item=OuterRef("pk"))) | _in_open_wave())
    return taken, twins.filter(standing=Standing.CURRENT, pk__lt=OuterRef("pk"))


def _conditions(project: Project) -> dict[str, Exists | Q]:
    """Each reason as a condition on items of `project`."""
    taken, earlier = _twins(project)
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


def with_reason(project: Project) -> QuerySet[Any]:
    """The items of `project`, each with the first `reason` of REASONS that holds for it; the empty text where none."""
    tests = [When(condition, then=Value(reason)) for reason, condition in _conditions(project).items()]
    found = FirstOf(*tests, default=Value(""), output_field=CharField())
    return Item.objects.arrived().filter(project=project).annotate(reason=found)


def not_eligible(project: Project, reason: str = "") -> QuerySet[Any]:
    """The items that are not fresh, each with its `reason`; only those with this one if it is given.

    `same_as` is the uuid of the item whose content is the same, where that is the reason.
    """
    if reason and reason not in REASONS:
        raise ValueError(f"{reason!r}: expected one of {', '.join(REASONS)}.")
    taken, earlier = (Subquery(twins.order_by("pk").values("uuid")[:1]) for twins in _twins(project))
    twin = FirstOf(When(reason="same_content", then=Coalesce(taken, earlier)), default=None, output_field=UUIDField())
    rows: QuerySet[Any] = with_reason(project).annotate(same_as=twin)
    return rows.filter(reason=reason) if reason else rows.exclude(reason="")


def ledger(project: Project) -> Ledger:
    """Count every item of `project` once: fresh, or the first reason why not. One look at each item."""
    rows = with_reason(project).values("reason").order_by().annotate(n=Count("pk"))
    found = {row["reason"]: row["n"] for row in rows}
    return Ledger(fresh=found.get("", 0), counts={reason: found.get(reason, 0) for reason in REASONS})


# -- as a file ---------------------------------------------------------------------------------------------------------

FIELDS = ("item", "item_id", "reason", "why", "same_as")
CHUNK = 2_000


def file_rows(project: Project, hidden: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """Every item that is not fresh, with the reason. The same for whoever asks: see REASONS."""
    rows = not_eligible(project).order_by("pk").values_list("pk", "uuid", "external_id", "reason", "same_as")
    words = {reason: str(said) for reason, said in REASONS.items()}
    done, last = 0, 0
    while chunk := list(rows.filter(pk__gt=last)[:CHUNK]):
        for _pk, uuid, external_id, reason, same_as in chunk:
            done += 1
            said = {"item": str(uuid), "item_id": external_id, "reason": reason, "why": words[reason]}
            yield done, {**said, "same_as": str(same_as) if same_as else None}
        last = chunk[-1][0]
