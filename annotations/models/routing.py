"""What was released, drawn, served and said: waves, draws, slots, assignments, annotations (DESIGN §2, §3)."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotations import enums
from projects.models import GuidelineVersion, Item, Membership, Project


class WaveQuerySet(models.QuerySet["Wave"]):
    def open(self) -> "WaveQuerySet":
        return self.filter(state=enums.WaveState.OPEN)

    def unfinished(self) -> "WaveQuerySet":
        return self.filter(state__in=[enums.WaveState.OPEN, enums.WaveState.OPENING])

    def served(self) -> "WaveQuerySet":
        return self.open().filter(held=False)


_AllWaves = models.Manager.from_queryset(WaveQuerySet)


class WaveManager(_AllWaves["Wave"]):
    """The waves of a project: neither samples, nor what is still being imported and nobody sees before it is whole."""

    def get_queryset(self) -> WaveQuerySet:
        found = WaveQuerySet(self.model, using=self._db).exclude(state=enums.WaveState.IMPORTING)
        return found.exclude(kind__in=enums.SAMPLES)


class SampleManager(_AllWaves["Wave"]):
    """Repeats, bridges and spot checks: see `models/samples.py`."""

    def get_queryset(self) -> WaveQuerySet:
        return WaveQuerySet(self.model, using=self._db).filter(kind__in=enums.SAMPLES)


class Wave(models.Model):
    """Items released for labelling together under one MAJOR.

    The four counters are R, S, R0 and S0 of DESIGN §3 "Serving": they change in the last statement of a submit.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="waves")
    number = models.PositiveIntegerField()
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    major = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=enums.WaveKind, default=enums.WaveKind.FRESH)
    state = models.CharField(max_length=12, choices=enums.WaveState, default=enums.WaveState.OPENING)
    held = models.BooleanField(default=False, help_text=_("a gate holds it: nothing of it is served"))
    gate_cleared = models.BooleanField(default=False, help_text=_("its gate lets the next wave go"))
    pilot = models.BooleanField(default=False)
    is_imported = models.BooleanField(default=False, help_text=_("its ratings were made elsewhere"))
    share_percent = models.DecimalField(max_digits=6, decimal_places=3)
    ratings_per_item = models.PositiveSmallIntegerField()
    size = models.PositiveIntegerField(default=0)
    overlap_left = models.PositiveBigIntegerField(default=0, help_text="R")
    single_left = models.PositiveBigIntegerField(default=0, help_text="S")
    overlap_all = models.PositiveBigIntegerField(default=0, help_text="R0")
    single_all = models.PositiveBigIntegerField(default=0, help_text="S0")
    window_submits = models.PositiveIntegerField()
    window_minutes = models.PositiveIntegerField()
    lease_minutes = models.PositiveIntegerField()
    is_given = models.BooleanField(default=False, help_text=_("only to the people named in `Given`"))
    due_on = models.DateField(null=True, blank=True)
    limit_per_person = models.PositiveIntegerField(null=True, blank=True, help_text=_("items of it, for one person"))
    limit_per_day = models.PositiveIntegerField(null=True, blank=True, help_text=_("items of it in a day, the same"))
    cover_released_at = models.DateTimeField(null=True, blank=True)
    cover_released_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    opened_at = models.DateTimeField()
    opened_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = WaveManager()
    samples = SampleManager()
    unseen = WaveQuerySet.as_manager()  # all of them: also samples, and those that are just being imported

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "number"],
                condition=~Q(kind__in=["repeat", "bridge", "spotcheck", "tiebreak"]),
                name="annotations_wave_number_once",
            ),
            models.UniqueConstraint(
                fields=["project", "kind", "number"],
                condition=Q(kind__in=["repeat", "bridge", "spotcheck", "tiebreak"]),
                name="annotations_sample_number_once",
            ),
        ]

    def __str__(self) -> str:
        what = self.get_kind_display() if self.is_sample else _("wave")
        return str(_("%(what)s %(number)s") % {"what": what, "number": self.number})

    @property
    def is_sample(self) -> bool:
        return self.kind in enums.SAMPLES


class DrawQuerySet(models.QuerySet["Draw"]):
    def open(self) -> "DrawQuerySet":
        return self.filter(state=enums.DrawState.OPEN)

    def closed(self) -> "DrawQuerySet":
        return self.filter(state=enums.DrawState.CLOSED)


_AllDraws = models.Manager.from_queryset(DrawQuerySet)


