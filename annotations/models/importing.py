"""Ratings from elsewhere, on their way in."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Job


class ImportedRow(models.Model):
    """A row of a file of ratings, kept until the import is confirmed or dropped. Rows with one `key` are one item."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=64, blank=True)
    external_id = models.CharField(max_length=200, blank=True)
    content = models.JSONField(null=True, help_text=_("empty: another row of the item has it, or the project"))
    metadata = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64, blank=True)
    folded_hash = models.CharField(max_length=64, blank=True)
    ratings = models.JSONField(default=list, help_text=_("[rater, question key -> value as the file has it, comment]"))
    head = models.PositiveIntegerField(null=True, help_text=_("the first good row of its item"))
    problem = models.CharField(max_length=20, blank=True, help_text=_("a RatingProblem; empty: will be imported"))
    message = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("job", "number", name="annotations_importedrow_number_once")]
        indexes = [
            models.Index(fields=["job", "key", "number"], name="annotations_improw_key"),
            models.Index(fields=["job", "head", "number"], name="annotations_improw_head"),
            models.Index(fields=["job", "problem", "number"], name="annotations_improw_problem"),
        ]
