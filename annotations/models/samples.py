"""What was rated before: samples to be rated once more, and what becomes of old single labels (DESIGN §3)."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotations import enums
from annotations.models.routing import Annotation, Slot, Wave
from projects.models import Membership, Project


class Sample(models.Model):
    """How a sample was drawn. Its items and slots are those of a wave of its kind, which has no draw.

    `population` holds what could have been drawn: of a repeat the ratings, a stratum for each person; else the items.
    """

    wave = models.OneToOneField(Wave, on_delete=models.CASCADE, related_name="sample")
    of = models.ForeignKey(
        Wave, on_delete=models.CASCADE, null=True, blank=True, related_name="checks", help_text=_("a spot check's wave")
    )
    choices = models.JSONField(default=dict, help_text=_("what was chosen when it was opened"))
    before = models.JSONField(
        default=dict, help_text=_("of a bridge: item -> question -> its label before, and the version of that")
    )
    seed = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    population = models.BinaryField()
    population_size = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    ended_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")


class Repeat(models.Model):
    """A slot that only one person may fill: they rated the item before, and not before these have passed."""

    slot = models.OneToOneField(Slot, on_delete=models.CASCADE, related_name="repeat")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="repeats")
    first = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="repeats")
    round = models.PositiveSmallIntegerField()
    after = models.DateTimeField()
    after_submits = models.PositiveIntegerField(help_text=_("first submits of this member"))

    class Meta:
        constraints = [models.UniqueConstraint("first", "round", name="annotations_repeat_round_once")]


class OldLabelChoice(models.Model):
    """What a lead chose for the single labels of earlier MAJORs, under `major`. Append-only but for `standing`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="old_label_choices")
    major = models.PositiveIntegerField()
    question_key = models.SlugField(max_length=60)
    label_key = models.SlugField(max_length=60)
    choice = models.CharField(max_length=12, choices=enums.OldLabel)
    becomes = models.SlugField(max_length=60, blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    standing = models.BooleanField(default=True)
    wave = models.ForeignKey(
        Wave, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text=_("labels them again")
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "major", "question_key", "label_key"],
                condition=Q(standing=True),
                name="annotations_oldlabel_one_standing",
            ),
            models.CheckConstraint(
                condition=(Q(choice="map") & ~Q(becomes="")) | (~Q(choice="map") & Q(becomes="")),
                name="annotations_oldlabel_becomes_where_mapped",
            ),
        ]
