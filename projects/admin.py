"""Django's own admin shows the tables, read-only: changes go through the domain functions, which keep the rules."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from projects.models import (
    Activity,
    Batch,
    Digest,
    Example,
    GuidelineVersion,
    Heartbeat,
    Invitation,
    Item,
    Job,
    Label,
    LabelStyle,
    Membership,
    Notice,
    Project,
    Question,
    StagedRow,
    Tombstone,
    User,
)

# Django's admin classes are generic for the type checker only.
if TYPE_CHECKING:
    OfModel = admin.ModelAdmin[models.Model]
else:
    OfModel = admin.ModelAdmin


class ReadOnlyAdmin(OfModel):
    """Look and search, nothing else. Higher apps register theirs with it."""

    show_full_result_count = False
    list_per_page = 50
    secret_fields: tuple[str, ...] = ()

    def get_exclude(self, request: HttpRequest, obj: models.Model | None = None) -> tuple[str, ...]:
        return self.secret_fields

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


def register_read_only(model: type[models.Model], *columns: str, **options: Any) -> None:
    """Show `model` with these columns in its list; `options` are attributes of a ModelAdmin."""
    related = [column for column in columns if model._meta.get_field(column).many_to_one]
    attributes = {"list_display": columns, "list_select_related": related or False, **options}
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), attributes))


register_read_only(
    User,
    "username",
    "email",
    "is_active",
    "date_joined",
    search_fields=["username", "email"],
    secret_fields=("password",),
)
register_read_only(Project, "name", "created_at", "created_by", search_fields=["name"])
register_read_only(
    Membership, "alias", "project", "is_annotator", "is_lead", "is_admin", "active", search_fields=["alias"]
)
register_read_only(
    Invitation, "email", "project", "created_at", "expires_at", "accepted_at", secret_fields=("token_digest",)
)
register_read_only(GuidelineVersion, "project", "state", "major", "minor", "published_at")
register_read_only(Question, "key", "version", "task_type", "required")
register_read_only(Label, "key", "name", "question", "value")
register_read_only(LabelStyle, "project", "question_key", "label_key", "colour", "hotkey")
register_read_only(Example, "question_key", "version", "kind", "origin")
register_read_only(Batch, "name", "project", "format", "size", "created_at")
register_read_only(Item, "uuid", "external_id", "project", "batch", "standing", search_fields=["=external_id", "=uuid"])
register_read_only(Job, "uuid", "kind", "state", "project", "done", "total", "created_at", secret_fields=("params",))
register_read_only(StagedRow, "job", "number", "external_id", "problem")
register_read_only(Activity, "at", "project", "kind", "by")
register_read_only(Notice, "at", "member", "kind", "over", "read_at", "mailed_at")
register_read_only(Digest, "user", "day", "begun_at", "sent_at")
register_read_only(Heartbeat, "name", "at", "note")
register_read_only(Tombstone, "project", "name", "asked_by_name", "deleted_at")
