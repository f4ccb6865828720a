"""The shapes of `annotations` in the API. What goes to annotators is built from `serving.Task`, which tells nothing."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations import draws, giving, inquiries, opening, panels, waves
from annotations.cases import Dossier
from annotations.eligibility import REASONS
from annotations.enums import CaseState, Cause, Closing, ResolutionRule, SkipReason, WaveState
from annotations.exporting import EXPORTS, FILE_FORMATS
from annotations.forms.labelling import DRAFT_LIMIT, fits
from annotations.models import Annotation, Case, Draw, Inquiry, Panel, Resolution, Wave
from projects.enums import ExampleKind
from projects.models import in_order
from projects.serializers import JsonField, written

WHOLE_WAVE = "wave"


class DrawSerializer(serializers.ModelSerializer[Draw]):
    """Of an open draw only what was committed to; seed and salt are shown when it has closed.

    `known_from` counts ratings: of an open draw who still rates its overlap does not see it.
    """

    closing = serializers.ChoiceField(choices=Closing.choices, allow_blank=True, help_text="empty while it is open")
    known_from = serializers.SerializerMethodField()
    plan = serializers.SerializerMethodField(help_text="the shares, and what was drawn under them before")
    seed = serializers.SerializerMethodField()
    salt = serializers.SerializerMethodField()

    class Meta:
        model = Draw
        fields = [
            "uuid",
            "state",
            "closing",
            "reason",
            "opened_at",
            "closed_at",
            "size",
            "population_size",
            "commitment",
            "protocol",
            "raters_knew",
            "known_from",
            "plan",
            "seed",
            "salt",
        ]
        read_only_fields = fields

    def get_known_from(self, draw: Draw) -> int | None:
        return draw.known_from if draws.may_see_figures(draw, self.context["member"]) else None

    @extend_schema_field(JsonField(allow_null=True))
    def get_plan(self, draw: Draw) -> dict[str, Any] | None:
        return None if draw.is_open else draw.plan

    def get_seed(self, draw: Draw) -> str | None:
        return None if draw.is_open else bytes(draw.seed).hex()

    def get_salt(self, draw: Draw) -> str | None:
        return None if draw.is_open else bytes(draw.salt).hex()


class ProgressSerializer(serializers.Serializer[Any]):
    """Labels given and wanted; by kind for those only who may see the figures of the draw."""

    given = serializers.IntegerField()
    wanted = serializers.IntegerField()
    overlap = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    single = serializers.ListField(child=serializers.IntegerField(), allow_null=True)


class PanelSerializer(serializers.ModelSerializer[Panel]):
    """Of a wave that is one panel's: which one, its people as declared, and the commitment of the split."""

    name = serializers.CharField(source="letter", read_only=True)
    split = serializers.UUIDField(source="split.uuid", read_only=True)
    commitment = serializers.CharField(source="split.commitment", read_only=True)
    waves = serializers.SerializerMethodField(help_text="uuids of the waves of all panels, this one among them")

    class Meta:
        model = Panel
        fields = ["name", "number", "weight", "members", "split", "commitment", "waves"]
        read_only_fields = fields

    def get_waves(self, panel: Panel) -> list[UUID]:
        return [one.wave.uuid for one in panels.beside(panel)]


class WaveSerializer(serializers.ModelSerializer[Wave]):
    version = serializers.CharField(source="version.number", read_only=True)
    draw = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField(help_text="of an open wave")
    given_to = serializers.SerializerMethodField(help_text="uuids of the people it is given to; null: everybody")
    panel = serializers.SerializerMethodField(help_text="null: it is not one panel's")
    job = serializers.SerializerMethodField(help_text="while it is being opened: the job that does it")

    class Meta:
        model = Wave
        fields = [
            "uuid",
            "number",
            "version",
            "state",
            "held",
            "pilot",
            "size",
            "share_percent",
            "ratings_per_item",
            "opened_at",
            "closed_at",
            "given_to",
            "due_on",
            "limit_per_person",
            "limit_per_day",
            "panel",
            "draw",
            "progress",
            "job",
        ]
        read_only_fields = fields

    @extend_schema_field(DrawSerializer(allow_null=True))
    def get_draw(self, wave: Wave) -> dict[str, Any] | None:
        draw = waves.draw_of(wave)
        return None if draw is None else dict(DrawSerializer(draw, context=self.context).data)

    @extend_schema_field(ProgressSerializer(allow_null=True))
    def get_progress(self, wave: Wave) -> dict[str, Any] | None:
        draw = waves.draw_of(wave)
        sees = draw is None or draws.may_see_figures(draw, self.context["member"])
        found = waves.progress(wave, by_kind=sees)
        return None if found is None else dict(ProgressSerializer(found).data)

    def get_given_to(self, wave: Wave) -> list[UUID] | None:
        return list(giving.standing(wave).values_list("member__uuid", flat=True)) if wave.is_given else None

    @extend_schema_field(PanelSerializer(allow_null=True))
    def get_panel(self, wave: Wave) -> dict[str, Any] | None:
        return dict(PanelSerializer(wave.panel).data) if hasattr(wave, "panel") else None

    def get_job(self, wave: Wave) -> UUID | None:
        job = opening.job_of(wave) if wave.state == WaveState.OPENING else None
        return job.uuid if job else None


