"""Who works on what: people, projects, guideline versions, items and long jobs. See DESIGN §1 for the words."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from projects import enums
from projects.task_types import TASK_TYPES
from projects.told_models import Activity as Activity
from projects.told_models import Digest as Digest
from projects.told_models import Notice as Notice
from projects.told_models import NoticeRound as NoticeRound


def task_type_choices() -> list[tuple[str, str]]:
    """A function, so that a new task type needs no migration."""
    return [(t.key, t.title) for t in TASK_TYPES.values()]


def protocol_defaults() -> dict[str, object]:
    """Plain data; `agreement.protocol` gives it meaning. One entry per question is added there by the form."""
    return {
        "share_percent": "10",
        "ratings_per_item": 2,
        "strata_field": "",
        "window_submits": 10,
        "window_minutes": 30,
        "lease_minutes": settings.LEASE_MINUTES,
        "minimum_n": 50,
        "resolution_rule": "lead",
        "practice_pass_percent": 0,
        "questions": {},
    }


def in_order(content: Mapping[str, object], fields: Sequence[str]) -> list[tuple[str, object]]:
    """The pairs of `content` as `fields` orders them; what `fields` does not name comes last, by name."""
    named = [name for name in fields if name in content]
    return [(name, content[name]) for name in [*named, *sorted(set(content) - set(named))]]


class User(AbstractUser):
    """A person who can log in. What they may do is held per project, in `Membership`."""

    time_zone = models.CharField(max_length=64, blank=True)
    mail_pace = models.CharField(max_length=8, choices=enums.MailPace, default=enums.MailPace.DAILY)
    notices_off = models.JSONField(default=dict, blank=True, help_text=_("page or mail -> kinds that are switched off"))

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class FailedLogIn(models.Model):
    """A wrong password, kept for some minutes to slow down guessing. `digest` stands for name and address."""

    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["digest", "at"], name="projects_failedlogin_digest")]


class Project(models.Model):
    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    notice = models.CharField(max_length=300, blank=True, help_text=_("shown on every page of the project"))
    protocol = models.JSONField(default=protocol_defaults)
    shown_fields = models.JSONField(default=list, help_text=_("the fields of an item that are shown, in order"))
    comment_required = models.BooleanField(default=False, help_text=_("whether every label needs a comment"))
    styles_revision = models.PositiveIntegerField(
        default=0, editable=False, help_text=_("raised by every change of a label's colour or hotkey")
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    archived_at = models.DateTimeField(null=True, blank=True, editable=False, help_text=_("read only since"))
    archived_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    delete_after = models.DateTimeField(null=True, blank=True, editable=False, help_text=_("end of the grace period"))
    delete_asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    erasing_at = models.DateTimeField(null=True, editable=False, help_text=_("from here on it cannot be had back"))

    def __str__(self) -> str:
        return self.name


class Tombstone(models.Model):
    """A project was deleted: what is left of it."""

    project = models.UUIDField(unique=True)
    name = models.CharField(max_length=120)
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    asked_by_name = models.CharField(max_length=300, blank=True, help_text=_("kept when the person's account goes"))
    deleted_at = models.DateTimeField()
    counts = models.JSONField(help_text=_("table -> rows that went"))


class MembershipQuerySet(models.QuerySet["Membership"]):
    def active(self) -> "MembershipQuerySet":
        return self.filter(active=True)

    def annotators(self) -> "MembershipQuerySet":
        return self.active().filter(is_annotator=True)


class Membership(models.Model):
    """A person in a project. Without a user it is a rater brought in with ratings. Never deleted: what they made stays.

    Roles are read by `projects.access` alone.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="memberships")
    alias = models.CharField(max_length=120, help_text=_("a lasting name, kept when the person's account goes"))
    is_annotator = models.BooleanField(default=False)
    is_lead = models.BooleanField(default=False)
    is_admin = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True)
    acknowledged = models.ForeignKey(
        "GuidelineVersion", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    submits = models.PositiveIntegerField(default=0, help_text=_("first submits so far; numbers the annotations"))
    hotkeys = models.JSONField(
        default=dict, blank=True, help_text=_("question key -> label key -> the member's own key for it")
    )

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "user", name="projects_membership_once_per_user"),
        ]

    def __str__(self) -> str:
        return self.alias

    @property
    def name(self) -> str:
        return str(self.user) if self.user else self.alias


