"""The log of a project: who did what, when."""

from tempfile import TemporaryFile
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations import activity_log
from annotations.activity_log import Filters
from annotations.exporting import FILE_FORMATS
from annotations.forms.activity import DaysForm
from projects import access
from projects.enums import Action
from projects.formats import FORMATS


@login_required
@never_cache
@require_safe
def activity(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_ACTIVITY)
    form = DaysForm(request.GET)
    days = form.cleaned_data if form.is_valid() else {}
    filters = Filters.read(request.GET, **days)
    context = {
        "member": member,
        "nav": "members",
        "form": form,
        "log": activity_log.log(member, filters, before=_number(request.GET.get("before"))),
        "formats": FILE_FORMATS,
    }
    return render(request, "annotations/activity.html", context, status=422 if form.errors else 200)


@login_required
@never_cache
@require_safe
def file(request: HttpRequest, project: UUID) -> HttpResponseBase:
    """What the page shows with the same filters, all of it, as CSV or JSON Lines."""
    member = access.member_for(request.user, project, Action.SEE_ACTIVITY)
    form, key = DaysForm(request.GET), request.GET.get("format", "csv")
    if not form.is_valid() or key not in FILE_FORMATS:
        raise Http404(_("There is no such file: its days or its format cannot be read."))
    filters = Filters.read(request.GET, **form.cleaned_data)
    stream = TemporaryFile()  # noqa: SIM115 - the answer closes it
    FORMATS[key].write(activity_log.file_rows(member, filters), stream, fields=activity_log.FIELDS)
    stream.seek(0)
    day = timezone.localtime().strftime("%Y-%m-%d")
    name = f"{slugify(member.project.name) or 'concord'}-activity-{day}{FORMATS[key].suffix}"
    return FileResponse(stream, as_attachment=True, filename=name)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such page."))
    return int(text)