class DeclaredSerializer(serializers.Serializer[Any]):
    members = serializers.ListField(child=serializers.UUIDField(), help_text="uuids of annotators of the project")
    weight = serializers.IntegerField(default=1, help_text="its part of the items, beside the others' weights")


class OpenWaveSerializer(serializers.Serializer[Any]):
    size = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="left out: all fresh items"
    )
    pilot = serializers.BooleanField(default=False)
    share_percent = serializers.DecimalField(6, 3, required=False, allow_null=True, default=None)
    ratings_per_item = serializers.IntegerField(required=False, allow_null=True, default=None)
    strata_field = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        help_text="the metadata field that the draw is split by; left out: the protocol's",
    )
    strata_minimum = serializers.IntegerField(required=False, allow_null=True, default=None)
    enriched = JsonField(
        required=False,
        allow_null=True,
        default=None,
        help_text='over-sampled strata: {"threat": {"factor": "3"}} or {"threat": {"share_percent": "50"}}',
    )
    expert = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="the member the others are compared with"
    )
    panels = DeclaredSerializer(
        many=True,
        required=False,
        default=list,
        help_text="the items are split at random among these, a wave for each; the answer is the first one's",
    )


class NotEligibleSerializer(serializers.Serializer[Any]):
    """An item that no new wave may take, and the first reason that holds for it."""

    item = serializers.UUIDField(source="uuid")
    item_id = serializers.CharField(source="external_id")
    reason = serializers.CharField()
    same_as = serializers.UUIDField(allow_null=True, help_text="same content: the item that it is the same as")


class ReasonWanted(serializers.Serializer[Any]):
    reason = serializers.ChoiceField(choices=list(REASONS), required=False, help_text="left out: all")


class GiveSerializer(serializers.Serializer[Any]):
    """To whom a wave is given. Nobody: everybody who labels gets its items."""

    members = serializers.ListField(child=serializers.UUIDField(), help_text="uuids of annotators of the project")
    due_on = serializers.DateField(required=False, allow_null=True, default=None)
    limit_per_person = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="items of this wave; left out: no limit"
    )
    limit_per_day = serializers.IntegerField(required=False, allow_null=True, default=None)


class CloseSerializer(serializers.Serializer[Any]):
    closing = serializers.ChoiceField(choices=[Closing.SHORT.value, Closing.EARLY.value, WHOLE_WAVE])
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=2_000, help_text="for all but closing short"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["closing"] != Closing.SHORT and not attrs["reason"]:
            raise serializers.ValidationError(
                {"reason": [_("Say why: the reason is printed with every figure of this draw.")]}
            )
        return attrs


class TaskSerializer(serializers.Serializer[Any]):
    """An item to label. It carries nothing that tells overlap from single."""

    assignment = serializers.UUIDField()
    content = serializers.DictField(help_text="field -> what is shown, in order")
    version = serializers.UUIDField(source="version.uuid", help_text="the guideline version with its questions")
    draft = JsonField(allow_null=True, help_text="what was typed so far")
    done = serializers.IntegerField(help_text="labels that you gave in this project")
    about_left = serializers.IntegerField()
    window_submits = serializers.IntegerField(help_text="a correction counts until so many further labels,")
    window_minutes = serializers.IntegerField(help_text="or so many minutes")


class NothingReasonSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    sentence = serializers.CharField()


class NothingSerializer(serializers.Serializer[Any]):
    """Why there is no item, in words that are true for every item alike."""

    nothing = NothingReasonSerializer()


class AnswersSerializer(serializers.Serializer[Any]):
    answers = serializers.DictField(help_text="question key -> value")
    comment = written(required=False, default="")


class SubmitSerializer(AnswersSerializer):
    seconds = serializers.FloatField(required=False, allow_null=True, default=None)