class DrawManager(_AllDraws["Draw"]):
    """All draws but those of waves that are still being imported."""

    def get_queryset(self) -> DrawQuerySet:
        return DrawQuerySet(self.model, using=self._db).exclude(state=enums.DrawState.IMPORTING)


class Draw(models.Model):
    """The overlap of one wave, and the measurement made on it. `protocol` is frozen when it opens.

    That of an imported wave was drawn by nobody here: it has neither seed nor commitment, and its protocol says so.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    wave = models.OneToOneField(Wave, on_delete=models.CASCADE, related_name="draw")
    protocol = models.JSONField()
    seed = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64, blank=True)
    population = models.BinaryField()
    population_size = models.PositiveIntegerField()
    plan = models.JSONField(null=True, blank=True, help_text=_("shares, and what came before; see `sampling.Plan`"))
    size = models.PositiveIntegerField(help_text=_("overlap items drawn"))
    state = models.CharField(max_length=12, choices=enums.DrawState, default=enums.DrawState.OPEN)
    closing = models.CharField(max_length=12, choices=enums.Closing, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    reason = models.TextField(blank=True)
    opened_at = models.DateTimeField()
    raters_knew = models.BooleanField(default=False, help_text=_("every item was overlap"))
    known_from = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("the number of the measured rating from which raters could have known")
    )

    objects = DrawManager()
    unseen = DrawQuerySet.as_manager()  # also those of waves that are just being imported

    @property
    def is_open(self) -> bool:
        return self.state == enums.DrawState.OPEN

    @property
    def is_imported(self) -> bool:
        """Its ratings were made elsewhere: no window, no gate, and nothing is known of blindness and chance."""
        return bool(self.protocol.get("imported"))

    @property
    def is_anonymous(self) -> bool:
        """Its raters are places of ratings, not people: there is no figure by pair or rater."""
        return bool(self.protocol.get("anonymous"))


class Given(models.Model):
    """A wave was given to a named person, and perhaps taken back. Append-only: giving it again is another row."""

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="given")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    taken_back_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    taken_back_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wave", "member"], condition=Q(taken_back_at__isnull=True), name="annotations_given_once"
            ),
        ]


class Look(models.Model):
    """A lead or admin has seen the interim figure of an open draw (the first time is kept)."""

    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, related_name="looks")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("draw", "member", name="annotations_look_first_kept")]


class WaveItem(models.Model):
    """An item in a wave, overlap or not, so that both kinds run the same statements."""

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="wave_items")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="wave_items")
    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, null=True, related_name="wave_items")
    stratum = models.CharField(max_length=200, blank=True)
    probability = models.FloatField(default=1.0, help_text=_("inclusion probability in the overlap"))
    needed = models.PositiveSmallIntegerField()
    rated = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint("wave", "item", name="annotations_waveitem_item_once"),
            models.CheckConstraint(
                condition=Q(rated__lte=models.F("needed")), name="annotations_waveitem_never_too_many"
            ),
        ]
        indexes = [
            models.Index(fields=["wave", "id"], condition=Q(draw__isnull=False), name="annotations_waveitem_overlap"),
        ]


class SlotQuerySet(models.QuerySet["Slot"]):
    def open(self) -> "SlotQuerySet":
        return self.filter(state=enums.SlotState.OPEN)

    def unrated(self) -> "SlotQuerySet":
        return self.filter(state__in=[enums.SlotState.OPEN, enums.SlotState.CLAIMED, enums.SlotState.WAITING])


class Slot(models.Model):
    """One rating that an item still needs.

    `queue`: -1 singles, 0 first ratings, else the membership id of the item's first rater. `key` orders a queue:
    a random rank below 2**50, or microseconds of the clock (above 2**50) for what opens or comes back later.
    """

    SINGLES, FIRST = -1, 0

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="slots")
    wave_item = models.ForeignKey(WaveItem, on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="slots")
    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, null=True, related_name="slots")
    kind = models.CharField(max_length=12, choices=enums.SlotKind)
    number = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=12, choices=enums.SlotState, default=enums.SlotState.OPEN)
    queue = models.BigIntegerField()
    key = models.BigIntegerField()
    claimed_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    lease_ends = models.DateTimeField(null=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("wave_item", "number", name="annotations_slot_number_once"),
            models.CheckConstraint(
                condition=Q(state="claimed", claimed_by__isnull=False, lease_ends__isnull=False) | ~Q(state="claimed"),
                name="annotations_slot_claim_has_holder",
            ),
        ]
        indexes = [
            models.Index(fields=["wave", "queue", "key"], condition=Q(state="open"), name="annotations_slot_open"),
            models.Index(fields=["wave", "lease_ends"], condition=Q(state="claimed"), name="annotations_slot_claimed"),
            models.Index(
                fields=["draw"],
                condition=Q(state__in=["open", "claimed", "waiting"]),
                name="annotations_slot_unrated",
            ),
        ]


class Assignment(models.Model):
    """A slot claimed by one annotator. Its row remembers that the two have met, also by a skip."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="assignments")
    wave_item = models.ForeignKey(WaveItem, on_delete=models.PROTECT, related_name="assignments")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="assignments")
    major = models.PositiveIntegerField()
    round = models.PositiveSmallIntegerField(default=0)
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=enums.AssignmentState, default=enums.AssignmentState.OPEN)
    draft = models.JSONField(null=True)
    served_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    skip_reason = models.CharField(max_length=20, choices=enums.SkipReason, blank=True)
    skip_note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("item", "member", "major", "round", name="annotations_assignment_met_once"),
            models.UniqueConstraint(
                fields=["member"], condition=Q(state="open"), name="annotations_assignment_one_open"
            ),
        ]
        indexes = [
            models.Index(fields=["member", "-ended_at"], name="annotations_assignment_recent"),
            # Skips are few beside submits: the ones of a project are found without a look at all that was rated.
            models.Index(fields=["member", "slot"], condition=Q(state="skipped"), name="annotations_assignment_skips"),
        ]