class Invitation(models.Model):
    """A link that lets one person join. Only the token's digest is stored."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True)
    token_digest = models.CharField(max_length=64, unique=True)
    is_annotator = models.BooleanField(default=False)
    is_lead = models.BooleanField(default=False)
    is_admin = models.BooleanField(default=False)
    invited_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(Membership, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)


class GuidelineVersionQuerySet(models.QuerySet["GuidelineVersion"]):
    def published(self) -> "GuidelineVersionQuerySet":
        return self.filter(state=enums.VersionState.PUBLISHED)

    def newest_first(self) -> "GuidelineVersionQuerySet":
        return self.order_by("-major", "-minor")


class GuidelineVersion(models.Model):
    """One text with questions, labels and examples. Published ones never change; a project has one draft at most."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="versions")
    state = models.CharField(max_length=12, choices=enums.VersionState, default=enums.VersionState.DRAFT)
    major = models.PositiveIntegerField(null=True, blank=True)
    minor = models.PositiveIntegerField(null=True, blank=True)
    text = models.TextField(blank=True, help_text=_("Markdown"))
    based_on = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    change = models.CharField(max_length=12, choices=enums.Change, blank=True)
    reason = models.TextField(blank=True, help_text=_("why it was published, in a sentence"))
    label_mapping = models.JSONField(default=dict, blank=True)
    revision = models.PositiveIntegerField(default=1, help_text=_("raised by every save of a draft"))
    digest = models.CharField(max_length=64, blank=True)
    public = models.BooleanField(default=False, help_text=_("anybody who has the address may read it"))
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    objects = GuidelineVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(state="draft"), name="projects_guidelineversion_one_draft"
            ),
            models.UniqueConstraint("project", "major", "minor", name="projects_guidelineversion_number_once"),
            models.CheckConstraint(
                condition=Q(state="draft", major__isnull=True, minor__isnull=True, published_at__isnull=True)
                | Q(state="published", major__isnull=False, minor__isnull=False, published_at__isnull=False),
                name="projects_guidelineversion_numbered_when_published",
            ),
        ]

    def __str__(self) -> str:
        return self.number or str(_("draft"))

    @property
    def number(self) -> str:
        return "" if self.major is None else f"{self.major}.{self.minor}"

    @property
    def is_draft(self) -> bool:
        return self.state == enums.VersionState.DRAFT


class Question(models.Model):
    """What is asked about an item. Known across versions by its key."""

    version = models.ForeignKey(GuidelineVersion, on_delete=models.CASCADE, related_name="questions")
    key = models.SlugField(max_length=60)
    text = models.CharField(max_length=300)
    help = models.CharField(max_length=500, blank=True)
    task_type = models.CharField(max_length=20, choices=task_type_choices)
    required = models.BooleanField(default=True)
    order = models.PositiveIntegerField(default=0)
    options = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["order", "pk"]
        constraints = [models.UniqueConstraint("version", "key", name="projects_question_key_once")]

    def __str__(self) -> str:
        return self.text


class Label(models.Model):
    """One category or step. The key never changes; name, definition, order and value belong to the version."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="labels")
    key = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    definition = models.TextField(blank=True)
    value = models.FloatField(null=True, blank=True)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order", "pk"]
        constraints = [models.UniqueConstraint("question", "key", name="projects_label_key_once")]

    def __str__(self) -> str:
        return self.name


class LabelStyle(models.Model):
    """Presentation of a label, the same in all versions, changeable at any time."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_styles")
    question_key = models.SlugField(max_length=60)
    label_key = models.SlugField(max_length=60)
    colour = models.CharField(max_length=7, blank=True)
    hotkey = models.CharField(max_length=1, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "question_key", "label_key", name="projects_labelstyle_once_per_label"),
        ]


class Example(models.Model):
    """A worked case in a guideline version. A copy that stands alone: it names no item and no decision."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    version = models.ForeignKey(GuidelineVersion, on_delete=models.CASCADE, related_name="examples")
    lineage = models.UUIDField(default=uuid4, help_text=_("the same in every version the example is carried to"))
    question_key = models.SlugField(max_length=60)
    content = models.JSONField(help_text=_("what is shown of the item: field -> text"))
    value = models.JSONField()
    confused_with = models.JSONField(null=True, blank=True)
    rationale = models.TextField(blank=True)
    kind = models.CharField(max_length=12, choices=enums.ExampleKind, default=enums.ExampleKind.CLEAR)
    origin = models.CharField(max_length=12, choices=enums.Origin, default=enums.Origin.WRITTEN)
    content_hash = models.CharField(max_length=64)
    folded_hash = models.CharField(max_length=64)
    order = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["order", "pk"]
        constraints = [models.UniqueConstraint("version", "lineage", name="projects_example_once_per_version")]
        indexes = [models.Index(fields=["folded_hash"], name="projects_example_folded")]


class Batch(models.Model):
    """The items of one import."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="batches")
    name = models.CharField(max_length=200)
    format = models.CharField(max_length=12)
    shown_fields = models.JSONField(default=list)
    id_field = models.CharField(max_length=200, blank=True)
    metadata_fields = models.JSONField(default=list)
    size = models.PositiveIntegerField(default=0)
    ready = models.BooleanField(default=True, help_text=_("false while an import still copies its items"))
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        return self.name