class SavedSerializer(serializers.Serializer[Any]):
    annotation = serializers.UUIDField()
    repeated = serializers.BooleanField(help_text="it was saved before, and nothing was changed")
    differs = serializers.BooleanField(help_text="what was sent now is not what was saved then")


class SkipSerializer(serializers.Serializer[Any]):
    reason = serializers.ChoiceField(choices=SkipReason.choices)
    note = written(required=False, default="")


class UnfinishedSerializer(serializers.Serializer[Any]):
    answers = serializers.DictField(child=JsonField(), required=False, default=dict)
    comment = written(required=False, default="", max_length=DRAFT_LIMIT)
    typed_at = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=10**15, help_text="milliseconds of your clock"
    )

    def validate_answers(self, answers: dict[str, Any]) -> dict[str, Any]:
        if not fits(answers):
            raise serializers.ValidationError([_("A draft this long, or with a NUL character, cannot be kept.")])
        return answers


class OwnAnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """One's own label. It has no field that tells whether the item is measured."""

    content = serializers.SerializerMethodField()
    version = serializers.CharField(source="version.number")
    answers = JsonField(source="latest")

    class Meta:
        model = Annotation
        fields = ["uuid", "content", "version", "answers", "comment", "submitted_at", "window_ends"]
        read_only_fields = fields

    def get_content(self, annotation: Annotation) -> dict[str, Any]:
        return dict(in_order(annotation.item.content, self.context["member"].project.shown_fields))


class AskSerializer(serializers.Serializer[Any]):
    text = written(max_length=inquiries.TEXT_LIMIT)


class InquiryKeptSerializer(serializers.Serializer[Any]):
    inquiry = serializers.UUIDField()


class ToldSerializer(serializers.Serializer[Any]):
    """A question as who asked it or labelled the item reads it: without an answer that has to wait."""

    inquiry = serializers.UUIDField()
    content = serializers.DictField(help_text="field -> what is shown, in order")
    text = serializers.CharField()
    mine = serializers.BooleanField(help_text="you asked it")
    answer = serializers.CharField(help_text="empty until it may be read")
    answered_by = serializers.CharField()
    is_new = serializers.BooleanField(help_text="its page has not shown it to you yet")

    def to_representation(self, row: Inquiry) -> dict[str, Any]:
        member = self.context["member"]
        told = inquiries.told(row, member)
        content = dict(in_order(told.item.content, member.project.shown_fields))
        return {
            "inquiry": str(told.inquiry),
            "content": content,
            **{name: getattr(told, name) for name in ("text", "mine", "answer", "answered_by", "is_new")},
        }


class InquiriesWanted(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=["open", "answered"], required=False)


class AskedSerializer(serializers.Serializer[Any]):
    """A question as a lead reads it; `by` and `at` are empty where they could tell who rated a conflict."""

    uuid = serializers.UUIDField()
    item = serializers.UUIDField()
    content = serializers.DictField(help_text="field -> what is shown, in order")
    text = serializers.CharField()
    by = serializers.CharField(help_text="empty while the item may be a conflict, for who adjudicates")
    at = serializers.DateTimeField(allow_null=True)
    answer = serializers.CharField()
    answered_by = serializers.CharField()
    answered_at = serializers.DateTimeField(allow_null=True)
    kept_back = serializers.BooleanField(help_text="the draw of its wave is open: nobody who labels reads an answer")
    example = serializers.UUIDField(allow_null=True)

    def to_representation(self, row: Inquiry) -> dict[str, Any]:
        member = self.context["member"]
        (asked,) = inquiries.shown([row], member)
        return {
            "uuid": str(row.uuid),
            "item": str(row.item.uuid),
            "content": dict(in_order(row.item.content, member.project.shown_fields)),
            "text": row.text,
            "by": asked.name,
            "at": asked.at,
            "answer": row.answer,
            "answered_by": row.answered_by.name if row.answered_by else "",
            "answered_at": row.answered_at,
            "kept_back": asked.measured,
            "example": str(row.example.uuid) if row.example else None,
        }


class InquiryAnswerSerializer(serializers.Serializer[Any]):
    answer = written(max_length=inquiries.ANSWER_LIMIT)


class InquiryExampleSerializer(serializers.Serializer[Any]):
    question_key = serializers.CharField()
    content = serializers.DictField(child=written(), help_text="field -> text")
    value = JsonField()
    confused_with = JsonField(required=False, default=None, allow_null=True)
    rationale = written(required=False, default="", help_text="left out: the answer")
    kind = serializers.ChoiceField(choices=ExampleKind.choices, default=ExampleKind.CLEAR)


