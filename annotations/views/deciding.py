"""What a case may need beside one lead's decision: a second opinion, another holder, its rater, the other rater."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotations import adjudication, cases, opinions, sent_back, third_ratings, together
from annotations.forms.adjudication import HandOverForm, SendBackForm
from annotations.queue import Filters
from annotations.views import case_page
from annotations.views.case_page import address, filters_of, page
from projects import access
from projects.enums import Action
from projects.errors import DomainError
from projects.requests import HtmxRequest


@login_required
@require_POST
def ask(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Ask for a second opinion: two leads decide independently."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    opinions.ask(found, by=member, at=timezone.now())
    messages.success(request, _("Two leads decide this case independently. Yours may be one of the two opinions."))
    return redirect(address(found, filters_of(request)))


@login_required
@require_POST
def withdraw(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    opinions.withdraw(found, by=member, at=timezone.now())
    messages.success(request, _("No second opinion is asked for any more: one lead decides."))
    return redirect(address(found, filters_of(request)))


@login_required
@require_POST
def take_back(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Wait for no third rating: a lead decides the case now."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    third_ratings.take_back(found, by=member, at=timezone.now())
    messages.success(request, _("The third rating is not waited for any more: decide the case."))
    return redirect(address(found, Filters()))


@login_required
@require_POST
def hand_over(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Let another lead hold the case, and go on with the next one."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found, filters = cases.find(member, case), filters_of(request)
    form = HandOverForm(request.POST, takers=adjudication.takers(member))
    if not form.is_valid():
        return page(request, member, found, hand_over_form=form, status=422)
    to = form.cleaned_data["to"]
    adjudication.hand_over(found, to=to, by=member, at=timezone.now())
    messages.success(request, _("%(name)s holds the case now.") % {"name": to.name})
    return redirect(case_page.queue_address(member, filters))


@login_required
@require_POST
def send_back(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    form = SendBackForm(request.POST, sides=cases.sides(found))
    if not form.is_valid():
        return page(request, member, found, send_back_form=form, status=422)
    sent_back.send(found, **form.cleaned_data, by=member, at=timezone.now())
    messages.success(request, _("The rater finds it in “My work”. A correction is shown here and changes no figure."))
    return redirect(address(found, filters_of(request)))


@login_required
@require_POST
def propose(request: HtmxRequest, project: UUID, case: UUID) -> HttpResponse:
    """Propose a decision to the other one of the two raters."""
    member = access.member_for(request.user, project, Action.ADJUDICATE)
    found = cases.find(member, case)
    if together.other_rater(found, member) is None:
        raise together.NotTogether(_("This case is not for you to decide together with somebody."))
    form = case_page.decision_form(member, found, request.POST)
    if not form.is_valid():
        return page(request, member, found, form=form, status=422)
    try:
        made = together.propose(found, **form.decision(), by=member, at=timezone.now())
    except together.NotTogether:
        raise
    except DomainError as error:
        form.add_error(None, error.message)
        return page(request, member, cases.find(member, case), form=form, status=error.status)
    messages.success(request, _("%(name)s finds it in “My work” and confirms it there.") % {"name": made.to.name})
    return redirect(address(found, filters_of(request)))


# -- in My work --------------------------------------------------------------------------------------------------------


@login_required
@require_POST
def keep(request: HtmxRequest, project: UUID, sent: UUID) -> HttpResponse:
    """A rater has looked again, and stands by the label."""
    member = access.member_for(request.user, project, Action.LABEL)
    sent_back.keep(member, sent, at=timezone.now())
    messages.success(request, _("Your label stays as it is."))
    return redirect("annotations:my-work", project)


@login_required
@require_POST
def answer(request: HtmxRequest, project: UUID, proposal: UUID) -> HttpResponse:
    """The other rater confirms or refuses what is proposed."""
    member = access.member_for(request.user, project, Action.LABEL)
    if "confirm" in request.POST:
        together.confirm(member, proposal, at=timezone.now())
        messages.success(request, _("You have decided it together."))
    else:
        together.refuse(member, proposal, at=timezone.now())
        messages.success(request, _("The case stays open."))
    return redirect("annotations:my-work", project)
