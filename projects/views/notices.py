"""What is new for whoever is logged in, over all of their projects; what they are told; and the end of a mail."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import digests, mailing, notices
from projects.enums import MailPace
from projects.forms.notices import NoticesForm
from projects.requests import UserRequest, posted


@login_required
@never_cache
@require_safe
def notice_list(request: UserRequest) -> HttpResponse:
    told = notices.look(request.user, at=timezone.now())
    context = {"told": told, "new": sum(one.is_new for one in told), "most": notices.SHOWN}
    return render(request, "projects/notices/list.html", context)


@login_required
@never_cache
@require_safe
def notice(request: UserRequest, notice: UUID) -> HttpResponse:
    """Go to what a notice is about. To go there is to have read it."""
    return redirect(notices.read(request.user, notice, at=timezone.now()) or "projects:notices")


@login_required
@require_POST
def read_all(request: UserRequest) -> HttpResponse:
    notices.read_all(request.user, set(request.POST.getlist("notice")), at=timezone.now())
    return redirect("projects:notices")


@login_required
@require_http_methods(["GET", "POST"])
def choices(request: UserRequest) -> HttpResponse:
    form = NoticesForm(posted(request), user=request.user)
    if request.method == "POST" and form.is_valid():
        notices.choose(request.user, **form.cleaned_data)
        messages.success(request, _("What you are told is saved."))
        return redirect("projects:notices-settings")
    context = {"form": form, "mails": mailing.sends(), "address": request.user.email}
    return render(request, "projects/notices/settings.html", context, status=422 if form.errors else 200)


@csrf_exempt  # a mail program sends the form by itself, and the link is signed: it can end these mails, nothing else
@never_cache
@require_http_methods(["GET", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """End the mails by the link in one of them, without a log-in. To look at it ends nothing: programs follow links."""
    user = digests.reader_of(token)
    if user is None:
        raise Http404(_("This link was cut short on its way: copy all of it, or log in and choose what you are told."))
    if request.method == "POST":
        notices.stop_mail(user)
    return render(request, "projects/notices/stop.html", {"stopped": user.mail_pace == MailPace.NEVER})