class ConflictsWanted(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=CaseState.choices, required=False)
    question = serializers.CharField(required=False)
    pair = serializers.CharField(required=False, help_text="two values in a fixed order, joined by a bar")
    stratum = serializers.CharField(required=False, allow_blank=True)
    draw = serializers.UUIDField(required=False)
    after = serializers.UUIDField(required=False, help_text="the last conflict of the page before")


class ConflictSerializer(serializers.ModelSerializer[Case]):
    """A conflict in the queue. It names no rater; its two values stand in a random order."""

    content = serializers.SerializerMethodField()
    values = serializers.SerializerMethodField()

    class Meta:
        model = Case
        fields = ["uuid", "question_key", "pair_key", "content", "values", "gap", "stratum", "state", "decided_at"]
        read_only_fields = fields

    def get_content(self, case: Case) -> dict[str, Any]:
        return dict(in_order(case.item.content, self.context["member"].project.shown_fields))

    def get_values(self, case: Case) -> list[Any]:
        return [case.first_value, case.second_value]


class ConflictPageSerializer(serializers.Serializer[Any]):
    next = serializers.URLField(allow_null=True)
    results = ConflictSerializer(many=True)


class ResolutionSerializer(serializers.ModelSerializer[Resolution]):
    by = serializers.CharField(source="by.name", default="", help_text="empty: decided by a rule of the protocol")
    cause = serializers.ChoiceField(
        choices=Cause.choices, allow_blank=True, read_only=True, help_text="empty: decided by a rule"
    )
    rule = serializers.ChoiceField(
        choices=ResolutionRule.choices, allow_blank=True, read_only=True, help_text="empty: decided by people"
    )
    tally = serializers.JSONField(help_text="of a rule: the ratings that it counted, each value with how often")
    example = serializers.UUIDField(source="example.uuid", default=None, allow_null=True)

    class Meta:
        model = Resolution
        fields = [
            "uuid",
            "kind",
            "value",
            "rationale",
            "cause",
            "rule",
            "tally",
            "by",
            "at",
            "standing",
            "reopened_reason",
            "example",
        ]
        read_only_fields = fields


class SideSerializer(serializers.Serializer[Any]):
    letter = serializers.CharField()
    value = JsonField()
    name = serializers.CharField(help_text="the label in words")
    comment = serializers.CharField()
    rater = serializers.CharField(help_text="empty until the case is decided")


class DossierSerializer(serializers.Serializer[Any]):
    """A conflict with what its raters said, and the decisions on it."""

    uuid = serializers.UUIDField(source="case.uuid")
    draw = serializers.UUIDField(source="case.draw.uuid")
    question_key = serializers.CharField(source="case.question_key")
    state = serializers.ChoiceField(choices=CaseState.choices, source="case.state")
    stratum = serializers.CharField(source="case.stratum")
    content = serializers.SerializerMethodField()
    sides = SideSerializer(many=True)
    others = serializers.SerializerMethodField(help_text="what further raters said: label and comment")
    own = serializers.BooleanField(help_text="you rated this item, so somebody else decides it")
    holder = serializers.CharField(source="holder.name", default="", help_text="who is deciding it just now")
    resolutions = serializers.SerializerMethodField()

    def get_content(self, dossier: Dossier) -> dict[str, Any]:
        return dict(dossier.fields)

    def get_others(self, dossier: Dossier) -> list[list[str]]:
        return [list(said) for said in dossier.others]

    @extend_schema_field(ResolutionSerializer(many=True))
    def get_resolutions(self, dossier: Dossier) -> Any:
        standing = [dossier.standing] if dossier.standing else []
        rows = [*(resolution for resolution, _words in dossier.history), *standing]
        return ResolutionSerializer(rows, many=True).data


class ExampleTextSerializer(serializers.Serializer[Any]):
    content = serializers.DictField(child=written(), help_text="field -> text")
    rationale = written(required=False, default="")
    kind = serializers.ChoiceField(choices=ExampleKind.choices, default=ExampleKind.CLEAR)


class ResolveSerializer(serializers.Serializer[Any]):
    value = JsonField()
    rationale = written()
    cause = serializers.ChoiceField(choices=Cause.choices)
    example = ExampleTextSerializer(required=False, allow_null=True, default=None)


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()


class ExportSerializer(serializers.Serializer[Any]):
    what = serializers.ChoiceField(choices=list(EXPORTS))
    format = serializers.ChoiceField(choices=FILE_FORMATS)
