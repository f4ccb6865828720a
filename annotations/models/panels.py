"""Items that were released to several panels of people at once: a wave for each (DESIGN §3 "By hand")."""

from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotations.models.routing import Wave
from projects.models import Membership, Project


class Split(models.Model):
    """How the items of one release were split at random among its panels. Empty until it is drawn, fixed after."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="splits")
    seed = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64, blank=True)
    population = models.BinaryField()
    population_size = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")


class Panel(models.Model):
    """One part of a split: its wave, and the people that were declared for it when it was opened."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="panels")
    wave = models.OneToOneField(Wave, on_delete=models.CASCADE, related_name="panel")
    number = models.PositiveSmallIntegerField()
    weight = models.PositiveIntegerField(default=1, help_text=_("its part of the items, beside the others' weights"))
    members = models.JSONField(help_text=_("uuids, as declared; who labels the wave today is in `Given`"))

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint("split", "number", name="annotations_panel_number_once")]

    @property
    def letter(self) -> str:
        return chr(ord("A") + self.number - 1)
