"""An item's history, and correcting its text."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from annotations import histories, superseding
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.models import Item, Membership
from projects.requests import HtmxRequest


def _item(member: Membership, uuid: UUID) -> Item:
    items = Item.objects.arrived().filter(project=member.project).select_related("project", "batch")
    return get_object_or_404(items, uuid=uuid)


@login_required
@require_safe
@vary_on_headers("HX-Request")
def history(request: HtmxRequest, project: UUID, item: UUID) -> HttpResponse:
    """A fragment of the item's page; alone, a page of its own."""
    member = access.member_for(request.user, project, Action.SEE_ITEMS)
    found = _item(member, item)
    context = {
        "member": member,
        "nav": "items",
        "item": found,
        "history": histories.of_item(found, member),
        "may_correct": histories.may_correct(found, member),
    }
    template = "annotations/items/_history.html" if request.htmx else "annotations/items/history.html"
    return render(request, template, context)


class CorrectionForm(forms.Form):
    """The shown fields of an item, as texts."""

    def __init__(self, *args: object, item: Item, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came
        self.item = item
        for place, (name, value) in enumerate(item.shown(item.batch.shown_fields)):
            self.fields[f"content-{place}"] = forms.CharField(
                label=name, required=False, initial=value, widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"})
            )

    def content(self) -> dict[str, object]:
        """The corrected fields; a value that was not touched keeps its type."""
        pairs = self.item.shown(self.item.batch.shown_fields)
        sent = {name: self.cleaned_data[f"content-{place}"] for place, (name, _value) in enumerate(pairs)}
        return {name: value if sent[name] == str(value) else sent[name] for name, value in pairs}


@login_required
@require_http_methods(["GET", "POST"])
def correct(request: HtmxRequest, project: UUID, item: UUID) -> HttpResponse:
    """Replace an item's text by a corrected one: a new item takes its place."""
    member = access.member_for(request.user, project, Action.IMPORT)
    found = _item(member, item)
    form = CorrectionForm(request.POST or None, item=found)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            made = superseding.supersede(found, content=form.content(), by=member, at=timezone.now())  # type: ignore[arg-type]  # JSON values
        except DomainError as error:
            form.add_error(None, error.message)
            status = error.status
        else:
            messages.success(request, _("The corrected item takes its place. Ratings of the old text stay with it."))
            return redirect("projects:item", project, made.uuid)
    context = {"member": member, "nav": "items", "item": found, "form": form}
    return render(request, "annotations/items/correct.html", context, status=status)
