"""The list of a project's items, and one of them. Nothing here tells which items are measured."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from projects import access, importing
from projects.enums import Action
from projects.item_search import PAGE, find
from projects.models import Item, in_order
from projects.requests import UserRequest


@login_required
@require_safe
def item_list(request: UserRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_ITEMS)
    batches = list(member.project.batches.filter(ready=True).order_by("-created_at", "-pk")[:200])
    batch = next((one for one in batches if str(one.uuid) == request.GET.get("batch")), None)
    query = request.GET.get("q", "").strip()[:200]
    page = find(
        member.project,
        query=query,
        batch=batch,
        after=_number(request.GET.get("after")),
        before=_number(request.GET.get("before")),
    )
    kept = {"q": query, "batch": str(batch.uuid) if batch else ""}
    context = {
        "member": member,
        "nav": "items",
        "page": page,
        "rows": [(item, item.shown(item.batch.shown_fields)) for item in page.items],
        "batches": batches,
        "batch": batch,
        "query": query,
        "filter": urlencode({key: value for key, value in kept.items() if value}),
        "total": sum(one.size for one in batches),
        "waiting": importing.waiting(member.project) if access.allows(member, Action.IMPORT) else [],
        "page_size": PAGE,
    }
    return render(request, "projects/items/list.html", context)


def _number(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 19 else None


@login_required
@require_safe
def detail(request: UserRequest, project: UUID, item: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_ITEMS)
    items = Item.objects.arrived().filter(project=member.project).select_related("batch", "superseded_by")
    found = get_object_or_404(items, uuid=item)
    context = {
        "member": member,
        "nav": "items",
        "item": found,
        "content": found.shown(found.batch.shown_fields),
        "metadata": in_order(found.metadata, found.batch.metadata_fields),
    }
    return render(request, "projects/items/detail.html", context)
