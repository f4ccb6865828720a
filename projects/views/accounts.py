"""Logging in and out, passwords, signing up, and one's own account."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from projects import access, activities
from projects.forms.account import AccountForm, LogInForm, SignUpForm
from projects.models import User
from projects.requests import HtmxRequest, UserRequest, posted


class LogIn(auth.LoginView):
    """By its own page; or in place (HX-Request) on a page whose session has ended, which is told who is logged in."""

    request: HtmxRequest
    authentication_form = LogInForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # In place it may be somebody else who is logged in: that is why the page asks.
        self.redirect_authenticated_user = not self.request.htmx
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        there = super().form_valid(form)
        return render(self.request, "registration/_logged_in.html") if self.request.htmx else there

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        if self.request.htmx:
            return render(self.request, "registration/_not_logged_in.html", {"form": form}, status=422)
        return super().form_invalid(form)


class LogOut(auth.LogoutView):
    """By POST only; goes to LOGOUT_REDIRECT_URL."""


class PasswordChange(auth.PasswordChangeView):
    success_url = reverse_lazy("projects:account")

    def get_success_url(self) -> str:
        messages.success(self.request, _("Your password is changed. Other devices have been logged out."))
        return super().get_success_url()


class PasswordReset(auth.PasswordResetView):
    subject_template_name = "registration/password_reset_subject.txt"
    success_url = reverse_lazy("projects:password-reset-sent")


class PasswordResetSent(auth.PasswordResetDoneView):
    pass


class PasswordResetConfirm(auth.PasswordResetConfirmView):
    success_url = reverse_lazy("projects:login")

    def get_success_url(self) -> str:
        messages.success(self.request, _("Your new password is set. Log in with it."))
        return super().get_success_url()


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    if not settings.OPEN_SIGN_UP:
        raise Http404(_("Accounts here are made by invitation: ask an admin of your project for a link."))
    form = SignUpForm(posted(request))
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return redirect("projects:project-list")
    return render(request, "registration/sign_up.html", {"form": form}, status=422 if form.errors else 200)


@login_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def account(request: UserRequest) -> HttpResponse:
    form = AccountForm(posted(request), user=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your account is saved."))
        return redirect("projects:account")
    context = {"form": form, "token": Token.objects.filter(user=request.user).first()}
    return render(request, "projects/account.html", context, status=422 if form.errors else 200)


@login_required
@never_cache
@require_POST
def token(request: UserRequest) -> HttpResponse:
    """Make a new API token, which ends the old one, or end it. The key is shown in this answer only."""
    made = _replace_token(request.user, revoke="revoke" in request.POST)
    if made is None:
        messages.success(request, _("The API token is revoked."))
        return redirect("projects:account")
    context = {"form": AccountForm(user=request.user), "token": made, "new_key": made.key}
    return render(request, "projects/account.html", context)


@transaction.atomic
def _replace_token(user: User, *, revoke: bool) -> Token | None:
    """It acts in every project of theirs, so each of them has it in its log."""
    had, _kinds = Token.objects.filter(user=user).delete()
    if not revoke or had:
        at_work = access.projects_of(user).filter(access.live("project"))
        activities.record_for("token_revoked" if revoke else "token_made", at_work)
    return None if revoke else Token.objects.create(user=user)
