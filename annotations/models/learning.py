"""What annotators asked, read and practised."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotations.models.routing import WaveItem
from projects.models import Example, GuidelineVersion, Item, Membership


class InquiryQuerySet(models.QuerySet["Inquiry"]):
    def open(self) -> "InquiryQuerySet":
        return self.filter(answered_at__isnull=True)

    def answered(self) -> "InquiryQuerySet":
        return self.filter(answered_at__isnull=False)


class Inquiry(models.Model):
    """What somebody asked about an item, and the answer; `inquiries.py` says who reads which of them, and when."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="inquiries")
    wave_item = models.ForeignKey(WaveItem, on_delete=models.PROTECT, related_name="inquiries")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="inquiries")
    text = models.TextField()
    at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    example = models.ForeignKey(Example, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    lineage = models.UUIDField(null=True, blank=True, help_text=_("the example's lineage, over all versions"))

    objects = InquiryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = _("inquiries")
        constraints = [
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, answered_by__isnull=True, answer="")
                | (Q(answered_at__isnull=False, answered_by__isnull=False) & ~Q(answer="")),
                name="annotations_inquiry_answer_is_whole",
            ),
        ]


class Heard(models.Model):
    """A member has seen the answer to an inquiry: it is news to them no more."""

    inquiry = models.ForeignKey(Inquiry, on_delete=models.CASCADE, related_name="heard")
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("inquiry", "member", name="annotations_heard_once")]


class Acknowledgement(models.Model):
    """A member has read what changed in a version; the newest one is also on the membership."""

    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="acknowledgements")
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint("member", "version", name="annotations_acknowledgement_once")]


class Practice(models.Model):
    """One answer in a practice round on the new examples of a MAJOR. Append-only; `version` is the MAJOR's first."""

    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="practice")
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    round = models.PositiveIntegerField(help_text=_("a round that was not passed is followed by another"))
    lineage = models.UUIDField(help_text=_("the example's"))
    answer = models.JSONField()
    right = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("member", "version", "round", "lineage", name="annotations_practice_once_a_round")
        ]
