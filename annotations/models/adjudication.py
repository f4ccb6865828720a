"""What was in conflict, what was decided, and what went back to a rater (DESIGN §5)."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotations import enums
from annotations.models.routing import Annotation, Draw, Revision, Slot, WaveItem
from projects.models import Example, Item, Membership


class CaseQuerySet(models.QuerySet["Case"]):
    def open(self) -> "CaseQuerySet":
        return self.filter(state=enums.CaseState.OPEN)

    def waiting(self) -> "CaseQuerySet":
        """Those that wait for a third rating: no work for a lead, and not decided either."""
        return self.filter(state=enums.CaseState.WAITING)

    def undecided(self) -> "CaseQuerySet":
        return self.filter(state__in=[enums.CaseState.OPEN, enums.CaseState.WAITING])

    def decided(self) -> "CaseQuerySet":
        return self.filter(state=enums.CaseState.DECIDED)


class Case(models.Model):
    """A conflict: an overlap item of a closed draw whose measured ratings differ on a question.

    `first` and `second` are the two most distant ratings, in the random order in which they are shown.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, related_name="cases")
    wave_item = models.ForeignKey(WaveItem, on_delete=models.CASCADE, related_name="cases")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="cases")
    question_key = models.SlugField(max_length=60)
    first = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="+")
    first_value = models.JSONField()
    second_value = models.JSONField()
    pair_key = models.CharField(max_length=130, help_text=_("the two values in a fixed order, joined by a bar"))
    gap = models.FloatField()
    severity = models.FloatField(default=0, help_text=_("orders the queue: the worst first"))
    priority = models.FloatField(default=0, help_text=_("orders those of a pair: over-sampled strata first"))
    stratum = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=12, choices=enums.CaseState, default=enums.CaseState.OPEN)
    claimed_by = models.ForeignKey(Membership, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    claim_ends = models.DateTimeField(null=True, blank=True)
    wants_opinions = models.BooleanField(default=False, help_text=_("two leads give their opinions independently"))
    opened_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = CaseQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("wave_item", "question_key", name="annotations_case_once")]
        indexes = [
            models.Index(fields=["draw", "state", "-severity", "id"], name="annotations_case_queue"),
            models.Index(fields=["draw", "question_key", "pair_key"], name="annotations_case_pair"),
        ]


class ResolutionQuerySet(models.QuerySet["Resolution"]):
    def by_people(self) -> "ResolutionQuerySet":
        """Those that stand and that somebody gave a reason for; what a rule of the protocol decided has none."""
        return self.filter(standing=True, kind__in=[enums.ResolutionKind.ADJUDICATED, enums.ResolutionKind.CONSENSUS])


class Resolution(models.Model):
    """The decision on a conflict. A reopened one is kept and no longer stands.

    One by a `rule` of the protocol names nobody and has no cause; `tally` holds the ratings that it was made from, each
    value with how often it was given, and `rationale` says them in words.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="resolutions")
    kind = models.CharField(max_length=12, choices=enums.ResolutionKind, default=enums.ResolutionKind.ADJUDICATED)
    value = models.JSONField()
    rationale = models.TextField()
    cause = models.CharField(max_length=20, choices=enums.Cause, blank=True)
    rule = models.CharField(max_length=16, choices=enums.ResolutionRule, blank=True)
    tally = models.JSONField(default=list, blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    standing = models.BooleanField(default=True)
    reopened_at = models.DateTimeField(null=True, blank=True)
    reopened_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    reopened_reason = models.TextField(blank=True)
    example = models.ForeignKey(Example, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    lineage = models.UUIDField(null=True, blank=True, help_text=_("the example's lineage, over all versions"))

    objects = ResolutionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case"], condition=Q(standing=True), name="annotations_resolution_one_standing"
            ),
            models.CheckConstraint(
                condition=(Q(rule="") & ~Q(cause="")) | (~Q(rule="") & Q(cause="", by__isnull=True)),
                name="annotations_resolution_rule_or_person",
            ),
        ]
        indexes = [models.Index(fields=["lineage"], name="annotations_res_lineage")]


class ThirdRating(models.Model):
    """A case that one rating more was to decide, by the rule of its protocol. `outcome` is empty while it waits.

    Several questions of an item wait for the same slot. Without one nobody was asked, since nobody may give it.
    """

    case = models.OneToOneField(Case, on_delete=models.CASCADE, related_name="third")
    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, null=True, blank=True, related_name="thirds")
    outcome = models.CharField(max_length=12, choices=enums.ThirdOutcome, blank=True)
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["slot"], condition=Q(outcome=""), name="annotations_third_waiting")]


class SecondOpinion(models.Model):
    """Somebody wanted two leads to decide a case independently. `outcome` is empty until both have."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="second_opinions")
    asked_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=enums.Outcome, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case"], condition=Q(outcome=""), name="annotations_opinion_one_asked")
        ]


class Opinion(models.Model):
    """What one lead would decide. The other one does not see it before both are in."""

    second_opinion = models.ForeignKey(SecondOpinion, on_delete=models.CASCADE, related_name="opinions")
    value = models.JSONField()
    rationale = models.TextField()
    cause = models.CharField(max_length=20, choices=enums.Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint("second_opinion", "by", name="annotations_opinion_once")]


class Proposal(models.Model):
    """What one of a case's two raters would decide together with the other; it holds once `to` confirms it."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="proposals")
    value = models.JSONField()
    rationale = models.TextField()
    cause = models.CharField(max_length=20, choices=enums.Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    to = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="proposals")
    at = models.DateTimeField()
    answer = models.CharField(max_length=12, choices=enums.Answer, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case"], condition=Q(answer=""), name="annotations_proposal_one_waiting")
        ]


class SentBackQuerySet(models.QuerySet["SentBack"]):
    def waiting(self) -> "SentBackQuerySet":
        """Those that the rater has neither corrected since nor confirmed."""
        corrected = Revision.objects.filter(annotation=models.OuterRef("annotation"), at__gt=models.OuterRef("at"))
        return self.filter(~models.Exists(corrected), kept_at__isnull=True)


class SentBack(models.Model):
    """A rater is asked to look at a label again, after its draw has closed. A correction is a layer on top."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="sent_back")
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="sent_back")
    reason = models.TextField()
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    kept_at = models.DateTimeField(null=True, blank=True, help_text=_("the rater looked, and stands by the label"))

    objects = SentBackQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
