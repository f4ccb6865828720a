"""What people are told of their projects: the log of acts, notices, and the mail that sums notices up."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from projects import enums


class Activity(models.Model):
    """Who did what, when. Append-only; `projects.activities` writes it and knows the kinds and their words.

    The function that does the act writes the row, in its transaction. `by` is empty where the system did it.
    """

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="activities", db_index=False)
    topic = models.CharField(max_length=12, default="", help_text=_("of the kind; the log is read by it"))
    kind = models.CharField(max_length=30)
    by = models.ForeignKey("projects.Membership", on_delete=models.CASCADE, null=True, related_name="+")
    about = models.ForeignKey("projects.Membership", on_delete=models.CASCADE, null=True, related_name="+")
    subject = models.UUIDField(null=True, help_text=_("what it was done to: a wave, a version, a case …"))
    facts = models.JSONField(default=dict)
    until_closed = models.UUIDField(
        null=True, help_text=_("the wave whose measurement must be closed before its annotators may read this")
    )
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = _("activities")
        indexes = [
            models.Index(fields=["project", "id"], name="projects_activity_newest"),
            models.Index(fields=["project", "kind", "id"], name="projects_activity_kind"),
            models.Index(fields=["project", "topic", "id"], name="projects_activity_topic"),
            models.Index(fields=["project", "by", "id"], name="projects_activity_by"),
        ]


class Notice(models.Model):
    """Something that a member is told, once: `kind` and `key` say what. `projects.notices` keeps them true.

    `over`: it does not hold any more (the work is done, the label was looked at), so it is not shown.
    """

    member = models.ForeignKey("projects.Membership", on_delete=models.CASCADE, related_name="notices", db_index=False)
    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=20, choices=enums.NoticeKind)
    key = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)
    at = models.DateTimeField()
    over = models.BooleanField(default=False)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("member", "kind", "key", name="projects_notice_once")]
        indexes = [
            models.Index(
                fields=["member", "kind"], condition=Q(over=False, read_at__isnull=True), name="projects_notice_unread"
            ),
        ]


class NoticeRound(models.Model):
    """When the notices of a project were last looked through."""

    project = models.OneToOneField("projects.Project", on_delete=models.CASCADE, related_name="notice_round")
    at = models.DateTimeField(db_index=True)


class Digest(models.Model):
    """The one mail of a day to a person. `day` is theirs, in their zone; `begun_at` is written before it is sent."""

    user = models.ForeignKey("projects.User", on_delete=models.CASCADE, related_name="digests")
    day = models.DateField()
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("user", "day", name="projects_digest_once_a_day")]