class Annotation(models.Model):
    """What an annotator submitted for an assignment. Its revisions are the record; `answers` (the measured rating: the
    revision standing when the window ended) and `latest` are kept here so that figures and exports read one row."""

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="annotation")
    slot = models.OneToOneField(
        Slot, on_delete=models.PROTECT, null=True, related_name="annotation", help_text=_("empty: surplus")
    )
    wave_item = models.ForeignKey(WaveItem, on_delete=models.PROTECT, related_name="annotations")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="annotations")
    draw = models.ForeignKey(
        Draw, on_delete=models.PROTECT, null=True, related_name="annotations", help_text=_("empty: not measured")
    )
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="annotations")
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    major = models.PositiveIntegerField()
    seq = models.PositiveIntegerField(
        null=True, help_text=_("numbers this member's first submits from 1; empty: imported, or a spot check")
    )
    answers = models.JSONField(help_text=_("question key -> value, as measured"))
    latest = models.JSONField(help_text=_("question key -> value, the newest revision"))
    comment = models.TextField(blank=True)
    revisions_count = models.PositiveIntegerField(default=1)
    submitted_at = models.DateTimeField()
    measured_at = models.DateTimeField(help_text=_("time of the newest revision that counts"))
    window_ends = models.DateTimeField()
    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint("member", "seq", name="annotations_annotation_seq_once"),
        ]
        indexes = [
            models.Index(fields=["draw", "window_ends"], name="annotations_ann_window"),
            models.Index(fields=["draw", "measured_at"], name="annotations_ann_measured"),
            # Who rated under which version is counted from this index alone, without a look at the answers.
            models.Index(
                fields=["draw", "member", "version"], condition=Q(slot__isnull=False), name="annotations_ann_tally"
            ),
            models.Index(fields=["member", "-submitted_at"], name="annotations_ann_recent"),
        ]


class Revision(models.Model):
    """One state of an annotation. Append-only."""

    annotation = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    answers = models.JSONField()
    comment = models.TextField(blank=True)
    version = models.ForeignKey(GuidelineVersion, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    in_window = models.BooleanField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint("annotation", "number", name="annotations_revision_number_once")]


class Seat(models.Model):
    """A member in a wave: how far each of their looks has come, and whether they were told that nothing is left."""

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="seats")
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="seats")
    single_cursor = models.BigIntegerField(default=-1)
    first_cursor = models.BigIntegerField(default=-1)
    takeable_cursor = models.BigIntegerField(default=0)
    told_empty_at = models.DateTimeField(null=True)
    gave_up_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint("wave", "member", name="annotations_seat_once")]


class Pair(models.Model):
    """Two members of a wave: how many overlap items they share, and how far `member` has looked in `other`'s queue."""

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="pairs")
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="+")
    shared = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(default=-1)

    class Meta:
        constraints = [models.UniqueConstraint("wave", "member", "other", name="annotations_pair_once")]