class ItemQuerySet(models.QuerySet["Item"]):
    def arrived(self) -> "ItemQuerySet":
        """Those whose import has been copied as a whole. Of an import that still runs nothing may be seen or drawn."""
        return self.filter(batch__ready=True)

    def current(self) -> "ItemQuerySet":
        return self.arrived().filter(standing=enums.Standing.CURRENT)

    def in_batch(self, batch: Batch) -> "ItemQuerySet":
        return self.filter(batch=batch)


class Item(models.Model):
    """One thing to be labelled: an immutable snapshot. A correction makes a successor."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    # No index of its own where another one begins with the column, and no constraint where the batch has it: each
    # costs every imported row.
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="items", db_index=False, db_constraint=False
    )
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="items")
    number = models.PositiveIntegerField(help_text=_("its row in the imported file"))
    external_id = models.CharField(max_length=200, blank=True)
    content = models.JSONField(help_text=_("what is shown: field -> value, in the shown order"))
    metadata = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64)
    folded_hash = models.CharField(max_length=64)
    standing = models.CharField(max_length=12, choices=enums.Standing, default=enums.Standing.CURRENT)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "external_id"],
                condition=Q(standing="current") & ~Q(external_id=""),
                name="projects_item_external_id_once",
            ),
        ]
        indexes = [
            models.Index(F("project"), F("standing"), F("id"), name="projects_item_standing"),
            models.Index(F("project"), F("folded_hash"), name="projects_item_folded"),
            models.Index(
                fields=["superseded_by"], condition=Q(superseded_by__isnull=False), name="projects_item_superseded"
            ),
        ]

    def __str__(self) -> str:
        return self.external_id or str(self.uuid)

    def shown(self, fields: Sequence[str]) -> list[tuple[str, object]]:
        """What is shown, in the order of `fields` (a batch's or project's); PostgreSQL keeps no order of keys."""
        return in_order(self.content, fields)


class Job(models.Model):
    """Long work, written in the transaction that wants it, picked up by the sweep, shown with its progress."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="jobs")
    kind = models.CharField(max_length=20, choices=enums.JobKind)
    state = models.CharField(max_length=12, choices=enums.JobState, default=enums.JobState.WAITING)
    params = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    message = models.TextField(blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    file = models.FileField(upload_to="jobs/%Y/%m/", blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(Membership, on_delete=models.SET_NULL, null=True, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    beat_at = models.DateTimeField(null=True, blank=True, help_text=_("the runner's last sign of life"))
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["state", "created_at"],
                condition=Q(state__in=["waiting", "running"]),
                name="projects_job_unfinished",
            )
        ]

    @property
    def is_unfinished(self) -> bool:
        return self.state in (enums.JobState.WAITING, enums.JobState.RUNNING)

    @property
    def percent(self) -> int | None:
        return min(100, 100 * self.done // self.total) if self.total else None


class StagedRow(models.Model):
    """A row of an uploaded file, kept until the import is confirmed or dropped: preview and duplicates read it."""

    # Neither an index nor a constraint of its own: each costs every row of an upload, and a job outlives its rows.
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="rows", db_index=False, db_constraint=False)
    number = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200, blank=True)
    content = models.JSONField(null=True)
    metadata = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64, blank=True)
    folded_hash = models.CharField(max_length=64, blank=True)
    problem = models.CharField(max_length=20, blank=True, help_text=_("a RowProblem; empty: will be imported"))
    message = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("job", "number", name="projects_stagedrow_number_once")]
        indexes = [
            models.Index(
                fields=["job", "problem", "number"], condition=~Q(problem=""), name="projects_stagedrow_problem"
            ),
        ]


class Heartbeat(models.Model):
    """When the worker and the beat were last seen; the pages' banner reads it."""

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)
