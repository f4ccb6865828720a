"""Computed figures and the decisions that hang on them. Nothing here is typed in by hand but a waiver's reason."""

from django.db import models

from agreement import enums
from annotations.models import Draw
from projects.models import Membership


class Run(models.Model):
    """One computation of one draw and question. Unique by its inputs' digest: equal inputs are not computed twice."""

    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, related_name="runs")
    question_key = models.SlugField(max_length=60)
    digest = models.CharField(max_length=64)
    engine = models.CharField(max_length=20)
    interim = models.BooleanField()
    n = models.PositiveIntegerField()
    drawn = models.PositiveIntegerField()
    result = models.JSONField()
    seconds = models.FloatField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("draw", "question_key", "digest", name="agreement_run_inputs_once")]
        indexes = [models.Index(fields=["draw", "question_key", "-created_at"], name="agreement_run_newest")]


class Watch(models.Model):
    """What the last look at a draw saw: an open draw is stale when its stamp differs; a closed one ends as final."""

    draw = models.OneToOneField(Draw, on_delete=models.CASCADE, related_name="watch")
    stamp = models.CharField(max_length=120)
    computed_at = models.DateTimeField()
    final = models.BooleanField(default=False)


class GateDecision(models.Model):
    """What the gate of a draw said, and why. Append-only; the newest one holds."""

    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, related_name="gate_decisions")
    outcome = models.CharField(max_length=12, choices=enums.GateOutcome)
    reason = models.TextField()
    details = models.JSONField(default=list)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["draw", "-at"], name="agreement_gate_newest")]
