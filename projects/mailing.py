"""Invitations on their way by mail. A job sends them: a slow mail server holds up nobody's page."""

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from projects import jobs
from projects.enums import JobKind
from projects.errors import DomainError
from projects.models import Invitation, Job


def sends() -> bool:
    """Whether mail leaves this machine; where it does not, links are passed on by hand."""
    return bool(settings.EMAIL_URL)


def invitation(invitation: Invitation, *, link: str) -> Job:
    """Write the job that mails `link`. The link stands in the job only until it is sent."""
    params = {"invitation": str(invitation.uuid), "link": link}
    return jobs.create(invitation.project, JobKind.MAIL, params=params, by=invitation.invited_by)


def send(job: Job) -> None:
    """The runner of mail jobs. After a crash the same mail may go out twice; its link still works once."""
    found = Invitation.objects.select_related("project", "invited_by__user").filter(uuid=job.params["invitation"])
    # It may have waited for days, in a project that was to be deleted.
    addressed = found.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now()).first()
    try:
        if addressed and "link" in job.params:
            _send(addressed, job.params["link"])
    finally:
        _forget_link(job)


def latest(invitations: list[Invitation]) -> dict[str, Job]:
    """The mail job of each invitation, by the invitation's uuid."""
    wanted = [str(invitation.uuid) for invitation in invitations]
    found = Job.objects.filter(kind=JobKind.MAIL, params__invitation__in=wanted).order_by("pk")
    return {job.params["invitation"]: job for job in found}


def _send(invitation: Invitation, link: str) -> None:
    facts = {
        "name": invitation.invited_by.name,
        "project": " ".join(invitation.project.name.split()),
        "until": date_format(timezone.localtime(invitation.expires_at), "DATETIME_FORMAT"),
        "link": link,
    }
    text = _(
        "%(name)s invites you to “%(project)s” in Concord.\n\n"
        "Follow this link to join; it works once, until %(until)s:\n\n%(link)s\n"
    )
    subject = _("Invitation to “%(project)s”") % facts
    try:
        send_mail(subject, text % facts, settings.DEFAULT_FROM_EMAIL, [invitation.email])
    except OSError as error:  # smtplib's errors are OSErrors, too
        raise DomainError(
            _("The mail server did not take the message (%(error)s): withdraw the invitation and make a new one.")
            % {"error": error}
        ) from error


@transaction.atomic
def _forget_link(job: Job) -> None:
    jobs.hold(job)
    job.params.pop("link", None)
    job.save(update_fields=["params"])
