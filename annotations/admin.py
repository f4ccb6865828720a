"""Django's own admin shows these tables, read-only, and nothing that an open draw keeps from those whom it measures.

Whoever may open the admin may also annotate: of a wave whose draw is open only the wave itself is shown, and no draw
shows what it was drawn with. The page of a wave shows that, once the draw is closed.
"""

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from annotations.enums import SAMPLES, DrawState, WaveState
from annotations.models import (
    Acknowledgement,
    Annotation,
    Assignment,
    Case,
    Draw,
    Given,
    Inquiry,
    Look,
    Pair,
    Panel,
    Resolution,
    Revision,
    Seat,
    Slot,
    ThirdRating,
    Wave,
    WaveItem,
)
from projects.admin import ReadOnlyAdmin, register_read_only

UNFINISHED = (WaveState.OPENING, WaveState.OPEN)


class Closed(ReadOnlyAdmin):
    """Rows of waves whose draw is not open, and of samples that have ended. `wave_path`: from the row to the wave."""

    wave_path = "wave"

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Model]:
        rows = super().get_queryset(request).exclude(**{f"{self.wave_path}__draw__state": DrawState.OPEN})
        path = self.wave_path
        return rows.exclude(**{f"{path}__kind__in": SAMPLES, f"{path}__state__in": UNFINISHED})


def register_closed(model: type[models.Model], wave_path: str, *columns: str, **options: Any) -> None:
    related = [column for column in columns if model._meta.get_field(column).many_to_one]
    shown = {"list_display": columns, "list_select_related": related or False}
    attributes = {**shown, "wave_path": wave_path, **options}
    admin.site.register(model, type(f"{model.__name__}Admin", (Closed,), attributes))


# How many overlap and single labels are left tells an annotator which kind the one was that they have just given.
COUNTERS = ("overlap_left", "single_left", "overlap_all", "single_all")

register_read_only(
    Wave, "number", "project", "major", "state", "size", "opened_at", "closed_at", secret_fields=COUNTERS
)
register_read_only(
    Draw,
    "uuid",
    "wave",
    "state",
    "closing",
    "size",
    "opened_at",
    "closed_at",
    secret_fields=("seed", "salt", "population", "plan"),
)
register_read_only(Panel, "split", "wave", "number", "weight")
register_read_only(Given, "wave", "member", "by", "at", "taken_back_at")
register_read_only(Look, "draw", "member", "at")
register_read_only(Acknowledgement, "member", "version", "at")
register_closed(WaveItem, "wave", "id", "wave", "item", "needed", "rated")
register_closed(Slot, "wave", "id", "wave", "item", "kind", "number", "state")
register_closed(Seat, "wave", "wave", "member", "told_empty_at", "gave_up_at")
register_closed(Pair, "wave", "wave", "member", "other", "shared")
register_closed(Assignment, "wave_item__wave", "uuid", "member", "item", "state", "served_at")
register_closed(Annotation, "wave_item__wave", "uuid", "member", "item", "seq", "submitted_at")
register_closed(Revision, "annotation__wave_item__wave", "annotation", "number", "by", "at", "in_window")
register_closed(Case, "draw__wave", "uuid", "draw", "question_key", "pair_key", "state")
register_closed(Resolution, "case__draw__wave", "uuid", "case", "kind", "by", "at", "standing")
register_closed(ThirdRating, "case__draw__wave", "case", "asked_at", "outcome", "ended_at")
register_closed(Inquiry, "wave_item__wave", "uuid", "item", "at", "answered_at")
