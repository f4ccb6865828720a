"""The shapes of `annotations` in the API. What goes to annotators is built from `serving.Task`, which tells nothing."""

from typing import Any

from rest_framework import serializers

from annotations.enums import Cause, Closing, SkipReason
from annotations.models import Annotation, Case, Draw, Resolution, Wave
from projects.enums import ExampleKind


class WaveSerializer(serializers.ModelSerializer[Wave]):
    version = serializers.CharField(source="version.number", read_only=True)
    draw = serializers.SerializerMethodField()

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
            "draw",
        ]
        read_only_fields = fields

    def get_draw(self, wave: Wave) -> dict[str, Any] | None:
        draw: Draw | None = getattr(wave, "draw", None)
        return None if draw is None else dict(DrawSerializer(draw).data)


class DrawSerializer(serializers.ModelSerializer[Draw]):
    """Of an open draw only what was committed to; seed and salt are shown when it has closed."""

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
            "seed",
            "salt",
        ]
        read_only_fields = fields

    def get_seed(self, draw: Draw) -> str | None:
        return None if draw.is_open else bytes(draw.seed).hex()

    def get_salt(self, draw: Draw) -> str | None:
        return None if draw.is_open else bytes(draw.salt).hex()


class OpenWaveSerializer(serializers.Serializer[Any]):
    size = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="left out: all fresh items"
    )
    pilot = serializers.BooleanField(default=False)
    share_percent = serializers.DecimalField(6, 3, required=False, allow_null=True, default=None)
    ratings_per_item = serializers.IntegerField(required=False, allow_null=True, default=None)


class CloseSerializer(serializers.Serializer[Any]):
    closing = serializers.ChoiceField(choices=[Closing.SHORT.value, Closing.EARLY.value])
    reason = serializers.CharField(required=False, default="", allow_blank=True)


class TaskSerializer(serializers.Serializer[Any]):
    """An item to label, or (with `nothing`) why there is none."""

    assignment = serializers.UUIDField()
    content = serializers.DictField()
    version = serializers.UUIDField(source="version.uuid", help_text="the guideline version with its questions")
    draft = serializers.JSONField(allow_null=True)
    done = serializers.IntegerField()
    about_left = serializers.IntegerField()


class NothingSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    sentence = serializers.CharField()


class AnswersSerializer(serializers.Serializer[Any]):
    answers = serializers.DictField(help_text="question key -> value")
    comment = serializers.CharField(required=False, default="", allow_blank=True)


class SubmitSerializer(AnswersSerializer):
    seconds = serializers.FloatField(required=False, allow_null=True, default=None)


class SavedSerializer(serializers.Serializer[Any]):
    annotation = serializers.UUIDField()
    repeated = serializers.BooleanField(help_text="it was saved before, and nothing was changed")


class SkipSerializer(serializers.Serializer[Any]):
    reason = serializers.ChoiceField(choices=SkipReason.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True)


class OwnAnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """One's own label. It has no field that tells whether the item is measured."""

    content = serializers.DictField(source="item.content")
    version = serializers.CharField(source="version.number")
    answers = serializers.JSONField(source="latest")

    class Meta:
        model = Annotation
        fields = ["uuid", "content", "version", "answers", "comment", "submitted_at", "window_ends"]
        read_only_fields = fields


class ConflictSerializer(serializers.ModelSerializer[Case]):
    """A conflict in the queue. It names no rater."""

    content = serializers.DictField(source="item.content")
    draw = serializers.UUIDField(source="draw.uuid")
    values = serializers.SerializerMethodField()

    class Meta:
        model = Case
        fields = ["uuid", "draw", "question_key", "content", "values", "gap", "stratum", "state", "decided_at"]
        read_only_fields = fields

    def get_values(self, case: Case) -> list[Any]:
        return [case.first_value, case.second_value]


class ResolutionSerializer(serializers.ModelSerializer[Resolution]):
    by = serializers.CharField(source="by.name", default="")
    example = serializers.UUIDField(source="example.uuid", default=None)

    class Meta:
        model = Resolution
        fields = ["uuid", "kind", "value", "rationale", "cause", "by", "at", "standing", "reopened_reason", "example"]
        read_only_fields = fields


class ExampleTextSerializer(serializers.Serializer[Any]):
    content = serializers.DictField(child=serializers.CharField())
    rationale = serializers.CharField(required=False, default="", allow_blank=True)
    kind = serializers.ChoiceField(choices=ExampleKind.choices, default=ExampleKind.CLEAR)


class ResolveSerializer(serializers.Serializer[Any]):
    value = serializers.JSONField()
    rationale = serializers.CharField()
    cause = serializers.ChoiceField(choices=Cause.choices)
    example = ExampleTextSerializer(required=False, allow_null=True, default=None)


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()


class ExportSerializer(serializers.Serializer[Any]):
    what = serializers.ChoiceField(choices=["gold", "ratings"])
    format = serializers.ChoiceField(choices=["csv", "jsonl"])
