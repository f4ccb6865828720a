"""Pages of items by keyset: a page costs the same whether it is the first or the ten-thousandth."""

from dataclasses import dataclass

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform

from projects.models import Batch, Item, ItemQuerySet, Project

PAGE = 50


@dataclass(frozen=True)
class Page:
    """A page of items, oldest first, with the keys that the links before and after it carry."""

    items: list[Item]
    before: int | None
    after: int | None


def find(
    project: Project,
    *,
    query: str = "",
    batch: Batch | None = None,
    after: int | None = None,
    before: int | None = None,
) -> Page:
    """The items of `project` whose id is, or whose shown text contains, `query`."""
    items = Item.objects.current().filter(project=project).select_related("batch")
    if batch is not None:
        items = items.filter(batch=batch)
    if query:
        items = _matching(items, project, query, batch)
    if before is not None:
        found = list(items.filter(pk__lt=before).order_by("-pk")[: PAGE + 1])
        more = len(found) > PAGE
        found = found[:PAGE][::-1]
        return Page(found, found[0].pk if more else None, found[-1].pk if found else None)
    found = list(items.filter(pk__gt=after or 0).order_by("pk")[: PAGE + 1])
    more = len(found) > PAGE
    found = found[:PAGE]
    return Page(found, found[0].pk if after and found else None, found[-1].pk if more else None)


def _matching(items: ItemQuerySet, project: Project, query: str, batch: Batch | None) -> ItemQuerySet:
    fields = batch.shown_fields if batch is not None else fields_of(project)
    condition = Q(external_id=query)
    for number, name in enumerate(fields):
        # By field, not in the JSON as a whole: there a text may stand escaped, and keys would match as well.
        items = items.alias(**{f"text_{number}": KeyTextTransform(name, "content")})
        condition |= Q(**{f"text_{number}__icontains": query})
    return items.filter(condition)


def fields_of(project: Project) -> list[str]:
    """Every field that some batch of `project` shows."""
    batches = project.batches.filter(ready=True).order_by("pk").values_list("shown_fields", flat=True)
    return list(dict.fromkeys([*project.shown_fields, *(name for fields in batches for name in fields)]))
